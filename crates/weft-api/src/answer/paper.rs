//! Tables of the paper.

use crate::request::Table;

/// A table of the paper, made anew.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PaperAnswer {
    /// The table that was made.
    pub table: Table,
    /// The name of the machine.
    pub target: String,
    /// Whether every row is as it should be.
    pub passed: bool,
    /// The rows: one a case.
    pub rows: PaperRows,
}

/// The rows of a table.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum PaperRows {
    /// The rows of table 2.
    Vectors(Vec<VectorRow>),
    /// The rows of table 3.
    Reductions(Vec<ReductionRow>),
    /// The rows of table 4.
    Products(Vec<ProductRow>),
}

/// A copy of a tensor, and the bits that one access of it moves for each thread.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct VectorRow {
    /// The type of the elements.
    pub element: String,
    /// The extents of the tensor.
    pub shape: [u64; 2],
    /// The warps of a block; the paper does not say its own.
    pub warps: u32,
    /// The paper's bits without linear layouts.
    pub base_bits: u32,
    /// The paper's bits with linear layouts.
    pub paper_bits: u32,
    /// These, or fewer where a thread's share of the tensor has fewer.
    pub expected_bits: u32,
    /// The bits of the narrowest access here.
    pub bits: u32,
    /// The instruction that loads; none where the machine has no PTX.
    pub instruction: String,
}

/// A sum along an axis of a tensor in a layout.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ReductionRow {
    /// The family of the layout, as the paper names it.
    pub family: String,
    /// The layout, as Triton writes it.
    pub layout: String,
    /// The extents of the tensor.
    pub shape: [u64; 2],
    /// The axis that disappears.
    pub axis: u32,
    /// The type of the elements.
    pub element: String,
    /// The warps of a block.
    pub warps: u32,
    /// Whether the simulated sums are the evaluator's.
    pub equal: bool,
    /// Loads and stores of shared memory in the PTX text.
    pub shared: u32,
    /// Those that Triton 3.9.0 prints for the same; none where it does not compile the case.
    pub triton_shared: Option<u32>,
}

/// A product of a matrix of integers with one of floats.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ProductRow {
    /// The type of the integers.
    pub integer: String,
    /// What the paper calls the floats' type.
    pub class: String,
    /// The type of the floats.
    pub float: String,
    /// Rows, columns, and the extent that is summed over.
    pub shape: [u64; 3],
    /// The warps of a block.
    pub warps: u32,
    /// Whether the integers stand on the left.
    pub integer_left: bool,
    /// How many products of this integer and class were right before linear layouts, in the paper.
    pub base_right: u32,
    /// How many such products there are.
    pub paper_cases: u32,
    /// Whether the simulated product is the evaluator's, bit for bit or as far as the order of sums
    /// leaves open.
    pub equal: bool,
    /// Whether it is so bit for bit.
    pub exact: bool,
}
