//! The bounds of what lies in global memory.

use crate::memory::Memory;

/// How far each element of a run's buffers may be from the evaluator's.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MemoryBounds {
    /// For each buffer that has any, its elements' bounds.
    buffers: Vec<Option<Box<[f64]>>>,
}

/// How far each element of a buffer may be from the evaluator's.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BufferBounds<'a>(Option<&'a [f64]>);

impl BufferBounds<'_> {
    /// Every bit must be the same.
    pub const EXACT: BufferBounds<'static> = BufferBounds(None);

    /// How far the element at `index` may be off; infinity where it may be anything.
    pub fn get(&self, index: usize) -> f64 {
        self.0.and_then(|bounds| bounds.get(index)).copied().unwrap_or(0.0)
    }

    /// The largest finite bound of an element.
    pub fn largest(&self) -> f64 {
        let finite = self.0.into_iter().flatten().filter(|bound| bound.is_finite());
        finite.copied().fold(0.0, f64::max)
    }

    /// How many elements may be anything.
    pub fn unbounded(&self) -> usize {
        self.0.into_iter().flatten().filter(|&&bound| bound == f64::INFINITY).count()
    }
}

impl<'a> From<&'a [f64]> for BufferBounds<'a> {
    fn from(bounds: &'a [f64]) -> Self {
        Self(Some(bounds))
    }
}

impl MemoryBounds {
    /// Those of one buffer.
    pub fn of_buffer(&self, index: usize) -> BufferBounds<'_> {
        BufferBounds(self.buffers.get(index).and_then(Option::as_deref))
    }

    /// The bound of an access; of one that is not of one element, infinity where any of it has one.
    pub(in crate::tile::eval) fn get(&self, memory: &Memory, address: u64, bytes: u32) -> f64 {
        if self.buffers.is_empty() {
            return 0.0;
        }
        let Some((buffer, first, last, whole)) = elements(memory, address, bytes) else {
            return 0.0;
        };
        let Some(Some(bounds)) = self.buffers.get(buffer) else { return 0.0 };
        if whole {
            bounds[first]
        } else if bounds[first..=last].iter().all(|&bound| bound == 0.0) {
            0.0
        } else {
            f64::INFINITY
        }
    }

    /// Notes the bound of what was written.
    pub(in crate::tile::eval) fn set(
        &mut self,
        memory: &Memory,
        address: u64,
        bytes: u32,
        bound: f64,
    ) {
        if self.buffers.is_empty() && bound == 0.0 {
            return;
        }
        let Some((buffer, first, last, whole)) = elements(memory, address, bytes) else { return };
        if self.buffers.len() <= buffer {
            self.buffers.resize(buffer + 1, None);
        }
        let slot = &mut self.buffers[buffer];
        if slot.is_none() && bound == 0.0 {
            return;
        }
        let all = &memory.buffers()[buffer];
        let count = all.bytes.len().div_ceil(all.dtype.bytes() as usize);
        let bounds = slot.get_or_insert_with(|| vec![0.0; count].into());
        let covers_all = (last - first + 1) * all.dtype.bytes() as usize == bytes as usize;
        if whole || covers_all && bound == 0.0 {
            bounds[first..=last].fill(bound);
        } else if bound != 0.0 {
            bounds[first..=last].fill(f64::INFINITY);
        }
    }
}

/// The buffer of an access, the first and the last of its elements there, and whether it is exactly one.
fn elements(memory: &Memory, address: u64, bytes: u32) -> Option<(usize, usize, usize, bool)> {
    let (buffer, offset) = memory.locate(address, bytes).ok()?;
    let wide = memory.buffers()[buffer].dtype.bytes() as usize;
    let last = (offset + (bytes as usize).max(1) - 1) / wide;
    Some((buffer, offset / wide, last, bytes as usize == wide && offset.is_multiple_of(wide)))
}
