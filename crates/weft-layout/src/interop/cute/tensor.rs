//! Layouts of tensors in CuTe's conventions.

use super::{Export, ExportError, export};
use crate::{
    affine::Affine,
    layout::LayoutError,
    space::{BLOCK, LANE, Label, OFFSET, REGISTER, Space, WARP},
};

/// Which of CuTe's two kinds of layouts a layout of a tensor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convention {
    /// From the coordinates of the tensor, one mode an axis, to the offset.
    Memory,
    /// From thread and value to the index of the element, which counts the first axis fastest.
    ///
    /// The thread is the lane, then the warp, then the block; the value is the register.
    ThreadValue,
}

/// A memory layout from `offset`, or a distributed layout from register, lane, warp and block, as
/// CuTe writes it.
///
/// Fails when the layout is neither, when its outputs are no tensor, or when CuTe has no layout that
/// is this one; a memory layout must hold each element at one offset, and leave no offset unused.
///
/// ```
/// use weft_layout::interop::{cute::{self, Convention}, parse_layout};
///
/// let rows = parse_layout("[offset: (0,1) (0,2) (1,0) (2,0)] -> [dim0: 4, dim1: 4]")?;
/// let (convention, exported) = cute::export_tensor(&rows.into())?;
/// assert_eq!(convention, Convention::Memory);
/// assert_eq!(exported.composed.to_string(), "(4,4):(4,1)");
/// // Eight lanes with two neighbours of a row each.
/// let pairs = parse_layout("[register: (0,1), lane: (0,2) (1,0) (2,0)] -> [dim0: 4, dim1: 4]")?;
/// let (convention, exported) = cute::export_tensor(&pairs.into())?;
/// assert_eq!(convention, Convention::ThreadValue);
/// assert_eq!(exported.composed.to_string(), "((2,4),2):((8,1),4)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn export_tensor(map: &Affine) -> Result<(Convention, Export), TensorError> {
    if !map.outs().is_tensor() {
        return Err(LayoutError::NotTensor.into());
    }
    let only = |labels: &[Label]| {
        map.ins().axes().iter().all(|&(label, bits)| bits == 0 || labels.contains(&label))
    };
    let first_fastest = map.outs().coordinate_order();
    let tensor = map.transpose_outs(&first_fastest)?;
    let threads = [LANE, WARP, BLOCK];
    if map.ins().contains(OFFSET) && only(&[OFFSET]) {
        let memory = tensor.restrict_ins(&[OFFSET])?;
        return Ok((Convention::Memory, export(&memory.invert()?)?));
    }
    if map.ins().contains(OFFSET) || !only(&[REGISTER, LANE, WARP, BLOCK]) {
        return Err(TensorError::Kind);
    }
    let bits = |labels: &[Label]| labels.iter().map(|&label| map.ins().bits(label)).sum();
    let order = [&threads[..], &[REGISTER]].concat();
    let present: alloc::vec::Vec<Label> =
        order.into_iter().filter(|&label| map.ins().contains(label)).collect();
    let pair = Space::new(&[(LANE, bits(&threads)), (REGISTER, bits(&[REGISTER]))])
        .map_err(LayoutError::from)?;
    let index = Space::new(&[(OFFSET, map.outs().total_bits())]).map_err(LayoutError::from)?;
    let flat = tensor.transpose_ins(&present)?.reshape_ins(pair)?.reshape_outs(&index)?;
    Ok((Convention::ThreadValue, export(&flat)?))
}

/// Why a layout of a tensor has no name in CuTe.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorError {
    /// It is neither a memory layout nor a distributed one.
    Kind,
    /// It does not have the form that the convention asks for.
    Layout(LayoutError),
    /// CuTe has no such layout.
    Export(ExportError),
}

impl From<LayoutError> for TensorError {
    fn from(error: LayoutError) -> TensorError {
        TensorError::Layout(error)
    }
}

impl From<ExportError> for TensorError {
    fn from(error: ExportError) -> TensorError {
        TensorError::Export(error)
    }
}

impl core::fmt::Display for TensorError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            TensorError::Kind => f.write_str(
                "the layout is neither one of memory (from `offset`) nor a distributed one (from \
                 `register`, `lane`, `warp` and `block`)",
            ),
            TensorError::Layout(error) => error.fmt(f),
            TensorError::Export(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TensorError {}

/// The memory layout of a tensor that a CuTe layout from coordinates to offsets is: from `offset` to
/// `dim0`, `dim1`, …, one axis for each top-level mode.
///
/// `map` has these axes as its inputs, in order, as [`import`](super::import) gives them.
/// Fails with two coordinates at one offset, or with an offset that none has.
pub fn memory_layout(map: &Affine) -> Result<Affine, LayoutError> {
    let inverse = map.invert()?;
    let mut minor_first: alloc::vec::Vec<Label> = inverse.outs().labels().collect();
    minor_first.reverse();
    inverse.transpose_outs(&minor_first)
}
