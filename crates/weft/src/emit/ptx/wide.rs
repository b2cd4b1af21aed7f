//! Products of 32 bits by 32 whose 64 bits are all wanted: one instruction, `mul.wide`.
//!
//! A lane program extends both factors and multiplies in 64 bits; the offset of an element in bytes is
//! such a product, and so is a product of which both halves are used. By itself each extension is an
//! instruction, and the product of 64 bits several:
//!
//! ```text
//! %3: i64 = cast.ext_s %1
//! %4: i64 = shl %3, 2           mul.wide.s32 %rd4, %r1, 4;
//! ```
//!
//! In a loop a sum that alone uses such a product takes it in (`mad.wide`): the assembler then lets loads of
//! several rounds run at once where it would put them one behind the other. Outside of loops the
//! same costs registers, as every sum is computed at once and kept.

use super::writer::{Reg, Writer, put};
use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::{Op, Program, Region, Value};
use crate::scalar::{Binary, Cast};
use rustc_hash::FxHashSet;

/// A factor of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Factor {
    Value(Value),
    Constant(i64),
}

/// Two factors and how both are extended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Product {
    signed: bool,
    factors: (Value, Factor),
}

/// The wide products of a program.
#[derive(Debug, Default)]
pub(super) struct Wide {
    /// The product that a value is, if it is one.
    products: IdMap<Value, Option<Product>>,
    /// By result, the product and what it is added to.
    sums: IdMap<Value, Option<(Product, Value)>>,
    /// The products that only such a sum uses, and the extensions that only products use: nothing is left
    /// to print of them.
    taken: IdMap<Value, bool>,
}

impl Wide {
    /// Finds them. The registers of some values are written again where others take their place: what is
    /// made of those is not put off.
    pub(super) fn of(program: &Program, is_overwritten: impl Fn(Value) -> bool) -> Wide {
        let mut known = Known::default();
        program.walk(&program.body, &mut |_, inst| {
            let &[result] = &inst.results[..] else { return };
            match (&inst.op, &inst.operands[..]) {
                (&Op::Const(bits), _) if program.dtype(result) == DType::I64 => {
                    known.constants.set(result, Some(bits as i64));
                }
                (Op::Cast(op @ (Cast::ExtS | Cast::ExtU)), &[x])
                    if program.dtype(x) == DType::I32 && !is_overwritten(x) =>
                {
                    known.extended.set(result, Some((x, *op == Cast::ExtS)));
                }
                _ => {}
            }
        });
        let mut wide = Wide::default();
        // How often each value is used, but for the factors of wide products.
        let mut uses: IdMap<Value, u32> = IdMap::default();
        program.walk(&program.body, &mut |_, inst| {
            let product = match (&inst.op, &inst.operands[..], &inst.results[..]) {
                (Op::Binary(op), &[x, y], &[result]) if program.dtype(result) == DType::I64 => {
                    let product = known.product(*op, x, y);
                    wide.products.set(result, product);
                    product
                }
                _ => None,
            };
            if product.is_none() {
                for &operand in &inst.operands {
                    uses.set(operand, uses[operand] + 1);
                }
            }
        });
        program.walk(&program.body, &mut |_, inst| {
            if let &[result] = &inst.results[..]
                && known.extended[result].is_some()
            {
                wide.taken.set(result, uses[result] == 0);
            }
        });
        wide.find_sums(program, &program.body, &uses, false);
        wide
    }

    /// The sums in loops whose product stands beside them and serves nothing else.
    fn find_sums(
        &mut self,
        program: &Program,
        region: &Region,
        uses: &IdMap<Value, u32>,
        in_loop: bool,
    ) {
        let mut beside: FxHashSet<Value> = FxHashSet::default();
        for &id in &region.insts {
            let inst = &program.insts[id];
            for inner in &inst.regions {
                self.find_sums(program, inner, uses, in_loop || inst.op == Op::Loop);
            }
            let &[result] = &inst.results[..] else { continue };
            if in_loop && uses[result] == 1 && self.products[result].is_some() {
                beside.insert(result);
            }
            let (Op::Binary(Binary::Add), &[x, y]) = (&inst.op, &inst.operands[..]) else {
                continue;
            };
            let sum = [(x, y), (y, x)].into_iter().find(|(product, _)| beside.contains(product));
            if let Some((product, base)) = sum {
                self.sums.set(result, self.products[product].map(|product| (product, base)));
                self.taken.set(product, true);
            }
        }
    }

    /// Whether an operation need not be printed, because those that use its result say what it says.
    pub(super) fn takes(&self, result: Value) -> bool {
        self.taken[result]
    }
}

/// What values are made of.
#[derive(Default)]
struct Known {
    constants: IdMap<Value, Option<i64>>,
    /// The operand of an extension from 32 bits, and whether it repeats the sign.
    extended: IdMap<Value, Option<(Value, bool)>>,
}

impl Known {
    fn product(&self, op: Binary, x: Value, y: Value) -> Option<Product> {
        let factor = match op {
            // The constant stands second.
            Binary::Mul => self.constants[y],
            // 2^31 is no signed number of 32 bits.
            Binary::Shl => {
                let count = self.constants[y].filter(|count| (1..31).contains(count))?;
                Some(1 << count)
            }
            _ => return None,
        };
        let (x, signed) = self.extended[x]?;
        let factor = match (factor, self.extended[y]) {
            (Some(factor), _) => {
                let fits = if signed {
                    i32::try_from(factor).is_ok()
                } else {
                    u32::try_from(factor).is_ok()
                };
                fits.then_some(Factor::Constant(factor))
            }
            (None, Some((y, same))) => (signed == same).then_some(Factor::Value(y)),
            (None, None) => None,
        };
        Some(Product { signed, factors: (x, factor?) })
    }
}

/// Writes a value as a wide product, or as the sum of one, if it is that.
pub(super) fn product(w: &mut Writer<'_>, result: Value, d: Reg) -> bool {
    let (name, product, base) = match (w.wide.sums[result], w.wide.products[result]) {
        (Some((product, base)), _) => ("mad", product, format!(", {}", w.reg(base))),
        (None, Some(product)) => ("mul", product, String::new()),
        (None, None) => return false,
    };
    let Product { signed, factors: (x, y) } = product;
    let kind = if signed { 's' } else { 'u' };
    let x = w.reg(x);
    match y {
        Factor::Value(y) => {
            let y = w.reg(y);
            put!(w, "{name}.wide.{kind}32 {d}, {x}, {y}{base}");
        }
        Factor::Constant(y) => put!(w, "{name}.wide.{kind}32 {d}, {x}, {y}{base}"),
    }
    true
}
