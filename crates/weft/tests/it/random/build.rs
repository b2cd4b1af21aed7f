//! A writer of tile programs that keeps a pool of what can be used.

use super::dice::Dice;
use std::collections::BTreeSet;
use weft::cache::{Cache, CacheModifier, Eviction};
use weft::diagnostic::Span;
use weft::dtype::DType;
use weft::id::IdVec;
use weft::location::Locations;
use weft::memory::{Buffer, Memory};
use weft::scalar::{self, Binary};
use weft::tile::{Element, Kernel, LoadOptions, Op, OpKind, Param, Region, Type, Value, ValueData};

/// A kernel with all that a launch of it needs.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) kernel: Kernel,
    pub(crate) args: Vec<u64>,
    pub(crate) memory: Memory,
    pub(crate) grid: [u32; 3],
    /// The buffers that may differ by rounding.
    pub(crate) approximate: BTreeSet<usize>,
}

/// Writes a kernel, operation by operation, and makes the arguments as they are needed.
pub(super) struct Build<'a> {
    pub(super) dice: Dice<'a>,
    kernel: Kernel,
    args: Vec<u64>,
    memory: Memory,
    approximate: BTreeSet<usize>,
    open: Vec<Region>,
    /// The numbers, scalars and tensors, that can be used here; newest last.
    pub(super) pool: Vec<Value>,
    /// Instances along x.
    pub(super) instances: u32,
}

pub(super) fn tensor(dtype: DType, shape: &[u64]) -> Type {
    Type::tensor(Element::Scalar(dtype), shape)
}

/// What arrays are filled with: raw bits of an element.
fn random_bits(dice: &mut Dice<'_>, dtype: DType, small: bool) -> u64 {
    match dtype {
        _ if dtype.is_float() => scalar::from_f64(dtype, (dice.below(4096) as f64 - 2048.0) / 16.0),
        _ if small => dice.below(17) as u64 & dtype.mask(),
        _ => dice.bits() & dtype.mask(),
    }
}

impl<'a> Build<'a> {
    pub(super) fn new(mut dice: Dice<'a>) -> Self {
        let instances = 1 + dice.below(2) as u32;
        let kernel = Kernel {
            name: "random".into(),
            params: Vec::new(),
            values: IdVec::new(),
            ops: IdVec::new(),
            body: Region::default(),
            loc: Locations::unknown(),
        };
        Self {
            dice,
            kernel,
            args: Vec::new(),
            memory: Memory::default(),
            approximate: BTreeSet::new(),
            open: vec![Region::default()],
            pool: Vec::new(),
            instances,
        }
    }

    pub(super) fn finish(mut self) -> Sample {
        self.effect(OpKind::Return, &[]);
        self.kernel.body = self.open.pop().unwrap();
        assert!(self.open.is_empty());
        let grid = [self.instances, 1, 1];
        let Self { kernel, args, memory, approximate, .. } = self;
        Sample { kernel, args, memory, grid, approximate }
    }

    pub(super) fn ops(&self) -> usize {
        self.kernel.ops.len()
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value).clone()
    }

    fn value(&mut self, ty: &Type) -> Value {
        self.kernel.values.push(ValueData::new(ty.clone(), None))
    }

    fn argument(&mut self, ty: &Type, bits: u64, divisibility: u64) -> Value {
        let value = self.value(ty);
        let name = format!("p{}", self.args.len());
        self.kernel.values[value].name = Some(name.clone());
        self.kernel.params.push(Param { name, divisibility, pointer_range: 0 });
        self.open[0].params.push(value);
        self.args.push(bits);
        value
    }

    /// A pointer to so many elements of random contents; sometimes known to be aligned, and sometimes
    /// not aligned.
    pub(super) fn input(&mut self, dtype: DType, count: u64) -> Value {
        let aligned = self.dice.chance(2, 3);
        let skip = if aligned { 0 } else { self.dice.below(3) as u64 };
        let small = self.dice.chance(1, 2);
        let bytes = dtype.bytes() as usize;
        let contents = (0..count + skip)
            .flat_map(|_| random_bits(&mut self.dice, dtype, small).to_le_bytes()[..bytes].to_vec())
            .collect();
        self.buffer(dtype, contents, true, aligned, skip)
    }

    /// A pointer to so many whole numbers up to seven of either sign.
    pub(super) fn whole_input(&mut self, dtype: DType, count: u64) -> Value {
        let bytes = dtype.bytes() as usize;
        let contents = (0..count)
            .flat_map(|_| {
                let number = self.dice.below(15) as i64 - 7;
                let bits = if dtype.is_float() {
                    scalar::from_f64(dtype, number as f64)
                } else {
                    number as u64
                };
                bits.to_le_bytes()[..bytes].to_vec()
            })
            .collect();
        self.buffer(dtype, contents, true, true, 0)
    }

    /// Lets the newest buffer differ by rounding.
    pub(super) fn round_newest(&mut self) {
        self.approximate.insert(self.memory.buffers().len() - 1);
    }

    /// A pointer to so many elements that nobody has written.
    pub(super) fn output(&mut self, dtype: DType, count: u64) -> Value {
        let aligned = self.dice.chance(2, 3);
        let skip = if aligned { 0 } else { self.dice.below(3) as u64 };
        let bytes = (count + skip) * u64::from(dtype.bytes());
        self.buffer(dtype, vec![0; bytes as usize], false, aligned, skip)
    }

    fn buffer(
        &mut self,
        dtype: DType,
        bytes: Vec<u8>,
        initialised: bool,
        aligned: bool,
        skip: u64,
    ) -> Value {
        let name = format!("p{}", self.args.len());
        let base = self.memory.push(Buffer { name, bytes, dtype, initialised });
        let address = base + skip * u64::from(dtype.bytes());
        self.argument(&Type::pointer(dtype), address, if aligned { 16 } else { 1 })
    }

    /// An integer argument that is known to be divisible by some power of two that divides it.
    pub(super) fn integer_argument(&mut self, dtype: DType, value: u64) -> Value {
        let most = if value == 0 { 4 } else { value.trailing_zeros().min(4) } as usize;
        let divisibility = 1 << self.dice.below(most + 1);
        self.argument(&Type::scalar(dtype), value & dtype.mask(), divisibility)
    }

    fn push(
        &mut self,
        kind: OpKind,
        operands: &[Value],
        results: &[Type],
        regions: Vec<Region>,
    ) -> Vec<Value> {
        let results: Vec<Value> = results.iter().map(|ty| self.value(ty)).collect();
        let id = self.kernel.ops.push(Op {
            kind,
            operands: operands.to_vec(),
            results: results.clone(),
            regions,
            loc: Locations::unknown(),
            span: Span::default(),
            spelled: true,
        });
        self.open.last_mut().unwrap().ops.push(id);
        results
    }

    pub(super) fn op(&mut self, kind: OpKind, operands: &[Value], result: &Type) -> Value {
        self.push(kind, operands, core::slice::from_ref(result), Vec::new())[0]
    }

    pub(super) fn effect(&mut self, kind: OpKind, operands: &[Value]) {
        self.push(kind, operands, &[], Vec::new());
    }

    pub(super) fn constant(&mut self, ty: &Type, bits: u64) -> Value {
        self.op(OpKind::Constant(bits & ty.dtype().mask()), &[], ty)
    }

    pub(super) fn i32(&mut self, value: i64) -> Value {
        self.constant(&Type::scalar(DType::I32), value as u64)
    }

    pub(super) fn splat(&mut self, x: Value, shape: &[u64]) -> Value {
        let ty = Type::tensor(self.ty(x).element, shape);
        self.op(OpKind::Splat, &[x], &ty)
    }

    /// A constant of `ty`, as one operation or as a splat of a scalar, sometimes of an argument.
    pub(super) fn number(&mut self, ty: &Type, value: u64) -> Value {
        let scalar = match self.dice.below(3) {
            0 => return self.constant(ty, value),
            1 if ty.dtype().is_int() && ty.dtype().bits() >= 32 => {
                self.integer_argument(ty.dtype(), value)
            }
            _ => self.constant(&Type::scalar(ty.dtype()), value),
        };
        if ty.is_tensor() { self.splat(scalar, &ty.shape) } else { scalar }
    }

    pub(super) fn binary(&mut self, op: Binary, x: Value, y: Value) -> Value {
        let ty = self.ty(x);
        self.op(OpKind::Binary(op), &[x, y], &ty)
    }

    pub(super) fn range(&mut self, start: i32, count: u64) -> Value {
        let kind = OpKind::MakeRange { start, end: start + count as i32 };
        self.op(kind, &[], &tensor(DType::I32, &[count]))
    }

    pub(super) fn expand(&mut self, x: Value, axis: u8) -> Value {
        let mut ty = self.ty(x);
        ty.shape.insert(usize::from(axis), 1);
        self.op(OpKind::ExpandDims { axis }, &[x], &ty)
    }

    pub(super) fn broadcast(&mut self, x: Value, shape: &[u64]) -> Value {
        let ty = self.ty(x);
        if ty.shape[..] == *shape {
            return x;
        }
        self.op(OpKind::Broadcast, &[x], &Type::tensor(ty.element, shape))
    }

    pub(super) fn reshape(&mut self, x: Value, shape: &[u64]) -> Value {
        let ty = self.ty(x);
        let kind = OpKind::Reshape { allow_reorder: false };
        self.op(kind, &[x], &Type::tensor(ty.element, shape))
    }

    /// Two tensors of equal rank, repeated along what either lacks.
    pub(super) fn together(&mut self, x: Value, y: Value) -> (Value, Value) {
        let (from, to) = (self.ty(x).shape, self.ty(y).shape);
        let shape: Vec<u64> = from.iter().zip(&to).map(|(&a, &b)| a.max(b)).collect();
        (self.broadcast(x, &shape), self.broadcast(y, &shape))
    }

    /// Pointers moved by offsets of the same shape or of one that can be repeated.
    pub(super) fn at(&mut self, base: Value, offsets: Value) -> Value {
        let (base, offsets) = match (self.ty(base).is_tensor(), self.ty(offsets).is_tensor()) {
            (true, true) => self.together(base, offsets),
            (false, true) => {
                let shape = self.ty(offsets).shape;
                (self.splat(base, &shape), offsets)
            }
            _ => (base, offsets),
        };
        let ty = self.ty(base);
        self.op(OpKind::AddPtr, &[base, offsets], &ty)
    }

    pub(super) fn load(&mut self, operands: &[Value]) -> Value {
        use CacheModifier::{All, Global, Streaming, Volatile};
        let cache = self.cache(&[All, Global, Streaming, Volatile]);
        self.load_as(LoadOptions { cache, ..LoadOptions::default() }, operands)
    }

    /// Mostly as the machine likes.
    fn cache(&mut self, modifiers: &[CacheModifier]) -> Cache {
        if self.dice.chance(5, 6) {
            return Cache::default();
        }
        let modifier = self.dice.pick(modifiers);
        let eviction = self.dice.pick(&[Eviction::Normal, Eviction::First, Eviction::Last]);
        Cache { modifier, eviction }
    }

    pub(super) fn load_as(&mut self, options: LoadOptions, operands: &[Value]) -> Value {
        let ty = self.ty(operands[0]);
        let ty = ty.with_element(Element::Scalar(ty.element.pointee().unwrap()));
        self.op(OpKind::Load(options), operands, &ty)
    }

    pub(super) fn store(&mut self, operands: &[Value]) {
        use CacheModifier::{Global, Streaming, WriteBack, WriteThrough};
        let cache = self.cache(&[Global, Streaming, WriteBack, WriteThrough]);
        self.effect(OpKind::Store(cache), operands);
    }

    /// A region with the values that it hands over; what its body adds to the pool leaves it.
    pub(super) fn region(
        &mut self,
        params: &[Type],
        terminator: OpKind,
        body: impl FnOnce(&mut Self, &[Value]) -> Vec<Value>,
    ) -> Region {
        let known = self.pool.len();
        let params: Vec<Value> = params.iter().map(|ty| self.value(ty)).collect();
        self.open.push(Region { params: params.clone(), ops: Vec::new() });
        let handed = body(self, &params);
        self.effect(terminator, &handed);
        self.pool.truncate(known);
        self.open.pop().unwrap()
    }

    pub(super) fn types(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|&value| self.ty(value)).collect()
    }

    pub(super) fn owner(
        &mut self,
        kind: OpKind,
        operands: &[Value],
        results: &[Type],
        regions: Vec<Region>,
    ) -> Vec<Value> {
        self.push(kind, operands, results, regions)
    }

    pub(super) fn reduce(
        &mut self,
        axis: usize,
        operands: &[Value],
        fold: impl FnOnce(&mut Self, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let types = self.types(operands);
        let scalars: Vec<Type> = types.iter().map(|ty| Type::scalar(ty.dtype())).collect();
        let region = self.region(&[scalars.clone(), scalars].concat(), OpKind::Yield, fold);
        let results: Vec<Type> = types
            .into_iter()
            .map(|mut ty| {
                ty.shape.remove(axis);
                ty
            })
            .collect();
        self.push(
            OpKind::Reduce { axis: axis as u8, contract: false },
            operands,
            &results,
            vec![region],
        )
    }
}
