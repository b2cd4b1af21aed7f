use core::fmt;

/// Why a matrix cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatrixError {
    /// A side is longer than [`MAX_BITS`](super::MAX_BITS).
    TooLarge {
        /// The rows asked for.
        rows: usize,
        /// The columns asked for.
        cols: usize,
    },
    /// A column has a bit outside the rows.
    BitOutOfRange {
        /// The index of the column.
        column: usize,
        /// The column, bit `i` of which belongs to row `i`.
        value: u64,
        /// How many rows there are.
        rows: u32,
    },
    /// A row has a bit outside the columns.
    MaskOutOfRange {
        /// The index of the row.
        row: usize,
        /// The row, bit `j` of which belongs to column `j`.
        value: u64,
        /// How many columns there are.
        cols: u32,
    },
    /// Two matrices do not fit together.
    Mismatch {
        /// Rows and columns of the left (or upper) one.
        left: (u32, u32),
        /// Rows and columns of the right (or lower) one.
        right: (u32, u32),
    },
}

impl fmt::Display for MatrixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            MatrixError::TooLarge { rows, cols } => {
                write!(f, "a matrix of {rows} rows and {cols} columns exceeds 64 x 64")
            }
            MatrixError::BitOutOfRange { column, value, rows } => {
                write!(f, "column {column} is {value:#x}, which needs more than {rows} rows")
            }
            MatrixError::MaskOutOfRange { row, value, cols } => {
                write!(f, "row {row} is {value:#x}, which needs more than {cols} columns")
            }
            MatrixError::Mismatch { left, right } => write!(
                f,
                "a {}x{} matrix does not fit a {}x{} matrix",
                left.0, left.1, right.0, right.1
            ),
        }
    }
}

impl core::error::Error for MatrixError {}

/// Why a matrix has no inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Singular {
    /// It is not square.
    NotSquare {
        /// How many rows it has.
        rows: u32,
        /// How many columns it has.
        cols: u32,
    },
    /// It sends this non-zero input to zero.
    Kernel {
        /// The input, bit `j` of which belongs to column `j`.
        input: u64,
    },
}

impl fmt::Display for Singular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Singular::NotSquare { rows, cols } => {
                write!(f, "a matrix of {rows} rows and {cols} columns has no inverse")
            }
            Singular::Kernel { input } => {
                write!(f, "the matrix sends {input:#x} to zero, so it has no inverse")
            }
        }
    }
}

impl core::error::Error for Singular {}

/// Why `A · X = B` has no solution: a column of `B` outside the image of `A`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSolution {
    /// The index of that column of `B`.
    pub column: u32,
    /// What is left of it when the image of `A` has been subtracted; never zero, unless the two
    /// matrices differ in their rows.
    pub residue: u64,
}

impl fmt::Display for NoSolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoSolution { column, residue } = self;
        write!(f, "column {column} of the target lies outside the image (residue {residue:#x})")
    }
}

impl core::error::Error for NoSolution {}
