//! Products in flight: their texts, and what NVIDIA's compiler and assembler make of them.

use super::{amd, cuda, kernel, side_by_side};
use crate::emit::tests::products::{attention, carried, form, forms, single};
use crate::lane::Program;
use std::path::Path;
use std::process::Command;

#[test]
fn the_text_says_that_it_is_for_one_architecture() {
    let text = kernel(&carried(form(8)), cuda("sm_90")).unwrap();
    assert_eq!(Ok(text), kernel(&carried(form(8)), cuda("sm_90a")));
    let wide = Program { lanes_log2: 6, ..carried(form(8)) };
    let refused = kernel(&wide, amd("gfx942")).unwrap_err().to_string();
    assert_eq!(
        refused,
        "gfx942 has no `products of matrices by a warpgroup`: the matrix instructions of a wave are not asynchronous"
    );
}

/// A truth value that is known is a number in the instruction; else it is tested in front.
#[test]
fn accumulators_may_count_as_zero() {
    let instruction = |program: &Program| {
        let text = kernel(program, cuda("sm_90")).unwrap();
        let lines = text.lines().filter(|line| line.contains("wgmma.mma_async"));
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>().join("\n")
    };
    let scores = instruction(&attention());
    let told = |end: &str| scores.lines().filter(|line| line.ends_with(end)).count();
    assert_eq!((told(", 0, 1, 1, 0, 0;\""), told(", 1, 1, 1, 0, 0;\"")), (1, 1), "{scores}");
}

/// What a product reads from registers stays there until it was waited for.
#[test]
fn a_left_factor_in_registers_is_kept() {
    let text = kernel(&attention(), cuda("sm_90")).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let place = |part: &str| lines.iter().rposition(|line| line.starts_with(part)).unwrap();
    let product = place("warpgroup_multiply_64x128x16_f32_f16_f16_registers");
    let wait = place("asm volatile(\"wgmma.wait_group.sync.aligned 0;");
    let kept =
        lines.iter().enumerate().filter(|(_, line)| line.starts_with("keep(")).map(|(at, _)| at);
    let kept: Vec<usize> = kept.collect();
    assert!(product < wait && kept.iter().any(|&at| at > wait), "{text}");
    // Words and sums are made ready by one fence in front of all products of a round.
    let fences = lines.iter().filter(|line| line.contains("wgmma.fence")).count();
    assert_eq!(fences, 1, "{text}");
}

/// The compiler copies no register in flight, and the assembler, which says so as information, makes no products
/// wait for one another.
#[test]
fn the_compiler_leaves_products_in_flight() {
    let Some(nvcc) = std::env::var_os("WEFT_NVCC") else {
        println!("skipped: set WEFT_NVCC to the path of NVIDIA's nvcc");
        return;
    };
    let folder = std::env::temp_dir().join(format!("weft-c-warpgroup-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut programs = vec![("attention".to_owned(), attention())];
    for columns in [8, 96, 256] {
        programs.push((format!("carried_{columns}"), carried(form(columns))));
    }
    for (name, program) in programs {
        let text = kernel(&program, cuda("sm_90")).unwrap();
        let said = compiled(Path::new(&nvcc), &text, &name, &folder);
        assert!(!said.contains("(C75"), "{name}: {said}\n{text}");
    }
    let mut texts = Vec::new();
    for form in forms().into_iter().filter(|form| [8, 24, 96].contains(&form.columns)) {
        let program = Program { name: format!("single_{}", texts.len()), ..single(form) };
        texts.push(kernel(&program, cuda("sm_90")).unwrap());
    }
    let (top, parts) = side_by_side(&texts);
    let said = compiled(Path::new(&nvcc), &format!("{top}{parts}"), "single", &folder);
    assert!(!said.contains("(C75"), "{said}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What the compiler and the assembler say of a text.
fn compiled(nvcc: &Path, text: &str, name: &str, folder: &Path) -> String {
    let source = folder.join(format!("{name}.cu"));
    std::fs::write(&source, text).unwrap();
    let flags = std::env::var("WEFT_NVCC_FLAGS").unwrap_or_default();
    let output = Command::new(nvcc)
        .args(["-std=c++17", "-arch=sm_90a", "-cubin", "-Werror=all-warnings", "-o"])
        .arg(source.with_extension("cubin"))
        .args(flags.split_whitespace())
        .arg(&source)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{name}: {said}\n{text}");
    said
}
