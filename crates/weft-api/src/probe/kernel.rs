//! A probe's kernel: a loop around instructions, between two looks at the clock.
//!
//! The same instructions stand in a shorter and in a longer body; the difference of the two times is
//! that of the instructions between, whatever the loop itself takes.

use super::instruction::{Instruction, SLOTS};
use std::fmt::Write;
use weft::emit::ptx::Target;

/// Bytes that each warp writes, three numbers of 64 bits: the clock before and after its loop, and the
/// number of the multiprocessor, whose clock it is.
pub const TIMES_BYTES: usize = 24;
/// The kernel with the shorter body.
pub const SHORT: &str = "short";
/// The kernel with the longer body.
pub const LONG: &str = "long";

/// The PTX of a module with both kernels; the bodies repeat the instructions `units` times and twice
/// as often. A kernel takes the addresses of a table of 32 lane addresses and of the times, then the
/// number of loops.
pub(super) fn text(target: &Target, instructions: &[Instruction], units: u32) -> String {
    let (major, minor) = target.ptx_version;
    let mut text = format!(
        ".version {major}.{minor}\n.target {}\n.address_size 64\n\n\
         .extern .shared .align 1024 .b8 pool[];\n",
        target.name
    );
    entry(&mut text, SHORT, instructions, units);
    entry(&mut text, LONG, instructions, 2 * units);
    text
}

fn entry(text: &mut String, name: &str, instructions: &[Instruction], units: u32) {
    let mut registers = String::new();
    let mut seeds = String::new();
    let mut sinks = String::new();
    for slot in 0..SLOTS {
        for i in 0..4 {
            let _ = writeln!(registers, "  .reg .b32 %l{slot}_{i};");
            let _ = writeln!(seeds, "  mov.u32 %l{slot}_{i}, %seed0;");
            let _ = writeln!(sinks, "  xor.b32 %sink, %sink, %l{slot}_{i};");
        }
        for name in ["x", "p", "o", "m", "e", "f", "g", "k"] {
            let _ = writeln!(registers, "  .reg .b32 %{name}{slot};");
            let _ = writeln!(seeds, "  add.u32 %{name}{slot}, %seed0, {slot};");
            let _ = writeln!(sinks, "  xor.b32 %sink, %sink, %{name}{slot};");
        }
        let _ = writeln!(registers, "  .reg .b32 %at{slot};");
        let _ = writeln!(seeds, "  add.u32 %at{slot}, %address, %zero;");
    }
    let mut body = String::new();
    let loads = instructions.iter().any(|one| matches!(one, Instruction::Load(_)));
    let loaded = loads && instructions.iter().any(|one| one.consumes());
    for place in 0..units as usize {
        for (index, instruction) in instructions.iter().enumerate() {
            // Instructions of one kind take turns at the slots.
            let before = instructions[..index].iter().filter(|other| *other == instruction).count();
            let each = instructions.iter().filter(|other| *other == instruction).count();
            instruction.write(&mut body, place * each + before, loaded.then_some(place % SLOTS));
        }
    }
    let _ = write!(
        text,
        r#"
.visible .entry {name}(.param .u64 p_table, .param .u64 p_times, .param .u32 p_loops)
{{
  .reg .pred %again, %odd, %keep;
  .reg .b64 %table, %times, %start, %end, %wide;
  .reg .b32 %loops, %lane, %warp, %warps, %block, %index, %address, %base, %zero;
  .reg .b32 %seed0, %seed1, %seed2, %seed3, %selector, %other, %real, %sink;
{registers}
  ld.param.u64 %table, [p_table];
  ld.param.u64 %times, [p_times];
  ld.param.u32 %loops, [p_loops];
  cvta.to.global.u64 %table, %table;
  cvta.to.global.u64 %times, %times;
  mov.u32 %lane, %laneid;
  mov.u32 %warp, %tid.x;
  shr.u32 %warp, %warp, 5;
  mov.u32 %warps, %ntid.x;
  shr.u32 %warps, %warps, 5;
  mov.u32 %block, %ctaid.x;
  mad.lo.u32 %index, %block, %warps, %warp;
  mul.wide.u32 %wide, %index, {TIMES_BYTES};
  add.u64 %times, %times, %wide;
  mul.wide.u32 %wide, %lane, 4;
  add.u64 %table, %table, %wide;
  ld.global.u32 %address, [%table];
  mov.u32 %base, pool;
  add.u32 %address, %address, %base;
  shr.u32 %zero, %loops, 31;
  mad.lo.u32 %seed0, %lane, 2654435769, %loops;
  mad.lo.u32 %seed1, %lane, 2246822519, %loops;
  mad.lo.u32 %seed2, %lane, 3266489917, %loops;
  mad.lo.u32 %seed3, %lane, 668265263, %loops;
  xor.b32 %selector, %seed1, %loops;
  xor.b32 %other, %lane, 5;
  cvt.rn.f32.u32 %real, %lane;
  and.b32 %sink, %seed2, 1;
  setp.ne.u32 %odd, %sink, 0;
  mov.u32 %sink, 0;
{seeds}
  bar.sync 0;
  mov.u64 %start, %clock64;
$loop:
  .pragma "nounroll";
{body}  sub.u32 %loops, %loops, 1;
  setp.ne.u32 %again, %loops, 0;
  @%again bra $loop;
  mov.u64 %end, %clock64;
  bar.sync 0;
{sinks}
  setp.ne.u32 %keep, %sink, 0x5eed5eed;
  @%keep st.shared.u8 [%address], %sink;
  setp.eq.u32 %keep, %lane, 0;
  @%keep st.global.u64 [%times], %start;
  @%keep st.global.u64 [%times+8], %end;
  mov.u32 %index, %smid;
  cvt.u64.u32 %wide, %index;
  @%keep st.global.u64 [%times+16], %wide;
  ret;
}}
"#,
    );
}
