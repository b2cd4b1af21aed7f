//! Table 3: sums along an axis, of tensors in every kind of layout.
//!
//! The paper counts its cases and does not list them. Those here stand in a file, with what Triton
//! prints for each.

use super::texts;
use crate::answer::ReductionRow;
use crate::bases::LayoutSource;
use crate::budget;
use crate::error::{ApiError, TextError};
use crate::kernels::printed;
use crate::reading::read_linear;
use crate::request::{PaperRequest, machine};
use std::fmt::Write as _;
use weft::compile;
use weft::dtype::DType;
use weft::emit::{self, Language, Target};
use weft::lane::{Access, Builder, Param, Program, Space, Value};
use weft::memory::{Buffer, Memory};
use weft::movement::{self, Movement};
use weft::scalar::{self, Binary, Cast};
use weft::sim::{self, Launch};
use weft::tile::eval;
use weft::{simplify, ttir};
use weft_layout::machine::Machine;
use weft_layout::space::{LANE, REGISTER, WARP};
use weft_layout::step::Acting;
use weft_layout::{Layout, plan};

/// The cases with Triton's counts, as `docs/measurements/reductions_triton.py` wrote them.
const CASES: &str = include_str!("reductions.json");

#[derive(serde::Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    family: String,
    layout: String,
    shape: [u64; 2],
    axis: u32,
    element: String,
    warps: u32,
    triton_shared: Option<u32>,
}

/// Each case compiled, simulated and counted.
pub(super) fn rows(request: &PaperRequest) -> Result<Vec<ReductionRow>, ApiError> {
    let Cases { cases } = serde_json::from_str(CASES).map_err(|error| ApiError::Json {
        message: error.to_string(),
        path: None,
        line: error.line(),
        column: error.column(),
    })?;
    let machine = machine(&request.target)?;
    let target = printed(&machine)?;
    cases.into_iter().map(|case| row(case, &machine, target)).collect()
}

fn row(case: Case, machine: &Machine, target: Target) -> Result<ReductionRow, ApiError> {
    budget::begin("while a reduction of the table was run")?;
    let Case { family, layout, shape, axis, element, warps, triton_shared } = case;
    let source = LayoutSource::from(layout.as_str());
    let linear = read_linear("layout", &source, &shape)?;
    let dtype = DType::by_name(&element).unwrap_or(DType::F32);
    let program = kernel(&linear, axis as usize, dtype, machine)?;
    let mut memory = Memory::default();
    let [x, y] = buffers(shape, axis, dtype).map(|buffer| memory.push(buffer));
    let expected = evaluated(shape, axis, dtype, [x, y], &memory)?;
    let launch = Launch {
        program: &program,
        grid: [1, 1, 1],
        args: &[x, y],
        machine: &compile::simulated(machine, 1),
        options: sim::Options::default(),
    };
    let report = sim::run(&launch, &mut memory)?;
    let language = match target {
        Target::Nvidia(_) => Language::Ptx,
        Target::Amd(_) => Language::Hip,
    };
    let text = emit::print(&program, language, target)
        .map_err(|error| ApiError::Emit { error, place: None })?;
    let shared = ["ld.shared", "st.shared", "ldmatrix", "stmatrix"];
    let is_shared = |word: &str| shared.iter().any(|start| word.starts_with(start));
    Ok(ReductionRow {
        family,
        layout,
        shape,
        axis,
        element,
        warps,
        equal: report.is_clean() && memory == expected,
        shared: text.split_whitespace().filter(|word| is_shared(word)).count() as u32,
        triton_shared,
    })
}

/// Small integers, whose sums no type rounds, and a place for the sums.
fn buffers(shape: [u64; 2], axis: u32, dtype: DType) -> [Buffer; 2] {
    let [rows, columns] = shape;
    let bytes = dtype.bytes() as usize;
    let element = |index: u64| {
        let value = (index * 7919 % 9) as f64 - 4.0;
        scalar::from_f64(dtype, value).to_le_bytes()[..bytes].to_vec()
    };
    let sums = if axis == 0 { columns } else { rows };
    let buffer =
        |name: &str, bytes, initialised| Buffer { name: name.into(), bytes, dtype, initialised };
    [
        buffer("x", (0..rows * columns).flat_map(element).collect(), true),
        buffer("y", vec![0; sums as usize * bytes], false),
    ]
}

/// What the evaluator says of the sums.
fn evaluated(
    shape: [u64; 2],
    axis: u32,
    dtype: DType,
    args: [u64; 2],
    memory: &Memory,
) -> Result<Memory, ApiError> {
    let sums = if axis == 0 { shape[1] } else { shape[0] };
    let whole = texts::tile(shape, dtype.name());
    let add = if dtype.is_float() { "arith.addf" } else { "arith.addi" };
    let at = format!("tensor<{sums}x!tt.ptr<{dtype}>>");
    let mut body = texts::load("x", shape, dtype);
    for line in [
        format!("%sums = \"tt.reduce\"(%x_tile) <{{axis = {axis} : i32}}> ({{"),
        format!("^bb0(%p: {dtype}, %q: {dtype}):"),
        format!("%s = {add} %p, %q : {dtype}"),
        format!("tt.reduce.return %s : {dtype}"),
        format!("}}) : ({whole}) -> tensor<{sums}x{dtype}>"),
        format!("%r = tt.make_range {{start = 0 : i32, end = {sums} : i32}} : tensor<{sums}xi32>"),
        format!("%b = tt.splat %y : !tt.ptr<{dtype}> -> {at}"),
        format!("%at = tt.addptr %b, %r : {at}, tensor<{sums}xi32>"),
        format!("tt.store %at, %sums : {at}"),
    ] {
        let _ = writeln!(body, "  {line}");
    }
    let text = texts::function(&[("x", dtype), ("y", dtype)], &body);
    let module = ttir::parse(&text)
        .map_err(|diagnostics| ApiError::Text(TextError::new(diagnostics, &text)))?;
    let mut memory = memory.clone();
    for kernel in &module.kernels {
        eval::run(kernel, [1, 1, 1], &args, &mut memory, eval::Options::default())?;
    }
    Ok(memory)
}

/// A kernel that loads a tensor in a layout, adds along an axis by a plan, and stores the sums in the
/// layout that the plan leaves them in.
fn kernel(
    layout: &Layout,
    axis: usize,
    dtype: DType,
    machine: &Machine,
) -> Result<Program, ApiError> {
    let reduction = plan::reduce(layout, axis, &[dtype.bits()], machine)?;
    let warps = 1 << layout.in_bits(WARP);
    let mut build = Builder::new("reduction", warps, machine.lanes_log2);
    let mut pointer = |name: &str| {
        let name = name.into();
        build.param(Param { name, dtype: DType::I64, pointee: Some(dtype), divisibility: 16 })
    };
    let (x, y) = (pointer("x"), pointer("y"));
    let load = |address, build: &mut Builder| {
        build.load(Space::Global, Access::default(), dtype, 1, address, None)
    };
    let addresses = addresses(&mut build, layout, x, dtype);
    let loaded = addresses.into_iter().flat_map(|address| load(address, &mut build)).collect();
    let plan = &reduction.plan;
    let movement = Movement { plan, inputs: vec![loaded], places: &[] };
    let mut add = |build: &mut Builder, left: &[Value], right: &[Value]| {
        let pairs = left.iter().zip(right);
        pairs.map(|(&left, &right)| build.binary(Binary::Add, left, right)).collect()
    };
    let outputs = movement::write_together(&mut build, vec![movement], &mut add)?;
    let sums = outputs.into_iter().flatten().flatten();
    let result = &reduction.result;
    let acting = Acting { idle_lanes: result.free_mask(LANE), idle_warps: result.free_mask(WARP) };
    let first = movement::takes_part(&mut build, acting);
    let addresses = self::addresses(&mut build, result, y, dtype);
    let copies = result.free_mask(REGISTER);
    for (register, (sum, address)) in sums.zip(addresses).enumerate() {
        if register as u64 & copies == 0 {
            build.store(Space::Global, Access::default(), address, first, &[sum]);
        }
    }
    let program = build.finish();
    Ok(simplify::run(program))
}

/// The address of each register's element in a row-major array.
fn addresses(build: &mut Builder, layout: &Layout, base: Value, dtype: DType) -> Vec<Value> {
    let thread = movement::thread_map(build, layout.columns(LANE), layout.columns(WARP));
    let bytes = build.i32(dtype.bytes() as i32);
    let registers = 0..1_u64 << layout.in_bits(REGISTER);
    let address = |register| {
        let part = build.i32(layout.apply_flat(register) as i32);
        let index = build.binary(Binary::Xor, thread, part);
        let offset = build.binary(Binary::Mul, index, bytes);
        let offset = build.cast(Cast::ExtU, offset, DType::I64);
        build.binary(Binary::Add, base, offset)
    };
    registers.map(address).collect()
}
