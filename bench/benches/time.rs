//! Nanoseconds of each operator.
#![allow(missing_docs, reason = "the macros make the functions")]

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, criterion_group, criterion_main};
use weft_bench::{Operands, ROWS, SHAPE};
use weft_layout::interop::parse_attribute;

fn operators(criterion: &mut Criterion) {
    let operands = Operands::new().unwrap_or_else(|error| panic!("{error}"));
    let operands = &operands;
    let mut group = criterion.benchmark_group("operators");
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    group.bench_function("apply", |b| {
        let mut place = 0;
        b.iter(|| {
            place = (place + 1) & 0x3fff;
            black_box(operands).apply(black_box(place))
        });
    });
    group.bench_function("compose", |b| b.iter(|| black_box(operands).compose()));
    group.bench_function("product", |b| b.iter(|| black_box(operands).product()));
    group.bench_function("divide", |b| b.iter(|| black_box(operands).divide()));
    group.bench_function("invert", |b| b.iter(|| black_box(operands).invert()));
    group.bench_function("solve", |b| b.iter(|| black_box(operands).solve()));
    group.bench_function("convert", |b| b.iter(|| black_box(operands).convert()));
    group.bench_function("family", |b| b.iter(|| black_box(operands).family.layout(&SHAPE)));
    group.bench_function("parse", |b| b.iter(|| parse_attribute(black_box(ROWS))));
    group.finish();
}

criterion_group!(benches, operators);
criterion_main!(benches);
