"""Kernels of libdevice's functions: each result in a row of its own."""

import triton
import triton.language as tl
from triton.language.extra import libdevice

SIGNATURES = {
    "library_trigonometry": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", v="*fp64:16", w="*fp64:16", wide="*fp64:16", BLOCK=128),
    "library_hyperbolics": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", v="*fp64:16", w="*fp64:16", wide="*fp64:16", BLOCK=128),
    "library_powers": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", v="*fp64:16", w="*fp64:16", wide="*fp64:16", BLOCK=128),
    "library_lengths": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", v="*fp64:16", w="*fp64:16", wide="*fp64:16", BLOCK=128),
    "library_errors": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", v="*fp64:16", w="*fp64:16", wide="*fp64:16", BLOCK=128),
    "library_gammas": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", v="*fp64:16", w="*fp64:16", wide="*fp64:16", BLOCK=128),
    "library_bessels": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", v="*fp64:16", w="*fp64:16", wide="*fp64:16", BLOCK=128),
    "library_roundings": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", v="*fp64:16", w="*fp64:16", wide="*fp64:16", BLOCK=128),
    "library_directed": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", v="*fp64:16", w="*fp64:16", wide="*fp64:16", BLOCK=128),
    "library_powers_whole": dict(x="*fp32:16", v="*fp64:16", n="*i32:16", out="*fp32:16", wide="*fp64:16", BLOCK=128),
    "library_questions": dict(x="*fp32:16", v="*fp64:16", out="*i32:16", longs="*i64:16", BLOCK=128),
    "library_integers": dict(x="*i32:16", y="*i32:16", z="*i32:16", v="*i64:16", w="*i64:16", out="*i32:16", longs="*i64:16", BLOCK=128),
    "library_conversions": dict(x="*fp32:16", v="*fp64:16", n="*i32:16", m="*i64:16", out="*fp32:16", wide="*fp64:16", words="*i32:16", longs="*i64:16", BLOCK=128),
    "library_fast": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", BLOCK=128),
}  # fmt: skip


@triton.jit
def put(out, row: tl.constexpr, values, BLOCK: tl.constexpr):
    """Stores a row."""
    tl.store(out + row * BLOCK + tl.arange(0, BLOCK), values)


@triton.jit
def trigonometry_of(out, a, b, BLOCK: tl.constexpr):
    s = b * 0.2
    put(out, 0, libdevice.tan(a), BLOCK)
    put(out, 1, libdevice.sin(a), BLOCK)
    put(out, 2, libdevice.cos(a), BLOCK)
    put(out, 3, libdevice.sinpi(a), BLOCK)
    put(out, 4, libdevice.cospi(a), BLOCK)
    put(out, 5, libdevice.asin(s), BLOCK)
    put(out, 6, libdevice.acos(s), BLOCK)
    put(out, 7, libdevice.atan(a), BLOCK)
    put(out, 8, libdevice.atan2(a, b), BLOCK)


@triton.jit
def library_trigonometry(x, y, out, v, w, wide, BLOCK: tl.constexpr):
    """Tangents, sines of half turns, and the inverses."""
    offsets = tl.arange(0, BLOCK)
    trigonometry_of(out, tl.load(x + offsets) * 5, tl.load(y + offsets) * 4, BLOCK)
    trigonometry_of(wide, tl.load(v + offsets) * 5, tl.load(w + offsets) * 4, BLOCK)


@triton.jit
def hyperbolics_of(out, a, b, BLOCK: tl.constexpr):
    p = tl.abs(a) + 0.01
    s = b * 0.2
    put(out, 0, libdevice.sinh(a), BLOCK)
    put(out, 1, libdevice.cosh(a), BLOCK)
    put(out, 2, libdevice.tanh(a), BLOCK)
    put(out, 3, libdevice.asinh(a), BLOCK)
    put(out, 4, libdevice.acosh(p + 1), BLOCK)
    put(out, 5, libdevice.atanh(s), BLOCK)


@triton.jit
def library_hyperbolics(x, y, out, v, w, wide, BLOCK: tl.constexpr):
    """Hyperbolic functions and their inverses."""
    offsets = tl.arange(0, BLOCK)
    hyperbolics_of(out, tl.load(x + offsets) * 5, tl.load(y + offsets) * 4, BLOCK)
    hyperbolics_of(wide, tl.load(v + offsets) * 5, tl.load(w + offsets) * 4, BLOCK)


@triton.jit
def powers_of(out, a, b, BLOCK: tl.constexpr):
    p = tl.abs(a) + 0.01
    put(out, 0, libdevice.exp(a), BLOCK)
    put(out, 1, libdevice.exp2(a), BLOCK)
    put(out, 2, libdevice.exp10(a), BLOCK)
    put(out, 3, libdevice.expm1(a), BLOCK)
    put(out, 4, libdevice.log(p), BLOCK)
    put(out, 5, libdevice.log2(p), BLOCK)
    put(out, 6, libdevice.log10(p), BLOCK)
    put(out, 7, libdevice.log1p(p), BLOCK)
    put(out, 8, libdevice.pow(p, b), BLOCK)
    put(out, 9, libdevice.cbrt(a), BLOCK)
    put(out, 10, libdevice.rcbrt(a), BLOCK)
    put(out, 11, libdevice.rsqrt(p), BLOCK)
    put(out, 12, libdevice.sqrt(p), BLOCK)


@triton.jit
def library_powers(x, y, out, v, w, wide, BLOCK: tl.constexpr):
    """Exponentials, logarithms, powers and roots."""
    offsets = tl.arange(0, BLOCK)
    powers_of(out, tl.load(x + offsets) * 5, tl.load(y + offsets) * 4, BLOCK)
    powers_of(wide, tl.load(v + offsets) * 5, tl.load(w + offsets) * 4, BLOCK)


@triton.jit
def lengths_of(out, a, b, BLOCK: tl.constexpr):
    p = tl.abs(a) + 0.01
    s = b * 0.2
    put(out, 0, libdevice.hypot(a, b), BLOCK)
    put(out, 1, libdevice.rhypot(a, b), BLOCK)
    put(out, 2, libdevice.norm3d(a, b, s), BLOCK)
    put(out, 3, libdevice.rnorm3d(a, b, s), BLOCK)
    put(out, 4, libdevice.norm4d(a, b, s, p), BLOCK)
    put(out, 5, libdevice.rnorm4d(a, b, s, p), BLOCK)


@triton.jit
def library_lengths(x, y, out, v, w, wide, BLOCK: tl.constexpr):
    """Lengths of vectors, and one over them."""
    offsets = tl.arange(0, BLOCK)
    lengths_of(out, tl.load(x + offsets) * 5, tl.load(y + offsets) * 4, BLOCK)
    lengths_of(wide, tl.load(v + offsets) * 5, tl.load(w + offsets) * 4, BLOCK)


@triton.jit
def errors_of(out, a, b, BLOCK: tl.constexpr):
    s = b * 0.2
    put(out, 0, libdevice.erf(a), BLOCK)
    put(out, 1, libdevice.erfc(a), BLOCK)
    put(out, 2, libdevice.erfcx(a), BLOCK)
    put(out, 3, libdevice.normcdf(a), BLOCK)
    put(out, 4, libdevice.erfinv(s), BLOCK)
    put(out, 5, libdevice.erfcinv(s + 1), BLOCK)
    put(out, 6, libdevice.normcdfinv(0.5 * s + 0.5), BLOCK)


@triton.jit
def library_errors(x, y, out, v, w, wide, BLOCK: tl.constexpr):
    """The error function, the normal distribution, and the inverses."""
    offsets = tl.arange(0, BLOCK)
    errors_of(out, tl.load(x + offsets) * 5, tl.load(y + offsets) * 4, BLOCK)
    errors_of(wide, tl.load(v + offsets) * 5, tl.load(w + offsets) * 4, BLOCK)


@triton.jit
def gammas_of(out, a, b, BLOCK: tl.constexpr):
    p = tl.abs(a) + 0.01
    put(out, 0, libdevice.tgamma(p), BLOCK)
    put(out, 1, libdevice.tgamma(a), BLOCK)
    put(out, 2, libdevice.lgamma(p), BLOCK)
    put(out, 3, libdevice.lgamma(a * 10), BLOCK)


@triton.jit
def library_gammas(x, y, out, v, w, wide, BLOCK: tl.constexpr):
    """The gamma function and its logarithm."""
    offsets = tl.arange(0, BLOCK)
    gammas_of(out, tl.load(x + offsets) * 5, tl.load(y + offsets) * 4, BLOCK)
    gammas_of(wide, tl.load(v + offsets) * 5, tl.load(w + offsets) * 4, BLOCK)


@triton.jit
def bessels_of(out, a, b, BLOCK: tl.constexpr):
    p = tl.abs(a) + 0.01
    put(out, 0, libdevice.j0(a), BLOCK)
    put(out, 1, libdevice.j1(a), BLOCK)
    put(out, 2, libdevice.y0(p), BLOCK)
    put(out, 3, libdevice.y1(p), BLOCK)
    put(out, 4, libdevice.j0(a * 10), BLOCK)
    put(out, 5, libdevice.j1(a * 10), BLOCK)
    put(out, 6, libdevice.y0(p * 10), BLOCK)
    put(out, 7, libdevice.y1(p * 10), BLOCK)
    put(out, 8, libdevice.cyl_bessel_i0(a), BLOCK)
    put(out, 9, libdevice.cyl_bessel_i1(a), BLOCK)
    put(out, 10, libdevice.cyl_bessel_i0(a * 10), BLOCK)
    put(out, 11, libdevice.cyl_bessel_i1(a * 10), BLOCK)


@triton.jit
def library_bessels(x, y, out, v, w, wide, BLOCK: tl.constexpr):
    """Bessel functions of the orders 0 and 1."""
    offsets = tl.arange(0, BLOCK)
    bessels_of(out, tl.load(x + offsets) * 5, tl.load(y + offsets) * 4, BLOCK)
    bessels_of(wide, tl.load(v + offsets) * 5, tl.load(w + offsets) * 4, BLOCK)


@triton.jit
def roundings_of(out, a, b, BLOCK: tl.constexpr):
    s = b * 0.2
    n = tl.arange(0, BLOCK) * 3 - 190
    put(out, 0, libdevice.floor(a), BLOCK)
    put(out, 1, libdevice.ceil(a), BLOCK)
    put(out, 2, libdevice.trunc(a), BLOCK)
    put(out, 3, libdevice.rint(a), BLOCK)
    put(out, 4, libdevice.nearbyint(a), BLOCK)
    put(out, 5, libdevice.round(a), BLOCK)
    put(out, 6, libdevice.logb(a), BLOCK)
    put(out, 7, libdevice.nextafter(a, b), BLOCK)
    put(out, 8, libdevice.copysign(a, b), BLOCK)
    put(out, 9, libdevice.fdim(a, b), BLOCK)
    put(out, 10, libdevice.fmod(a, b), BLOCK)
    put(out, 11, libdevice.remainder(a, b), BLOCK)
    put(out, 12, libdevice.fma(a, b, s), BLOCK)
    put(out, 13, libdevice.ldexp(a, n), BLOCK)
    put(out, 14, libdevice.scalbn(a, n), BLOCK)


@triton.jit
def library_roundings(x, y, out, v, w, wide, BLOCK: tl.constexpr):
    """Whole numbers, exponents and neighbours."""
    offsets = tl.arange(0, BLOCK)
    roundings_of(out, tl.load(x + offsets) * 5, tl.load(y + offsets) * 4, BLOCK)
    roundings_of(wide, tl.load(v + offsets) * 5, tl.load(w + offsets) * 4, BLOCK)


@triton.jit
def directed_of(out, a, b, BLOCK: tl.constexpr):
    p = tl.abs(a) + 0.01
    s = b * 0.2
    put(out, 0, libdevice.add_rn(a, b), BLOCK)
    put(out, 1, libdevice.sub_rn(a, b), BLOCK)
    put(out, 2, libdevice.mul_rn(a, b), BLOCK)
    put(out, 3, libdevice.div_rn(a, b), BLOCK)
    put(out, 4, libdevice.rcp_rn(a), BLOCK)
    put(out, 5, libdevice.sqrt_rn(p), BLOCK)
    put(out, 6, libdevice.fma_rn(a, b, s), BLOCK)
    put(out, 7, libdevice.add_rz(a, b), BLOCK)
    put(out, 8, libdevice.sub_rz(a, b), BLOCK)
    put(out, 9, libdevice.mul_rz(a, b), BLOCK)
    put(out, 10, libdevice.div_rz(a, b), BLOCK)
    put(out, 11, libdevice.rcp_rz(a), BLOCK)
    put(out, 12, libdevice.sqrt_rz(p), BLOCK)
    put(out, 13, libdevice.fma_rz(a, b, s), BLOCK)
    put(out, 14, libdevice.add_rd(a, b), BLOCK)
    put(out, 15, libdevice.sub_rd(a, b), BLOCK)
    put(out, 16, libdevice.mul_rd(a, b), BLOCK)
    put(out, 17, libdevice.div_rd(a, b), BLOCK)
    put(out, 18, libdevice.rcp_rd(a), BLOCK)
    put(out, 19, libdevice.sqrt_rd(p), BLOCK)
    put(out, 20, libdevice.fma_rd(a, b, s), BLOCK)
    put(out, 21, libdevice.add_ru(a, b), BLOCK)
    put(out, 22, libdevice.sub_ru(a, b), BLOCK)
    put(out, 23, libdevice.mul_ru(a, b), BLOCK)
    put(out, 24, libdevice.div_ru(a, b), BLOCK)
    put(out, 25, libdevice.rcp_ru(a), BLOCK)
    put(out, 26, libdevice.sqrt_ru(p), BLOCK)
    put(out, 27, libdevice.fma_ru(a, b, s), BLOCK)


@triton.jit
def library_directed(x, y, out, v, w, wide, BLOCK: tl.constexpr):
    """Arithmetic that rounds as told."""
    offsets = tl.arange(0, BLOCK)
    directed_of(out, tl.load(x + offsets) * 5, tl.load(y + offsets) * 4, BLOCK)
    directed_of(wide, tl.load(v + offsets) * 5, tl.load(w + offsets) * 4, BLOCK)


@triton.jit
def library_powers_whole(x, v, n, out, wide, BLOCK: tl.constexpr):
    """Whole powers, and the exponents as integers."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets) * 3
    b = tl.load(v + offsets) * 3
    power = tl.load(n + offsets) % 20
    put(out, 0, libdevice.pow(a, power), BLOCK)
    put(out, 1, libdevice.ilogb(a).to(tl.float32), BLOCK)
    put(wide, 0, libdevice.pow(b, power), BLOCK)
    put(wide, 1, libdevice.ilogb(b).to(tl.float64), BLOCK)


@triton.jit
def library_questions(x, v, out, longs, BLOCK: tl.constexpr):
    """Questions, and whole numbers as integers."""
    offsets = tl.arange(0, BLOCK)
    none = tl.where(offsets % 3 == 0, float("inf"), tl.where(offsets % 3 == 1, float("nan"), -1.5))
    a = tl.load(x + offsets) * none
    b = tl.load(v + offsets) * none
    put(out, 0, libdevice.isnan(a).to(tl.int32), BLOCK)
    put(out, 1, libdevice.isinf(a).to(tl.int32), BLOCK)
    put(out, 2, libdevice.finitef(a).to(tl.int32), BLOCK)
    put(out, 3, libdevice.signbit(tl.load(x + offsets)).to(tl.int32), BLOCK)
    put(out, 4, libdevice.isnan(b).to(tl.int32), BLOCK)
    put(out, 5, libdevice.isinf(b).to(tl.int32), BLOCK)
    put(out, 6, libdevice.isfinited(b).to(tl.int32), BLOCK)
    put(out, 7, libdevice.signbit(tl.load(v + offsets)).to(tl.int32), BLOCK)
    put(longs, 0, libdevice.llrint(tl.load(x + offsets) * 1e6), BLOCK)
    put(longs, 1, libdevice.llround(tl.load(x + offsets) * 1e6), BLOCK)
    put(longs, 2, libdevice.llrint(tl.load(v + offsets) * 1e6), BLOCK)
    put(longs, 3, libdevice.llround(tl.load(v + offsets) * 1e6), BLOCK)


@triton.jit
def library_integers(x, y, z, v, w, out, longs, BLOCK: tl.constexpr):
    """Bits, high halves of products, and means of integers."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets)
    b = tl.load(y + offsets)
    c = tl.load(z + offsets)
    d = tl.load(v + offsets)
    e = tl.load(w + offsets)
    put(out, 0, libdevice.clz(a), BLOCK)
    put(out, 1, libdevice.popc(a), BLOCK)
    put(out, 2, libdevice.ffs(a), BLOCK)
    put(out, 3, libdevice.brev(a), BLOCK)
    put(out, 4, libdevice.byte_perm(a, b, c), BLOCK)
    put(out, 5, libdevice.mulhi(a, b), BLOCK)
    put(out, 6, libdevice.mulhi(a.to(tl.uint32), b.to(tl.uint32)).to(tl.int32), BLOCK)
    put(out, 7, libdevice.mul24(a, b), BLOCK)
    put(out, 8, libdevice.mul24(a.to(tl.uint32), b.to(tl.uint32)).to(tl.int32), BLOCK)
    put(out, 9, libdevice.sad(a, b, c.to(tl.uint32)), BLOCK)
    put(out, 10, libdevice.sad(a.to(tl.uint32), b.to(tl.uint32), c.to(tl.uint32)).to(tl.int32), BLOCK)
    put(out, 11, libdevice.hadd(a, b), BLOCK)
    put(out, 12, libdevice.hadd(a.to(tl.uint32), b.to(tl.uint32)).to(tl.int32), BLOCK)
    put(out, 13, libdevice.rhadd(a, b), BLOCK)
    put(out, 14, libdevice.rhadd(a.to(tl.uint32), b.to(tl.uint32)).to(tl.int32), BLOCK)
    put(out, 15, libdevice.abs(a), BLOCK)
    put(out, 16, libdevice.clz(d), BLOCK)
    put(out, 17, libdevice.popc(d), BLOCK)
    put(out, 18, libdevice.ffs(d), BLOCK)
    put(longs, 0, libdevice.brev(d), BLOCK)
    put(longs, 1, libdevice.mulhi(d, e), BLOCK)
    put(longs, 2, libdevice.mulhi(d.to(tl.uint64), e.to(tl.uint64)).to(tl.int64), BLOCK)
    put(longs, 3, libdevice.abs(d), BLOCK)


@triton.jit
def library_conversions(x, v, n, m, out, wide, words, longs, BLOCK: tl.constexpr):
    """Conversions that round as told, and bits under another type."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets) * 1e5
    b = tl.load(v + offsets) * 1e9
    i = tl.load(n + offsets)
    k = tl.load(m + offsets)
    put(words, 0, libdevice.float2int_rn(a), BLOCK)
    put(words, 1, libdevice.float2uint_rn(tl.abs(a)), BLOCK)
    put(words, 2, libdevice.double2int_rn(b), BLOCK)
    put(words, 3, libdevice.double2uint_rn(tl.abs(b)), BLOCK)
    put(longs, 0, libdevice.float2ll_rn(a), BLOCK)
    put(longs, 1, libdevice.float2ull_rn(tl.abs(a)), BLOCK)
    put(longs, 2, libdevice.double2ll_rn(b), BLOCK)
    put(longs, 3, libdevice.double2ull_rn(tl.abs(b)), BLOCK)
    put(out, 0, libdevice.int2float_rn(i), BLOCK)
    put(out, 1, libdevice.uint2float_rn(i.to(tl.uint32)), BLOCK)
    put(out, 2, libdevice.ll2float_rn(k), BLOCK)
    put(out, 3, libdevice.ull2float_rn(k.to(tl.uint64)), BLOCK)
    put(out, 4, libdevice.double2float_rn(b), BLOCK)
    put(wide, 0, libdevice.ll2double_rn(k), BLOCK)
    put(wide, 1, libdevice.ull2double_rn(k.to(tl.uint64)), BLOCK)
    put(words, 4, libdevice.float2int_rz(a), BLOCK)
    put(words, 5, libdevice.float2uint_rz(tl.abs(a)), BLOCK)
    put(words, 6, libdevice.double2int_rz(b), BLOCK)
    put(words, 7, libdevice.double2uint_rz(tl.abs(b)), BLOCK)
    put(longs, 4, libdevice.float2ll_rz(a), BLOCK)
    put(longs, 5, libdevice.float2ull_rz(tl.abs(a)), BLOCK)
    put(longs, 6, libdevice.double2ll_rz(b), BLOCK)
    put(longs, 7, libdevice.double2ull_rz(tl.abs(b)), BLOCK)
    put(out, 5, libdevice.int2float_rz(i), BLOCK)
    put(out, 6, libdevice.uint2float_rz(i.to(tl.uint32)), BLOCK)
    put(out, 7, libdevice.ll2float_rz(k), BLOCK)
    put(out, 8, libdevice.ull2float_rz(k.to(tl.uint64)), BLOCK)
    put(out, 9, libdevice.double2float_rz(b), BLOCK)
    put(wide, 2, libdevice.ll2double_rz(k), BLOCK)
    put(wide, 3, libdevice.ull2double_rz(k.to(tl.uint64)), BLOCK)
    put(words, 8, libdevice.float2int_rd(a), BLOCK)
    put(words, 9, libdevice.float2uint_rd(tl.abs(a)), BLOCK)
    put(words, 10, libdevice.double2int_rd(b), BLOCK)
    put(words, 11, libdevice.double2uint_rd(tl.abs(b)), BLOCK)
    put(longs, 8, libdevice.float2ll_rd(a), BLOCK)
    put(longs, 9, libdevice.float2ull_rd(tl.abs(a)), BLOCK)
    put(longs, 10, libdevice.double2ll_rd(b), BLOCK)
    put(longs, 11, libdevice.double2ull_rd(tl.abs(b)), BLOCK)
    put(out, 10, libdevice.int2float_rd(i), BLOCK)
    put(out, 11, libdevice.uint2float_rd(i.to(tl.uint32)), BLOCK)
    put(out, 12, libdevice.ll2float_rd(k), BLOCK)
    put(out, 13, libdevice.ull2float_rd(k.to(tl.uint64)), BLOCK)
    put(out, 14, libdevice.double2float_rd(b), BLOCK)
    put(wide, 4, libdevice.ll2double_rd(k), BLOCK)
    put(wide, 5, libdevice.ull2double_rd(k.to(tl.uint64)), BLOCK)
    put(words, 12, libdevice.float2int_ru(a), BLOCK)
    put(words, 13, libdevice.float2uint_ru(tl.abs(a)), BLOCK)
    put(words, 14, libdevice.double2int_ru(b), BLOCK)
    put(words, 15, libdevice.double2uint_ru(tl.abs(b)), BLOCK)
    put(longs, 12, libdevice.float2ll_ru(a), BLOCK)
    put(longs, 13, libdevice.float2ull_ru(tl.abs(a)), BLOCK)
    put(longs, 14, libdevice.double2ll_ru(b), BLOCK)
    put(longs, 15, libdevice.double2ull_ru(tl.abs(b)), BLOCK)
    put(out, 15, libdevice.int2float_ru(i), BLOCK)
    put(out, 16, libdevice.uint2float_ru(i.to(tl.uint32)), BLOCK)
    put(out, 17, libdevice.ll2float_ru(k), BLOCK)
    put(out, 18, libdevice.ull2float_ru(k.to(tl.uint64)), BLOCK)
    put(out, 19, libdevice.double2float_ru(b), BLOCK)
    put(wide, 6, libdevice.ll2double_ru(k), BLOCK)
    put(wide, 7, libdevice.ull2double_ru(k.to(tl.uint64)), BLOCK)
    put(wide, 8, libdevice.int2double_rn(i), BLOCK)
    put(wide, 9, libdevice.uint2double_rn(i.to(tl.uint32)), BLOCK)
    put(wide, 10, libdevice.hiloint2double(i, i + 1), BLOCK)
    put(wide, 11, libdevice.longlong_as_double(k), BLOCK)
    put(wide, 12, libdevice.rcp64h(b), BLOCK)
    put(out, 20, libdevice.int_as_float(i), BLOCK)
    put(out, 21, libdevice.uint_as_float(i.to(tl.uint32)), BLOCK)
    put(out, 22, libdevice.rsqrt_rn(tl.abs(a)), BLOCK)
    put(out, 23, libdevice.saturatef(a * 1e-5), BLOCK)
    put(words, 16, libdevice.float_as_int(a), BLOCK)
    put(words, 17, libdevice.float_as_uint(a), BLOCK)
    put(words, 18, libdevice.double2loint(b), BLOCK)
    put(words, 19, libdevice.double2hiint(b), BLOCK)
    put(longs, 16, libdevice.double_as_longlong(b), BLOCK)


@triton.jit
def library_fast(x, y, out, BLOCK: tl.constexpr):
    """Functions that may be less exact."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets) * 3
    b = tl.load(y + offsets) * 3
    p = tl.abs(a) + 0.01
    put(out, 0, libdevice.fast_sinf(a), BLOCK)
    put(out, 1, libdevice.fast_cosf(a), BLOCK)
    put(out, 2, libdevice.fast_tanf(a), BLOCK)
    put(out, 3, libdevice.fast_logf(p), BLOCK)
    put(out, 4, libdevice.fast_log2f(p), BLOCK)
    put(out, 5, libdevice.fast_log10f(p), BLOCK)
    put(out, 6, libdevice.fast_expf(a), BLOCK)
    put(out, 7, libdevice.fast_exp10f(a), BLOCK)
    put(out, 8, libdevice.fast_powf(p, b), BLOCK)
    put(out, 9, libdevice.fast_dividef(a, p), BLOCK)
