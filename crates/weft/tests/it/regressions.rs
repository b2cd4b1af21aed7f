//! Bugs that others had and that layouts as matrices are to make impossible: the kernels stay right
//! for any number of warps, on machines of 32 and of 64 lanes, and against loops written here.

use crate::corpus::{Case, check, text};
use crate::inputs::Argument::{Empty, I32, Integers, Random};
use crate::inputs::make;
use weft::dtype::DType;
use weft::memory::Memory;
use weft::tile::eval;
use weft::ttir;
use weft_layout::machine::Machine;

const F: DType = DType::F32;
const I: DType = DType::I32;

fn cases() -> Vec<Case> {
    vec![
        Case {
            file: "kernels/sums_of_running_sums",
            grid: [1, 1, 1],
            arguments: vec![("k", Random(F, 256)), ("v", Random(F, 256)), ("out", Empty(F, 256))],
        },
        Case {
            file: "kernels/attention",
            grid: [2, 1, 1],
            arguments: vec![
                ("q", Random(DType::F16, 32 * 32)),
                ("k", Random(DType::F16, 64 * 32)),
                ("v", Random(DType::F16, 64 * 32)),
                ("out", Empty(DType::F16, 32 * 32)),
                ("n", I32(64)),
            ],
        },
        Case {
            file: "kernels/recurrence_back",
            grid: [1, 1, 1],
            arguments: vec![
                ("a", Integers(256, -9, 10)),
                ("b", Integers(256, -99, 100)),
                ("factors", Empty(I, 256)),
                ("sums", Empty(I, 256)),
            ],
        },
    ]
}

#[test]
fn s1_35_the_bugs_that_layouts_fixed_stay_fixed() {
    let mut failures = Vec::new();
    for case in cases() {
        for warps in [1, 2, 4, 8] {
            for name in ["sm_80", "sm_90", "gfx942"] {
                let machine = Machine::by_name(name).unwrap();
                if let Err(error) = check(&case, machine, warps) {
                    failures.push(format!("{} on {name} with {warps} warps: {error}", case.file));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The buffers of a case before and after the evaluator has run it.
fn evaluated(case: &Case) -> (Memory, Memory) {
    let module = ttir::parse(&text(case.file)).unwrap();
    let (args, before) = make(&case.arguments);
    let mut after = before.clone();
    let options = eval::Options::default();
    eval::run(&module.kernels[0], case.grid, &args, &mut after, options).unwrap();
    (before, after)
}

fn words(memory: &Memory, buffer: usize) -> Vec<u32> {
    let bytes = memory.buffers()[buffer].bytes.chunks_exact(4);
    bytes.map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn floats(memory: &Memory, buffer: usize) -> Vec<f64> {
    words(memory, buffer).into_iter().map(|bits| f64::from(f32::from_bits(bits))).collect()
}

#[test]
fn s1_35_the_evaluator_means_what_loops_compute() {
    let [sums, _, recurrence] = &cases()[..] else { panic!("three cases") };
    let (before, after) = evaluated(sums);
    let (k, v, out) = (floats(&before, 0), floats(&before, 1), floats(&after, 2));
    for row in 0..16 {
        for column in 0..16 {
            let products = (0..=row).flat_map(|i| (0..16).map(move |j| (i, j)));
            let products = products.map(|(i, j)| k[16 * i + j] * v[16 * i + column]);
            let (sum, size) = products.fold((0.0, 0.0), |(s, a), p: f64| (s + p, a + p.abs()));
            let found = out[16 * row + column];
            assert!((found - sum).abs() <= 1e-5 * size, "{row} {column}: {found}, not {sum}");
        }
    }
    let (before, after) = evaluated(recurrence);
    let (a, b) = (words(&before, 0), words(&before, 1));
    let (factors, values) = (words(&after, 2), words(&after, 3));
    let (mut factor, mut value) = (1_u32, 0_u32);
    for i in (0..256).rev() {
        factor = factor.wrapping_mul(a[i]);
        value = value.wrapping_mul(a[i]).wrapping_add(b[i]);
        assert_eq!((factors[i], values[i]), (factor, value), "{i}");
    }
}
