//! What a compiled program is launched with.

use super::Compiled;
use crate::dtype::DType;
use crate::lane;
use crate::lower::Passed;
use crate::memory::{Buffer, Memory};

impl Compiled {
    /// The arguments of the program for those of the kernel. What tensor maps say is put into the memory, behind
    /// what is there.
    pub fn arguments(&self, given: &[u64], memory: &mut Memory) -> Vec<u64> {
        let part = |index: usize| given.get(index).copied().unwrap_or_default();
        let mut arguments = Vec::with_capacity(self.passed.len());
        for (number, passed) in (0..).zip(&self.passed) {
            let parts = match passed {
                Passed::Argument(index) => {
                    arguments.push(part(*index));
                    continue;
                }
                Passed::Made => {
                    arguments.push(0);
                    continue;
                }
                Passed::Map(parts) => parts,
            };
            let (first, rank) = (parts.arguments.start, parts.rank);
            let bytes = self.program.maps.get(&number).map_or(1, |map| map.element.bytes());
            let mut tensor = lane::Tensor { base: part(first), ..lane::Tensor::default() };
            for (dim, place) in (0..rank).rev().enumerate() {
                let [extent, stride] = [1, 1 + rank].map(|at| part(first + at + place));
                tensor.extents[dim] = extent.cast_signed().max(0).cast_unsigned();
                if dim > 0 {
                    tensor.strides[dim - 1] = stride.wrapping_mul(bytes.into());
                }
            }
            let flags = first + 1 + 2 * rank..parts.arguments.end;
            tensor.nan = flags.start < flags.end && part(flags.start) & 1 == 1;
            arguments.push(memory.push(Buffer {
                name: self.program.params[number as usize].name.clone(),
                bytes: tensor.to_bytes().to_vec(),
                dtype: DType::I64,
                initialised: true,
            }));
        }
        arguments
    }
}
