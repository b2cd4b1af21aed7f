//! What it costs to load what an asynchronous copy brought to shared memory.
//!
//! Where the buffer's elements lie is decided after the homes, in favour of those who fill and read it. A copy moves
//! neighbours in global memory to neighbours in shared memory, so this is known: a lane whose registers hold
//! neighbours loads as many of them at once, and matrix moves bring rows of neighbours.

use super::Block;
use super::access::{Masks, memory_order, vector_elements};
use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::tile::{Kernel, Op};
use weft_layout::Layout;
use weft_layout::machine::{Kind, MAX_ACCESS_LOG2};
use weft_layout::space::{LANE, REGISTER};

/// The bytes of a word.
const WORD: u64 = 4;
/// The logarithm of the elements in a row of a matrix.
const ROW_LOG2: usize = 3;

/// What a copy brings.
pub(super) struct Copied {
    /// The bits of the tensor's places along which it keeps neighbours together, the nearest first.
    near: Vec<u64>,
    /// The bytes of an element.
    element: u64,
}

impl Copied {
    pub(super) fn of(kernel: &Kernel, facts: &AxisFacts, block: Block<'_>, copy: &Op) -> Self {
        let pointers = copy.operands[0];
        let tensor = kernel.ty(pointers);
        let axis = memory_order(facts, pointers).first().copied().unwrap_or(0);
        let together = vector_elements(kernel, facts, block.machine, copy, Masks::Same).max(1);
        let inner = tensor.shape.get(axis + 1..).unwrap_or(&[]);
        let start: u32 = inner.iter().map(|extent| extent.ilog2()).sum();
        let near = (0..together.ilog2()).map(|bit| 1 << (start + bit)).collect();
        let element = tensor.element.pointee().unwrap_or(DType::I64).bytes().into();
        Self { near, element }
    }

    /// What a warp pays at least to load it in a layout, in the machine's unit of cost.
    pub(super) fn price(&self, layout: &Layout, block: Block<'_>) -> u64 {
        let (prices, lanes) = (&block.machine.prices, layout.columns(LANE));
        let registers: Vec<u64> =
            layout.columns(REGISTER).iter().copied().filter(|&column| column != 0).collect();
        let bytes = self.element << registers.len();
        let run = self.near.iter().take_while(|bit| registers.contains(bit)).count();
        // What a copy does not keep together may lie in any order.
        let run = if run == self.near.len() { registers.len() } else { run };
        let vector = (self.element << run).min(1 << MAX_ACCESS_LOG2);
        let apart = lanes.iter().filter(|&&column| column != 0).count();
        let wavefronts = ((vector << apart) >> block.machine.row_bytes_log2()).max(1);
        // Narrow elements are put into words, beside what the memory does.
        let packing = if vector < WORD { bytes / self.element } else { 0 };
        let loads = bytes / vector;
        let vectors = (loads * wavefronts * prices.wavefront)
            .max(packing * prices.alu)
            .max((loads + packing) * prices.issue);
        if bytes < WORD || !self.comes_in_matrices(&registers, lanes, block) {
            return vectors;
        }
        // Each matrix gives every lane a word, and takes a wavefront.
        vectors.min(bytes / WORD * prices.wavefront)
    }

    /// Whether threads have the elements as matrix moves leave them: the words of a row in four lanes, or, where
    /// matrices are transposed, its elements in eight.
    fn comes_in_matrices(&self, registers: &[u64], lanes: &[u64], block: Block<'_>) -> bool {
        let in_word = (WORD / self.element.min(WORD)).ilog2() as usize;
        let straight = self.near.get(..in_word + 2).is_some_and(|row| {
            let (word, words) = row.split_at(in_word);
            self.element <= WORD
                && word.iter().all(|bit| registers.contains(bit))
                && lanes.get(..2) == Some(words)
        });
        let turned =
            |bits: u64| 8 * self.element == bits && lanes.get(2..5) == self.near.get(..ROW_LOG2);
        let mut moves = block.machine.matrix_moves.iter().filter(|moves| moves.kind == Kind::Load);
        moves.any(|moves| straight || turned(moves.element_bits.into()))
    }
}
