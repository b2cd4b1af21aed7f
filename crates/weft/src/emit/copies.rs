//! Copies that happen at once, put in order.

/// Does all copies `(into, from)` one after the other, so that none reads what another has already
/// overwritten. A cycle goes through `temporary`, which saves a value in a new place and gives it.
pub(super) fn in_order<P: Copy + PartialEq, W>(
    writer: &mut W,
    mut waiting: Vec<(P, P)>,
    copy: impl Fn(&mut W, P, P),
    temporary: impl Fn(&mut W, P) -> P,
) {
    waiting.retain(|(into, from)| into != from);
    while !waiting.is_empty() {
        // Those that overwrite nothing that another reads go first, in order.
        let reads: Vec<P> = waiting.iter().map(|&(_, from)| from).collect();
        let before = waiting.len();
        waiting.retain(|&(into, from)| {
            let blocked = reads.contains(&into);
            if !blocked {
                copy(writer, into, from);
            }
            blocked
        });
        // All that wait stand in cycles or behind them: save one of the values about to go.
        if waiting.len() == before {
            let saved = waiting[0].0;
            let saved_in = temporary(writer, saved);
            for (_, from) in &mut waiting {
                if *from == saved {
                    *from = saved_in;
                }
            }
        }
    }
}
