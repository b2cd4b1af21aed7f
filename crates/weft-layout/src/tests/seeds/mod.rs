//! The worked examples of the sources, with their exact numbers.
//!
//! Each test is named after the number of what it shows in the book's list of items
//! (`docs/src/items.md`): `s0` is "Swizzle by Hand, Swizzle by Algebra", `s1` the paper, `s2` the
//! informal introduction, `s3` the notes on linear algebra over F₂, `s4` the reading for AMD.

mod families;
mod hand;
mod informal;
mod notes;
mod paper;
mod porting;

use crate::{
    Label, Layout, Machine,
    family::Blocked,
    interop::parse_layout,
    space::{BLOCK, LANE, REGISTER, WARP},
};

const I: Label = Label::dim(0);
const J: Label = Label::dim(1);

/// Layout A of figure 1a: 16 x 16 elements, 2 x 2 registers, 4 x 8 threads, 2 x 1 warps.
fn layout_a() -> Layout {
    let blocked = Blocked::new(&[2, 2], &[4, 8], &[2, 1], &[1, 0]).layout(&[16, 16]).unwrap();
    blocked.squeeze_in(BLOCK).unwrap()
}

/// Another layout of 16 x 16 elements with as many registers, threads and warps: four elements of a
/// row in each thread.
fn rows_of_four() -> Layout {
    let blocked = Blocked::new(&[1, 4], &[8, 4], &[2, 1], &[1, 0]).layout(&[16, 16]).unwrap();
    blocked.squeeze_in(BLOCK).unwrap()
}

/// The element (row, column) that a place of layout A holds.
fn element(layout: &Layout, register: u64, lane: u64, warp: u64) -> (u64, u64) {
    let image = layout.apply(&[(REGISTER, register), (LANE, lane), (WARP, warp)]).unwrap();
    let at = |label| image.iter().find(|axis| axis.0 == label).unwrap().1;
    (at(I), at(J))
}

fn text(layout: &str) -> Layout {
    parse_layout(layout).unwrap()
}

fn sm_90() -> &'static Machine {
    Machine::by_name("sm_90").unwrap()
}
