//! The check of a solved swizzle: it counts addresses and dimensions, and knows nothing of the solver.

use alloc::{vec, vec::Vec};

use super::{
    problem::{Access, Certificate, Problem, Solved},
    verdict::{CheckError, Verdict},
};
use crate::{
    access::{AccessError, Kind, count_wavefronts},
    f2::{self, Echelon, Subspace, low_mask, ones, parity},
    machine::{Matrix, MatrixMove},
    space::{LANE, OFFSET, REGISTER, WARP},
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
        let way = way.filter(|way| offsets.allow(way) && way.is_allowed(side));
        let way = way.ok_or(CheckError::Vector { access: index })?;
        let expected = offsets.taken(&way).map_err(CheckError::Access)?;
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
        Certificate::Floors => sides.iter().fold(0, |sum: u64, side| {
            sum.saturating_add(least_of_all(core::slice::from_ref(side), &mut Vec::new()))
        }),
        _ => least_of_all(&sides, &mut Vec::new()),
    };
    match bound.saturating_mul(rounds) {
        bound if bound < solved.bound => Err(CheckError::Bound(bound)),
        _ => Ok(if solved.bound == total { Verdict::Optimal } else { Verdict::Gap }),
    }
}

/// One way in which an access may move: what stands at the lowest offset bits and what counts the
/// rows of a matrix, a lane bit or some register each.
#[derive(Clone, PartialEq)]
struct Way {
    form: Form,
    bytes: u32,
    low: Vec<Option<usize>>,
    rows: Vec<Option<usize>>,
}

impl Way {
    /// Nothing where the machine has no such instruction for these elements.
    fn of(problem: &Problem<'_>, form: Form, bytes: u32) -> Option<Way> {
        let element = element_bytes(problem);
        let Form::Matrix(matrix) = form else {
            let fits = bytes.is_power_of_two() && bytes >= element;
            let low = vec![None; (bytes / element).checked_ilog2()? as usize];
            return fits.then_some(Way { form, bytes, low, rows: Vec::new() });
        };
        // Which bit of a lane's bytes or of the lane has this byte of this row.
        let at = |place: (u64, u64)| {
            let byte = (0..2).find(|&bit| matrix.place(0, 1 << bit) == Some(place));
            let lane = (0..5).find(|&bit| matrix.place(1 << bit, 0) == Some(place));
            byte.map(|bit| (None, bit)).or(lane.map(|bit| (Some(bit), bit)))
        };
        let whole = (0..element.ilog2())
            .all(|bit| at((0, 1 << bit)).is_some_and(|found| found == (None, bit as usize)));
        let low = (element.ilog2()..4).map(|bit| Some(at((0, 1 << bit))?.0));
        let rows = (0..3).map(|bit| Some(at((1 << bit, 0))?.0));
        let (low, rows) = (low.collect::<Option<_>>()?, rows.collect::<Option<_>>()?);
        let plain =
            matrix.rows == 8 && matrix.element_bits == 16 && problem.machine.lanes_log2 == 5;
        (whole && plain).then_some(Way { form, bytes, low, rows })
    }

    /// Whether the access may use it.
    fn is_allowed(&self, side: &Columns<'_>) -> bool {
        let machine = side.problem.machine;
        let most = side.access.widest_bytes.unwrap_or(u32::MAX).min(machine.shared_vector_bytes);
        let kind = match self.form {
            Form::Vector => true,
            Form::Matrix(matrix) => {
                let banks = machine.banks_log2_of(side.access.kind) + machine.bank_bytes_log2;
                let count = self.bytes / 4;
                let moves = |found: &MatrixMove| {
                    found.moves(side.access.kind, matrix, count) && !found.architecture_specific
                };
                let known = machine.matrix_moves.iter().any(moves);
                side.access.matrix_moves && side.idle == 0 && banks >= 4 && known
            }
        };
        let registers = self.low.iter().chain(&self.rows).filter(|slot| slot.is_none()).count();
        kind && self.bytes <= most && registers <= side.registers.len()
    }
}

fn element_bytes(problem: &Problem<'_>) -> u32 {
    problem.element_bits.clamp(8, 64).next_power_of_two() / 8
}

/// The columns of an access in one round, elements or offsets; of a store only those that write
/// something new.
struct Columns<'a> {
    problem: &'a Problem<'a>,
    access: &'a Access,
    registers: Vec<u64>,
    lanes: Vec<u64>,
    warps: Vec<u64>,
    idle: u64,
}

impl<'a> Columns<'a> {
    fn of(problem: &'a Problem<'a>, access: &'a Access, solved: &Solved) -> Columns<'a> {
        let layout = &access.layout;
        let mut registers = layout.columns(REGISTER).to_vec();
        for &mask in &solved.rounds {
            let odd = |column: &u64| parity(column & mask);
            let pivot = registers.iter().copied().find(odd).unwrap_or(0);
            registers.iter_mut().filter(|column| odd(column)).for_each(|column| *column ^= pivot);
        }
        let (mut lanes, mut warps) = (layout.columns(LANE).to_vec(), layout.columns(WARP).to_vec());
        let (mut seen, mut idle) = (Echelon::new(), 0);
        if access.kind == Kind::Store {
            let mut keep = |column: &mut u64| {
                let new = seen.grows(*column);
                *column = if new { *column } else { 0 };
                new
            };
            for (bit, lane) in lanes.iter_mut().enumerate() {
                idle |= u64::from(!keep(lane)) << bit;
            }
            for warp in &mut warps {
                keep(warp);
            }
        }
        registers.retain(|&column| seen.grows(column));
        Columns { problem, access, registers, lanes, warps, idle }
    }

    /// The same as offsets, where the memory holds all.
    fn map(&self, memory: &f2::Matrix) -> Option<Columns<'a>> {
        let offsets = |columns: &[u64]| {
            let columns = f2::Matrix::new(memory.rows(), columns).ok()?;
            Some(memory.solve(&columns).ok()?.columns().to_vec())
        };
        let [registers, lanes, warps] = [&self.registers, &self.lanes, &self.warps];
        let (registers, lanes, warps) = (offsets(registers)?, offsets(lanes)?, offsets(warps)?);
        Some(Columns { registers, lanes, warps, ..*self })
    }

    fn lane(&self, bit: usize) -> u64 {
        self.lanes.get(bit).copied().unwrap_or(0)
    }

    fn own(&self) -> Subspace {
        Subspace::from_vectors(&self.registers)
    }

    /// What takes no part at the offset bit of a slot: the other lanes, warps, and where a lane does
    /// the registers.
    fn apart(&self, slots: &[Option<usize>]) -> Subspace {
        let registers = if slots.contains(&None) { &[][..] } else { &self.registers };
        let lanes = (0..self.lanes.len()).filter(|&bit| !slots.contains(&Some(bit)));
        let lanes = lanes.map(|bit| self.lane(bit));
        Subspace::spanned_by(lanes.chain(self.warps.iter().chain(registers).copied()))
    }

    /// Whether offsets stand where the way wants them.
    fn allow(&self, way: &Way) -> bool {
        (0..way.low.len()).all(|bit| {
            let stands = match way.low[bit] {
                None => self.own().contains(1 << bit),
                Some(lane) => self.lane(lane) == 1 << bit,
            };
            stands && self.apart(&way.low[bit..=bit]).basis().all(|v| v >> bit & 1 == 0)
        })
    }

    /// Instructions and wavefronts of a warp, counted over addresses; the columns are offsets.
    fn taken(&self, way: &Way) -> Result<(u64, u64), AccessError> {
        let (machine, element) = (self.problem.machine, u64::from(element_bytes(self.problem)));
        let low = low_mask(way.low.len() as u32);
        let held = Subspace::spanned_by(self.registers.iter().map(|offset| offset & !low));
        if way.form == Form::Vector {
            let address = |lane| ones(lane).fold(0, |sum, bit| sum ^ self.lane(bit as usize));
            let acts = |lane| (lane & self.idle == 0).then(|| address(lane) * element);
            let addresses: Vec<_> = (0..u64::from(machine.lanes())).map(acts).collect();
            let one = count_wavefronts(machine, self.access.kind, &addresses, way.bytes)?;
            return Ok((1 << held.dim(), u64::from(one.actual) << held.dim()));
        }
        // The words of the eight rows of a matrix; the register that counts rows is the best one.
        let ways = |register: u64| {
            let columns = way.rows.iter().map(|slot| slot.map_or(register, |bit| self.lane(bit)));
            let columns: Vec<u64> = columns.collect();
            let row = |row: u64| ones(row).fold(0, |sum, bit| sum ^ columns[bit as usize]);
            let bytes =
                (0..8).flat_map(|index| (0..16).map(move |byte| (row(index) * element) | byte));
            let mut words: Vec<u64> = bytes.map(|byte| byte >> machine.bank_bytes_log2).collect();
            let bank = |word: &u64| word & low_mask(machine.banks_log2_of(self.access.kind));
            words.sort_unstable_by_key(|word| (bank(word), *word));
            words.dedup();
            words.chunk_by(|a, b| bank(a) == bank(b)).map(|same| same.len() as u64).max()
        };
        let counted = way.rows.contains(&None);
        let registers = held.elements().into_iter().flatten().filter(|&x| counted == (x != 0));
        let least = registers.filter_map(ways).min().unwrap_or(u64::MAX);
        let matrices = 1_u64 << (held.dim() - u32::from(counted));
        let instructions = matrices / u64::from(way.bytes / 4).min(matrices);
        Ok((instructions, matrices.saturating_mul(least)))
    }

    /// All ways of the access.
    fn ways(&self) -> impl Iterator<Item = Way> + '_ {
        let moves = [Matrix::ROWS, Matrix::COLUMNS].map(|matrix| (Form::Matrix(matrix), 4));
        let vectors = (0..=4).map(|width| (Form::Vector, 1 << width));
        let ways = vectors.chain(moves);
        ways.filter_map(|(form, bytes)| Way::of(self.problem, form, bytes))
            .filter(|way| way.is_allowed(self))
    }

    /// The least wavefronts of a warp: every phase touches at least its lanes and what stands at the
    /// lowest bits, and a wavefront serves one row, less the bits at which the phase has no part.
    fn least(&self, way: &Way, all: &[(&Columns<'_>, Way)]) -> u64 {
        let machine = self.problem.machine;
        let acting = low_mask(machine.lanes_log2) & !self.idle;
        let copies = ones(acting).filter(|&bit| self.lane(bit as usize) == 0);
        let copies = copies.fold(0, |mask, bit| mask | 1 << bit);
        let (together, phases) = match way.form {
            Form::Vector => {
                let width = way.bytes.ilog2();
                let together = machine.phases.served(self.access.kind, width, copies);
                let together = together.intersection(&Subspace::of_bits(acting));
                (together, acting.count_ones() - together.dim())
            }
            Form::Matrix(_) => {
                let rows = way.rows.iter().flatten().fold(0, |mask, bit| mask | 1 << bit);
                (Subspace::of_bits(rows), 0)
            }
        };
        let element = |lane: u64| ones(lane).fold(0, |sum, bit| sum ^ self.lane(bit as usize));
        let touched = Subspace::spanned_by(together.basis().map(element));
        let (element, low) = (element_bytes(self.problem).ilog2(), way.low.len() as u32);
        let row = machine.banks_log2_of(self.access.kind) + machine.bank_bytes_log2;
        let unused = (low..row.saturating_sub(element)).filter(|&bit| {
            let here = all.iter().filter(|(_, way)| way.low.len() > bit as usize);
            let apart = here.map(|(side, way)| side.apart(&way.low[bit as usize..=bit as usize]));
            apart.fold(Subspace::ZERO, |sum, apart| sum.sum(&apart)).contains_all(&touched)
        });
        // The bits of which no access speaks are for all.
        let longest = all.iter().map(|(_, way)| way.low.len() as u32).max().unwrap_or(0);
        let unused = unused.filter(|&bit| bit < longest).count() as u32;
        let registers = way.low.iter().chain(&way.rows).filter(|slot| slot.is_none()).count();
        let units = self.own().dim() - registers as u32 + phases;
        let turns = (touched.dim() + low + element + unused).saturating_sub(row);
        1_u64.checked_shl(units + turns).unwrap_or(u64::MAX)
    }
}

/// The least weighted sum over all ways that leave room for each other.
fn least_of_all<'a>(sides: &'a [Columns<'a>], chosen: &mut Vec<(&'a Columns<'a>, Way)>) -> u64 {
    if !has_room(chosen) {
        return u64::MAX;
    }
    let Some((side, rest)) = sides.split_first() else {
        let each = chosen
            .iter()
            .map(|(side, way)| side.least(way, chosen).saturating_mul(side.access.weight));
        return each.fold(0, u64::saturating_add);
    };
    let mut least = u64::MAX;
    for way in side.ways() {
        chosen.push((side, way));
        least = least.min(least_of_all(rest, chosen));
        chosen.pop();
    }
    least
}

/// Whether at each of the lowest bits stands what all accesses ask for: the same lane, in the
/// registers of the others, and for each `t` there are `t` dimensions beside what is kept apart.
fn has_room(chosen: &[(&Columns<'_>, Way)]) -> bool {
    (0..7).all(|bit| {
        let here = || chosen.iter().filter(|(_, way)| way.low.len() > bit);
        let lanes: Vec<u64> =
            here().filter_map(|(side, way)| Some(side.lane(way.low[bit]?))).collect();
        let apart = |(side, way): &(&Columns<'_>, Way)| side.apart(&way.low[bit..=bit]);
        let one = lanes.iter().all(|lane| {
            let held = |(side, way): &(&Columns<'_>, Way)| {
                way.low[bit].is_some() || side.own().contains(*lane)
            };
            let kept = here().map(apart).fold(Subspace::ZERO, |sum, apart| sum.sum(&apart));
            lane == &lanes[0] && here().all(held) && !kept.contains(*lane)
        });
        let room = here().map(|(side, way)| {
            let slots = &way.low[..=bit];
            let registers = if slots.contains(&None) { &side.registers[..] } else { &[] };
            let lanes = slots.iter().flatten().map(|&lane| side.lane(lane));
            let room = Subspace::spanned_by(registers.iter().copied().chain(lanes));
            (room, side.apart(slots))
        });
        let both = room.reduce(|a, b| (a.0.intersection(&b.0), a.1.sum(&b.1)));
        let enough = |(room, apart): (Subspace, Subspace)| {
            room.dim() - room.intersection(&apart).dim() > bit as u32
        };
        one && both.is_none_or(enough)
    })
}
