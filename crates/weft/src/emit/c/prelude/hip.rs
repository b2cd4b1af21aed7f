//! The helpers as HIP has them.

use super::Helper;
use crate::emit::c::memory;
use crate::emit::hip::Generation;

/// The text of an exchange with the lane whose index differs by a mask; beyond a row by these lines, which the
/// comment describes.
macro_rules! shuffle_xor {
    ($beyond:literal, $lines:literal) => {
        concat!(
            "// The value of the lane whose index differs by MASK. Every lane of the wave takes part.\n",
            "// Within a row of 16 lanes the data is moved on the way to the next operation (DPP): a mirror of 8 or\n",
            "// 16 lanes or half a turn, then an exchange among four. Beyond: ",
            $beyond,
            ".\n",
            "template <u32 MASK, typename T>\n",
            "__device__ __forceinline__ T shuffle_xor(T x) {\n",
            "  u32 words[(sizeof(T) + 3) / 4] = {};\n",
            "  __builtin_memcpy(words, &x, sizeof x);\n",
            "  [[maybe_unused]] const u32 lane =\n",
            "      __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));\n",
            "  for (u32& word : words) {\n",
            "    if constexpr (MASK < 16) {\n",
            "      constexpr u32 row = MASK < 4 ? 0 : MASK < 8 ? 7 : MASK < 12 ? 8 : 15, four = MASK ^ row;\n",
            "      if constexpr (row != 0)\n",
            "        word = __builtin_amdgcn_mov_dpp(word, row == 7 ? 0x141 : row == 8 ? 0x128 : 0x140, 0xf, 0xf, true);\n",
            "      constexpr int quad = four | (1 ^ four) << 2 | (2 ^ four) << 4 | (3 ^ four) << 6;\n",
            "      if constexpr (four != 0)\n",
            "        word = __builtin_amdgcn_mov_dpp(word, quad, 0xf, 0xf, true);\n",
            $lines,
            "    } else {\n",
            "      word = __builtin_amdgcn_ds_bpermute((lane ^ MASK) << 2, word);\n",
            "    }\n",
            "  }\n",
            "  __builtin_memcpy(&x, words, sizeof x);\n",
            "  return x;\n",
            "}\n",
        )
    };
}

/// The text of a buffer resource, whose fourth word depends on the machine.
macro_rules! buffer {
    ($word:literal) => {
        concat!(
            "// Global memory from an address on, which all lanes of the wave have in common; the compiler need not find that\n",
            "// out. Beyond 2^31 bytes a load gives zero and a store does nothing: a lane whose offset is `outside` takes no part.\n",
            "constexpr u32 outside = 0x80000000;\n",
            "__device__ __forceinline__ __amdgpu_buffer_rsrc_t buffer(u64 address) {\n",
            "  const u32 low = __builtin_amdgcn_readfirstlane(u32(address));\n",
            "  const u32 high = __builtin_amdgcn_readfirstlane(u32(address >> 32));\n",
            "  void* const start = reinterpret_cast<void*>(u64(high) << 32 | low);\n",
            "  return __builtin_amdgcn_make_buffer_rsrc(start, 0, outside, ",
            $word,
            ");\n",
            "}\n",
        )
    };
}

/// HIP's text of a helper; none for one that both languages have.
#[allow(clippy::too_many_lines, reason = "a list of texts")]
pub(super) fn helper(helper: Helper, generation: Generation) -> &'static str {
    match helper {
        Helper::Half => "using f16 = _Float16;\n",
        Helper::Brain => "using bf16 = __bf16;\n",
        Helper::Print => "extern \"C\" __device__ int printf(const char*, ...);\n",
        Helper::Word2 => "using u32x2 = u32 __attribute__((ext_vector_type(2)));\n",
        Helper::Word4 => "using u32x4 = u32 __attribute__((ext_vector_type(4)));\n",
        Helper::Global => "\
// Global memory at an address.
template <typename T>
__device__ __forceinline__ auto global(u64 address) {
  typedef __attribute__((address_space(1))) T Word __attribute__((may_alias));
  return reinterpret_cast<Word*>(address);
}
",
        Helper::GlobalVolatile => "\
// Global memory at an address; every access goes to memory.
template <typename T>
__device__ __forceinline__ auto global_volatile(u64 address) {
  typedef volatile __attribute__((address_space(1))) T Word __attribute__((may_alias));
  return reinterpret_cast<Word*>(address);
}
",
        // The fourth word: the format of elements must be one that exists, and is not used; where accesses out of
        // bounds can be defined in several ways (bits 28 and 29), as RDNA has it, 3 compares offsets with the
        // bytes. MLIR's `AMDGPUToROCDL.cpp` (`makeBufferRsrc`) says the same of each bit for gfx9 and gfx10 on.
        Helper::Buffer if generation.is_rdna() => buffer!("0x31027000"),
        Helper::Buffer => buffer!("0x00027000"),
        Helper::At => "\
// Shared memory, this many bytes from its start.
template <typename T>
__device__ __forceinline__ auto at(void* memory, u32 offset) {
  typedef T Word __attribute__((may_alias));
  return reinterpret_cast<Word*>(static_cast<u8*>(memory) + offset);
}
",
        Helper::AtVolatile => "\
// Shared memory, this many bytes from its start; every access goes to memory.
template <typename T>
__device__ __forceinline__ auto at_volatile(void* memory, u32 offset) {
  typedef volatile T Word __attribute__((may_alias));
  return reinterpret_cast<Word*>(static_cast<u8*>(memory) + offset);
}
",
        Helper::Atomics => memory::HIP_ATOMICS,
        Helper::SyncWarp => "\
// Orders memory among the lanes of a wave, which run together.
__device__ __forceinline__ void sync_warp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"wavefront\");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"wavefront\");
}
",
        Helper::SyncBlock => "\
// Waits for the block, and orders memory in it.
__device__ __forceinline__ void sync_block() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");
}
",
        Helper::Shuffle => "\
// The value of another lane, its index taken modulo the wave's. Every lane of the wave takes part.
template <typename T>
__device__ __forceinline__ T shuffle(T x, u32 from) {
  u32 words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &x, sizeof x);
  for (u32& word : words) word = __builtin_amdgcn_ds_bpermute(from << 2, word);
  __builtin_memcpy(&x, words, sizeof x);
  return x;
}
",
        Helper::ShuffleXor => match generation {
            Generation::Cdna2 | Generation::Cdna3 => shuffle_xor!(
                "ds_swizzle",
                "    } else if constexpr (MASK < 32) {\n      \
                 word = __builtin_amdgcn_ds_swizzle(word, MASK << 10 | 0x1f);\n"
            ),
            Generation::Cdna4 => shuffle_xor!(
                "a swap of rows or halves (permlane), else ds_swizzle",
                "    } else if constexpr (MASK == 16) {\n      \
                 const auto pair = __builtin_amdgcn_permlane16_swap(word, word, false, false);\n      \
                 word = (lane & 16) != 0 ? pair[0] : pair[1];\n    \
                 } else if constexpr (MASK == 32) {\n      \
                 const auto pair = __builtin_amdgcn_permlane32_swap(word, word, false, false);\n      \
                 word = (lane & 32) != 0 ? pair[0] : pair[1];\n    \
                 } else if constexpr (MASK < 32) {\n      \
                 word = __builtin_amdgcn_ds_swizzle(word, MASK << 10 | 0x1f);\n"
            ),
            Generation::Rdna3 | Generation::Rdna4 => shuffle_xor!(
                "permlanex16 where the other row is asked for at the same place, else ds_swizzle",
                "    } else if constexpr (MASK == 16) {\n      \
                 word = __builtin_amdgcn_permlanex16(word, word, 0x76543210, 0xfedcba98, true, false);\n    \
                 } else if constexpr (MASK < 32) {\n      \
                 word = __builtin_amdgcn_ds_swizzle(word, MASK << 10 | 0x1f);\n"
            ),
        },
        Helper::BytePermute => "\
// Bytes of a (0 to 3) and b (4 to 7), as the nibbles of the selector say; a nibble's top bit asks for
// the byte's sign instead. The instruction takes a byte where the selector has a nibble.
__device__ __forceinline__ u32 byte_permute(u32 a, u32 b, u32 selector) {
  u32 spread = selector & 0xffff;
  spread = (spread | spread << 8) & 0x00ff00ff;
  spread = (spread | spread << 4) & 0x0f0f0f0f;
  const u32 word = __builtin_amdgcn_perm(b, a, spread & 0x07070707);
  const u32 signs = (spread >> 3) * 0xff;
  return (word & ~signs) | ((word >> 7 & 0x01010101) * 0xff & signs);
}
",
        Helper::ByteChoice => "\
// Bytes of a (0 to 3) and b (4 to 7), as the nibbles of the selector say, of which none has its top bit set.
__device__ __forceinline__ u32 byte_choice(u32 a, u32 b, u32 selector) {
  u32 spread = selector & 0xffff;
  spread = (spread | spread << 8) & 0x00ff00ff;
  spread = (spread | spread << 4) & 0x0f0f0f0f;
  return __builtin_amdgcn_perm(b, a, spread);
}
",
        Helper::Minimum => "\
// The smaller one; what is no number wins.
__device__ __forceinline__ float minimum(float x, float y) {
  return x != x || y != y ? x + y : __builtin_fminf(x, y);
}
",
        Helper::Maximum => "\
// The larger one; what is no number wins.
__device__ __forceinline__ float maximum(float x, float y) {
  return x != x || y != y ? x + y : __builtin_fmaxf(x, y);
}
",
        Helper::MinimumDouble => "\
// The smaller one; what is no number wins.
__device__ __forceinline__ double minimum(double x, double y) {
  return x != x || y != y ? x + y : __builtin_fmin(x, y);
}
",
        Helper::MaximumDouble => "\
// The larger one; what is no number wins.
__device__ __forceinline__ double maximum(double x, double y) {
  return x != x || y != y ? x + y : __builtin_fmax(x, y);
}
",
        Helper::FmaBrain => "\
// x * y + z, rounded once: the product is exact in f64, and what is lost of the sum is kept by rounding
// to odd until the last step.
__device__ __forceinline__ bf16 multiply_add(bf16 x, bf16 y, bf16 z) {
  const double product = double(float(x)) * double(float(y));
  const double addend = double(float(z));
  const double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  const u64 word = bits<u64>(sum);
  const bool finite = (word >> 52 & 0x7ff) != 0x7ff;
  if (error == 0.0 || !finite || (word & 1) != 0) return bf16(to_odd(sum));
  const bool away = (error > 0.0) == (sum > 0.0);
  return bf16(to_odd(bits<double>(away ? word + 1 : word - 1)));
}
",
        Helper::FmaZero => "\
// x * y + z, rounded toward zero: the wave's rounding mode is changed for this one instruction.
__device__ __forceinline__ float fma_rz(float x, float y, float z) {
  float sum;
  asm volatile(
      \"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3\\n\"
      \"v_fma_f32 %0, %1, %2, %3\\n\"
      \"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0\"
      : \"=v\"(sum)
      : \"v\"(x), \"v\"(y), \"v\"(z));
  return sum;
}
",
        Helper::FmaZeroDouble => "\
// x * y + z, rounded toward zero: the wave's rounding mode is changed for this one instruction.
__device__ __forceinline__ double fma_rz(double x, double y, double z) {
  double sum;
  asm volatile(
      \"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 3\\n\"
      \"v_fma_f64 %0, %1, %2, %3\\n\"
      \"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0\"
      : \"=v\"(sum)
      : \"v\"(x), \"v\"(y), \"v\"(z));
  return sum;
}
",
        Helper::FmaDown => "\
// x * y + z, rounded down: the wave's rounding mode is changed for this one instruction.
__device__ __forceinline__ float fma_rd(float x, float y, float z) {
  float sum;
  asm volatile(
      \"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 2\\n\"
      \"v_fma_f32 %0, %1, %2, %3\\n\"
      \"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0\"
      : \"=v\"(sum)
      : \"v\"(x), \"v\"(y), \"v\"(z));
  return sum;
}
",
        Helper::FmaDownDouble => "\
// x * y + z, rounded down: the wave's rounding mode is changed for this one instruction.
__device__ __forceinline__ double fma_rd(double x, double y, double z) {
  double sum;
  asm volatile(
      \"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 2\\n\"
      \"v_fma_f64 %0, %1, %2, %3\\n\"
      \"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0\"
      : \"=v\"(sum)
      : \"v\"(x), \"v\"(y), \"v\"(z));
  return sum;
}
",
        Helper::FmaUp => "\
// x * y + z, rounded up: the wave's rounding mode is changed for this one instruction.
__device__ __forceinline__ float fma_ru(float x, float y, float z) {
  float sum;
  asm volatile(
      \"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\\n\"
      \"v_fma_f32 %0, %1, %2, %3\\n\"
      \"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0\"
      : \"=v\"(sum)
      : \"v\"(x), \"v\"(y), \"v\"(z));
  return sum;
}
",
        Helper::FmaUpDouble => "\
// x * y + z, rounded up: the wave's rounding mode is changed for this one instruction.
__device__ __forceinline__ double fma_ru(double x, double y, double z) {
  double sum;
  asm volatile(
      \"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 1\\n\"
      \"v_fma_f64 %0, %1, %2, %3\\n\"
      \"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0\"
      : \"=v\"(sum)
      : \"v\"(x), \"v\"(y), \"v\"(z));
  return sum;
}
",
        _ => "",
    }
}
