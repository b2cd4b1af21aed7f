//! Vectors are as wide as a search by hand finds, and move each element once.

use std::{collections::BTreeSet, vec::Vec};

use crate::{
    Label, Layout,
    family::Blocked,
    interop::parse_layout,
    plan::vectorize,
    space::{LANE, OFFSET, REGISTER, WARP},
    testing::{Kind, distributed, invertible, repeat, shape},
};

/// Row-major memory of a tensor.
fn row_major(shape: &[u64]) -> Layout {
    let bits = shape.iter().map(|size| size.trailing_zeros()).sum();
    let memory = Layout::identity(bits, OFFSET, Label::dim(0)).unwrap();
    memory.reshape(shape).unwrap()
}

/// Table 2 of the paper, at four warps: the bits of an access of `[512, n]`.
#[test]
fn s1_25_vectors_run_over_both_axes() {
    for (element_bits, columns, bits) in [
        (8, 1, 32),
        (8, 2, 64),
        (8, 4, 128),
        (8, 8, 128),
        (8, 16, 128),
        (16, 1, 64),
        (16, 2, 128),
        (16, 4, 128),
        (16, 8, 128),
        (16, 16, 128),
    ] {
        let shape = [512, columns];
        // Consecutive threads hold consecutive pieces, as long as the tensor lets them be.
        let most = 128 / element_bits;
        let each = (512 * columns / 128).min(most);
        let width = columns.min(each);
        let lanes = [32 / (columns / width), columns / width];
        let layout = Blocked::new(&[each / width, width], &lanes, &[4, 1], &[1, 0]);
        let layout = layout.layout(&shape).unwrap();
        let memory = row_major(&shape);
        let vectors = vectorize(&layout, &memory, most.ilog2()).unwrap();
        assert_eq!(element_bits << vectors.vector_log2, bits, "[512, {columns}] x {element_bits}");
    }
}

#[test]
fn random_vectors_are_as_wide_as_can_be_and_move_each_element_once() {
    let mut widths = BTreeSet::new();
    repeat(2000, |u| {
        let kind = Kind::any(u)?;
        let bits = u.int_in_range(0..=10)?;
        let warps = u.int_in_range(0..=2)?;
        let shape = shape(u, bits)?;
        let layout = distributed(u, &shape, warps, kind)?;
        let mut memory = row_major(&shape);
        if u.ratio(1, 3)? {
            let mixed = invertible(u, bits)?;
            memory =
                Layout::from_matrix(memory.ins().clone(), memory.outs().clone(), mixed).unwrap();
        }
        let most = u.int_in_range(0..=4)?;
        let vectors = vectorize(&layout, &memory, most).unwrap();
        let inverse = memory.invert().unwrap();
        let registers = 1_u64 << layout.in_bits(REGISTER);
        let threads = 1_u64 << (layout.in_bits(LANE) + layout.in_bits(WARP));
        let place = |register: u64, thread: u64| register + thread * registers;
        let offset = |place: u64| inverse.apply_flat(layout.apply_flat(place));
        let width = 1_u64 << vectors.vector_log2;
        widths.insert(width);
        // Each instruction moves neighbours of an aligned piece, in every thread.
        let mut moved = BTreeSet::new();
        for group in &vectors.groups {
            assert_eq!(group.len() as u64, width);
            for thread in 0..threads {
                let start = offset(place(group[0].into(), thread));
                assert_eq!(start % width, 0, "{layout}");
                for (index, &register) in (0..).zip(group) {
                    assert_eq!(offset(place(register.into(), thread)), start + index, "{layout}");
                }
            }
            moved.extend(group.iter().map(|&register| layout.apply_flat(register.into())));
        }
        // Each element of a thread once, and a register for each.
        let own: BTreeSet<u64> = (0..registers).map(|r| layout.apply_flat(r)).collect();
        assert_eq!(moved, own);
        assert_eq!(vectors.groups.len() as u64 * width, own.len() as u64);
        for (register, &holder) in (0..registers).zip(&vectors.holders) {
            assert_eq!(layout.apply_flat(register), layout.apply_flat(holder.into()));
            assert!(vectors.groups.iter().any(|group| group.contains(&holder)));
        }
        // Each element of the tensor has one thread that stores it.
        let lane_bits = layout.in_bits(LANE);
        let stored = (0..threads).filter(|thread| {
            vectors.acting.takes_part(thread & ((1 << lane_bits) - 1), thread >> lane_bits)
        });
        let mut all: Vec<u64> = stored
            .flat_map(|thread| {
                let own = vectors.groups.iter().flatten();
                own.map(move |&register| place(register.into(), thread))
            })
            .map(|place| layout.apply_flat(place))
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len() as u64, 1 << bits);
        assert_eq!(count, all.len(), "{layout}");
        // One more bit would leave some thread's registers.
        if vectors.vector_log2 < most && 2 * width <= 1 << bits {
            let wider = (0..threads).all(|thread| {
                let own: BTreeSet<u64> =
                    (0..registers).map(|register| offset(place(register, thread))).collect();
                own.iter().all(|offset| own.contains(&(offset ^ width)))
                    && own.iter().all(|&offset| {
                        let start = offset / (2 * width);
                        (0..2 * width).all(|inside| own.contains(&(start * 2 * width + inside)))
                    })
            });
            let still = (1..threads).all(|thread| {
                (offset(place(0, thread)) ^ offset(place(0, 0))) & (2 * width - 1) == 0
            });
            assert!(!(wider && still), "{layout}");
        }
        Ok(())
    });
    assert!(widths.len() >= 4, "{widths:?}");
}

#[test]
fn what_memory_lacks_is_told() {
    let layout = parse_layout("[register: 1, lane: 2 4] -> [dim0: 8]").unwrap();
    let memory = parse_layout("[offset: 1 2] -> [dim0: 8]").unwrap();
    assert!(vectorize(&layout, &memory, 2).is_err());
}
