//! Linear maps, expanded and simulated: every lane has what its columns add up to.

use super::double_buffer::{place, simulated};
use crate::dtype::DType;
use crate::lane::{Access, Builder, IdKind, Op, Param, Program, Space, verify};
use crate::scalar::{Binary, Cast};
use crate::simplify::expand;
use arbtest::arbtest;

/// Each thread's `columns * lane` into global memory.
fn mapped(columns: &[u32]) -> Program {
    let mut build = Builder::new("mapped", 2, 5);
    let out = build.param(Param {
        name: "out".into(),
        dtype: DType::I64,
        pointee: Some(DType::I32),
        divisibility: 16,
    });
    let zero = build.i32(0);
    let offset = place(&mut build, zero, false);
    let offset = build.cast(Cast::ExtU, offset, DType::I64);
    let at = build.binary(Binary::Add, out, offset);
    let lane = build.id(IdKind::Lane);
    let value = build.linear(columns, lane);
    build.store(Space::Global, Access::default(), at, None, &[value]);
    build.finish()
}

fn multiplications(program: &Program) -> usize {
    let mut count = 0;
    program.walk(&program.body, &mut |_, inst| {
        count += usize::from(matches!(inst.op, Op::Binary(Binary::Mul)));
    });
    count
}

fn check(columns: &[u32]) -> Program {
    let program = expand::run(mapped(columns));
    verify(&program).unwrap();
    let (report, found) = simulated(&program);
    assert!(report.is_clean(), "{:#?}", report.findings);
    for (thread, found) in found.into_iter().enumerate() {
        let set = columns.iter().enumerate().filter(|(bit, _)| (thread % 32) >> bit & 1 == 1);
        let right = set.fold(0, |sum, (_, column)| sum ^ column);
        assert_eq!(found, right, "lane {} of {columns:x?}\n{program}", thread % 32);
    }
    program
}

#[test]
fn copies_of_bits_are_one_multiplication() {
    // A lane bit that changes every nibble of a selector, at the lowest and at a high place.
    for columns in [&[0x1111][..], &[0, 0, 0, 0x1111], &[0, 0, 0, 0, 0x1133, 0][..5]] {
        let program = check(columns);
        assert_eq!(multiplications(&program), 1, "{program}");
    }
    // Two bits whose copies would meet, and copies that a shift or two make.
    for columns in [&[0x7, 0xe][..], &[0x3, 0xc], &[0, 0x5], &[1, 2, 16, 32, 64]] {
        let program = check(columns);
        assert_eq!(multiplications(&program), 0, "{program}");
    }
}

#[test]
fn every_lane_has_the_sum_of_its_columns() {
    let mut counts = [0; 2];
    arbtest(|u| {
        let pattern: u32 = u.arbitrary()?;
        let columns = (0..5).map(|bit| {
            Ok(match u.int_in_range(0..=3)? {
                0 => 0,
                1 => pattern << bit,
                2 => 0x1111 * u.int_in_range(0..=15)?,
                _ => u.arbitrary()?,
            })
        });
        let columns = columns.collect::<arbitrary::Result<Vec<u32>>>()?;
        let program = check(&columns);
        counts[usize::from(multiplications(&program) > 0)] += 1;
        Ok(())
    })
    .budget_ms(500);
    println!("without and with multiplications: {counts:?}");
}
