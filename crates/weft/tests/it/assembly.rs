//! Inline assembly: what is read of PTX, against functions written here; and what is refused.

use weft::compile::{self, Options};
use weft::dtype::DType;
use weft::emit::{self, Language, Target};
use weft::memory::{Buffer, Memory};
use weft::sim::{self, Launch};
use weft::tile::eval;
use weft::ttir;
use weft_layout::machine::Machine;

const COUNT: usize = 256;

/// Words that look random, small ones and edges among them.
fn words(salt: u32) -> Vec<u32> {
    let edges = [0, 1, 2, 31, 32, 33, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0x3f80_0000, 0xc020_0000];
    let mixed = |index: u32| {
        let mixed = (index + salt).wrapping_mul(0x9e37_79b1);
        let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca77);
        if index.is_multiple_of(5) { mixed >> 24 } else { mixed ^ mixed >> 13 }
    };
    let pairs = (0..COUNT as u32).map(|index| match index {
        // Every pair of edges.
        0..121 if salt.is_multiple_of(2) => edges[index as usize / 11],
        0..121 => edges[index as usize % 11],
        _ => mixed(index),
    });
    pairs.collect()
}

fn text(asm: &str, packed: u32, constraints: &str) -> String {
    let tensor = |element: &str| format!("tensor<{COUNT}x{element}>");
    let (t, p) = (tensor("i32"), tensor("!tt.ptr<i32>"));
    let mut body =
        format!("    %r = tt.make_range {{end = {COUNT} : i32, start = 0 : i32}} : {t}\n");
    for name in ["a", "b", "c"] {
        body += &format!(
            "    %{name}s = tt.splat %{name} : !tt.ptr<i32> -> {p}\n    %{name}p = tt.addptr \
             %{name}s, %r : {p}, {t}\n    %{name}v = tt.load %{name}p : {p}\n"
        );
    }
    body += &format!(
        "    %x = tt.elementwise_inline_asm \"{asm}\" {{constraints = \"{constraints}\", \
         packed_element = {packed} : i32, pure = true}} %av, %bv, %cv : {t}, {t}, {t} -> {t}\n    %os = \
         tt.splat %out : !tt.ptr<i32> -> {p}\n    %op = tt.addptr %os, %r : {p}, {t}\n    tt.store %op, \
         %x : {p}\n    tt.return\n"
    );
    format!(
        "module {{\n  tt.func public @k(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>, %c: !tt.ptr<i32>, %out: \
         !tt.ptr<i32>) {{\n{body}  }}\n}}\n"
    )
}

/// What the assembly makes of three lists of words.
fn evaluated(text: &str, inputs: [&[u32]; 3]) -> Vec<u32> {
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let mut memory = Memory::default();
    let mut buffer = |words: &[u32], initialised| {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.push(Buffer { name: "words".into(), bytes, dtype: DType::I32, initialised })
    };
    let mut args = inputs.map(|words| buffer(words, true)).to_vec();
    args.push(buffer(&[0; COUNT], false));
    let options = eval::Options::default();
    eval::run(&module.kernels[0], [1, 1, 1], &args, &mut memory, options).unwrap();
    let bytes = memory.buffers()[3].bytes.chunks_exact(4);
    bytes.map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

type Meaning = fn(u32, u32, u32) -> u32;

fn signed(x: u32) -> i32 {
    x as i32
}

/// The largest f32 that is not above.
fn down(x: f64) -> f32 {
    let nearest = x as f32;
    if f64::from(nearest) > x { nearest.next_down() } else { nearest }
}

fn permuted(x: u32, y: u32, selector: u32) -> u32 {
    let bytes = [x.to_le_bytes(), y.to_le_bytes()].concat();
    let byte = |index: u32| {
        let nibble = selector >> (4 * index) & 15;
        let byte = bytes[nibble as usize & 7];
        if nibble & 8 != 0 { if byte & 0x80 != 0 { 0xff } else { 0 } } else { byte }
    };
    u32::from_le_bytes([0, 1, 2, 3].map(byte))
}

fn float(x: u32) -> f32 {
    f32::from_bits(x)
}

/// What each instruction means, by the PTX ISA.
const MEANINGS: &[(&str, Meaning)] = &[
    ("mov.b32 $0, $1;", |a, _, _| a),
    ("add.s32 $0, $1, $2;", |a, b, _| a.wrapping_add(b)),
    ("sub.u32 $0, $1, -5;", |a, _, _| a.wrapping_add(5)),
    ("mul.lo.s32 $0, $1, $2;", |a, b, _| a.wrapping_mul(b)),
    ("mul.hi.u32 $0, $1, $2;", |a, b, _| ((u64::from(a) * u64::from(b)) >> 32) as u32),
    ("mul.hi.s32 $0, $1, $2;", |a, b, _| {
        ((i64::from(signed(a)) * i64::from(signed(b))) >> 32) as u32
    }),
    ("mad.lo.s32 $0, $1, $2, $3;", |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    ("and.b32 $0, $1, $2;", |a, b, _| a & b),
    ("or.b32 $0, $1, $2;", |a, b, _| a | b),
    ("xor.b32 $0, $1, $2;", |a, b, _| a ^ b),
    ("not.b32 $0, $1;", |a, _, _| !a),
    ("neg.s32 $0, $1;", |a, _, _| a.wrapping_neg()),
    ("shl.b32 $0, $1, $2;", |a, b, _| a.checked_shl(b).unwrap_or(0)),
    ("shr.u32 $0, $1, $2;", |a, b, _| a.checked_shr(b).unwrap_or(0)),
    ("shr.s32 $0, $1, $2;", |a, b, _| (signed(a) >> b.min(31)) as u32),
    ("min.s32 $0, $1, $2;", |a, b, _| signed(a).min(signed(b)) as u32),
    ("max.u32 $0, $1, $2;", |a, b, _| a.max(b)),
    ("cvt.rm.f32.s32 $0, $1;", |a, _, _| down(f64::from(signed(a))).to_bits()),
    ("cvt.rp.f32.u32 $0, $1;", |a, _, _| (-down(-f64::from(a))).to_bits() & 0x7fff_ffff),
    (
        "{ .reg .f32 x, y; cvt.rn.f32.s32 x, $1; cvt.rn.f32.s32 y, $2; add.rm.f32 $0, x, y; }",
        |a, b, _| {
            let (x, y) = (signed(a) as f32, signed(b) as f32);
            let sum = f64::from(x) + f64::from(y);
            // A sum that is zero is negative there, but for that of two zeros.
            if sum == 0.0 && x != 0.0 { (-0.0f32).to_bits() } else { down(sum).to_bits() }
        },
    ),
    (
        "{ .reg .f32 x, y; cvt.rn.f32.s32 x, $1; cvt.rn.f32.s32 y, $2; mul.rp.f32 $0, x, y; }",
        |a, b, _| {
            let product = f64::from(signed(a) as f32) * f64::from(signed(b) as f32);
            (-down(-product)).to_bits()
        },
    ),
    ("popc.b32 $0, $1;", |a, _, _| a.count_ones()),
    ("clz.b32 $0, $1;", |a, _, _| a.leading_zeros()),
    ("brev.b32 $0, $1;", |a, _, _| a.reverse_bits()),
    ("bfe.u32 $0, $1, $2, 7;", |a, b, _| a.checked_shr(b & 0xff).unwrap_or(0) & 0x7f),
    ("bfi.b32 $0, $1, $3, $2, 9;", |a, b, c| {
        let mask = 0x1ff_u32.checked_shl(b & 0xff).unwrap_or(0);
        a.checked_shl(b & 0xff).unwrap_or(0) & mask | c & !mask
    }),
    ("prmt.b32 $0, $1, $2, $3;", |a, b, c| permuted(a, b, c)),
    ("prmt.b32 $0, $1, $2, 0x7ba5;", |a, b, _| permuted(a, b, 0x7ba5)),
    ("lop3.b32 $0, $1, $2, $3, 0x96;", |a, b, c| a ^ b ^ c),
    ("lop3.b32 $0, $1, $2, $3, 0xca;", |a, b, c| a & b | !a & c),
    ("shf.l.wrap.b32 $0, $1, $2, $3;", |a, b, c| {
        let both = u64::from(b) << 32 | u64::from(a);
        (both << (c & 31) >> 32) as u32
    }),
    ("shf.r.wrap.b32 $0, $1, $2, $3;", |a, b, c| {
        let both = u64::from(b) << 32 | u64::from(a);
        (both >> (c & 31)) as u32
    }),
    ("{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.b32 $0, $3, 7, p; }", |a, b, c| {
        if signed(a) < signed(b) { c } else { 7 }
    }),
    (
        "{ .reg .pred p; setp.hi.u32 p, $1, $2; mov.b32 $0, $3; @!p add.u32 $0, $0, 1; }",
        |a, b, c| {
            if a > b { c } else { c.wrapping_add(1) }
        },
    ),
    (
        "{ .reg .b64 t<2>; mul.wide.s32 t0, $1, $2; shr.s64 t1, t0, 16; cvt.u32.u64 $0, t1; }",
        |a, b, _| ((i64::from(signed(a)) * i64::from(signed(b))) >> 16) as u32,
    ),
    ("{ .reg .b16 l, h; mov.b32 {l, h}, $1; mov.b32 $0, {h, l}; }", |a, _, _| a.rotate_left(16)),
    ("{ .reg .s8 t; cvt.s8.s32 t, $1; cvt.s32.s8 $0, t; }", |a, _, _| a as i8 as u32),
    ("add.f32 $0, $1, $2;", |a, b, _| (float(a) + float(b)).to_bits()),
    ("fma.rn.f32 $0, $1, $2, $3;", |a, b, c| float(a).mul_add(float(b), float(c)).to_bits()),
    ("div.rn.f32 $0, $1, $2;", |a, b, _| (float(a) / float(b)).to_bits()),
    ("cvt.rn.f32.s32 $0, $1;", |a, _, _| (signed(a) as f32).to_bits()),
    ("cvt.rmi.f32.f32 $0, $1;", |a, _, _| float(a).floor().to_bits()),
    ("abs.f32 $0, $1;", |a, _, _| a & 0x7fff_ffff),
    ("{ .reg .pred p; setp.neu.f32 p, $1, $2; selp.u32 $0, 1, 0, p; }", |a, b, _| {
        u32::from(float(a) != float(b))
    }),
];

#[test]
fn instructions_mean_what_the_isa_says() {
    let (a, b, c) = (words(0), words(1), words(2));
    for &(asm, meaning) in MEANINGS {
        let is_float = asm.contains("f32");
        for (packed, constraints) in [(1, "=r,r,r,r"), (4, PACKED)] {
            // Of several elements in a run, each has its registers.
            let asm = if packed == 1 { asm.to_string() } else { repeated(asm) };
            let found = evaluated(&text(&asm, packed, constraints), [&a, &b, &c]);
            for index in 0..COUNT {
                let expected = meaning(a[index], b[index], c[index]);
                let nan = |bits: u32| is_float && float(bits).is_nan();
                let same = found[index] == expected || nan(found[index]) && nan(expected);
                assert!(
                    same,
                    "{asm} of {:#x}, {:#x}, {:#x}: {:#x}, not {expected:#x}",
                    a[index], b[index], c[index], found[index]
                );
            }
        }
    }
}

/// Four outputs, then four registers of each of three operands.
const PACKED: &str = "=r,=r,=r,=r,r,r,r,r,r,r,r,r,r,r,r,r";

/// The text for four elements in a run, with a scope for each.
fn repeated(asm: &str) -> String {
    let element = |index: usize| {
        let mut own = asm.to_string();
        // From the last on, so that no number is replaced twice.
        for slot in (0..4).rev() {
            own = own.replace(&format!("${slot}"), &format!("<{}>", 4 * slot + index));
        }
        let own = own.replace('<', "$").replace('>', "");
        // `t<2>` declares registers, and only that.
        own.replace("t$2,", "t<2>,").replace("t$2;", "t<2>;")
    };
    (0..4).map(element).collect::<Vec<_>>().join(" ")
}

/// A run of the assembly on zeros, which the evaluator refuses; or why it is not even parsed.
fn refused(asm: &str, constraints: &str) -> String {
    let module = match ttir::parse(&text(asm, 1, constraints)) {
        Ok(module) => module,
        Err(errors) => return errors.to_string(),
    };
    let mut memory = Memory::default();
    let bytes = vec![0; 4 * COUNT];
    let buffer = Buffer { name: "x".into(), bytes, dtype: DType::I32, initialised: true };
    let address = memory.push(buffer);
    let options = eval::Options::default();
    let ran = eval::run(&module.kernels[0], [1, 1, 1], &[address; 4], &mut memory, options);
    ran.map_or_else(|error| error.to_string(), |_| panic!("{asm} has a meaning"))
}

#[test]
fn what_is_not_read_has_no_meaning_here_and_says_why() {
    let three = "=r,r,r,r";
    for (asm, constraints, says) in [
        ("cvt.rna.tf32.f32 $0, $1;", three, "`cvt.rna.tf32.f32` is not read"),
        ("add.ftz.f32 $0, $1, $2;", three, "`add.ftz.f32` is not read"),
        ("mov.u32 $0, %laneid;", three, "`%laneid` differs between threads"),
        ("add.s32 $0, $1, t;", three, "`t` is read before it is written"),
        ("add.s32 $1, $1, $2;", three, "`$0` is not written"),
        ("mov.b32 $0, $9;", three, "the assembly has no `$9`: it has `$0` to `$3`"),
        ("lop3.b32 $8, $1, $2, $3, 0xe8;", three, "the assembly has no `$8`"),
        ("cvt.rna.tf32.f32 ${4:x}, $1;", three, "the assembly has no `$4`"),
        ("mov.b32 $0, $99999999999999999999;", three, "the assembly has no `$"),
        (".reg .b32 t<99999>;", three, "declares too many registers"),
        ("mov.b32 $0, (a);", three, "`(a)` is no operand that is understood"),
        ("mov.b32 $0, {{{a}}};", three, "`{{a}}` is no operand that is understood"),
        ("@p", three, "nothing that it guards"),
        ("mov.b32 $0, $1;", "=r,r", "the constraints `=r,r` are for 2"),
        ("mov.b32 $0, $1;", "=q,r,r,r", "is none of r, f, h, n, l and d"),
        ("mov.b32 $0, $1;", "=r,l,r,r", "another width"),
        ("mov.u32 $0, %laneid;", "=h,r,r,r", "handed on has no operands of constraint `=h`"),
        ("mov.u32 $0, %laneid;", "=r,r,n,r", "handed on has no operands of constraint `n`"),
    ] {
        let message = refused(asm, constraints);
        assert!(message.contains(says), "{asm}: {message}");
    }
}

/// Halves of a word come in registers of 16 bits, and tables of logic as constants: weights of four bits become f16 so.
#[test]
fn halves_and_constants_are_read() {
    let (n, asm) = (COUNT, "{ .reg .b32 t; lop3.b32 t, $2, $3, $4, $5; mov.b32 {$0, $1}, t; }");
    let t = |element: &str| format!("tensor<{n}x{element}>");
    let (words, halves) = (t("i32"), t("i16"));
    let text = format!(
        "tt.func public @k(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>, %c: !tt.ptr<i32>, %out: !tt.ptr<i32>) {{
  %r = tt.make_range {{end = {n} : i32, start = 0 : i32}} : {words}
  %mask = arith.constant dense<983055> : {words}
  %magic = arith.constant dense<1677747200> : {words}
  %table = arith.constant dense<234> : {words}
  %as = tt.splat %a : !tt.ptr<i32> -> {0}
  %ap = tt.addptr %as, %r : {0}, {words}
  %av = tt.load %ap : {0}
  %h:2 = tt.elementwise_inline_asm \"{asm}\" {{constraints = \"=h,=h,r,n,n,n\", packed_element = 1 : i32, pure = true}} %av, %mask, %magic, %table : {words}, {words}, {words}, {words} -> {halves}, {halves}
  %low = arith.extui %h#0 : {halves} to {words}
  %high = arith.extui %h#1 : {halves} to {words}
  %sixteen = arith.constant dense<16> : {words}
  %up = arith.shli %high, %sixteen : {words}
  %both = arith.ori %up, %low : {words}
  %os = tt.splat %out : !tt.ptr<i32> -> {0}
  %op = tt.addptr %os, %r : {0}, {words}
  tt.store %op, %both : {0}
  tt.return
}}",
        t("!tt.ptr<i32>")
    );
    let words: Vec<u32> = (0..COUNT as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let expected: Vec<u32> = words.iter().map(|word| word & 0x000f_000f | 0x6400_6400).collect();
    assert_eq!(evaluated(&text, [&words, &[0; COUNT], &[0; COUNT]]), expected);
}

#[test]
fn what_is_not_read_goes_to_ptx_and_cuda_as_it_is() {
    // `$$` is a dollar, and names no operand.
    assert!(ttir::parse(&text("mov.u32 $0, %laneid; // $$9", 1, "=r,r,r,r")).is_ok());
    let asm = "{ .reg .b32 t; cvt.rna.tf32.f32 t, $1; add.u32 $0, t, %laneid; }";
    let module = ttir::parse(&text(asm, 1, "=r,r,r,r")).unwrap();
    // Its text is read back.
    let printed = module.to_string();
    assert_eq!(ttir::parse(&printed).unwrap().to_string(), printed);
    let several = "mov.u32 $0, %laneid; mov.u32 $1, $2;";
    for (packed, constraints) in [(2, "=r,=r,r,r,r,r,r,r"), (1, "=r,r,r,r")] {
        let printed = ttir::parse(&text(several, packed, constraints)).unwrap().to_string();
        assert_eq!(ttir::parse(&printed).unwrap().to_string(), printed);
    }
    let compiled = |target: &str| {
        let machine = Machine::by_name(target).unwrap();
        let options = Options::for_machine(machine);
        compile::compile(&module, &module.kernels[0], &options).unwrap().program
    };
    let program = compiled("sm_90");
    let target = Target::by_name("sm_90").unwrap();
    let ptx = emit::print(&program, Language::Ptx, target).unwrap();
    assert!(ptx.contains("{ .reg .b32 t; cvt.rna.tf32.f32 t, %r"), "{ptx}");
    assert!(ptx.contains(", t, %laneid; }"), "{ptx}");
    let cuda = emit::print(&program, Language::Cuda, target).unwrap();
    let expected =
        "asm(\"{ { .reg .b32 t; cvt.rna.tf32.f32 t, %1; add.u32 %0, t, %%laneid; } }\" : \"=r\"(";
    assert!(cuda.contains(expected), "{cuda}");
    let hip = compiled("gfx942");
    let target = Target::by_name("gfx942").unwrap();
    let error = emit::print(&hip, Language::Hip, target).unwrap_err().to_string();
    assert!(error.contains("inline assembly `"), "{error}");
    let launch = Launch {
        program: &program,
        grid: [1, 1, 1],
        args: &[0; 4],
        machine: &compile::simulated(Machine::by_name("sm_90").unwrap(), 1),
        options: sim::Options::default(),
    };
    let error = sim::run(&launch, &mut Memory::default()).unwrap_err().to_string();
    assert!(error.contains("cvt.rna.tf32.f32") && error.contains("is not read"), "{error}");
}

/// An approximate function that a machine has an instruction for is that instruction; another machine's text computes it
/// as well as the instruction does, or better.
#[test]
fn approximate_functions_are_one_instruction() {
    type Function = fn(f32) -> f32;
    let (tanh, sin, cos): (Function, Function, Function) = (libm::tanhf, libm::sinf, libm::cosf);
    for (name, function) in [("tanh", tanh), ("sin", sin), ("cos", cos)] {
        let asm = format!("{name}.approx.f32 $0, $1;");
        let inputs = [words(0), words(1), words(2)];
        let found = evaluated(&text(&asm, 1, "=r,r,r,r"), [&inputs[0], &inputs[1], &inputs[2]]);
        for (&x, found) in inputs[0].iter().zip(found) {
            let (expected, found) = (function(float(x)), float(found));
            assert!(
                found == expected || found.is_nan() && expected.is_nan(),
                "{name} of {x:#x}: {found}"
            );
        }
        let module = ttir::parse(&text(&asm, 1, "=r,r,r,r")).unwrap();
        for (target, language, instruction) in [
            ("sm_80", Language::Ptx, format!("{name}.approx.f32")),
            ("sm_90", Language::Cuda, format!("{name}.approx.f32 %0, %1;")),
            ("gfx942", Language::Hip, format!("{name}_approximate(")),
        ] {
            let options = Options::for_machine(Machine::by_name(target).unwrap());
            let program = compile::compile(&module, &module.kernels[0], &options).unwrap().program;
            let printed =
                emit::print(&program, language, Target::by_name(target).unwrap()).unwrap();
            assert!(printed.contains(&instruction) && !printed.contains("fma"), "{printed}");
        }
    }
}

/// A tensor in shared memory, loaded and then exchanged by assembly: the text of the kernel, with more
/// operations in front of what uses the loaded tensor.
fn exchanged(between: &str) -> String {
    let (t, p) = ("tensor<128xi32, #b>", "tensor<128x!tt.ptr<i32>, #b>");
    format!(
        "#b = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>\n\
         #s = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>\n\
         #smem = #ttg.shared_memory\n\
         module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \
         \"cuda:80\", \"ttg.threads-per-warp\" = 32 : i32}} {{\n  \
         tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>) {{\n    \
         %r = tt.make_range {{end = 128 : i32, start = 0 : i32}} : {t}\n    \
         %p = tt.splat %x : !tt.ptr<i32> -> {p}\n    \
         %q = tt.addptr %p, %r : {p}, {t}\n    \
         %v = tt.load %q : {p}\n    \
         %m = ttg.local_alloc %v : ({t}) -> !ttg.memdesc<128xi32, #s, #smem>\n    \
         %a = ttg.local_load %m : !ttg.memdesc<128xi32, #s, #smem> -> {t}\n    \
         {between}\n    \
         %t = arith.addi %a, %w : {t}\n    \
         %o = tt.splat %out : !tt.ptr<i32> -> {p}\n    \
         %oq = tt.addptr %o, %r : {p}, {t}\n    \
         tt.store %oq, %t : {p}\n    \
         tt.return\n  }}\n}}\n"
    )
}

/// The lines of a kernel's PTX with some words, by the first word that each has.
fn instructions(text: &str, words: &[&'static str]) -> Vec<&'static str> {
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let machine = Machine::by_name("sm_80").unwrap();
    let options = Options::for_machine(machine);
    let compiled = compile::compile(&module, &module.kernels[0], &options).unwrap();
    let target = Target::by_name("sm_80").unwrap();
    let ptx = emit::print(&compiled.program, Language::Ptx, target).unwrap();
    ptx.lines()
        .filter_map(|line| words.iter().find(|word| line.contains(**word)).copied())
        .collect()
}

/// Assembly that is not read may write shared memory, and an atomic that releases lets others write it: a load
/// before either stays before it.
#[test]
fn a_load_from_shared_memory_stays_before_what_may_overwrite_it() {
    let asm = |pure| {
        format!(
            "%w = tt.elementwise_inline_asm \"atom.shared.exch.b32 $0, [0], $1;\" {{constraints = \
             \"=r,r\", packed_element = 1 : i32, pure = {pure}}} %r : tensor<128xi32, #b> -> \
             tensor<128xi32, #b>"
        )
    };
    let words = ["ld.shared", "atom."];
    assert_eq!(instructions(&exchanged(&asm(false)), &words), ["ld.shared", "atom."]);
    // What is said to do nothing but define its results may be crossed.
    assert_eq!(instructions(&exchanged(&asm(true)), &words), ["atom.", "ld.shared"]);
    let atomic = |order: &str| {
        format!(
            "%w = tt.atomic_rmw add, {order}, gpu, %q, %r : (tensor<128x!tt.ptr<i32>, #b>, \
             tensor<128xi32, #b>) -> tensor<128xi32, #b>"
        )
    };
    for order in ["release", "acq_rel"] {
        assert_eq!(instructions(&exchanged(&atomic(order)), &words), ["ld.shared", "atom."]);
    }
}
