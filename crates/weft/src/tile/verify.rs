//! The rules that every kernel keeps; what comes after may rely on them.
//!
//! Structure:
//!
//! * An operation stands in one region. Every value is defined once, and before it is used: in the
//!   same region or one around it.
//! * Regions are at most [`MAX_DEPTH`] deep. Each ends with the operation that its owner asks for
//!   (`return` for the kernel, `condition` for the first region of a `while`, else `yield`), which
//!   stands nowhere else and hands over values of the types asked for.
//! * A kernel's arguments are its body's parameters, and no tensors; it returns nothing.
//! * The region of a `reduce` or `scan` has only pure operations on scalars; it may use scalars from
//!   around it.
//!
//! Types:
//!
//! * Extents are powers of two, but there may be any number of buffers; a tensor has at most [`MAX_ELEMENTS`] elements and [`MAX_RANK`]
//!   dimensions.
//! * Operands and results are as the documentation of [`OpKind`] says, and the element type has the
//!   operation (`scalar::unary` and its like give it). Element-wise operations have one shape.
//!   Arithmetic is on numbers; pointers are moved, selected, offset, cast (to pointers and i64) and
//!   dereferenced.
//! * Masks are `i1` of the pointers' shape; values have the pointers' shape and the pointee's type.
//! * `make_range` gives `end - start` elements, and `end` is greater.
//! * `expand_dims`, `broadcast`, `reshape` and `trans` keep the element, and change the shape as
//!   they say. `unsplat` takes a tensor of one element.
//! * `dot` takes M×K and K×N of one element type and M×N, all integers or all floats, or as many
//!   such matrices of each along dimensions in front. `dot_scaled` takes numbers of 16, 8 or 4 bits, the last
//!   in pairs along one of the two axes, each with scales of groups along K or without.
//! * `reduce` takes tensors of one shape, and drops an axis; of one dimension it leaves a scalar.
//!   `scan` keeps the shape. `gather` takes indices of the source's shape but for the axis;
//!   `histogram` takes integers of one dimension.
//! * Atomics are on 16, 32 and 64 bits.
//! * A descriptor has up to [`MAX_DESCRIPTOR_RANK`] dimensions; loops and branches carry it as any value.
//! * Encodings are part of a type. A view of shared memory leaves every element where it is; memory is
//!   no argument, is not carried by loops, and leaves no region.

use super::{
    Element, Kernel, MAX_DEPTH, MAX_DESCRIPTOR_RANK, MAX_ELEMENTS, MAX_RANK, Op, OpId, OpKind,
    Region, Type, Value, signature,
};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::id::IdMap;

/// Checks a kernel; the error lists every broken rule at the operation that breaks it.
pub fn verify(kernel: &Kernel) -> Result<(), Diagnostics> {
    let mut verifier = Verifier {
        kernel,
        visible: IdMap::default(),
        defined: IdMap::default(),
        placed: IdMap::default(),
        depth: 0,
        in_fold: false,
        errors: Vec::new(),
    };
    verifier.kernel();
    if verifier.errors.is_empty() { Ok(()) } else { Err(Diagnostics(verifier.errors)) }
}

/// What a region ends with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Return,
    Yield,
    Condition,
}

impl Ending {
    fn name(self) -> &'static str {
        match self {
            Ending::Return => "return",
            Ending::Yield => "yield",
            Ending::Condition => "condition",
        }
    }

    fn matches(self, kind: &OpKind) -> bool {
        match self {
            Ending::Return => *kind == OpKind::Return,
            Ending::Yield => *kind == OpKind::Yield,
            Ending::Condition => *kind == OpKind::Condition,
        }
    }
}

struct Verifier<'a> {
    kernel: &'a Kernel,
    /// Whether a value can be used here.
    visible: IdMap<Value, bool>,
    /// Whether a value has been defined anywhere.
    defined: IdMap<Value, bool>,
    /// Whether an operation has been seen in some region.
    placed: IdMap<OpId, bool>,
    depth: usize,
    in_fold: bool,
    errors: Vec<Diagnostic>,
}

impl<'a> Verifier<'a> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(Diagnostic::new(span, message));
    }

    /// The types of values that exist.
    fn types(&self, values: &[Value]) -> Vec<&'a Type> {
        values.iter().filter_map(|&value| self.kernel.values.get(value)).map(|v| &v.ty).collect()
    }

    fn owned_types(&self, values: &[Value]) -> Vec<Type> {
        self.types(values).into_iter().cloned().collect()
    }

    fn kernel(&mut self) {
        let Kernel { name, params, values: _, ops: _, body, loc: _ } = self.kernel;
        if params.len() != body.params.len() {
            let message = format!("the kernel `{name}` has arguments without values");
            self.error(Span::default(), message);
        }
        for (param, ty) in params.iter().zip(self.types(&body.params)) {
            if !ty.shape.is_empty() || ty.element == Element::Token {
                let message = format!("the argument `%{}` is no scalar, but `{ty}`", param.name);
                self.error(Span::default(), message);
            }
            if param.divisibility == 0 {
                let message = format!("nothing is divisible by zero, as `%{}` should", param.name);
                self.error(Span::default(), message);
            }
        }
        self.region(body, Ending::Return, &[], Span::default());
    }

    fn define(&mut self, value: Value, span: Span) {
        let Some(data) = self.kernel.values.get(value) else {
            self.error(span, format!("{value} does not exist"));
            return;
        };
        if let Err(reason) = check_type(&data.ty) {
            let name = self.kernel.value_name(value);
            self.error(span, format!("`{name}` has the type `{}`: {reason}", data.ty));
        }
        if core::mem::replace(self.defined.entry(value), true) {
            let name = self.kernel.value_name(value);
            self.error(span, format!("`{name}` is defined twice"));
        }
        self.visible.set(value, true);
    }

    /// A region, which must end as said and hand over values of some types.
    fn region(&mut self, region: &'a Region, ending: Ending, hands_over: &[Type], owner: Span) {
        if self.depth == MAX_DEPTH {
            self.error(owner, format!("more than {MAX_DEPTH} regions inside one another"));
            return;
        }
        self.depth += 1;
        for &param in &region.params {
            self.define(param, owner);
        }
        let Some((&last, body)) = region.ops.split_last() else {
            self.error(owner, format!("a region is empty; it ends with `{}`", ending.name()));
            self.depth -= 1;
            return;
        };
        for &id in body {
            self.op(id, None, owner);
        }
        self.op(last, Some((ending, hands_over)), owner);
        // What was defined here is not seen outside.
        for &param in &region.params {
            self.visible.set(param, false);
        }
        for op in region.ops.iter().filter_map(|&id| self.kernel.ops.get(id)) {
            for &result in &op.results {
                self.visible.set(result, false);
            }
        }
        self.depth -= 1;
    }

    /// One operation; `ending` says what it must be when it is the last of its region.
    fn op(&mut self, id: OpId, ending: Option<(Ending, &[Type])>, owner: Span) {
        let Some(op) = self.kernel.ops.get(id) else {
            self.error(owner, format!("{id} does not exist"));
            return;
        };
        if core::mem::replace(self.placed.entry(id), true) {
            self.error(op.span, format!("{id} stands in more than one place"));
            return;
        }
        let mut known = true;
        for &operand in &op.operands {
            if self.kernel.values.get(operand).is_none() || !self.visible[operand] {
                let name = match self.kernel.values.get(operand) {
                    Some(_) => self.kernel.value_name(operand),
                    None => operand.to_string(),
                };
                self.error(op.span, format!("`{name}` is not defined here"));
                known = false;
            }
        }
        self.placement(op, ending);
        if self.in_fold {
            self.combining(op);
        }
        // Without regions there is nothing to visit; with unknown operands there are no types.
        if known {
            self.signature(op);
        }
        for &result in &op.results {
            self.define(result, op.span);
        }
    }

    fn placement(&mut self, op: &Op, ending: Option<(Ending, &[Type])>) {
        match ending {
            None if op.kind.effects().is_terminator() => {
                self.error(op.span, format!("`{}` stands last in its region", op.kind.name()));
            }
            None => {}
            Some((ending, _)) if !ending.matches(&op.kind) => {
                self.error(op.span, format!("the region ends here without `{}`", ending.name()));
            }
            Some((ending, wanted)) => {
                let values = match ending {
                    // The condition itself is checked with the types.
                    Ending::Condition => op.operands.get(1..).unwrap_or_default(),
                    Ending::Return | Ending::Yield => &op.operands,
                };
                let found = self.types(values);
                if !found.iter().copied().eq(wanted) {
                    let message = format!(
                        "the region hands over ({}), but ({}) is needed",
                        list(&found),
                        list(&wanted.iter().collect::<Vec<_>>())
                    );
                    self.error(op.span, message);
                }
            }
        }
    }

    /// What stands in the region of a `reduce` or `scan`.
    fn combining(&mut self, op: &Op) {
        if !op.kind.effects().is_pure() && op.kind != OpKind::Yield || !op.regions.is_empty() {
            let message = format!("`{}` may not stand in a region that folds", op.kind.name());
            self.error(op.span, message);
        }
        let tensors = self.types(&op.operands).into_iter().chain(self.types(&op.results));
        if let Some(tensor) = tensors.into_iter().find(|ty| ty.is_tensor()) {
            let message = format!("a region that folds is on scalars, not on `{tensor}`");
            self.error(op.span, message);
        }
    }

    /// Operand and result types, and the regions.
    fn signature(&mut self, op: &'a Op) {
        let (operands, results) = (self.types(&op.operands), self.types(&op.results));
        if let Err(rule) = signature::check(&op.kind, &operands, &results) {
            let message = format!(
                "`{}` {rule}, but here are ({}) -> ({})",
                op.kind.name(),
                list(&operands),
                list(&results)
            );
            self.error(op.span, message);
        }
        let regions = match op.kind {
            OpKind::Reduce { .. } | OpKind::Scan { .. } | OpKind::For(_) => 1,
            OpKind::While | OpKind::If => 2,
            _ => 0,
        };
        if op.regions.len() != regions {
            let found = op.regions.len();
            let message =
                format!("regions of `{}`: {regions} needed, {found} found", op.kind.name());
            self.error(op.span, message);
            return;
        }
        match (&op.kind, &op.regions[..]) {
            (OpKind::Reduce { .. } | OpKind::Scan { .. }, [combine]) => {
                let scalars: Vec<Type> = operands.iter().map(|ty| scalar_of(ty)).collect();
                let outer = core::mem::replace(&mut self.in_fold, true);
                self.params(op, combine, &[&scalars[..], &scalars[..]].concat());
                self.region(combine, Ending::Yield, &scalars, op.span);
                self.in_fold = outer;
            }
            (OpKind::For(_), [body]) => {
                let mut enter = operands.first().map(|&ty| ty.clone()).into_iter().collect();
                let carried = self.owned_types(op.operands.get(3..).unwrap_or_default());
                let mut rest = carried.clone();
                Vec::append(&mut enter, &mut rest);
                self.params(op, body, &enter);
                self.region(body, Ending::Yield, &carried, op.span);
            }
            (OpKind::While, [before, after]) => {
                let carried = self.owned_types(&op.operands);
                let handed = self.owned_types(&op.results);
                self.params(op, before, &carried);
                self.region(before, Ending::Condition, &handed, op.span);
                self.params(op, after, &handed);
                self.region(after, Ending::Yield, &carried, op.span);
            }
            (OpKind::If, [then, otherwise]) => {
                let handed = self.owned_types(&op.results);
                self.params(op, then, &[]);
                self.region(then, Ending::Yield, &handed, op.span);
                self.params(op, otherwise, &[]);
                self.region(otherwise, Ending::Yield, &handed, op.span);
            }
            _ => {}
        }
    }

    /// The types of the values that enter a region.
    fn params(&mut self, op: &Op, region: &Region, wanted: &[Type]) {
        let found = self.types(&region.params);
        if !found.iter().copied().eq(wanted) {
            let message = format!(
                "the region of `{}` takes ({}), but ({}) enters",
                op.kind.name(),
                list(&found),
                list(&wanted.iter().collect::<Vec<_>>())
            );
            self.error(op.span, message);
        }
    }
}

/// Why no value may have a type.
fn check_type(ty: &Type) -> Result<(), &'static str> {
    if ty.element == Element::Token && !ty.shape.is_empty() {
        return Err("a token stands alone");
    }
    if ty.shape.is_empty() && ty.encoding.is_some() {
        return Err("a scalar has no layout");
    }
    if ty.is_descriptor() && (ty.shape.is_empty() || ty.encoding.is_some()) {
        return Err("a descriptor has dimensions, and no layout");
    }
    let most = if ty.is_descriptor() { MAX_DESCRIPTOR_RANK } else { MAX_RANK };
    if ty.shape.len() > most {
        return Err("it has too many dimensions");
    }
    if !ty.tensor_extents().iter().all(|extent| extent.is_power_of_two()) {
        return Err("extents are powers of two");
    }
    if ty.shape.contains(&0) {
        return Err("there is at least one buffer");
    }
    let elements = ty.shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent));
    if elements.is_none_or(|elements| elements > MAX_ELEMENTS) {
        return Err("it has too many elements");
    }
    Ok(())
}

/// The scalar that a tensor's elements are.
fn scalar_of(ty: &Type) -> Type {
    Type::single(ty.element)
}

fn list(types: &[&Type]) -> String {
    types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
