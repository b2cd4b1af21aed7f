//! Loops that carry values some of which are others and constants, in the simulator: the same sums, and as few
//! values as the starts and the steps allow.

use super::double_buffer::{add_up, kernel, simulated};
use crate::dtype::DType;
use crate::lane::{AsyncCopy, Builder, IdKind, Op, Program, Value, verify};
use crate::scalar::{Binary, Cast, Compare};
use crate::simplify::{derive, distances, sweep};
use arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use smallvec::smallvec;

const ROUNDS: i32 = 4;

/// Where a value comes from, and what is added to it.
#[derive(Clone, Copy, Debug)]
enum Origin {
    Nothing,
    Lane,
    /// What the loop carries in this place.
    Carried(usize),
}

type Sum = (Origin, i32);

/// What a loop carries first, and from each round to the next.
#[derive(Debug)]
struct Case {
    dtype: DType,
    values: Vec<(Sum, Sum)>,
    /// How many of them are used in each round, and behind the loop.
    used: [usize; 2],
}

impl Case {
    fn program(&self) -> Program {
        kernel(0, |build, out, _| {
            let dtypes = vec![self.dtype; self.values.len()];
            let first: Vec<Value> =
                self.values.iter().map(|(first, _)| self.sum(build, *first, &[])).collect();
            let zero = build.i32(0);
            let target = build.new_loop(&[&[zero], &first[..]].concat(), &dtypes);
            let params = build.open_region(&[&[DType::I32], &dtypes[..]].concat());
            let (counter, carried) = (params[0], &params[1..]);
            let rounds = build.i32(ROUNDS);
            let done = build.compare(Compare::Sge, counter, rounds);
            build.break_if(target, done, carried);
            self.add_up(build, out, &carried[..self.used[0]], 1);
            let one = build.i32(1);
            let mut next = vec![build.binary(Binary::Add, counter, one)];
            next.extend(self.values.iter().map(|(_, next)| self.sum(build, *next, carried)));
            let region = build.close_region(Op::Continue, &next);
            let results = build.place_loop(target, region);
            self.add_up(build, out, &results[..self.used[1]], 3);
        })
    }

    fn sum(&self, build: &mut Builder, (from, constant): Sum, carried: &[Value]) -> Value {
        let bits = i64::from(constant) as u64;
        let bits = if self.dtype == DType::I32 { bits & u64::from(u32::MAX) } else { bits };
        let constant = build.constant(self.dtype, bits);
        let value = match from {
            Origin::Nothing => return constant,
            Origin::Carried(index) => carried[index],
            Origin::Lane => {
                let lane = build.id(IdKind::Lane);
                if self.dtype == DType::I32 {
                    lane
                } else {
                    build.cast(Cast::ExtU, lane, self.dtype)
                }
            }
        };
        build.binary(Binary::Add, value, constant)
    }

    /// Adds up values, each so many times that it cannot be taken for another.
    fn add_up(&self, build: &mut Builder, out: Value, values: &[Value], scale: i32) {
        for (&value, factor) in values.iter().zip((scale..).step_by(10)) {
            let narrow = if self.dtype == DType::I32 {
                value
            } else {
                build.cast(Cast::Trunc, value, DType::I32)
            };
            let factor = build.i32(factor);
            let product = build.binary(Binary::Mul, narrow, factor);
            add_up(build, out, product);
        }
    }
}

/// How many values the loops of a program carry.
fn carried(program: &Program) -> usize {
    let mut count = 0;
    program.walk(&program.body, &mut |_, inst| {
        count += if inst.op == Op::Loop { inst.operands.len() } else { 0 };
    });
    count
}

/// Runs a case as it is and with less carried; how many values are carried then, beside the counter.
fn check(case: &Case) -> usize {
    let before = case.program();
    verify(&before).unwrap();
    let after = derive::run(sweep::run(before.clone()));
    verify(&after).unwrap_or_else(|broken| panic!("{case:?}: {broken:?}\n{after}"));
    let (wanted, found) = (simulated(&before), simulated(&after));
    assert!(found.0.is_clean(), "{case:?}: {:#?}", found.0.findings);
    assert_eq!(wanted.1, found.1, "{case:?}\n{before}\n{after}");
    carried(&after) - 1
}

fn case(values: &[(Sum, Sum)]) -> Case {
    Case { dtype: DType::I64, values: values.to_vec(), used: [values.len(); 2] }
}

#[test]
fn one_value_is_carried_for_those_a_constant_apart() {
    use Origin::{Carried, Lane, Nothing};
    let at = |constant| (Lane, constant);
    let on = |index, step| (Carried(index), step);
    for (values, least) in [
        // Pointers of a tile.
        (&[(at(0), on(0, 8)), (at(64), on(1, 8)), (at(128), on(2, 8))][..], 1),
        // One steps by more.
        (&[(at(0), on(0, 8)), (at(64), on(1, 9)), (at(128), on(2, 8))], 2),
        // Each is the next one's.
        (&[(at(0), on(1, 0)), (at(8), on(1, 8))], 1),
        // Buffers that go round.
        (&[((Nothing, 0), on(1, 0)), ((Nothing, 1), on(2, 0)), ((Nothing, 2), on(0, 0))], 3),
        // Two apart that become three apart, and two that begin elsewhere.
        (&[(at(0), at(5)), (at(2), at(8))], 2),
        (&[(at(0), on(0, 1)), ((Nothing, 0), on(1, 1))], 2),
    ] {
        assert_eq!(check(&case(values)), least, "{values:?}");
    }
}

#[test]
fn what_nobody_uses_is_not_carried() {
    use Origin::{Carried, Lane};
    // What the next round's value is made of does not count.
    let values =
        [((Lane, 0), (Carried(1), 8)), ((Lane, 3), (Carried(0), 9)), ((Lane, 0), (Carried(2), 1))];
    for (used, carried) in [([3, 3], 3), ([0, 0], 0), ([1, 0], 2), ([0, 1], 2)] {
        assert_eq!(check(&Case { used, ..case(&values) }), carried, "{used:?}");
    }
}

fn any_sum(u: &mut Unstructured<'_>, carried: usize) -> Result<Sum> {
    let from = match u.int_in_range(0..=3)? {
        0 => Origin::Nothing,
        1 => Origin::Lane,
        _ if carried > 0 => Origin::Carried(u.int_in_range(0..=carried - 1)?),
        _ => Origin::Lane,
    };
    Ok((from, *u.choose(&[-8, 0, 0, 8, 8, 16])?))
}

#[test]
fn rounds_add_up_the_same_with_less_carried() {
    arbtest(|u| {
        let count = u.int_in_range(1..=5)?;
        let values: Result<Vec<(Sum, Sum)>> =
            (0..count).map(|_| Ok((any_sum(u, 0)?, any_sum(u, count)?))).collect();
        let used = [u.int_in_range(0..=count)?, u.int_in_range(0..=count)?];
        check(&Case { dtype: *u.choose(&[DType::I32, DType::I64])?, values: values?, used });
        Ok(())
    })
    .budget_ms(2_000);
}

/// A loop that carries numbers which start anywhere; each advances by one of some numbers, by its number, or is
/// doubled. How many it carries once those that advance together are one distance, where a copy uses the one of a
/// place, which it does in no round.
fn distances(steps: &[Option<usize>], copied: usize) -> usize {
    let program = kernel(0, |build, out, memory| {
        let lane = build.id(IdKind::Lane);
        let own = build.cast(Cast::ExtU, lane, DType::I64);
        let known: Vec<Value> = (0..3)
            .map(|index| {
                let constant = build.constant(DType::I64, 5 + index);
                if index == 2 { build.binary(Binary::Mul, own, constant) } else { constant }
            })
            .collect();
        let first: Vec<Value> = (0..steps.len() as u64)
            .map(|index| {
                let factor = build.constant(DType::I64, 3 + index * index);
                build.binary(Binary::Mul, own, factor)
            })
            .collect();
        let zero = build.i32(0);
        let dtypes = vec![DType::I64; steps.len()];
        let target = build.new_loop(&[&[zero], &first[..]].concat(), &dtypes);
        let params = build.open_region(&[&[DType::I32], &dtypes[..]].concat());
        let rounds = build.i32(ROUNDS);
        let done = build.compare(Compare::Sge, params[0], rounds);
        build.break_if(target, done, &params[1..]);
        let case = Case { dtype: DType::I64, values: Vec::new(), used: [0; 2] };
        case.add_up(build, out, &params[1..], 1);
        let never = build.compare(Compare::Slt, rounds, zero);
        let copy = Op::AsyncCopy(AsyncCopy::Begin {
            bytes: 4,
            offset: 0,
            run: false,
            predicated: true,
            filled: false,
        });
        build.emit(copy, smallvec![memory, params[1 + copied], never], &[]);
        let one = build.i32(1);
        let mut next = vec![build.binary(Binary::Add, params[0], one)];
        next.extend(params[1..].iter().zip(steps).map(|(&value, step)| match *step {
            Some(index) => build.binary(Binary::Add, value, known[index]),
            None => build.binary(Binary::Add, value, value),
        }));
        let region = build.close_region(Op::Continue, &next);
        let results = build.place_loop(target, region);
        case.add_up(build, out, &results, 3);
    });
    let after = distances::run(program.clone());
    verify(&after).unwrap_or_else(|broken| panic!("{steps:?}: {broken:?}\n{after}"));
    let (wanted, found) = (simulated(&program), simulated(&after));
    assert!(found.0.is_clean(), "{steps:?}: {:#?}", found.0.findings);
    assert_eq!(wanted.1, found.1, "{steps:?}\n{program}\n{after}");
    carried(&after) - 1
}

#[test]
fn pointers_of_copies_that_advance_together_are_one_distance() {
    assert_eq!(distances(&[Some(0), Some(0), Some(0)], 1), 1);
    assert_eq!(distances(&[Some(0), Some(2), Some(0), Some(2), Some(2)], 1), 3, "no copy of 0");
    assert_eq!(distances(&[Some(0), Some(1), Some(2)], 0), 3, "each has a step of its own");
    assert_eq!(distances(&[None, Some(1), None, Some(1)], 0), 4, "what is doubled stays");
    arbtest(|u| {
        let count = u.int_in_range(1..=6)?;
        let steps = (0..count).map(|_| Ok(u.int_in_range(0..=3_usize)?.checked_sub(1)));
        let steps: Vec<Option<usize>> = steps.collect::<Result<_>>()?;
        let copied = u.choose_index(count)?;
        let together = steps.iter().filter(|&&step| step == steps[copied]).count();
        let fewer = if steps[copied].is_some() { together - 1 } else { 0 };
        assert_eq!(distances(&steps, copied), count - fewer);
        Ok(())
    })
    .budget_ms(500);
}
