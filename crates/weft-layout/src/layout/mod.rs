//! Layouts: labelled F₂-linear maps, and every operator on them.
//!
//! A [`Layout`] maps one labelled [`Space`] to another.
//! A *distributed* layout maps `[register, lane, warp, block]` to the axes of a tensor; a *memory*
//! layout maps `offset` to them.
//! Operators that fail return a [`LayoutError`] that names the axis, the bit or the places at fault.
//!
//! | question | operators |
//! |---|---|
//! | where does it go? | [`apply`](Layout::apply), [`compose`](Layout::compose), [`invert`](Layout::invert), [`right_inverse`](Layout::right_inverse) |
//! | which place of this is that place of the other? | [`solve`](Layout::solve), [`solve_with`](Layout::solve_with) |
//! | is it made of parts? | [`product`](Layout::product), [`divide_left`](Layout::divide_left), [`divide_left_permuted`](Layout::divide_left_permuted), [`repetitions`](Layout::repetitions), [`quotient`](Layout::quotient), [`split_identity`](Layout::split_identity) |
//! | what repeats, what is missing? | [`kernel`](Layout::kernel), [`image`](Layout::image), [`without_copies`](Layout::without_copies), [`free_mask`](Layout::free_mask) |
//! | how long are its runs? | [`contiguous_run`](Layout::contiguous_run) |
//! | other axes? | [`reshape_ins`](Layout::reshape_ins), [`transpose_outs`](Layout::transpose_outs), [`concat_ins`](Layout::concat_ins), [`resize_in`](Layout::resize_in), [`sublayout`](Layout::sublayout), … |
//! | another tensor? | [`transpose`](Layout::transpose), [`reshape`](Layout::reshape), [`broadcast`](Layout::broadcast), [`join`](Layout::join), …; [`cut_to`](Layout::cut_to), [`grow_to`](Layout::grow_to) |
//! | which kind is it? | [`is_distributed`](Layout::is_distributed), [`is_memory_layout`](Layout::is_memory_layout) |
//!
//! Axes are matched by label, never by position; their order matters only for what flattens:
//! [`Layout::reshape_ins`], [`Layout::reshape_outs`], [`Layout::apply_flat`] and equality.

mod action;
mod copies;
mod divide;
mod error;
mod fit;
mod inverse;
mod kind;
mod parts;
mod placement;
mod product;
mod shape_ops;
mod solve;
mod structure;
mod text;

use alloc::vec::Vec;

pub use action::BitAction;
pub use copies::Narrowed;
pub use error::{Coordinates, LayoutError};
pub use fit::Surplus;
pub use solve::Solution;
pub use text::Masks;
pub(crate) use text::write_place;

use crate::{
    f2::Matrix,
    space::{Label, Space, SpaceError},
};

/// Bases of one input axis: for each of its bits the image, as coordinates.
pub type Bases = Vec<(Label, Vec<Vec<u64>>)>;

/// An F₂-linear map between labelled spaces.
///
/// Two layouts are equal when axes, their order, sizes and images are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    ins: Space,
    outs: Space,
    /// Invariant: as many columns as `ins` has bits, as many rows as `outs` has.
    matrix: Matrix,
}

impl Layout {
    /// The layout whose input bit `i` (over all axes, the first axis lowest) goes to the place
    /// `bases[i]` of `outs`.
    ///
    /// Fails when the number of bases differs from the bits of `ins`, or one lies outside `outs`.
    #[inline]
    pub fn new(ins: Space, outs: Space, bases: &[u64]) -> Result<Layout, LayoutError> {
        let matrix = Matrix::new(outs.total_bits(), bases)?;
        Layout::from_matrix(ins, outs, matrix)
    }

    /// As [`new`](Layout::new), of columns that are known to fit; those beyond the inputs are zero.
    fn from_array(ins: Space, outs: Space, columns: &[u64; 64]) -> Result<Layout, LayoutError> {
        let (rows, cols) = (outs.total_bits(), ins.total_bits());
        match Matrix::from_array(rows, cols, columns) {
            Some(matrix) => Ok(Layout { ins, outs, matrix }),
            None => Err(LayoutError::Shape { rows, cols, found: (rows, cols) }),
        }
    }

    /// As [`new`](Layout::new), from an iterator.
    #[inline]
    fn from_columns(
        ins: Space,
        outs: Space,
        columns: impl IntoIterator<Item = u64>,
    ) -> Result<Layout, LayoutError> {
        let matrix = Matrix::from_columns(outs.total_bits(), columns)?;
        Layout::from_matrix(ins, outs, matrix)
    }

    /// The layout whose output bit `i` (over all axes, the first axis lowest) is the parity of the
    /// input bits under `masks[i]`.
    ///
    /// ```
    /// use weft_layout::{Layout, Space, space::{LANE, REGISTER}};
    ///
    /// let ins = Space::new(&[(REGISTER, 1), (LANE, 2)])?;
    /// let layout = Layout::from_masks(ins, Space::tensor(&[4])?, &[0b011, 0b100])?;
    /// assert_eq!(layout.to_string(), "[register: 1, lane: 1 2] -> [dim0: 4]");
    /// assert_eq!(layout.masks().to_string(), "dim0[0] = register[0] ^ lane[0]\ndim0[1] = lane[1]");
    /// assert_eq!(layout.matrix().row(0), 0b011);
    /// # Ok::<(), weft_layout::LayoutError>(())
    /// ```
    pub fn from_masks(ins: Space, outs: Space, masks: &[u64]) -> Result<Layout, LayoutError> {
        let matrix = Matrix::from_rows(ins.total_bits(), masks)?;
        Layout::from_matrix(ins, outs, matrix)
    }

    /// The layout by its rows, to be printed; [`Matrix::row`] has them as numbers.
    pub fn masks(&self) -> Masks<'_> {
        Masks(self)
    }

    /// The layout of this matrix; fails when its shape is not that of the spaces.
    #[inline]
    pub fn from_matrix(ins: Space, outs: Space, matrix: Matrix) -> Result<Layout, LayoutError> {
        if matrix.cols() != ins.total_bits() || matrix.rows() != outs.total_bits() {
            return Err(LayoutError::Shape {
                rows: outs.total_bits(),
                cols: ins.total_bits(),
                found: (matrix.rows(), matrix.cols()),
            });
        }
        Ok(Layout { ins, outs, matrix })
    }

    /// The layout with these bases, one list an input axis, each basis a list of coordinates in
    /// [`Space::coordinate_order`] of `outs` (for a tensor: `dim0` first).
    ///
    /// ```
    /// use weft_layout::{Layout, Space, space::{LANE, REGISTER}};
    ///
    /// let bases = [(REGISTER, vec![vec![0, 1]]), (LANE, vec![vec![0, 2], vec![1, 0]])];
    /// let layout = Layout::from_bases(&bases, Space::tensor(&[2, 4])?)?;
    /// assert_eq!(layout.to_string(), "[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]");
    /// # Ok::<(), weft_layout::LayoutError>(())
    /// ```
    pub fn from_bases(
        bases: &[(Label, Vec<Vec<u64>>)],
        outs: Space,
    ) -> Result<Layout, LayoutError> {
        let order = outs.coordinate_order();
        let mut axes = Vec::with_capacity(bases.len());
        let mut columns = Vec::new();
        for (label, axis) in bases {
            axes.push((*label, axis.len() as u32));
            for (bit, coordinates) in axis.iter().enumerate() {
                if coordinates.len() != order.len() {
                    return Err(LayoutError::Coordinates {
                        label: *label,
                        bit: bit as u32,
                        expected: order.len(),
                        found: coordinates.len(),
                    });
                }
                let named: Vec<_> =
                    order.iter().copied().zip(coordinates.iter().copied()).collect();
                columns.push(outs.pack(&named)?);
            }
        }
        Layout::new(Space::new(&axes)?, outs, &columns)
    }

    /// The identity of `bits` bits from one axis to another.
    pub fn identity(bits: u32, input: Label, output: Label) -> Result<Layout, LayoutError> {
        let (ins, outs) = (Space::new(&[(input, bits)])?, Space::new(&[(output, bits)])?);
        Layout::from_matrix(ins, outs, Matrix::identity(bits)?)
    }

    /// The map of everything to zero.
    pub fn zeros(ins: Space, outs: Space) -> Result<Layout, LayoutError> {
        let matrix = Matrix::zero(outs.total_bits(), ins.total_bits() as usize)?;
        Layout::from_matrix(ins, outs, matrix)
    }

    /// The layout without axes: neutral for [`product`](Layout::product).
    pub fn empty() -> Layout {
        Layout { ins: Space::empty(), outs: Space::empty(), matrix: Matrix::EMPTY }
    }

    /// The space of the inputs, with the label and the bits of each axis.
    pub fn ins(&self) -> &Space {
        &self.ins
    }

    /// The space of the outputs, with the label and the bits of each axis.
    pub fn outs(&self) -> &Space {
        &self.outs
    }

    /// The matrix: column `i` is the image of input bit `i`.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// The bits of an input axis; 0 when there is none of that label.
    pub fn in_bits(&self, label: Label) -> u32 {
        self.ins.bits(label)
    }

    /// The bits of an output axis; 0 when there is none of that label.
    pub fn out_bits(&self, label: Label) -> u32 {
        self.outs.bits(label)
    }

    /// The sizes of the tensor that the outputs are ([`Space::shape`]).
    pub fn shape(&self) -> Vec<u64> {
        self.outs.shape()
    }

    /// The image of bit `bit` of an input axis, as a place of the outputs; 0 when there is no such
    /// bit.
    pub fn basis(&self, label: Label, bit: u32) -> u64 {
        self.columns(label).get(bit as usize).copied().unwrap_or(0)
    }

    /// The images of the bits of an input axis, as places of the outputs.
    pub fn columns(&self, label: Label) -> &[u64] {
        let (start, bits) = self.ins.locate(label).unwrap_or((0, 0));
        &self.matrix.columns()[start as usize..(start + bits) as usize]
    }

    /// All bases as coordinates: what [`from_bases`](Layout::from_bases) takes.
    pub fn bases(&self) -> Bases {
        let order = self.outs.coordinate_order();
        let coordinates =
            |&place: &u64| order.iter().map(|&label| self.outs.coordinate(label, place)).collect();
        let axis = |label| (label, self.columns(label).iter().map(coordinates).collect());
        self.ins.labels().map(axis).collect()
    }

    /// The place of the outputs that a place of the inputs goes to; higher bits are ignored.
    pub fn apply_flat(&self, place: u64) -> u64 {
        self.matrix.apply(place)
    }

    /// The output coordinates of these input coordinates; axes that are not named are 0.
    pub fn apply(&self, coordinates: &[(Label, u64)]) -> Result<Vec<(Label, u64)>, SpaceError> {
        Ok(self.outs.unpack(self.apply_flat(self.ins.pack(coordinates)?)))
    }

    /// The dimension of the image.
    pub fn rank(&self) -> u32 {
        self.matrix.rank()
    }

    /// Whether every output place is reached.
    pub fn is_surjective(&self) -> bool {
        self.rank() == self.outs.total_bits()
    }

    /// Whether no output place is reached twice.
    pub fn is_injective(&self) -> bool {
        self.rank() == self.ins.total_bits()
    }

    /// Whether every output place is reached exactly once.
    pub fn is_invertible(&self) -> bool {
        self.is_surjective() && self.is_injective()
    }

    /// The bits of an input axis that are redundant, as a mask over that axis: their images are
    /// combinations of those of earlier bits (over all axes), so that they make copies.
    pub fn free_mask(&self, label: Label) -> u64 {
        let offset = self.ins.offset_of(label).unwrap_or(0);
        let free = !self.matrix.pivots() & self.ins.mask(label);
        free.checked_shr(offset).unwrap_or(0)
    }
}

/// Why two spaces do not fit: this axis has not the same size in both.
fn mismatch(left: &Space, right: &Space, label: Label) -> LayoutError {
    let bits = |space: &Space| space.contains(label).then(|| space.bits(label));
    LayoutError::AxisMismatch { label, left: bits(left), right: bits(right) }
}
