//! The check of a solved swizzle: it counts addresses and dimensions, and knows nothing of the solver.
//!
//! [`check`] is the whole of it: what the accesses take is counted over addresses (`taken`), and the
//! bound is computed again from dimensions (`bound`), both on what the instructions ask for (`way`).

mod bound;
mod way;

use alloc::vec::Vec;

use self::{
    bound::least_of_all,
    way::{Columns, Way},
};
use super::{
    problem::{Certificate, Problem, Solved},
    verdict::{CheckError, Verdict},
};
use crate::{
    access::{AccessError, count_wavefronts},
    f2::{Subspace, low_mask, ones},
    space::OFFSET,
    step::Form,
};

/// Counts what the accesses take on the memory layout, address by address, and recomputes the bound
/// from the dimensions that the certificate names.
pub fn check(problem: &Problem<'_>, solved: &Solved) -> Result<Verdict, CheckError> {
    let memory = &solved.memory;
    if !memory.is_injective() || memory.ins().labels().ne([OFFSET]) {
        return Err(CheckError::Memory);
    }
    let sides: Vec<Columns<'_>> =
        problem.accesses.iter().map(|access| Columns::of(problem, access, solved)).collect();
    if solved.uses.len() != sides.len() {
        return Err(CheckError::Uses);
    }
    let rounds = 1_u64.checked_shl(solved.rounds.len() as u32).unwrap_or(u64::MAX);
    let mut total = 0_u64;
    for (index, (side, used)) in sides.iter().zip(&solved.uses).enumerate() {
        let offsets = side.map(memory.matrix()).ok_or(CheckError::Outside { access: index })?;
        let way = Way::of(problem, used.form, used.bytes);
        let way = way.filter(|way| way.is_allowed(side) && offsets.allow(way));
        let way = way.ok_or(CheckError::Vector { access: index })?;
        let expected = taken(&offsets, &way).map_err(CheckError::Access)?;
        let expected = (expected.0.saturating_mul(rounds), expected.1.saturating_mul(rounds));
        if expected != (used.instructions, used.wavefronts) {
            return Err(CheckError::Wavefronts { access: index, expected });
        }
        total = total.saturating_add(expected.1.saturating_mul(side.access.weight));
    }
    if total != solved.total {
        return Err(CheckError::Total(total));
    }
    let bound = match solved.certificate {
        Certificate::Exhausted { .. } if solved.bound == total => return Ok(Verdict::Exhausted),
        Certificate::Floors => {
            sides.chunks(1).map(|side| least_of_all(side, &mut Vec::new())).sum()
        }
        _ => least_of_all(&sides, &mut Vec::new()),
    };
    match bound.saturating_mul(rounds) {
        bound if bound < solved.bound => Err(CheckError::Bound(bound)),
        _ => Ok(if solved.bound == total { Verdict::Optimal } else { Verdict::Gap }),
    }
}

/// Instructions and wavefronts of a warp, counted over addresses; the columns are offsets.
fn taken(side: &Columns<'_>, way: &Way) -> Result<(u64, u64), AccessError> {
    let (machine, element) = (side.problem.machine, u64::from(side.element_bytes()));
    let low = low_mask(way.low.len() as u32);
    let held = Subspace::spanned_by(side.registers.iter().map(|offset| offset & !low));
    if way.form == Form::Vector {
        let acts = |lane| (lane & side.idle == 0).then(|| side.at(lane) * element);
        let addresses: Vec<_> = (0..u64::from(machine.lanes())).map(acts).collect();
        let one = count_wavefronts(machine, side.access.kind, &addresses, way.bytes)?;
        return Ok((1 << held.dim(), u64::from(one.actual) << held.dim()));
    }
    // Eight rows of a matrix are served together; the register that counts rows is the best one.
    let counted = way.rows.contains(&None);
    let turns = |register: u64| {
        let columns = [0, 1, 2].map(|bit| way.rows[bit].map_or(register, |lane| side.lane(lane)));
        let row = |row: u64| ones(row).fold(0, |sum, bit| sum ^ columns[bit as usize]);
        let bytes = (0..8).flat_map(|index| (0..16).map(move |byte| (row(index) * element) | byte));
        let mut words: Vec<u64> = bytes.map(|byte| byte >> machine.bank_bytes_log2).collect();
        let bank = |word: &u64| word & low_mask(machine.banks_log2_of(side.access.kind));
        words.sort_unstable_by_key(|word| (bank(word), *word));
        words.dedup();
        words.chunk_by(|a, b| bank(a) == bank(b)).map(|same| same.len() as u64).max()
    };
    let registers = held.elements().into_iter().flatten().filter(|&x| counted == (x != 0));
    let least = registers.filter_map(turns).min().unwrap_or(u64::MAX);
    let matrices = 1_u64 << (held.dim() - u32::from(counted));
    let instructions = matrices / u64::from(way.bytes / 4).min(matrices);
    Ok((instructions, matrices.saturating_mul(least)))
}
