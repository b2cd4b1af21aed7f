//! Instructions of each operator, counted by callgrind.
#![allow(
    missing_docs,
    unused_qualifications,
    clippy::exit,
    reason = "the macros make the functions"
)]

use std::hint::black_box;

use gungraun::{library_benchmark, library_benchmark_group, main};
use weft_bench::{Operands, ROWS, SHAPE};
use weft_layout::{
    Layout, LayoutError,
    family::{Family, FamilyError},
    interop::{ParseError, parse_attribute},
};

fn operands() -> Box<Operands> {
    Box::new(Operands::new().unwrap_or_else(|error| panic!("{error}")))
}

#[library_benchmark(setup = operands)]
fn apply(operands: Box<Operands>) -> (u64, Box<Operands>) {
    (black_box(&operands).apply(black_box(0x2ad5)), operands)
}

type Operated = (Result<Layout, LayoutError>, Box<Operands>);

// The operands are returned, so that dropping them is not counted.
#[library_benchmark(setup = operands)]
fn compose(operands: Box<Operands>) -> Operated {
    (black_box(&operands).compose(), operands)
}

#[library_benchmark(setup = operands)]
fn product(operands: Box<Operands>) -> Operated {
    (black_box(&operands).product(), operands)
}

#[library_benchmark(setup = operands)]
fn divide(operands: Box<Operands>) -> Operated {
    (black_box(&operands).divide(), operands)
}

#[library_benchmark(setup = operands)]
fn invert(operands: Box<Operands>) -> Operated {
    (black_box(&operands).invert(), operands)
}

#[library_benchmark(setup = operands)]
fn solve(operands: Box<Operands>) -> Operated {
    (black_box(&operands).solve(), operands)
}

#[library_benchmark(setup = operands)]
fn family(operands: Box<Operands>) -> (Result<Layout, FamilyError>, Box<Operands>) {
    (black_box(&operands).family.layout(&SHAPE), operands)
}

#[library_benchmark]
fn parse() -> Result<Family, ParseError> {
    parse_attribute(black_box(ROWS))
}

library_benchmark_group!(
    name = operators;
    benchmarks = apply, compose, product, divide, invert, solve, family, parse
);

main!(library_benchmark_groups = operators);
