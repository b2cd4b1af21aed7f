//! The seven steps of "Swizzle by Hand, Swizzle by Algebra" for its 16 x 32 transpose.

use std::vec;

use super::{access, sm_90};
use crate::{
    access::Kind,
    machine::Matrix,
    plan::swizzle::{Access, Problem, SwizzleError, Use, Verdict, check, replay, solve},
    step::Form,
};

/// Bits of an element: the column n, then the row m.
const N: [u64; 5] = [1, 2, 4, 8, 16];
const M: [u64; 4] = [32, 64, 128, 256];

/// Thread `t` stores column `t`; it loads row `t mod 16` of columns `2r + t / 16`.
fn transpose() -> Problem<'static> {
    let store = access(9, &M, &N, &[]);
    let load = access(9, &N[1..], &[M[0], M[1], M[2], M[3], N[0]], &[]);
    let accesses = vec![Access::new(Kind::Store, store), Access::new(Kind::Load, load)];
    Problem::new(sm_90(), 32, accesses)
}

#[test]
fn s0_28_to_s0_33_every_value_of_the_replay() {
    let replay = replay(&transpose()).unwrap();
    assert_eq!(replay.vector, []);
    assert_eq!((replay.bank_bits, replay.segment_bits), (5, 4));
    assert_eq!(replay.phases, [0, 0]);
    assert_eq!(replay.store_phase, N);
    assert_eq!(replay.load_phase, [M[0], M[1], M[2], M[3], N[0]]);
    assert_eq!(replay.shared, [N[0]]);
    assert_eq!(replay.only_store, N[1..]);
    assert_eq!(replay.only_load, M);
    let sums = [N[1] | M[0], N[2] | M[1], N[3] | M[2], N[4] | M[3]];
    assert_eq!(replay.sums, sums);
    assert_eq!(replay.rest, []);
    assert_eq!(replay.segment, sums);
    assert_eq!(replay.bank, N);
    assert_eq!(replay.most_segment_bits, 4);
    assert_eq!(replay.total, 32);
    let offsets = replay.memory.invert().unwrap();
    for (m, n) in (0..16).flat_map(|m| (0..32).map(move |n| (m, n))) {
        assert_eq!(offsets.apply_flat(32 * m + n), 32 * m + (n ^ (2 * m)));
    }
}

#[test]
fn the_solver_finds_the_same_layout_for_scalars() {
    let mut problem = transpose();
    for access in &mut problem.accesses {
        access.widest_bytes = Some(4);
    }
    let solved = solve(&problem).unwrap();
    assert_eq!(solved.memory, replay(&problem).unwrap().memory);
    assert_eq!((solved.total, solved.bound), (32, 32));
    assert_eq!(check(&problem, &solved), Ok(Verdict::Optimal));
}

/// "They permit no vectorisation": not both, but one of them may have vectors of its own.
#[test]
fn one_side_loads_vectors_of_16_bytes() {
    let mut problem = transpose();
    for access in &mut problem.accesses {
        access.matrix_moves = false;
    }
    let solved = solve(&problem).unwrap();
    let instructions: u64 = solved.uses.iter().map(|taken| taken.instructions).sum();
    assert_eq!((solved.total, solved.bound, instructions), (32, 32, 20));
    assert_eq!(check(&problem, &solved), Ok(Verdict::Optimal));
}

/// Lanes 0 and 1 of the reader are registers of the writer: vectors of 16 bytes are rows.
#[test]
fn s0_36_matrix_moves_take_8_instructions() {
    let problem = transpose();
    let solved = solve(&problem).unwrap();
    let uses = |taken: &Use| (taken.form, taken.bytes, taken.instructions, taken.wavefronts);
    let ldmatrix = Form::Matrix(Matrix::ROWS);
    assert_eq!(uses(&solved.uses[0]), (Form::Vector, 16, 4, 16));
    assert_eq!(uses(&solved.uses[1]), (ldmatrix, 16, 4, 16));
    assert_eq!((solved.total, solved.bound), (32, 32));
    assert_eq!(check(&problem, &solved), Ok(Verdict::Optimal));
}

#[test]
fn the_replay_is_for_pairs() {
    let mut problem = transpose();
    problem.accesses.swap(0, 1);
    assert_eq!(replay(&problem), Err(SwizzleError::NotAPair { accesses: 2 }));
    problem.accesses.truncate(1);
    assert_eq!(replay(&problem), Err(SwizzleError::NotAPair { accesses: 1 }));
}
