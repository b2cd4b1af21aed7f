//! Programs with products of a warpgroup in flight.

use super::programs::pointer;
use crate::dtype::DType;
use crate::lane::{
    Access, BarrierScope, Builder, IdKind, Inst, Op, Program, Space, Value, WarpgroupMultiply,
};
use crate::scalar::{Binary, Cast, Compare};

/// A product of f16 in shared memory, added in f32.
pub(in crate::emit) fn form(columns: u16) -> WarpgroupMultiply {
    WarpgroupMultiply {
        columns,
        summed: 16,
        left: DType::F16,
        right: DType::F16,
        sum: DType::F32,
        left_in_registers: false,
        transposed: [false; 2],
        keeps: false,
    }
}

/// A program for one warpgroup being written.
pub(in crate::emit) struct Sketch {
    pub(in crate::emit) build: Builder,
    out: Value,
    /// The loop being written.
    around: Option<Inst>,
}

impl Sketch {
    pub(in crate::emit) fn new(name: &str) -> Self {
        let mut build = Builder::new(name, 4, 5);
        let out = build.param(pointer("out", DType::F32));
        Self { build, out, around: None }
    }

    /// A descriptor of the bytes of a new piece, in atoms of 128 swizzled bytes.
    pub(in crate::emit) fn descriptor(&mut self, bytes: u32) -> Value {
        let piece = self.build.shared(bytes, 1024, BarrierScope::Block);
        let base = self.build.shared_base(piece);
        let four = self.build.i32(4);
        let start = self.build.binary(Binary::ShrU, base, four);
        let start = self.build.cast(Cast::ExtU, start, DType::I64);
        let high = self.build.constant(DType::I64, 0x4000_0040 << 32);
        self.build.binary(Binary::Or, start, high)
    }

    pub(in crate::emit) fn zeros(&mut self, form: WarpgroupMultiply) -> Vec<Value> {
        form.accumulators().map(|dtype| self.build.constant(dtype, 0)).collect()
    }

    /// Writes a loop of so many rounds that carries values.
    pub(in crate::emit) fn rounds(
        &mut self,
        rounds: i32,
        initial: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let build = &mut self.build;
        let dtypes: Vec<DType> = initial.iter().map(|&value| build.dtype(value)).collect();
        let zero = build.i32(0);
        let inits = [&[zero], initial].concat();
        let target = build.new_loop(&inits, &dtypes);
        let params = build.open_region(&[&[DType::I32], &dtypes[..]].concat());
        let last = build.i32(rounds);
        let done = build.compare(Compare::Sge, params[0], last);
        build.break_if(target, done, &params[1..]);
        let outer = self.around.replace(target);
        let next = body(self, params[0], &params[1..]);
        self.around = outer;
        let one = self.build.i32(1);
        let round = self.build.binary(Binary::Add, params[0], one);
        let region = self.build.close_region(Op::Continue, &[&[round], &next[..]].concat());
        self.build.place_loop(target, region).to_vec()
    }

    /// Stores values, a vector for each thread.
    pub(in crate::emit) fn store(&mut self, values: &[Value]) {
        let build = &mut self.build;
        let thread = build.id(IdKind::Thread);
        let stride = build.i32(4 * values.len() as i32);
        let offset = build.binary(Binary::Mul, thread, stride);
        let offset = build.cast(Cast::ExtU, offset, DType::I64);
        let address = build.binary(Binary::Add, self.out, offset);
        for (place, value) in values.iter().enumerate() {
            let access = Access { offset: 4 * place as i32, ..Access::default() };
            build.store(Space::Global, access, address, None, &[*value]);
        }
    }

    pub(in crate::emit) fn finish(self) -> Program {
        self.build.finish()
    }
}

/// Four products a round on one sum; the last round's are in flight over the back edge.
pub(in crate::emit) fn carried(form: WarpgroupMultiply) -> Program {
    let mut sketch = Sketch::new("carried");
    let (a, b) = (sketch.descriptor(65536), sketch.descriptor(65536));
    let zeros = sketch.zeros(form);
    let sums = sketch.rounds(100, &zeros, |sketch, round, sums| {
        let (build, mut sums) = (&mut sketch.build, sums.to_vec());
        let two = build.i32(2);
        let step = build.binary(Binary::Shl, round, two);
        let step = build.cast(Cast::ExtU, step, DType::I64);
        let [a, b] = [a, b].map(|descriptor| build.binary(Binary::Add, descriptor, step));
        build.proxy_fence();
        build.warpgroup_fence();
        for part in 0..4 {
            let part = build.constant(DType::I64, 2 * part);
            let [a, b] = [a, b].map(|descriptor| build.binary(Binary::Add, descriptor, part));
            sums = build.warpgroup_multiply(form, &[a], b, None, &sums).to_vec();
        }
        build.warpgroup_commit();
        build.warpgroup_wait(1, &[]);
        build.barrier(BarrierScope::Block);
        sums
    });
    let sums = sketch.build.warpgroup_wait(0, &sums);
    sketch.store(&sums);
    sketch.finish()
}

/// The inner loop of attention, a round ahead: the product of queries and keys of the next round runs beside
/// that of this round's weights, from registers, and values.
pub(in crate::emit) fn attention() -> Program {
    let scores = WarpgroupMultiply { keeps: true, ..form(128) };
    let weighted =
        WarpgroupMultiply { left_in_registers: true, transposed: [false, true], ..form(128) };
    let mut sketch = Sketch::new("attention");
    let (q, k, v) = (sketch.descriptor(32768), sketch.descriptor(32768), sketch.descriptor(32768));
    let zeros = sketch.zeros(weighted);
    let zero = sketch.build.i32(0);
    let words = vec![zero; 32];
    let initial = [zeros.clone(), words].concat();
    let carried = sketch.rounds(50, &initial, |sketch, _, carried| {
        let (sums, words) = carried.split_at(64);
        let build = &mut sketch.build;
        build.warpgroup_fence();
        let mut next = zeros.clone();
        for part in 0..8 {
            let keep = build.constant(DType::I1, u64::from(part > 0));
            let part = build.constant(DType::I64, 2 * part);
            let [q, k] = [q, k].map(|descriptor| build.binary(Binary::Add, descriptor, part));
            next = build.warpgroup_multiply(scores, &[q], k, Some(keep), &next).to_vec();
        }
        build.warpgroup_commit();
        let mut sums = sums.to_vec();
        for part in 0..8 {
            let at = build.constant(DType::I64, 128 * part as u64);
            let v = build.binary(Binary::Add, v, at);
            let words = &words[4 * part..][..4];
            sums = build.warpgroup_multiply(weighted, words, v, None, &sums).to_vec();
        }
        build.warpgroup_commit();
        let next = build.warpgroup_wait(1, &next);
        let powers: Vec<Value> =
            next.iter().map(|&score| build.unary(crate::scalar::Unary::Exp2, score)).collect();
        let sums = build.warpgroup_wait(0, &sums);
        let half = build.constant(DType::F32, 0x3f00_0000);
        let sums: Vec<Value> =
            sums.iter().map(|&sum| build.binary(Binary::Mul, sum, half)).collect();
        let halves: Vec<Value> =
            powers.iter().map(|&power| build.cast(Cast::Float, power, DType::F16)).collect();
        let words = halves.chunks(2).map(|pair| build.join(pair));
        let words: Vec<Value> = words.collect();
        [sums, words].concat()
    });
    sketch.store(&carried[..64]);
    sketch.finish()
}

/// One product, waited for.
pub(in crate::emit) fn single(form: WarpgroupMultiply) -> Program {
    let mut sketch = Sketch::new("single");
    let (a, b) = (sketch.descriptor(65536), sketch.descriptor(65536));
    let lane = sketch.build.id(IdKind::Lane);
    let left: Vec<Value> = form
        .left_operands()
        .map(|dtype| match dtype {
            DType::I64 => a,
            dtype => sketch.build.cast(Cast::Bits, lane, dtype),
        })
        .collect();
    let seven = sketch.build.i32(7);
    let keep = sketch.build.compare(Compare::Slt, seven, lane);
    let zeros = sketch.zeros(form);
    sketch.build.warpgroup_fence();
    let keep = form.keeps.then_some(keep);
    let sums = sketch.build.warpgroup_multiply(form, &left, b, keep, &zeros);
    sketch.build.warpgroup_commit();
    let sums = sketch.build.warpgroup_wait(0, &sums);
    sketch.store(&sums);
    sketch.finish()
}

/// Every type, place and direction of factors, in a few widths.
pub(in crate::emit) fn forms() -> Vec<WarpgroupMultiply> {
    let float8 = [DType::F8E4M3FN, DType::F8E5M2];
    let mut types = vec![
        (DType::F16, DType::F16, DType::F32),
        (DType::F16, DType::F16, DType::F16),
        (DType::BF16, DType::BF16, DType::F32),
        (DType::F32, DType::F32, DType::F32),
        (DType::I8, DType::I8, DType::I32),
    ];
    for left in float8 {
        for right in float8 {
            types.extend([DType::F16, DType::F32].map(|sum| (left, right, sum)));
        }
    }
    let mut all = Vec::new();
    for (left, right, sum) in types {
        for columns in [8, 24, 40, 96, 128, 256] {
            for bits in 0..16 {
                let form = WarpgroupMultiply {
                    columns,
                    summed: (256 / left.bits()) as u8,
                    left,
                    right,
                    sum,
                    left_in_registers: bits & 1 == 1,
                    transposed: [bits & 2 == 2, bits & 4 == 4],
                    keeps: bits & 8 == 8,
                };
                all.extend(form.exists().then_some(form));
            }
        }
    }
    all
}
