//! Table 4: products of an integer matrix with a float matrix.
//!
//! The paper counts 784 cases and does not list them. Here each pair of classes has as many as there:
//! every float type of the class with the first so many of the shapes, sides and numbers of warps below.

use super::texts::{function, load, store, tile};
use crate::answer::ProductRow;
use crate::budget;
use crate::error::ApiError;
use crate::request::{Arguments, EqualStores, Grid, PaperRequest, RunRequest};
use crate::run;
use weft::dtype::DType;

/// What the paper calls f8, f16, f32 and f64.
const CLASSES: [(&str, &[DType]); 4] = [
    ("f8", &[DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ]),
    ("f16", &[DType::F16, DType::BF16]),
    ("f32", &[DType::F32]),
    ("f64", &[DType::F64]),
];

/// A pair of the paper: the integer, the class, how many cases were right before linear layouts, and
/// how many there are.
const PAIRS: [(DType, &str, u32, u32); 14] = [
    (DType::I16, "f16", 32, 64),
    (DType::I16, "f32", 32, 32),
    (DType::I16, "f64", 32, 32),
    (DType::I16, "f8", 36, 96),
    (DType::I32, "f16", 32, 32),
    (DType::I32, "f64", 16, 32),
    (DType::I32, "f8", 18, 48),
    (DType::I64, "f16", 32, 32),
    (DType::I64, "f32", 16, 32),
    (DType::I64, "f8", 18, 48),
    (DType::I8, "f16", 36, 96),
    (DType::I8, "f32", 18, 48),
    (DType::I8, "f64", 18, 48),
    (DType::I8, "f8", 30, 144),
];

/// Rows, columns and summed extent.
const SHAPES: [[u64; 3]; 8] = [
    [16, 16, 16],
    [32, 16, 16],
    [16, 32, 16],
    [16, 16, 32],
    [32, 32, 16],
    [32, 16, 32],
    [16, 32, 32],
    [32, 32, 32],
];

/// The warps of a block; the first is Triton's default.
const WARPS: [u32; 3] = [4, 1, 2];

/// One product of the table.
#[derive(Clone, Copy, Debug)]
struct Case {
    integer: DType,
    float: DType,
    shape: [u64; 3],
    warps: u32,
    integer_left: bool,
}

/// The cases of a pair of the paper, the shapes fastest.
fn cases(integer: DType, class: &str, count: u32) -> Vec<Case> {
    let floats = CLASSES.iter().find(|(name, _)| *name == class).map_or(&[][..], |(_, all)| all);
    let each = count as usize / floats.len().max(1);
    let mut cases = Vec::new();
    for &float in floats {
        let all = WARPS.into_iter().flat_map(move |warps| {
            [true, false].into_iter().flat_map(move |integer_left| {
                let case = move |shape| Case { integer, float, shape, warps, integer_left };
                SHAPES.into_iter().map(case)
            })
        });
        cases.extend(all.take(each));
    }
    cases
}

/// Every product, or every `step`-th.
pub(super) fn rows(request: &PaperRequest) -> Result<Vec<ProductRow>, ApiError> {
    let step = request.every.max(1) as usize;
    let mut rows = Vec::new();
    for (integer, class, base, count) in PAIRS {
        for case in cases(integer, class, count) {
            rows.push((case, class, base, count));
        }
    }
    let chosen = rows.into_iter().step_by(step);
    chosen.map(|(case, class, base, count)| row(request, case, class, (base, count))).collect()
}

fn row(
    request: &PaperRequest,
    case: Case,
    class: &str,
    (base, count): (u32, u32),
) -> Result<ProductRow, ApiError> {
    budget::check()?;
    let Case { integer, float, shape: [m, n, k], warps, integer_left } = case;
    let [a, b] = if integer_left { [integer, float] } else { [float, integer] };
    let c = if float == DType::F64 { DType::F64 } else { DType::F32 };
    let buffer = |fill: &str, dtype: DType, [rows, columns]: [u64; 2]| {
        format!("{fill}:{dtype}[{rows}x{columns}]")
    };
    let answer = run::run(&RunRequest {
        ttir: text(case, [a, b, c]),
        kernel: None,
        grid: Grid([1, 1, 1]),
        args: Arguments(vec![
            ("a".into(), buffer("random", a, [m, k])),
            ("b".into(), buffer("random", b, [k, n])),
            ("c".into(), buffer("empty", c, [m, n])),
        ]),
        target: request.target.clone(),
        stages: None,
        fp_fusion: None,
        warps: Some(warps),
        pins: Vec::new(),
        seed: 0,
        verify: false,
        equal_stores: EqualStores::Note,
        text_places: false,
    })?;
    Ok(ProductRow {
        integer: integer.name().into(),
        class: class.into(),
        float: float.name().into(),
        shape: [m, n, k],
        warps,
        integer_left,
        base_right: base,
        paper_cases: count,
        equal: answer.passed,
        exact: answer.passed && answer.buffers.iter().all(|buffer| buffer.exact),
    })
}

/// The kernel: the integer becomes a float of the other's type, of f16 where that has eight bits.
fn text(case: Case, [a, b, c]: [DType; 3]) -> String {
    let Case { float, shape: [m, n, k], .. } = case;
    let product = if float.is_f8() { DType::F16 } else { float };
    let cast = |name: &str, shape, dtype: DType| {
        let (from, to) = (tile(shape, dtype.name()), tile(shape, product.name()));
        let converted = if dtype.is_int() {
            format!("arith.sitofp %{name}_tile : {from} to {to}")
        } else if dtype == product {
            return (String::new(), format!("%{name}_tile"));
        } else {
            format!("tt.fp_to_fp %{name}_tile : {from} -> {to}")
        };
        (format!("  %{name}_float = {converted}\n"), format!("%{name}_float"))
    };
    let ((cast_a, a_float), (cast_b, b_float)) = (cast("a", [m, k], a), cast("b", [k, n], b));
    let sum = tile([m, n], c.name());
    let types = [tile([m, k], product.name()), tile([k, n], product.name())].join(" * ");
    let body = [
        load("a", [m, k], a),
        load("b", [k, n], b),
        cast_a,
        cast_b,
        format!("  %zero = arith.constant dense<0.0> : {sum}\n"),
        format!("  %product = tt.dot {a_float}, {b_float}, %zero : {types} -> {sum}\n"),
        store("c", "product", [m, n], c),
    ]
    .concat();
    function(&[("a", a), ("b", b), ("c", c)], &body)
}
