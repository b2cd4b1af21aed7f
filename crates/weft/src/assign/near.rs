//! What it costs to bring a tensor to a buffer in shared memory, or from there, before it is known where the buffer's
//! elements lie.
//!
//! That is decided after the homes, in favour of those who fill and read it. A copy moves neighbours in global memory
//! to neighbours in shared memory, and matrix units read rows along one axis; so it is known what lies side by side: a
//! lane whose registers hold such neighbours moves as many of them at once, and matrix moves take rows of them.

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
/// The most matrices that one instruction moves.
const MOST_MATRICES: u64 = 4;

/// The axes along which the rows of a factor may lie that the matrix units of a warpgroup read: those of two bytes along
/// either, others along the one over which the product sums.
pub(crate) fn readable_axes(dtype: DType, summed: usize) -> impl Iterator<Item = usize> {
    (0..2).filter(move |&axis| dtype.bytes() == 2 || axis == summed)
}
/// The logarithm of the elements in a row of a matrix.
const ROW_LOG2: usize = 3;

/// What lies side by side in a buffer.
pub(super) struct Near {
    /// The bits of the tensor's places that lead from neighbour to neighbour, the nearest first.
    near: Vec<u64>,
    /// The bytes of an element.
    element: u64,
}

impl Near {
    /// Where a copy fills the buffer.
    pub(super) fn of(kernel: &Kernel, facts: &AxisFacts, block: Block<'_>, copy: &Op) -> Self {
        let pointers = copy.operands[0];
        let tensor = kernel.ty(pointers);
        let axis = memory_order(kernel, facts, pointers).first().copied().unwrap_or(0);
        let together = vector_elements(kernel, facts, block.machine, copy, Masks::Same).max(1);
        let inner = tensor.shape.get(axis + 1..).unwrap_or(&[]);
        let start: u32 = inner.iter().map(|extent| extent.ilog2()).sum();
        let near = (0..together.ilog2()).map(|bit| 1 << (start + bit)).collect();
        let element = tensor.element.pointee().unwrap_or(DType::I64).bytes().into();
        Self { near, element }
    }

    /// Where matrix units read a tensor's rows along an axis.
    pub(super) fn along(shape: &[u64], axis: usize, dtype: DType) -> Self {
        let element = u64::from(dtype.bytes());
        let start: u32 = shape[axis + 1..].iter().map(|extent| extent.ilog2()).sum();
        let most = MAX_ACCESS_LOG2 - element.ilog2();
        let near = (0..shape[axis].ilog2().min(most)).map(|bit| 1 << (start + bit)).collect();
        Self { near, element }
    }

    /// What a warp pays at least to load or store it in a layout, in the machine's unit of cost, and by how many
    /// instructions.
    pub(super) fn price(&self, kind: Kind, layout: &Layout, block: Block<'_>) -> (u64, u64) {
        let (prices, lanes) = (&block.machine.prices, layout.columns(LANE));
        let registers: Vec<u64> =
            layout.columns(REGISTER).iter().copied().filter(|&column| column != 0).collect();
        let bytes = self.element << registers.len();
        let run = self.near.iter().take_while(|bit| registers.contains(bit)).count();
        // What is not kept together may lie in any order.
        let run = if run == self.near.len() { registers.len() } else { run };
        let vector = (self.element << run).min(1 << MAX_ACCESS_LOG2);
        let apart = lanes.iter().filter(|&&column| column != 0).count();
        let wavefronts = ((vector << apart) >> block.machine.row_bytes_log2()).max(1);
        // Narrow elements are put into words, beside what the memory does.
        let packing = if vector < WORD { bytes / self.element } else { 0 };
        let moves = bytes / vector;
        let vectors = (moves * wavefronts * prices.wavefront)
            .max(packing * prices.alu)
            .max((moves + packing) * prices.issue);
        if bytes < WORD || !self.goes_in_matrices(kind, &registers, lanes, block) {
            return (vectors, moves);
        }
        // Each matrix gives every lane a word, and takes a wavefront.
        let matrices = bytes / WORD;
        (vectors, moves).min((matrices * prices.wavefront, matrices.div_ceil(MOST_MATRICES)))
    }

    /// Whether threads have the elements as matrix moves leave or take them: the words of a row in four lanes, or,
    /// where matrices are transposed, its elements in eight.
    fn goes_in_matrices(
        &self,
        kind: Kind,
        registers: &[u64],
        lanes: &[u64],
        block: Block<'_>,
    ) -> bool {
        let in_word = (WORD / self.element.min(WORD)).ilog2() as usize;
        let straight = self.near.get(..in_word + 2).is_some_and(|row| {
            let (word, words) = row.split_at(in_word);
            self.element <= WORD
                && word.iter().all(|bit| registers.contains(bit))
                && lanes.get(..2) == Some(words)
        });
        let turned =
            |bits: u64| 8 * self.element == bits && lanes.get(2..5) == self.near.get(..ROW_LOG2);
        let mut moves = block.machine.matrix_moves.iter().filter(|moves| moves.kind == kind);
        moves.any(|moves| straight || turned(moves.element_bits.into()))
    }
}
