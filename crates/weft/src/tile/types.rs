//! Types of tile values.

use super::encoding::{Encoding, SharedMemory};
use crate::dtype::DType;
use core::fmt;
use smallvec::SmallVec;
use weft_layout::family::Family;

/// What one element is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Element {
    /// A number or truth value.
    Scalar(DType),
    /// A 64-bit global address of an element of this type.
    Pointer(DType),
    /// That asynchronous copies were issued: nothing to compute with.
    Token,
    /// None: the value describes a tensor of such numbers in global memory, and its shape is that of a block.
    Descriptor(DType),
}

impl Element {
    /// The type that the element's raw bits have: a pointer is an i64, a token a zero; of a descriptor, what the
    /// elements of a block have.
    pub fn dtype(self) -> DType {
        match self {
            Element::Scalar(dtype) | Element::Descriptor(dtype) => dtype,
            Element::Pointer(_) => DType::I64,
            Element::Token => DType::I1,
        }
    }

    /// What a pointer points to.
    pub fn pointee(self) -> Option<DType> {
        match self {
            Element::Scalar(_) | Element::Token | Element::Descriptor(_) => None,
            Element::Pointer(pointee) => Some(pointee),
        }
    }
}

/// The type of a tile value: a scalar, a tensor whose extents are powers of two, a description of
/// shared memory that holds such a tensor, or of a tensor in global memory that has such blocks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    /// What each element is.
    pub element: Element,
    /// The extents, outermost first; empty for a scalar.
    pub shape: SmallVec<[u64; 4]>,
    /// Where the program says that the value lives, if it says so.
    pub encoding: Option<Encoding>,
}

impl Type {
    /// A scalar of `dtype`.
    pub fn scalar(dtype: DType) -> Self {
        Self::single(Element::Scalar(dtype))
    }

    /// The type of a single element, which is no tensor.
    pub fn single(element: Element) -> Self {
        Self { element, shape: SmallVec::new(), encoding: None }
    }

    /// A pointer to `pointee`.
    pub fn pointer(pointee: DType) -> Self {
        Self::single(Element::Pointer(pointee))
    }

    /// A tensor of `element`s.
    pub fn tensor(element: Element, shape: &[u64]) -> Self {
        Self { element, shape: SmallVec::from_slice(shape), encoding: None }
    }

    /// The same with an encoding.
    pub fn with_encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = Some(encoding);
        self
    }

    /// The same shape in the same place with other elements.
    pub fn with_element(&self, element: Element) -> Self {
        Self { element, ..self.clone() }
    }

    /// The same without an encoding.
    pub fn bare(&self) -> Self {
        Self { encoding: None, ..self.clone() }
    }

    /// The type of the elements' raw bits.
    pub fn dtype(&self) -> DType {
        self.element.dtype()
    }

    /// Whether the value is a tensor: several elements among the threads, and no description of memory.
    pub fn is_tensor(&self) -> bool {
        !self.shape.is_empty() && self.memory().is_none() && !self.is_descriptor()
    }

    /// Whether the value describes a tensor in global memory.
    pub fn is_descriptor(&self) -> bool {
        matches!(self.element, Element::Descriptor(_))
    }

    /// The shared memory that the value describes, if it is such a description.
    pub fn memory(&self) -> Option<&SharedMemory> {
        match &self.encoding {
            Some(Encoding::Shared(memory)) => Some(memory),
            _ => None,
        }
    }

    /// How the program says that the value's elements are spread over the threads, if it says so.
    pub fn distribution(&self) -> Option<&Family> {
        match &self.encoding {
            Some(Encoding::Registers(family)) => Some(family),
            _ => None,
        }
    }

    /// The extents without those that count buffers of shared memory: powers of two, which the others
    /// need not be.
    pub fn tensor_extents(&self) -> &[u64] {
        let rank = self.memory().and_then(|memory| memory.rank().ok());
        let buffers = self.shape.len().saturating_sub(rank.unwrap_or(self.shape.len()));
        &self.shape[buffers..]
    }

    /// How many elements there are: 1 for a scalar.
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Scalar(dtype) | Element::Descriptor(dtype) => write!(f, "{dtype}"),
            Element::Pointer(pointee) => write!(f, "!tt.ptr<{pointee}>"),
            Element::Token => f.write_str("!ttg.async.token"),
        }
    }
}

impl fmt::Display for Type {
    /// Writes the type as Triton spells it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.shape.is_empty() {
            return write!(f, "{}", self.element);
        }
        f.write_str(match self.element {
            Element::Descriptor(_) => "!tt.tensordesc<",
            _ if self.memory().is_some() => "!ttg.memdesc<",
            _ => "tensor<",
        })?;
        for extent in &self.shape {
            write!(f, "{extent}x")?;
        }
        write!(f, "{}", self.element)?;
        match &self.encoding {
            None => {}
            Some(Encoding::Registers(family)) => write!(f, ", {family}")?,
            Some(Encoding::Shared(memory)) => memory.spell(&self.shape, f)?,
        }
        f.write_str(">")
    }
}
