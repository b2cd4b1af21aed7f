//! Which bytes of memory each lane moves in one instruction.

use crate::machine::Matrix;

/// How one instruction of an [`Access`](super::Access) deals bytes to lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// Each lane moves consecutive bytes from its own address on.
    #[default]
    Vector,
    /// The warp moves small matrices: each lane gives the address of one row of 16 bytes, those of the
    /// first matrix first, and moves what [`Matrix::place`] says, word by word and matrix by matrix.
    /// Addresses of lanes beyond the last row are not looked at.
    Matrix(Matrix),
}

impl Form {
    /// Where byte `byte` of a group's registers in lane `lane` lies: the lane that gives the
    /// address, and what is added to that.
    ///
    /// `None` when there is no such form. The map is linear over F₂.
    pub fn place(self, lane: u64, byte: u64) -> Option<(u64, u64)> {
        let Form::Matrix(matrix) = self else { return Some((lane, byte)) };
        let width = 4 * u64::from(matrix.words());
        let (row, inside) = matrix.place(lane, byte % width)?;
        Some((byte / width * u64::from(matrix.rows) + row, inside))
    }

    /// What every address of an instruction that moves `bytes` bytes a lane is a multiple of.
    pub fn alignment(self, bytes: u64) -> u64 {
        match self {
            Form::Vector => bytes,
            Form::Matrix(_) => u64::from(Matrix::ROW_BYTES),
        }
    }

    /// The bytes that stay together whatever the registers are; `None` where whole registers do.
    pub fn unit(self) -> Option<u64> {
        match self {
            Form::Vector => None,
            Form::Matrix(Matrix { transposed: false, .. }) => Some(4),
            Form::Matrix(matrix) => Some(u64::from(matrix.element_bits / 8)),
        }
    }

    /// How many matrices an instruction of `bytes` bytes a lane moves; `None` where they are not
    /// whole.
    pub fn matrices(matrix: Matrix, bytes: u64) -> Option<u32> {
        let width = 4 * u64::from(matrix.words());
        bytes.is_multiple_of(width).then_some((bytes / width) as u32)
    }
}
