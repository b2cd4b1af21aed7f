//! Writing a lane program, operation by operation.

use super::division::Quotient;
use super::strength::StridedSums;
use super::{
    Access, BarrierScope, IdKind, Inst, InstData, Mbarrier, Multiprocessor, Op, Param, Program,
    Region, Role, Shared, SharedData, Space, TensorMap, Value, ValueData,
};

use crate::budget::Bounds;
use crate::dtype::DType;
use crate::id::{IdMap, IdVec};
use crate::location::{Loc, Location, Locations};
use crate::scalar::{self, Binary, Cast, Compare, Rounding, Unary};
use core::hash::{Hash, Hasher};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// Builds a [`Program`] at its end, one operation at a time.
///
/// Pure operations are folded when their operands are constants, simplified by the obvious
/// identities, and shared: asking twice for `a + b` in one place gives one value. A region that is
/// open sees the values of the regions around it.
///
/// ```
/// use weft::dtype::DType;
/// use weft::lane::{Builder, IdKind};
/// use weft::scalar::Binary;
///
/// let mut build = Builder::new("twice", 1, 5);
/// let lane = build.id(IdKind::Lane);
/// let one = build.constant(DType::I32, 1);
/// let two = build.binary(Binary::Add, one, one);
/// let a = build.binary(Binary::Mul, lane, two);
/// let b = build.binary(Binary::Mul, lane, two);
/// assert_eq!(a, b);
/// let program = build.finish();
/// assert!(program.to_string().contains("shl"));
/// ```
#[derive(Debug)]
pub struct Builder {
    pub(super) program: Program,
    /// The regions being written, outermost first.
    open: Vec<Region>,
    /// For each open region, what the pure operations written in it define.
    known: Vec<HashTable<Value>>,
    /// The pure operations that define values.
    pub(super) definitions: IdMap<Value, Option<Inst>>,
    /// What integers are at most, as unsigned numbers.
    pub(super) most: IdMap<Value, u64>,
    /// Whether values are uniform: the same in every thread of the block.
    pub(super) uniform: IdMap<Value, bool>,
    /// Whether all memory that is reached through an address lies within [`OFFSET_BYTES`](super::OFFSET_BYTES) behind it.
    pub(super) near: IdMap<Value, bool>,
    /// The sums with multiples of uniform strides.
    pub(super) strided: StridedSums,
    /// What values are quotients of, by constants.
    pub(super) quotients: FxHashMap<Value, Quotient>,
    /// By which operation and divisor values are remainders.
    pub(super) remainders: FxHashMap<Value, (Binary, Value)>,
    /// The place given to operations.
    loc: Loc,
    /// How many operations are written.
    bounds: Bounds,
}

/// The part of [`Op`] that is pure, hashable.
#[derive(PartialEq, Eq, Hash, Debug, Clone, Copy)]
enum KeyOp<'a> {
    Const(u64),
    Param(u32),
    Id(IdKind),
    Linear(&'a [u32]),
    Unary(Unary),
    Binary(Binary),
    Compare(Compare),
    Select,
    Cast(Cast),
    Fma,
    FmaToward(Rounding),
    RoundPair(DType),
    WidenPair(DType),
    Bytes,
    SharedBase(Shared),
    Offset,
}

impl<'a> KeyOp<'a> {
    fn of(op: &'a Op) -> Option<Self> {
        Some(match op {
            Op::Const(bits) => KeyOp::Const(*bits),
            Op::Param(index) => KeyOp::Param(*index),
            Op::Id(kind) => KeyOp::Id(*kind),
            Op::Linear { columns } => KeyOp::Linear(columns),
            Op::Unary(op) => KeyOp::Unary(*op),
            Op::Binary(op) => KeyOp::Binary(*op),
            Op::Compare(op) => KeyOp::Compare(*op),
            Op::Select => KeyOp::Select,
            Op::Cast(op) => KeyOp::Cast(*op),
            Op::Fma => KeyOp::Fma,
            Op::FmaToward(rounding) => KeyOp::FmaToward(*rounding),
            Op::RoundPair(to) => KeyOp::RoundPair(*to),
            Op::WidenPair(from) => KeyOp::WidenPair(*from),
            Op::Bytes => KeyOp::Bytes,
            Op::SharedBase(shared) => KeyOp::SharedBase(*shared),
            Op::Offset => KeyOp::Offset,
            _ => return None,
        })
    }

    fn hash_with(self, operands: &[Value], dtype: DType) -> u64 {
        let mut hasher = FxHasher::default();
        (self, operands, dtype).hash(&mut hasher);
        hasher.finish()
    }
}

impl AsMut<Builder> for Builder {
    fn as_mut(&mut self) -> &mut Builder {
        self
    }
}

impl Builder {
    /// An empty program for blocks of `warps` warps of `2^lanes_log2` lanes.
    pub fn new(name: &str, warps: u32, lanes_log2: u32) -> Self {
        Self {
            program: Program {
                name: name.into(),
                params: Vec::new(),
                maps: BTreeMap::new(),
                warps,
                lanes_log2,
                values: IdVec::new(),
                insts: IdVec::new(),
                shared: IdVec::new(),
                shared_bytes: 0,
                multiprocessor: None,
                body: Region::default(),
                locations: Locations::default(),
            },
            open: vec![Region::default()],
            known: vec![HashTable::new()],
            definitions: IdMap::default(),
            most: IdMap::with_default(u64::MAX),
            uniform: IdMap::default(),
            near: IdMap::default(),
            strided: StridedSums::default(),
            quotients: FxHashMap::default(),
            remainders: FxHashMap::default(),
            loc: Locations::unknown(),
            bounds: Bounds::default(),
        }
    }

    /// Bounds the operations that are written. Where these bounds are reached the pure ones are left out, and
    /// what is written is no program any more.
    pub fn set_bounds(&mut self, bounds: Bounds) {
        self.bounds = bounds;
    }

    /// Makes room for a program of about this size.
    pub(crate) fn reserve_for(&mut self, other: &Program) {
        self.program.insts.reserve(other.insts.len());
        self.program.values.reserve(other.values.len());
    }

    /// The places that operations will refer to.
    pub fn set_locations(&mut self, locations: Locations) {
        self.program.locations = locations;
    }

    /// Adds a place to those that operations may refer to.
    pub fn add_location(&mut self, location: Location) -> Loc {
        self.program.locations.push(location)
    }

    /// The place that the following operations get.
    pub fn set_loc(&mut self, loc: Loc) {
        self.loc = loc;
    }

    /// The place that operations get now.
    pub fn loc(&self) -> Loc {
        self.loc
    }

    /// The program so far.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The type of a value.
    pub fn dtype(&self, value: Value) -> DType {
        self.program.dtype(value)
    }

    /// The raw bits of a value that is a constant.
    pub fn constant_bits(&self, value: Value) -> Option<u64> {
        match self.definition(value) {
            Some(Op::Const(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// Ends the program with `return`, packs shared memory, and gives it out.
    ///
    /// Regions that were left open are closed as they stand; the verifier will name them.
    pub fn finish(self) -> Program {
        self.finish_with(&[])
    }

    /// Ends a function, which gives these values to its caller, as [`Builder::finish`] ends a kernel.
    pub fn finish_with(mut self, results: &[Value]) -> Program {
        self.emit(Op::Return, SmallVec::from_slice(results), &[]);
        self.program.body = self.open.swap_remove(0);
        let mut end = 0u32;
        let ids: Vec<Shared> = self.program.shared.keys().collect();
        for id in ids {
            let piece = &mut self.program.shared[id];
            piece.offset = end.next_multiple_of(piece.align.max(1));
            end = piece.offset + piece.bytes;
        }
        self.program.shared_bytes = end;
        self.program
    }

    /// Adds an argument and returns its value.
    pub fn param(&mut self, param: Param) -> Value {
        self.declare_param(param);
        self.param_value(self.program.params.len() as u32 - 1)
    }

    /// Adds an argument without using it.
    pub fn declare_param(&mut self, param: Param) {
        self.program.params.push(param);
    }

    /// Says that arguments are tensor maps.
    pub fn set_maps(&mut self, maps: BTreeMap<u32, TensorMap>) {
        self.program.maps = maps;
    }

    /// The value of an argument; of an i32 where there is no such argument, which the verifier names.
    pub fn param_value(&mut self, index: u32) -> Value {
        let param = self.program.params.get(index as usize);
        let dtype = param.map_or(DType::I32, |param| param.dtype);
        self.pure(Op::Param(index), smallvec![], dtype)
    }

    /// Adds a piece of shared memory in which the threads of `scope` meet.
    pub fn shared(&mut self, bytes: u32, align: u32, scope: BarrierScope) -> Shared {
        let (offset, turns) = (0, None);
        let [scratch, renewed, ordered, mbarriers] = [false; 4];
        self.program.shared.push(SharedData {
            bytes,
            align,
            offset,
            scope,
            scratch,
            renewed,
            ordered,
            turns,
            mbarriers,
        })
    }

    /// Adds a piece of shared memory for so many mbarriers.
    pub fn mbarriers(&mut self, count: u32) -> Shared {
        let piece = self.shared(count * Mbarrier::BYTES, Mbarrier::BYTES, BarrierScope::Block);
        self.program.shared[piece].mbarriers = true;
        piece
    }

    /// Adds a piece of shared memory like one of another program, to be placed anew.
    pub fn declare_shared(&mut self, piece: &SharedData) {
        self.program.shared.push(SharedData { offset: 0, turns: None, ..piece.clone() });
    }

    /// Adds a piece of shared memory that only serves movements ([`SharedData::scratch`]).
    pub fn scratch(&mut self, bytes: u32, align: u32, scope: BarrierScope) -> Shared {
        let piece = self.shared(bytes, align, scope);
        self.program.shared[piece].scratch = true;
        piece
    }

    /// Says of a piece that each round of a loop fills it anew ([`SharedData::renewed`]).
    pub fn set_renewed(&mut self, piece: Shared) {
        self.program.shared[piece].renewed = true;
    }

    /// Says of a piece that its accesses are in order ([`SharedData::ordered`]).
    pub fn set_ordered(&mut self, piece: Shared) {
        self.program.shared[piece].ordered = true;
    }

    /// Where the block runs.
    pub fn set_multiprocessor(&mut self, multiprocessor: Multiprocessor) {
        self.program.multiprocessor = Some(multiprocessor);
    }

    /// The operation that defines a value, if a pure one does.
    pub fn definition(&self, value: Value) -> Option<&Op> {
        self.definitions[value].map(|inst| &self.program.insts[inst].op)
    }

    /// The factors of a product of floats.
    pub fn factors(&self, value: Value) -> Option<[Value; 2]> {
        let inst = &self.program.insts[self.definitions[value]?];
        let is_product = inst.op == Op::Binary(Binary::Mul) && self.dtype(value).is_float();
        let &[x, y] = &inst.operands[..] else { return None };
        is_product.then_some([x, y])
    }

    /// A constant from its raw bits.
    pub fn constant(&mut self, dtype: DType, bits: u64) -> Value {
        let bits = bits & dtype.mask();
        self.pure(Op::Const(bits), smallvec![], dtype)
    }

    /// A 32-bit integer constant.
    pub fn i32(&mut self, value: i32) -> Value {
        self.constant(DType::I32, u64::from(value as u32))
    }

    /// A number of the thread or block.
    pub fn id(&mut self, kind: IdKind) -> Value {
        self.pure(Op::Id(kind), smallvec![], DType::I32)
    }

    /// The address of a piece of shared memory.
    pub fn shared_base(&mut self, shared: Shared) -> Value {
        self.pure(Op::SharedBase(shared), smallvec![], DType::I32)
    }

    /// An address by its base and offset ([`Op::Offset`]).
    pub fn offset(&mut self, base: Value, offset: Value) -> Value {
        self.pure(Op::Offset, smallvec![base, offset], DType::I64)
    }

    /// An F2-linear map of the bits of an i32.
    pub fn linear(&mut self, columns: &[u32], operand: Value) -> Value {
        let used = columns.iter().rposition(|&column| column != 0).map_or(0, |last| last + 1);
        let columns = &columns[..used];
        if let Some(bits) = self.constant_bits(operand) {
            let image = columns
                .iter()
                .enumerate()
                .filter(|(bit, _)| bits >> bit & 1 == 1)
                .fold(0, |sum, (_, column)| sum ^ column);
            return self.constant(DType::I32, u64::from(image));
        }
        if columns.is_empty() {
            return self.i32(0);
        }
        self.pure(Op::Linear { columns: columns.to_vec() }, smallvec![operand], DType::I32)
    }

    /// An operation of one operand.
    pub fn unary(&mut self, op: Unary, x: Value) -> Value {
        let dtype = self.dtype(x);
        if let (Some(bits), Some(apply)) = (self.constant_bits(x), scalar::unary(op, dtype)) {
            return self.constant(dtype, apply(bits));
        }
        self.pure(Op::Unary(op), smallvec![x], dtype)
    }

    /// An operation of two operands of one type.
    pub fn binary(&mut self, op: Binary, x: Value, y: Value) -> Value {
        let dtype = self.dtype(x);
        let (cx, cy) = (self.constant_bits(x), self.constant_bits(y));
        if let (Some(a), Some(b), Some(apply)) = (cx, cy, scalar::binary(op, dtype)) {
            return self.constant(dtype, apply(a, b));
        }
        // A constant goes second where the order does not matter.
        let (x, y, cx, cy) =
            if commutes(op) && cx.is_some() { (y, x, cy, cx) } else { (x, y, cx, cy) };
        debug_assert!(cx.is_none() || cy.is_none(), "two constants fold");
        if dtype.is_int() {
            match (op, cy) {
                (
                    Binary::Add
                    | Binary::Sub
                    | Binary::Or
                    | Binary::Xor
                    | Binary::Shl
                    | Binary::ShrS
                    | Binary::ShrU,
                    Some(0),
                ) => return x,
                (Binary::Mul | Binary::DivS | Binary::DivU, Some(1)) => return x,
                (Binary::Mul | Binary::And, Some(0)) => return y,
                (Binary::And, Some(bits)) if bits == dtype.mask() => return x,
                (Binary::Mul, Some(bits)) if bits.is_power_of_two() => {
                    let count = self.constant(dtype, u64::from(bits.trailing_zeros()));
                    return self.binary(Binary::Shl, x, count);
                }
                (Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU, Some(_)) => {
                    if let Some(value) = self.divided(op, x, y, None) {
                        return value;
                    }
                }
                _ => {}
            }
        }
        if x == y && matches!(op, Binary::And | Binary::Or) {
            return x;
        }
        if op == Binary::Xor
            && let Some(sum) = self.sum(x, y)
        {
            return sum;
        }
        if op == Binary::Sub
            && dtype.is_int()
            && let Some(difference) = self.difference(x, y)
        {
            return difference;
        }
        if let Some(sum) = self.constant_outside(op, x, y) {
            return sum;
        }
        if let Some(sum) = self.stride_outside(op, x, y) {
            return sum;
        }
        if let Some(product) = self.multiplied_at_once(op, x, y) {
            return product;
        }
        if op == Binary::Or
            && let Some(word) = self.united(x, y)
        {
            return word;
        }
        if let Some(choice) = self.choice_outside(op, x, y) {
            return choice;
        }
        if let Some(one) = self.bound_reached(op, x, y) {
            return one;
        }
        if cy.is_none()
            && let Some(value) = self.divided_by_any(op, x, y)
        {
            return value;
        }
        self.pure(Op::Binary(op), smallvec![x, y], dtype)
    }

    /// A quotient or remainder of integers that are not negative, signed or not: the first is at most
    /// `most`, the second is not zero.
    pub fn natural_division(&mut self, op: Binary, x: Value, y: Value, most: u64) -> Value {
        let op = match op {
            Binary::DivS => Binary::DivU,
            Binary::RemS => Binary::RemU,
            op => op,
        };
        match self.divided(op, x, y, Some(most)) {
            Some(value) => value,
            None => self.binary(op, x, y),
        }
    }

    /// A comparison of two values of one type, as a truth value.
    pub fn compare(&mut self, op: Compare, x: Value, y: Value) -> Value {
        if let (Some(a), Some(b), Some(apply)) =
            (self.constant_bits(x), self.constant_bits(y), scalar::compare(op, self.dtype(x)))
        {
            return self.constant(DType::I1, apply(a, b));
        }
        if let Some(truth) = self.equality(op, x, y) {
            return truth;
        }
        if let Some(truth) = self.equality_of_sums(op, x, y) {
            return truth;
        }
        if let Some(truth) = self.comparison_of_halves(op, x, y) {
            return truth;
        }
        if let Some(truth) = self.decided(op, x, y) {
            return truth;
        }
        if let Some(truth) = self.compared_by_difference(op, x, y) {
            return truth;
        }
        if let Some(truth) = self.self_comparison(op, x, y) {
            return truth;
        }
        if let Some(truth) = self.beyond_infinity(op, x, y) {
            return truth;
        }
        self.pure(Op::Compare(op), smallvec![x, y], DType::I1)
    }

    /// One of two values.
    pub fn select(&mut self, condition: Value, if_true: Value, if_false: Value) -> Value {
        match self.constant_bits(condition) {
            _ if if_true == if_false => if_true,
            Some(0) => if_false,
            Some(_) => if_true,
            None => {
                if let Some(value) = self.choice(condition, if_true, if_false) {
                    return value;
                }
                let dtype = self.dtype(if_true);
                self.pure(Op::Select, smallvec![condition, if_true, if_false], dtype)
            }
        }
    }

    /// A conversion of a value to another type.
    pub fn cast(&mut self, op: Cast, x: Value, to: DType) -> Value {
        let from = self.dtype(x);
        if from == to {
            return x;
        }
        match self.constant_bits(x) {
            Some(bits) => self.constant(to, scalar::cast(op, from, to, bits)),
            None => match self.recast(op, x, to) {
                Some(value) => value,
                None => self.pure(Op::Cast(op), smallvec![x], to),
            },
        }
    }

    /// `x * y + z`, rounded once.
    pub fn fma(&mut self, x: Value, y: Value, z: Value) -> Value {
        let dtype = self.dtype(x);
        self.pure(Op::Fma, smallvec![x, y, z], dtype)
    }

    /// `x * y + z` of f32 or f64, rounded once, and as told.
    pub fn fma_toward(&mut self, rounding: Rounding, x: Value, y: Value, z: Value) -> Value {
        let dtype = self.dtype(x);
        self.pure(Op::FmaToward(rounding), smallvec![x, y, z], dtype)
    }

    /// Two f32 as narrower floats, side by side ([`Op::RoundPair`]).
    pub fn round_pair(&mut self, to: DType, x: Value, y: Value) -> Value {
        let pair = if to.bits() == 16 { DType::I32 } else { DType::I16 };
        self.pure(Op::RoundPair(to), smallvec![x, y], pair)
    }

    /// Two floats of eight bits, side by side in an i16, as f16 ([`Op::WidenPair`]).
    pub fn widen_pair(&mut self, from: DType, pair: Value) -> Value {
        self.pure(Op::WidenPair(from), smallvec![pair], DType::I32)
    }

    /// Bytes of the pair `a`, `b` (both i32), as the nibbles of `selector` say ([`Op::Bytes`]).
    pub fn bytes(&mut self, a: Value, b: Value, selector: Value) -> Value {
        let constants = [a, b, selector].map(|value| self.constant_bits(value));
        if let [Some(a), Some(b), Some(selector)] = constants {
            return self.constant(DType::I32, scalar::byte_permute(a, b, selector));
        }
        if let [_, _, Some(selector)] = constants
            && let Some(word) = self.permuted(a, b, selector)
        {
            return word;
        }
        self.permute(a, b, selector)
    }

    /// A byte permute as it stands.
    pub(super) fn permute(&mut self, a: Value, b: Value, selector: Value) -> Value {
        match self.constant_bits(selector) {
            Some(0x3210) => a,
            Some(0x7654) => b,
            _ => self.pure(Op::Bytes, smallvec![a, b, selector], DType::I32),
        }
    }

    /// The conjunction of two optional predicates; none means true everywhere.
    pub fn and_predicates(&mut self, x: Option<Value>, y: Option<Value>) -> Option<Value> {
        match (x, y) {
            (Some(x), Some(y)) => Some(self.binary(Binary::And, x, y)),
            (one, other) => one.or(other),
        }
    }

    /// Loads `count` consecutive elements of `dtype`; `predicate` comes with one `other` per element.
    pub fn load(
        &mut self,
        space: Space,
        access: Access,
        dtype: DType,
        count: usize,
        address: Value,
        predicate: Option<(Value, &[Value])>,
    ) -> SmallVec<[Value; 2]> {
        let mut operands: SmallVec<[Value; 4]> = smallvec![address];
        if let Some((predicate, others)) = predicate {
            operands.push(predicate);
            operands.extend_from_slice(others);
        }
        let access = Access { predicated: predicate.is_some(), ..access };
        self.emit(Op::Load { space, access }, operands, &vec![dtype; count])
    }

    /// Stores consecutive elements at an address; with a predicate, where that holds.
    pub fn store(
        &mut self,
        space: Space,
        access: Access,
        address: Value,
        predicate: Option<Value>,
        values: &[Value],
    ) {
        let mut operands: SmallVec<[Value; 4]> = smallvec![address];
        operands.extend(predicate);
        operands.extend_from_slice(values);
        let access = Access { predicated: predicate.is_some(), ..access };
        self.emit(Op::Store { space, access }, operands, &[]);
    }

    /// The value of lane `id ^ mask`.
    pub fn shuffle_xor(&mut self, x: Value, mask: u32) -> Value {
        let dtype = self.dtype(x);
        self.emit(Op::ShuffleXor { mask }, smallvec![x], &[dtype])[0]
    }

    /// The value of another lane.
    pub fn shuffle_index(&mut self, x: Value, lane: Value) -> Value {
        let dtype = self.dtype(x);
        self.emit(Op::ShuffleIndex, smallvec![x, lane], &[dtype])[0]
    }

    /// Opens a region whose parameters have these types and gives them out. What is written from
    /// here on goes into the region, until [`Builder::close_region`].
    pub fn open_region(&mut self, params: &[DType]) -> Vec<Value> {
        let params: Vec<Value> = params.iter().map(|&dtype| self.new_value(dtype)).collect();
        self.open.push(Region { params: params.clone(), insts: Vec::new() });
        self.known.push(HashTable::new());
        self.strided.open();
        params
    }

    /// Closes the innermost region with its last operation, `Yield` or `Continue` of these values.
    pub fn close_region(&mut self, end: Op, values: &[Value]) -> Region {
        self.emit(end, SmallVec::from_slice(values), &[]);
        self.known.pop();
        self.strided.close();
        self.open.pop().unwrap_or_default()
    }

    /// Writes an `If` over two closed regions.
    pub fn if_(
        &mut self,
        condition: Value,
        then: Region,
        otherwise: Region,
        results: &[DType],
    ) -> SmallVec<[Value; 2]> {
        let inst = self.reserve(Op::If, smallvec![condition], results);
        self.program.insts[inst].regions = vec![then, otherwise];
        self.place(inst)
    }

    /// Writes the closed bodies of roles.
    pub fn roles(&mut self, roles: Vec<Role>, bodies: Vec<Region>) {
        let inst = self.reserve(Op::Roles(roles), smallvec![], &[]);
        self.program.insts[inst].regions = bodies;
        self.place(inst);
    }

    /// Makes a loop with these initial values and result types, not yet placed: its id is needed by
    /// the breaks in its region. [`Builder::place_loop`] puts it here once the region is closed.
    pub fn new_loop(&mut self, inits: &[Value], results: &[DType]) -> Inst {
        self.reserve(Op::Loop, SmallVec::from_slice(inits), results)
    }

    /// Leaves `target` with these values where `condition` holds.
    pub fn break_if(&mut self, target: Inst, condition: Value, values: &[Value]) {
        let mut operands: SmallVec<[Value; 4]> = smallvec![condition];
        operands.extend_from_slice(values);
        self.emit(Op::BreakIf { target }, operands, &[]);
    }

    /// Writes a loop around its closed region.
    pub fn place_loop(&mut self, inst: Inst, region: Region) -> SmallVec<[Value; 2]> {
        self.program.insts[inst].regions = vec![region];
        self.place(inst)
    }

    /// Writes any operation that is not pure.
    pub fn emit(
        &mut self,
        mut op: Op,
        mut operands: SmallVec<[Value; 4]>,
        results: &[DType],
    ) -> SmallVec<[Value; 2]> {
        self.settle_offset(&mut op, &mut operands);
        if self.settle_predicate(&mut op, &mut operands) == Some(false) {
            return operands.into_iter().collect();
        }
        let inst = self.reserve(op, operands, results);
        self.place(inst)
    }

    /// How many operations were written.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks for an empty program")]
    pub fn len(&self) -> usize {
        self.program.insts.len()
    }

    fn new_value(&mut self, dtype: DType) -> Value {
        self.program.values.push(ValueData { dtype })
    }

    fn reserve(&mut self, op: Op, operands: SmallVec<[Value; 4]>, results: &[DType]) -> Inst {
        let results = results.iter().map(|&dtype| self.new_value(dtype)).collect();
        self.program.insts.push(InstData {
            op,
            operands,
            results,
            regions: Vec::new(),
            loc: self.loc,
        })
    }

    fn place(&mut self, inst: Inst) -> SmallVec<[Value; 2]> {
        if let Some(region) = self.open.last_mut() {
            region.insts.push(inst);
        }
        self.program.insts[inst].results.clone()
    }

    pub(super) fn pure(&mut self, op: Op, operands: SmallVec<[Value; 4]>, dtype: DType) -> Value {
        let key = if op.effects().is_pure() { KeyOp::of(&op) } else { None };
        let Some(known) = key else { return self.emit(op, operands, &[dtype])[0] };
        if self.bounds.are_reached(self.len()) {
            return self.new_value(dtype);
        }
        let hash = known.hash_with(&operands, dtype);
        let is_same = |value: &Value| {
            let defining = self.definitions[*value].map(|inst| &self.program.insts[inst]);
            self.program.values[*value].dtype == dtype
                && defining.is_some_and(|inst| {
                    inst.operands == operands && KeyOp::of(&inst.op) == Some(known)
                })
        };
        if let Some(&value) = self.known.iter().rev().find_map(|known| known.find(hash, is_same)) {
            return value;
        }
        let is_uniform = !matches!(op, Op::Id(IdKind::Lane | IdKind::Warp | IdKind::Thread))
            && operands.iter().all(|&operand| self.uniform[operand]);
        let inst = self.reserve(op, operands, &[dtype]);
        if let Some(region) = self.open.last_mut() {
            region.insts.push(inst);
        }
        let value = self.program.insts[inst].results[0];
        self.definitions.set(value, Some(inst));
        self.uniform.set(value, is_uniform);
        let Self { program, known, definitions, .. } = self;
        let hash_of = |value: &Value| {
            let defining = definitions[*value].map(|inst| &program.insts[inst]);
            let known = defining.and_then(|inst| Some((KeyOp::of(&inst.op)?, &inst.operands)));
            known.map_or(0, |(op, operands)| op.hash_with(operands, program.values[*value].dtype))
        };
        if let Some(known) = known.last_mut() {
            known.insert_unique(hash, value, hash_of);
        }
        value
    }
}

fn commutes(op: Binary) -> bool {
    matches!(
        op,
        Binary::Add
            | Binary::Mul
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::MinS
            | Binary::MaxS
            | Binary::MinU
            | Binary::MaxU
            | Binary::MulHiU
            | Binary::MulHiS
    )
}
