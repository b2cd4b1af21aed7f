//! The small functions that a text begins with: only those that it uses, each with what it is.

mod hip;

use super::dialect::Dialect;
use crate::instruction::{self, Body, Form, Function, Words};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// The integer types that all texts begin with.
pub(super) const TYPES: &str = "\
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
";

/// What a text can begin with, in the order of printing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Helper {
    Print,
    Half,
    Brain,
    Word2,
    Word4,
    Vec,
    Bits,
    Global,
    GlobalVolatile,
    Buffer,
    Shared,
    Pin,
    Keep,
    At,
    AtVolatile,
    LoadVolatile,
    StoreVolatile,
    Atomics,
    SyncWarp,
    SyncBlock,
    Shuffle,
    ShuffleXor,
    BytePermute,
    ByteChoice,
    Shl,
    ShrU,
    ShrS,
    DivU,
    DivS,
    RemU,
    RemS,
    /// The function of a row of [`instruction::ALL`].
    Instruction(usize),
    Div,
    Minimum,
    Maximum,
    MinimumDouble,
    MaximumDouble,
    ToOdd,
    Whole,
    ToInteger,
    TowardZero,
    FromEighth,
    ToEighth,
    FmaBrain,
    FmaZero,
    FmaDown,
    FmaUp,
    FmaZeroDouble,
    FmaDownDouble,
    FmaUpDouble,
}

impl Helper {
    /// Whether it only names a type.
    pub(super) fn is_alias(self) -> bool {
        matches!(self, Helper::Print | Helper::Half | Helper::Brain | Helper::Word2 | Helper::Word4)
    }
}

/// Names that a kernel's arguments must not have: ours, and the language's that a Python program may
/// have as well.
#[allow(clippy::too_many_lines, reason = "a list")]
pub(super) fn is_reserved(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "i8",
        "i16",
        "i32",
        "i64",
        "u8",
        "u16",
        "u32",
        "u64",
        "f16",
        "bf16",
        "u32x2",
        "u32x4",
        "Vec",
        "bits",
        "global",
        "global_volatile",
        "buffer",
        "outside",
        "shared",
        "at",
        "at_volatile",
        "load_volatile",
        "store_volatile",
        "atomic_cas",
        "sync_warp",
        "sync_block",
        "shuffle",
        "shuffle_xor",
        "byte_permute",
        "byte_choice",
        "shift_left",
        "shift_right",
        "shift_right_signed",
        "divide",
        "divide_signed",
        "remainder",
        "remainder_signed",
        "log_approximate",
        "divide_approximate",
        "minimum",
        "maximum",
        "printf",
        "to_odd",
        "whole",
        "to_integer",
        "toward_zero",
        "from_eighth",
        "to_eighth",
        "multiply_add",
        "lane",
        "warp",
        "shared_memory",
        "shared_start",
        "pin",
        "keep",
        "scratch",
        "from",
        "to",
        "alignas",
        "auto",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "constexpr",
        "continue",
        "default",
        "delete",
        "do",
        "double",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "main",
        "mutable",
        "namespace",
        "new",
        "not",
        "operator",
        "or",
        "and",
        "xor",
        "private",
        "protected",
        "public",
        "register",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "template",
        "this",
        "throw",
        "true",
        "try",
        "typedef",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "while",
        "exp",
        "exp2",
        "log",
        "log2",
        "fmin",
        "fmax",
        "fmod",
        "fabs",
        "floor",
        "ceil",
        "fminf",
        "fmaxf",
        "fmodf",
        "fabsf",
        "floorf",
        "ceilf",
        "threadIdx",
        "blockIdx",
        "gridDim",
        "blockDim",
    ];
    NAMES.contains(&name) || name.starts_with("__") || instruction::is_function(name)
}

/// What a helper calls.
pub(super) fn needs(helper: Helper, dialect: Dialect) -> SmallVec<[Helper; 2]> {
    match helper {
        Helper::LoadVolatile | Helper::StoreVolatile => smallvec![Helper::Word2, Helper::Word4],
        Helper::Instruction(place) => function(place, dialect)
            .and_then(|(_, function)| instruction::of(function.calls?))
            .map(|row| Helper::Instruction(row.place()))
            .into_iter()
            .collect(),
        Helper::ToOdd | Helper::TowardZero | Helper::FromEighth | Helper::ToEighth => {
            smallvec![Helper::Bits]
        }
        Helper::Whole => smallvec![Helper::ToOdd],
        Helper::FmaBrain => smallvec![Helper::Brain, Helper::Bits, Helper::ToOdd],
        _ => smallvec![],
    }
}

/// The text of a helper in a dialect.
pub(super) fn text(helper: Helper, dialect: Dialect) -> Cow<'static, str> {
    if let Helper::Instruction(place) = helper {
        return function(place, dialect)
            .map_or(Cow::Borrowed(""), |(form, function)| Cow::Owned(of_float(form, function)));
    }
    let shared = both(helper);
    let own = match dialect {
        _ if !shared.is_empty() => shared,
        Dialect::Cuda(_) => cuda(helper),
        Dialect::Hip(target) => hip::helper(helper, target.generation),
    };
    Cow::Borrowed(own)
}

/// The function of one f32 that a dialect has for a row of [`instruction::ALL`], and what it is of.
fn function(place: usize, dialect: Dialect) -> Option<(&'static Form, &'static Function)> {
    let form = &instruction::ALL.get(place)?.single;
    match dialect.words(form) {
        Words::Call(function) => Some((form, function)),
        Words::Expression(..) | Words::Missing(_) => None,
    }
}

/// The text of a function of one f32.
fn of_float(form: &Form, function: &Function) -> String {
    let Function { name, about, body, calls: _ } = function;
    let body = match *body {
        Body::Text(text) => text.into(),
        Body::Assembly(result) => {
            let instruction = form.ptx.first().map_or("", |step| step.name);
            format!(
                "{{\n  float {result};\n  \
                 asm(\"{instruction} %0, %1;\" : \"=f\"({result}) : \"f\"(x));\n  \
                 return {result};\n}}"
            )
        }
    };
    format!("// {about}\n__device__ __forceinline__ float {name}(float x) {body}\n")
}

/// Helpers that are the same in both dialects.
fn both(helper: Helper) -> &'static str {
    match helper {
        Helper::Vec => "\
// The elements of one access, the first at the lowest address.
template <typename T, int N>
struct alignas(sizeof(T) * N) Vec {
  T at[N];
};
",
        Helper::Bits => "\
// The same bits as another type.
template <typename To, typename From>
__device__ __forceinline__ To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), \"bits of one width\");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
",
        Helper::Shl => "\
// x << count; zero when the count reaches the width.
template <typename T>
__device__ __forceinline__ T shift_left(T x, T count) {
  return count < sizeof(T) * 8 ? T(x << count) : T(0);
}
",
        Helper::ShrU => "\
// x >> count; zero when the count reaches the width.
template <typename T>
__device__ __forceinline__ T shift_right(T x, T count) {
  return count < sizeof(T) * 8 ? T(x >> count) : T(0);
}
",
        Helper::ShrS => "\
// x >> count with the sign repeated, also when the count reaches the width.
template <typename T>
__device__ __forceinline__ T shift_right_signed(T x, T count) {
  const bool negative = x >> (sizeof(T) * 8 - 1);
  const T kept = count < sizeof(T) * 8 ? count : T(sizeof(T) * 8 - 1);
  return negative ? T(~(T(~x) >> kept)) : T(x >> kept);
}
",
        Helper::DivU => "\
// x / y; all ones by zero.
template <typename T>
__device__ __forceinline__ T divide(T x, T y) {
  return y == 0 ? T(~T(0)) : T(x / y);
}
",
        Helper::DivS => "\
// x / y toward zero; minus one by zero, and the least number is its own negative.
template <typename T>
__device__ __forceinline__ T divide_signed(T x, T y) {
  if (y == 0) return T(-1);
  return y == -1 ? T(u64(0) - u64(x)) : T(x / y);
}
",
        Helper::RemU => "\
// x % y; x by zero.
template <typename T>
__device__ __forceinline__ T remainder(T x, T y) {
  return y == 0 ? x : T(x % y);
}
",
        Helper::RemS => "\
// x % y with the sign of x; x by zero.
template <typename T>
__device__ __forceinline__ T remainder_signed(T x, T y) {
  if (y == 0) return x;
  return y == -1 ? T(0) : T(x % y);
}
",
        Helper::ToOdd => "\
// The float next to x, or, of the two around it, the one with an odd last bit: rounding that again to
// a shorter type gives what rounding x once would have given.
__device__ __forceinline__ float to_odd(double x) {
  const float nearest = float(x);
  const double back = double(nearest);
  const u32 word = bits<u32>(nearest);
  if (back == x || x != x || (word & 1) != 0) return nearest;
  // Away from zero is the next pattern of bits, toward zero the one before.
  const bool away = (x > back) == (x > 0);
  return bits<float>(away ? word + 1 : word - 1);
}
",
        Helper::Whole => "\
// A whole number, exact, or with the bits below the last one kept gathered in it.
__device__ __forceinline__ double whole(u64 x) {
  return x >> 53 == 0 ? double(x) : double(x >> 12 | u64((x & 4095) != 0)) * 4096.0;
}

__device__ __forceinline__ double whole(i64 x) {
  return x < 0 ? -whole(u64(0) - u64(x)) : whole(u64(x));
}
",
        Helper::ToInteger => "\
// Toward zero; beyond the ends (low, and high excluded) the end; `none` for what is no number.
template <typename I, typename F>
__device__ __forceinline__ I to_integer(F x, F low, F high, I none) {
  const I least = I(low);
  if (x != x) return none;
  return x <= low ? least : x >= high ? I(~least) : I(x);
}
",
        Helper::TowardZero => "\
// The nearest number of a narrower type, or the one before it where that is farther from zero than x.
template <typename To, typename Word, typename From>
__device__ __forceinline__ To toward_zero(From x) {
  const To nearest = To(x);
  const From back = From(nearest);
  const bool away = back < From(0) ? back < x : back > x;
  return away ? bits<To>(Word(bits<Word>(nearest) - 1)) : nearest;
}
",
        Helper::FromEighth => "\
// A float of eight bits; scale is 2 to the difference of the biases. Above the largest number lies
// infinity, where the mantissa has two bits, and what is no number; where nothing lies above it, a
// negative zero is no number.
__device__ __forceinline__ float from_eighth(u8 x, u32 mantissa, float scale, u32 largest) {
  const u32 magnitude = x & 0x7f;
  u32 word = bits<u32>(bits<float>(magnitude << (23 - mantissa)) * scale);
  if (magnitude > largest) word |= mantissa == 2 ? 0x7f800000u : 0x7fffffffu;
  if (largest == 0x7f && x == 0x80) word = 0x7fffffffu;
  return bits<float>(word | u32(x & 0x80) << 24);
}
",
        Helper::ToEighth => "\
// The nearest float of eight bits, or the next one toward zero; beyond the largest number, that.
__device__ __forceinline__ u8 to_eighth(
    float x, u32 mantissa, u32 bias, u32 largest, float most, bool toward_zero) {
  const u32 word = bits<u32>(x), end = bits<u32>(most);
  const u32 magnitude = (word & 0x7fffffff) < end ? word & 0x7fffffff : end;
  const u32 exponent = magnitude >> 23, least = 128 - bias;
  const u32 wanted = 23 - mantissa + (exponent < least ? least - exponent : 0);
  // Of 24 bits that are shifted by 25 nothing is left, and less than half.
  const u32 shift = wanted < 25 ? wanted : 25;
  // Of a subnormal number the hidden bit counts; a carry goes into the exponent.
  const u32 number = exponent < least ? (magnitude & 0x7fffff) | 0x800000
                                      : magnitude - ((127 - bias) << 23);
  const u32 rest = number & ((1u << shift) - 1), half = 1u << (shift - 1);
  const u32 cut = number >> shift;
  const u32 result = cut + u32(!toward_zero & ((rest > half) | ((rest == half) & (cut & 1))));
  const u32 sign = largest == 0x7f && result == 0 ? 0 : word >> 24 & 0x80;
  return x != x ? (largest == 0x7f ? 0x80 : 0x7f) : u8(sign | result);
}
",
        _ => "",
    }
}

/// The text of a helper that only CUDA has.
#[allow(clippy::too_many_lines, reason = "a list of texts")]
fn cuda(helper: Helper) -> &'static str {
    match helper {
        Helper::Half => "using f16 = __half;\n",
        Helper::Brain => "using bf16 = __nv_bfloat16;\n",
        Helper::Print => "",
        Helper::Word2 => "using u32x2 = uint2;\n",
        Helper::Word4 => "using u32x4 = uint4;\n",
        Helper::Global => "\
// Global memory at an address.
template <typename T>
__device__ __forceinline__ T* global(u64 address) {
  return static_cast<T*>(__cvta_global_to_generic(address));
}
",
        Helper::Shared => "\
// Shared memory at an address.
template <typename T>
__device__ __forceinline__ T* shared(u32 address) {
  return static_cast<T*>(__cvta_shared_to_generic(address));
}
",
        Helper::Pin => "\
// Registers that a product may change: what is in them is computed before, and read from them behind.
__device__ __forceinline__ void pin(float& x) { asm volatile(\"\" : \"+f\"(x) : : \"memory\"); }
__device__ __forceinline__ void pin(u32& x) { asm volatile(\"\" : \"+r\"(x) : : \"memory\"); }
template <typename... T>
__device__ __forceinline__ void pin(T&... all) {
  (pin(all), ...);
}
",
        Helper::Keep => "\
// Registers that a product may read: what is in them is computed before, and stays until here.
__device__ __forceinline__ void keep(float x) { asm volatile(\"\" : : \"f\"(x) : \"memory\"); }
__device__ __forceinline__ void keep(u32 x) { asm volatile(\"\" : : \"r\"(x) : \"memory\"); }
template <typename... T>
__device__ __forceinline__ void keep(T... all) {
  (keep(all), ...);
}
",
        Helper::At => "\
// Shared memory, this many bytes from its start.
template <typename T>
__device__ __forceinline__ T* at(void* memory, u32 offset) {
  return reinterpret_cast<T*>(static_cast<u8*>(memory) + offset);
}
",
        Helper::LoadVolatile => "\
// Goes to memory, every time.
template <typename T>
__device__ __forceinline__ T load_volatile(const T* place) {
  return *static_cast<const volatile T*>(place);
}

__device__ __forceinline__ u32x2 load_volatile(const u32x2* place) {
  u32x2 word;
  asm volatile(\"ld.volatile.v2.u32 {%0, %1}, [%2];\"
               : \"=r\"(word.x), \"=r\"(word.y) : \"l\"(place) : \"memory\");
  return word;
}

__device__ __forceinline__ u32x4 load_volatile(const u32x4* place) {
  u32x4 word;
  asm volatile(\"ld.volatile.v4.u32 {%0, %1, %2, %3}, [%4];\"
               : \"=r\"(word.x), \"=r\"(word.y), \"=r\"(word.z), \"=r\"(word.w)
               : \"l\"(place) : \"memory\");
  return word;
}
",
        Helper::StoreVolatile => "\
// Goes to memory, every time.
template <typename T>
__device__ __forceinline__ void store_volatile(T* place, T word) {
  *static_cast<volatile T*>(place) = word;
}

__device__ __forceinline__ void store_volatile(u32x2* place, u32x2 word) {
  asm volatile(\"st.volatile.v2.u32 [%0], {%1, %2};\"
               : : \"l\"(place), \"r\"(word.x), \"r\"(word.y) : \"memory\");
}

__device__ __forceinline__ void store_volatile(u32x4* place, u32x4 word) {
  asm volatile(\"st.volatile.v4.u32 [%0], {%1, %2, %3, %4};\"
               : : \"l\"(place), \"r\"(word.x), \"r\"(word.y), \"r\"(word.z), \"r\"(word.w) : \"memory\");
}
",
        Helper::Shuffle => "\
// The value of another lane, its index taken modulo 32. Every lane of the warp takes part.
template <typename T>
__device__ __forceinline__ T shuffle(T x, u32 from) {
  u32 words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &x, sizeof x);
  for (u32& word : words) word = __shfl_sync(0xffffffffu, word, from);
  __builtin_memcpy(&x, words, sizeof x);
  return x;
}
",
        Helper::ShuffleXor => "\
// The value of the lane whose index differs by MASK. Every lane of the warp takes part.
template <u32 MASK, typename T>
__device__ __forceinline__ T shuffle_xor(T x) {
  u32 words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &x, sizeof x);
  for (u32& word : words) word = __shfl_xor_sync(0xffffffffu, word, MASK);
  __builtin_memcpy(&x, words, sizeof x);
  return x;
}
",
        Helper::BytePermute => "\
// Bytes of a (0 to 3) and b (4 to 7), as the nibbles of the selector say; a nibble's top bit asks for
// the byte's sign instead.
__device__ __forceinline__ u32 byte_permute(u32 a, u32 b, u32 selector) {
  u32 word;
  asm(\"prmt.b32 %0, %1, %2, %3;\" : \"=r\"(word) : \"r\"(a), \"r\"(b), \"r\"(selector));
  return word;
}
",
        Helper::Div => "\
// x / y within two units in the last place.
__device__ __forceinline__ float divide_approximate(float x, float y) {
  float quotient;
  asm(\"div.full.f32 %0, %1, %2;\" : \"=f\"(quotient) : \"f\"(x), \"f\"(y));
  return quotient;
}
",
        Helper::Minimum => "\
// The smaller one; what is no number wins.
__device__ __forceinline__ float minimum(float x, float y) {
  float least;
  asm(\"min.NaN.f32 %0, %1, %2;\" : \"=f\"(least) : \"f\"(x), \"f\"(y));
  return least;
}
",
        Helper::Maximum => "\
// The larger one; what is no number wins.
__device__ __forceinline__ float maximum(float x, float y) {
  float most;
  asm(\"max.NaN.f32 %0, %1, %2;\" : \"=f\"(most) : \"f\"(x), \"f\"(y));
  return most;
}
",
        Helper::MinimumDouble => "\
// The smaller one; what is no number wins.
__device__ __forceinline__ double minimum(double x, double y) {
  return x != x || y != y ? x + y : fmin(x, y);
}
",
        Helper::MaximumDouble => "\
// The larger one; what is no number wins.
__device__ __forceinline__ double maximum(double x, double y) {
  return x != x || y != y ? x + y : fmax(x, y);
}
",
        _ => "",
    }
}
