//! Tensor descriptors as arguments of a kernel.
//!
//! Where no copy engine uses a descriptor, Triton's launcher takes it apart: the base, the extents and the
//! strides (i64 each, in elements), and truth values for its padding and, from Triton 3.7 on, for rounding to
//! tf32. Those are the kernel's arguments in its place, and the kernel begins by putting them together. How
//! many truth values there are the text does not tell: two, unless the attribute `weft.flags` says one.
//!
//! Triton's `TensorDescriptor` promises what the copy engine needs: a base and strides that are multiples of
//! 16 bytes, and a last stride of one.

use super::attribute::Attributes;
use super::build::Builder;
use super::syntax::{BlockParam, Function, Parse};
use crate::diagnostic::Diagnostic;
use crate::dtype::DType;
use crate::tile::{DescriptorOp, OpKind, Param, Region, Type, Value};

/// Bytes of which a descriptor's base and its strides are multiples, but the last one.
const ALIGNMENT: u64 = 16;

/// What is said of a descriptor that is an argument.
pub(super) struct DescriptorArgument {
    /// How many truth values follow the strides.
    flags: usize,
}

impl DescriptorArgument {
    /// `{weft.flags = 1}`: how many truth values the launcher hands over, where it is not two.
    pub(super) fn of(attributes: Option<&mut Attributes<'_>>) -> Parse<Self> {
        let said =
            attributes.map(|attributes| attributes.take_integer("weft.flags")).transpose()?;
        let Some((flags, at)) = said.flatten() else { return Ok(Self { flags: 2 }) };
        let known = usize::try_from(flags).ok().filter(|flags| matches!(flags, 1 | 2));
        let flags = known.ok_or_else(|| {
            Diagnostic::new(at, format!("a descriptor comes with 1 or 2 flags, not {flags}"))
        })?;
        Ok(Self { flags })
    }
}

impl<'a, 'r> Builder<'a, 'r> {
    /// A descriptor of new arguments, the parts in the launcher's order.
    pub(super) fn given(
        &mut self,
        function: &'r Function<'a>,
        argument: &'r BlockParam<'a>,
        described: &DescriptorArgument,
        (params, body): (&mut Vec<Param>, &mut Region),
    ) {
        let BlockParam { name, span, ref ty } = *argument;
        let rank = ty.shape.len();
        let per_alignment = ALIGNMENT / u64::from(ty.dtype().bytes());
        let mut add = |name: String, wanted: &str, divisibility, ty: &Type| -> Value {
            let value = self.named(wanted, ty);
            params.push(Param { name, divisibility, pointer_range: 0 });
            body.params.push(value);
            value
        };
        let mut parts = vec![add(name.into(), name, ALIGNMENT, &Type::pointer(ty.dtype()))];
        for (what, divisibility) in [("extents", 1), ("strides", per_alignment)] {
            for dim in 0..rank {
                let divisibility = if dim + 1 < rank { divisibility } else { 1 };
                let part = format!("{name}.{what}");
                let numbered = format!("{part}.{dim}");
                parts.push(add(numbered, &part, divisibility, &Type::scalar(DType::I64)));
            }
        }
        for what in ["padding", "rounds"].iter().take(described.flags) {
            let (part, ty) = (format!("{name}.{what}"), Type::scalar(DType::I1));
            parts.push(add(part, &format!("{name}.flags"), 1, &ty));
        }
        let (loc, at, out) = (function.loc, function.name_span, &mut body.ops);
        let one = self.unnamed(&Type::scalar(DType::I64));
        self.push(OpKind::Constant(1), Vec::new(), vec![one], loc, at, out);
        parts[2 * rank] = one;
        let descriptor = self.named(name, ty);
        let given = OpKind::Descriptor(DescriptorOp::Given);
        self.push(given, parts, vec![descriptor], loc, at, out);
        self.bind(name, span, Some(vec![descriptor]));
    }
}
