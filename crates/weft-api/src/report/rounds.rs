//! A round of each loop, drawn.

use super::{cycles, line};
use crate::answer::{BandwidthAnswer, RoundAnswer, SpanAnswer};

/// How many columns a round is drawn in.
const COLUMNS: u64 = 60;
/// Units that work less are not told.
const LITTLE: f64 = 0.005;

/// The section about rounds of loops, where there are any.
pub(super) fn rounds(text: &mut String, rounds: &[RoundAnswer]) {
    if rounds.is_empty() {
        return;
    }
    line(
        text,
        "\na round of each innermost loop, by a model: one block alone, its data in the L2 cache",
    );
    for round in rounds {
        let place = round.place.as_deref().unwrap_or("an unknown place");
        let last = round.first_warp + round.warps.max(1) - 1;
        let warps = if round.warps > 1 {
            format!("warps {} to {last}", round.first_warp)
        } else {
            format!("warp {last}")
        };
        line(text, format_args!("  {place}, {warps}: {}", cycles(round.time)));
        let share = |time: u64| time as f64 / round.time.max(1) as f64;
        let busy: Vec<String> = round
            .busy
            .iter()
            .filter(|busy| share(busy.time) >= LITTLE)
            .map(|busy| format!("{} {:.0} %", busy.unit, 100.0 * share(busy.time)))
            .collect();
        line(text, format_args!("    {}", busy.join(", ")));
        line(text, format_args!("    {}", round.verdict));
        line(text, format_args!("    {}", round.side_by_side));
        for BandwidthAnswer { memory, time, reason } in &round.memories {
            let (time, bytes) = (cycles(*time), round.bytes);
            line(text, format_args!("    {memory}: {bytes} bytes, at least {time} at {reason}"));
        }
        for work in works(&round.spans) {
            line(text, format_args!("    {work:13} |{}|", drawn(round, work)));
        }
    }
}

/// The kinds of work in some spans, in their order.
fn works(spans: &[SpanAnswer]) -> Vec<&'static str> {
    let mut works: Vec<&'static str> = spans.iter().map(|span| span.work).collect();
    works.dedup();
    works
}

/// How long the round that is drawn takes.
fn length(round: &RoundAnswer) -> u64 {
    round.spans.iter().map(|span| span.end).max().unwrap_or(0).max(1)
}

/// When a kind of work goes on: `#` where it does nearly always, `+` for a third of the time at least, `.` for less.
fn drawn(round: &RoundAnswer, work: &str) -> String {
    let end = length(round);
    let column = |column: u64| {
        let (from, to) = (column * end / COLUMNS, (column + 1) * end / COLUMNS);
        let inside = round.spans.iter().filter(|span| span.work == work);
        let inside = inside.map(|span| span.end.min(to).saturating_sub(span.start.max(from)));
        match inside.sum::<u64>() as f64 / (to - from).max(1) as f64 {
            0.0 => ' ',
            share if share < 1.0 / 3.0 => '.',
            share if share < 0.9 => '+',
            _ => '#',
        }
    };
    (0..COLUMNS).map(column).collect()
}
