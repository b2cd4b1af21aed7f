//! Products that are fused with sums: which ones, and what that changes.

use crate::corpus::{cases, text};
use crate::inputs::make;
use expect_test::expect;
use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::fuse;
use weft::scalar::{self, Binary};
use weft::tile::{self, Kernel, OpKind, eval};
use weft::ttir;
use weft_layout::machine::Machine;

/// The body of a kernel of eight floats `%x`, `%y` and `%z`, and what is stored of it.
fn kernel(body: &str, stored: &str) -> Kernel {
    let load = |name: &str| {
        format!(
            "%s{name} = tt.splat %p{name} : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
             %a{name} = tt.addptr %s{name}, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
             %{name} = tt.load %a{name} : tensor<8x!tt.ptr<f32>>\n"
        )
    };
    let text = format!(
        "module {{
           tt.func public @sums(%px: !tt.ptr<f32>, %py: !tt.ptr<f32>, %pz: !tt.ptr<f32>) {{
             %range = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
             {}{}{}{body}
             tt.store %ax, {stored} : tensor<8x!tt.ptr<f32>>
             tt.return
           }}
         }}",
        load("x"),
        load("y"),
        load("z")
    );
    ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors}")).kernels.remove(0)
}

const T: &str = "tensor<8xf32>";

/// Whether the reduction of `%p` by an operation takes it unrounded.
fn contracts(body: &str, combine: &str) -> bool {
    let reduce = format!(
        "{body}
         %s = \"tt.reduce\"(%p) <{{axis = 0 : i32}}> ({{
         ^bb0(%a: f32, %b: f32):
           %c = {combine} : f32
           tt.reduce.return %c : f32
         }}) : ({T}) -> f32
         %w = tt.splat %s : f32 -> {T}"
    );
    let kernel = kernel(&reduce, "%w");
    let Some(fused) = fuse::run(&kernel, &[]) else { return false };
    tile::verify(&fused).unwrap();
    assert!(fuse::run(&fused, &[]).is_none());
    // It is printed and read.
    let again = ttir::parse(&fused.to_string()).unwrap_or_else(|errors| panic!("{errors}"));
    let contracts = |kernel: &Kernel| {
        let mut all = Vec::new();
        kernel.walk(&kernel.body, &mut |_, op| {
            if let OpKind::Reduce { contract, .. } = op.kind {
                all.push(contract);
            }
        });
        all
    };
    assert_eq!(contracts(&again.kernels[0]), contracts(&fused));
    contracts(&fused) == [true]
}

#[test]
fn a_reduction_takes_a_product_that_nothing_else_uses() {
    let product = format!("%p = arith.mulf %x, %y : {T}");
    assert!(contracts(&product, "arith.addf %a, %b"));
    assert!(contracts(&product, "arith.addf %b, %a"));
    // No sum, no sum of both, a product that is stored as well, and none at all.
    assert!(!contracts(&product, "arith.maxnumf %a, %b"));
    assert!(!contracts(&product, "arith.addf %a, %a"));
    let stored = format!("{product}\ntt.store %az, %p : tensor<8x!tt.ptr<f32>>");
    assert!(!contracts(&stored, "arith.addf %a, %b"));
    assert!(!contracts(&format!("%p = arith.addf %x, %y : {T}"), "arith.addf %a, %b"));
}

/// A thread that has 32 elements adds up eight products a chain: three quarters of the multiplications are
/// gone, and all additions but those of the chains' sums.
#[test]
fn sums_of_products_are_multiply_adds() {
    let module = |elements: u32| {
        let tensor = |element: &str| format!("tensor<{elements}x{element}>");
        let (floats, pointers) = (tensor("f32"), tensor("!tt.ptr<f32>"));
        let text = format!(
            "module {{
               tt.func public @squares(%px: !tt.ptr<f32>, %out: !tt.ptr<f32>) {{
                 %range = tt.make_range {{end = {elements} : i32, start = 0 : i32}} : {}
                 %sx = tt.splat %px : !tt.ptr<f32> -> {pointers}
                 %ax = tt.addptr %sx, %range : {pointers}, {}
                 %x = tt.load %ax : {pointers}
                 %p = arith.mulf %x, %x : {floats}
                 %s = \"tt.reduce\"(%p) <{{axis = 0 : i32}}> ({{
                 ^bb0(%a: f32, %b: f32):
                   %c = arith.addf %a, %b : f32
                   tt.reduce.return %c : f32
                 }}) : ({floats}) -> f32
                 tt.store %out, %s : !tt.ptr<f32>
                 tt.return
               }}
             }}",
            tensor("i32"),
            tensor("i32")
        );
        ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors}"))
    };
    let count = |elements: u32, fp_fusion: bool| {
        let (module, machine) = (module(elements), Machine::by_name("sm_90").unwrap());
        let options = Options { warps: 1, fp_fusion, ..Options::for_machine(machine) };
        let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
        let (mut products, mut sums, mut both) = (0, 0, 0);
        let program = &compiled.program;
        program.walk(&program.body, &mut |_, inst| match inst.op {
            weft::lane::Op::Binary(Binary::Mul) => products += 1,
            weft::lane::Op::Binary(Binary::Add) if program.dtype(inst.results[0]) == DType::F32 => {
                sums += 1;
            }
            weft::lane::Op::Fma => both += 1,
            _ => {}
        });
        (products, sums, both)
    };
    // Five additions across lanes.
    assert_eq!(count(1024, true), (4, 3 + 5, 28));
    assert_eq!(count(1024, false), (32, 31 + 5, 0));
    // Four of each lane, of sixteen lanes.
    assert_eq!(count(64, true), (1, 4, 3));
}

#[test]
fn what_is_kept_or_refused_is_not_fused() {
    let body = format!("%p = arith.mulf %x, %y : {T}\n%s = arith.addf %z, %p : {T}");
    let kernel = kernel(&body, "%s");
    let product = kernel.values.keys().find(|&value| kernel.value_name(value) == "%p").unwrap();
    assert!(fuse::run(&kernel, &[product]).is_none());
    let options = Options::for_machine(Machine::by_name("sm_90").unwrap());
    let module = tile::Module { kernels: vec![kernel.clone()], ..tile::Module::default() };
    let fused = compile::compile(&module, &kernel, &options).unwrap();
    assert!(fused.program.to_string().contains("fma"));
    let options = Options { fp_fusion: false, ..options };
    let plain = compile::compile(&module, &kernel, &options).unwrap();
    assert_eq!(plain.meaning, kernel);
    assert!(!plain.program.to_string().contains("fma"));
}

/// Half of the distance between a float and the next one away from zero: what rounding to it may
/// have changed.
fn half_a_unit(dtype: DType, bits: u64) -> f64 {
    let magnitude = bits & (dtype.mask() >> 1);
    let [here, next] = [magnitude, magnitude + 1].map(|bits| scalar::to_f64(dtype, bits));
    (next - here) / 2.0
}

#[test]
fn fusing_changes_a_sum_by_the_rounding_of_one_product() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let [mul, add] = [Binary::Mul, Binary::Add].map(|op| scalar::binary(op, dtype).unwrap());
        let fma = scalar::fma(dtype);
        let mut bits = 1_u64;
        let mut number = || {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            scalar::from_f64(dtype, ((bits >> 20) as f64 / (1_u64 << 43) as f64 - 1.0) * 4.0)
        };
        let mut differ = 0;
        for _ in 0..2000 {
            let (x, y, z) = (number(), number(), number());
            let product = mul(x, y);
            let (fused, plain) = (fma(x, y, z), add(product, z));
            let [exact, rounded] = [fused, plain].map(|bits| scalar::to_f64(dtype, bits));
            // Rounding is monotone: beyond the product's half unit each sum is rounded to its own.
            let allowed =
                half_a_unit(dtype, product) + half_a_unit(dtype, fused) + half_a_unit(dtype, plain);
            assert!((exact - rounded).abs() <= allowed, "{dtype}: {x:#x} {y:#x} {z:#x}");
            differ += usize::from(fused != plain);
        }
        assert!(differ > 0, "{dtype}: rounding once is never seen");
    }
}

#[test]
fn recorded_kernels_mean_the_same_but_for_rounding() {
    let mut changed = String::new();
    for case in cases() {
        let module = ttir::parse(&text(case.file)).unwrap();
        let kernel = &module.kernels[0];
        let Some(fused) = fuse::run(kernel, &[]) else { continue };
        tile::verify(&fused).unwrap();
        let evaluated = |kernel: &Kernel| {
            let (args, mut memory) = make(&case.arguments);
            let options = eval::Options { contraction: true, ..eval::Options::default() };
            let report = eval::run(kernel, case.grid, &args, &mut memory, options).unwrap();
            (memory, report)
        };
        let ((found, _), (wanted, report)) = (evaluated(&fused), evaluated(kernel));
        let pairs = wanted.buffers().iter().zip(found.buffers());
        for (index, (wanted, found)) in pairs.enumerate() {
            eval::compare(wanted, found, report.bounds.of_buffer(index))
                .unwrap_or_else(|mismatch| panic!("{}: {mismatch}", case.file));
        }
        let mut count = 0;
        fused.walk(&fused.body, &mut |_, op| count += usize::from(op.kind == OpKind::Fma));
        changed += &format!("{} {count}\n", case.file);
    }
    expect![[r#"
        crates/weft/tests/kernels/layer_norm 2
    "#]]
    .assert_eq(&changed);
}
