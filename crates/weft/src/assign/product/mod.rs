//! How a matrix product may be computed, and at what price.
//!
//! Every product can be computed by fused multiply-adds of each thread. Where the machine has a matrix
//! instruction for the factors' types, or for types that hold them exactly, each way to deal the
//! product out over the warps is another candidate: the layouts of the sum and of the factors follow
//! from the instruction's fragments (`fragments`), and the price from how often it runs and from what
//! it reads. Nothing here converts: whoever takes a candidate asks for the factors in its layouts.
//!
//! ```text
//! sum   rows × columns   one instruction's 16 × 8, then the warps side by side, then registers
//! left  rows × k         the same rows; every warp of a row of warps holds the same
//! right k × columns      the same columns
//! ```
//!
//! A tile with fewer rows or columns than the instruction has copies in their place, which change
//! nothing: the same sums come out twice. Along k copies would be summed twice, so an instruction that
//! sums more than there is does not fit.

mod choose;
mod fragments;
mod scaled;
pub(super) mod warpgroup;
#[cfg(test)]
mod tests;

pub(super) use choose::choose;
use fragments::Fragments;
pub(super) use scaled::given as given_scaled;
pub use scaled::multiplies_scaled;
pub use warpgroup::{Warpgroup, warpgroup_instruction};

use super::layouts::{LayoutId, Layouts};
use super::shape::{is_elementwise, is_shape_op};
use super::{AssignError, Block};
use crate::dtype::DType;
use crate::id::IdMap;
use crate::tile::{Kernel, Op, OpId, OpKind, Precision, Value};
use weft_layout::family::{Blocked, FamilyError};
use weft_layout::machine::{Machine, MatrixMultiply, Number, Part};
use weft_layout::space::REGISTER;

/// How a matrix product is computed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Product {
    /// Each thread multiplies and adds for its own sums; all of the summed axis is in its registers.
    Multiply,
    /// Warps use a matrix instruction.
    Matrix(Box<Matrix>),
    /// Warpgroups use one that reads factors from shared memory.
    Warpgroup(Box<Warpgroup>),
}

impl Product {
    /// The layout that a factor is asked for in, the left one or the right one; nothing where it follows from
    /// that of the sum, or lies in memory.
    pub fn factor(&self, side: usize) -> Option<LayoutId> {
        match self {
            Product::Multiply => None,
            Product::Matrix(matrix) => Some(if side == 0 { matrix.left } else { matrix.right }),
            Product::Warpgroup(product) => product.left.filter(|_| side == 0),
        }
    }

    /// The layout that the scales of a factor are asked for in, if it has any.
    pub fn scale(&self, side: usize) -> Option<LayoutId> {
        match self {
            Product::Matrix(matrix) => matrix.scales.get(side).copied().flatten(),
            Product::Multiply | Product::Warpgroup(_) => None,
        }
    }
}

/// A matrix instruction and where its matrices lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matrix {
    /// The instruction that multiplies.
    pub instruction: MatrixMultiply,
    /// The layout of the sum, without copies in registers.
    pub accumulator: LayoutId,
    /// The layout of the left factor.
    pub left: LayoutId,
    /// The layout of the right factor.
    pub right: LayoutId,
    /// The layouts of the scales of both factors, rows or columns by groups, where they have scales.
    pub scales: [Option<LayoutId>; 2],
    /// The summed index that each bit of the instruction's stands for, and after these each bit of the
    /// number of the step along the summed axis. Both factors are dealt out by it, so any order of all
    /// indices gives the same sum.
    pub summed: Vec<u64>,
}

impl Matrix {
    /// How many neighbours along the summed axis a lane has together.
    pub fn together(&self) -> u32 {
        let on_lanes = self.instruction.summed_on_lanes(Part::Left).unwrap_or(0..0);
        match self.summed.get(on_lanes.start) {
            Some(&index) if !on_lanes.is_empty() => index as u32,
            _ => self.instruction.summed,
        }
    }
}

/// A way to compute a product, with its price.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The way in which the product is computed.
    pub product: Product,
    /// The layout of the result.
    pub accumulator: LayoutId,
    /// How often a warp runs the instruction.
    pub runs: u64,
    /// What the instructions cost, in the machine's unit, for all warps of a block.
    pub instructions: u64,
    /// What it costs all warps to bring the left factor and the right one through shared memory, if
    /// nothing conflicts: to write each once, to wait, and to read.
    pub moves: [u64; 2],
}

impl Candidate {
    /// The whole price, in the machine's unit: instructions, and movements of both factors.
    pub fn price(&self) -> u64 {
        self.moves.iter().fold(self.instructions, |sum, &moves| sum.saturating_add(moves))
    }
}

/// The sizes of a product.
#[derive(Clone, Debug)]
struct Sizes {
    /// How many matrices of each, along each dimension in front.
    batch: Vec<u64>,
    rows: u64,
    columns: u64,
    summed: u64,
    /// Whether a factor's tensor has one element for two neighbours along the summed axis.
    pairs: [bool; 2],
}

impl Sizes {
    fn of(kernel: &Kernel, op: &Op) -> Option<Sizes> {
        let [a, .., c] = [0, 1, 2].map(|index| kernel.ty(op.operands[index]));
        let ([batch @ .., rows, columns], Some(&summed)) = (&c.shape[..], a.shape.last()) else {
            return None;
        };
        let pairs = [false; 2];
        Some(Sizes { batch: batch.to_vec(), rows: *rows, columns: *columns, summed, pairs })
    }

    /// How many matrices there are.
    fn count(&self) -> u64 {
        self.batch.iter().product()
    }
}

/// Every way to compute a product, fused multiply-adds first.
pub fn candidates(
    kernel: &Kernel,
    op: &Op,
    block: Block<'_>,
    layouts: &mut Layouts,
) -> Result<Vec<Candidate>, AssignError> {
    if let OpKind::WarpgroupDot(precision) = op.kind {
        return warpgroup::candidates(kernel, op, precision, block, layouts);
    }
    if let OpKind::DotScaled(_) = op.kind {
        return scaled::candidates(kernel, op, block, layouts);
    }
    let (OpKind::Dot(precision), Some(sizes)) = (&op.kind, Sizes::of(kernel, op)) else {
        return Ok(Vec::new());
    };
    let [a, b, c] = [0, 1, 2].map(|index| kernel.ty(op.operands[index]).dtype());
    let definitions = kernel.definitions();
    let packed = [0, 1].map(|side| packed_log2(kernel, &definitions, op.operands[side]));
    let mut candidates = vec![multiply(&sizes, [a, b, c], block, layouts)?];
    for numbers in kinds([a, b, c], *precision, block.machine) {
        let both = rows(block.machine);
        for instruction in
            both.into_iter().flat_map(|rows| fitting(block.machine, rows, numbers, &sizes))
        {
            for split in splits(&sizes, &instruction, block.warps) {
                for summed in orders(&sizes, &instruction, [a, b], packed)? {
                    let fragments =
                        Fragments { instruction: &instruction, summed: &summed, split: &split };
                    let [left, right, accumulator] = fragments.layouts(&sizes)?;
                    let [left, right, accumulator] =
                        [left, right, accumulator].map(|layout| layouts.intern(layout));
                    let instruction = instruction.clone();
                    let times =
                        passes(a, instruction.left, *precision) * runs(&sizes, &instruction, split);
                    let scales = [None; 2];
                    let matrix = Matrix { instruction, accumulator, left, right, scales, summed };
                    candidates.push(priced(matrix, [a, b], times, block, layouts));
                }
            }
        }
    }
    Ok(candidates)
}

/// Whether an operation is a matrix product.
pub(super) fn is_product(kind: &OpKind) -> bool {
    kind.is_product()
}

/// How a product of warpgroups is computed whose layouts, of the sum and of a left factor in registers, the
/// program gives; nothing if they are not those of the instruction.
pub(super) fn given_to_warpgroups(
    kernel: &Kernel,
    op: &Op,
    block: Block<'_>,
    layouts: &mut Layouts,
    given: [Option<LayoutId>; 2],
) -> Result<Option<Product>, AssignError> {
    match op.kind {
        OpKind::WarpgroupDot(precision) => {
            warpgroup::given(kernel, op, precision, block, layouts, given)
        }
        _ => Ok(None),
    }
}

/// How a product is computed whose layouts the program gives: by a matrix instruction if they are one's,
/// else by multiply-adds.
pub(super) fn given(
    kernel: &Kernel,
    op: &Op,
    block: Block<'_>,
    layouts: &mut Layouts,
    [left, right, accumulator]: [LayoutId; 3],
) -> Result<Product, AssignError> {
    let (OpKind::Dot(precision), Some(sizes)) = (&op.kind, Sizes::of(kernel, op)) else {
        return Ok(Product::Multiply);
    };
    let mut unique = Vec::new();
    for id in [left, right, accumulator] {
        unique.push(layouts.get(id).remove_zero_columns(REGISTER)?.0);
    }
    let [a, b, c] = [0, 1, 2].map(|index| kernel.ty(op.operands[index]).dtype());
    let split = [1, 1, 1];
    let mut found: Option<Candidate> = None;
    for numbers in kinds([a, b, c], *precision, block.machine) {
        let both = rows(block.machine);
        for instruction in
            both.into_iter().flat_map(|rows| all_fitting(block.machine, rows, numbers, &sizes))
        {
            for summed in every_order(&sizes, &instruction)? {
                let fragments =
                    Fragments { instruction: &instruction, summed: &summed, split: &split };
                if !fragments.hold(&sizes, [&unique[0], &unique[1], &unique[2]])? {
                    continue;
                }
                let ids: Vec<LayoutId> =
                    unique.iter().map(|layout| layouts.intern(layout.clone())).collect();
                let (left, right, accumulator) = (ids[0], ids[1], ids[2]);
                let instruction = instruction.clone();
                // The warps have equal shares of what one warp would do.
                let times =
                    passes(a, instruction.left, *precision) * runs(&sizes, &instruction, split);
                let times = times.div_ceil(block.warps.into());
                let scales = [None; 2];
                let matrix = Matrix { instruction, accumulator, left, right, scales, summed };
                let candidate = priced(matrix, [a, b], times, block, layouts);
                if found.as_ref().is_none_or(|best| candidate.price() < best.price()) {
                    found = Some(candidate);
                }
            }
        }
    }
    Ok(found.map_or(Product::Multiply, |candidate| candidate.product))
}

/// The instructions of a warp that multiply numbers without scales: those for numbers with scales do, too, if all scales
/// are one.
fn rows(machine: &Machine) -> [&[MatrixMultiply]; 2] {
    [&machine.matrix_multiplies, &machine.scaled_multiplies]
}

/// Every order of the summed index that is known.
fn every_order(sizes: &Sizes, instruction: &MatrixMultiply) -> Result<Vec<Vec<u64>>, FamilyError> {
    let on_lanes = instruction.summed_on_lanes(Part::Left)?;
    let own = on_lanes.start as u32;
    let bits = sizes.summed.ilog2();
    let most = bits.saturating_sub(on_lanes.len() as u32).max(own);
    let mut orders: Vec<Vec<u64>> =
        (own..=most).map(|together| fragments::stretched(bits, &on_lanes, together)).collect();
    orders.extend(fragments::as_sums(bits, &on_lanes, instruction)?);
    Ok(orders)
}

/// The kinds of numbers that an instruction may have for a product of these types: factors and sum.
/// A factor is taken as a kind that holds it exactly, but for f32, which the precision lets be rounded. A sum of f16
/// is taken as one of f32 where the machine has no instruction for it: each product then rounds it once.
fn kinds([a, b, sum]: [DType; 3], precision: Precision, machine: &Machine) -> Vec<[Number; 3]> {
    let narrow = |dtype| match dtype {
        DType::F8E4M3FN => Some(Number::E4M3),
        DType::F8E5M2 => Some(Number::E5M2),
        DType::F8E4M3FNUZ => Some(Number::E4M3FNUZ),
        DType::F8E5M2FNUZ => Some(Number::E5M2FNUZ),
        _ => None,
    };
    let half = |dtype: DType| dtype == DType::F16 || dtype.is_f8();
    let brain = |dtype: DType| dtype == DType::BF16 || dtype.is_f8();
    let mut kinds = Vec::new();
    match sum {
        DType::I32 if a == DType::I8 && b == DType::I8 => {
            kinds.push([Number::S8, Number::S8, Number::S32]);
        }
        DType::F64 if a == DType::F64 && b == DType::F64 => kinds.push([Number::F64; 3]),
        DType::F16 if half(a) && half(b) => {
            let mut all =
                machine.matrix_multiplies.iter().chain(machine.warpgroup_multiplies.iter());
            let has_sums = all.any(|multiply| multiply.sum == Number::F16);
            let sum = if has_sums { Number::F16 } else { Number::F32 };
            kinds.push([Number::F16, Number::F16, sum]);
        }
        DType::F32 => {
            if let (Some(a), Some(b)) = (narrow(a), narrow(b)) {
                kinds.push([a, b, Number::F32]);
            }
            if half(a) && half(b) {
                kinds.push([Number::F16, Number::F16, Number::F32]);
            } else if brain(a) && brain(b) {
                kinds.push([Number::BF16, Number::BF16, Number::F32]);
            }
            if a == DType::F32 && b == DType::F32 {
                match precision {
                    Precision::Ieee => {}
                    Precision::Tf32 | Precision::Tf32x3 => {
                        kinds.push([Number::TF32, Number::TF32, Number::F32]);
                    }
                    Precision::Bf16x3 | Precision::Bf16x6 => {
                        kinds.push([Number::BF16, Number::BF16, Number::F32]);
                    }
                }
                // Whatever may be rounded may be left as it is.
                kinds.push([Number::F32; 3]);
            }
        }
        _ => {}
    }
    kinds
}

/// Of the instructions of these rows for these kinds that sum no more than there is, the cheapest for one of the
/// tile's products, of several the longest; and the same one with its factors exchanged.
fn fitting(
    machine: &Machine,
    rows: &[MatrixMultiply],
    numbers: [Number; 3],
    sizes: &Sizes,
) -> Vec<MatrixMultiply> {
    let cheapest = |transposed: bool| {
        let all = all_fitting(machine, rows, numbers, sizes);
        all.filter(|multiply| multiply.transposed == transposed).min_by_key(|multiply| {
            let useful = u64::from(multiply.rows).min(sizes.rows)
                * u64::from(multiply.columns).min(sizes.columns)
                * u64::from(multiply.summed);
            (multiply.price.saturating_mul(1 << 20) / useful.max(1), u32::MAX - multiply.summed)
        })
    };
    [true, false].into_iter().filter_map(cheapest).collect()
}

/// The instructions of these rows for these kinds that sum no more than there is, also with their factors exchanged.
fn all_fitting<'r>(
    machine: &Machine,
    rows: &'r [MatrixMultiply],
    numbers: [Number; 3],
    sizes: &Sizes,
) -> impl Iterator<Item = MatrixMultiply> + use<'r> {
    let (lanes_log2, most) = (machine.lanes_log2, sizes.summed);
    let rows = rows.iter().filter(move |multiply| {
        multiply.lanes_log2() == lanes_log2 && u64::from(multiply.summed) <= most
    });
    let both = rows.flat_map(|multiply| [Some(multiply.clone()), multiply.exchanged()]);
    both.flatten().filter(move |multiply| [multiply.left, multiply.right, multiply.sum] == numbers)
}

/// How many products are taken in place of one, of factors that the instruction takes as such numbers.
fn passes(factor: DType, taken: Number, precision: Precision) -> u64 {
    if factor != DType::F32 || taken == Number::F32 {
        return 1;
    }
    match precision {
        Precision::Tf32x3 | Precision::Bf16x3 => 3,
        Precision::Bf16x6 => 6,
        Precision::Ieee | Precision::Tf32 => 1,
    }
}

/// How often a warp runs the instruction.
fn runs(sizes: &Sizes, instruction: &MatrixMultiply, [matrices, down, across]: [u64; 3]) -> u64 {
    let share = |extent: u64, of: u32, warps: u64| extent.div_ceil(u64::from(of) * warps).max(1);
    share(sizes.count(), 1, matrices)
        * share(sizes.rows, instruction.rows, down)
        * share(sizes.columns, instruction.columns, across)
        * share(sizes.summed, instruction.summed, 1)
}

/// How warps may be dealt out: over the matrices, then rows, then columns, each no farther than there
/// are instructions; what is left over are copies, in columns.
fn splits(sizes: &Sizes, instruction: &MatrixMultiply, warps: u32) -> Vec<[u64; 3]> {
    let warps = u64::from(warps);
    let matrices = sizes.count().min(warps);
    let [rows, columns] = [
        (sizes.rows / u64::from(instruction.rows)).max(1),
        (sizes.columns / u64::from(instruction.columns)).max(1),
    ];
    let left = warps / matrices;
    let powers = core::iter::successors(Some(1), |power| Some(power * 2));
    let mut splits: Vec<[u64; 3]> = powers
        .take_while(|&down| down <= rows.min(left))
        .filter(|&down| left / down <= columns)
        .map(|down| [matrices, down, left / down])
        .collect();
    if splits.is_empty() {
        let down = rows.min(left);
        splits.push([matrices, down, left / down]);
    }
    splits
}

/// The orders of the summed index that are worth a candidate: as the instruction has it, or, where a
/// factor's numbers are narrower than the instruction's, or are made of narrower ones, so that a lane has a
/// word of these side by side; and as sums lie, so that a sum becomes a left factor where it is.
fn orders(
    sizes: &Sizes,
    instruction: &MatrixMultiply,
    factors: [DType; 2],
    packed_log2: [u32; 2],
) -> Result<Vec<Vec<u64>>, FamilyError> {
    let word = |bits: u32| (32 / bits.max(1)).max(1).ilog2();
    let on_lanes = instruction.summed_on_lanes(Part::Left)?;
    let own = on_lanes.start as u32;
    let bits = sizes.summed.ilog2();
    let most = bits.saturating_sub(on_lanes.len() as u32).max(own);
    let stored = factors.map(|dtype| word(dtype.bits()));
    let made = [0, 1].map(|side| stored[side] + packed_log2[side]);
    let mut orders = Vec::new();
    for together in [stored, made].map(|[left, right]| left.max(right).clamp(own, most)) {
        let order = fragments::stretched(bits, &on_lanes, together);
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    if let Some(order) = fragments::as_sums(bits, &on_lanes, instruction)?
        && !orders.contains(&order)
    {
        orders.push(order);
    }
    Ok(orders)
}

/// How many times as many bytes a value has as the largest tensor that it is made of by operations on
/// elements in their places, by joins and by renaming, as a logarithm.
fn packed_log2(kernel: &Kernel, definitions: &IdMap<Value, Option<OpId>>, value: Value) -> u32 {
    let bytes = |value: Value| {
        let ty = kernel.ty(value);
        ty.elements() * u64::from(ty.dtype().bytes())
    };
    let mut largest = 0;
    let mut seen: IdMap<Value, bool> = IdMap::default();
    let mut open = vec![value];
    while let Some(at) = open.pop() {
        if !kernel.ty(at).is_tensor() || seen[at] {
            continue;
        }
        seen.set(at, true);
        let op = definitions[at].map(|id| &kernel.ops[id]);
        match op.map(|op| (&op.kind, &op.operands)) {
            Some((kind, operands))
                if is_elementwise(kind) || is_shape_op(kind) || *kind == OpKind::Join =>
            {
                open.extend(operands);
            }
            // Made of nothing.
            Some((OpKind::Constant(_) | OpKind::Splat | OpKind::MakeRange { .. }, _)) => {}
            _ => largest = largest.max(bytes(at)),
        }
    }
    (bytes(value) / largest.max(1)).clamp(1, 8).ilog2()
}

fn priced(
    matrix: Matrix,
    factors: [DType; 2],
    runs: u64,
    block: Block<'_>,
    layouts: &Layouts,
) -> Candidate {
    let (machine, warps) = (block.machine, u64::from(block.warps));
    let registers = |layout| 1_u64 << layouts.get(layout).in_bits(REGISTER);
    let instruction = &matrix.instruction;
    let mut instructions = (warps * runs).saturating_mul(instruction.price);
    let mut moves = [0; 2];
    let sides = [(matrix.left, instruction.left), (matrix.right, instruction.right)];
    for (side, (layout, number)) in sides.into_iter().enumerate() {
        let numbers = registers(layout);
        let bytes = u64::from(machine.lanes()) * numbers * u64::from(factors[side].bytes());
        let elements = layouts.get(layout).shape().iter().product::<u64>();
        moves[side] = moved(elements, factors[side], warps * bytes.div_ceil(128), block);
        // A factor of another type is converted where it has arrived, two at a time.
        if factors[side].bits() < number.bits() {
            instructions += warps * numbers.div_ceil(2) * machine.prices.alu;
        }
    }
    let accumulator = matrix.accumulator;
    Candidate { product: Product::Matrix(Box::new(matrix)), accumulator, runs, instructions, moves }
}

/// What a factor costs that goes through shared memory and is read in so many wavefronts.
fn moved(elements: u64, dtype: DType, reads: u64, block: Block<'_>) -> u64 {
    let prices = &block.machine.prices;
    let writes = (elements * u64::from(dtype.bytes())).div_ceil(128);
    (writes + reads) * prices.wavefront + prices.barrier(block.warps.into())
}

/// Fused multiply-adds: a square of results in each thread, the lanes along a row first.
fn multiply(
    sizes: &Sizes,
    factors: [DType; 3],
    block: Block<'_>,
    layouts: &mut Layouts,
) -> Result<Candidate, AssignError> {
    /// Issues that one multiply-add of doubles takes. Documented: 32 a cycle of a multiprocessor of
    /// an A100, and four instructions are issued a cycle.
    const DOUBLE: u64 = 4;
    let (machine, warps) = (block.machine, u64::from(block.warps));
    let lanes = u64::from(machine.lanes());
    let shape = [&sizes.batch[..], &[sizes.rows, sizes.columns]].concat();
    let share = shape.iter().product::<u64>() / (lanes * warps);
    let side = match share {
        16.. => 4,
        4.. => 2,
        _ => 1,
    };
    // Dimensions before the last two count matrices, which share nothing.
    let in_thread: Vec<u64> = (0..shape.len())
        .map(|axis| if axis + 2 >= shape.len() { shape[axis].min(side) } else { 1 })
        .collect();
    let order: Vec<usize> = (0..shape.len()).rev().collect();
    let layout = Blocked::for_memory(&shape, &in_thread, &order, lanes, warps)?.layout(&shape)?;
    let sums = 1_u64 << layout.in_bits(REGISTER);
    let times = if factors[2] == DType::F64 { DOUBLE } else { 1 };
    let runs = sums * sizes.summed;
    let instructions = warps * runs * machine.prices.issue * times;
    // Each thread reads its rows and columns; lanes that share them are served together.
    let sides = [(factors[0], sizes.rows), (factors[1], sizes.columns)];
    let moves = sides.map(|(dtype, extent)| {
        let numbers = sums.div_ceil(side * side).max(1) * side.min(extent) * sizes.summed;
        let wavefronts = warps * (numbers * u64::from(dtype.bytes())).div_ceil(4);
        moved(sizes.count() * extent * sizes.summed, dtype, wavefronts, block)
    });
    let accumulator = layouts.intern(layout);
    Ok(Candidate { product: Product::Multiply, accumulator, runs, instructions, moves })
}
