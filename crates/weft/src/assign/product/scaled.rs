//! Products of numbers with scales, by the instructions that take these.
//!
//! Such an instruction fixes which numbers share a scale: 32 neighbours along its summed index. So of the
//! orders of that index only those are candidates that keep groups together
//! ([`MatrixMultiply::keeps_groups`]), and the scales are dealt out by the order of groups: a lane that multiplies
//! group `g` of the instruction's has the scale of the group of the tensor that `g` stands for.
//!
//! A tensor of numbers of four bits has a byte for two neighbours along the summed axis: its layouts are the
//! fragments' without the first bit of the summed index.

use super::fragments::Fragments;
use super::{Candidate, Matrix, Product, Sizes, all_fitting, fitting, priced, runs, splits};
use crate::assign::layouts::{LayoutId, Layouts};
use crate::assign::{AssignError, Block};
use crate::dtype::DType;
use crate::tile::{Kernel, Op, OpKind, ScaledDot, ScaledFactor, ScaledOperands, Type};
use weft_layout::Layout;
use weft_layout::machine::{Machine, Number, Part};
use weft_layout::space::REGISTER;

/// What is multiplied.
struct Scaled<'k> {
    sizes: Sizes,
    /// The types of the factors and of the sum.
    factors: [&'k Type; 2],
    has_scale: [bool; 2],
    numbers: [Number; 3],
}

impl<'k> Scaled<'k> {
    /// Nothing where no instruction takes such factors and scales.
    fn of(kernel: &'k Kernel, op: &Op) -> Option<Self> {
        let OpKind::DotScaled(scaled) = op.kind else { return None };
        let ScaledOperands { factors, scales, sum } = scaled.operands(&op.operands)?;
        let factors = factors.map(|factor| kernel.ty(factor));
        let [left, right] = [0, 1].map(|side| number(scaled.factors[side], factors[side].dtype()));
        let shape = scaled.shape(0, factors[0])?;
        let [batch @ .., rows, summed] = &shape[..] else { return None };
        let sum = kernel.ty(sum);
        let columns = *sum.shape.last()?;
        let takes = |scale| {
            let ty = kernel.ty(scale);
            // The group of every instruction that there is.
            ty.dtype() == DType::I8 && ScaledDot::group(*summed, ty) == Some(32)
        };
        if !scales.into_iter().flatten().all(takes) || sum.dtype() != DType::F32 {
            return None;
        }
        let pairs = [left?, right?].map(|number| number == Number::E2M1);
        let sizes = Sizes { batch: batch.to_vec(), rows: *rows, columns, summed: *summed, pairs };
        let numbers = [left?, right?, Number::F32];
        Some(Self { sizes, factors, has_scale: scaled.has_scale, numbers })
    }
}

/// What instructions call the numbers of a factor.
fn number(factor: ScaledFactor, dtype: DType) -> Option<Number> {
    match (factor, dtype) {
        (ScaledFactor::Pairs { along_summed: true }, _) => Some(Number::E2M1),
        (ScaledFactor::Floats, DType::F8E4M3FN) => Some(Number::E4M3),
        (ScaledFactor::Floats, DType::F8E5M2) => Some(Number::E5M2),
        _ => None,
    }
}

/// Whether the machine has an instruction for a product with scales: for factors of four or eight bits, pairs of
/// which are neighbours along the summed axis, with scales that are exponents of 32 neighbours, or none.
pub fn multiplies_scaled(kernel: &Kernel, op: &Op, machine: &Machine) -> bool {
    Scaled::of(kernel, op).is_some_and(|of| {
        !fitting(machine, &machine.scaled_multiplies, of.numbers, &of.sizes).is_empty()
    })
}

/// Every way to compute a product with scales; an error where there is none.
pub(super) fn candidates(
    kernel: &Kernel,
    op: &Op,
    block: Block<'_>,
    layouts: &mut Layouts,
) -> Result<Vec<Candidate>, AssignError> {
    let none = || no_instruction(kernel, op, block);
    let of = Scaled::of(kernel, op).ok_or_else(none)?;
    let Scaled { sizes, factors, has_scale, numbers } = of;
    let types = factors.map(Type::dtype);
    let summed: Vec<u64> = (0..sizes.summed.ilog2()).map(|bit| 1 << bit).collect();
    let mut candidates = Vec::new();
    let machine = block.machine;
    for instruction in fitting(machine, &machine.scaled_multiplies, numbers, &sizes) {
        if instruction.keeps_groups(&summed).is_err() {
            continue;
        }
        for split in splits(&sizes, &instruction, block.warps) {
            let fragments = Fragments { instruction: &instruction, summed: &summed, split: &split };
            let [left, right, sum] = fragments.layouts(&sizes)?;
            let scales = scales(&fragments, &sizes, has_scale, &sum, layouts)?;
            let [left, right, accumulator] =
                [left, right, sum].map(|layout| layouts.intern(layout));
            let times = runs(&sizes, &instruction, split);
            let (instruction, summed) = (instruction.clone(), summed.clone());
            let matrix = Matrix { instruction, accumulator, left, right, scales, summed };
            candidates.push(priced(matrix, types, times, block, layouts));
        }
    }
    if candidates.is_empty() { Err(none()) } else { Ok(candidates) }
}

/// The layouts of the scales of those factors that have them, where the sum lies so.
fn scales(
    fragments: &Fragments<'_>,
    sizes: &Sizes,
    has_scale: [bool; 2],
    sum: &Layout,
    layouts: &mut Layouts,
) -> Result<[Option<LayoutId>; 2], AssignError> {
    let mut scales = [None; 2];
    for (side, part) in [Part::Left, Part::Right].into_iter().enumerate() {
        if has_scale[side] {
            scales[side] = fragments.scales(sizes, part, sum)?.map(|of| layouts.intern(of));
        }
    }
    Ok(scales)
}

/// How a product with scales is computed whose layouts the program gives, of the factors and of the sum; the scales are
/// brought where they are needed. An error where no instruction takes and gives these layouts.
pub(in crate::assign) fn given(
    kernel: &Kernel,
    op: &Op,
    block: Block<'_>,
    layouts: &mut Layouts,
    given: [LayoutId; 3],
) -> Result<Product, AssignError> {
    let none = || no_instruction(kernel, op, block);
    let Scaled { sizes, factors: _, has_scale, numbers } =
        Scaled::of(kernel, op).ok_or_else(none)?;
    let mut unique = Vec::new();
    for id in given {
        unique.push(layouts.get(id).remove_zero_columns(REGISTER)?.0);
    }
    let summed: Vec<u64> = (0..sizes.summed.ilog2()).map(|bit| 1 << bit).collect();
    let rows = &block.machine.scaled_multiplies;
    for instruction in all_fitting(block.machine, rows, numbers, &sizes) {
        let fragments = Fragments { instruction: &instruction, summed: &summed, split: &[1, 1, 1] };
        if !fragments.hold(&sizes, [&unique[0], &unique[1], &unique[2]])? {
            continue;
        }
        let scales = scales(&fragments, &sizes, has_scale, &unique[2], layouts)?;
        let ids: Vec<LayoutId> =
            unique.iter().map(|layout| layouts.intern(layout.clone())).collect();
        let (left, right, accumulator) = (ids[0], ids[1], ids[2]);
        let matrix = Matrix { instruction, accumulator, left, right, scales, summed };
        return Ok(Product::Matrix(Box::new(matrix)));
    }
    Err(none())
}

/// That there is none for a product.
fn no_instruction(kernel: &Kernel, op: &Op, block: Block<'_>) -> AssignError {
    let name = op.results.first().map_or_else(String::new, |&result| kernel.value_name(result));
    AssignError::NoScaled { name, machine: block.machine.name.to_string() }
}
