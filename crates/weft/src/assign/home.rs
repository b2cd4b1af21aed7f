//! Where tile values live.

use super::AssignError;
use super::layouts::LayoutId;
use crate::dtype::DType;
use crate::lane::MAX_ACCESS_BYTES;
use crate::tile::SharedMemory;
use std::sync::Arc;
use weft_layout::affine::Padded;
use weft_layout::family::Family;

/// Where a tile value lives.
///
/// There is no home in tensor memory: the machines' rows have no instruction that reads or writes it, so nothing
/// could choose one.
#[derive(Clone, PartialEq, Debug)]
pub enum Home {
    /// In registers of the block's threads, in a layout of registers, lanes and warps.
    Registers(LayoutId),
    /// In shared memory that the program allocates.
    Shared(Arc<Buffers>),
}

impl Home {
    /// The layout of a value in registers.
    pub fn registers(&self) -> Option<LayoutId> {
        match self {
            Home::Registers(layout) => Some(*layout),
            Home::Shared(_) => None,
        }
    }

    /// The buffers of a value in shared memory.
    pub fn shared(&self) -> Option<&Arc<Buffers>> {
        match self {
            Home::Registers(_) => None,
            Home::Shared(buffers) => Some(buffers),
        }
    }
}

/// Buffers of shared memory, one behind the other, each with a tensor in the same layout; a value may be a part of
/// one.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffers {
    /// The memory as a type describes it, the layout by the name of its family.
    pub memory: SharedMemory,
    /// Where each element of a buffer is.
    pub layout: Padded,
    /// How many there are.
    pub count: u64,
    /// The bytes from one to the next.
    pub bytes: u64,
    /// What the first byte has to be a multiple of: for matrix units a whole pattern, since they swizzle by
    /// address.
    pub align: u32,
}

impl Buffers {
    /// Rows of the pattern of a swizzle of matrix units.
    pub(crate) const ROWS: u64 = 8;

    /// The buffers of such memory, for elements of this type.
    pub(super) fn of(memory: SharedMemory, dtype: DType) -> Result<Self, AssignError> {
        let (layout, count) = (memory.layout()?, memory.buffers()?);
        let bytes = layout.size().saturating_mul(dtype.in_memory().bytes().into());
        let widest = u64::from(MAX_ACCESS_BYTES);
        let bytes = bytes.saturating_add(widest - 1) / widest * widest;
        let align = match &memory.family {
            Family::NvmmaShared(shared) => (Self::ROWS * shared.swizzling_byte_width).max(1) as u32,
            _ => 1,
        };
        Ok(Self { memory, layout, count, bytes, align })
    }
}
