//! Tensor descriptors as arguments of a kernel.
//!
//! Where no copy engine uses a descriptor, Triton's launcher takes it apart: the base, the extents and the
//! strides (i64 each, in elements), and truth values for its padding and, from Triton 3.7 on, for rounding to
//! tf32. Those are the kernel's arguments in its place. How many truth values there are the text does not
//! tell: two, unless the attribute `weft.flags` says one.
//!
//! Triton's `TensorDescriptor` promises what the copy engine needs: a base and strides that are multiples of
//! 16 bytes, and a last stride of one. What it does not promise is that the last extent is such a multiple, too,
//! that there is no NaN outside and no rounding; but it is so nearly always, and then 16 bytes of a row are in
//! the extents or outside all together. So the kernel is built twice, under a test of its arguments.

use super::attribute::Attributes;
use super::build::{Builder, Ending};
use super::descriptor::{Descriptor, MAX_RANK, Outside};
use super::parser::Parser;
use super::rewrite::Rewriter;
use super::syntax::{Action, BlockParam, Function, Operation, Parse};
use crate::diagnostic::Diagnostic;
use crate::dtype::DType;
use crate::scalar::{Binary, Cast, Compare};
use crate::tile::{Element, OpId, OpKind, Region, Type, Value};

/// Bytes of which a descriptor's base and its strides are multiples, but the last one.
pub(super) const DESCRIPTOR_ALIGNMENT: u64 = 16;

/// What is said of a descriptor that is an argument.
pub(super) struct DescriptorArgument {
    /// The type of its blocks.
    block: Type,
    /// How many truth values follow the strides.
    flags: usize,
}

/// The arguments in a descriptor's place.
pub(super) struct Parts<'a> {
    name: &'a str,
    base: Value,
    /// i64.
    extents: Vec<Value>,
    /// i64.
    strides: Vec<Value>,
    /// The padding, and the rounding.
    flags: Vec<Value>,
    block: Type,
}

impl Parser<'_> {
    /// The descriptor's type of an argument.
    pub(super) fn descriptor_argument(&mut self) -> Parse<DescriptorArgument> {
        let span = self.token.span;
        let block = self.descriptor_type()?.ty;
        let rank = block.shape.len();
        if rank == 0 || rank > MAX_RANK || !matches!(block.element, Element::Scalar(_)) {
            let message = format!("a descriptor is of numbers in 1 to {MAX_RANK} dimensions");
            return Err(Diagnostic::new(self.since(span), message));
        }
        Ok(DescriptorArgument { block, flags: 2 })
    }
}

impl DescriptorArgument {
    /// The type of the base.
    pub(super) fn base(&self) -> Type {
        Type::pointer(self.block.dtype())
    }

    /// `{weft.flags = 1}`: how many truth values the launcher hands over, where it is not two.
    pub(super) fn attributes(&mut self, attributes: &mut Attributes<'_>) -> Parse<()> {
        if let Some((flags, at)) = attributes.take_integer("weft.flags")? {
            let known = usize::try_from(flags).ok().filter(|flags| matches!(flags, 1 | 2));
            self.flags = known.ok_or_else(|| {
                Diagnostic::new(at, format!("a descriptor comes with 1 or 2 flags, not {flags}"))
            })?;
        }
        Ok(())
    }
}

impl Parts<'_> {
    /// Names, what they are multiples of, and values, in the launcher's order; the base comes before.
    pub(super) fn arguments(&self) -> Vec<(String, u64, Value)> {
        let Self { name, extents, strides, flags, block, .. } = self;
        let mut arguments = Vec::new();
        let numbered = |what, values: &[Value]| -> Vec<_> {
            let values = values.iter().enumerate();
            values.map(|(dim, &value)| (format!("{name}.{what}.{dim}"), 1, value)).collect()
        };
        arguments.extend(numbered("extents", extents));
        arguments.extend(numbered("strides", strides));
        for (stride, _) in arguments[extents.len()..].iter_mut().zip(1..strides.len()) {
            stride.1 = per_alignment(block);
        }
        let names = ["padding", "rounds"];
        arguments.extend(
            names.iter().zip(flags).map(|(what, &flag)| (format!("{name}.{what}"), 1, flag)),
        );
        arguments
    }
}

/// How many elements lie in [`DESCRIPTOR_ALIGNMENT`].
fn per_alignment(block: &Type) -> u64 {
    DESCRIPTOR_ALIGNMENT / u64::from(block.dtype().bytes())
}

impl<'a, 'r> Builder<'a, 'r> {
    /// New arguments for the parts of a descriptor.
    pub(super) fn parts(
        &mut self,
        argument: &BlockParam<'a>,
        described: &DescriptorArgument,
        base: Value,
    ) -> Parts<'a> {
        let name = argument.name;
        let rank = described.block.shape.len();
        let mut several = |what: &str, dtype, count| -> Vec<Value> {
            let name = format!("{name}.{what}");
            (0..count).map(|_| self.named(&name, &Type::scalar(dtype))).collect()
        };
        let extents = several("extents", DType::I64, rank);
        let strides = several("strides", DType::I64, rank);
        let flags = several("flags", DType::I1, described.flags);
        Parts { name, base, extents, strides, flags, block: described.block.clone() }
    }

    /// The kernel twice: for ordinary descriptors, and for any.
    pub(super) fn versions(
        &mut self,
        function: &'r Function<'a>,
        parts: &[Parts<'a>],
        out: &mut Vec<OpId>,
    ) -> Option<Ending> {
        let mut operation = Operation::new(Action::Broken, function.name_span);
        operation.loc = function.loc;
        let mut rewriter = Rewriter { builder: self, operation: &operation, out: &mut *out };
        let ordinary = rewriter.ordinary(parts)?;
        let (loc, span) = (operation.loc, operation.span);
        let id = self.push(OpKind::If, vec![ordinary], Vec::new(), loc, span, out);
        for ordinary in [true, false] {
            let region = self.in_region(span, |builder| {
                let mut ops = Vec::new();
                for part in parts {
                    let (operation, out) = (&operation, &mut ops);
                    let mut rewriter = Rewriter { builder, operation, out };
                    let descriptor = rewriter.assembled(part, ordinary);
                    builder.scope.describe(part.name, descriptor);
                }
                let ending = builder.function_body(builder.kernel, function, &mut ops)?;
                let Ending { values, loc, span } = ending;
                builder.push(OpKind::Yield, values, Vec::new(), loc, span, &mut ops);
                Some(Region { params: Vec::new(), ops })
            })?;
            self.set_region(id, region);
            if !self.errors.is_empty() {
                // The second time would tell the same again.
                return None;
            }
        }
        Some(Ending { values: Vec::new(), loc, span })
    }
}

impl<'a> Rewriter<'_, 'a, '_> {
    /// Whether all descriptors have no padding but zeros, no rounding, and rows of whole 16 bytes.
    fn ordinary(&mut self, parts: &[Parts<'a>]) -> Option<Value> {
        let mut all: Option<Value> = None;
        let mut and = |rewriter: &mut Self, more: Value| {
            all = Some(match all {
                Some(all) => rewriter.binary(Binary::And, all, more),
                None => more,
            });
        };
        for part in parts {
            let rest = self.with_number(
                Binary::And,
                *part.extents.last()?,
                per_alignment(&part.block) - 1,
            );
            let zero = self.constant(&self.ty(rest), 0);
            let whole = self.compare(Compare::Eq, rest, zero);
            and(self, whole);
            for &flag in &part.flags {
                let unset = self.with_number(Binary::Xor, flag, 1);
                and(self, unset);
            }
        }
        all
    }

    /// The descriptor of these parts; an ordinary one, where that was tested.
    fn assembled(&mut self, parts: &Parts<'a>, ordinary: bool) -> Descriptor {
        let mut extents = parts.extents.clone();
        let mut strides = parts.strides.clone();
        if let Some(stride) = strides.last_mut() {
            *stride = self.constant(&Type::scalar(DType::I64), 1);
        }
        let rounds = parts.flags.get(1).copied().filter(|_| parts.block.dtype() == DType::F32);
        let (outside, rounds) = if ordinary {
            if let Some(extent) = extents.last_mut() {
                // It is a multiple, and now that can be seen.
                *extent =
                    self.with_number(Binary::And, *extent, !(per_alignment(&parts.block) - 1));
            }
            (Outside::Zero, None)
        } else {
            (parts.flags.first().map_or(Outside::Zero, |&is_nan| Outside::NanIf(is_nan)), rounds)
        };
        let extents = extents.into_iter().map(|extent| self.indexed(extent)).collect();
        let (base, block) = (parts.base, parts.block.clone());
        Descriptor { base, extents, strides, block, outside, rounds }
    }

    /// What an i64 extent is to i32 indices: at least zero, and at most one more than the last index.
    fn indexed(&mut self, extent: Value) -> Value {
        let ty = self.ty(extent);
        let (none, all) = (self.constant(&ty, 0), self.constant(&ty, 1 << 31));
        let extent = self.binary(Binary::MaxS, extent, none);
        let extent = self.binary(Binary::MinS, extent, all);
        self.cast(Cast::Trunc, extent, DType::I32)
    }
}
