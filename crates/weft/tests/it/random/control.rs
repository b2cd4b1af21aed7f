//! Loops and branches around random operations.

use super::build::{Build, tensor};
use weft::dtype::DType;
use weft::scalar::{Binary, Compare};
use weft::tile::{LoopHints, OpKind, Precision, Type, Value};

/// The highest number of a page, of which all bits are ones.
const PAGES: u64 = 7;

/// How a loop comes by a factor of its products.
struct Walk {
    pointers: Value,
    steps: Value,
    /// Which of its numbers are loaded, and zeros for the others.
    mask: Option<(Value, Value)>,
    table: Option<Table>,
}

/// Numbers of pages, of which each round takes one, or one for each index along an axis.
struct Table {
    numbers: Value,
    axis: Option<u8>,
    /// The numbers of a page.
    page: u64,
}

impl Build<'_> {
    /// Values to carry.
    pub(super) fn carried(&mut self) -> Vec<Value> {
        let count = 1 + self.dice.below(3);
        (0..count).map(|_| self.any()).collect()
    }

    pub(super) fn next_of(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|ty| self.of_type(ty)).collect()
    }

    /// What a source might ask of a loop.
    fn hints(&mut self) -> LoopHints {
        LoopHints {
            stages: self.dice.pick(&[None, None, Some(1), Some(2), Some(3), Some(4)]),
            flatten: self.dice.pick(&[false, true]),
        }
    }

    pub(super) fn for_loop(&mut self, most: u64) {
        self.nested(most, true);
    }

    fn nested(&mut self, most: u64, is_outermost: bool) {
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
            // A nest that the source may want to be one loop.
            if is_outermost && b.dice.chance(1, 3) {
                b.nested(most, false);
                for _ in 0..b.dice.below(3) {
                    b.act(most);
                }
            }
            let mut next = b.next_of(&types);
            if let Some((_, _, steps)) = walks {
                next.push(b.at(params[1 + types.len()], steps));
            }
            next
        });
        let operands = [&bounds[..], &carried].concat();
        let hints = self.hints();
        let results = self.owner(OpKind::For(hints), &operands, &all, vec![region]);
        self.pool.extend(&results[..types.len()]);
    }

    /// A loop that sums products of what it loads, so that loads run ahead; whole numbers, whose sums
    /// no order rounds. A table may say where a factor lies, and a sum may begin anew.
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
            let table = self.table(&shape, rounds);
            let reach = table.as_ref().map_or(0, |table| PAGES * table.page);
            let make = |b: &mut Self, size| b.whole_input(from, size + rounds * stride + reach);
            let pointers = self.pointers(&shape, false, false, make);
            let steps = self.number(&tensor(DType::I32, &shape), stride);
            // Some of them only, sometimes; zeros elsewhere.
            let mask = self
                .dice
                .chance(1, 4)
                .then(|| (self.truth(&shape), self.constant(&tensor(from, &shape), 0)));
            Walk { pointers, steps, mask, table }
        });
        let sum = tensor(to, &[m, n]);
        let zero = self.constant(&sum, 0);
        let carried = [walks[0].pointers, walks[1].pointers, zero];
        let types = self.types(&carried);
        let params = [&[Type::scalar(DType::I32)], &types[..]].concat();
        let (_, precision) = self.dice.pick(&Precision::TABLE);
        let region = self.region(&params, OpKind::Yield, |b, params| {
            let mut factors = Vec::new();
            for (&pointers, walk) in params[1..3].iter().zip(&walks) {
                let others = walk.mask.map_or(vec![], |(mask, zeros)| vec![mask, zeros]);
                let pointers = match &walk.table {
                    Some(table) => b.paged(pointers, table, params[0]),
                    None => pointers,
                };
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
            let mut next: Vec<Value> =
                next.map(|(&pointers, walk)| b.at(pointers, walk.steps)).collect();
            next.push(if b.dice.chance(1, 3) { b.anew(sum, zero, params[0], most) } else { sum });
            next
        });
        let operands = [&bounds[..], &carried].concat();
        let hints = self.hints();
        let results = self.owner(OpKind::For(hints), &operands, &types, vec![region]);
        self.pool.push(results[2]);
    }

    /// Where tiles of this shape may lie: sometimes a table of so many rounds tells.
    fn table(&mut self, shape: &[u64; 2], rounds: u64) -> Option<Table> {
        if self.dice.chance(2, 3) {
            return None;
        }
        let axis = self.dice.pick(&[None, Some(0), Some(1)]);
        // It ends with the last round.
        let more = axis.map_or(0, |axis: u8| shape[usize::from(axis)] - 1);
        let numbers = self.input(DType::I32, (rounds + more).max(1));
        Some(Table { numbers, axis, page: self.dice.pick(&[1, 16, 64]) })
    }

    /// Pointers moved to the pages of a round.
    fn paged(&mut self, pointers: Value, table: &Table, round: Value) -> Value {
        let shape = self.ty(pointers).shape;
        let place = match table.axis {
            None => round,
            Some(axis) => {
                let extent = shape[usize::from(axis)];
                let (range, round) = (self.range(0, extent), self.splat(round, &[extent]));
                self.binary(Binary::Add, range, round)
            }
        };
        let mut operands = vec![self.at(table.numbers, place)];
        let ty = self.ty(place);
        if self.dice.chance(1, 4) {
            operands.extend([self.truth(&ty.shape), self.constant(&ty, 3)]);
        }
        let page = self.load(&operands);
        let (pages, size) = (self.number(&ty, PAGES), self.number(&ty, table.page));
        let page = self.binary(Binary::And, page, pages);
        let offset = self.binary(Binary::Mul, page, size);
        let offset = match table.axis {
            None => self.splat(offset, &shape),
            Some(axis) => {
                let offset = self.expand(offset, 1 - axis);
                self.broadcast(offset, &shape)
            }
        };
        self.at(pointers, offset)
    }

    /// A sum, or nothing in some rounds, chosen by a selection or a branch that may look at the sum.
    fn anew(&mut self, sum: Value, zero: Value, round: Value, most: u64) -> Value {
        let ty = self.ty(sum);
        let last = self.dice.below(4) as u64;
        let last = self.number(&Type::scalar(DType::I32), last);
        let compare = self.dice.pick(&[Compare::Eq, Compare::Ne, Compare::Slt]);
        let truth = Type::scalar(DType::I1);
        let done = self.op(OpKind::Compare(compare), &[round, last], &truth);
        let begins_first = self.dice.chance(1, 2);
        let ends = if begins_first { [zero, sum] } else { [sum, zero] };
        if self.dice.chance(1, 3) {
            return self.op(OpKind::Select, &[done, ends[0], ends[1]], &ty);
        }
        let arms = ends.map(|end| {
            self.region(&[], OpKind::Yield, |b, _| {
                b.pool.push(sum);
                for _ in 0..b.dice.below(3) {
                    b.act(most);
                }
                vec![end]
            })
        });
        self.owner(OpKind::If, &[done], &[ty], arms.into())[0]
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
