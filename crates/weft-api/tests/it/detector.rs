//! What a run must tell, case by case: each case is made by a law that says what is wrong with it, and half of
//! them are right.

use crate::kernels::of;
use weft::lane::{Access, Builder, IdKind, Param, Space};
use weft::scalar::Binary;
use weft_api::run;

/// The kinds of what a kernel's run finds, and of its notes.
fn kinds(text: &str, grid: &str, arguments: &[&str]) -> [Vec<String>; 2] {
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.into()).collect();
    let request =
        of(text, grid, &arguments, "sm_90").unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let answer = run::run(&request).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let kinds = |list: &[weft_api::answer::FindingAnswer]| {
        let mut kinds: Vec<String> = list.iter().map(|finding| finding.kind.clone()).collect();
        kinds.dedup();
        kinds
    };
    assert_eq!(answer.passed, answer.findings.is_empty(), "{text}");
    [kinds(&answer.findings), kinds(&answer.notes)]
}

/// A kernel of 64 elements that stores `%r` of a type to the places `%at`.
fn kernel(ty: &str, body: &str) -> String {
    format!(
        "module {{ tt.func public @case(%x: !tt.ptr<{ty}>, %out: !tt.ptr<{ty}>) {{
         %p = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
         {body}
         %base = tt.splat %out : !tt.ptr<{ty}> -> tensor<64x!tt.ptr<{ty}>>
         %there = tt.addptr %base, %at : tensor<64x!tt.ptr<{ty}>>, tensor<64xi32>
         tt.store %there, %r : tensor<64x!tt.ptr<{ty}>>
         tt.return }} }}"
    )
}

/// `%x` of every place, as `%a`.
fn loaded(ty: &str) -> String {
    format!(
        "%xs = tt.splat %x : !tt.ptr<{ty}> -> tensor<64x!tt.ptr<{ty}>>
         %from = tt.addptr %xs, %p : tensor<64x!tt.ptr<{ty}>>, tensor<64xi32>
         %a = tt.load %from : tensor<64x!tt.ptr<{ty}>>"
    )
}

fn expect(
    cases: &mut usize,
    (text, grid, arguments): (&str, &str, &[&str]),
    findings: &[&str],
    notes: &[&str],
) {
    *cases += 1;
    let [found, noted] = kinds(text, grid, arguments);
    assert_eq!((&found[..], &noted[..]), (&owned(findings)[..], &owned(notes)[..]), "{text}");
}

fn owned(kinds: &[&str]) -> Vec<String> {
    kinds.iter().map(|&kind| kind.into()).collect()
}

#[test]
fn each_case_is_told_as_what_it_is() {
    let mut cases = 0;
    // Integers without a meaning.
    for (ty, bits) in [("i8", 8), ("i16", 16), ("i32", 32), ("i64", 64)] {
        for (op, bad, good) in [
            ("divsi", 0, 3),
            ("divui", 0, 3),
            ("remsi", 0, 3),
            ("remui", 0, 3),
            ("shli", bits, bits - 1),
            ("shrsi", bits, bits - 1),
            ("shrui", bits + 7, 0),
        ] {
            for (number, notes) in [(bad, &["undefined"][..]), (good, &[])] {
                let body = format!(
                    "{}
                     %b = arith.constant dense<{number}> : tensor<64x{ty}>
                     %r = arith.{op} %a, %b : tensor<64x{ty}>
                     %at = arith.ori %p, %p : tensor<64xi32>",
                    loaded(ty)
                );
                let arguments = [&*format!("x=range:{ty}[64]"), &*format!("out=empty:{ty}[64]")];
                expect(&mut cases, (&kernel(ty, &body), "1", &arguments), &[], notes);
            }
        }
    }
    // Conversions of what the integer does not hold.
    for from in ["f16", "f32", "f64"] {
        let wide = (from != "f16").then_some(("i32", "1.0e9", "5.0e9"));
        for (to, held, not) in
            [("i8", "1.0e2", "3.0e2"), ("i16", "3.0e4", "6.55e4")].into_iter().chain(wide)
        {
            for (op, value, notes) in [
                ("fptosi", held, &[][..]),
                ("fptosi", not, &["undefined"]),
                ("fptoui", held, &[]),
                ("fptoui", "-2.0e0", &["undefined"]),
            ] {
                let body = format!(
                    "%f = arith.constant dense<{value}> : tensor<64x{from}>
                     %r = arith.{op} %f : tensor<64x{from}> to tensor<64x{to}>
                     %at = arith.ori %p, %p : tensor<64xi32>"
                );
                let arguments = [&*format!("x=zeros:{to}[1]"), &*format!("out=empty:{to}[64]")];
                expect(&mut cases, (&kernel(to, &body), "1", &arguments), &[], notes);
            }
        }
    }
    // Stores to one place: by lanes, and by blocks.
    for shift in 1..=5 {
        for (value, finding, note) in
            [("%at", &[][..], &["equal stores"][..]), ("%p", &["race"], &[])]
        {
            let body = format!(
                "%n = arith.constant dense<{shift}> : tensor<64xi32>
                 %at = arith.shrui %p, %n : tensor<64xi32>
                 %zero = arith.constant dense<0> : tensor<64xi32>
                 %r = arith.addi {value}, %zero : tensor<64xi32>"
            );
            let arguments = ["x=zeros:i32[1]", "out=zeros:i32[64]"];
            expect(&mut cases, (&kernel("i32", &body), "1", &arguments), finding, note);
        }
    }
    for grid in ["2", "3", "8"] {
        for (add, finding, note) in
            [("%p", &[][..], &["equal stores"][..]), ("%id", &["race"], &[])]
        {
            let body = format!(
                "%at = arith.ori %p, %p : tensor<64xi32>
                 %pid = tt.get_program_id x : i32
                 %id = tt.splat %pid : i32 -> tensor<64xi32>
                 %r = arith.addi %p, {add} : tensor<64xi32>"
            );
            let arguments = ["x=zeros:i32[1]", "out=zeros:i32[64]"];
            expect(&mut cases, (&kernel("i32", &body), grid, &arguments), finding, note);
        }
    }
    // What one block reads and another writes; nothing where each has its own, or adds in one go.
    for grid in ["1", "2", "3", "8"] {
        let read = |offset: &str| {
            format!(
                "%pid = tt.get_program_id x : i32
                 %extent = arith.constant 64 : i32
                 %first = arith.muli %pid, %extent : i32
                 %firsts = tt.splat %first : i32 -> tensor<64xi32>
                 %own = arith.addi %firsts, %p : tensor<64xi32>
                 %at = arith.ori {offset}, {offset} : tensor<64xi32>
                 %outs = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
                 %old = tt.addptr %outs, %at : tensor<64x!tt.ptr<i32>>, tensor<64xi32>"
            )
        };
        let load = "%id = tt.splat %pid : i32 -> tensor<64xi32>
             %a = tt.load %old : tensor<64x!tt.ptr<i32>>
             %r = arith.addi %a, %id : tensor<64xi32>";
        let add = "%one = arith.constant dense<1> : tensor<64xi32>
             %all = arith.constant dense<true> : tensor<64xi1>
             %sum = tt.atomic_rmw add, acq_rel, gpu, %old, %one, %all : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>";
        let arguments = ["x=zeros:i32[1]", "out=zeros:i32[512]"];
        let raced: &[&str] = if grid == "1" { &[] } else { &["race"] };
        for (offset, findings) in [("%p", raced), ("%own", &[])] {
            let body = format!("{}\n{load}", read(offset));
            expect(&mut cases, (&kernel("i32", &body), grid, &arguments), findings, &[]);
        }
        let body = format!("{}\n{add}", read("%p"));
        let text = kernel("i32", &body);
        let store = "tt.store %there, %r : tensor<64x!tt.ptr<i32>>";
        expect(&mut cases, (&text.replace(store, ""), grid, &arguments), &[], &[]);
    }
    // Accesses outside, and of what nobody wrote.
    for (ty, ways) in [("i32", 4), ("f32", 4), ("f64", 4), ("i8", 4)] {
        for way in 0..ways {
            let (x, out) = (if way & 1 == 0 { 64 } else { 63 }, if way & 2 == 0 { 64 } else { 33 });
            let body = format!(
                "{}
                 %r = arith.select %true, %a, %a : tensor<64x{ty}>
                 %at = arith.ori %p, %p : tensor<64xi32>",
                loaded(ty)
            );
            let body = format!("%true = arith.constant true\n{body}");
            let arguments = [&*format!("x=zeros:{ty}[{x}]"), &*format!("out=empty:{ty}[{out}]")];
            let findings: &[&str] = if way == 0 { &[] } else { &["out of range"] };
            expect(&mut cases, (&kernel(ty, &body), "1", &arguments), findings, &[]);
            let arguments = [&*format!("x=empty:{ty}[64]"), &*format!("out=empty:{ty}[64]")];
            if way == 0 {
                expect(&mut cases, (&kernel(ty, &body), "1", &arguments), &["uninitialised"], &[]);
            }
        }
    }
    assert!(cases >= 130, "{cases}");
}

#[test]
fn what_may_only_be_read_stays_as_it_is_and_its_store_is_named() {
    use weft::dtype::DType;
    use weft::memory::{Buffer, Memory};
    use weft::sim::{self, FindingKind, Launch, Machine, Options};
    let mut build = Builder::new("overwrite", 1, 5);
    let pointee = Some(DType::I32);
    let param = Param { name: "x".into(), dtype: DType::I64, pointee, divisibility: 16 };
    let x = build.param(param);
    let lane = build.id(IdKind::Lane);
    let four = build.i32(4);
    let offset = build.binary(Binary::Mul, lane, four);
    let offset = build.cast(weft::scalar::Cast::ExtU, offset, DType::I64);
    let address = build.binary(Binary::Add, x, offset);
    // What is stored is what is there: who looks at bytes alone finds nothing.
    let access = Access::default();
    let old = build.load(Space::Global, access, DType::I32, 1, address, None);
    build.store(Space::Global, access, address, None, &[old[0]]);
    let program = build.finish();
    for protected in [false, true] {
        let mut memory = Memory::default();
        let bytes = vec![7; 128];
        let buffer = Buffer { name: "x".into(), bytes, dtype: DType::I32, initialised: true };
        let args = [memory.push(buffer)];
        if protected {
            memory.protect(0);
        }
        let machine = &Machine::nvidia();
        let options = Options::default();
        let launch = Launch { program: &program, grid: [1; 3], args: &args, machine, options };
        let report = sim::run(&launch, &mut memory).unwrap();
        let kinds: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, if protected { vec![FindingKind::ReadOnly] } else { vec![] });
    }
}
