use core::{
    fmt,
    hash::{Hash, Hasher},
    ops::Mul,
};

use super::{Echelon, MAX_BITS, MatrixError, NoSolution, Singular, Subspace, low_mask, ones};

/// A matrix over F₂ with at most 64 rows and 64 columns, stored inline as columns.
///
/// Equality and hash see the shape and the entries.
#[derive(Clone, Copy)]
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
    #[inline]
    pub fn new(rows: u32, columns: &[u64]) -> Result<Matrix, MatrixError> {
        Matrix::from_columns(rows, columns.iter().copied())
    }

    /// The matrix of `cols` columns that are known to fit `rows` rows; `None` when there are more
    /// than 64 of either.
    pub(crate) fn from_array(rows: u32, cols: u32, columns: &[u64; 64]) -> Option<Matrix> {
        debug_assert!(columns.iter().all(|column| column & !low_mask(rows) == 0));
        debug_assert!(columns.iter().skip(cols as usize).all(|&column| column == 0));
        let fits = rows <= MAX_BITS && cols <= MAX_BITS;
        fits.then_some(Matrix { rows: rows as u8, cols: cols as u8, columns: *columns })
    }

    /// As [`new`](Matrix::new), from an iterator.
    #[inline]
    pub fn from_columns(
        rows: u32,
        columns: impl IntoIterator<Item = u64>,
    ) -> Result<Matrix, MatrixError> {
        let mut matrix = Matrix::zero(rows, 0)?;
        for (index, column) in columns.into_iter().enumerate() {
            let Some(slot) = matrix.columns.get_mut(index) else {
                return Err(MatrixError::TooLarge { rows: rows as usize, cols: index + 1 });
            };
            if column & !low_mask(rows) != 0 {
                return Err(MatrixError::BitOutOfRange { column: index, value: column, rows });
            }
            *slot = column;
            matrix.cols += 1;
        }
        Ok(matrix)
    }

    /// The matrix with these rows, as masks: bit `c` of a row is its entry in column `c`, so that
    /// result bit `r` is the parity of the input bits under mask `r`.
    ///
    /// Fails when there are more than 64 rows or columns, or a mask has a bit at or above `cols`.
    ///
    /// ```
    /// use weft_layout::f2::Matrix;
    ///
    /// let from_masks = Matrix::from_rows(3, &[0b101, 0b011])?;
    /// assert_eq!(from_masks, Matrix::new(2, &[0b11, 0b10, 0b01])?);
    /// assert_eq!(from_masks.row(0), 0b101);
    /// assert_eq!(from_masks.to_string(), "101\n110");
    /// # Ok::<(), weft_layout::f2::MatrixError>(())
    /// ```
    pub fn from_rows(cols: u32, rows: &[u64]) -> Result<Matrix, MatrixError> {
        let transposed = Matrix::new(cols, rows).map_err(|error| match error {
            MatrixError::TooLarge { rows, cols } => {
                MatrixError::TooLarge { rows: cols, cols: rows }
            }
            MatrixError::BitOutOfRange { column, value, .. } => {
                MatrixError::MaskOutOfRange { row: column, value, cols }
            }
            other => other,
        })?;
        Ok(transposed.transpose())
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
    #[inline]
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

    /// Row `index` as a mask over the input bits, or zero when there is no such row.
    pub fn row(&self, index: u32) -> u64 {
        let entry = |column: u64| column.checked_shr(index).unwrap_or(0) & 1;
        (self.columns().iter().enumerate())
            .fold(0, |mask, (bit, &column)| mask | entry(column) << bit)
    }

    /// All columns, lowest input bit first.
    pub fn columns(&self) -> &[u64] {
        &self.columns[..usize::from(self.cols)]
    }

    /// The matrix times a vector; bits of `input` at or above [`cols`](Matrix::cols) are ignored.
    #[inline]
    pub fn apply(&self, input: u64) -> u64 {
        ones(input & low_mask(self.cols())).fold(0, |sum, bit| sum ^ self.columns[bit as usize])
    }

    /// First `self`, then `outer`: the matrix `outer · self`.
    #[inline]
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
        Matrix::from_columns(self.rows(), self.columns().iter().chain(right.columns()).copied())
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
        Subspace::spanned_by(relations)
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

// Entries beyond the shape are zero, so that looking at the columns in use suffices.
impl PartialEq for Matrix {
    fn eq(&self, other: &Matrix) -> bool {
        self.rows == other.rows && self.columns() == other.columns()
    }
}

impl Eq for Matrix {}

impl Hash for Matrix {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rows.hash(state);
        self.columns().hash(state);
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
