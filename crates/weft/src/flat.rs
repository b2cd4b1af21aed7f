//! Nested loops as one, where the source asks for it (`tl.range(…, flatten=True)`).
//!
//! A kernel of which each block multiplies several tiles goes over them in one loop and over their products in another.
//! Between the last product of a tile and the first of the next one nothing is under way:
//!
//! ```text
//! for %tile = %low to %high step %d (%a) {              for %round = 0 to %tiles * %rounds (%tile = %low, %k = %from,
//!   %rows = ..%tile..                                                                       %a, %rows, %x = %zero) {
//!   %sum = for %k = %from to %to step %e (%x = %zero) {   %rows' = if %k == %from { ..%tile.. } else { %rows }
//!     %next = ..%k..%x..%rows..                     ==>   %next = ..%k..%x..%rows'..
//!     yield %next                                         %last = no round is left behind %k
//!   }                                                     %a', %x' = if %last { store ..%tile..%next..; %b, %zero }
//!   store ..%tile..%sum..                                            else { %a, %next }
//!   yield %b                                              yield (if %last: %tile + %d, %from; else: %tile, %k + %e),
//! }                                                             %a', %rows', %x'
//!                                                       }
//! ```
//!
//! In one loop the loads for the next tile are ahead while this one is stored, as in loops that are written so. What
//! stands in front of the inner loop is carried, if it is a number for each row or column at most, and is made
//! again otherwise; what is behind it makes again what it needs, so that no register is held for it.
//!
//! That is one version of the nest. In the other, whose inner loop has no round at all, the loop of tiles is left.

use crate::axis::AxisFacts;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar::{Binary, Cast, Compare};
use crate::tile::{
    Around, Copies, Element, Kernel, LoopHints, Op, OpId, OpKind, Region, Rewrite, Type, Value,
    ValueData, WriteOps,
};

/// The kernel with one loop for each nest of which the source asks for it, if what the loops do allows that; nothing
/// where it has none.
pub(crate) fn run(kernel: &Kernel, facts: &AxisFacts) -> Option<Kernel> {
    let definitions = kernel.definitions();
    let mut nests = Vec::new();
    kernel.walk(&kernel.body, &mut |id, op| {
        if matches!(op.kind, OpKind::For(LoopHints { flatten: true, .. })) {
            nests.extend(Nest::of(kernel, facts, &definitions, id));
        }
    });
    if nests.is_empty() {
        return None;
    }
    let mut kernel = kernel.clone();
    let mut around = IdMap::<OpId, Around>::default();
    for nest in nests {
        let outer = nest.outer;
        let written = Flat { kernel: &mut kernel, nest }.write();
        *around.entry(outer) = written;
    }
    kernel.put_around(&around);
    Some(kernel)
}

/// A loop, with its bounds.
#[derive(Clone)]
struct Counted {
    low: Value,
    high: Value,
    step: Value,
    /// What the step is.
    stride: i64,
    counter: Value,
    /// Between which integers the counter lies.
    counts: (i64, i64),
    carried: Vec<Value>,
    initial: Vec<Value>,
    handed: Vec<Value>,
}

impl Counted {
    fn of(kernel: &Kernel, facts: &AxisFacts, id: OpId) -> Option<Self> {
        let op = &kernel.ops[id];
        let (&[low, high, step, ..], [body]) = (&op.operands[..], &op.regions[..]) else {
            return None;
        };
        let (&counter, carried) = body.params.split_first()?;
        let [from, to, by] = [low, high, step].map(|value| facts.get(value).range);
        if kernel.ty(counter).dtype() != DType::I32 || by.low != by.high || by.low <= 0 {
            return None;
        }
        Some(Self {
            low,
            high,
            step,
            stride: by.low,
            counter,
            counts: (from.low, to.high.checked_sub(1)?.max(from.low)),
            carried: carried.to_vec(),
            initial: op.operands[3..].to_vec(),
            handed: kernel.handed_over(body).to_vec(),
        })
    }
}

/// A loop with one loop inside it, and what becomes of what stands around that.
struct Nest {
    outer: OpId,
    inner: OpId,
    tiles: Counted,
    rounds: Counted,
    /// What stands in front of the inner loop and is the same for all tiles.
    fixed: Vec<OpId>,
    /// What else stands in front of the inner loop, in its body, and behind it.
    front: Vec<OpId>,
    body: Vec<OpId>,
    behind: Vec<OpId>,
    /// What of the front is done once for a tile.
    once: Vec<OpId>,
    /// What of the front is made again in each round.
    each: Vec<OpId>,
    /// What of the front is made again behind the last round.
    last: Vec<OpId>,
    /// What rounds take of what is done once.
    rows: Vec<Value>,
    /// Whether what the inner loop begins with is made in front of it.
    varies: Vec<bool>,
}

impl Nest {
    fn of(
        kernel: &Kernel,
        facts: &AxisFacts,
        definitions: &IdMap<Value, Option<OpId>>,
        outer: OpId,
    ) -> Option<Self> {
        let all = &kernel.ops[outer].regions.first()?.ops;
        let is_loop = |id: &OpId| matches!(kernel.ops[*id].kind, OpKind::For(_));
        let place = all.iter().position(is_loop)?;
        let (front, rest) = all.split_at(place);
        let (&inner, behind) = rest.split_first()?;
        let (_, behind) = behind.split_last()?;
        let has_loops = |region: &Region| {
            let mut has_loops = false;
            kernel.walk(region, &mut |_, op| {
                has_loops |= matches!(op.kind, OpKind::For(_) | OpKind::While);
            });
            has_loops
        };
        if behind.iter().any(is_loop) || has_loops(&kernel.ops[inner].regions[0]) {
            return None;
        }
        let [tiles, rounds] = [outer, inner].map(|id| Counted::of(kernel, facts, id));
        let (tiles, rounds) = (tiles?, rounds?);
        let (_, body) = kernel.ops[inner].regions[0].ops.split_last()?;

        // What is the same for all tiles stands in front of them.
        let is_once = |id: &OpId| !kernel.ops[*id].kind.effects().is_pure();
        let mut of_tile = IdMap::<Value, bool>::default();
        of_tile.set(tiles.counter, true);
        tiles.carried.iter().for_each(|&value| of_tile.set(value, true));
        let (mut fixed, mut own) = (Vec::new(), Vec::new());
        for &id in front {
            if is_once(&id) || !taken(kernel, &of_tile, &[id]).is_empty() {
                own.push(id);
                kernel.ops[id].results.iter().for_each(|&result| of_tile.set(result, true));
            } else {
                fixed.push(id);
            }
        }
        let front = &own[..];
        if [rounds.low, rounds.high, rounds.step].iter().any(|&bound| of_tile[bound]) {
            return None;
        }
        let slices = Slices { kernel, definitions, front, of_tile: &of_tile };
        let handed = rounds.handed.iter().copied().filter(|&value| of_tile[value]);
        let taken: Vec<Value> = slices.taken(body).into_iter().chain(handed).collect();

        // What rounds take, down to what is carried: rows, and in the place of tiles that are loaded what is made of them.
        let is_row = |&value: &Value| is_row(kernel.ty(value));
        let mut loaded = IdMap::<Value, bool>::default();
        for &id in front {
            let Op { operands, results, .. } = &kernel.ops[id];
            let is_loaded = is_once(&id) || operands.iter().any(|&operand| loaded[operand]);
            for &result in results.iter().filter(|result| is_loaded && !is_row(result)) {
                loaded.set(result, true);
            }
        }
        let mut rows: Vec<Value> = Vec::new();
        let each = slices.back(&taken, &mut |value, id| {
            let ends = is_once(&id) || is_row(&value) || loaded[value];
            if ends && !rows.contains(&value) {
                rows.push(value);
            }
            !ends
        });
        // What stands behind makes again what can be.
        let behind_takes = [&slices.taken(behind)[..], &tiles.handed].concat();
        let last = slices.back(&behind_takes, &mut |value, id| {
            let ends = is_once(&id);
            if ends && !rows.contains(&value) {
                rows.push(value);
            }
            !ends
        });
        let varies: Vec<bool> = rounds.initial.iter().map(|&value| of_tile[value]).collect();
        let begins = rounds.initial.iter().zip(&varies).filter(|(_, varies)| **varies);
        let mut needed: Vec<Value> = begins.map(|(&value, _)| value).collect();
        needed.extend(&rows);
        let impure: Vec<OpId> = front.iter().copied().filter(is_once).collect();
        needed.extend(slices.taken(&impure));
        let pure = slices.back(&needed, &mut |_, id| !is_once(&id));
        let once: Vec<OpId> =
            front.iter().copied().filter(|id| is_once(id) || pure.contains(id)).collect();

        let is_number = |&value: &Value| matches!(kernel.ty(value).element, Element::Scalar(_));
        let is_kept = |value: &Value| {
            is_number(value) || matches!(kernel.ty(*value).element, Element::Pointer(_))
        };
        let mut done = impure.iter().flat_map(|&id| &kernel.ops[id].results);
        if !done.all(is_number) || !rows.iter().chain(&rounds.initial).all(is_kept) {
            return None;
        }
        Some(Self {
            outer,
            inner,
            fixed,
            front: front.to_vec(),
            body: body.to_vec(),
            behind: behind.to_vec(),
            once,
            each,
            last,
            rows,
            varies,
            tiles,
            rounds,
        })
    }
}

/// Whether a tensor has more than one element along one dimension at most.
fn is_row(ty: &Type) -> bool {
    ty.shape.iter().filter(|&&size| size > 1).count() <= 1
}

/// What operations take of what hangs on the round of the outer loop.
fn taken(kernel: &Kernel, of_tile: &IdMap<Value, bool>, ops: &[OpId]) -> Vec<Value> {
    let mut taken = Vec::new();
    let mut take =
        |op: &Op| taken.extend(op.operands.iter().copied().filter(|&operand| of_tile[operand]));
    for &id in ops {
        let op = &kernel.ops[id];
        take(op);
        op.regions.iter().for_each(|region| kernel.walk(region, &mut |_, op| take(op)));
    }
    taken
}

/// What stands in front of an inner loop, and hangs on the round of the outer one.
struct Slices<'a> {
    kernel: &'a Kernel,
    definitions: &'a IdMap<Value, Option<OpId>>,
    front: &'a [OpId],
    of_tile: &'a IdMap<Value, bool>,
}

impl Slices<'_> {
    fn taken(&self, ops: &[OpId]) -> Vec<Value> {
        taken(self.kernel, self.of_tile, ops)
    }

    /// What of the front gives these values, as far back as `goes_on` with what gives one, in order.
    fn back(&self, values: &[Value], goes_on: &mut dyn FnMut(Value, OpId) -> bool) -> Vec<OpId> {
        let mut found = Vec::new();
        let mut asked = IdMap::<Value, bool>::default();
        let mut left = values.to_vec();
        while let Some(value) = left.pop() {
            let Some(id) = self.definitions[value].filter(|id| self.front.contains(id)) else {
                continue;
            };
            if core::mem::replace(asked.entry(value), true) || !goes_on(value, id) {
                continue;
            }
            found.push(id);
            left.extend(self.taken(&[id]));
        }
        self.front.iter().copied().filter(|id| found.contains(id)).collect()
    }
}

/// Writes the loop that stands for a nest.
struct Flat<'a> {
    kernel: &'a mut Kernel,
    nest: Nest,
}

impl Flat<'_> {
    /// Puts the flat loop in the place of the outer one; gives what stands in front of it.
    fn write(mut self) -> Around {
        let mut around = Around::default();
        let Nest { outer, inner, tiles, rounds, .. } = &self.nest;
        let (outer, tiles, rounds) = (*outer, tiles.clone(), rounds.clone());
        let Op { kind, results, .. } = self.kernel.ops[outer].clone();
        let hints = [&kind, &self.kernel.ops[*inner].kind].map(|kind| match kind {
            OpKind::For(hints) => *hints,
            _ => LoopHints::default(),
        });
        let stages = hints[0].stages.or(hints[1].stages);

        let rest = self.without_rounds();
        let wide = Type::scalar(DType::I64);
        around.before.clone_from(&self.nest.fixed);
        let mut rewrite = Rewrite { kernel: self.kernel, at: outer, out: &mut around.before };
        let [zero, one] = [0, 1].map(|number| rewrite.constant(&wide, number));
        let [count_tiles, count_rounds] = [&tiles, &rounds].map(|of| count(&mut rewrite, of, zero));
        let all = rewrite.binary(Binary::Mul, count_tiles, count_rounds);
        let any = rewrite.compare(Compare::Sgt, count_rounds, zero);
        // What the first tile's round will give stands for what there is before it: as much is known of it.
        let mut flat = Vec::new();
        let [rows, begin] = self.before_the_first(&mut flat);

        let body = self.body();
        let carried = [&[tiles.low, rounds.low][..], &tiles.initial, &rows, &begin].concat();
        let ends = self.like(&carried);
        let of_tiles = 2..2 + tiles.initial.len();
        let handed = ends[of_tiles].to_vec();
        let kind = OpKind::For(LoopHints { stages, ..LoopHints::default() });
        let operands = [&[zero, all, one], &carried[..]].concat();
        flat.push(self.op(kind, operands, ends, vec![body]));
        let left = self.kernel.copies_of(&results, &mut Copies::default());
        let kind = OpKind::For(LoopHints::default());
        let operands = [&[tiles.low, tiles.high, tiles.step], &tiles.initial[..]].concat();
        let rest = self.op(kind, operands, left.clone(), vec![rest]);
        let versions = self.branch(any, results, [(flat, handed), (vec![rest], left)]);
        self.kernel.ops[outer] = self.kernel.ops[versions].clone();
        around
    }

    /// The body of the outer loop where the inner one has no round.
    fn without_rounds(&mut self) -> Region {
        let Nest { outer, inner, rounds, front, behind, .. } = &self.nest;
        let body = self.kernel.ops[*outer].regions[0].clone();
        let mut copies = Copies::default();
        let params = self.kernel.copies_of(&body.params, &mut copies);
        let mut ops: Vec<OpId> =
            front.iter().map(|&id| self.kernel.copy_of(id, &mut copies)).collect();
        let results = self.kernel.ops[*inner].results.clone();
        for (result, &begin) in results.into_iter().zip(&rounds.initial) {
            copies.set(result, Some(copies[begin].unwrap_or(begin)));
        }
        let end = body.ops.last().copied();
        let left = behind.iter().copied().chain(end);
        ops.extend(left.map(|id| self.kernel.copy_of(id, &mut copies)));
        Region { params, ops }
    }

    /// What stands for rows and for what the inner loop begins with in front of the first round.
    fn before_the_first(&mut self, out: &mut Vec<OpId>) -> [Vec<Value>; 2] {
        let Nest { outer, tiles, rounds, once, rows, varies, .. } = &self.nest;
        let mut copies = Copies::default();
        copies.set(tiles.counter, Some(tiles.low));
        for (&carried, &initial) in tiles.carried.iter().zip(&tiles.initial) {
            copies.set(carried, Some(initial));
        }
        // What is not known before it is done is zero.
        for &id in once {
            let op = &self.kernel.ops[id];
            if op.kind.effects().is_pure() {
                let copy = self.kernel.copy_of(id, &mut copies);
                out.push(copy);
                continue;
            }
            for result in op.results.clone() {
                let ty = self.kernel.ty(result).clone();
                let zero = Rewrite { kernel: self.kernel, at: *outer, out }.constant(&ty, 0);
                copies.set(result, Some(zero));
            }
        }
        let now = |&value: &Value| copies[value].unwrap_or(value);
        let begin = rounds.initial.iter().zip(varies);
        let begin = begin.map(|(value, &varies)| if varies { now(value) } else { *value });
        [rows.iter().map(now).collect(), begin.collect()]
    }

    /// A round of the flat loop.
    fn body(&mut self) -> Region {
        let Nest { outer, inner, tiles, rounds, body, rows, varies, .. } = &self.nest;
        let (outer, tiles, rounds, varies) =
            (*outer, tiles.clone(), rounds.clone(), varies.clone());
        let results = self.kernel.ops[*inner].results.clone();
        let (body, rows) = (body.clone(), rows.clone());
        let round = self.kernel.values.push(ValueData::new(Type::scalar(DType::I64), None));
        for of in [&tiles, &rounds] {
            self.kernel.values[of.counter].within = Some(of.counts);
        }
        let mut ops = Vec::new();

        // What is new is the value that rounds take; what was carried has another one.
        let begins = |of: &[Value]| -> Vec<Value> {
            of.iter().zip(&varies).filter(|(_, varies)| **varies).map(|(&value, _)| value).collect()
        };
        let new = [&rows[..], &begins(&rounds.carried)].concat();
        let before = self.kernel.copies_of(&new, &mut Copies::default());
        if !(new.is_empty() && self.nest.once.is_empty()) {
            let mut rewrite = Rewrite { kernel: self.kernel, at: outer, out: &mut ops };
            let is_new = rewrite.compare(Compare::Eq, rounds.counter, rounds.low);
            let mut copies = Copies::default();
            let once = self.nest.once.clone();
            let once: Vec<OpId> =
                once.into_iter().map(|id| self.kernel.copy_of(id, &mut copies)).collect();
            let made = [&rows[..], &begins(&rounds.initial)].concat();
            let made = made.into_iter().map(|value| copies[value].unwrap_or(value)).collect();
            let arms = [(once, made), (Vec::new(), before.clone())];
            ops.push(self.branch(is_new, new, arms));
        }
        ops.extend(&self.nest.each);
        ops.extend(body);

        let mut rewrite = Rewrite { kernel: self.kernel, at: outer, out: &mut ops };
        let left = rewrite.binary(Binary::Sub, rounds.high, rounds.counter);
        let is_last = rewrite.compare(Compare::Ule, left, rounds.step);
        let next = |of: &Counted, rewrite: &mut Rewrite<'_>| {
            rewrite.binary(Binary::Add, of.counter, of.step)
        };
        let [next_tile, next_round] = [next(&tiles, &mut rewrite), next(&rounds, &mut rewrite)];
        let next_tile = rewrite.select(is_last, next_tile, tiles.counter);
        let next_round = rewrite.select(is_last, rounds.low, next_round);
        for (value, of) in [(next_tile, &tiles), (next_round, &rounds)] {
            self.kernel.values[value].within = Some(of.counts);
        }

        // What stands behind the inner loop.
        let mut copies = Copies::default();
        for (&result, &handed) in results.iter().zip(&rounds.handed) {
            copies.set(result, Some(handed));
        }
        let last = [&self.nest.last[..], &self.nest.behind].concat();
        let last: Vec<OpId> =
            last.into_iter().map(|id| self.kernel.copy_of(id, &mut copies)).collect();
        let handed = tiles.handed.iter().map(|&value| copies[value].unwrap_or(value));
        let stays = |index: &usize| !varies[*index];
        let kept: Vec<usize> = (0..varies.len()).filter(stays).collect();
        let of_kept = |of: &[Value]| kept.iter().map(|&index| of[index]).collect::<Vec<_>>();
        let arms = [
            (last, handed.chain(of_kept(&rounds.initial)).collect()),
            (Vec::new(), [&tiles.carried[..], &of_kept(&rounds.handed)].concat()),
        ];
        let after = arms[1].1.clone();
        let after = self.like(&after);
        ops.push(self.branch(is_last, after.clone(), arms));

        let (own, of_rounds) = after.split_at(tiles.carried.len());
        let mut begin = rounds.handed.clone();
        kept.iter().zip(of_rounds).for_each(|(&index, &value)| begin[index] = value);
        let handed = [&[next_tile, next_round], own, &rows, &begin].concat();
        let mut rewrite = Rewrite { kernel: self.kernel, at: outer, out: &mut ops };
        rewrite.nothing(OpKind::Yield, &handed);

        let (rows_before, begin_before) = before.split_at(rows.len());
        let mut begin = rounds.carried.clone();
        let varying = (0..varies.len()).filter(|&index| varies[index]);
        varying.zip(begin_before).for_each(|(index, &value)| begin[index] = value);
        let carried = [&tiles.carried[..], rows_before, &begin].concat();
        let params = [&[round, tiles.counter, rounds.counter], &carried[..]].concat();
        Region { params, ops }
    }

    /// Values of the same types, of which nothing is promised.
    fn like(&mut self, values: &[Value]) -> Vec<Value> {
        let new = |&value: &Value| {
            let ValueData { ty, name, .. } = self.kernel.values[value].clone();
            self.kernel.values.push(ValueData::new(ty, name))
        };
        values.iter().map(new).collect()
    }

    /// A branch, by what its arms do and hand over.
    fn branch(
        &mut self,
        truth: Value,
        results: Vec<Value>,
        arms: [(Vec<OpId>, Vec<Value>); 2],
    ) -> OpId {
        let outer = self.nest.outer;
        let regions = arms.map(|(mut ops, handed)| {
            Rewrite { kernel: self.kernel, at: outer, out: &mut ops }
                .nothing(OpKind::Yield, &handed);
            Region { params: Vec::new(), ops }
        });
        self.op(OpKind::If, vec![truth], results, regions.to_vec())
    }

    /// An operation from the place of the outer loop.
    fn op(
        &mut self,
        kind: OpKind,
        operands: Vec<Value>,
        results: Vec<Value>,
        regions: Vec<Region>,
    ) -> OpId {
        let Op { loc, span, .. } = self.kernel.ops[self.nest.outer];
        self.kernel.ops.push(Op { kind, operands, results, regions, loc, span, spelled: false })
    }
}

/// How many rounds a loop has, which may be more than its counter can count.
fn count(rewrite: &mut Rewrite<'_>, of: &Counted, zero: Value) -> Value {
    let [low, high] = [of.low, of.high].map(|end| rewrite.cast(Cast::ExtS, end, DType::I64));
    let length = rewrite.binary(Binary::Sub, high, low);
    let length = rewrite.binary(Binary::MaxS, length, zero);
    if of.stride == 1 {
        return length;
    }
    let length = rewrite.with_number(Binary::Add, length, of.stride as u64 - 1);
    rewrite.with_number(Binary::DivS, length, of.stride as u64)
}
