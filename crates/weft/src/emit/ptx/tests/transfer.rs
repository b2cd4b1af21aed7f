//! Bulk copies, mbarriers and roles, from the lane programs of the simulator's tests.

use super::super::{Target, print};
use super::warpgroup::assembled;
use crate::lane::{self, Program, verify};
use expect_test::expect;
use std::path::Path;

const LANES: [(&str, &str); 5] = [
    ("drain", include_str!("../../../../tests/lanes/drain.lane")),
    ("phases", include_str!("../../../../tests/lanes/phases.lane")),
    ("ping_pong", include_str!("../../../../tests/lanes/ping_pong.lane")),
    ("ring", include_str!("../../../../tests/lanes/ring.lane")),
    ("boxes", include_str!("../../../../tests/lanes/boxes.lane")),
];

/// Two warpgroups with registers of their own.
const SHARED_OUT: &str = "
lane @shared_out(out: ptr<i32>) warps 12 lanes 32 shared 8 {
  @s0 = 8 bytes at 0 align 8 mbarriers
  %out: i64 = param 0
  %m: i32 = address @s0
  %even: i1 = const 0x0
  mbarrier.initialise 256 %m
  barrier.block
  roles 0+4:24 4+8:240 {
    mbarrier.wait %m, %even
    mbarrier.invalidate %m
    yield
  } else {
    mbarrier.arrive %m
    yield
  }
  return
}
";

fn read(name: &str, text: &str) -> Program {
    let program = lane::read(text, name).unwrap_or_else(|error| panic!("{error}"));
    verify(&program).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    program
}

fn target(name: &str) -> &'static Target {
    Target::by_name(name).unwrap()
}

#[test]
fn each_warp_goes_to_the_body_of_its_role() {
    let text = print(&read("shared_out", SHARED_OUT), target("sm_90")).unwrap();
    let body = &text[text.find(".reqntid").unwrap()..];
    expect![[r#"
        .reqntid 384
        .maxnreg 168
        {
          .reg .pred %p<3>;
          .reg .pred %pt<3>;
          .reg .b32 %r<2>;
          .reg .b32 %rt<3>;
          .reg .b64 %rd<1>;
          .reg .b32 %thread, %lane, %warp;
          mov.u32 %thread, %tid.x;
          shr.u32 %warp, %thread, 5;
          // shared_out:4
          ld.param.b64 %rd0, [p0_out];
          // shared_out:5
          mov.b32 %r1, global_smem+0;
          // shared_out:6
          mov.pred %p2, 0;
          // shared_out:7
          mbarrier.init.shared::cta.b64 [%r1], 256;
          // shared_out:8
          bar.sync 0;
          // shared_out:9
          sub.u32 %rt0, %warp, 0;
          setp.ge.u32 %pt0, %rt0, 4;
          @%pt0 bra $L_role_5_0;
          setmaxnreg.dec.sync.aligned.u32 24;
            // shared_out:10
            selp.b32 %rt1, 1, 0, %p2;
          $L_wait_6:
            mbarrier.try_wait.parity.shared::cta.b64 %pt1, [%r1], %rt1;
            @!%pt1 bra $L_wait_6;
            // shared_out:11
            mbarrier.inval.shared::cta.b64 [%r1];
            bra $L_roles_5;
          $L_role_5_0:
          sub.u32 %rt2, %warp, 4;
          setp.ge.u32 %pt2, %rt2, 8;
          @%pt2 bra $L_role_5_1;
          setmaxnreg.inc.sync.aligned.u32 240;
            // shared_out:14
            mbarrier.arrive.shared::cta.b64 _, [%r1];
            bra $L_roles_5;
          $L_role_5_1:
          $L_roles_5:
          // shared_out:17
          ret;
        }
    "#]]
    .assert_eq(body);
    assert!(text.contains(".target sm_90a"));
}

#[test]
fn what_counts_bytes_stands_at_its_addresses() {
    let text = print(&read("ring", LANES[3].1), target("sm_90")).unwrap();
    let is_one =
        |line: &&str| ["mbarrier", "cp.async", "fence"].iter().any(|word| line.contains(word));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(is_one).collect();
    expect![[r#"
        mbarrier.init.shared::cta.b64 [%r16], 1;
        mbarrier.init.shared::cta.b64 [%r17], 1;
        mbarrier.init.shared::cta.b64 [%r18], 4;
        mbarrier.init.shared::cta.b64 [%r19], 4;
        fence.proxy.async.shared::cta;
        mbarrier.try_wait.parity.shared::cta.b64 %pt1, [%r34], %rt1;
        fence.proxy.async.shared::cta;
        mbarrier.arrive.shared::cta.b64 _, [%r46];
        mbarrier.try_wait.parity.shared::cta.b64 %pt3, [%r67], %rt3;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r66], %r12;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r69], [%rd72], %r12, [%r66];"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn boxes_are_copied_by_the_address_of_their_map() {
    let text = print(&read("boxes", LANES[4].1), target("sm_90")).unwrap();
    let is_one = |line: &&str| {
        [".param .align", "cvta.param", "bulk.tensor"].iter().any(|word| line.contains(word))
    };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(is_one).collect();
    expect![[r#"
        .param .align 64 .b8 p2_from[128],
        .param .align 64 .b8 p3_to[128],
        cvta.param.u64 %rdt1, %rdt0;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rdt1, {%r8, %r6}], [%r12];
        cvta.param.u64 %rdt6, %rdt5;
        cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rdt6, {%r8, %r6}], [%r11];
        cvta.param.u64 %rdt8, %rdt7;
        cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%rdt8, {%r8, %r6}], [%r11];"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn earlier_targets_and_other_languages_refuse_them() {
    let ring = read("ring", LANES[3].1);
    let refused = print(&ring, target("sm_89")).unwrap_err();
    expect!["sm_89 has no `mbarriers that count bytes`: sm_90 and later have them"]
        .assert_eq(&refused.to_string());
    let refused = print(&read("shared_out", SHARED_OUT), target("sm_120")).unwrap_err();
    expect![
        "sm_120 has no `registers by role`: only targets with the suffix `a` share registers out"
    ]
    .assert_eq(&refused.to_string());
    let cuda = crate::emit::cuda::print(&ring, target("sm_90")).unwrap_err();
    expect!["sm_90 has no `bulk copies and roles of warps`: only PTX is printed of them"]
        .assert_eq(&cuda.to_string());
    let boxes = read("boxes", LANES[4].1);
    let (registers, lines) =
        (crate::emit::ptx::Registers::Balanced, crate::emit::ptx::LineInfo::Omitted);
    let header = crate::emit::launcher::print(&boxes, target("sm_90"), registers, lines);
    expect!["sm_90 has no `tensor maps as arguments`: no header encodes them"]
        .assert_eq(&header.unwrap_err().to_string());
}

/// Needs the path of ptxas in `WEFT_PTXAS`.
#[test]
fn the_assembler_accepts_bulk_copies_and_roles() {
    let Some(ptxas) = std::env::var_os("WEFT_PTXAS") else {
        println!("skipped: set WEFT_PTXAS to the path of NVIDIA's ptxas");
        return;
    };
    let folder = std::env::temp_dir().join(format!("weft-transfer-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let all = LANES.into_iter().chain([("shared_out", SHARED_OUT)]);
    for (name, text) in all {
        let program = read(name, text);
        let program = [program.clone(), crate::simplify::run(program)];
        for program in program {
            let text = print(&program, target("sm_90a")).unwrap();
            let said = assembled(Path::new(&ptxas), &text, name, &folder);
            // What it ignores or serialises it says by these codes.
            assert!(!said.contains("(C75"), "{name}: {said}\n{text}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
