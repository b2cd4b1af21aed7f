//! Products by the matrix units of warpgroups.
//!
//! One instruction multiplies 64 rows by up to 256 columns for four warps; each warp has sixteen of the rows.
//! Over the warpgroups of a block rows are dealt out first, then columns, so that the columns of an instruction
//! are as many as can be: the more there are, the less is read from shared memory for each product.
//!
//! ```text
//! accumulator  registers n0 m3 n3 n4 …   lanes n1 n2 m0 m1 m2   warps m4 m5, then rows, then columns
//! left factor  registers k0 … m3 …       lanes k  k  m0 m1 m2   warps m4 m5, then rows, then copies
//! ```
//!
//! The source is the PTX ISA, "Asynchronous warpgroup level matrix instructions".

use super::{Candidate, Product, Sizes, kinds};
use crate::assign::layouts::{LayoutId, Layouts};
use crate::assign::{AssignError, Block, Buffers};
use crate::tile::{Kernel, Op, OpKind, Precision};
use weft_layout::family::Family;
use weft_layout::machine::{Machine, MatrixMultiply, Part, Storage};
use weft_layout::plan::operand::{Operand, OperandTile, legal};
use weft_layout::space::{LANE, Label, REGISTER, WARP};
use weft_layout::{Layout, Space};

/// A product by warpgroups, and where its matrices lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warpgroup {
    /// The instruction that a warpgroup issues.
    pub instruction: MatrixMultiply,
    /// Over how many warpgroups the rows are dealt, and the columns.
    pub split: [u64; 2],
    /// The layout of the sum.
    pub accumulator: LayoutId,
    /// The layout of the left factor, where it is in registers.
    pub left: Option<LayoutId>,
}

impl Warpgroup {
    /// The axes of a factor that the product keeps and sums over.
    pub fn axes(part: Part) -> [Label; 2] {
        match part {
            Part::Left => [Label::dim(0), Label::dim(1)],
            Part::Right | Part::Sum => [Label::dim(1), Label::dim(0)],
        }
    }

    /// How matrix units read a factor of this shape in memory.
    pub fn operand(
        &self,
        memory: &Buffers,
        shape: &[u64],
        part: Part,
    ) -> Result<Operand, AssignError> {
        let [kept, summed] = Self::axes(part);
        let [rows, columns] = self.instruction.shape(Part::Sum);
        let extent = if part == Part::Left { rows } else { columns };
        let bits = self.instruction.number(part).bits();
        operand(&memory.memory.family, shape, bits, [kept, summed], extent)
    }
}

/// How matrix units read tiles of a buffer.
pub(crate) fn operand(
    family: &Family,
    shape: &[u64],
    element_bits: u32,
    [kept, summed]: [Label; 2],
    extent: u64,
) -> Result<Operand, AssignError> {
    let memory = family.layout(shape)?;
    let tile = OperandTile { kept, summed, extent, element_bits };
    Ok(legal(&memory, &tile)?)
}

/// The instruction by which warpgroups can compute a product, with any number of columns that it has, if there
/// is one.
pub fn warpgroup_instruction<'m>(
    kernel: &Kernel,
    op: &Op,
    machine: &'m Machine,
    warps: u32,
) -> Option<&'m MatrixMultiply> {
    let (OpKind::Dot(precision) | OpKind::WarpgroupDot(precision)) = op.kind else { return None };
    let sizes = Sizes::of(kernel, op)?;
    let instruction = instruction(kernel, op, machine, precision)?;
    (!splits(&sizes, instruction, warps).is_empty()).then_some(instruction)
}

/// The instruction for the types of a product, whose factors are multiplied as they lie in memory.
fn instruction<'m>(
    kernel: &Kernel,
    op: &Op,
    machine: &'m Machine,
    precision: Precision,
) -> Option<&'m MatrixMultiply> {
    let types = [0, 1, 2].map(|index| kernel.ty(op.operands[index]).dtype());
    kinds(types, precision, machine).into_iter().find_map(|numbers| {
        machine.warpgroup_multiplies.iter().find(|instruction| {
            let own = [instruction.left, instruction.right, instruction.sum];
            own == numbers
                && instruction.left.bits() == types[0].bits()
                && super::passes(types[0], instruction.left, precision) == 1
        })
    })
}

/// The widest form of an instruction whose columns divide so many.
fn widest(instruction: &MatrixMultiply, columns: u64) -> Option<MatrixMultiply> {
    let halves = core::iter::successors(Some(columns), |columns| Some(columns / 2));
    let mut widths = halves.take_while(|&columns| columns > 0);
    widths.find_map(|columns| instruction.with_columns(u32::try_from(columns).ok()?))
}

/// How warpgroups may be dealt out over rows and columns, each to whole instructions.
fn splits(sizes: &Sizes, instruction: &MatrixMultiply, warps: u32) -> Vec<[u64; 2]> {
    if !sizes.batch.is_empty()
        || !warps.is_multiple_of(instruction.warps())
        || sizes.summed < instruction.summed.into()
    {
        return Vec::new();
    }
    let groups = u64::from(warps / instruction.warps());
    let powers = core::iter::successors(Some(1), |power| Some(power * 2));
    powers
        .take_while(|&down| down <= groups)
        .map(|down| [down, groups / down])
        .filter(|[down, across]| {
            sizes.rows >= u64::from(instruction.rows) * down
                && widest(instruction, sizes.columns / across).is_some()
        })
        .collect()
}

/// Every way to compute a product whose factors lie in memory, the left one maybe in registers.
pub(super) fn candidates(
    kernel: &Kernel,
    op: &Op,
    precision: Precision,
    block: Block<'_>,
    layouts: &mut Layouts,
) -> Result<Vec<Candidate>, AssignError> {
    let Some(sizes) = Sizes::of(kernel, op) else { return Ok(Vec::new()) };
    let Some(any) = instruction(kernel, op, block.machine, precision) else {
        return Ok(Vec::new());
    };
    let in_registers = kernel.ty(op.operands[0]).is_tensor();
    let mut candidates = Vec::new();
    for split in splits(&sizes, any, block.warps) {
        let Some(instruction) = widest(any, sizes.columns / split[1]) else { continue };
        let accumulator = dealt(&sizes, &instruction, Part::Sum, split)?;
        let left = in_registers.then(|| dealt(&sizes, &instruction, Part::Left, split));
        let product = Warpgroup {
            instruction,
            split,
            accumulator: layouts.intern(accumulator),
            left: left.transpose()?.map(|left| layouts.intern(left)),
        };
        candidates.push(priced(product, &sizes));
    }
    Ok(candidates)
}

/// The way to compute a product whose layouts the program gives; nothing if they are no warpgroup's.
pub(super) fn given(
    kernel: &Kernel,
    op: &Op,
    precision: Precision,
    block: Block<'_>,
    layouts: &mut Layouts,
    [accumulator, left]: [Option<LayoutId>; 2],
) -> Result<Option<Product>, AssignError> {
    let mut unique = |given: Option<LayoutId>| -> Result<Option<LayoutId>, AssignError> {
        let Some(given) = given else { return Ok(None) };
        let unique = layouts.get(given).remove_zero_columns(REGISTER)?.0;
        Ok(Some(layouts.intern(unique)))
    };
    let (accumulator, left) = (unique(accumulator)?, unique(left)?);
    let found = candidates(kernel, op, precision, block, layouts)?.into_iter().find(|way| {
        let Product::Warpgroup(way) = &way.product else { return false };
        Some(way.accumulator) == accumulator && way.left == left
    });
    Ok(found.map(|way| way.product))
}

/// Where the sum lies, or a left factor in registers: the instruction's fragment, then in registers further
/// columns and rows. Warpgroups that share the rows of a left factor hold copies.
fn dealt(
    sizes: &Sizes,
    instruction: &MatrixMultiply,
    part: Part,
    [down, across]: [u64; 2],
) -> Result<Layout, AssignError> {
    let fragment = instruction.fragment(part)?;
    let [height, width] = instruction.shape(part);
    let all = sizes.sides(part)[1];
    let row = |value: u64| value * all;
    let own = |label: Label| {
        fragment.columns(label).iter().map(|&place| row(place / width) + place % width)
    };
    let share = if part == Part::Sum { all / across } else { all };
    let mut registers: Vec<u64> = own(REGISTER).collect();
    registers.extend(doublings(width, share));
    registers.extend(doublings(height * down, sizes.rows).map(row));
    let lanes: Vec<u64> = own(LANE).collect();
    let mut warps: Vec<u64> = own(WARP).collect();
    warps.extend(doublings(height, height * down).map(row));
    warps.extend(doublings(1, across).map(|step| if part == Part::Sum { step * share } else { 0 }));
    let ins = Space::hardware(registers.len() as u32, lanes.len() as u32, warps.len() as u32, 0)?;
    let outs = Space::tensor(&[sizes.rows, all])?;
    Ok(Layout::new(ins, outs, &[registers, lanes, warps].concat())?)
}

/// `from`, `2 from`, … below `end`.
fn doublings(from: u64, end: u64) -> impl Iterator<Item = u64> {
    core::iter::successors(Some(from), |value| Some(value * 2))
        .take_while(move |&value| value < end)
}

/// The price of the instructions: the matrix units' time, or that of shared memory where it takes longer to bring the
/// factors, and to be filled with those of another round meanwhile (128 bytes a cycle). Of ways that take equally long
/// the one that reads less is cheaper. (Products of f8 in blocks of 256 by 128 by 128 by two warpgroups, which read 128
/// KiB in a round if they share the rows and 96 if they share the columns: 0.90 of the speed.)
fn priced(product: Warpgroup, sizes: &Sizes) -> Candidate {
    /// A cycle, in the hundredths that prices count.
    const CYCLE: u64 = 100;
    /// Bytes that shared memory brings in a cycle.
    const BYTES: u64 = 128;
    let instruction = &product.instruction;
    let [rows, columns] = instruction.shape(Part::Sum);
    let tiles = (sizes.rows / rows).max(1) * (sizes.columns / columns).max(1);
    let runs = tiles * (sizes.summed / u64::from(instruction.summed)).max(1);
    let storage = if product.left.is_none() { Storage::Shared } else { Storage::Registers };
    let read = instruction.shared_bytes(storage).div_ceil(BYTES);
    let kept = if product.left.is_none() { sizes.rows } else { 0 };
    let filled = (kept + sizes.columns) * sizes.summed * u64::from(instruction.right.bits()) / 8;
    let shared = (runs * read + filled.div_ceil(BYTES)) * CYCLE;
    let price = (runs * instruction.price).max(shared) + runs * read;
    let (accumulator, groups) = (product.accumulator, product.split.iter().product::<u64>());
    Candidate {
        product: Product::Warpgroup(Box::new(product)),
        accumulator,
        runs: runs.div_ceil(groups),
        instructions: price,
        moves: [0; 2],
    }
}
