//! Copies that go from global memory straight into shared memory, past the registers.
//!
//! One instruction of a wave writes one *run*: lane `l` puts its `b` bytes at `base + l * b`, and the
//! base is the same for all lanes. Where each lane reads is free. So the lowest bits of an offset in
//! shared memory are those of one lane's bytes, the next those of the lane, and the rest those of the
//! instruction. Two questions about a memory layout `M`, from offsets to elements, are left:
//!
//! * *Can copies write it?* The bytes of a lane are neighbours in global memory, in their order, so `M`
//!   must be the identity on the lowest bits, onto the axis along which global memory is contiguous,
//!   and no other bit of the offset may reach there: `M = I x M'`, a left division. A swizzle that
//!   moves whole vectors is written so, one that cuts them or turns them round is not; the witness is
//!   the first bit at which a lane's bytes come from elsewhere.
//! * *Do they read whole sectors?* Let `U` be the span of `M`'s columns of one run, and `S` that of
//!   the elements of one sector. An instruction touches `2^(dim U - dim(U and S))` sectors.
//!
//! What bank conflicts an access meets depends on the span `G` of the elements at the segment bits
//! alone ([`swizzle`]), so the columns below them may be any others that are independent of `G`. A
//! run has `t` bits above those of the banks. Copies read whole sectors on some layout with the same
//! conflicts if `dim(S and G) <= t`, and [`direct_swizzle`] gives one.

use alloc::vec::Vec;
use core::fmt;

use crate::plan::swizzle::{Meter, Problem, Solved, SwizzleError, solve};
use crate::{
    f2::{Matrix, Subspace},
    layout::{Coordinates, Layout, LayoutError},
    machine::Machine,
    space::{Label, OFFSET, Space},
};

/// How copies of one width write a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectCopy {
    /// The bytes of one lane in one instruction.
    pub bytes: u32,
    /// What one instruction writes: from `register` (the elements of a lane) and `lane` to the
    /// tensor. The other instructions add one element each to all of it.
    pub run: Layout,
    /// The instructions of one wave that write the whole buffer.
    pub instructions: u64,
    /// The sectors of global memory that one instruction touches, where rows begin with a sector.
    pub sectors: u64,
    /// The fewest that as many bytes lie in, where rows are long enough.
    pub ideal_sectors: u64,
    /// An element of a sector that one instruction touches and does not copy, beside the first element
    /// of the run.
    pub apart: Option<Coordinates>,
}

/// Why copies of one width do not write a memory layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The bytes of one lane in one instruction.
    pub bytes: u32,
    /// The lowest bit of the offset, in elements, at which they come from elsewhere.
    pub bit: u32,
    /// The element at this bit; none where the buffer ends before.
    pub found: Option<Coordinates>,
    /// The one that should be there: within a lane's bytes the one that follows in global memory, above
    /// them one with which a vector begins. None where a row of the tensor ends before.
    pub wanted: Option<Coordinates>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoDirectCopy {
    /// The machine has no such copies.
    Machine,
    /// Elements have no whole number of bytes up to 8.
    ElementBits(u32),
    /// The tensor does not have the axis.
    Axis(Label),
    /// The buffer does not hold each element once.
    Memory,
    /// The layout's algebra refused.
    Layout(LayoutError),
    /// No memory layout could be found.
    Swizzle(SwizzleError),
}

/// Whether copies of each width that the machine has can write a memory layout, the narrowest first.
///
/// `memory` maps `offset`, in elements, one to one to the tensor; `axis` is the one along which global
/// memory is contiguous. A buffer of less than one run takes as many lanes as it has vectors.
///
/// ```
/// use weft_layout::{Label, Machine, family::SwizzledShared, plan};
///
/// let machine = Machine::by_name("gfx950").ok_or("no such machine")?;
/// // Vectors of 8 halves keep together: 16 bytes.
/// let memory = SwizzledShared::new(8, 1, 8, &[1, 0]).layout(&[64, 64])?;
/// let widths = plan::direct_copies(machine, &memory, 16, Label::dim(1))?;
/// let by_16 = widths[1].as_ref().map_err(|_| "cut")?;
/// assert_eq!((by_16.bytes, by_16.sectors, by_16.ideal_sectors), (16, 16, 16));
/// // Of vectors of 4 a lane's 16 bytes are two, which row 1 has in the other order.
/// let memory = SwizzledShared::new(4, 1, 8, &[1, 0]).layout(&[64, 64])?;
/// let widths = plan::direct_copies(machine, &memory, 16, Label::dim(1))?;
/// assert!(widths[0].is_ok());
/// assert_eq!(widths[1].as_ref().err().map(|cut| cut.bit), Some(6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn direct_copies(
    machine: &Machine,
    memory: &Layout,
    element_bits: u32,
    axis: Label,
) -> Result<Vec<Result<DirectCopy, Cut>>, NoDirectCopy> {
    let question = Question::new(machine, memory.outs(), element_bits, axis)?;
    let memory = memory.restrict_ins(&[OFFSET])?;
    if !memory.is_invertible() {
        return Err(NoDirectCopy::Memory);
    }
    let widths = machine.direct_copies.iter().filter(|&&bytes| bytes >= question.element_bytes());
    widths.map(|&bytes| question.copy(&memory, bytes)).collect()
}

/// A memory layout that copies of so many bytes a lane write, with as few bank conflicts as is known, and
/// of these one with the fewest sectors an instruction that its segments allow.
///
/// The accesses of the problem are those of the threads; the copies are no access of it. The bound is
/// that of all memory layouts with a lane's bytes together.
pub fn direct_swizzle(
    problem: &Problem<'_>,
    axis: Label,
    bytes: u32,
) -> Result<(Solved, DirectCopy), NoDirectCopy> {
    let first = problem.accesses.first().ok_or(SwizzleError::NoAccess)?;
    let question = Question::new(problem.machine, first.layout.outs(), problem.element_bits, axis)?;
    if !problem.machine.direct_copies.contains(&bytes) || bytes < question.element_bytes() {
        return Err(NoDirectCopy::Machine);
    }
    let vector = question.vector(bytes);
    let meter = Meter::new(problem)?;
    let (_, sector_bits) = question.sector();
    let free = question.solved(problem, &meter, vector, 0)?;
    // The elements of a sector at the lowest bank bits, as many as cost nothing: then a run holds them.
    let more = (1..=sector_bits.saturating_sub(vector)).rev();
    let more = more.filter_map(|count| question.solved(problem, &meter, vector, count).ok());
    let solved = more.into_iter().find(|found| found.total <= free.total);
    let solved = match solved {
        Some(found) => Solved { bound: free.bound, certificate: free.certificate, ..found },
        None => free,
    };
    let widest = solved.uses.iter().map(|taken| taken.bytes).max().unwrap_or(1);
    let kept = vector.max(widest.max(1).ilog2().saturating_sub(question.bytes_log2));
    let turned = question.turned(&solved.memory, kept)?;
    let turned = question.reduced(&turned, vector)?;
    // The spans that decide on conflicts are the same, and so are these.
    let same = meter.measure(&turned)? == (solved.total, solved.uses.clone());
    let memory = if same { turned } else { solved.memory.clone() };
    let copy = question.copy(&memory, bytes)?.map_err(|_| NoDirectCopy::Memory)?;
    Ok((Solved { memory, ..solved }, copy))
}

/// What is asked, but for the memory.
struct Question<'a> {
    machine: &'a Machine,
    outs: &'a Space,
    bytes_log2: u32,
    axis: Label,
}

impl<'a> Question<'a> {
    fn new(
        machine: &'a Machine,
        outs: &'a Space,
        element_bits: u32,
        axis: Label,
    ) -> Result<Question<'a>, NoDirectCopy> {
        if !matches!(element_bits, 8 | 16 | 32 | 64) {
            return Err(NoDirectCopy::ElementBits(element_bits));
        }
        if machine.direct_copies.is_empty() {
            return Err(NoDirectCopy::Machine);
        }
        if !outs.contains(axis) {
            return Err(NoDirectCopy::Axis(axis));
        }
        Ok(Question { machine, outs, bytes_log2: (element_bits / 8).ilog2(), axis })
    }

    fn element_bytes(&self) -> u32 {
        1 << self.bytes_log2
    }

    /// The element so many powers of two on in global memory; zero where the axis ends before.
    fn along(&self, bit: u32) -> u64 {
        let start = self.outs.offset_of(self.axis).unwrap_or(0);
        if bit < self.outs.bits(self.axis) { 1 << (start + bit) } else { 0 }
    }

    /// The logarithm of the elements of a lane.
    fn vector(&self, bytes: u32) -> u32 {
        bytes.ilog2() - self.bytes_log2
    }

    /// The span of the elements of a sector, and the logarithm of how many it would hold of a long row.
    fn sector(&self) -> (Subspace, u32) {
        let log2 = self.machine.sector_bytes.max(1).ilog2().saturating_sub(self.bytes_log2);
        let elements: Vec<u64> = (0..log2).map(|bit| self.along(bit)).collect();
        (Subspace::from_vectors(&elements), log2)
    }

    /// The bits of an offset that one instruction writes.
    fn run_bits(&self, bytes: u32, memory: &Layout) -> u32 {
        (self.vector(bytes) + self.machine.lanes_log2).min(memory.in_bits(OFFSET))
    }

    fn copy(&self, memory: &Layout, bytes: u32) -> Result<Result<DirectCopy, Cut>, NoDirectCopy> {
        let vector = self.vector(bytes);
        let columns = memory.columns(OFFSET);
        let at = |bit: u32| columns.get(bit as usize).copied().unwrap_or(0);
        let lane = (0..vector).fold(0, |all, bit| all | self.along(bit));
        let wanted = |bit: u32| if bit < vector { self.along(bit) } else { at(bit) & !lane };
        // A column is never zero, so that a row that ends within the vector is found here too.
        let bits = vector.max(columns.len() as u32);
        if let Some(bit) = (0..bits).find(|&bit| at(bit) != wanted(bit) || at(bit) == 0) {
            let known = |element: u64| (element != 0).then(|| self.outs.unpack(element));
            let (found, wanted) = (known(at(bit)), known(wanted(bit)));
            return Ok(Err(Cut { bytes, bit, found, wanted }));
        }
        let bits = self.run_bits(bytes, memory);
        let (run, rest) = columns.split_at(bits as usize);
        let space = Space::hardware(vector, bits - vector, 0, 0).map_err(LayoutError::from)?;
        let layout = Layout::new(space, self.outs.clone(), run)?;
        let span = Subspace::from_vectors(run);
        let (sector, sector_bits) = self.sector();
        let whole = span.intersection(&sector).dim();
        let apart = sector.basis().find(|&element| !span.contains(element));
        Ok(Ok(DirectCopy {
            bytes,
            run: layout,
            instructions: 1 << rest.len(),
            sectors: 1 << (bits - whole),
            ideal_sectors: 1 << bits.saturating_sub(sector_bits),
            apart: apart.map(|element| self.outs.unpack(element)),
        }))
    }

    /// The best memory with a lane's bytes together, and so many further elements of a sector at the lowest
    /// bank bits.
    fn solved(
        &self,
        problem: &Problem<'_>,
        meter: &Meter<'_>,
        vector: u32,
        further: u32,
    ) -> Result<Solved, NoDirectCopy> {
        let mut fixed = problem.clone();
        fixed.fixed.vector = (0..vector).map(|bit| self.along(bit)).collect();
        fixed.fixed.bank = (vector..vector + further).map(|bit| self.along(bit)).collect();
        let solved = solve(&fixed)?;
        let memory = self.reduced(&solved.memory, vector)?;
        let (total, uses) = meter.measure(&memory)?;
        Ok(Solved { memory, uses, total, ..solved })
    }

    /// The memory in which every vector of a lane begins with its first element.
    fn reduced(&self, memory: &Layout, vector: u32) -> Result<Layout, NoDirectCopy> {
        let lane = (0..vector).fold(0, |all, bit| all | self.along(bit));
        let mut columns = memory.columns(OFFSET).to_vec();
        columns.iter_mut().skip(vector as usize).for_each(|column| *column &= !lane);
        let ins = Space::new(&[(OFFSET, columns.len() as u32)]).map_err(LayoutError::from)?;
        Ok(Layout::new(ins, self.outs.clone(), &columns)?)
    }

    /// The memory with the same elements at the lowest bits and the same span of segments, and as many
    /// elements of a sector in one run as can be.
    fn turned(&self, memory: &Layout, kept: u32) -> Result<Layout, NoDirectCopy> {
        let columns = memory.columns(OFFSET);
        let row = self.machine.row_bytes_log2().saturating_sub(self.bytes_log2);
        let row = (row as usize).clamp(kept as usize, columns.len());
        let (banks, segments) = columns.split_at(row);
        let (sector, _) = self.sector();
        let segment = Subspace::from_vectors(segments);
        // Below the segments: what is kept, then elements of the sector, then the banks as they were.
        let mut chosen: Vec<u64> = banks[..(kept as usize).min(row)].to_vec();
        let mut span = segment.sum(&Subspace::from_vectors(&chosen));
        for element in sector.basis().chain(banks.iter().copied()) {
            if chosen.len() < row && !span.contains(element) {
                chosen.push(element);
                span = span.sum(&Subspace::from_vectors(&[element]));
            }
        }
        // The segments: first those parts of the sector's elements that lie in them, so that the bits of a
        // run above the banks are theirs.
        let all = Matrix::new(memory.matrix().rows(), &[&chosen[..], segments].concat()).ok();
        let split = all.and_then(|all| all.inverse().ok()).ok_or(NoDirectCopy::Memory)?;
        let part = |element: u64| {
            let above = (0..)
                .zip(segments)
                .filter(|(at, _)| split.apply(element) >> (row as u32 + at) & 1 == 1);
            above.fold(0, |part, (_, &segment)| part ^ segment)
        };
        let mut span = Subspace::ZERO;
        for element in sector.basis().map(part).chain(segments.iter().copied()) {
            if !span.contains(element) {
                span = span.sum(&Subspace::from_vectors(&[element]));
                chosen.push(element);
            }
        }
        Ok(Layout::new(memory.ins().clone(), self.outs.clone(), &chosen)?)
    }
}

impl From<LayoutError> for NoDirectCopy {
    fn from(error: LayoutError) -> NoDirectCopy {
        NoDirectCopy::Layout(error)
    }
}

impl From<SwizzleError> for NoDirectCopy {
    fn from(error: SwizzleError) -> NoDirectCopy {
        NoDirectCopy::Swizzle(error)
    }
}

impl fmt::Display for NoDirectCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoDirectCopy::Machine => f.write_str(
                "the machine has no copies of this width from global straight into shared memory",
            ),
            NoDirectCopy::ElementBits(bits) => {
                write!(
                    f,
                    "no copy moves elements of {bits} bits, those of 8, 16, 32 and 64 bits do"
                )
            }
            NoDirectCopy::Axis(axis) => write!(f, "the tensor has no axis `{axis}`"),
            NoDirectCopy::Memory => {
                f.write_str("the memory layout does not give each element exactly one offset")
            }
            NoDirectCopy::Layout(error) => error.fmt(f),
            NoDirectCopy::Swizzle(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for NoDirectCopy {}
