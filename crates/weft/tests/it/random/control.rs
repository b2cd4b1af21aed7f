//! Loops and branches around random operations.

use super::build::{Build, tensor};
use weft::dtype::DType;
use weft::scalar::{Binary, Compare};
use weft::tile::{OpKind, Type, Value};

impl Build<'_> {
    /// Values to carry.
    pub(super) fn carried(&mut self) -> Vec<Value> {
        let count = 1 + self.dice.below(3);
        (0..count).map(|_| self.any()).collect()
    }

    pub(super) fn next_of(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|ty| self.of_type(ty)).collect()
    }

    pub(super) fn for_loop(&mut self, most: u64) {
        let rounds = self.dice.below(4) as u64;
        let step = 1 + self.dice.below(3) as u64;
        let low = self.dice.below(3) as u64;
        let dtype = self.dice.pick(&[DType::I32, DType::I32, DType::I64]);
        let scalar = Type::scalar(dtype);
        let bounds = [low, low + step * rounds, step].map(|bits| self.number(&scalar, bits));
        let mut carried = self.carried();
        let types = self.types(&carried);
        // Pointers that walk through an array.
        let walks = self.dice.chance(1, 2).then(|| {
            let shape = self.shape(most.min(256));
            let dtype = self.dtype();
            let stride = self.dice.pick(&[1, 2, 8, 16, 32]);
            let make = |b: &mut Self, size| b.input(dtype, size + rounds * stride);
            let pointers = self.pointers(&shape, false, false, make);
            let steps = self.number(&tensor(DType::I32, &shape), stride);
            carried.push(pointers);
            (dtype, shape, steps)
        });
        let all = self.types(&carried);
        let params = [vec![scalar], all.clone()].concat();
        let region = self.region(&params, OpKind::Yield, |b, params| {
            b.pool.push(params[0]);
            b.pool.extend_from_slice(&params[1..=types.len()]);
            if let Some((dtype, shape, _)) = &walks {
                let loaded = b.load_masked(params[1 + types.len()], *dtype, shape);
                b.pool.push(loaded);
            }
            for _ in 0..b.dice.below(5) {
                b.act(most);
            }
            let mut next = b.next_of(&types);
            if let Some((_, _, steps)) = walks {
                next.push(b.at(params[1 + types.len()], steps));
            }
            next
        });
        let operands = [&bounds[..], &carried].concat();
        let results = self.owner(OpKind::For, &operands, &all, vec![region]);
        self.pool.extend(&results[..types.len()]);
    }

    pub(super) fn if_else(&mut self, most: u64) {
        let condition = self.truth(&[]);
        let count = self.dice.below(3);
        let types: Vec<Type> = (0..count)
            .map(|_| {
                let value = self.any();
                self.ty(value)
            })
            .collect();
        let mut arm = || {
            self.region(&[], OpKind::Yield, |b, _| {
                for _ in 0..b.dice.below(4) {
                    b.act(most);
                }
                b.next_of(&types)
            })
        };
        let regions = vec![arm(), arm()];
        let results = self.owner(OpKind::If, &[condition], &types, regions);
        self.pool.extend(results);
    }

    /// A counter and carried values; what the second region gets is some of those.
    pub(super) fn while_loop(&mut self, most: u64) {
        let carried = self.carried();
        let zero = self.i32(0);
        let rounds = self.dice.below(3) as i64;
        let entering = [&[zero], &carried[..]].concat();
        let types = self.types(&entering);
        let handed: Vec<Type> = {
            let more = self.types(&carried);
            [&types[..1], &more[..self.dice.below(more.len() + 1)]].concat()
        };
        let before = self.region(&types, OpKind::Condition, |b, params| {
            b.pool.extend_from_slice(&params[1..]);
            let limit = b.number(&Type::scalar(DType::I32), rounds as u64);
            let goes_on = OpKind::Compare(Compare::Slt);
            let goes_on = b.op(goes_on, &[params[0], limit], &Type::scalar(DType::I1));
            for _ in 0..b.dice.below(3) {
                b.act(most);
            }
            let rest = b.next_of(&handed[1..]);
            [&[goes_on, params[0]], &rest[..]].concat()
        });
        let after = self.region(&handed, OpKind::Yield, |b, params| {
            b.pool.extend_from_slice(&params[1..]);
            for _ in 0..b.dice.below(4) {
                b.act(most);
            }
            let one = b.i32(1);
            let next = b.binary(Binary::Add, params[0], one);
            let rest = b.next_of(&types[1..]);
            [&[next], &rest[..]].concat()
        });
        let results = self.owner(OpKind::While, &entering, &handed, vec![before, after]);
        self.pool.extend(&results[1..]);
    }
}
