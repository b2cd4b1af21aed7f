//! How Triton spells the element-wise operations: one row each, read by the parser and by the printer.

use super::OpKind;
use crate::atomic::{Atomic, Rmw};
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare, Directed, Function, Unary};
use core::mem::discriminant;

/// The elements that an operation of Triton works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Domain {
    /// It is one of integers.
    Ints,
    /// It is one of floats.
    Floats,
    /// Floats of 32 bits.
    Singles,
    /// Whatever the kind allows.
    Any,
}

impl Domain {
    /// Whether elements of `dtype` belong to it.
    pub(crate) fn has(self, dtype: DType) -> bool {
        match self {
            Domain::Ints => dtype.is_int(),
            Domain::Floats => dtype.is_float(),
            Domain::Singles => dtype == DType::F32,
            Domain::Any => true,
        }
    }

    /// The domain's name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Domain::Ints => "integers",
            Domain::Floats => "floats",
            Domain::Singles => "f32",
            Domain::Any => "numbers",
        }
    }
}

/// The name of an operation in Triton's text, and what it stands for.
pub(crate) struct Spelling {
    /// Triton's name, or one of our own (`weft.`) where Triton has no such operation.
    pub(crate) name: &'static str,
    /// What the operation does.
    pub(crate) kind: OpKind,
    /// What its operands are.
    pub(crate) domain: Domain,
    /// The functions of libdevice that are this operation, without `__nv_` and the ending of their type; those that
    /// are algorithms have libdevice's names themselves. What begins with `fast_` is of f32 alone.
    pub(crate) libdevice: &'static [&'static str],
}

/// How Triton spells an atomic operation.
pub(crate) struct AtomicSpelling {
    /// Triton's name.
    pub(crate) name: &'static str,
    /// One of those that have the name. Which one of several it is says a word.
    pub(crate) op: Atomic,
    /// Whether a mask may stand behind its values.
    pub(crate) may_be_masked: bool,
}

/// The names of atomic operations.
pub(crate) static ATOMICS: &[AtomicSpelling] = &[
    AtomicSpelling { name: "tt.atomic_rmw", op: Atomic::Rmw(Rmw::Add), may_be_masked: true },
    AtomicSpelling { name: "tt.atomic_cas", op: Atomic::Cas, may_be_masked: false },
];

/// How an atomic operation is spelled.
pub(crate) fn atomic(op: Atomic) -> &'static AtomicSpelling {
    let alike = |row: &&AtomicSpelling| discriminant(&row.op) == discriminant(&op);
    ATOMICS.iter().find(alike).unwrap_or(&ATOMICS[0])
}

impl AtomicSpelling {
    /// How many operands it has: at least, at most.
    pub(crate) fn count(&self) -> (usize, usize) {
        let least = 1 + self.op.values();
        (least, least + usize::from(self.may_be_masked))
    }

    /// Its name in messages.
    pub(crate) fn told(&self, op: Atomic) -> String {
        let name = self.name.trim_start_matches("tt.");
        op.rmw().map_or_else(|| name.into(), |op| format!("{name} {op}"))
    }
}

/// The names that libdevice has for an operation.
type Names = &'static [&'static str];

const fn unary(name: &'static str, op: Unary, domain: Domain) -> Spelling {
    function(name, op, domain, &[])
}

/// An operation that is a function of libdevice, too.
const fn function(name: &'static str, op: Unary, domain: Domain, libdevice: Names) -> Spelling {
    Spelling { name, kind: OpKind::Unary(op), domain, libdevice }
}

const fn binary(name: &'static str, op: Binary, domain: Domain) -> Spelling {
    function_of_two(name, op, domain, &[])
}

/// The same of two operands.
const fn function_of_two(
    name: &'static str,
    op: Binary,
    domain: Domain,
    libdevice: Names,
) -> Spelling {
    Spelling { name, kind: OpKind::Binary(op), domain, libdevice }
}

const fn cast(name: &'static str, op: Cast, domain: Domain) -> Spelling {
    Spelling { name, kind: OpKind::Cast(op), domain, libdevice: &[] }
}

/// Every element-wise operation but comparisons and selections.
pub(crate) static ELEMENTWISE: &[Spelling] = &[
    unary("arith.negf", Unary::Neg, Domain::Floats),
    unary("weft.negi", Unary::Neg, Domain::Ints),
    unary("weft.not", Unary::Not, Domain::Ints),
    function("math.absf", Unary::Abs, Domain::Floats, &["fabs"]),
    unary("math.absi", Unary::Abs, Domain::Ints),
    function("math.exp", Unary::Exp, Domain::Floats, &["fast_exp"]),
    function("math.exp2", Unary::Exp2, Domain::Floats, &["exp2"]),
    unary("weft.exp2_normal", Unary::Exp2Normal, Domain::Singles),
    unary("weft.reciprocal", Unary::Reciprocal, Domain::Singles),
    unary("math.log", Unary::Log, Domain::Floats),
    unary("math.log2", Unary::Log2, Domain::Floats),
    function("weft.log2_approximate", Unary::Log2Approximate, Domain::Singles, &["fast_log2"]),
    unary("math.sqrt", Unary::Sqrt, Domain::Floats),
    function("tt.precise_sqrt", Unary::SqrtPrecise, Domain::Floats, &["sqrt"]),
    function("math.rsqrt", Unary::Rsqrt, Domain::Floats, &["rsqrt"]),
    function("math.floor", Unary::Floor, Domain::Floats, &["floor"]),
    function("math.ceil", Unary::Ceil, Domain::Floats, &["ceil"]),
    function("math.trunc", Unary::Trunc, Domain::Floats, &["trunc"]),
    function("math.roundeven", Unary::Nearest, Domain::Floats, &["rint", "nearbyint"]),
    unary("math.sin", Unary::Sin, Domain::Floats),
    unary("math.cos", Unary::Cos, Domain::Floats),
    function("weft.sin_approximate", Unary::SinApproximate, Domain::Singles, &["fast_sin"]),
    function("weft.cos_approximate", Unary::CosApproximate, Domain::Singles, &["fast_cos"]),
    unary("math.tanh", Unary::Tanh, Domain::Floats),
    unary("weft.tanh_approximate", Unary::TanhApproximate, Domain::Singles),
    unary("math.erf", Unary::Erf, Domain::Floats),
    unary("math.expm1", Unary::Expm1, Domain::Floats),
    unary("math.log1p", Unary::Log1p, Domain::Floats),
    binary("arith.addi", Binary::Add, Domain::Ints),
    binary("arith.addf", Binary::Add, Domain::Floats),
    binary("arith.subi", Binary::Sub, Domain::Ints),
    binary("arith.subf", Binary::Sub, Domain::Floats),
    binary("arith.muli", Binary::Mul, Domain::Ints),
    binary("arith.mulf", Binary::Mul, Domain::Floats),
    binary("arith.divf", Binary::Div, Domain::Floats),
    binary("tt.precise_divf", Binary::DivPrecise, Domain::Floats),
    function_of_two("arith.remf", Binary::Rem, Domain::Floats, &["fmod"]),
    function_of_two("math.powf", Binary::Pow, Domain::Floats, &["pow"]),
    binary("arith.divsi", Binary::DivS, Domain::Ints),
    binary("arith.divui", Binary::DivU, Domain::Ints),
    binary("arith.remsi", Binary::RemS, Domain::Ints),
    binary("arith.remui", Binary::RemU, Domain::Ints),
    binary("arith.andi", Binary::And, Domain::Ints),
    binary("arith.ori", Binary::Or, Domain::Ints),
    binary("arith.xori", Binary::Xor, Domain::Ints),
    binary("arith.shli", Binary::Shl, Domain::Ints),
    binary("arith.shrsi", Binary::ShrS, Domain::Ints),
    binary("arith.shrui", Binary::ShrU, Domain::Ints),
    binary("arith.minsi", Binary::MinS, Domain::Ints),
    binary("arith.maxsi", Binary::MaxS, Domain::Ints),
    binary("arith.minui", Binary::MinU, Domain::Ints),
    binary("arith.maxui", Binary::MaxU, Domain::Ints),
    function_of_two("arith.minnumf", Binary::MinNum, Domain::Floats, &["fmin"]),
    function_of_two("arith.maxnumf", Binary::MaxNum, Domain::Floats, &["fmax"]),
    binary("arith.minimumf", Binary::Minimum, Domain::Floats),
    binary("arith.maximumf", Binary::Maximum, Domain::Floats),
    binary("tt.mulhiui", Binary::MulHiU, Domain::Ints),
    binary("weft.mulhisi", Binary::MulHiS, Domain::Ints),
    Spelling { name: "math.fma", kind: OpKind::Fma, domain: Domain::Floats, libdevice: &[] },
    cast("arith.extsi", Cast::ExtS, Domain::Ints),
    cast("arith.extui", Cast::ExtU, Domain::Ints),
    cast("arith.trunci", Cast::Trunc, Domain::Ints),
    cast("arith.sitofp", Cast::FloatFromS, Domain::Ints),
    cast("arith.uitofp", Cast::FloatFromU, Domain::Ints),
    cast("arith.fptosi", Cast::SFromFloat, Domain::Floats),
    cast("arith.fptoui", Cast::UFromFloat, Domain::Floats),
    // Several rows for one kind: the printer asks `cast_name`.
    cast("tt.fp_to_fp", Cast::Float, Domain::Floats),
    cast("tt.fp_to_fp", Cast::FloatToZero, Domain::Floats),
    cast("arith.extf", Cast::Float, Domain::Floats),
    cast("arith.truncf", Cast::Float, Domain::Floats),
    cast("tt.bitcast", Cast::Bits, Domain::Any),
    cast("arith.bitcast", Cast::Bits, Domain::Any),
    cast("tt.int_to_ptr", Cast::Bits, Domain::Ints),
    cast("tt.ptr_to_int", Cast::Bits, Domain::Any),
];

/// The row of an element-wise kind on operands of `dtype`, if it has a name of its own.
pub(crate) fn elementwise(kind: &OpKind, dtype: DType) -> Option<&'static Spelling> {
    ELEMENTWISE.iter().find(|row| row.kind == *kind && row.domain.has(dtype))
}

/// The operation of so many operands that a function of libdevice is, by its name without `__nv_` and the ending
/// of its type.
pub(crate) fn of_libdevice(name: &str, dtype: DType, operands: usize) -> Option<OpKind> {
    if name.starts_with("fast_") && dtype != DType::F32 {
        return None;
    }
    let unary = Unary::ALL.iter().filter(|op| op.is_algorithm()).map(|&op| (op.name(), op));
    let unary = unary.map(|(name, op)| (name, OpKind::Unary(op)));
    let functions = Function::ALL.iter().map(|&op| (op.name(), OpKind::Function(op)));
    let named = ELEMENTWISE
        .iter()
        .flat_map(|row| row.libdevice.iter().map(|&name| (name, row.kind.clone())));
    let mut all = named.chain(unary).chain(functions);
    let arity = |kind: &OpKind| match kind {
        OpKind::Function(op) => op.arity(),
        OpKind::Binary(_) => 2,
        _ => 1,
    };
    all.find(|(own, kind)| *own == name && arity(kind) == operands).map(|(_, kind)| kind)
}

/// The symbol of libdevice for a function of `dtype`, or an operation that rounds as told.
pub(crate) fn symbol(kind: &OpKind, dtype: DType) -> String {
    let single = dtype == DType::F32;
    match kind {
        OpKind::Directed(Directed::Fma, rounding) => {
            format!("__nv_fma{}_{rounding}", if single { "f" } else { "" })
        }
        OpKind::Directed(op, rounding) => {
            format!("__nv_{}{op}_{rounding}", if single { "f" } else { "d" })
        }
        kind => format!("__nv_{}{}", kind.name(), if single { "f" } else { "" }),
    }
}

/// The predicates of `arith.cmpi`; the place in the list is the number in the generic form.
pub(crate) const INTEGER_PREDICATES: &[(&str, Compare)] = &[
    ("eq", Compare::Eq),
    ("ne", Compare::Ne),
    ("slt", Compare::Slt),
    ("sle", Compare::Sle),
    ("sgt", Compare::Sgt),
    ("sge", Compare::Sge),
    ("ult", Compare::Ult),
    ("ule", Compare::Ule),
    ("ugt", Compare::Ugt),
    ("uge", Compare::Uge),
];

/// The predicates of `arith.cmpf`, in the generic form's order from number 1 (0 is `false`).
pub(crate) const FLOAT_PREDICATES: &[(&str, Compare)] = &[
    ("oeq", Compare::Oeq),
    ("ogt", Compare::Ogt),
    ("oge", Compare::Oge),
    ("olt", Compare::Olt),
    ("ole", Compare::Ole),
    ("one", Compare::One),
    ("ord", Compare::Ord),
    ("ueq", Compare::Ueq),
    ("ugt", Compare::FUgt),
    ("uge", Compare::FUge),
    ("ult", Compare::FUlt),
    ("ule", Compare::FUle),
    ("une", Compare::Une),
    ("uno", Compare::Uno),
];

/// The names of cache modifiers, in the generic form's order from number 1.
pub(crate) const CACHE_MODIFIERS: &[(&str, crate::cache::CacheModifier)] = {
    use crate::cache::CacheModifier;
    &[
        ("none", CacheModifier::None),
        ("ca", CacheModifier::All),
        ("cg", CacheModifier::Global),
        ("wb", CacheModifier::WriteBack),
        ("cs", CacheModifier::Streaming),
        ("wt", CacheModifier::WriteThrough),
        ("cv", CacheModifier::Volatile),
    ]
};

/// The names of eviction policies, in the generic form's order from number 1.
pub(crate) const EVICTIONS: &[(&str, crate::cache::Eviction)] = {
    use crate::cache::Eviction;
    &[
        ("evict_normal", Eviction::Normal),
        ("evict_first", Eviction::First),
        ("evict_last", Eviction::Last),
    ]
};

/// The first name that a table gives to `value`.
pub(crate) fn name_of<T: PartialEq>(
    table: &[(&'static str, T)],
    value: &T,
) -> Option<&'static str> {
    table.iter().find(|(_, entry)| entry == value).map(|(name, _)| *name)
}
