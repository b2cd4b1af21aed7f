//! How long one plan takes, witness included: `cargo run --release --example planning_speed`.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::{error::Error, hint::black_box, time::Instant};

use weft_layout::{Machine, family::Blocked, plan, witness};

fn main() -> Result<(), Box<dyn Error>> {
    let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
    for (shape, warps) in [([64, 64], 4), ([128, 128], 4), ([128, 128], 8)] {
        let rows = Blocked::for_memory(&shape, &[1, 4], &[1, 0], 32, warps)?.layout(&shape)?;
        let columns = Blocked::for_memory(&shape, &[4, 1], &[0, 1], 32, warps)?.layout(&shape)?;
        let time = |what: &str, run: &dyn Fn() -> bool| {
            let best = (0..200).filter_map(|_| {
                let start = Instant::now();
                black_box(run()).then(|| start.elapsed())
            });
            println!("{shape:?} {warps} warps: {what} {:?}", best.min().unwrap_or_default());
        };
        let plan = plan::convert(&rows, &columns, 32, machine)?;
        time("convert", &|| plan::convert(black_box(&rows), &columns, 32, machine).is_ok());
        time("witness", &|| witness::conversion(black_box(&plan), &rows, &columns).is_ok());
        time("reduce", &|| plan::reduce(black_box(&rows), 1, &[32], machine).is_ok());
        println!("{}", plan.to_string().lines().last().unwrap_or_default());
    }
    Ok(())
}
