//! Loops and branches around random operations.

use super::build::{Build, tensor};
use weft::dtype::DType;
use weft::scalar::{Binary, Compare};
use weft::tile::{OpKind, Precision, Type, Value};

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

    /// A loop that sums products of what it loads, so that loads run ahead; whole numbers, whose sums
    /// no order rounds.
    pub(super) fn product_loop(&mut self, most: u64) {
        let most = most.min(1024);
        let [m, n, k]: [u64; 3] = [(); 3].map(|()| 1 << self.dice.below(7));
        if m * n > most || m * k > most || k * n > most || m * n * k > 1 << 13 {
            return;
        }
        let (from, to) = self.dice.pick(&[
            (DType::F16, DType::F32),
            (DType::BF16, DType::F32),
            (DType::F32, DType::F32),
            (DType::F64, DType::F64),
            (DType::F8E4M3FN, DType::F32),
            (DType::I8, DType::I32),
            (DType::I32, DType::I32),
        ]);
        let rounds = self.dice.below(6) as u64;
        let bounds = [0, rounds, 1].map(|bits| self.number(&Type::scalar(DType::I32), bits));
        let walks = [[m, k], [k, n]].map(|shape| {
            let stride = self.dice.pick(&[0, 1, 16, 64]);
            let make = |b: &mut Self, size| b.whole_input(from, size + rounds * stride);
            let pointers = self.pointers(&shape, false, false, make);
            let steps = self.number(&tensor(DType::I32, &shape), stride);
            // Some of them only, sometimes; zeros elsewhere.
            let mask = self
                .dice
                .chance(1, 4)
                .then(|| (self.truth(&shape), self.constant(&tensor(from, &shape), 0)));
            (pointers, steps, mask)
        });
        let sum = tensor(to, &[m, n]);
        let zero = self.constant(&sum, 0);
        let carried = [walks[0].0, walks[1].0, zero];
        let types = self.types(&carried);
        let params = [&[Type::scalar(DType::I32)], &types[..]].concat();
        let (_, precision) = self.dice.pick(&Precision::TABLE);
        let region = self.region(&params, OpKind::Yield, |b, params| {
            let mut factors = Vec::new();
            for (&pointers, &(_, _, mask)) in params[1..3].iter().zip(&walks) {
                let others = mask.map_or(vec![], |(mask, zeros)| vec![mask, zeros]);
                factors.push(b.load(&[&[pointers], &others[..]].concat()));
            }
            if b.dice.chance(1, 4) {
                b.pool.extend_from_slice(&factors);
                b.act(most);
            }
            let sum_type = b.ty(params[3]);
            let operands = [factors[0], factors[1], params[3]];
            let sum = b.op(OpKind::Dot(precision), &operands, &sum_type);
            let next = params[1..3].iter().zip(&walks);
            let next: Vec<Value> =
                next.map(|(&pointers, &(_, steps, _))| b.at(pointers, steps)).collect();
            [&next[..], &[sum]].concat()
        });
        let operands = [&bounds[..], &carried].concat();
        let results = self.owner(OpKind::For, &operands, &types, vec![region]);
        self.pool.push(results[2]);
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
