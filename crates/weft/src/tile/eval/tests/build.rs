//! A small writer of tile programs, and a launch of them on arrays.

use crate::cache::Cache;
use crate::diagnostic::Span;
use crate::dtype::DType;
use crate::id::{Id, IdVec};
use crate::location::{Loc, Locations};
use crate::memory::{Buffer, Memory};
use crate::scalar::{self, Binary, Compare};
use crate::tile::eval::{EvalError, Options, Report, run};
use crate::tile::{
    Element, Kernel, LoadOptions, LoopHints, Op, OpId, OpKind, Param, Region, Type, Value,
};

/// Writes a kernel, operation by operation. An operation's place is its number plus one.
pub(super) struct Build {
    kernel: Kernel,
    open: Vec<Region>,
}

/// The place of an operation.
pub(super) fn place(op: OpId) -> Loc {
    Loc::new(op.index() + 1)
}

/// A tensor type.
pub(super) fn tensor(dtype: DType, shape: &[u64]) -> Type {
    Type::tensor(Element::Scalar(dtype), shape)
}

impl Build {
    pub(super) fn new() -> Self {
        let kernel = Kernel {
            name: "test".into(),
            params: Vec::new(),
            values: IdVec::new(),
            ops: IdVec::new(),
            body: Region::default(),
            loc: Locations::unknown(),
        };
        Self { kernel, open: vec![Region::default()] }
    }

    fn value(&mut self, ty: &Type) -> Value {
        self.kernel.values.push(crate::tile::ValueData::new(ty.clone(), None))
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value).clone()
    }

    pub(super) fn argument(&mut self, ty: &Type) -> Value {
        let value = self.value(ty);
        self.kernel.params.push(Param {
            name: value.to_string(),
            divisibility: 1,
            pointer_range: 0,
        });
        self.open[0].params.push(value);
        value
    }

    pub(super) fn pointer(&mut self, dtype: DType) -> Value {
        self.argument(&Type::pointer(dtype))
    }

    fn push(
        &mut self,
        kind: OpKind,
        operands: &[Value],
        results: &[Type],
        regions: Vec<Region>,
    ) -> (OpId, Vec<Value>) {
        let results: Vec<Value> = results.iter().map(|ty| self.value(ty)).collect();
        let id = self.kernel.ops.push(Op {
            kind,
            operands: operands.to_vec(),
            results: results.clone(),
            regions,
            loc: Loc::new(self.kernel.ops.len() + 1),
            span: Span::default(),
            spelled: false,
        });
        self.open.last_mut().unwrap().ops.push(id);
        (id, results)
    }

    pub(super) fn op(&mut self, kind: OpKind, operands: &[Value], result: &Type) -> Value {
        self.push(kind, operands, core::slice::from_ref(result), Vec::new()).1[0]
    }

    /// An operation without a result.
    pub(super) fn effect(&mut self, kind: OpKind, operands: &[Value]) -> OpId {
        self.push(kind, operands, &[], Vec::new()).0
    }

    pub(super) fn constant(&mut self, dtype: DType, value: f64) -> Value {
        self.op(OpKind::Constant(scalar::from_f64(dtype, value)), &[], &Type::scalar(dtype))
    }

    pub(super) fn splat(&mut self, x: Value, shape: &[u64]) -> Value {
        let ty = Type::tensor(self.ty(x).element, shape);
        self.op(OpKind::Splat, &[x], &ty)
    }

    pub(super) fn range(&mut self, count: u64) -> Value {
        let kind = OpKind::MakeRange { start: 0, end: count as i32 };
        self.op(kind, &[], &tensor(DType::I32, &[count]))
    }

    pub(super) fn program(&mut self) -> Value {
        self.op(OpKind::ProgramId(0), &[], &Type::scalar(DType::I32))
    }

    pub(super) fn binary(&mut self, op: Binary, x: Value, y: Value) -> Value {
        let ty = self.ty(x);
        self.op(OpKind::Binary(op), &[x, y], &ty)
    }

    pub(super) fn compare(&mut self, op: Compare, x: Value, y: Value) -> Value {
        let ty = self.ty(x).with_element(Element::Scalar(DType::I1));
        self.op(OpKind::Compare(op), &[x, y], &ty)
    }

    pub(super) fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let ty = self.ty(yes);
        self.op(OpKind::Select, &[condition, yes, no], &ty)
    }

    /// The pointers `base + offsets`; a scalar base is splat.
    pub(super) fn at(&mut self, base: Value, offsets: Value) -> Value {
        let shape = self.ty(offsets).shape;
        let base = if shape.is_empty() { base } else { self.splat(base, &shape) };
        let ty = self.ty(base);
        self.op(OpKind::AddPtr, &[base, offsets], &ty)
    }

    /// The pointers to all places of a row-major array of `shape`.
    pub(super) fn grid_of(&mut self, base: Value, shape: &[u64]) -> Value {
        let flat = self.range(shape.iter().product());
        let kind = OpKind::Reshape { allow_reorder: false };
        let offsets = self.op(kind, &[flat], &tensor(DType::I32, shape));
        self.at(base, offsets)
    }

    pub(super) fn load(&mut self, operands: &[Value]) -> Value {
        let ty = self.ty(operands[0]);
        let ty = ty.with_element(Element::Scalar(ty.element.pointee().unwrap()));
        self.op(OpKind::Load(LoadOptions::default()), operands, &ty)
    }

    pub(super) fn load_array(&mut self, base: Value, shape: &[u64]) -> Value {
        let pointers = self.grid_of(base, shape);
        self.load(&[pointers])
    }

    pub(super) fn store(&mut self, operands: &[Value]) -> OpId {
        self.effect(OpKind::Store(Cache::default()), operands)
    }

    pub(super) fn store_array(&mut self, base: Value, values: Value) {
        let shape = self.ty(values).shape;
        let pointers = if shape.is_empty() { base } else { self.grid_of(base, &shape) };
        self.store(&[pointers, values]);
    }

    /// A region with the values that it hands over.
    fn region(
        &mut self,
        params: &[Type],
        terminator: OpKind,
        body: impl FnOnce(&mut Build, &[Value]) -> Vec<Value>,
    ) -> Region {
        let params: Vec<Value> = params.iter().map(|ty| self.value(ty)).collect();
        self.open.push(Region { params: params.clone(), ops: Vec::new() });
        let handed = body(self, &params);
        self.effect(terminator, &handed);
        self.open.pop().unwrap()
    }

    fn types(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|&value| self.ty(value)).collect()
    }

    /// A `for` over `bounds`; the body has the counter and the carried values.
    pub(super) fn for_loop(
        &mut self,
        bounds: [Value; 3],
        carried: &[Value],
        body: impl FnOnce(&mut Build, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let results = self.types(carried);
        let params = [vec![self.ty(bounds[0])], results.clone()].concat();
        let region = self.region(&params, OpKind::Yield, body);
        self.push(
            OpKind::For(LoopHints::default()),
            &[&bounds, carried].concat(),
            &results,
            vec![region],
        )
        .1
    }

    /// A `while` that carries the same values in both regions.
    pub(super) fn while_loop(
        &mut self,
        carried: &[Value],
        condition: impl FnOnce(&mut Build, &[Value]) -> Value,
        body: impl FnOnce(&mut Build, &[Value]) -> Vec<Value>,
    ) -> (OpId, Vec<Value>) {
        let types = self.types(carried);
        let before = self.region(&types, OpKind::Condition, |b, params| {
            let goes_on = condition(b, params);
            [&[goes_on], params].concat()
        });
        let after = self.region(&types, OpKind::Yield, body);
        self.push(OpKind::While, carried, &types, vec![before, after])
    }

    pub(super) fn if_else(
        &mut self,
        condition: Value,
        results: &[Type],
        yes: impl FnOnce(&mut Build) -> Vec<Value>,
        no: impl FnOnce(&mut Build) -> Vec<Value>,
    ) -> Vec<Value> {
        let yes = self.region(&[], OpKind::Yield, |b, _| yes(b));
        let no = self.region(&[], OpKind::Yield, |b, _| no(b));
        self.push(OpKind::If, &[condition], results, vec![yes, no]).1
    }

    /// A reduction; the region has the left values, then the right ones.
    pub(super) fn reduce(
        &mut self,
        axis: u8,
        operands: &[Value],
        fold: impl FnOnce(&mut Build, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let types = self.types(operands);
        let scalars: Vec<Type> = types.iter().map(|ty| Type::scalar(ty.dtype())).collect();
        let region = self.region(&[scalars.clone(), scalars].concat(), OpKind::Yield, fold);
        let results: Vec<Type> = types
            .into_iter()
            .map(|mut ty| {
                ty.shape.remove(usize::from(axis));
                ty
            })
            .collect();
        self.push(OpKind::Reduce { axis, contract: false }, operands, &results, vec![region]).1
    }

    /// A scan; the region has what was folded so far, then the element.
    pub(super) fn scan(
        &mut self,
        (axis, reverse): (u8, bool),
        operands: &[Value],
        fold: impl FnOnce(&mut Build, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let types = self.types(operands);
        let scalars: Vec<Type> = types.iter().map(|ty| Type::scalar(ty.dtype())).collect();
        let region = self.region(&[scalars.clone(), scalars].concat(), OpKind::Yield, fold);
        self.push(OpKind::Scan { axis, reverse }, operands, &types, vec![region]).1
    }

    /// Both halves of a tensor whose last dimension has size two.
    pub(super) fn split(&mut self, joined: Value) -> [Value; 2] {
        let mut half = self.ty(joined);
        half.shape.pop();
        let results = self.push(OpKind::Split, &[joined], &[half.clone(), half], Vec::new()).1;
        [results[0], results[1]]
    }

    pub(super) fn finish(mut self) -> Kernel {
        self.effect(OpKind::Return, &[]);
        self.kernel.body = self.open.pop().unwrap();
        assert!(self.open.is_empty());
        self.kernel
    }
}

/// An argument of a launch.
pub(super) enum Argument {
    Array(DType, Vec<f64>),
    Scalar(u64),
}

/// What a launch left.
pub(super) struct Outcome {
    pub(super) report: Report,
    pub(super) memory: Memory,
}

impl Outcome {
    /// The elements of a buffer, by its number among the arrays.
    pub(super) fn array(&self, index: usize) -> Vec<f64> {
        let buffer = &self.memory.buffers()[index];
        let bytes = buffer.dtype.bytes();
        (0..buffer.bytes.len() as u64 / u64::from(bytes))
            .map(|i| self.memory.read(Memory::base(index) + i * u64::from(bytes), bytes).unwrap())
            .map(|bits| scalar::to_f64(buffer.dtype, bits))
            .collect()
    }
}

/// Runs a kernel on arrays.
pub(super) fn launch(
    kernel: &Kernel,
    grid: u32,
    arguments: Vec<Argument>,
) -> Result<Outcome, EvalError> {
    let mut memory = Memory::default();
    let args: Vec<u64> = arguments
        .into_iter()
        .map(|argument| match argument {
            Argument::Scalar(bits) => bits,
            Argument::Array(dtype, values) => {
                let bytes = values.iter().flat_map(|&value| {
                    let bits = scalar::from_f64(dtype, value).to_le_bytes();
                    bits.into_iter().take(dtype.bytes() as usize)
                });
                let bytes = bytes.collect();
                memory.push(Buffer { name: "array".into(), bytes, dtype, initialised: true })
            }
        })
        .collect();
    let options = Options { max_steps: 1_000_000, ..Options::default() };
    let report = run(kernel, [grid, 1, 1], &args, &mut memory, options)?;
    Ok(Outcome { report, memory })
}
