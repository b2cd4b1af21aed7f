//! Matrices of every shape.

use std::{string::ToString, vec::Vec};

use crate::{
    f2::{Matrix, MatrixError},
    testing::{holds, invertible, matrix},
};

fn small(bits: u32, code: u64) -> Matrix {
    let columns: Vec<u64> =
        (0..bits).map(|column| code >> (column * bits) & ((1 << bits) - 1)).collect();
    Matrix::new(bits, &columns).unwrap()
}

#[test]
fn all_pairs_of_3x3_matrices_compose_and_solve() {
    let all: Vec<Matrix> = (0..512).map(|code| small(3, code)).collect();
    for a in &all {
        for b in &all {
            let product = (a * b).unwrap();
            assert!((0..8).all(|x| product.apply(x) == a.apply(b.apply(x))));
            match a.solve(b) {
                Ok(x) => assert_eq!((a * &x).unwrap(), *b),
                Err(error) => assert!(!a.image().contains(b.column(error.column))),
            }
        }
    }
}

#[test]
fn all_4x4_matrices_invert_or_show_a_kernel() {
    let mut inverted = 0;
    for code in 0..65_536 {
        let a = small(4, code);
        assert_eq!(a.rank(), a.transpose().rank());
        assert_eq!(a.rank() + a.kernel().dim(), 4);
        assert!(a.kernel().basis().all(|x| a.apply(x) == 0));
        if let Ok(inverse) = a.inverse() {
            assert!((&a * &inverse).unwrap().is_identity());
            inverted += 1;
        } else {
            assert_ne!(a.kernel().dim(), 0);
        }
    }
    assert_eq!(inverted, 20_160);
}

#[test]
fn large_matrices_invert() {
    holds(300, |u| {
        let bits = u.int_in_range(0..=64)?;
        let a = invertible(u, bits)?;
        let inverse = a.inverse().unwrap();
        assert!((&inverse * &a).unwrap().is_identity());
        Ok(())
    });
}

#[test]
fn extreme_matrices_are_refused_or_work() {
    assert!(Matrix::zero(65, 0).is_err());
    assert!(Matrix::new(1, &[2]).is_err());
    assert!(Matrix::identity(64).unwrap().is_identity());
    let empty = Matrix::identity(0).unwrap();
    let full = Matrix::identity(64).unwrap();
    assert_eq!(full.vcat(&Matrix::zero(0, 64).unwrap()), Ok(full));
    assert_eq!(empty.inverse(), Ok(empty));
    assert!(full.vcat(&full).is_err() && full.hcat(&full).is_err());
    assert!(full.solve(&empty).is_err());
}

#[test]
fn rows_and_columns_are_two_views() {
    holds(200, |u| {
        let (rows, cols) = (u.int_in_range(0..=64)?, u.int_in_range(0..=64)?);
        let a = matrix(u, rows, cols)?;
        let masks: Vec<u64> = (0..rows).map(|row| a.row(row)).collect();
        assert_eq!(Matrix::from_rows(cols, &masks), Ok(a));
        let input: u64 = u.arbitrary()?;
        let parities = masks
            .iter()
            .enumerate()
            .fold(0, |sum, (row, mask)| sum | u64::from((mask & input).count_ones() & 1) << row);
        assert_eq!(a.apply(input), parities);
        assert_eq!(a.transpose().columns(), masks);
        Ok(())
    });
    assert_eq!(
        Matrix::from_rows(1, &[0, 2]),
        Err(MatrixError::MaskOutOfRange { row: 1, value: 2, cols: 1 })
    );
    assert_eq!(Matrix::from_rows(0, &[0; 65]), Err(MatrixError::TooLarge { rows: 65, cols: 0 }));
    assert_eq!(
        Matrix::from_columns(0, std::iter::repeat(0)).unwrap_err().to_string(),
        "a matrix of 0 rows and 65 columns exceeds 64 x 64"
    );
}

#[test]
fn composition_of_matrices_is_associative() {
    holds(200, |u| {
        let mut sizes = [0_u32; 4];
        for size in &mut sizes {
            *size = u.int_in_range(0..=64)?;
        }
        let a = matrix(u, sizes[1], sizes[0])?;
        let b = matrix(u, sizes[2], sizes[1])?;
        let c = matrix(u, sizes[3], sizes[2])?;
        let left = a.compose(&b).unwrap().compose(&c).unwrap();
        assert_eq!(left, a.compose(&b.compose(&c).unwrap()).unwrap());
        let (first, last) =
            (Matrix::identity(sizes[0]).unwrap(), Matrix::identity(sizes[1]).unwrap());
        assert_eq!((first.compose(&a), a.compose(&last)), (Ok(a), Ok(a)));
        Ok(())
    });
}
