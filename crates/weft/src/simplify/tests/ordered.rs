//! What each barrier is said to order.

use super::double_buffer::{BYTES, add_up, kernel, mirror, place};
use super::{keep, look, loop_to};
use crate::lane::{BarrierScope, Builder, IdKind, Value};
use crate::simplify::barriers;
use crate::simplify::ordered::{Conflict, barriers as ordered};

/// Why each barrier of a program is there, and how many loops are around it.
fn why(body: impl FnOnce(&mut Builder, Value, Value)) -> Vec<(usize, Vec<Conflict>)> {
    let program = barriers::run(kernel(8 * BYTES, body));
    let conflicts = |orders: &[crate::simplify::ordered::Order]| {
        orders.iter().map(|order| order.conflict).collect::<Vec<_>>()
    };
    let found = ordered(&program);
    found.iter().map(|barrier| (barrier.loops.len(), conflicts(&barrier.orders))).collect()
}

#[test]
fn a_movement_waits_between_its_stores_and_loads_and_in_a_loop_before_it_stores_again() {
    let once = |build: &mut Builder, out: Value, base| {
        let lane = build.id(IdKind::Lane);
        let moved = mirror(build, base, lane);
        add_up(build, out, moved);
    };
    assert_eq!(why(once), [(0, vec![Conflict::Stored])]);
    let rounds = |build: &mut Builder, out: Value, base| {
        let rounds = build.i32(3);
        loop_to(build, rounds, |build, round| {
            let moved = mirror(build, base, round);
            add_up(build, out, moved);
        });
    };
    let [before, between] = &why(rounds)[..] else { panic!("two barriers") };
    assert!(before.1.contains(&Conflict::Overwritten), "{before:?}");
    assert!(between.1.contains(&Conflict::Stored), "{between:?}");
    assert_eq!((before.0, between.0), (1, 1));
}

#[test]
fn a_barrier_that_orders_nothing_or_global_memory_says_so() {
    let idle = |build: &mut Builder, out: Value, _| {
        build.barrier(BarrierScope::Block);
        let lane = build.id(IdKind::Lane);
        add_up(build, out, lane);
        build.barrier(BarrierScope::Block);
        add_up(build, out, lane);
        build.barrier(BarrierScope::Block);
    };
    assert_eq!(why(idle), [(0, vec![]), (0, vec![Conflict::Global]), (0, vec![])]);
}

/// What is loaded only behind a further barrier is told where it was stored.
#[test]
fn a_load_far_behind_is_found() {
    let far = |build: &mut Builder, out: Value, base| {
        let lane = build.id(IdKind::Lane);
        let (to, from) = (place(build, base, false), place(build, base, true));
        keep(build, to, lane);
        build.barrier(BarrierScope::Block);
        build.barrier(BarrierScope::Block);
        let moved = look(build, from);
        add_up(build, out, moved);
    };
    assert_eq!(why(far), [(0, vec![Conflict::Stored]), (0, vec![])]);
}
