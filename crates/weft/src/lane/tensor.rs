//! Copies of boxes of tensors: the tensor memory accelerator.
//!
//! A *tensor map* says how a tensor lies in global memory, and in which boxes it is copied. What the code must know of
//! it is part of the program, a [`TensorMap`]; the rest is a [`Tensor`]. A map is an argument of the kernel, or each block
//! makes one of its own ([`MakeMap`]), in global memory that the launch gives. One thread begins the copy of a box, which then runs on like a [`BulkCopy`](super::BulkCopy).
//!
//! # What a copy moves
//!
//! Axes are told innermost first: along the first one, elements are consecutive in global memory. The element
//! at `(i0, i1, …)` of a box that begins at the coordinates `(c0, c1, …)` is the tensor's at `(c0 + i0, c1 + i1,
//! …)`. In shared memory it lies at byte
//!
//! ```text
//! σ(start + e * (i0 + side0 * (i1 + side1 * …)))      σ(a) = a ^ ((a >> 7) % (span / 16)) << 4
//! ```
//!
//! for elements of `e` bytes: [`TensorMap::place`]. What is outside of the tensor is filled with zeros, or with
//! NaN, and not stored; the mbarrier counts the bytes of the whole box. Stores write whole pieces of 16
//! bytes, so that a row that is stored to its end has to end with one (PTX ISA, "Tensors"; for the last, see
//! triton-lang/triton#11893).

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::Space;
use super::effects::{Effects, Fence, Latency, Participants, Proxy, Spaces, Step, Tokens};
use super::family::{Family, Operand, Operands, Text, Told, listed};
use super::transfer::begins;
use crate::atomic::Rmw;
use crate::dtype::DType;
use smallvec::SmallVec;

/// What a program knows of a tensor map.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorMap {
    /// The type of the tensor's elements.
    pub element: DType,
    /// The sides of a box in elements, innermost first: 1 to [`TensorMap::MAX_RANK`] of them.
    pub sides: SmallVec<[u32; 5]>,
    /// Within so many bytes of shared memory pieces of 16 bytes change places: 32, 64 or 128; 16 where they stay.
    pub span: u32,
    /// Whether blocks make it, and the launch gives nothing but memory in the place of the argument.
    pub made: bool,
}

impl TensorMap {
    /// The most axes of a tensor.
    pub const MAX_RANK: usize = 5;
    /// The longest side of a box.
    pub const MAX_SIDE: u32 = 256;
    /// Bytes of a map, as an argument and in memory.
    pub const BYTES: u32 = 128;
    /// What a box's address in shared memory is a multiple of.
    pub const ALIGN: u32 = 128;
    /// What the tensor's address, its strides, and the first coordinate are multiples of, in bytes.
    pub const PIECE: u32 = 16;

    /// Whether blocks make it, by a [`MakeMap`] with operands of these types.
    pub(super) fn is_made_of(&self, operands: &[DType]) -> bool {
        self.made && operands == [vec![DType::I32], self.parts()].concat()
    }

    /// What a map is made of, behind the address: the types of the operands of a [`MakeMap`].
    fn parts(&self) -> Vec<DType> {
        let rank = self.sides.len();
        let parts = [vec![DType::I64], vec![DType::I32; rank], vec![DType::I64; rank - 1]];
        parts.concat()
    }

    /// The bytes of a box.
    pub fn bytes(&self) -> u32 {
        self.sides.iter().fold(self.element.bytes(), |bytes, side| bytes.saturating_mul(*side))
    }

    /// Where the byte of a box lies that would be at an address without a swizzle.
    pub fn place(&self, address: u32) -> u32 {
        address ^ ((address >> 7) % (self.span / Self::PIECE)) << 4
    }

    /// Whether there are such maps: rows of a box are whole pieces, and no longer than the swizzle.
    pub fn is_legal(&self) -> bool {
        let Self { element, sides, span, made: _ } = self;
        let row = sides.first().map_or(0, |side| side.saturating_mul(element.bytes()));
        let side = |side: &u32| (1..=Self::MAX_SIDE).contains(side);
        (1..=Self::MAX_RANK).contains(&sides.len())
            && sides.iter().all(side)
            && *element != DType::I1
            && matches!(span, 16 | 32 | 64 | 128)
            && row.is_multiple_of(Self::PIECE)
            && (*span == Self::PIECE || row <= *span)
            && self.bytes().is_multiple_of(*span)
    }
}

/// Makes a map: `(address, base: i64, extents: i32 …, strides: i64 …)`. The lanes of one warp do so together, with the
/// same operands, and the copies that use it are theirs. The address is that of [`TensorMap::BYTES`] of shared memory,
/// which it takes meanwhile; extents and strides are told innermost first, all from 1 on, the strides in bytes and
/// without the first one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MakeMap {
    /// The argument that is the map.
    pub map: u32,
    /// Whether floats are filled with NaN outside.
    pub nan: bool,
}

/// The copy of a box. The operands are the box's address in shared memory, the coordinates of its first element,
/// and, to shared memory, the address of the mbarrier; all i32.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TensorCopy {
    /// The argument that is the tensor's map.
    pub map: u32,
    /// Whether it goes to shared memory or from there.
    pub way: TensorWay,
}

/// Where the copy of a box goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TensorWay {
    /// To shared memory, as [`BulkCopy::ToShared`](super::BulkCopy::ToShared).
    ToShared,
    /// To global memory, as [`BulkCopy::ToGlobal`](super::BulkCopy::ToGlobal).
    ToGlobal,
    /// The same, but each element is changed by an atomic without any order.
    Reduce(Rmw),
}

impl TensorWay {
    /// Whether elements of a type can be copied so (PTX ISA, `cp.reduce.async.bulk.tensor`).
    pub fn takes(self, element: DType) -> bool {
        let TensorWay::Reduce(op) = self else { return true };
        let wide = matches!(element, DType::I32 | DType::I64);
        match op {
            Rmw::FAdd => matches!(element, DType::F16 | DType::BF16 | DType::F32 | DType::F64),
            Rmw::Min | Rmw::Max => wide || matches!(element, DType::F16 | DType::BF16),
            Rmw::Add | Rmw::UMin | Rmw::UMax | Rmw::And | Rmw::Or | Rmw::Xor => wide,
            Rmw::Exch => false,
        }
    }
}

impl TensorCopy {
    /// Whether it copies boxes of such a map, with so many operands.
    pub(super) fn fits(self, map: &TensorMap, operands: usize) -> bool {
        let counted = usize::from(self.way == TensorWay::ToShared);
        operands == 1 + map.sides.len() + counted && self.way.takes(map.element)
    }
}

/// Behind the address stand the parts of the map, as it asks for them.
impl Family for MakeMap {
    const FORMS: &'static [Self] = &[Self { map: 0, nan: false }];

    /// It writes memory that copies read by themselves.
    fn effects(&self) -> Effects {
        let Self { map: _, nan: _ } = self;
        Effects {
            reads: Spaces::SHARED,
            writes: Spaces::SHARED,
            proxy: Proxy::Unknown,
            fence: Fence::Unknown,
            visible: true,
            tokens: Tokens::Bulk(Step::Prepares),
            latency: Latency::Wait,
            convergent: Some(Participants::Warp),
            ..Effects::NONE
        }
    }

    fn operands(&self) -> Operands {
        listed(&[Operand::Address(Space::Shared)], &[])
    }

    fn is_sound(&self, _: &[DType], results: &[DType]) -> bool {
        results.is_empty()
    }

    fn text(&mut self, text: &mut dyn Text) -> Told {
        text.word("tensor.map")?;
        text.mark("nan", &mut self.nan)?;
        text.behind(&mut self.map)
    }
}

/// Behind the address stand a box's coordinates, and what counts its bytes, where others have values that they move.
impl Family for TensorCopy {
    const FORMS: &'static [Self] = &[
        Self { map: 0, way: TensorWay::ToShared },
        Self { map: 0, way: TensorWay::ToGlobal },
        Self { map: 0, way: TensorWay::Reduce(Rmw::Add) },
    ];

    fn effects(&self) -> Effects {
        match self.way {
            // The mbarrier is shared memory as well.
            TensorWay::ToShared => begins(Spaces::ALL, Spaces::SHARED),
            TensorWay::ToGlobal => begins(Spaces::SHARED, Spaces::GLOBAL),
            TensorWay::Reduce(_) => begins(Spaces::ALL, Spaces::GLOBAL),
        }
    }

    fn operands(&self) -> Operands {
        listed(&[Operand::Address(Space::Shared)], &[])
    }

    fn is_sound(&self, values: &[DType], results: &[DType]) -> bool {
        values.iter().all(|&dtype| dtype == DType::I32) && results.is_empty()
    }

    fn text(&mut self, text: &mut dyn Text) -> Told {
        match &mut self.way {
            TensorWay::ToShared => text.word("tensor.copy.to.shared")?,
            TensorWay::ToGlobal => text.word("tensor.copy.to.global")?,
            TensorWay::Reduce(op) => {
                text.word("tensor.copy")?;
                text.choice("OPERATION", op)?;
                text.word(".to.global")?;
            }
        }
        text.behind(&mut self.map)
    }
}

/// A tensor in global memory, as the launch tells it.
///
/// On a GPU the driver encodes it, together with what the program knows, in a form that is not documented.
/// For the simulator the argument is the address of [`Tensor::to_bytes`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tensor {
    /// The address of its first element.
    pub base: u64,
    /// The elements along each axis, innermost first; those of axes that there are not count for nothing.
    pub extents: [u64; TensorMap::MAX_RANK],
    /// How far neighbours along each axis but the first are apart, in bytes.
    pub strides: [u64; TensorMap::MAX_RANK - 1],
    /// Whether floats are filled with NaN outside.
    pub nan: bool,
}

impl Tensor {
    /// Eight bytes for each number, the least significant first: base, extents, strides, and 1 for NaN.
    pub fn to_bytes(&self) -> [u8; TensorMap::BYTES as usize] {
        let Self { base, extents, strides, nan } = self;
        let numbers = [*base].into_iter().chain(*extents).chain(*strides).chain([u64::from(*nan)]);
        let mut bytes = [0; TensorMap::BYTES as usize];
        for (number, place) in numbers.zip(bytes.chunks_exact_mut(8)) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// Reads the bytes that [`Tensor::to_bytes`] gave.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut numbers = bytes.chunks_exact(8).map(|number| {
            number.iter().rev().fold(0, |number: u64, &byte| number << 8 | u64::from(byte))
        });
        let mut next = || numbers.next().unwrap_or_default();
        let base = next();
        let extents = core::array::from_fn(|_| next());
        let strides = core::array::from_fn(|_| next());
        Self { base, extents, strides, nan: next() != 0 }
    }
}
