//! Swizzles: the best by brute force where that is possible, the bounds everywhere.

mod many;
mod moves;
mod pairs;
mod portable;
mod seed;
mod small;

use alloc::vec::Vec;
use std::{collections::BTreeSet, vec};

use crate::{
    Layout, Machine, Space,
    access::{Kind, wavefronts},
    f2::{Echelon, Matrix, Subspace},
    machine::Phases,
    plan::swizzle::Problem,
    space::{LANE, REGISTER, WARP},
};

/// How many random cases are run: this many in a debug build, more where that is fast.
fn cases(debug: u64) -> u64 {
    if cfg!(debug_assertions) { debug } else { debug.saturating_mul(10) }
}

fn sm_90() -> &'static Machine {
    Machine::by_name("sm_90").unwrap()
}

/// A machine with few lanes and banks, which serves all lanes of a narrow access together and half
/// as many for each doubling from `halves_from` on.
fn toy(lanes: u32, banks: u32, bank_bytes: u32, widest: u32, halves_from: u32) -> Machine {
    let mut together = [[0; 6]; 5];
    for (width, row) in together.iter_mut().enumerate() {
        let fewer = (width as u32 + 1).saturating_sub(halves_from);
        for (bit, slot) in row.iter_mut().enumerate().take(lanes.saturating_sub(fewer) as usize) {
            *slot = 1 << bit;
        }
    }
    Machine {
        lanes_log2: lanes,
        banks_log2: banks,
        store_banks_log2: banks,
        bank_bytes_log2: bank_bytes,
        shared_vector_bytes: 1 << widest,
        phases: Phases { load: together, store: together, ..sm_90().phases.clone() },
        ..sm_90().clone()
    }
}

/// A layout of `bits` bits of a row with these columns; 32 lanes or more, of which some may be
/// copies.
fn access(bits: u32, registers: &[u64], lanes: &[u64], warps: &[u64]) -> Layout {
    let mut lanes = lanes.to_vec();
    lanes.resize(lanes.len().max(5), 0);
    let lanes = &lanes[..];
    let axes = [(REGISTER, registers), (LANE, lanes), (WARP, warps)];
    let ins: Vec<_> = axes.iter().map(|(label, columns)| (*label, columns.len() as u32)).collect();
    let columns = [registers, lanes, warps].concat();
    Layout::new(Space::new(&ins).unwrap(), Space::tensor(&[1 << bits]).unwrap(), &columns).unwrap()
}

/// The least weighted wavefronts of one warp when element `x` lies at `offsets(x)`: every width that
/// is legal by the rank law, every matrix move by its definition.
fn least(problem: &Problem<'_>, offsets: &Matrix) -> u64 {
    let bytes = (problem.element_bits / 8).max(1);
    let each = problem.accesses.iter().map(|access| {
        let column = |label| -> Vec<u64> {
            access.layout.columns(label).iter().map(|&column| offsets.apply(column)).collect()
        };
        let (registers, mut lanes, mut warps) = (column(REGISTER), column(LANE), column(WARP));
        let (mut seen, mut idle) = (Echelon::new(), 0);
        if access.kind == Kind::Store {
            for (bit, lane) in lanes.iter_mut().enumerate() {
                if !seen.grows(*lane) {
                    (*lane, idle) = (0, idle | 1 << bit);
                }
            }
            warps.retain(|&warp| seen.grows(warp));
        }
        let registers: Vec<u64> = registers.into_iter().filter(|&r| seen.grows(r)).collect();
        let held = Subspace::from_vectors(&registers);
        let widest = problem.machine.shared_vector_bytes.min(access.widest_bytes.unwrap_or(16));
        let mut best = u64::MAX;
        for vector in 0..=held.dim() {
            let aligned = lanes.iter().chain(&warps).all(|o| o & ((1 << vector) - 1) == 0);
            let inside = (0..vector).all(|bit| held.contains(1 << bit));
            if bytes << vector > widest || !aligned || !inside {
                break;
            }
            let addresses: Vec<u64> = lanes.iter().map(|o| o * u64::from(bytes)).collect();
            let one = wavefronts(problem.machine, access.kind, &addresses, bytes << vector, idle);
            best = best.min(u64::from(one.unwrap().actual) << (held.dim() - vector));
        }
        let rows = problem.machine.row_bytes_log2() >= 4 && lanes.len() == 5;
        if access.matrix_moves && idle == 0 && widest >= 4 && bytes <= 4 && rows {
            let scaled = |offsets: &[u64]| -> Vec<u64> {
                offsets.iter().map(|offset| offset * u64::from(bytes)).collect()
            };
            let (lanes, warps) = (scaled(&lanes), scaled(&warps));
            let held = Subspace::from_vectors(&scaled(&registers));
            let moves = problem.machine.matrix_moves.iter();
            if moves.filter(|found| !found.architecture_specific).any(|f| f.kind == access.kind) {
                for transposed in [false, true] {
                    let found = matrices(problem.machine, transposed, bytes, &held, &lanes, &warps);
                    best = best.min(found.unwrap_or(u64::MAX));
                }
            }
        }
        best * access.weight
    });
    each.sum()
}

/// The least wavefronts of matrix moves from byte addresses, by what `ldmatrix` and `stmatrix` of
/// 8 x 8 elements of 16 bits do: lane `l` has 4 bytes of row `l / 4` from `4 (l mod 4)` on, or
/// transposed the 2 bytes from `2 (l / 4)` on of the rows `2 (l mod 4)` and that plus 1.
fn matrices(
    machine: &Machine,
    transposed: bool,
    bytes: u32,
    held: &Subspace,
    lanes: &[u64],
    warps: &[u64],
) -> Option<u64> {
    if warps.iter().any(|warp| warp % 16 != 0) || (transposed && bytes == 4) {
        return None;
    }
    // What the definition below says of these lanes, so that most layouts need no more.
    let walks = if transposed { lanes[2..] == [2, 4, 8] } else { lanes[..2] == [4, 8] };
    if !walks {
        return None;
    }
    let at = |columns: &[u64], place: u64| -> u64 {
        columns.iter().enumerate().filter(|(bit, _)| place >> bit & 1 == 1).fold(0, |s, c| s ^ c.1)
    };
    let mut words = vec![vec![]];
    for _ in 0..(4 / bytes).ilog2() {
        let mut longer = Vec::new();
        for word in &words {
            let span = Subspace::from_vectors(word);
            for x in held.elements().unwrap().filter(|&x| !span.contains(x)) {
                longer.push([&word[..], &[x]].concat());
            }
        }
        words = longer;
    }
    let each = words.iter().filter_map(|word| {
        let inside = Subspace::from_vectors(word);
        // Every other register must lead to an aligned matrix, counted from some element of a word.
        let aligned = |x: u64| inside.elements().unwrap().any(|t| (x ^ t).is_multiple_of(16));
        if !held.elements().unwrap().all(aligned) {
            return None;
        }
        let mut rows = [None; 8];
        for lane in 0..32 {
            for byte in (0..4_u64).step_by(bytes as usize) {
                let address = at(lanes, lane) ^ at(word, byte / u64::from(bytes));
                let (row, column) = if transposed {
                    (2 * (lane % 4) + byte / 2, 2 * (lane / 4) + byte % 2)
                } else {
                    (lane / 4, 4 * (lane % 4) + byte)
                };
                let start = address.checked_sub(column).filter(|start| start % 16 == 0)?;
                if *rows[row as usize].get_or_insert(start) != start {
                    return None;
                }
            }
        }
        let bank = |word: u64| word & ((1 << machine.banks_log2) - 1);
        let bytes = rows.iter().flatten().flat_map(|start| *start..*start + 16);
        let words: BTreeSet<u64> = bytes.map(|byte| byte >> machine.bank_bytes_log2).collect();
        let same = |a: &u64| words.iter().filter(|b| bank(**b) == bank(*a)).count() as u64;
        let wavefronts = words.iter().map(same).max()?;
        Some(wavefronts << (held.dim() - inside.dim()))
    });
    each.min()
}

/// Every invertible matrix of `bits` bits.
fn invertible(bits: u32, each: &mut impl FnMut(&Matrix)) {
    fn extend(bits: u32, columns: &mut Vec<u64>, each: &mut impl FnMut(&Matrix)) {
        if columns.len() == bits as usize {
            each(&Matrix::new(bits, columns).unwrap());
            return;
        }
        for column in 1..1 << bits {
            if !Subspace::from_vectors(columns).contains(column) {
                columns.push(column);
                extend(bits, columns, each);
                columns.pop();
            }
        }
    }
    extend(bits, &mut vec![], each);
}
