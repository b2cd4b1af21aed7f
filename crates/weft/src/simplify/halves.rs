//! Products of 32 bits by 32 of which both halves are used, as random numbers are made of: one product of
//! 64 bits, which machines have an instruction for, in place of two of 32.
//!
//! ```text
//! l: i32 = mul x, y            w: i64 = mul (ext_u x), (ext_u y)
//! h: i32 = mul_hi_u x, y       l: i32 = trunc w
//!                              h: i32 = trunc (shr_u w, 32)
//! ```

use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::{Builder, Inst, Op, Program, Region, Value};
use crate::scalar::{Binary, Cast};
use rustc_hash::FxHashMap;

/// The products whose other half stands in the same region.
#[derive(Debug, Default)]
pub(super) struct Halves(IdMap<Inst, bool>);

impl Halves {
    /// Finds the products of a program whose halves stand side by side.
    pub(super) fn of(program: &Program) -> Halves {
        let mut halves = Halves::default();
        halves.region(program, &program.body);
        halves
    }

    /// Whether an operation is such a half.
    pub(super) fn has(&self, inst: Inst) -> bool {
        self.0[inst]
    }

    fn region(&mut self, program: &Program, region: &Region) {
        // By factors, in order: the lower half, the upper one.
        let mut known: FxHashMap<[Value; 2], [Option<Inst>; 2]> = FxHashMap::default();
        for &id in &region.insts {
            let inst = &program.insts[id];
            for inner in &inst.regions {
                self.region(program, inner);
            }
            let half = match inst.op {
                Op::Binary(Binary::Mul) => 0,
                Op::Binary(Binary::MulHiU) => 1,
                _ => continue,
            };
            let &[x, y] = &inst.operands[..] else { continue };
            if program.dtype(x) != DType::I32 {
                continue;
            }
            let product = known.entry([x.min(y), x.max(y)]).or_default();
            product[half] = Some(id);
            if let [Some(lower), Some(upper)] = *product {
                self.0.set(lower, true);
                self.0.set(upper, true);
            }
        }
    }
}

/// A half of the product of two i32, of which the other half is used too.
pub(super) fn half(build: &mut Builder, upper: bool, x: Value, y: Value) -> Value {
    // In one order, so that both halves find the same product.
    let [x, y] = [x.min(y), x.max(y)].map(|factor| build.cast(Cast::ExtU, factor, DType::I64));
    let mut product = build.binary(Binary::Mul, x, y);
    if upper {
        let count = build.constant(DType::I64, 32);
        product = build.binary(Binary::ShrU, product, count);
    }
    build.cast(Cast::Trunc, product, DType::I32)
}
