//! Products in flight: their texts, the registers that their values share, and what the assembler makes of them.

use super::{print, target};
use crate::dtype::DType;
use crate::emit::tests::products::{Sketch, attention, carried, form, forms, single};
use crate::lane::{Access, BarrierScope, Program, Space, verify};
use crate::scalar::Binary;
use std::path::Path;

#[test]
fn only_one_architecture_has_them() {
    let program = carried(form(8));
    assert_eq!(print(&program, target("sm_90")), print(&program, target("sm_90a")));
    assert!(print(&program, target("sm_100")).is_err());
}

/// What the assembler says of a program, told to be talkative.
pub(super) fn assembled(ptxas: &Path, text: &str, name: &str, folder: &Path) -> String {
    let source = folder.join(format!("{name}.ptx"));
    std::fs::write(&source, text).unwrap();
    let output = std::process::Command::new(ptxas)
        .args(["-v", "--gpu-name", "sm_90a", "-o"])
        .arg(source.with_extension("cubin"))
        .arg(&source)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success(), "{name}: {said}\n{text}");
    said
}

/// The assembler reports as information that it makes products wait for one another.
#[test]
fn the_assembler_leaves_products_in_flight() {
    let Some(ptxas) = std::env::var_os("WEFT_PTXAS") else {
        println!("skipped: set WEFT_PTXAS to the path of NVIDIA's ptxas");
        return;
    };
    let mut programs = vec![("attention".to_owned(), attention())];
    for columns in [8, 96, 256] {
        programs.push((format!("carried_{columns}"), carried(form(columns))));
    }
    for form in forms() {
        let name = format!("{form:?}").replace(|c: char| !c.is_ascii_alphanumeric(), "");
        programs.push((name, single(form)));
    }
    let folder = std::env::temp_dir().join(format!("weft-warpgroup-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, program) in programs {
        verify(&program).unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{program}"));
        let text =
            print(&program, target("sm_90a")).unwrap_or_else(|error| panic!("{name}: {error}"));
        let said = assembled(Path::new(&ptxas), &text, &name, &folder);
        assert!(!said.contains("(C75"), "{name}: {said}\n{text}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Two sums in flight that a loop carries, one as the other where they are exchanged.
fn two_sums(exchanged: bool) -> Program {
    let mut sketch = Sketch::new("two");
    let a = sketch.descriptor(65536);
    let zeros = sketch.zeros(form(8));
    let sums = sketch.rounds(9, &[&zeros[..], &zeros].concat(), |sketch, _, sums| {
        let build = &mut sketch.build;
        let (first, second) = sums.split_at(4);
        let first = build.warpgroup_multiply(form(8), &[a], a, None, first);
        let second = build.warpgroup_multiply(form(8), &[a], a, None, second);
        build.warpgroup_commit();
        let pair = if exchanged { [second, first] } else { [first, second] };
        pair.concat()
    });
    let sums = sketch.build.warpgroup_wait(0, &sums);
    sketch.store(&sums);
    sketch.finish()
}

#[test]
fn what_would_be_copied_in_flight_is_refused() {
    for exchanged in [false, true] {
        verify(&two_sums(exchanged)).unwrap();
    }
    print(&two_sums(false), target("sm_90a")).unwrap();
    assert!(print(&two_sums(true), target("sm_90a")).is_err());
}

/// Two products that begin sums: nothing is written to their registers, and both are made ready at once.
#[test]
fn products_that_begin_sums_share_a_fence() {
    let mut sketch = Sketch::new("begin");
    let a = sketch.descriptor(65536);
    let zeros = sketch.zeros(form(8));
    let keep = sketch.build.constant(DType::I1, 0);
    let build = &mut sketch.build;
    build.warpgroup_fence();
    let sums = [(); 2].map(|()| build.warpgroup_multiply(form(8), &[a], a, Some(keep), &zeros));
    build.warpgroup_commit();
    let sums = build.warpgroup_wait(0, &sums.concat());
    sketch.store(&sums);
    let text = print(&sketch.finish(), target("sm_90a")).unwrap();
    assert_eq!(text.matches("wgmma.fence").count(), 1, "{text}");
    let (_, products) = text.split_once("wgmma.fence").unwrap();
    let (products, _) = products.split_once("wgmma.commit_group").unwrap();
    assert!(!products.contains("mov."), "{text}");
}

/// Sums that are computed before a loop, or at the end of a round, in the registers that it carries: the program
/// asks for no fence, and nothing is copied.
fn changed_where_they_lie(scaled: bool) -> Program {
    let mut sketch = Sketch::new("changed");
    let a = sketch.descriptor(65536);
    let build = &mut sketch.build;
    let piece = build.shared(16, 16, BarrierScope::Block);
    let base = build.shared_base(piece);
    let first = build.load(Space::Shared, Access::default(), DType::F32, 4, base, None);
    let sums = sketch.rounds(9, &first, |sketch, _, sums| {
        let build = &mut sketch.build;
        let sums = build.warpgroup_multiply(form(8), &[a], a, None, sums);
        build.warpgroup_commit();
        let sums = build.warpgroup_wait(0, &sums).to_vec();
        if scaled {
            sums.iter().map(|&sum| build.binary(Binary::Mul, sum, sum)).collect()
        } else {
            sums
        }
    });
    sketch.store(&sums);
    sketch.finish()
}

#[test]
fn registers_are_made_ready_where_a_loop_carries_them() {
    for scaled in [false, true] {
        let program = changed_where_they_lie(scaled);
        verify(&program).unwrap();
        let text = print(&program, target("sm_90a")).unwrap();
        let (_, body) = text.split_once("$L_loop").unwrap();
        let (before, _) = body.split_once("wgmma.mma_async").unwrap();
        assert!(before.contains("wgmma.fence"), "{text}");
    }
}
