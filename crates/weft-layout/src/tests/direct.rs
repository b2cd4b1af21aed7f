//! Copies straight into shared memory, against all bytes that they move.

use std::{collections::BTreeSet, vec::Vec};

use arbitrary::{Result, Unstructured};

use crate::{
    Label, Layout, Machine, Space,
    access::Kind,
    f2::Subspace,
    plan::{
        Cut, DirectCopy, NoDirectCopy, direct_copies, direct_swizzle,
        swizzle::{Access, Meter, Problem, check, solve},
    },
    space::OFFSET,
    testing::{Kind as Shape, distributed_over, holds, invertible, shuffled},
};

/// The byte of global memory at which an element of a matrix begins, its rows far apart.
fn global(outs: &Space, element: u64, bytes: u64, sector: u64) -> u64 {
    let at = |dim| outs.coordinate(Label::dim(dim), element);
    let row = 1_u64 << outs.bits(Label::dim(1));
    at(0) * (row * bytes).max(sector) + at(1) * bytes
}

/// What copies of so many bytes a lane do to a memory, byte for byte: where a lane's bytes come from
/// elsewhere, else the sectors of each instruction.
fn by_bytes(
    machine: &Machine,
    memory: &Layout,
    bytes: u64,
    width: u64,
) -> core::result::Result<Vec<usize>, u64> {
    let sector = u64::from(machine.sector_bytes);
    let (all, own) = (1 << memory.in_bits(OFFSET), width / bytes);
    let place = |offset: u64| global(memory.outs(), memory.apply_flat(offset), bytes, sector);
    for first in (0..all).step_by(own as usize) {
        for next in 1..own {
            let is_there = first + next < all;
            if !is_there || place(first + next) != place(first) + next * bytes {
                return Err(next);
            }
        }
    }
    let run = own * u64::from(machine.lanes());
    let sectors = |start: u64| {
        let touched = (start..all.min(start + run)).map(|offset| place(offset) / sector);
        touched.collect::<BTreeSet<_>>().len()
    };
    Ok((0..all).step_by(run as usize).map(sectors).collect())
}

fn machines() -> [&'static Machine; 2] {
    ["gfx942", "gfx950"].map(|name| Machine::by_name(name).unwrap())
}

/// A memory that keeps some neighbours together, or none.
fn memory(u: &mut Unstructured<'_>, outs: &Space) -> Result<Layout> {
    let bits = outs.total_bits();
    let kept = u.int_in_range(0..=outs.bits(Label::dim(1)).min(4))?;
    let start = outs.offset_of(Label::dim(1)).unwrap();
    let mut columns: Vec<u64> = (0..kept).map(|bit| 1 << (start + bit)).collect();
    let any =
        if u.arbitrary()? { invertible(u, bits)?.columns().to_vec() } else { shuffled(u, bits)? };
    for column in any {
        if !Subspace::from_vectors(&columns).contains(column) {
            columns.push(column);
        }
    }
    Ok(Layout::new(Space::new(&[(OFFSET, bits)]).unwrap(), outs.clone(), &columns).unwrap())
}

#[test]
fn copies_are_what_every_byte_says() {
    let (mut written, mut cut) = (0, 0);
    holds(1500, |u| {
        let machine = *u.choose(&machines())?;
        let shape = [1_u64 << u.int_in_range(0..=6)?, 1 << u.int_in_range(0..=6)?];
        let outs = Space::tensor(&shape).unwrap();
        let bits = *u.choose(&[8_u32, 16, 32, 64])?;
        let memory = memory(u, &outs)?;
        let found = direct_copies(machine, &memory, bits, Label::dim(1)).unwrap();
        let widths: Vec<u32> =
            machine.direct_copies.iter().copied().filter(|&bytes| bytes >= bits / 8).collect();
        assert_eq!(found.len(), widths.len());
        for (found, width) in found.into_iter().zip(widths) {
            let counted = by_bytes(machine, &memory, u64::from(bits / 8), width.into());
            match (found, counted) {
                (Ok(copy), Ok(sectors)) => {
                    written += 1;
                    assert_eq!((copy.bytes, copy.instructions), (width, sectors.len() as u64));
                    assert!(sectors.iter().all(|&each| each as u64 == copy.sectors), "{copy:?}");
                    assert_eq!(copy.apart.is_none(), copy.sectors == copy.run_sectors(&outs, bits));
                }
                (Err(Cut { bit, found, wanted, .. }), Err(next)) => {
                    cut += 1;
                    // Within the first vector it is the first element that comes from elsewhere.
                    let own = u64::from(width / (bits / 8));
                    assert!(next == 1 << bit || 1_u64 << bit >= own, "{memory}");
                    assert!(found != wanted || wanted.is_none());
                }
                (found, counted) => panic!("{memory}: {found:?}, counted {counted:?}"),
            }
        }
        Ok(())
    });
    assert!(written > 100 && cut > 100, "{written} {cut}");
}

impl DirectCopy {
    /// The sectors that an instruction touches where it copies each whole.
    fn run_sectors(&self, outs: &Space, bits: u32) -> u64 {
        let elements = 1_u64 << self.run.ins().total_bits();
        let sector = u64::from(64 * 8 / bits).max(1).min(1 << outs.bits(Label::dim(1)));
        elements / sector
    }
}

#[test]
fn the_layout_that_is_found_costs_no_conflict_more_and_no_other_fewer_sectors() {
    let (mut whole, mut as_few, mut all) = (0, 0, 0);
    holds(3000, |u| {
        let machine = *u.choose(&machines())?;
        let shape = [1_u64 << u.int_in_range(3..=6)?, 1 << u.int_in_range(4..=6)?];
        let bits = *u.choose(&[16_u32, 32])?;
        let outs = Space::tensor(&shape).unwrap();
        let load = distributed_over(u, &shape, 6, 0, Shape::Permutation)?;
        let problem = Problem::new(machine, bits, [Access::new(Kind::Load, load)].into());
        let width = *u.choose(&machine.direct_copies)?;
        let (solved, copy) = match direct_swizzle(&problem, Label::dim(1), width) {
            Err(NoDirectCopy::Swizzle(_)) => return Ok(()),
            found => found.unwrap(),
        };
        let mut fixed = problem.clone();
        let start = outs.offset_of(Label::dim(1)).unwrap();
        let vector = (width / (bits / 8)).ilog2();
        fixed.fixed.vector = (0..vector).map(|bit| 1 << (start + bit)).collect();
        let free = solve(&fixed).unwrap();
        assert!(solved.total >= free.total && solved.bound == free.bound);
        as_few += u32::from(solved.total == free.total);
        check(&fixed, &solved).unwrap();
        let counted = by_bytes(machine, &solved.memory, u64::from(bits / 8), width.into());
        assert!(counted.unwrap().iter().all(|&each| each as u64 == copy.sectors));
        whole += u32::from(copy.apart.is_none());
        all += 1;
        // Other columns below and within the same segments: as many conflicts, never fewer sectors.
        let meter = Meter::new(&problem).unwrap();
        let columns = solved.memory.columns(OFFSET);
        let row =
            (machine.row_bytes_log2() - (bits / 8).ilog2()).min(columns.len() as u32) as usize;
        let kept = vector.max((solved.uses[0].bytes / (bits / 8)).ilog2()) as usize;
        for _ in 0..8 {
            let mut other = columns.to_vec();
            for (at, sum) in other.iter_mut().enumerate().skip(kept) {
                let from = if at < row { kept } else { row };
                for (step, &column) in columns.iter().enumerate().skip(from) {
                    if step != at && u.ratio(1, 3)? {
                        *sum ^= column;
                    }
                }
            }
            let ins = solved.memory.ins().clone();
            let Ok(other) = Layout::new(ins, outs.clone(), &other) else { continue };
            if !other.is_invertible() || meter.measure(&other).unwrap().0 != solved.total {
                continue;
            }
            let found = direct_copies(machine, &other, bits, Label::dim(1)).unwrap();
            let found = found.into_iter().flatten().find(|found| found.bytes == width);
            assert!(found.is_none_or(|found| found.sectors >= copy.sectors), "{other}\n{copy:?}");
        }
        Ok(())
    });
    assert!(whole > 10 && as_few * 10 > all * 9, "{whole} {as_few} of {all}");
}

#[test]
fn machines_without_copies_say_so() {
    let memory = Layout::identity(6, OFFSET, Label::dim(0)).unwrap();
    for name in ["sm_90", "gfx1100", "gfx1200"] {
        let machine = Machine::by_name(name).unwrap();
        let found = direct_copies(machine, &memory, 32, Label::dim(0));
        assert_eq!(found, Err(NoDirectCopy::Machine));
    }
    let machine = machines()[0];
    assert_eq!(
        direct_copies(machine, &memory, 4, Label::dim(0)),
        Err(NoDirectCopy::ElementBits(4))
    );
    let axis = Label::dim(1);
    assert_eq!(direct_copies(machine, &memory, 32, axis), Err(NoDirectCopy::Axis(axis)));
}
