//! Fragments of matrix instructions on another machine.

use weft::dtype::DType;
use weft_layout::family::{AmdMfma, DotOperand, Family};
use weft_layout::machine::{MatrixMultiply, Number, Part};
use weft_layout::space::{Label, REGISTER};
use weft_layout::{Layout, Machine};

/// A fragment that takes the place of another machine's.
pub(super) struct Fragment {
    pub(super) layout: Layout,
    pub(super) name: String,
    pub(super) instruction: String,
}

/// The fragment that a machine's matrix instructions have where a family is one of NVIDIA's; nothing where it is
/// none, or where no instruction multiplies such elements.
pub(super) fn of(
    machine: &Machine,
    family: &Family,
    shape: &[u64],
    element: Option<&str>,
    bits: u32,
) -> Option<Fragment> {
    let (operand, mma) = match family {
        Family::NvidiaMma(mma) => (None, mma),
        Family::DotOperand(DotOperand { operand, parent, .. }) => match &**parent {
            Family::NvidiaMma(mma) => (Some(*operand), mma),
            _ => return None,
        },
        _ => return None,
    };
    let dtype = element.and_then(DType::called);
    let fits = |multiply: &&MatrixMultiply| {
        let part = match operand {
            None => Part::Sum,
            Some(0) => Part::Left,
            Some(_) => Part::Right,
        };
        let number = multiply.number(part);
        let is_type = match dtype {
            Some(dtype) => multiplies(number, dtype),
            None => number.bits() == bits,
        };
        // A tile of the tensor is at least one fragment.
        let own = multiply.shape(part);
        let tail = shape.get(shape.len().saturating_sub(2)..).unwrap_or_default();
        is_type && tail.iter().zip(own).all(|(&extent, own)| own <= extent)
    };
    // The most products for the price, then the longer sum.
    let rate = |multiply: &&MatrixMultiply| {
        let products = u64::from(multiply.rows * multiply.columns * multiply.summed);
        (products.saturating_mul(1000) / multiply.price.max(1), multiply.summed)
    };
    let multiply = machine.matrix_multiplies.iter().filter(fits).max_by_key(rate)?;
    let warps = fewer(&mma.warps_per_cta, machine.lanes_log2);
    let parent = family_of(multiply, machine, &warps)?;
    let family = match operand {
        None => parent,
        Some(operand) => {
            let k_width = along(multiply, operand)?;
            Family::DotOperand(DotOperand { operand, parent: Box::new(parent), k_width })
        }
    };
    let layout = family.layout(shape).ok()?;
    let instruction = multiply.name.to_string();
    Some(Fragment { layout, name: family.to_string(), instruction })
}

/// Whether an instruction takes elements of this type as they are.
fn multiplies(number: Number, dtype: DType) -> bool {
    match number {
        Number::F16 => dtype == DType::F16,
        Number::BF16 => dtype == DType::BF16,
        Number::TF32 | Number::F32 => dtype == DType::F32,
        Number::F64 => dtype == DType::F64,
        Number::E4M3 => dtype == DType::F8E4M3FN,
        Number::E5M2 => dtype == DType::F8E5M2,
        // No tensor has elements of four bits.
        Number::E2M1 => false,
        Number::E4M3FNUZ => dtype == DType::F8E4M3FNUZ,
        Number::E5M2FNUZ => dtype == DType::F8E5M2FNUZ,
        Number::S8 => dtype == DType::I8,
        Number::S32 => dtype == DType::I32,
    }
}

/// As many threads in waves of this width: of twice the width half as many, taken from the last axis that
/// has several.
fn fewer(warps: &[u64], lanes_log2: u32) -> Vec<u64> {
    let mut warps = warps.to_vec();
    // NVIDIA's warps have 32 lanes.
    for _ in 5..lanes_log2 {
        if let Some(last) = warps.iter_mut().rev().find(|count| **count > 1) {
            *last /= 2;
        }
    }
    warps
}

/// The elements of a factor that a thread holds together along the summed axis.
fn along(multiply: &MatrixMultiply, operand: u32) -> Option<u32> {
    let part = if operand == 0 { Part::Left } else { Part::Right };
    let fragment = multiply.fragment(part).ok()?;
    let summed = Label::dim(u32::from(operand == 0));
    let bits = fragment.columns(REGISTER).iter().zip(0..).take_while(|&(&column, bit)| {
        fragment.outs().pack(&[(summed, 1_u64 << bit)]) == Ok(column)
    });
    Some(1 << bits.count())
}

/// The sum of an instruction of AMD's as a family, over so many warps along each axis.
fn family_of(multiply: &MatrixMultiply, machine: &Machine, warps: &[u64]) -> Option<Family> {
    let version = match &*machine.name {
        "gfx90a" => 2,
        "gfx942" => 3,
        _ => 4,
    };
    match multiply.family(warps) {
        Family::AmdMfma(mfma) => Some(Family::AmdMfma(AmdMfma { version, ..mfma })),
        family @ Family::AmdWmma(_) => Some(family),
        _ => None,
    }
}
