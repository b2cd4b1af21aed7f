//! Table 2: how many bits one access to memory moves for each thread.

use super::texts::{function, load, store};
use crate::answer::VectorRow;
use crate::error::ApiError;
use crate::kernels::CompiledKernel;
use crate::request::{CompileRequest, DEFAULT_WARPS, PaperRequest};
use weft::dtype::DType;
use weft::lane::{Op, Program, Space};

/// A row: the element, the columns of 512 rows, and the paper's bits before and after.
const ROWS: [(DType, u64, u32, u32); 10] = [
    (DType::F8E5M2, 1, 32, 32),
    (DType::F8E5M2, 2, 16, 128),
    (DType::F8E5M2, 4, 32, 128),
    (DType::F8E5M2, 8, 64, 128),
    (DType::F8E5M2, 16, 128, 128),
    (DType::F16, 1, 64, 64),
    (DType::F16, 2, 32, 128),
    (DType::F16, 4, 64, 128),
    (DType::F16, 8, 128, 128),
    (DType::F16, 16, 128, 128),
];

/// Copies each tensor and looks at the accesses of the compiled program.
pub(super) fn rows(request: &PaperRequest) -> Result<Vec<VectorRow>, ApiError> {
    let row = |(dtype, columns, base_bits, paper_bits): (DType, u64, u32, u32)| {
        let shape = [512, columns];
        let body = load("x", shape, dtype) + &store("y", "x_tile", shape, dtype);
        let compiled = CompiledKernel::new(&CompileRequest {
            ttir: function(&[("x", dtype), ("y", dtype)], &body),
            target: request.target.clone(),
            warps: Some(DEFAULT_WARPS),
            kernel: None,
            emit: Vec::new(),
            stages: None,
            fp_fusion: None,
            pins: Vec::new(),
            dump_after: None,
            max_registers: None,
            line_info: false,
            text_places: false,
        })?;
        // Only NVIDIA's machines have a text whose instructions can be read.
        let ptx = compiled.ptx().unwrap_or_default();
        let instruction = ptx.split_whitespace().find(|word| word.starts_with("ld.global"));
        let threads = u64::from(compiled.program().threads());
        // A thread has no more bits than this, unless several hold the same.
        let share = shape[0] * columns * u64::from(dtype.bits()) / threads;
        Ok(VectorRow {
            element: dtype.name().into(),
            shape,
            warps: DEFAULT_WARPS,
            base_bits,
            paper_bits,
            expected_bits: paper_bits.min(share as u32),
            bits: narrowest(compiled.program()),
            instruction: instruction.unwrap_or_default().into(),
        })
    };
    ROWS.into_iter().map(row).collect()
}

/// The bits of the narrowest load or store of global memory.
fn narrowest(program: &Program) -> u32 {
    let mut least = u32::MAX;
    program.walk(&program.body, &mut |_, inst| {
        let moved = match &inst.op {
            Op::Load { space: Space::Global, .. } => &inst.results[..],
            Op::Store { space: Space::Global, access } => {
                inst.operands.get(1 + usize::from(access.predicated)..).unwrap_or(&[])
            }
            _ => return,
        };
        least = least.min(moved.iter().map(|&value| program.dtype(value).bits()).sum());
    });
    least
}
