//! Types of tile values.

use crate::dtype::DType;
use core::fmt;
use smallvec::SmallVec;

/// What one element is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Element {
    /// A number or truth value.
    Scalar(DType),
    /// A 64-bit global address of an element of this type.
    Pointer(DType),
}

impl Element {
    /// The type that the element's raw bits have: a pointer is an i64.
    pub fn dtype(self) -> DType {
        match self {
            Element::Scalar(dtype) => dtype,
            Element::Pointer(_) => DType::I64,
        }
    }

    /// What a pointer points to.
    pub fn pointee(self) -> Option<DType> {
        match self {
            Element::Scalar(_) => None,
            Element::Pointer(pointee) => Some(pointee),
        }
    }
}

/// The type of a tile value: a scalar, or a tensor whose extents are powers of two.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    /// What each element is.
    pub element: Element,
    /// The extents, outermost first; empty for a scalar.
    pub shape: SmallVec<[u64; 4]>,
}

impl Type {
    /// A scalar of `dtype`.
    pub fn scalar(dtype: DType) -> Self {
        Self { element: Element::Scalar(dtype), shape: SmallVec::new() }
    }

    /// A pointer to `pointee`.
    pub fn pointer(pointee: DType) -> Self {
        Self { element: Element::Pointer(pointee), shape: SmallVec::new() }
    }

    /// A tensor of `element`s.
    pub fn tensor(element: Element, shape: &[u64]) -> Self {
        Self { element, shape: SmallVec::from_slice(shape) }
    }

    /// The same shape with other elements.
    pub fn with_element(&self, element: Element) -> Self {
        Self { element, shape: self.shape.clone() }
    }

    /// The type of the elements' raw bits.
    pub fn dtype(&self) -> DType {
        self.element.dtype()
    }

    /// Whether the value is a tensor.
    pub fn is_tensor(&self) -> bool {
        !self.shape.is_empty()
    }

    /// How many elements there are: 1 for a scalar.
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Scalar(dtype) => write!(f, "{dtype}"),
            Element::Pointer(pointee) => write!(f, "!tt.ptr<{pointee}>"),
        }
    }
}

impl fmt::Display for Type {
    /// Triton's spelling.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_tensor() {
            return write!(f, "{}", self.element);
        }
        f.write_str("tensor<")?;
        for extent in &self.shape {
            write!(f, "{extent}x")?;
        }
        write!(f, "{}>", self.element)
    }
}
