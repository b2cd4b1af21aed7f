//! Operations on one float for which machines have an instruction, or a short way that ends with one: a row each,
//! with all that printers, the reader of PTX, and the model of a multiprocessor have to know of it.
//!
//! How many instructions stand around a special one is told here of quotients as well, which are no rows.
//!
//! What an operation means is told in [`scalar`](crate::scalar), and how far an instruction may be from that in
//! the evaluator. Signs and absolute values are no rows: they look at bits, and every type has its own.

use crate::scalar::{Binary, Unary};
use Words::{Call, Expression, Missing};

/// How an operation is computed.
#[derive(Debug)]
pub(crate) struct Instruction {
    pub(crate) op: Unary,
    /// Of f32; narrower floats are widened before and rounded after.
    pub(crate) single: Form,
    /// Of f64, where there is more than an algorithm.
    pub(crate) double: Option<Form>,
    /// How many instructions NVIDIA's assembler puts around the one of a special function; none where there is no
    /// such.
    pub(crate) around: Option<u64>,
    /// Whether NVIDIA's assembler asks what range the operand has.
    pub(crate) asks_range: bool,
}

/// How each language writes an operation on one type.
#[derive(Debug)]
pub(crate) struct Form {
    /// Instructions of PTX, each of what the one before gave; none where PTX has none.
    pub(crate) ptx: &'static [Step],
    pub(crate) cuda: Words,
    pub(crate) hip: Words,
}

/// An instruction of PTX.
#[derive(Debug)]
pub(crate) struct Step {
    /// Its name with all that belongs to it, as `sqrt.rn.f32`.
    pub(crate) name: &'static str,
    /// What stands behind its operand.
    pub(crate) behind: &'static str,
}

/// What is written in C.
#[derive(Debug)]
pub(crate) enum Words {
    /// The text around the operand.
    Expression(&'static str, &'static str),
    /// A call of a function of one f32 that the text begins with.
    Call(Function),
    /// Nothing, and why.
    Missing(&'static str),
}

/// A function of a text.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// What it does: the comment above it.
    pub(crate) about: &'static str,
    pub(crate) body: Body,
    /// The operation whose function it calls.
    pub(crate) calls: Option<Unary>,
}

/// What a function of a text does.
#[derive(Debug)]
pub(crate) enum Body {
    /// It runs the one instruction of PTX; what its result is called.
    Assembly(&'static str),
    /// C, with its braces.
    Text(&'static str),
}

impl Instruction {
    /// Its place among the rows.
    pub(crate) fn place(&self) -> usize {
        ALL.iter().position(|row| row.op == self.op).unwrap_or(0)
    }
}

/// The row of an operation, if it is no algorithm.
pub(crate) fn of(op: Unary) -> Option<&'static Instruction> {
    ALL.iter().find(|row| row.op == op)
}

/// Quotients and remainders.
pub(crate) const DIVIDES: [Binary; 8] = [
    Binary::Div,
    Binary::DivPrecise,
    Binary::Rem,
    Binary::Pow,
    Binary::DivS,
    Binary::DivU,
    Binary::RemS,
    Binary::RemU,
];

/// How many instructions stand around the special one that a quotient or remainder of floats becomes.
pub(crate) const AROUND_DIVISION: u64 = 8;

/// What units for floats or integers do at once, beside what is a row.
const PLAIN: [Unary; 3] = [Unary::Neg, Unary::Abs, Unary::Not];

/// How many instructions stand around the special one that an operation on a float becomes; none where it becomes
/// no special one.
pub(crate) fn around(op: Unary) -> Option<u64> {
    if PLAIN.contains(&op) {
        return None;
    }
    of(op).map_or(Some(6), |row| row.around)
}

/// Whether it is the name of a function that a text may begin with.
pub(crate) fn is_function(name: &str) -> bool {
    let named = |words: &Words| matches!(words, Call(function) if function.name == name);
    ALL.iter().any(|row| named(&row.single.cuda) || named(&row.single.hip))
}

/// The operation of one operand that an instruction of PTX approximates, by the first part of its name.
pub(crate) fn approximated_by(name: &str) -> Option<Unary> {
    let same = |row: &&Instruction| match row.single.ptx {
        [Step { name: own, behind: "" }] => {
            own.strip_prefix(name).is_some_and(|rest| rest.starts_with(".approx"))
        }
        _ => false,
    };
    ALL.iter().find(same).map(|row| row.op)
}

const fn step(name: &'static str) -> Step {
    Step { name, behind: "" }
}

/// A function of CUDA that runs the one instruction.
const fn assembly(name: &'static str, about: &'static str, result: &'static str) -> Words {
    Call(Function { name, about, body: Body::Assembly(result), calls: None })
}

/// A function in C.
const fn function(name: &'static str, about: &'static str, text: &'static str) -> Words {
    Call(Function { name, about, body: Body::Text(text), calls: None })
}

/// Why PTX, and HIP, have no such operation on doubles.
const NO_LIBRARY: Words = Missing("there is no library of f64 without ROCm; compute it in f32");

/// Rounding to an integral number.
macro_rules! whole {
    ($op:ident, $ptx:literal, $c:literal) => {
        Instruction {
            op: Unary::$op,
            single: Form {
                ptx: &[step(concat!($ptx, ".f32.f32"))],
                cuda: Expression(concat!($c, "f("), ")"),
                hip: Expression(concat!("__builtin_", $c, "f("), ")"),
            },
            double: Some(Form {
                ptx: &[step(concat!($ptx, ".f64.f64"))],
                cuda: Expression(concat!($c, "("), ")"),
                hip: Expression(concat!("__builtin_", $c, "("), ")"),
            }),
            around: None,
            asks_range: false,
        }
    };
}

/// The correctly rounded root of doubles.
const DOUBLE_ROOT: Form = Form {
    ptx: &[step("sqrt.rn.f64")],
    cuda: Expression("__dsqrt_rn(", ")"),
    hip: Expression("__builtin_sqrt(", ")"),
};

/// Every row, in the order in which a text begins with their functions.
pub(crate) static ALL: &[Instruction] = &[
    Instruction {
        op: Unary::Exp2,
        single: Form {
            ptx: &[step("ex2.approx.f32")],
            cuda: assembly(
                "exp2_approximate",
                "2 to the power, as the machine approximates it.",
                "power",
            ),
            hip: function(
                "exp2_approximate",
                "2 to the power, within a unit in the last place.",
                "{ return __builtin_exp2f(x); }",
            ),
        },
        double: Some(Form { ptx: &[], cuda: Expression("exp2(", ")"), hip: NO_LIBRARY }),
        around: Some(2),
        asks_range: false,
    },
    Instruction {
        op: Unary::Exp2Normal,
        single: Form {
            ptx: &[step("ex2.approx.ftz.f32")],
            cuda: assembly(
                "exp2_normal",
                "2 to the power, as the machine approximates it; zero instead of subnormal numbers.",
                "power",
            ),
            hip: function(
                "exp2_normal",
                "2 to the power, as the machine approximates it; zero instead of subnormal numbers.",
                "{ return __builtin_amdgcn_exp2f(x); }",
            ),
        },
        double: None,
        around: Some(0),
        asks_range: false,
    },
    Instruction {
        op: Unary::Exp,
        single: Form {
            // Times log2(e).
            ptx: &[Step { name: "mul.rn.f32", behind: ", 0f3FB8AA3B" }, step("ex2.approx.f32")],
            cuda: Call(Function {
                name: "exp_approximate",
                about: "e to the power: 2 to the power of x log2(e).",
                body: Body::Text("{\n  return exp2_approximate(__fmul_rn(x, 1.44269504f));\n}"),
                calls: Some(Unary::Exp2),
            }),
            hip: function(
                "exp_approximate",
                "e to the power, within two units in the last place.",
                "{ return __builtin_expf(x); }",
            ),
        },
        double: Some(Form { ptx: &[], cuda: Expression("exp(", ")"), hip: NO_LIBRARY }),
        around: Some(6),
        asks_range: false,
    },
    Instruction {
        op: Unary::Log2Approximate,
        single: Form {
            ptx: &[step("lg2.approx.f32")],
            cuda: assembly(
                "log2_approximate",
                "The logarithm to base 2, as the machine approximates it.",
                "log",
            ),
            hip: function(
                "log2_approximate",
                "The logarithm to base 2, within two units in the last place.",
                "{ return __builtin_log2f(x); }",
            ),
        },
        double: None,
        around: Some(0),
        asks_range: true,
    },
    // AMD's instructions take turns, and some of its GPUs no more than one.
    Instruction {
        op: Unary::SinApproximate,
        single: Form {
            ptx: &[step("sin.approx.f32")],
            cuda: assembly("sin_approximate", "The sine, as the machine approximates it.", "sine"),
            hip: function(
                "sin_approximate",
                "The sine, as the machine approximates it of a part of a turn.",
                "{\n  return __builtin_amdgcn_sinf(__builtin_amdgcn_fractf(x * 0.159154943f));\n}",
            ),
        },
        double: None,
        around: Some(1),
        asks_range: false,
    },
    Instruction {
        op: Unary::CosApproximate,
        single: Form {
            ptx: &[step("cos.approx.f32")],
            cuda: assembly(
                "cos_approximate",
                "The cosine, as the machine approximates it.",
                "cosine",
            ),
            hip: function(
                "cos_approximate",
                "The cosine, as the machine approximates it of a part of a turn.",
                "{\n  return __builtin_amdgcn_cosf(__builtin_amdgcn_fractf(x * 0.159154943f));\n}",
            ),
        },
        double: None,
        around: Some(1),
        asks_range: false,
    },
    Instruction {
        op: Unary::TanhApproximate,
        single: Form {
            ptx: &[step("tanh.approx.f32")],
            cuda: assembly(
                "tanh_approximate",
                "The hyperbolic tangent, as the machine approximates it.",
                "tangent",
            ),
            hip: function(
                "tanh_approximate",
                "The hyperbolic tangent: 1 - 2 / (e^2x + 1), and the first terms of its series where that cancels.",
                "{
  const float magnitude = __builtin_fabsf(x);
  const float power = __builtin_amdgcn_exp2f(magnitude * 2.88539008f);
  const float far = 1.0f - 2.0f * __builtin_amdgcn_rcpf(power + 1.0f);
  const float square = x * x;
  const float near = magnitude - magnitude * square * 0.333333333f;
  return __builtin_copysignf(magnitude < 0.1f ? near : far, x);
}",
            ),
        },
        double: None,
        around: Some(0),
        asks_range: false,
    },
    Instruction {
        op: Unary::Sqrt,
        single: Form {
            ptx: &[step("sqrt.approx.f32")],
            cuda: assembly(
                "sqrt_approximate",
                "The square root, as the machine approximates it.",
                "root",
            ),
            hip: function(
                "sqrt_approximate",
                "The square root: here it is correctly rounded.",
                "{ return __builtin_sqrtf(x); }",
            ),
        },
        double: Some(DOUBLE_ROOT),
        around: Some(2),
        asks_range: true,
    },
    Instruction {
        op: Unary::SqrtPrecise,
        single: Form {
            ptx: &[step("sqrt.rn.f32")],
            cuda: function(
                "sqrt_rounded",
                "The square root, correctly rounded.",
                "{ return __fsqrt_rn(x); }",
            ),
            hip: function(
                "sqrt_rounded",
                "The square root, correctly rounded.",
                "{ return __builtin_sqrtf(x); }",
            ),
        },
        double: Some(DOUBLE_ROOT),
        around: Some(6),
        asks_range: false,
    },
    Instruction {
        op: Unary::Rsqrt,
        single: Form {
            ptx: &[step("rsqrt.approx.f32")],
            cuda: assembly(
                "rsqrt_approximate",
                "One over the square root, as the machine approximates it.",
                "root",
            ),
            hip: function(
                "rsqrt_approximate",
                "One over the square root, each correctly rounded.",
                "{ return 1.0f / __builtin_sqrtf(x); }",
            ),
        },
        double: Some(Form {
            ptx: &[step("sqrt.rn.f64"), step("rcp.rn.f64")],
            cuda: Expression("__drcp_rn(__dsqrt_rn(", "))"),
            hip: Expression("1.0 / __builtin_sqrt(", ")"),
        }),
        around: Some(2),
        asks_range: true,
    },
    Instruction {
        op: Unary::Reciprocal,
        single: Form {
            ptx: &[step("rcp.approx.ftz.f32")],
            cuda: assembly(
                "reciprocal",
                "One over x, as the machine approximates it; zero instead of subnormal numbers.",
                "inverse",
            ),
            hip: function(
                "reciprocal",
                "One over x, as the machine approximates it; zero instead of subnormal numbers.",
                "{ return __builtin_amdgcn_rcpf(x); }",
            ),
        },
        double: None,
        around: Some(0),
        asks_range: false,
    },
    whole!(Floor, "cvt.rmi", "floor"),
    whole!(Ceil, "cvt.rpi", "ceil"),
    whole!(Trunc, "cvt.rzi", "trunc"),
    whole!(Nearest, "cvt.rni", "rint"),
];
