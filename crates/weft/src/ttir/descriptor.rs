//! Tensor descriptors as pointers.
//!
//! A descriptor is a base, extents and strides, made by `tt.make_tensor_descriptor`. A block of it is
//! an array of pointers, `base + Σ (index + i) * stride`, under a mask of the elements within the
//! extents; outside a load gives zero, or NaN where the descriptor says so. The text may pass a
//! descriptor only to the operations that use it. Those that a kernel is given are taken apart in
//! [`descriptor_argument`](super::descriptor_argument).

use super::attribute::Attribute;
use super::build::Builder;
use super::lexer::TokenKind;
use super::parser::Parser;
use super::rewrite::Rewriter;
use super::syntax::{Action, Operation, Parse, Use};
use super::table::{Details, Special};
use super::types::DescribedBlock;
use crate::atomic::{Order, Rmw, Scope};
use crate::cache::Cache;
use crate::diagnostic::{Diagnostic, Span};
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare};
use crate::tile::{Element, LoadOptions, OpId, OpKind, Type, Value};

/// The most dimensions of a descriptor.
pub(super) const MAX_RANK: usize = 5;

/// What a descriptor's name stands for.
#[derive(Clone, Debug)]
pub(super) struct Descriptor {
    pub(super) base: Value,
    /// i32, 0 to 2^31, so unsigned: no index is above.
    pub(super) extents: Vec<Value>,
    /// i64, in elements.
    pub(super) strides: Vec<Value>,
    /// The block's type.
    pub(super) block: Type,
    /// What loads give outside.
    pub(super) outside: Outside,
    /// Whether loads round f32 to tf32: a truth value; never without one.
    pub(super) rounds: Option<Value>,
}

/// What a load through a descriptor gives outside of the extents.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outside {
    Zero,
    /// NaN; zero for integers.
    Nan,
    /// NaN where this truth value says so.
    NanIf(Value),
}

/// What is done with a descriptor.
#[derive(Clone, Debug)]
pub(super) enum Descriptive<'a> {
    /// `tt.make_tensor_descriptor`: base, extents, strides.
    Make {
        /// The block's type.
        block: Type,
        /// Whether loads give NaN outside.
        nan: bool,
    },
    /// A load; the operands are the indices.
    Load(Use<'a>),
    /// A store; the operands are the indices and the value.
    Store(Use<'a>),
    /// An atomic operation without a result; the operands are the indices and the value.
    Reduce(Use<'a>, Rmw),
    /// A load of rows; the operands are the rows and the first column.
    Gather(Use<'a>),
    /// A store of rows; the operands are the rows, the first column and the value.
    Scatter(Use<'a>),
}

impl<'a> Parser<'a> {
    /// The operations on descriptors.
    pub(super) fn descriptive(
        &mut self,
        special: Special,
        mut details: Details<'a>,
        start: Span,
    ) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Broken, start);
        let action = if special == Special::MakeDescriptor {
            self.make_descriptor(&mut details, &mut operation)?
        } else {
            self.use_descriptor(special, &mut details, &mut operation)?
        };
        details.attributes.finish(details.name)?;
        operation.action = Action::Descriptor(action);
        operation.span = self.since(start);
        Ok(operation)
    }

    /// `%p, [%m, %n], [%s, %t] {padding = 1 : i32} : <f32>, <32x32xf32>`; 3.6 writes the block as
    /// `<tensor<32x32xf32>>`.
    fn make_descriptor(
        &mut self,
        details: &mut Details<'a>,
        operation: &mut Operation<'a>,
    ) -> Parse<Descriptive<'a>> {
        operation.operands.push(self.value()?);
        let mut counts = [0; 2];
        for count in &mut counts {
            self.expect(b',')?;
            self.expect(b'[')?;
            let list = self.list(b']', Self::value)?;
            *count = list.len();
            operation.operands.extend(list);
        }
        if self.at(b'{') {
            details.attributes.extend(self.attributes()?);
        }
        let nan = match details.attributes.take("padding") {
            None | Some((Attribute::Integer(1) | Attribute::Word("pad_zero"), _)) => false,
            Some((Attribute::Integer(2) | Attribute::Word("pad_nan"), _)) => true,
            Some((_, span)) => return Err(Diagnostic::new(span, "this padding is not supported")),
        };
        self.expect(b':')?;
        self.expect(b'<')?;
        let span = self.token.span;
        let pointee = self.ty()?;
        self.expect(b'>')?;
        self.expect(b',')?;
        let block = self.block_type()?.ty;
        let Element::Scalar(pointee) = pointee.element else {
            return Err(Diagnostic::new(self.since(span), "a descriptor is of numbers"));
        };
        let rank = block.shape.len();
        if counts != [rank; 2] || rank > MAX_RANK {
            let message = format!(
                "a descriptor of blocks with {rank} dimensions has as many extents and strides, not \
                 {} and {}, and at most {MAX_RANK}",
                counts[0], counts[1]
            );
            return Err(Diagnostic::new(details.span, message));
        }
        operation.operand_types.push(Type::pointer(pointee));
        // Besides the descriptor the name means its base, which no text can ask for under this type.
        operation.result_types.push(Type::pointer(pointee));
        operation.operand_types.extend(vec![Type::scalar(DType::I32); rank]);
        operation.operand_types.extend(vec![Type::scalar(DType::I64); rank]);
        Ok(Descriptive::Make { block, nan })
    }

    /// `%d[%i, %j] : D -> T`; with a value, `%d[%i, %j], %v : D, T`; of rows,
    /// `%d[%rows, %j] : (D, I, i32) -> T` and `%d[%rows, %j], %v : D, I, i32, T`.
    fn use_descriptor(
        &mut self,
        special: Special,
        details: &mut Details<'a>,
        operation: &mut Operation<'a>,
    ) -> Parse<Descriptive<'a>> {
        let mut op = Rmw::Add;
        if special == Special::DescriptorReduce {
            let (word, span) = self.take(TokenKind::Word, "what is done, such as `add`")?;
            op = Rmw::by_name(word).ok_or_else(|| {
                Diagnostic::new(span, format!("`{word}` is no reduction that is supported"))
            })?;
            self.expect(b',')?;
        }
        let descriptor = self.value()?;
        self.expect(b'[')?;
        operation.operands = self.list(b']', Self::value)?;
        let reads = matches!(special, Special::DescriptorLoad | Special::DescriptorGather);
        let has_value = !reads;
        if has_value {
            self.expect(b',')?;
            operation.operands.push(self.value()?);
        }
        if self.at(b'{') {
            details.attributes.extend(self.attributes()?);
        }
        // Hints: each says how, and not what.
        details.attributes.ignore(&["cachePolicy", "cache", "evict"]);
        while self.at_word("cacheModifier") || self.at_word("evictionPolicy") {
            self.bump();
            self.expect(b'=')?;
            self.bump();
        }
        self.expect(b':')?;
        let indices = operation.operands.len() - usize::from(has_value);
        let by_rows = matches!(special, Special::DescriptorGather | Special::DescriptorScatter);
        let round = self.eat(b'(');
        let described = self.descriptor_type()?;
        if described.unsigned {
            op = op.unsigned();
        }
        if by_rows {
            for _ in 0..indices {
                self.expect(b',')?;
                operation.operand_types.push(self.ty()?);
            }
        } else {
            operation.operand_types = vec![Type::scalar(DType::I32); indices];
        }
        if round {
            self.expect(b')')?;
        }
        if has_value {
            self.expect(b',')?;
            operation.operand_types.push(self.ty()?);
        } else {
            self.expect_arrow()?;
            operation.result_types = vec![self.ty()?];
        }
        Ok(match special {
            Special::DescriptorStore => Descriptive::Store(descriptor),
            Special::DescriptorReduce => Descriptive::Reduce(descriptor, op),
            Special::DescriptorGather => Descriptive::Gather(descriptor),
            Special::DescriptorScatter => Descriptive::Scatter(descriptor),
            _ => Descriptive::Load(descriptor),
        })
    }

    /// Whether a descriptor's type is next.
    pub(super) fn at_descriptor(&self) -> bool {
        self.text() == "!tt.tensordesc"
    }

    /// `!tt.tensordesc<32x32xf32>`
    pub(super) fn descriptor_type(&mut self) -> Parse<DescribedBlock> {
        if !self.at_descriptor() {
            return self.expected("the descriptor's type, `!tt.tensordesc<…>`");
        }
        self.bump();
        self.block_type()
    }

    /// `<32x32xf32>` or, in 3.6, `<tensor<32x32xf32>>`.
    fn block_type(&mut self) -> Parse<DescribedBlock> {
        if !self.at(b'<') {
            return self.expected("`<` and the block's extents");
        }
        let older = self.lexer.rest().trim_start().starts_with("tensor");
        if !older {
            return self.block_of_descriptor();
        }
        self.bump();
        self.expect_word("tensor")?;
        if !self.at(b'<') {
            return self.expected("`<` and the block's extents");
        }
        let block = self.block_of_descriptor()?;
        self.expect(b'>')?;
        Ok(block)
    }
}

impl<'a> Builder<'a, '_> {
    /// Builds what is done with a descriptor; its results.
    pub(super) fn descriptive(
        &mut self,
        what: &Descriptive<'a>,
        operands: &[Value],
        operation: &Operation<'a>,
        out: &mut Vec<OpId>,
    ) -> Option<Vec<Value>> {
        if let Descriptive::Make { block, nan } = what {
            let rank = block.shape.len();
            let (base, rest) = operands.split_first()?;
            let (extents, strides) = rest.split_at_checked(rank)?;
            let mut rewriter = Rewriter { builder: &mut *self, operation, out: &mut *out };
            let extents = extents.iter().map(|&extent| rewriter.not_negative(extent)).collect();
            let descriptor = Descriptor {
                base: *base,
                extents,
                strides: strides.to_vec(),
                block: block.clone(),
                outside: if *nan { Outside::Nan } else { Outside::Zero },
                rounds: None,
            };
            let name = operation.results.first()?;
            self.scope.describe(name.name, descriptor);
            return Some(vec![*base]);
        }
        let (Descriptive::Load(used)
        | Descriptive::Store(used)
        | Descriptive::Reduce(used, _)
        | Descriptive::Gather(used)
        | Descriptive::Scatter(used)) = what
        else {
            return None;
        };
        let Some(descriptor) = self.scope.described(used.name).cloned() else {
            let message = format!("`%{}` is no descriptor that is known here", used.name);
            let error = Diagnostic::new(used.span, message);
            self.errors.push(error.with_hint(
                "a descriptor is used in the kernel that made it or was given it, not handed over",
            ));
            return None;
        };
        let mut rewriter = Rewriter { builder: self, operation, out };
        rewriter.access(what, &descriptor, operands)
    }
}

impl Rewriter<'_, '_, '_> {
    fn access(
        &mut self,
        what: &Descriptive<'_>,
        descriptor: &Descriptor,
        operands: &[Value],
    ) -> Option<Vec<Value>> {
        let rank = descriptor.extents.len();
        let by_rows = matches!(what, Descriptive::Gather(_) | Descriptive::Scatter(_));
        let takes = operands.len()
            - usize::from(!matches!(what, Descriptive::Load(_) | Descriptive::Gather(_)));
        if takes != rank || by_rows && rank != 2 {
            return self.refuse(format!("{takes} indices into a descriptor of {rank} dimensions"));
        }
        let (indices, value) = operands.split_at(rank);
        let mut block = descriptor.block.clone();
        if by_rows {
            block.shape[0] = self.ty(indices[0]).elements();
        }
        let (pointers, mask) = self.places(descriptor, &block.shape, indices);
        let element = block.element;
        match *what {
            Descriptive::Load(_) | Descriptive::Gather(_) => {
                let outside = self.outside(descriptor, &block);
                let load = OpKind::Load(LoadOptions::default());
                let mut loaded = self.one(load, &[pointers, mask, outside], &block);
                if let Some(rounds) = descriptor.rounds {
                    loaded = self.rounded_to_tf32(loaded, rounds);
                }
                let wanted = self.operation.result_types.first()?.clone();
                if wanted.element != element || wanted.elements() != block.elements() {
                    return self.refuse(format!("a block `{block}` is not loaded as `{wanted}`"));
                }
                Some(vec![self.reshape(loaded, &wanted.shape)])
            }
            _ => {
                let given = self.ty(value[0]);
                if given.element != element || given.elements() != block.elements() {
                    return self.refuse(format!("a `{given}` is not stored as a block `{block}`"));
                }
                let value = self.reshape(value[0], &block.shape);
                let kind = match *what {
                    Descriptive::Reduce(_, op) => {
                        // The sum of floats has a name of its own.
                        let sum = op == Rmw::Add && block.dtype().is_float();
                        let op = if sum { Rmw::FAdd } else { op };
                        let (order, scope) = (Order::Relaxed, Scope::Gpu);
                        self.one(
                            OpKind::AtomicRmw { op, order, scope },
                            &[pointers, value, mask],
                            &block,
                        );
                        return Some(Vec::new());
                    }
                    _ => OpKind::Store(Cache::default()),
                };
                self.nothing(kind, &[pointers, value, mask]);
                Some(Vec::new())
            }
        }
    }

    /// What a load of a block gives where the mask is false.
    fn outside(&mut self, descriptor: &Descriptor, block: &Type) -> Value {
        let zero = |rewriter: &mut Self| rewriter.constant(block, 0);
        if !block.dtype().is_float() {
            return zero(self);
        }
        match descriptor.outside {
            Outside::Zero => zero(self),
            Outside::Nan => self.float(block, f64::NAN),
            Outside::NanIf(is_nan) => {
                let (nan, zero) = (self.float(block, f64::NAN), zero(self));
                let is_nan = self.splat(is_nan, &block.shape);
                self.select(is_nan, nan, zero)
            }
        }
    }

    /// f32 numbers with the bits that tf32 has, to nearest and ties to even, where `rounds` is true;
    /// infinity and NaN stay what they are.
    fn rounded_to_tf32(&mut self, x: Value, rounds: Value) -> Value {
        const DROPPED: u32 = 13;
        const EXPONENT: u64 = 0x7f80_0000;
        let bits = self.cast(Cast::Bits, x, DType::I32);
        let exponent = self.with_number(Binary::And, bits, EXPONENT);
        let special = self.constant(&self.ty(bits), EXPONENT);
        let finite = self.compare(Compare::Ne, exponent, special);
        let last = self.with_number(Binary::ShrU, bits, u64::from(DROPPED));
        let odd = self.with_number(Binary::And, last, 1);
        let half = self.with_number(Binary::Add, odd, (1 << (DROPPED - 1)) - 1);
        let raised = self.binary(Binary::Add, bits, half);
        let kept = self.with_number(Binary::And, raised, !((1 << DROPPED) - 1));
        let rounds = self.splat_like(rounds, &self.ty(finite));
        let changes = self.binary(Binary::And, finite, rounds);
        let chosen = self.select(changes, kept, bits);
        self.cast(Cast::Bits, chosen, DType::F32)
    }

    /// An i32 extent, none if it is below zero.
    fn not_negative(&mut self, extent: Value) -> Value {
        let zero = self.constant(&self.ty(extent), 0);
        self.binary(Binary::MaxS, extent, zero)
    }

    /// The pointers to a block's elements, and whether each is within the extents.
    fn places(
        &mut self,
        descriptor: &Descriptor,
        shape: &[u64],
        indices: &[Value],
    ) -> (Value, Value) {
        let rank = shape.len();
        let (mut corner, mut mask) = (descriptor.base, None);
        let mut offsets: Option<Value> = None;
        for (dim, &extent) in shape.iter().enumerate() {
            let (index, stride) = (indices[dim], descriptor.strides[dim]);
            let mut aligned = vec![1; rank];
            aligned[dim] = extent;
            let spread = |rewriter: &mut Self, value: Value| {
                let value = rewriter.reshape(value, &aligned);
                rewriter.broadcast(value, shape)
            };
            // Places, and how far they are from the corner or from the base.
            let (places, steps) = if self.ty(index).is_tensor() {
                let index = match self.ty(index).dtype() {
                    DType::I8 | DType::I16 => self.cast(Cast::ExtS, index, DType::I32),
                    _ => index,
                };
                (index, index)
            } else {
                // The corner is one for the block, and what is added to it the same wherever the block is.
                let start = self.cast(Cast::ExtS, index, DType::I64);
                let start = self.binary(Binary::Mul, start, stride);
                corner = self.one(OpKind::AddPtr, &[corner, start], &self.ty(corner));
                let range = OpKind::MakeRange { start: 0, end: extent as i32 };
                let line = Type::tensor(Element::Scalar(DType::I32), &[extent]);
                let range = self.one(range, &[], &line);
                let start = self.splat(index, &[extent]);
                (self.binary(Binary::Add, start, range), range)
            };
            // Below zero, and behind the last index that there is, is above every extent.
            let bound = self.cast(Cast::ExtU, descriptor.extents[dim], self.ty(places).dtype());
            let bound = self.splat(bound, &[extent]);
            let within = self.compare(Compare::Ult, places, bound);
            let within = spread(self, within);
            mask = Some(match mask {
                Some(mask) => self.binary(Binary::And, mask, within),
                None => within,
            });
            let steps = self.cast(Cast::ExtS, steps, DType::I64);
            let stride = self.splat(stride, &[extent]);
            let steps = self.binary(Binary::Mul, steps, stride);
            let steps = spread(self, steps);
            offsets = Some(match offsets {
                Some(offsets) => self.binary(Binary::Add, offsets, steps),
                None => steps,
            });
        }
        let mut pointers = self.splat(corner, shape);
        if let Some(offsets) = offsets {
            pointers = self.one(OpKind::AddPtr, &[pointers, offsets], &self.ty(pointers));
        }
        let all = Type::tensor(Element::Scalar(DType::I1), shape);
        let mask = mask.unwrap_or_else(|| self.constant(&all, 1));
        (pointers, mask)
    }

    /// An operation without results.
    fn nothing(&mut self, kind: OpKind, operands: &[Value]) {
        let loc = self.builder.place(self.operation.loc);
        let span = self.operation.span;
        self.builder.push(kind, operands.to_vec(), Vec::new(), loc, span, self.out);
    }
}
