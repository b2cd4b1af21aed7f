//! What a round of each loop waits for.

use crate::answer::{BusyAnswer, RoundAnswer, SpanAnswer};
use crate::budget;
use crate::error::ApiError;
use crate::kernels::CompiledKernel;
use weft::timeline::{self, Round};

/// A round of each innermost loop of a compiled kernel.
pub(super) fn rounds(compiled: &CompiledKernel) -> Result<Vec<RoundAnswer>, ApiError> {
    budget::begin("while a round of each loop was timed")?;
    let answer = |round: Round| RoundAnswer {
        place: compiled.place(round.loc),
        first_warp: round.warps.0,
        warps: round.warps.1,
        time: round.time,
        busy: round
            .busy
            .iter()
            .map(|&(unit, time)| BusyAnswer { unit: unit.word(), time })
            .collect(),
        spans: round
            .spans
            .iter()
            .map(|span| SpanAnswer { work: span.work.word(), start: span.start, end: span.end })
            .collect(),
    };
    let stop = &budget::current().stop;
    let rounds = timeline::rounds(compiled.program(), &compiled.machine, stop);
    // Where they were stopped there are none, which says nothing of the program.
    budget::check()?;
    Ok(rounds.into_iter().map(answer).collect())
}
