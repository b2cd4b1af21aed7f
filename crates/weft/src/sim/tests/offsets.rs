//! Addresses by base and offset.

use super::{element, ints, kinds, pointer, run_on, scaled};
use crate::dtype::DType;
use crate::lane::{Access, Builder, IdKind, Space, Value};
use crate::scalar::{Binary, Compare};
use crate::sim::{FindingKind, Report};

/// A store at a base that `base` makes of the pointer and the lane, and an offset that `offset` makes of the lane.
fn store_behind(
    base: impl Fn(&mut Builder, Value, Value) -> Value,
    offset: impl Fn(&mut Builder, Value) -> Value,
) -> Report {
    let mut build = Builder::new("behind", 1, 6);
    let x = pointer(&mut build, "x");
    let lane = build.id(IdKind::Lane);
    let base = base(&mut build, x, lane);
    let offset = offset(&mut build, lane);
    let place = build.offset(base, offset);
    let most = build.i32(9);
    let some = build.compare(Compare::Slt, lane, most);
    build.store(Space::Global, Access::default(), place, Some(some), &[lane]);
    run_on(&build.finish(), 1, vec![ints("x", &[7; 64])]).report
}

#[test]
fn a_base_is_common_to_the_lanes_and_an_offset_reaches_so_far() {
    let words = |build: &mut Builder, lane: Value| scaled(build, lane, 4);
    let report = store_behind(|_, x, _| x, words);
    assert_eq!(report.findings, []);
    let report = store_behind(element, |build, _| build.i32(0));
    assert_eq!(kinds(&report), [FindingKind::Divergence]);
    // A base in front of what it leads to, further than an offset reaches.
    let far = |build: &mut Builder, x: Value, _: Value| {
        let distance = build.constant(DType::I64, 0x8000_0000);
        build.binary(Binary::Sub, x, distance)
    };
    let report = store_behind(far, |build, lane| {
        let offset = scaled(build, lane, 4);
        let distance = build.i32(i32::MIN);
        build.binary(Binary::Xor, offset, distance)
    });
    assert_eq!(kinds(&report), [FindingKind::OutOfRange]);
    // Where the predicate does not hold, anything goes.
    let report = store_behind(
        |_, x, _| x,
        |build, lane| {
            let (nine, far) = (build.i32(9), build.i32(-4));
            let inside = build.compare(Compare::Slt, lane, nine);
            let offset = scaled(build, lane, 4);
            build.select(inside, offset, far)
        },
    );
    assert_eq!(report.findings, []);
}
