//! Copies of AMD's GPUs from global memory straight into the local data share.
//!
//! The instruction takes the place of lane 0 from the register `m0`, and writes lane beside lane. clang has builtins
//! for it, but waits in front of every load of shared memory until all of these copies are there: which of them such a
//! load needs it cannot know. So the text has the instruction, and the waits that the program has.
//!
//! ```text
//! async.copy.16.run.filled %8, %7, %9     copy_buffer_16(at(v8) - 16 lanes, v5, v9 ? v6 : outside)
//! async.wait.copies.4 1                   s_waitcnt vmcnt(4)
//! ```
//!
//! Where zeros are wanted a lane reads outside of the buffer, if the address is a base and an offset, and else zeros
//! that the module has. It must not sit out: a copy that no lane begins would not be there to be counted.

use super::memory::{pointer, word};
use super::prelude::Helper;
use super::writer::{Writer, put};
use crate::emit::Unsupported;
use crate::emit::hip::{Generation, Target};
use crate::lane::effects::Latency;
use crate::lane::{AsyncCopy, InstData, Operand, Space, Value};

/// The end of an instruction's name for so many bytes of a lane, where there is such an instruction.
fn ending(target: &Target, bytes: u32) -> Option<&'static str> {
    match (target.generation, bytes) {
        (Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4, 4) => Some("dword"),
        (Generation::Cdna4, 16) => Some("dwordx4"),
        _ => None,
    }
}

/// A step of asynchronous copies.
pub(super) fn copy(
    w: &mut Writer<'_>,
    target: &Target,
    op: AsyncCopy,
    inst: &InstData,
) -> Result<(), Unsupported> {
    if let Some((bytes, offset)) = op.moves() {
        let Some(ending) = ending(target, bytes).filter(|_| op.is_run()) else {
            let what = format!("asynchronous copies of {bytes} bytes a lane");
            return Err(w.unsupported(what, "a load and a store do the same"));
        };
        begin(w, (bytes, offset), ending, inst);
    } else if let Some(copies) = op.counted() {
        put!(w, "asm volatile(\"s_waitcnt vmcnt({copies})\" : : : \"memory\")");
    } else if inst.op.effects().latency == Latency::Wait {
        return Err(w.unsupported("groups of asynchronous copies", "single copies are counted"));
    }
    // What is left makes groups, which are not counted.
    Ok(())
}

fn begin(w: &mut Writer<'_>, (bytes, offset): (u32, i32), ending: &str, inst: &InstData) {
    let [to, from] =
        [Space::Shared, Space::Global].map(|space| inst.operand(Operand::Address(space)));
    let (Some(to), Some(from)) = (to, from) else { return };
    let moved = word(w, bytes);
    let place = pointer(w, Space::Shared, moved, to, offset, false);
    w.uses_lane = true;
    let filled = inst.operand(Operand::Filled).map(|filled| w.spelled(filled));
    let call = match (w.base_and_offset(from), filled) {
        (Some([base, offset]), Some(filled)) => {
            w.need(Helper::Buffer);
            let [base, offset] = [base, offset].map(|value| w.spelled(value));
            let function = format!("copy_buffer_{bytes}");
            w.instructions.insert(function.clone(), by_buffer(&function, bytes, ending));
            format!("{function}({place}, lane, {base}, {filled} ? {offset} : outside)")
        }
        (_, filled) => {
            let source = w.spelled(from);
            let function = format!("copy_global_{bytes}");
            w.instructions.insert(function.clone(), by_address(&function, bytes, ending));
            match filled {
                Some(filled) => {
                    need_zeros(w);
                    format!("{function}({place}, lane, {filled} ? {source} : zeros_at())")
                }
                None => format!("{function}({place}, lane, {source})"),
            }
        }
    };
    match inst.operand(Operand::Predicate) {
        Some(predicate) => {
            let predicate = w.spelled(predicate);
            put!(w, "if ({predicate}) {call}");
        }
        None => put!(w, "{call}"),
    }
}

/// Asks for [`ZEROS`].
fn need_zeros(w: &mut Writer<'_>) {
    w.need(Helper::Word4);
    w.instructions.insert("a_zeros".into(), ZEROS.into());
}

/// The pointer to what is at an address where that is allowed, else to zeros. A branch around a load hides from the
/// compiler how many are under way: what was loaded before then waits for all of them.
pub(super) fn else_zeros(
    w: &mut Writer<'_>,
    ty: &str,
    allowed: Value,
    address: Value,
    offset: i32,
) -> String {
    need_zeros(w);
    w.need(Helper::Global);
    let [allowed, address] = [allowed, address].map(|value| w.spelled(value));
    let offset = if offset == 0 { String::new() } else { format!(" + {offset}") };
    format!("global<{ty}>({allowed} ? {address}{offset} : zeros_at())")
}

const ZEROS: &str = "\
// Zeros in global memory, for lanes that have nothing to copy.
__device__ const u32x4 zeros = {};
__device__ __forceinline__ u64 zeros_at() { return reinterpret_cast<u64>(&zeros); }
";

/// What a function begins with: the place of lane 0.
fn first(bytes: u32) -> String {
    format!(
        "  typedef __attribute__((address_space(3))) void* Shared;\n  \
         const u32 own = u32(reinterpret_cast<u64>((Shared)place));\n  \
         const u32 first = __builtin_amdgcn_readfirstlane(own - lane * {bytes});\n"
    )
}

/// The function for copies from a buffer. A vector instruction may have written the words of the resource just before,
/// which the memory instruction behind it must not read within five cycles.
fn by_buffer(function: &str, bytes: u32, ending: &str) -> String {
    let first = first(bytes);
    format!(
        "// Copies {bytes} bytes of each lane from its offset behind `base` to where the lanes' places follow one \
         another, and zeros\n// for a lane that is outside.\n\
         __device__ __forceinline__ void {function}(void* place, u32 lane, u64 base, u32 offset) {{\n\
         {first}  \
         const u32 low = __builtin_amdgcn_readfirstlane(u32(base));\n  \
         const u32 high = __builtin_amdgcn_readfirstlane(u32(base >> 32));\n  \
         typedef u32 Resource __attribute__((ext_vector_type(4)));\n  \
         const Resource buffer = {{low, high, outside, 0x00027000}};\n  \
         asm volatile(\"s_mov_b32 m0, %0\\n\\ts_nop 4\\n\\tbuffer_load_{ending} %1, %2, 0 offen lds\"\n               \
         : : \"s\"(first), \"v\"(offset), \"s\"(buffer) : \"memory\");\n}}\n"
    )
}

/// The function for copies from addresses.
fn by_address(function: &str, bytes: u32, ending: &str) -> String {
    let first = first(bytes);
    format!(
        "// Copies {bytes} bytes of each lane from its address to where the lanes' places follow one another.\n\
         __device__ __forceinline__ void {function}(void* place, u32 lane, u64 source) {{\n\
         {first}  \
         asm volatile(\"s_mov_b32 m0, %0\\n\\ts_nop 0\\n\\tglobal_load_lds_{ending} %1, off\"\n               \
         : : \"s\"(first), \"v\"(source) : \"memory\");\n}}\n"
    )
}
