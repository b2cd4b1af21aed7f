//! Laws of matrices, subspaces, spaces and layouts.

use arbtest::arbtest;
use std::vec::Vec;

use crate::{
    Label, Layout, Space,
    f2::{Matrix, Subspace},
    space::{LANE, OFFSET, REGISTER, WARP},
    testing::{Kind, distributed, invertible, matrix, shape},
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
fn subspaces_obey_their_laws() {
    arbtest(|u| {
        let bits = u.int_in_range(0..=10)?;
        let (rank_a, rank_b) = (u.int_in_range(0..=bits)?, u.int_in_range(0..=bits)?);
        let a = matrix(u, bits, rank_a)?.image();
        let b = matrix(u, bits, rank_b)?.image();
        let (sum, both) = (a.sum(&b), a.intersection(&b));
        assert_eq!(sum.dim() + both.dim(), a.dim() + b.dim());
        assert!(both.elements().unwrap().all(|v| a.contains(v) && b.contains(v)));
        let rest = a.complement(bits);
        assert_eq!((a.sum(&rest).dim(), a.intersection(&rest)), (bits, Subspace::ZERO));
        let elements: Vec<u64> = a.elements().unwrap().collect();
        assert_eq!(elements.len(), 1 << a.dim());
        assert!(elements.is_sorted() && elements.iter().all(|&v| a.contains(v)));
        Ok(())
    });
}

#[test]
fn large_matrices_invert() {
    arbtest(|u| {
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
fn solutions_solve_and_stay_where_they_can() {
    arbtest(|u| {
        let kind = Kind::any(u)?;
        let bits = u.int_in_range(0..=9)?;
        let shape = shape(u, bits)?;
        let from = distributed(u, &shape, 1, kind)?;
        let to = distributed(u, &shape, 1, kind)?;
        let x = from.solve(&to).unwrap();
        assert_eq!(x.compose(&to).unwrap(), from);
        assert!(from.solve(&from).unwrap().matrix().is_identity());
        let inverse = from.right_inverse().unwrap();
        assert!(inverse.compose(&from).unwrap().matrix().is_identity());
        Ok(())
    });
}

#[test]
fn copies_are_used_to_stay_in_the_lane() {
    let space = |registers| Space::hardware(registers, 1, 0, 0).unwrap();
    let row = Space::tensor(&[2]).unwrap();
    // Both registers and the lane hold element 1; the lane's copy is nearer than the lane of it.
    let source = Layout::new(space(1), row.clone(), &[1, 0]).unwrap();
    let target = Layout::new(space(0), row, &[1]).unwrap();
    let x = target.solve(&source).unwrap();
    assert_eq!(x.outs().unpack(x.basis(LANE, 0))[..2], [(REGISTER, 1), (LANE, 1)]);
}

#[test]
fn products_divide() {
    arbtest(|u| {
        let any = |u: &mut arbitrary::Unstructured<'_>| -> arbitrary::Result<Layout> {
            let rows = [u.int_in_range(0..=3)?, u.int_in_range(0..=3)?];
            let cols = [u.int_in_range(0..=3)?, u.int_in_range(0..=3)?];
            let outs = Space::new(&[(Label::dim(1), rows[1]), (Label::dim(0), rows[0])]).unwrap();
            let ins = Space::new(&[(REGISTER, cols[0]), (LANE, cols[1])]).unwrap();
            let matrix = matrix(u, rows[0] + rows[1], cols[0] + cols[1])?;
            Ok(Layout::from_matrix(ins, outs, matrix).unwrap())
        };
        let (a, b, c) = (any(u)?, any(u)?, any(u)?);
        let product = a.product(&b).unwrap();
        assert_eq!(product.divide_left(&a), Ok(b.clone()));
        assert_eq!(product.divide_right(&b), Ok(a.clone()));
        assert_eq!(product.rank(), a.rank() + b.rank());
        let left = product.product(&c).unwrap();
        assert_eq!(left, a.product(&b.product(&c).unwrap()).unwrap());
        assert_eq!(a.product(&Layout::empty()).unwrap(), a);
        Ok(())
    });
}

#[test]
fn shape_operations_undo_each_other() {
    arbtest(|u| {
        let bits = u.int_in_range(0..=8)?;
        let shape = shape(u, bits)?;
        let layout = distributed(u, &shape, 1, Kind::General)?;
        let mut order: Vec<usize> = (0..shape.len()).collect();
        order.rotate_left(u.choose_index(shape.len())?);
        let moved = layout.transpose(&order).unwrap();
        assert_eq!(moved.transpose_back(&order).unwrap(), layout);
        // Element (i, j, k) of the result is element with those coordinates moved back.
        for place in 0..1 << layout.ins().total_bits().min(6) {
            let (before, after) = (layout.apply_flat(place), moved.apply_flat(place));
            for (new, &old) in order.iter().enumerate() {
                let (new, old) = (Label::dim(new as u32), Label::dim(old as u32));
                assert_eq!(
                    moved.outs().coordinate(new, after),
                    layout.outs().coordinate(old, before)
                );
            }
        }
        assert_eq!(layout.reshape(&[1 << bits]).unwrap().reshape(&shape).unwrap(), layout);
        let (half, bit) = layout.join().unwrap().split().unwrap();
        assert_eq!((half, bit), (layout.clone(), 0));
        let dim = u.int_in_range(0..=shape.len())?;
        let expanded = layout.expand_dims(dim).unwrap();
        assert_eq!(expanded.slice(dim).unwrap(), layout);
        let mut wide = expanded.shape();
        wide[dim] = 4;
        let broadcast = expanded.broadcast(&wide).unwrap();
        assert!(broadcast.is_surjective());
        let back = broadcast.broadcast_back(&expanded.shape()).unwrap();
        assert_eq!(
            back.remove_zero_columns(REGISTER).unwrap().0,
            expanded.remove_zero_columns(REGISTER).unwrap().0
        );
        Ok(())
    });
}

#[test]
fn copies_are_found() {
    let ins = Space::hardware(2, 2, 0, 0).unwrap();
    let layout = Layout::new(ins, Space::tensor(&[4]).unwrap(), &[1, 0, 1, 2]).unwrap();
    assert_eq!((layout.free_mask(REGISTER), layout.free_mask(LANE)), (0b10, 0b01));
    assert_eq!(layout.free_mask(WARP), 0);
    let (narrow, removed) = layout.remove_zero_columns(REGISTER).unwrap();
    assert_eq!((narrow.in_bits(REGISTER), removed), (1, std::vec![1]));
}

#[test]
fn labels_and_spaces_refuse_what_they_cannot_hold() {
    assert!(Label::new("").is_err() && Label::new("a b").is_err());
    assert!(Label::new("sixteen_letters_").is_err());
    for index in [0, 9, 10, 99, 100, u32::MAX] {
        assert_eq!(Label::dim(index).as_str(), std::format!("dim{index}"));
        assert_eq!(Label::dim(index).dim_index(), Some(index));
    }
    assert_eq!(Label::new("dim007").unwrap().dim_index(), None);
    assert!(Space::new(&[(LANE, 5), (LANE, 5)]).is_err());
    assert!(Space::new(&[(LANE, 60), (WARP, 5)]).is_err());
    assert!(Space::tensor(&[3]).is_err() && Space::tensor(&[0]).is_err());
    let space = Space::tensor(&[2, 4]).unwrap();
    assert_eq!(space.pack(&[(Label::dim(0), 1), (Label::dim(1), 3)]), Ok(7));
    assert!(space.pack(&[(Label::dim(1), 4)]).is_err() && space.pack(&[(OFFSET, 0)]).is_err());
    assert_eq!(space.shape(), [2, 4]);
    let wide = Layout::identity(64, OFFSET, OFFSET).unwrap();
    assert_eq!(wide.invert().unwrap(), wide);
    assert!(Layout::identity(65, OFFSET, OFFSET).is_err());
}
