//! `tt.dot_scaled` against sums of decoded and scaled numbers, and by the instructions of gfx950.

use crate::checked::check;
use crate::inputs::Argument::{Empty, Random};
use core::ops::Range;
use weft::compile::{self, Compiled, MoreWarps, Options};
use weft::dtype::DType;
use weft::lane::{Op, Program};
use weft::memory::{Buffer, Memory};
use weft::scalar;
use weft::scaled;
use weft::sim::{self, Launch};
use weft::tile::{self, Kernel, Module, eval};
use weft::ttir;
use weft_layout::machine::Machine;

/// 16 x 64 numbers of four bits times 64 x 16 of eight, 32 along the summed axis sharing a scale.
const TEXT: &str = "
tt.func public @scaled(%a: !tt.ptr<i8>, %s: !tt.ptr<i8>, %b: !tt.ptr<f8E5M2>, %t: !tt.ptr<i8>, %c: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r512 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r1024 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %r256 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %a0 = tt.splat %a : !tt.ptr<i8> -> tensor<512x!tt.ptr<i8>>
  %a1 = tt.addptr %a0, %r512 : tensor<512x!tt.ptr<i8>>, tensor<512xi32>
  %a2 = tt.load %a1 : tensor<512x!tt.ptr<i8>>
  %a3 = tt.reshape %a2 : tensor<512xi8> -> tensor<16x32xi8>
  %s0 = tt.splat %s : !tt.ptr<i8> -> tensor<32x!tt.ptr<i8>>
  %s1 = tt.addptr %s0, %r32 : tensor<32x!tt.ptr<i8>>, tensor<32xi32>
  %s2 = tt.load %s1 : tensor<32x!tt.ptr<i8>>
  %s3 = tt.reshape %s2 : tensor<32xi8> -> tensor<16x2xi8>
  %b0 = tt.splat %b : !tt.ptr<f8E5M2> -> tensor<1024x!tt.ptr<f8E5M2>>
  %b1 = tt.addptr %b0, %r1024 : tensor<1024x!tt.ptr<f8E5M2>>, tensor<1024xi32>
  %b2 = tt.load %b1 : tensor<1024x!tt.ptr<f8E5M2>>
  %b3 = tt.reshape %b2 : tensor<1024xf8E5M2> -> tensor<64x16xf8E5M2>
  %t0 = tt.splat %t : !tt.ptr<i8> -> tensor<32x!tt.ptr<i8>>
  %t1 = tt.addptr %t0, %r32 : tensor<32x!tt.ptr<i8>>, tensor<32xi32>
  %t2 = tt.load %t1 : tensor<32x!tt.ptr<i8>>
  %t3 = tt.reshape %t2 : tensor<32xi8> -> tensor<16x2xi8>
  %d = tt.dot_scaled %a3 scale %s3, %b3 scale %t3, %zero lhs = e2m1 rhs = e5m2 {fastMath = false} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x16xf8E5M2>, tensor<16x2xi8> -> tensor<16x16xf32>
  %flat = tt.reshape %d : tensor<16x16xf32> -> tensor<256xf32>
  %c0 = tt.splat %c : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %c1 = tt.addptr %c0, %r256 : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %c1, %flat : tensor<256x!tt.ptr<f32>>
  tt.return
}";

/// The numbers of four bits without their sign.
const E2M1: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

#[test]
fn scaled_products_are_sums_of_scaled_numbers() {
    let bytes = |count: usize, seed: usize, low: usize, span: usize| -> Vec<u8> {
        (0..count).map(|index| (low + (index * 37 + seed * 101) % span) as u8).collect()
    };
    let a = bytes(512, 1, 0, 256);
    // Without infinities and NaN, both signs.
    let signs = (0..1024u32).map(|index| u8::from(index % 3 == 2) << 7);
    let b: Vec<u8> =
        bytes(1024, 2, 0, 0x7c).into_iter().zip(signs).map(|(x, sign)| x | sign).collect();
    let (mut s, t) = (bytes(32, 3, 120, 14), bytes(32, 4, 120, 14));
    // One row's first scale is NaN.
    s[10] = 255;
    let mut memory = Memory::default();
    let mut args = Vec::new();
    for (dtype, data) in [(DType::I8, &a), (DType::I8, &s), (DType::F8E5M2, &b), (DType::I8, &t)] {
        let bytes = data.clone();
        args.push(memory.push(Buffer { name: "in".into(), bytes, dtype, initialised: true }));
    }
    let bytes = vec![0; 1024];
    let out =
        memory.push(Buffer { name: "c".into(), bytes, dtype: DType::F32, initialised: false });
    args.push(out);
    let module = ttir::parse(TEXT).unwrap();
    eval::run(&module.kernels[0], [1, 1, 1], &args, &mut memory, eval::Options::default()).unwrap();
    for row in 0..16 {
        for column in 0..16 {
            let (mut sum, mut size) = (0.0, 0.0);
            for k in 0..64 {
                // The first of two numbers lies in the lower half.
                let nibble = a[row * 32 + k / 2] >> (4 * (k % 2)) & 15;
                let sign = if nibble < 8 { 1.0 } else { -1.0 };
                let x = sign * E2M1[usize::from(nibble & 7)];
                let y = scalar::to_f64(DType::F8E5M2, b[k * 16 + column].into());
                let scale = |exponent: u8| match exponent {
                    255 => f64::NAN,
                    exponent => 2f64.powi(i32::from(exponent) - 127),
                };
                let term = x * scale(s[row * 2 + k / 32]) * y * scale(t[column * 2 + k / 32]);
                sum += term;
                size += term.abs();
            }
            let bits = memory.read(out + (row * 16 + column) as u64 * 4, 4).unwrap();
            let got = scalar::to_f64(DType::F32, bits);
            if row == 5 {
                assert!(got.is_nan() && sum.is_nan());
            } else {
                assert!((got - sum).abs() <= 1e-5 * size, "({row}, {column}): {got}, not {sum}");
            }
        }
    }
}

/// A product over some rounds of a loop, all of whose matrices lie in memory row by row.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// Rows, columns, and the products of one round.
    sizes: [usize; 3],
    rounds: usize,
    formats: [&'static str; 2],
    has_scale: [bool; 2],
    /// Whether the right factor lies in memory column by column.
    turned: bool,
    warps: u32,
}

impl Case {
    fn is_packed(&self, side: usize) -> bool {
        self.formats[side] == "e2m1"
    }

    /// Its element as MLIR calls it.
    fn element(&self, side: usize) -> &'static str {
        match self.formats[side] {
            "e4m3" => "f8E4M3FN",
            "e5m2" => "f8E5M2",
            "bf16" => "bf16",
            _ => "i8",
        }
    }

    fn text(&self) -> String {
        let [m, n, k] = self.sizes;
        let mut text = String::from(
            "tt.func public @product(%a: !tt.ptr<LEFT> {tt.divisibility = 16 : i32}, \
             %s: !tt.ptr<i8> {tt.divisibility = 16 : i32}, \
             %b: !tt.ptr<RIGHT> {tt.divisibility = 16 : i32}, \
             %t: !tt.ptr<i8> {tt.divisibility = 16 : i32}, \
             %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {\n",
        );
        text = text.replace("LEFT", self.element(0)).replace("RIGHT", self.element(1));
        let zero = format!("%zero = arith.constant dense<0.0> : tensor<{m}x{n}xf32>\n");
        text.push_str(&zero);
        for (name, value) in [("c0", 0), ("c1", 1), ("rounds", self.rounds)] {
            text.push_str(&format!("%{name} = arith.constant {value} : i32\n"));
        }
        text.push_str(
            "%sums = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (tensor<MxNxf32>) : i32 {\n",
        );
        let [left, right] = [0, 1].map(|side| if self.is_packed(side) { k / 2 } else { k });
        let all = |each: usize| each * self.rounds;
        // Along the summed axis a round goes on by its own numbers.
        text.push_str(&block("a", self.element(0), [m, left], all(left), left));
        if self.turned {
            text.push_str(&block("b", self.element(1), [n, right], all(right), right));
            text.push_str(&format!(
                "%bt = tt.trans %b_tile {{order = array<i32: 1, 0>}} : tensor<{n}x{right}xRIGHT> -> \
                 tensor<{right}x{n}xRIGHT>\n"
            ));
        } else {
            text.push_str(&block("b", self.element(1), [right, n], n, right * n));
        }
        for (name, rows) in [("s", m), ("t", n)] {
            text.push_str(&block(name, "i8", [rows, k / 32], all(k / 32), k / 32));
        }
        let b = if self.turned { "%bt" } else { "%b_tile" };
        let scale = |side: usize, name: &str, rows: usize| {
            let told = (format!(" scale %{name}_tile"), format!(", tensor<{rows}x{}xi8>", k / 32));
            if self.has_scale[side] { told } else { <_>::default() }
        };
        let ((s, s_type), (t, t_type)) = (scale(0, "s", m), scale(1, "t", n));
        let [x, y] = self.formats;
        text.push_str(&format!(
            "%d = tt.dot_scaled %a_tile{s}, {b}{t}, %acc lhs = {x} rhs = {y} {{fastMath = false}} : \
             tensor<{m}x{left}xLEFT>{s_type} * tensor<{right}x{n}xRIGHT>{t_type} -> tensor<MxNxf32>\n\
             scf.yield %d : tensor<MxNxf32>\n}}\n"
        ));
        text.push_str(&places("c", "f32", [m, n], n));
        text.push_str("tt.store %c_at, %sums : tensor<MxNx!tt.ptr<f32>>\ntt.return\n}\n");
        text.replace("LEFT", self.element(0))
            .replace("RIGHT", self.element(1))
            .replace("MxN", &format!("{m}x{n}"))
    }

    /// Numbers and scales from these exponents on; of few exponents the sums are exact in f32, in whatever order they
    /// are added.
    fn memory(&self, exponents: Range<usize>) -> (Vec<u64>, Memory) {
        let [m, n, k] = self.sizes;
        let k = k * self.rounds;
        let any =
            |index: usize, seed: usize, span: usize| (index * 37 + seed * 101 + index / 7) % span;
        let mut memory = Memory::default();
        let mut args = Vec::new();
        let mut push = |name: &str, dtype, bytes: Vec<u8>, initialised| {
            args.push(memory.push(Buffer { name: name.into(), bytes, dtype, initialised }));
        };
        for (side, count) in [m * k, n * k].into_iter().enumerate() {
            let dtype = DType::ALL.into_iter().find(|of| of.to_string() == self.element(side));
            let dtype = dtype.unwrap();
            let bytes = if self.is_packed(side) {
                (0..count / 2).map(|at| any(at, side + 1, 256) as u8).collect()
            } else {
                let number = |at: usize| any(at, side + 3, 25) as f64 / 2.0 - 6.0;
                let bits = (0..count).map(|at| scalar::from_f64(dtype, number(at)).to_le_bytes());
                bits.flat_map(|bits| bits[..dtype.bytes() as usize].to_vec()).collect()
            };
            push(["a", "b"][side], dtype, bytes, true);
            let scale = |at| (exponents.start + any(at, side + 5, exponents.len())) as u8;
            let scales = (0..count / 32).map(scale);
            push(["s", "t"][side], DType::I8, scales.collect(), true);
        }
        push("c", DType::F32, vec![0; 4 * m * n], false);
        (args, memory)
    }
}

/// Where the elements of a tile lie whose rows are so far apart: `%x_at`.
fn places(name: &str, element: &str, [rows, columns]: [usize; 2], stride: usize) -> String {
    let tile = format!("{rows}x{columns}");
    format!(
        "%{name}_r = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>\n\
         %{name}_c = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>\n\
         %{name}_r1 = tt.expand_dims %{name}_r {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>\n\
         %{name}_c1 = tt.expand_dims %{name}_c {{axis = 0 : i32}} : tensor<{columns}xi32> -> tensor<1x{columns}xi32>\n\
         %{name}_w = arith.constant dense<{stride}> : tensor<{rows}x1xi32>\n\
         %{name}_r2 = arith.muli %{name}_r1, %{name}_w : tensor<{rows}x1xi32>\n\
         %{name}_r3 = tt.broadcast %{name}_r2 : tensor<{rows}x1xi32> -> tensor<{tile}xi32>\n\
         %{name}_c2 = tt.broadcast %{name}_c1 : tensor<1x{columns}xi32> -> tensor<{tile}xi32>\n\
         %{name}_o = arith.addi %{name}_r3, %{name}_c2 : tensor<{tile}xi32>\n\
         %{name}_p = tt.splat %{name} : !tt.ptr<{element}> -> tensor<{tile}x!tt.ptr<{element}>>\n\
         %{name}_at = tt.addptr %{name}_p, %{name}_o : tensor<{tile}x!tt.ptr<{element}>>, tensor<{tile}xi32>\n"
    )
}

/// A tile that is loaded in round `%i`, each so many elements behind the one before: `%x_tile`.
fn block(
    name: &str,
    element: &str,
    [rows, columns]: [usize; 2],
    stride: usize,
    step: usize,
) -> String {
    let tile = format!("{rows}x{columns}");
    let places = places(name, element, [rows, columns], stride);
    format!(
        "{places}%{name}_step = arith.constant {step} : i32\n\
         %{name}_i = arith.muli %i, %{name}_step : i32\n\
         %{name}_d = tt.splat %{name}_i : i32 -> tensor<{tile}xi32>\n\
         %{name}_q = tt.addptr %{name}_at, %{name}_d : tensor<{tile}x!tt.ptr<{element}>>, tensor<{tile}xi32>\n\
         %{name}_tile = tt.load %{name}_q : tensor<{tile}x!tt.ptr<{element}>>\n"
    )
}

/// How often a program has the instruction for products with scales, and with which bytes of their words.
fn instructions(program: &Program) -> (usize, Vec<[u8; 2]>) {
    let (mut count, mut bytes) = (0, Vec::new());
    program.walk(&program.body, &mut |_, inst| {
        if let Op::ScaledMultiply(multiply) = inst.op {
            count += 1;
            if !bytes.contains(&multiply.bytes) {
                bytes.push(multiply.bytes);
            }
        }
    });
    (count, bytes)
}

fn compiled(text: &str, target: &str, warps: u32) -> (Module, Compiled) {
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    let options = options(target, warps);
    let compiled = compile::compile(&module, &module.kernels[0], &options);
    let compiled = compiled.unwrap_or_else(|error| panic!("{text}\n{error}"));
    (module, compiled)
}

fn options(target: &str, warps: u32) -> Options {
    let machine = Machine::by_name(target).unwrap();
    Options { warps, more_warps: MoreWarps::Never, ..Options::for_machine(machine) }
}

/// Runs a case on a machine as the simulator has it; the program's instructions.
fn run(case: Case, target: &str) -> (usize, Vec<[u8; 2]>) {
    let (_, compiled) = compiled(&case.text(), target, case.warps);
    agrees(case, target, &compiled.program)
}

/// Holds a program of a case against the evaluator; its instructions.
fn agrees(case: Case, target: &str, program: &Program) -> (usize, Vec<[u8; 2]>) {
    let kernel = &ttir::parse(&case.text()).unwrap().kernels[0];
    let (args, mut simulated) = case.memory(126..129);
    let mut expected = simulated.clone();
    let launch = Launch {
        program,
        grid: [1, 1, 1],
        args: &args,
        machine: &compile::simulated(Machine::by_name(target).unwrap(), 1),
        options: sim::Options::default(),
    };
    let report = sim::run(&launch, &mut simulated).unwrap();
    assert!(report.is_clean(), "{case:?} on {target}: {:?}", report.findings);
    eval::run(kernel, [1, 1, 1], &args, &mut expected, eval::Options::default()).unwrap();
    assert_eq!(simulated, expected, "{case:?} on {target}");
    instructions(program)
}

/// Formats, scales, shapes, order in memory and loops, by instructions and, on another machine, widened.
#[test]
fn scaled_instructions_give_what_the_evaluator_does() {
    let case = |sizes, rounds, formats, has_scale, turned, warps| Case {
        sizes,
        rounds,
        formats,
        has_scale,
        turned,
        warps,
    };
    let (both, none) = ([true; 2], [false; 2]);
    let (f4, f8) = (["e2m1"; 2], ["e4m3"; 2]);
    let cases = [
        // One instruction.
        (case([16, 16, 128], 1, f4, both, false, 1), 1),
        (case([32, 32, 64], 1, f8, both, true, 1), 1),
        (case([32, 32, 64], 3, f4, both, true, 1), 1),
        // Several, of one warp or of more, in a loop; other scales are of other rows.
        (case([64, 64, 128], 2, f4, both, true, 4), 4),
        (case([64, 32, 256], 1, f8, both, true, 4), 4),
        (case([16, 64, 128], 2, ["e5m2", "e4m3"], both, true, 4), 1),
        (case([128, 16, 256], 1, ["e4m3", "e5m2"], both, false, 2), 8),
        // Fewer rows than the instruction has.
        (case([8, 32, 128], 1, f4, both, true, 1), 2),
        // Of several widths.
        (case([32, 32, 128], 1, ["e4m3", "e2m1"], both, true, 1), 4),
        (case([16, 32, 256], 2, ["e2m1", "e5m2"], both, true, 2), 2),
        // With some scales, or none.
        (case([32, 32, 128], 1, f4, [true, false], true, 1), 4),
        (case([32, 32, 128], 1, ["e2m1", "e4m3"], [false, true], false, 1), 4),
        (case([16, 16, 256], 1, f8, none, true, 1), 2),
    ];
    let counts = cases.map(|(case, _)| run(case, "gfx950").0);
    assert_eq!(counts, cases.map(|(_, count)| count));
    for target in ["gfx942", "sm_90"] {
        let (case, _) = cases[3];
        assert_eq!(run(case, target), (0, Vec::new()));
    }
}

/// Four scales of a lane are in one word, and each instruction takes another byte of it.
#[test]
fn scales_of_four_steps_share_a_word() {
    let case = Case {
        sizes: [16, 16, 512],
        rounds: 1,
        formats: ["e2m1"; 2],
        has_scale: [true; 2],
        turned: true,
        warps: 1,
    };
    let (count, bytes) = run(case, "gfx950");
    assert_eq!((count, bytes), (4, vec![[0, 0], [1, 1], [2, 2], [3, 3]]));
}

/// Triton GPU IR has the layouts of factors and scales, and is compiled to as many instructions.
#[test]
fn layouts_of_scaled_products_are_written_and_read() {
    for (formats, has_scale) in [(["e2m1"; 2], [true; 2]), (["e4m3", "e2m1"], [true, false])] {
        let case =
            Case { sizes: [64, 64, 128], rounds: 2, formats, has_scale, turned: true, warps: 4 };
        let (module, compiled) = compiled(&case.text(), "gfx950", case.warps);
        let options = options("gfx950", case.warps);
        let text = compile::encoded(&module, &compiled, &options).unwrap().to_string();
        let product = text.lines().find(|line| line.contains("tt.dot_scaled")).unwrap();
        for (side, element) in [(0, case.element(0)), (1, case.element(1))] {
            let factor =
                format!("x{element}, #ttg.dot_op<{{opIdx = {side}, parent = #mma, kWidth = 16}}>>");
            assert!(product.contains(&factor), "{product}");
        }
        let (_, again) = self::compiled(&text, "gfx950", case.warps);
        assert_eq!(agrees(case, "gfx950", &again.program), instructions(&compiled.program));
        // Another layout is no instruction's.
        let other = text.replace(
            "tensor<64x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 16}>>",
            "tensor<64x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>>",
        );
        assert_ne!(other, text);
        let module = ttir::parse(&other).unwrap();
        let error = compile::compile(&module, &module.kernels[0], &options).unwrap_err();
        assert!(error.to_string().contains("no instruction for it"), "{error}");
    }
}

/// What the instructions do not take is widened, and means the same.
#[test]
fn other_products_with_scales_are_widened() {
    let plain = Case {
        sizes: [32, 32, 128],
        rounds: 1,
        formats: ["e4m3", "e2m1"],
        has_scale: [true; 2],
        turned: true,
        warps: 1,
    };
    assert!(run(plain, "gfx950").0 > 0);
    // A factor of 16 bits, and a summed axis shorter than any instruction's.
    for other in
        [Case { formats: ["bf16", "e2m1"], ..plain }, Case { sizes: [32, 32, 32], ..plain }]
    {
        assert_eq!(run(other, "gfx950"), (0, Vec::new()));
    }
    let is_widened = |text: &str| {
        let (_, compiled) = compiled(text, "gfx950", 1);
        instructions(&compiled.program).0 == 0
    };
    // Groups of 16, and scales that are floats.
    for (one, groups, element) in [("127", 8, "i8"), ("1.0", 4, "f8E4M3FN")] {
        let scale = format!("tensor<32x{groups}x{element}>");
        let text = plain.text().replace("%s_tile,", "%other,");
        let text = text.replace("tensor<32x4xi8> *", &format!("{scale} *"));
        let other = format!("%other = arith.constant dense<{one}> : {scale}\n%d = ");
        assert!(is_widened(&text.replace("%d = ", &other)), "{scale}");
    }
    // Pairs along the columns: 64 x 32 bytes are 64 numbers along the summed axis of 64 columns.
    let turned = Case { sizes: [32, 64, 64], turned: false, ..plain };
    let text = turned.text().replace("= false}", "= false, rhs_k_pack = false}");
    let reshaped = "%other = tt.reshape %b_tile : tensor<32x64xi8> -> tensor<64x32xi8>\n%d = ";
    let text = text.replace("%d = ", reshaped).replace("%b_tile scale", "%other scale");
    let text = text.replace("* tensor<32x64xi8>, ", "* tensor<64x32xi8>, ");
    assert!(is_widened(&text));
}

/// The evaluator gives the same bits for a product and for what it is widened to, as long as bf16 reaches; a scale of
/// 2^-127 it has, and bf16 has not.
#[test]
fn widened_products_mean_the_same() {
    let numbers = ["e4m3", "e5m2", "e2m1", "bf16"];
    for formats in numbers.into_iter().flat_map(|x| numbers.map(|y| [x, y])) {
        let case = Case {
            sizes: [16, 8, 64],
            rounds: 2,
            formats,
            has_scale: [true, formats[0] != formats[1]],
            turned: formats[0] == "e2m1",
            warps: 1,
        };
        let kernel = &ttir::parse(&case.text()).unwrap().kernels[0];
        let plain = scaled::run(kernel, |_| false).unwrap();
        tile::verify(&plain).unwrap();
        let evaluated = |kernel: &Kernel, exponents: Range<usize>| {
            let (args, mut memory) = case.memory(exponents);
            eval::run(kernel, [1, 1, 1], &args, &mut memory, eval::Options::default()).unwrap();
            memory.buffers().last().unwrap().bytes.clone()
        };
        assert_eq!(evaluated(kernel, 90..164), evaluated(&plain, 90..164), "{case:?}");
        assert!(evaluated(&plain, 0..1).iter().all(|byte| matches!(byte, 0 | 0x80)), "{case:?}");
        assert!(evaluated(kernel, 0..1) != evaluated(&plain, 0..1) || case.has_scale[1]);
        assert!(scaled::run(kernel, |_| true).is_none());
    }
}

/// The text is read back as it was, with every attribute.
#[test]
fn products_with_scales_are_printed_as_they_are_read() {
    for (attributes, printed) in [
        ("{fastMath = false}", "{fastMath = false}"),
        ("{fastMath = true, rhs_k_pack = true}", "{fastMath = true}"),
    ] {
        let text = TEXT.replace("{fastMath = false}", attributes);
        let module = ttir::parse(&text).unwrap();
        let told = module.to_string();
        assert!(told.contains(&format!("lhs = e2m1 rhs = e5m2 {printed} : tensor<16x32xi8>, ")));
        assert_eq!(ttir::parse(&told).unwrap().to_string(), told);
    }
    // What does not fit together is refused, and not only where it is compiled.
    let wrong = TEXT.replace("16x32xi8>, tensor<16x2xi8> *", "16x32xi8>, tensor<16x128xi8> *");
    assert!(ttir::parse(&wrong).is_err());
}

/// A product of 32 x `K` by `K` x 32 numbers of eight bits.
fn of_bytes(element: &str, summed: usize) -> String {
    let square = |name: &str, from: &str, element: &str, [rows, columns]: [usize; 2]| {
        format!(
            "  %{name}r = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
  %{name}c = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>
  %{name}rows = tt.expand_dims %{name}r {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>
  %{name}width = arith.constant dense<{columns}> : tensor<{rows}x1xi32>
  %{name}starts = arith.muli %{name}rows, %{name}width : tensor<{rows}x1xi32>
  %{name}columns = tt.expand_dims %{name}c {{axis = 0 : i32}} : tensor<{columns}xi32> -> tensor<1x{columns}xi32>
  %{name}down = tt.broadcast %{name}starts : tensor<{rows}x1xi32> -> tensor<{rows}x{columns}xi32>
  %{name}over = tt.broadcast %{name}columns : tensor<1x{columns}xi32> -> tensor<{rows}x{columns}xi32>
  %{name}places = arith.addi %{name}down, %{name}over : tensor<{rows}x{columns}xi32>
  %{name}base = tt.splat %{from} : !tt.ptr<{element}> -> tensor<{rows}x{columns}x!tt.ptr<{element}>>
  %{name}at = tt.addptr %{name}base, %{name}places : tensor<{rows}x{columns}x!tt.ptr<{element}>>, tensor<{rows}x{columns}xi32>
"
        )
    };
    format!(
        "tt.func public @of_bytes(%x: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, %z: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
{}{}{}  %a = tt.load %aat : tensor<32x{summed}x!tt.ptr<{element}>>
  %b = tt.load %bat : tensor<{summed}x32x!tt.ptr<{element}>>
  %d = tt.dot %a, %b, %zero : tensor<32x{summed}x{element}> * tensor<{summed}x32x{element}> -> tensor<32x32xf32>
  tt.store %cat, %d : tensor<32x32x!tt.ptr<f32>>
  tt.return
}}",
        square("a", "x", element, [32, summed]),
        square("b", "y", element, [summed, 32]),
        square("c", "z", "f32", [32, 32]),
    )
}

/// Products of numbers of eight bits without scales are those with the scale one.
#[test]
fn numbers_of_eight_bits_are_multiplied_as_if_they_had_scales() {
    for (name, dtype) in [("f8E4M3FN", DType::F8E4M3FN), ("f8E5M2", DType::F8E5M2)] {
        for (summed, expected) in [(32, 0), (64, 1), (128, 4), (256, 8)] {
            let text = of_bytes(name, summed);
            let (_, compiled) = compiled(&text, "gfx950", 1);
            // One of 32 rows and columns sums over 64, one of 16 over 128.
            let (count, bytes) = instructions(&compiled.program);
            assert_eq!(count, expected, "{summed}");
            assert!(bytes.iter().all(|&bytes| bytes == [0, 0]), "{bytes:?}");
            let arguments = [
                ("x", Random(dtype, 32 * summed)),
                ("y", Random(dtype, 32 * summed)),
                ("z", Empty(DType::F32, 32 * 32)),
            ];
            check(&text, &options("gfx950", 1), [1, 1, 1], &arguments);
        }
    }
}
