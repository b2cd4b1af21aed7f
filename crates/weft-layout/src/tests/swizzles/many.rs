//! Several readers, rounds, fixed elements, and questions that have no answer.

use arbitrary::{Result, Unstructured};
use core::sync::atomic::{AtomicU32, Ordering};
use std::{string::ToString, vec, vec::Vec};

use super::{access, cases, least, sm_90};
use crate::{
    Layout, Machine, Space,
    access::Kind,
    plan::swizzle::{
        Access, CheckError, Problem, Solved, SwizzleError, Verdict, check, portable, solve,
    },
    space::{LANE, OFFSET, REGISTER, WARP},
    stop::Stop,
    testing::{self, distributed, repeat, shape},
};

/// The same with a warp bit as sixth lane bit, or copies where there is none.
fn wave64(layout: &Layout) -> Layout {
    let columns = |label| layout.columns(label);
    let (lane, warps) = columns(WARP).split_at(columns(WARP).len().min(1));
    let lanes = [columns(LANE), lane.first().map_or(&[0], core::slice::from_ref)].concat();
    let ins = [(REGISTER, columns(REGISTER)), (LANE, &lanes), (WARP, warps)];
    let axes: Vec<_> = ins.iter().map(|(label, c)| (*label, c.len() as u32)).collect();
    let all: Vec<u64> = ins.iter().flat_map(|(_, columns)| columns.iter().copied()).collect();
    Layout::new(Space::new(&axes).unwrap(), layout.outs().clone(), &all).unwrap()
}

fn random(u: &mut Unstructured<'_>) -> Result<Problem<'static>> {
    let bits = u.int_in_range(0..=12)?;
    let shape = shape(u, bits)?;
    let machine = *u.choose(&Machine::ALL)?;
    let mut accesses = Vec::new();
    for index in 0..u.int_in_range(2..=4)? {
        let kind = if index == 0 { Kind::Store } else { Kind::Load };
        let warps = u.int_in_range(0..=2)?;
        let likeness = testing::Kind::any(u)?;
        let mut layout = distributed(u, &shape, warps, likeness)?;
        if machine.lanes_log2 == 6 {
            layout = wave64(&layout);
        }
        let weight = u.int_in_range(0..=4)?;
        let widest_bytes = u.ratio(1, 4)?.then_some(8);
        let matrix_moves = u.ratio(3, 4)?;
        accesses.push(Access { layout, kind, weight, widest_bytes, matrix_moves });
    }
    Ok(Problem::new(machine, *u.choose(&[1, 8, 16, 32, 64])?, accesses))
}

#[test]
fn random_problems_are_solved_and_checked() {
    let mut verdicts = [0; 3];
    repeat(cases(400), |u| {
        let problem = random(u)?;
        let solved = solve(&problem).unwrap();
        let verdict = check(&problem, &solved).unwrap();
        verdicts[verdict as usize] += 1;
        let offsets = solved.memory.matrix().inverse().unwrap();
        assert_eq!(least(&problem, &offsets), solved.total);
        assert!(solved.bound <= solved.total);
        Ok(())
    });
    // Almost all meet the bound.
    assert!(verdicts[Verdict::Gap as usize] * 100 <= verdicts[Verdict::Optimal as usize]);
}

#[test]
fn a_changed_answer_is_refused() {
    repeat(cases(200), |u| {
        let problem = random(u)?;
        let solved = solve(&problem).unwrap();
        let refused = |change: &dyn Fn(&mut Solved)| {
            let mut changed = solved.clone();
            change(&mut changed);
            check(&problem, &changed).unwrap_err()
        };
        assert_eq!(refused(&|s| s.total += 1), CheckError::Total(solved.total));
        refused(&|s| s.bound += 1);
        refused(&|s| s.uses[0].wavefronts += 1);
        refused(&|s| s.uses[0].instructions *= 2);
        refused(&|s| s.uses[0].bytes = 3);
        assert_eq!(refused(&|s| s.uses.clear()), CheckError::Uses);
        let bits = solved.memory.in_bits(OFFSET);
        if bits > 0 {
            let twice = vec![1; bits as usize];
            let (ins, outs) = (solved.memory.ins().clone(), solved.memory.outs().clone());
            let double = Layout::new(ins, outs, &twice).unwrap();
            if bits > 1 {
                assert_eq!(refused(&|s| s.memory = double.clone()), CheckError::Memory);
            }
        }
        Ok(())
    });
}

/// A warp writes rows of 32 elements and reads columns.
fn transpose(bits: u32) -> Problem<'static> {
    let units = |range: std::ops::Range<u32>| -> Vec<u64> { range.map(|bit| 1 << bit).collect() };
    let store = access(bits, &units(5..bits), &units(0..5), &[]);
    let load = access(bits, &units(0..bits - 5), &units(bits - 5..bits), &[]);
    let accesses = vec![Access::new(Kind::Store, store), Access::new(Kind::Load, load)];
    Problem::new(sm_90(), 32, accesses)
}

#[test]
fn a_small_budget_takes_rounds() {
    repeat(cases(300), |u| {
        let mut problem = random(u)?;
        let whole = solve(&problem).unwrap();
        let bytes =
            (1 << whole.memory.in_bits(OFFSET)) * u64::from(problem.element_bits.max(8)) / 8;
        problem.scratch_bytes = Some(bytes >> u.int_in_range(0..=3)?);
        match solve(&problem) {
            Ok(solved) => {
                check(&problem, &solved).unwrap();
                let taken = 1 << (whole.memory.in_bits(OFFSET) - solved.memory.in_bits(OFFSET));
                assert_eq!(1 << solved.rounds.len(), taken);
                assert!(bytes / taken <= problem.scratch_bytes.unwrap());
                // Every element is in memory in exactly the round that its parities name.
                for offset in 0..1 << solved.memory.in_bits(OFFSET) {
                    let element = solved.memory.apply_flat(offset);
                    assert!(solved.rounds.iter().all(|m| (m & element).count_ones() % 2 == 0));
                }
            }
            Err(error) => {
                let available = problem.scratch_bytes.unwrap();
                assert_eq!(error, SwizzleError::Scratch { needed: bytes, available });
            }
        }
        Ok(())
    });
    // Rows of 32: with 9 bits, 4 register bits of the writer and of the reader, none shared.
    let mut problem = transpose(9);
    problem.scratch_bytes = Some(1024);
    let error = solve(&problem).unwrap_err();
    assert_eq!(error, SwizzleError::Scratch { needed: 2048, available: 1024 });
    // With 11 bits one register bit is shared.
    let mut problem = transpose(11);
    problem.scratch_bytes = Some(4096);
    let solved = solve(&problem).unwrap();
    assert_eq!((solved.rounds.len(), solved.total), (1, 128));
    assert_eq!(check(&problem, &solved), Ok(Verdict::Optimal));
}

#[test]
fn fixed_elements_stay_where_they_are() {
    let (mut kept, mut refused) = (0, 0);
    repeat(cases(500), |u| {
        let mut problem = random(u)?;
        problem.accesses.truncate(3);
        let bits = problem.accesses[0].layout.outs().total_bits();
        let mut elements = testing::invertible(u, bits)?.columns().to_vec();
        let mut take = |u: &mut Unstructured<'_>| -> Result<Vec<u64>> {
            let count = u.int_in_range(0..=2.min(elements.len()))?;
            Ok(elements.drain(..count).collect())
        };
        let (vector, bank, block) = (take(u)?, take(u)?, take(u)?);
        problem.fixed.vector.clone_from(&vector);
        problem.fixed.bank.clone_from(&bank);
        problem.fixed.block.clone_from(&block);
        match solve(&problem) {
            Ok(solved) => {
                kept += 1;
                check(&problem, &solved).unwrap();
                let columns = solved.memory.matrix().columns();
                let bytes = (problem.element_bits.max(8) / 8).ilog2();
                let start =
                    vector.len().max(2_usize.saturating_sub(bytes as usize)).min(columns.len());
                assert_eq!(columns[..vector.len()], vector);
                assert_eq!(columns[start..start + bank.len()], bank);
                assert_eq!(columns[columns.len() - block.len()..], block);
            }
            Err(SwizzleError::FixedCount { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
        Ok(())
    });
    assert!(kept > 200 && refused > 100);
}

#[test]
fn many_readers_end() {
    let mut accesses = Vec::new();
    repeat(64, |u| {
        let kind = if accesses.is_empty() { Kind::Store } else { Kind::Load };
        let layout = distributed(u, &[1 << 12], 2, testing::Kind::General)?;
        accesses.push(Access::new(kind, layout));
        Ok(())
    });
    let mut problem = Problem::new(sm_90(), 8, accesses);
    let solved = solve(&problem).unwrap();
    // So many phases meet any segments; nobody has shown how many must.
    assert_eq!(check(&problem, &solved), Ok(Verdict::Gap));
    problem.accesses.push(problem.accesses[0].clone());
    let too_many = SwizzleError::TooMany { accesses: 65, most: 64 };
    assert_eq!(solve(&problem), Err(too_many));
}

/// Wherever a search is stopped, it ends with an error, or with the answer that it has without a stop.
#[test]
fn a_search_that_is_stopped_answers_nothing_less() {
    let small = transpose(9);
    let mut large = transpose(12);
    large.accesses[1].weight = 3;
    for problem in [small, large] {
        let whole = solve(&problem).unwrap();
        let both = portable(&[problem.clone(), problem.clone()]).unwrap();
        let mut stopped = [0; 2];
        for looks in 0..64 {
            // The flag is asked at its first look, and from then on at every sixteenth.
            let begin = || {
                let left = AtomicU32::new(looks);
                let asked = move || left.fetch_sub(1, Ordering::Relaxed) == 0;
                Problem { stop: Stop::default().inner_until(asked), ..problem.clone() }
            };
            match solve(&begin()) {
                Ok(solved) => assert_eq!(solved, whole),
                Err(error) => {
                    assert_eq!(error, SwizzleError::Stopped);
                    stopped[0] += 1;
                }
            }
            match portable(&[begin(), problem.clone()]) {
                Ok(found) => assert_eq!(found, both),
                Err(error) => {
                    assert_eq!(error, SwizzleError::Stopped);
                    stopped[1] += 1;
                }
            }
        }
        assert!(stopped.iter().all(|&count| count > 0), "{stopped:?}");
    }
}

/// Accesses count once for each machine: more than one memory layout can be sought for are refused.
#[test]
fn too_many_accesses_of_several_machines() {
    let problem = transpose(9);
    let accesses = problem.accesses.len();
    let problems = vec![problem; 256 / accesses + 1];
    let error = SwizzleError::TooMany { accesses: accesses * problems.len(), most: 256 };
    assert_eq!(portable(&problems).unwrap_err(), error);
}

#[test]
fn questions_without_an_answer() {
    let error = |change: &dyn Fn(&mut Problem<'_>)| {
        let mut problem = transpose(9);
        change(&mut problem);
        solve(&problem).unwrap_err().to_string()
    };
    let wide = Space::new(&[(REGISTER, 1), (LANE, 6)]).unwrap();
    let wide = Layout::zeros(wide, Space::tensor(&[512]).unwrap()).unwrap();
    let memory = Layout::identity(9, OFFSET, crate::Label::dim(0)).unwrap();
    assert_eq!(error(&|p| p.accesses.clear()), "a swizzle needs at least one access");
    assert_eq!(
        error(&|p| p.accesses[1].layout = access(8, &[1], &[2], &[])),
        "access 1 holds another tensor than access 0"
    );
    assert_eq!(
        error(&|p| p.accesses[1].layout = memory.clone()),
        "axis `offset` of access 1 is no register, lane, warp or block"
    );
    assert_eq!(
        error(&|p| p.accesses[1].layout = wide.clone()),
        "access 1 has 6 lane bits, the machine has 5"
    );
    assert_eq!(
        error(&|p| p.accesses[0].layout = access(9, &[], &[1, 2], &[])),
        "access 1 moves element 4, which no store writes"
    );
    for bits in [0, 65, u32::MAX] {
        assert_eq!(
            error(&|p| p.element_bits = bits),
            std::format!("elements of {bits} bits cannot be moved, 1 to 64 bits can")
        );
    }
    for bytes in [0, 2, 12] {
        let widest = error(&|p| p.accesses[1].widest_bytes = Some(bytes));
        assert!(widest.starts_with(&std::format!("access 1 may use at most {bytes} bytes")));
    }
    assert_eq!(
        error(&|p| p.fixed.bank = vec![3, 5, 6]),
        "the fixed element 6 is not in the buffer, or is a sum of other fixed ones"
    );
    assert_eq!(
        error(&|p| p.fixed.block = vec![1, 2, 4, 8, 16]),
        "5 elements are fixed for 4 offset bits"
    );
    assert!(error(&|p| p.scratch_bytes = Some(0)).starts_with("the buffer needs 2048 bytes"));
}
