use alloc::vec::Vec;
use core::{fmt, ops::Mul};

use super::{Echelon, MAX_BITS, Subspace, low_mask, ones};

/// A matrix over F₂ with at most 64 rows and 64 columns, stored inline as columns.
///
/// Equality and hash see the shape and the entries.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Matrix {
    rows: u8,
    cols: u8,
    /// Invariant: no column has a bit at or above `rows`; columns from `cols` on are zero.
    columns: [u64; 64],
}

impl Matrix {
    /// The matrix without rows and columns.
    pub const EMPTY: Matrix = Matrix { rows: 0, cols: 0, columns: [0; 64] };

    /// The matrix with these columns; bit `r` of a column is its entry in row `r`.
    ///
    /// Fails when there are more than 64 rows or columns, or a column has a bit at or above `rows`.
    pub fn new(rows: u32, columns: &[u64]) -> Result<Matrix, MatrixError> {
        let mut matrix = Matrix::zero(rows, columns.len())?;
        for (index, (&column, slot)) in columns.iter().zip(&mut matrix.columns).enumerate() {
            if column & !low_mask(rows) != 0 {
                return Err(MatrixError::BitOutOfRange { column: index, value: column, rows });
            }
            *slot = column;
        }
        Ok(matrix)
    }

    /// The identity on `bits` bits; fails above 64.
    pub fn identity(bits: u32) -> Result<Matrix, MatrixError> {
        let mut matrix = Matrix::zero(bits, bits as usize)?;
        for (index, slot) in matrix.columns.iter_mut().take(bits as usize).enumerate() {
            *slot = 1 << index;
        }
        Ok(matrix)
    }

    /// The matrix of zeros; fails when a side is above 64.
    pub fn zero(rows: u32, cols: usize) -> Result<Matrix, MatrixError> {
        if rows > MAX_BITS || cols > MAX_BITS as usize {
            return Err(MatrixError::TooLarge { rows: rows as usize, cols });
        }
        Ok(Matrix { rows: rows as u8, cols: cols as u8, columns: [0; 64] })
    }

    /// How many rows: bits of a result.
    pub fn rows(&self) -> u32 {
        u32::from(self.rows)
    }

    /// How many columns: bits of an input.
    pub fn cols(&self) -> u32 {
        u32::from(self.cols)
    }

    /// Column `index`, or zero when there is no such column.
    pub fn column(&self, index: u32) -> u64 {
        self.columns.get(index as usize).copied().unwrap_or(0)
    }

    /// All columns, lowest input bit first.
    pub fn columns(&self) -> &[u64] {
        &self.columns[..usize::from(self.cols)]
    }

    /// The matrix times a vector; bits of `input` at or above [`cols`](Matrix::cols) are ignored.
    pub fn apply(&self, input: u64) -> u64 {
        ones(input & low_mask(self.cols())).fold(0, |sum, bit| sum ^ self.columns[bit as usize])
    }

    /// First `self`, then `outer`: the matrix `outer · self`.
    pub fn compose(&self, outer: &Matrix) -> Result<Matrix, MatrixError> {
        if outer.cols != self.rows {
            return Err(MatrixError::Mismatch { left: outer.shape(), right: self.shape() });
        }
        let mut product = *self;
        product.rows = outer.rows;
        for column in &mut product.columns[..usize::from(self.cols)] {
            *column = outer.apply(*column);
        }
        Ok(product)
    }

    /// The columns of `self`, then those of `right`.
    pub fn hcat(&self, right: &Matrix) -> Result<Matrix, MatrixError> {
        if self.rows != right.rows {
            return Err(MatrixError::Mismatch { left: self.shape(), right: right.shape() });
        }
        let columns: Vec<u64> = self.columns().iter().chain(right.columns()).copied().collect();
        Matrix::new(self.rows(), &columns)
    }

    /// The rows of `self` (lowest), then those of `below`.
    pub fn vcat(&self, below: &Matrix) -> Result<Matrix, MatrixError> {
        let rows = self.rows() + below.rows();
        if self.cols != below.cols {
            return Err(MatrixError::Mismatch { left: self.shape(), right: below.shape() });
        }
        if rows > MAX_BITS {
            return Err(MatrixError::TooLarge {
                rows: rows as usize,
                cols: usize::from(self.cols),
            });
        }
        let mut stacked = *self;
        stacked.rows = rows as u8;
        for (column, low) in stacked.columns.iter_mut().zip(below.columns()) {
            // `below` has no row when `self` has 64.
            *column |= low.checked_shl(self.rows()).unwrap_or(0);
        }
        Ok(stacked)
    }

    /// Rows and columns exchanged.
    pub fn transpose(&self) -> Matrix {
        let mut transposed = Matrix { rows: self.cols, cols: self.rows, columns: [0; 64] };
        for (index, &column) in self.columns().iter().enumerate() {
            for row in ones(column) {
                transposed.columns[row as usize] |= 1 << index;
            }
        }
        transposed
    }

    /// The dimension of the image.
    pub fn rank(&self) -> u32 {
        Echelon::of(self.columns().iter().copied()).rank()
    }

    /// The pivot columns as a mask: those that are no combination of lower ones.
    pub fn pivots(&self) -> u64 {
        let mut echelon = Echelon::new();
        let grew = self.columns().iter().enumerate().filter(|&(_, &column)| echelon.grows(column));
        grew.fold(0, |mask, (index, _)| mask | 1 << index)
    }

    /// The space of all results.
    pub fn image(&self) -> Subspace {
        Subspace::from_vectors(self.columns())
    }

    /// The space of all inputs that go to zero.
    pub fn kernel(&self) -> Subspace {
        let mut echelon = Echelon::new();
        let columns = self.columns().iter().enumerate();
        let relations = columns.filter_map(|(index, &column)| echelon.insert(column, 1 << index));
        Subspace::from_vectors(&relations.collect::<Vec<_>>())
    }

    /// The inverse; fails when the matrix is not square or sends a non-zero input to zero.
    pub fn inverse(&self) -> Result<Matrix, Singular> {
        if self.rows != self.cols {
            return Err(Singular::NotSquare { rows: self.rows(), cols: self.cols() });
        }
        let mut identity = *self;
        for (index, slot) in identity.columns[..usize::from(self.cols)].iter_mut().enumerate() {
            *slot = 1 << index;
        }
        self.solve(&identity)
            .map_err(|_| Singular::Kernel { input: self.kernel().basis().next().unwrap_or(0) })
    }

    /// Some `X` with `self · X = target`.
    ///
    /// Free variables are zero and pivots are the lowest columns, so that `X` never uses a column
    /// that is a combination of lower ones.
    /// Fails with the first column of `target` that lies outside the image (or, with column 0 and
    /// residue 0, when the numbers of rows differ).
    pub fn solve(&self, target: &Matrix) -> Result<Matrix, NoSolution> {
        if self.rows != target.rows {
            return Err(NoSolution { column: 0, residue: 0 });
        }
        let mut echelon = Echelon::new();
        for (index, &column) in self.columns().iter().enumerate() {
            echelon.insert(column, 1 << index);
        }
        let mut solution = Matrix { rows: self.cols, cols: target.cols, columns: [0; 64] };
        for (index, &column) in target.columns().iter().enumerate() {
            let (residue, combination) = echelon.reduce(column, 0);
            if residue != 0 {
                return Err(NoSolution { column: index as u32, residue });
            }
            solution.columns[index] = combination;
        }
        Ok(solution)
    }

    /// Whether the matrix is square with ones on the diagonal only.
    pub fn is_identity(&self) -> bool {
        self.rows == self.cols
            && self.columns().iter().enumerate().all(|(index, &column)| column == 1 << index)
    }

    /// Whether every entry is zero.
    pub fn is_zero(&self) -> bool {
        self.columns().iter().all(|&column| column == 0)
    }

    fn shape(&self) -> (u32, u32) {
        (self.rows(), self.cols())
    }
}

/// `a * b` is the matrix product: first `b`, then `a`.
impl Mul for &Matrix {
    type Output = Result<Matrix, MatrixError>;

    fn mul(self, right: &Matrix) -> Result<Matrix, MatrixError> {
        right.compose(self)
    }
}

/// Rows of `0` and `1`, lowest row first, lowest column leftmost.
impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in 0..self.rows() {
            if row > 0 {
                writeln!(f)?;
            }
            for &column in self.columns() {
                write!(f, "{}", column >> row & 1)?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Matrix({}x{} {:x?})", self.rows, self.cols, self.columns())
    }
}

/// Why a matrix cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatrixError {
    /// A side is longer than [`MAX_BITS`].
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
        /// The column.
        value: u64,
        /// How many rows there are.
        rows: u32,
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
        /// Its rows.
        rows: u32,
        /// Its columns.
        cols: u32,
    },
    /// It sends this non-zero input to zero.
    Kernel {
        /// The input.
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
