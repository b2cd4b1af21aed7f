//! The families of matrix instructions against the tables of their vendors' manuals.

mod amd;
mod intel;
mod nvidia;
mod product;
mod refused;

use std::{
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    interop::parse_attribute,
    layout::Layout,
    space::{BLOCK, LANE, REGISTER, WARP},
};

/// The layout of an attribute, which survives its text.
fn layout(attribute: &str, shape: &[u64]) -> Layout {
    let family = parse_attribute(attribute).unwrap_or_else(|error| panic!("{error}: {attribute}"));
    assert_eq!(family.to_string(), attribute);
    family.layout(shape).unwrap_or_else(|error| panic!("{error}: {attribute} {shape:?}"))
}

/// The bases of a row of a table: `k4` adds 4 to coordinate k, `.` adds nothing.
fn row(list: &str, axes: &str) -> Vec<Vec<u64>> {
    let basis = |token: &str| -> Vec<u64> {
        let axis = token.chars().next().and_then(|letter| axes.find(letter));
        let step = |dim| if axis == Some(dim) { token[1..].parse().unwrap() } else { 0 };
        (0..axes.len()).map(step).collect()
    };
    list.split_whitespace().map(basis).collect()
}

/// Checks the bases of an attribute, `axes` naming those of the tensor.
fn check(attribute: &str, shape: &[u64], axes: &str, [register, lane, warp]: [&str; 3]) {
    let expected = [
        (REGISTER, row(register, axes)),
        (LANE, row(lane, axes)),
        (WARP, row(warp, axes)),
        (BLOCK, Vec::new()),
    ];
    assert_eq!(layout(attribute, shape).bases(), expected, "{attribute} {shape:?}");
}

/// An operand of a result.
fn operand(index: u32, parent: &str, k_width: u32) -> String {
    std::format!("#ttg.dot_op<{{opIdx = {index}, parent = {parent}, kWidth = {k_width}}}>")
}

/// Tests named after the rows of tables: a name, the attribute, the shape of the tensor, the names
/// of its axes, and the rows for registers, lanes and warps.
macro_rules! rows {
    ($($name:ident: $attribute:expr, $shape:expr, $axes:literal,
       $register:literal, $lane:literal, $warp:literal;)*) => {
        $(#[test]
        fn $name() {
            super::check(&$attribute, &$shape, $axes, [$register, $lane, $warp]);
        })*
    };
}
use rows;
