//! Where CUDA and HIP differ.

use super::prelude::Helper;
use super::writer::c_type;
use crate::dtype::DType;
use crate::emit::{hip, ptx};
use crate::instruction::{Form, Words};
use std::collections::BTreeSet;

/// One of the two languages, with the GPU that is printed for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::emit) enum Dialect {
    /// CUDA C++ as nvcc reads it.
    Cuda(&'static ptx::Target),
    /// HIP as clang reads it, without any header.
    Hip(&'static hip::Target),
}

impl Dialect {
    pub(super) fn is_cuda(self) -> bool {
        matches!(self, Dialect::Cuda(_))
    }

    pub(in crate::emit) fn target(self) -> &'static str {
        match self {
            Dialect::Cuda(target) => target.name,
            Dialect::Hip(target) => target.name,
        }
    }

    /// For the GPU of the same capability that may use what only its architecture has.
    pub(super) fn specific(self) -> Dialect {
        match self {
            Dialect::Cuda(target) => Dialect::Cuda(target.specific()),
            Dialect::Hip(_) => self,
        }
    }

    /// log2 of the lanes of a warp.
    pub(super) fn lanes_log2(self) -> u32 {
        match self {
            Dialect::Cuda(_) => 5,
            Dialect::Hip(target) => target.lanes_log2,
        }
    }

    /// How the text is compiled.
    pub(super) fn manual(self) -> String {
        let target = self.target();
        match self {
            Dialect::Cuda(_) => format!("// Compile: nvcc -std=c++17 -arch={target} -cubin\n"),
            Dialect::Hip(_) => format!(
                "// Compile: clang++ -x hip -std=c++17 --cuda-device-only --offload-arch={target} \
                 -nogpulib -nogpuinc -O3\n// A warp is a wave of {} lanes.\n",
                1 << self.lanes_log2(),
            ),
        }
    }

    /// What stands at the top of a text, outside of any namespace.
    pub(super) fn includes(self, helpers: &BTreeSet<Helper>) -> String {
        let mut text = String::new();
        match self {
            Dialect::Cuda(_) => {
                for (helper, header) in [
                    (Helper::Print, "cstdio"),
                    (Helper::Half, "cuda_fp16.h"),
                    (Helper::Brain, "cuda_bf16.h"),
                ] {
                    if helpers.contains(&helper) {
                        text.push_str(&format!("#include <{header}>\n"));
                    }
                }
            }
            Dialect::Hip(_) => {
                text.push_str("#ifndef __device__\n");
                for (word, meaning) in [
                    ("device", "__attribute__((device))"),
                    ("global", "__attribute__((global))"),
                    ("shared", "__attribute__((shared))"),
                    ("forceinline", "inline __attribute__((always_inline))"),
                ] {
                    text.push_str(&format!("#define __{word}__ {meaning}\n"));
                }
                text.push_str("#endif\n#pragma clang fp contract(off)\n");
            }
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    /// The block's dynamic shared memory.
    pub(super) fn shared_array(self, align: u32) -> String {
        let align = match self {
            Dialect::Cuda(_) => format!("__align__({align})"),
            Dialect::Hip(_) => format!("__attribute__((aligned({align})))"),
        };
        format!("extern __shared__ {align} u8 shared_memory[];\n\n")
    }

    /// What the compiler is told of a block, and of how many of them a multiprocessor has to have room for.
    pub(super) fn launch_bounds(self, threads: u32, blocks: Option<u32>) -> String {
        match (self, blocks) {
            (Dialect::Cuda(_), None) => format!("__launch_bounds__({threads})"),
            (Dialect::Cuda(_), Some(blocks)) => format!("__launch_bounds__({threads}, {blocks})"),
            (Dialect::Hip(_), _) => {
                format!("__attribute__((amdgpu_flat_work_group_size({threads}, {threads})))")
            }
        }
    }

    pub(super) fn thread(self) -> &'static str {
        if self.is_cuda() { "threadIdx.x" } else { "__builtin_amdgcn_workitem_id_x()" }
    }

    /// The block's number along an axis, or (`count`) how many there are, where a block has `threads`
    /// along it.
    pub(super) fn block_number(self, axis: &str, count: bool, threads: u32) -> String {
        match (self, count) {
            (Dialect::Cuda(_), false) => format!("blockIdx.{axis}"),
            (Dialect::Cuda(_), true) => format!("gridDim.{axis}"),
            (Dialect::Hip(_), false) => format!("__builtin_amdgcn_workgroup_id_{axis}()"),
            (Dialect::Hip(_), true) if threads == 1 => {
                format!("__builtin_amdgcn_grid_size_{axis}()")
            }
            (Dialect::Hip(_), true) => {
                format!("__builtin_amdgcn_grid_size_{axis}() / {threads}u")
            }
        }
    }

    /// Whether a sum, difference or product of this type is an operator.
    pub(super) fn sum(self, sign: char, dtype: DType, x: &str, y: &str) -> String {
        let word = match sign {
            '+' => "add",
            '-' => "sub",
            _ => "mul",
        };
        match (self, dtype) {
            (Dialect::Cuda(_), DType::F16 | DType::BF16) => format!("__h{word}_rn({x}, {y})"),
            // What is not a product cannot be fused into a sum.
            (Dialect::Cuda(_), DType::F32) if sign == '*' => format!("__fmul_rn({x}, {y})"),
            (Dialect::Cuda(_), DType::F64) if sign == '*' => format!("__dmul_rn({x}, {y})"),
            // Computed in f32 and rounded, or by itself: the same.
            (Dialect::Hip(_), DType::BF16) => format!("bf16({x} {sign} {y})"),
            _ => format!("{x} {sign} {y}"),
        }
    }

    /// A quotient of two f32, or two f64, correctly rounded.
    pub(super) fn quotient(self, dtype: DType, x: &str, y: &str) -> String {
        match (self, dtype) {
            (Dialect::Cuda(_), DType::F64) => format!("__ddiv_rn({x}, {y})"),
            (Dialect::Cuda(_), _) => format!("__fdiv_rn({x}, {y})"),
            (Dialect::Hip(_), _) => format!("{x} / {y}"),
        }
    }

    /// How the language writes an operation on one float.
    pub(super) fn words(self, form: &Form) -> &Words {
        match self {
            Dialect::Cuda(_) => &form.cuda,
            Dialect::Hip(_) => &form.hip,
        }
    }

    /// Infinity as a number of a type.
    pub(super) fn infinity(self, dtype: DType) -> String {
        let number = match self {
            Dialect::Cuda(_) => "INFINITY",
            Dialect::Hip(_) => "__builtin_inff()",
        };
        match dtype {
            DType::F32 => number.into(),
            _ => format!("{}({number})", c_type(dtype)),
        }
    }

    /// A function of C's mathematics on f32 or f64.
    pub(super) fn math(self, name: &str, dtype: DType) -> String {
        let suffix = if dtype == DType::F64 { "" } else { "f" };
        match self {
            Dialect::Cuda(_) => format!("{name}{suffix}"),
            Dialect::Hip(_) => format!("__builtin_{name}{suffix}"),
        }
    }
}
