//! `examples/mxfp4_preshuffle.py`: activations put in another order by one kernel, and multiplied in it
//! by another, against sums taken here in the order of the arrays.

use crate::corpus::text;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::memory::{Buffer, Memory};
use weft::scalar;
use weft::sim::{self, Launch};
use weft::ttir;
use weft_layout::machine::Machine;

/// Rows of codes, rows of activations, and what is summed.
const M: usize = 70;
const N: usize = 48;
const K: usize = 256;
/// Exponents lie this far apart: more than a row has.
const EXPONENTS: usize = 16;

/// The numbers of four bits without their sign.
const E2M1: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

fn launch(file: &str, machine: &Machine, grid: [u32; 3], args: &[u64], memory: &mut Memory) {
    let module = ttir::parse(&text(file)).unwrap();
    let options = Options::for_machine(machine);
    let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
    let launch = Launch {
        program: &compiled.program,
        grid,
        args,
        machine: &compile::simulated(machine, 8),
        options: sim::Options::default(),
    };
    let report = sim::run(&launch, memory).unwrap();
    let messages: Vec<_> = report.findings.iter().map(|finding| &finding.message).collect();
    assert!(messages.is_empty(), "{file}: {messages:?}");
}

#[test]
fn s1_17_a_product_of_pre_shuffled_activations_is_exact() {
    let number = |index: usize, seed: usize, span: usize| (index * 37 + seed * 101) % span;
    let codes: Vec<u8> = (0..M * K / 2).map(|index| number(index, 1, 256) as u8).collect();
    let exponents: Vec<u8> =
        (0..M * EXPONENTS).map(|index| 124 + number(index, 2, 7) as u8).collect();
    // Whole numbers, so that no sum is rounded in any order.
    let x: Vec<f64> = (0..N * K).map(|index| number(index, 3, 17) as f64 - 8.0).collect();
    let halves = x.iter().flat_map(|&x| {
        let [low, high, ..] = scalar::from_f64(DType::BF16, x).to_le_bytes();
        [low, high]
    });
    let halves: Vec<u8> = halves.collect();
    for target in ["sm_80", "sm_90", "gfx942"] {
        let machine = Machine::by_name(target).unwrap();
        let mut memory = Memory::default();
        let mut push = |name: &str, dtype, bytes: &[u8], initialised| {
            memory.push(Buffer { name: name.into(), bytes: bytes.to_vec(), dtype, initialised })
        };
        let codes_at = push("codes", DType::I8, &codes, true);
        let exponents_at = push("exponents", DType::I8, &exponents, true);
        let x_at = push("x", DType::BF16, &halves, true);
        let shuffled = push("shuffled", DType::BF16, &vec![0; halves.len()], true);
        let out = push("out", DType::F32, &[0; 4 * M * N], false);
        let (m, n, k) = (M as u64, N as u64, K as u64);
        let args = [x_at, shuffled, k];
        let grid = [(N / 16) as u32, (K / 128) as u32, 1];
        launch("examples/preshuffle", machine, grid, &args, &mut memory);
        let args = [codes_at, exponents_at, shuffled, out, m, n, k, k / 2, EXPONENTS as u64];
        launch("examples/mxfp4_product", machine, [2, 2, 1], &args, &mut memory);
        let found = memory.buffers()[4].bytes.chunks_exact(4);
        let found: Vec<f64> =
            found.map(|word| f32::from_le_bytes(word.try_into().unwrap()).into()).collect();
        for row in 0..M {
            for column in 0..N {
                let product = |at: usize| {
                    // The first of two numbers lies in the lower half.
                    let code = codes[row * (K / 2) + at / 2] >> (4 * (at % 2)) & 15;
                    let sign = if code < 8 { 1.0 } else { -1.0 };
                    let exponent = i32::from(exponents[row * EXPONENTS + at / 32]) - 127;
                    sign * E2M1[usize::from(code & 7)] * 2f64.powi(exponent) * x[column * K + at]
                };
                let sum: f64 = (0..K).map(product).sum();
                assert_eq!(found[row * N + column], sum, "{target}: row {row}, column {column}");
            }
        }
    }
}
