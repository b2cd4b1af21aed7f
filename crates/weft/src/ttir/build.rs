//! From what the text says to the tile program: names are resolved, calls inlined.

use super::asserted::asserting;
use super::call::Call;
use super::flow::Flow;
use super::rewrite::Rewriter;
use super::syntax::{
    Action, Argument, Block, BlockParam, Errors, Function, Operation, Promises, ResultName, Use,
};
use super::table::distance;
use super::{MAX_DEPTH, READ_PER_OPERATION};
use crate::diagnostic::{Diagnostic, Span};
use crate::dtype::DType;
use crate::id::IdVec;
use crate::location::{Loc, Location, Locations};
use crate::scalar::{Cast, Unary};
use crate::tile::names::Names;
use crate::tile::{
    Element, Kernel, Launch, Module, Op, OpId, OpKind, Param, Region, Type, Value, ValueData,
    WriteOps,
};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The name of results that have none in the text.
pub(super) const UNUSED: &str = "unused";

/// Builds every kernel of a text.
pub(super) fn build(
    functions: &[Function<'_>],
    mut locations: Locations,
    launch: Launch,
    most: u64,
    errors: &mut Errors,
) -> Module {
    let mut by_name = BTreeMap::new();
    for (index, function) in functions.iter().enumerate() {
        if let Some(first) = by_name.insert(function.name, index) {
            let message = format!("the function `@{}` is defined twice", function.name);
            let mut error = Diagnostic::new(function.name_span, message);
            if let Some(first) = functions.get(first) {
                error = error.with_label(first.name_span, "first here");
            }
            errors.push(error);
        }
    }
    let mut flows = BTreeMap::new();
    let mut kernels = Vec::new();
    let mut size = 0;
    for (index, function) in functions.iter().enumerate() {
        if !function.public || function.blocks.is_empty() {
            continue;
        }
        let builder = Builder {
            functions,
            by_name: &by_name,
            flows: &mut flows,
            locations: &mut locations,
            call_sites: BTreeMap::new(),
            errors,
            values: IdVec::new(),
            ops: IdVec::new(),
            names: Names::default(),
            scope: Scope::default(),
            kernel: index,
            calls: Vec::new(),
            regions: 0,
            size: &mut size,
            most,
        };
        kernels.extend(builder.build_kernel(function));
    }
    if kernels.is_empty() && errors.is_empty() {
        let (span, message) = match functions.first() {
            Some(function) => (function.name_span, "no function here is a kernel"),
            None => (Span::default(), "the text has no function"),
        };
        errors.push(Diagnostic::new(span, message).with_hint("a kernel is a `tt.func public`"));
    }
    Module { kernels, locations, launch }
}

/// What a name of the text stands for.
struct Binding {
    /// The values; `None` where the definition could not be read, which has been reported.
    values: Option<Vec<Value>>,
    span: Span,
}

/// The names that can be mentioned.
#[derive(Default)]
pub(super) struct Scope<'a> {
    bindings: BTreeMap<&'a str, Binding>,
    /// In order of definition, so that a region's names can be forgotten.
    trail: Vec<&'a str>,
}

/// How a list of blocks ended: the values handed over, and the place of the operation that does.
pub(super) struct Ending {
    pub(super) values: Vec<Value>,
    pub(super) loc: Loc,
    pub(super) span: Span,
}

/// Builds one kernel. What cannot be built is reported, and gives `None`.
pub(super) struct Builder<'a, 'r> {
    pub(super) functions: &'r [Function<'a>],
    pub(super) by_name: &'r BTreeMap<&'a str, usize>,
    /// The control flow of each function that has been looked at; `None` if it is refused.
    flows: &'r mut BTreeMap<usize, Option<Rc<Flow>>>,
    locations: &'r mut Locations,
    call_sites: BTreeMap<(Loc, Loc), Loc>,
    pub(super) errors: &'r mut Errors,
    pub(super) values: IdVec<Value, ValueData>,
    pub(super) ops: IdVec<OpId, Op>,
    /// The names that values of the kernel have where control is now; those of an inlined function are
    /// made different from its caller's.
    pub(super) names: Names,
    pub(super) scope: Scope<'a>,
    /// The number of the kernel's function.
    pub(super) kernel: usize,
    pub(super) calls: Vec<Call>,
    /// How many regions control is in.
    regions: usize,
    /// How many operations and values of the text have been visited, inlined ones each time.
    size: &'r mut u64,
    /// The most that may be.
    most: u64,
}

impl<'a, 'r> Builder<'a, 'r> {
    fn build_kernel(mut self, function: &'r Function<'a>) -> Option<Kernel> {
        if !function.result_types.is_empty() {
            let message = format!("the kernel `@{}` returns values", function.name);
            let error = Diagnostic::new(function.name_span, message);
            self.errors.push(error.with_hint("kernels store what they compute"));
            return None;
        }
        let arguments = function.blocks.first().map_or(&[][..], |block| &block.params);
        let mut params = Vec::new();
        let mut body = Region::default();
        for (argument, said) in arguments.iter().zip(&function.arguments) {
            let &Argument { divisibility, pointer_range, ref descriptor } = said;
            if let Some(described) = descriptor {
                self.given(function, argument, described, (&mut params, &mut body));
                continue;
            }
            let name = argument.name.to_string();
            params.push(Param { name, divisibility, pointer_range });
            body.params.push(self.block_param(argument));
        }
        let ending = self.function_body(self.kernel, function, &mut body.ops)?;
        let Ending { values, loc, span } = ending;
        self.push(OpKind::Return, values, Vec::new(), loc, span, &mut body.ops);
        Some(Kernel {
            name: function.name.to_string(),
            params,
            values: self.values,
            ops: self.ops,
            body,
            loc: function.loc,
        })
    }

    /// A function's blocks; its parameters are bound.
    pub(super) fn function_body(
        &mut self,
        index: usize,
        function: &'r Function<'a>,
        out: &mut Vec<OpId>,
    ) -> Option<Ending> {
        if !self.flows.contains_key(&index) {
            let flow = Flow::of(function, self.errors).map(Rc::new);
            self.flows.insert(index, flow);
        }
        let flow = Rc::clone(self.flows.get(&index)?.as_ref()?);
        self.blocks(function, &flow, 0, None, out)
    }

    // Names and values.

    /// The type of a value.
    pub(super) fn ty(&self, value: Value) -> &Type {
        &self.values[value].ty
    }

    /// A new value under a name of its own.
    pub(super) fn unnamed(&mut self, ty: &Type) -> Value {
        self.named(UNUSED, ty)
    }

    fn new_value(&mut self, ty: Type, name: String) -> Value {
        self.values.push(ValueData::new(ty, Some(name)))
    }

    /// New values for the parameters of a block, bound to their names.
    pub(super) fn block_params(&mut self, params: &'r [BlockParam<'a>]) -> Vec<Value> {
        params.iter().map(|param| self.block_param(param)).collect()
    }

    fn block_param(&mut self, param: &'r BlockParam<'a>) -> Value {
        let value = self.named(param.name, &param.ty);
        self.bind(param.name, param.span, Some(vec![value]));
        value
    }

    /// A new value under a name, or one like it.
    pub(super) fn named(&mut self, name: &str, ty: &Type) -> Value {
        let name = self.names.unique(name);
        self.new_value(ty.clone(), name)
    }

    /// Lets a name of the text stand for values.
    pub(super) fn bind(&mut self, name: &'a str, span: Span, values: Option<Vec<Value>>) {
        if let Some(first) = self.scope.bindings.get(name) {
            let error = Diagnostic::new(span, format!("`%{name}` is defined twice"));
            self.errors.push(error.with_label(first.span, "first here"));
            return;
        }
        self.scope.bindings.insert(name, Binding { values, span });
        self.scope.trail.push(name);
    }

    fn bind_results(&mut self, results: &[ResultName<'a>], values: Option<&[Value]>) {
        let mut rest = values;
        for result in results {
            let (values, after) = match rest.map(|values| values.split_at_checked(result.count)) {
                Some(Some((values, after))) => (Some(values.to_vec()), Some(after)),
                _ => (None, None),
            };
            self.bind(result.name, result.span, values);
            rest = after;
        }
    }

    /// The value that a mention means, which must have a type.
    pub(super) fn operand(&mut self, mention: &Use<'a>, ty: &Type) -> Option<Value> {
        if self.errors.full() {
            return None;
        }
        let Use { name, index, span } = *mention;
        let Some(binding) = self.scope.bindings.get(name) else {
            let mut error = Diagnostic::new(span, format!("`%{name}` is not defined here"));
            if let Some(nearest) = self.nearest_name(name) {
                error = error.with_hint(format!("did you mean `%{nearest}`?"));
            }
            self.errors.push(error);
            return None;
        };
        let values = binding.values.as_ref()?;
        let Some(&value) =
            values.get(index.unwrap_or(0)).filter(|_| index.is_some() || values.len() == 1)
        else {
            let message = match index {
                Some(index) => format!("`%{name}` has {} values, none is #{index}", values.len()),
                None => format!("`%{name}` is {} values; write `%{name}#0`", values.len()),
            };
            let error = Diagnostic::new(span, message).with_label(binding.span, "defined here");
            self.errors.push(error);
            return None;
        };
        let found = &self.values[value].ty;
        if found != ty {
            let message = format!("`%{name}` is `{found}`, but `{ty}` is needed here");
            let error = Diagnostic::new(span, message).with_label(binding.span, "defined here");
            self.errors.push(error);
            return None;
        }
        Some(value)
    }

    fn nearest_name(&self, name: &str) -> Option<&'a str> {
        let near = |known: &&&str| name.len() > 2 && distance(name, known) <= 1;
        self.scope.bindings.keys().find(near).copied()
    }

    /// All operands; `None` if any could not be resolved, after looking at each.
    fn operands(&mut self, mentions: &[Use<'a>], types: &[Type]) -> Option<Vec<Value>> {
        let values: Vec<_> =
            mentions.iter().zip(types).map(|(mention, ty)| self.operand(mention, ty)).collect();
        values.into_iter().collect()
    }

    /// The operands handed over along a branch or back from a function.
    pub(super) fn handed(
        &mut self,
        mentions: &[Use<'a>],
        types: &[Type],
        wanted: &[Type],
        span: Span,
    ) -> Option<Vec<Value>> {
        if types != wanted {
            let message = format!("`{}` is handed over here, not `{}`", list(types), list(wanted));
            self.errors.push(Diagnostic::new(span, message));
            return None;
        }
        self.operands(mentions, types)
    }

    // Operations.

    /// Counts one operation; whether there may be more.
    pub(super) fn visit(&mut self, operation: &Operation<'a>) -> bool {
        let handed = operation.successors.iter().map(|successor| successor.operands.len());
        let values = operation.operands.len() + operation.result_types.len();
        let before = *self.size;
        *self.size += 1 + (values + handed.sum::<usize>()) as u64;
        let most = self.most;
        if before <= most && *self.size > most {
            let message = "the text is too large";
            let hint = format!(
                "at most {most} operations and values are read, those of inlined functions counted \
                 at each call; the limit `operations` raises it, {READ_PER_OPERATION} for each"
            );
            self.errors.push(Diagnostic::new(operation.span, message).with_hint(hint));
        }
        *self.size <= most && !self.errors.full()
    }

    /// The place of an operation: inside the calls that are being inlined.
    pub(super) fn place(&mut self, loc: Loc) -> Loc {
        let Some(call) = self.calls.last() else { return loc };
        let (locations, caller) = (&mut *self.locations, call.loc);
        *self
            .call_sites
            .entry((loc, caller))
            .or_insert_with(|| locations.push(Location::CallSite { callee: loc, caller }))
    }

    /// Appends an operation whose results exist.
    pub(super) fn push(
        &mut self,
        kind: OpKind,
        operands: Vec<Value>,
        results: Vec<Value>,
        loc: Loc,
        span: Span,
        out: &mut Vec<OpId>,
    ) -> OpId {
        let id = self.ops.push(Op {
            kind,
            operands,
            results,
            regions: Vec::new(),
            loc,
            span,
            spelled: false,
        });
        out.push(id);
        id
    }

    /// Gives an operation its next region.
    pub(super) fn set_region(&mut self, id: OpId, region: Region) {
        self.ops[id].regions.push(region);
    }

    /// Appends an operation without regions and with one result.
    pub(super) fn push_one(
        &mut self,
        kind: OpKind,
        operands: Vec<Value>,
        (name, ty): (&str, &Type),
        like: &Operation<'a>,
        out: &mut Vec<OpId>,
    ) -> Value {
        let value = self.named(name, ty);
        let loc = self.place(like.loc);
        self.push(kind, operands, vec![value], loc, like.span, out);
        value
    }

    /// New values for results of some types under one name.
    pub(super) fn new_results(&mut self, name: &str, types: &[Type]) -> Vec<Value> {
        let name = self.names.unique(name);
        match types {
            [ty] => vec![self.new_value(ty.clone(), name)],
            _ => {
                let numbered = types.iter().enumerate();
                numbered.map(|(i, ty)| self.new_value(ty.clone(), format!("{name}#{i}"))).collect()
            }
        }
    }

    /// New values for the results that an operation of the text names.
    pub(super) fn named_results(&mut self, operation: &Operation<'a>) -> Vec<Value> {
        let mut types = &operation.result_types[..];
        if operation.results.is_empty() && !types.is_empty() {
            return self.new_results(UNUSED, types);
        }
        let mut values = Vec::new();
        for result in &operation.results {
            let Some((these, rest)) = types.split_at_checked(result.count) else { break };
            values.extend(self.new_results(result.name, these));
            types = rest;
        }
        values
    }

    /// Runs `body` inside a region: what is named there is forgotten after.
    pub(super) fn in_region<T>(
        &mut self,
        span: Span,
        body: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        if self.regions == MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} regions inside one another are not read");
            self.errors.push(Diagnostic::new(span, message));
            return None;
        }
        let (scope, names) = (self.scope.trail.len(), self.names.mark());
        self.regions += 1;
        let result = body(self);
        self.regions -= 1;
        for name in self.scope.trail.drain(scope..) {
            self.scope.bindings.remove(name);
        }
        self.names.leave(names);
        result
    }

    /// One operation that is no terminator of a function's block.
    pub(super) fn operation(&mut self, operation: &'r Operation<'a>, out: &mut Vec<OpId>) {
        if !self.visit(operation) {
            return;
        }
        let mut values = self.build(operation, out);
        for (value, ty) in values.iter_mut().flatten().zip(&operation.result_types) {
            // What was written anew has no layout of its own on the way.
            if self.ty(*value) != ty && self.ty(*value).bare() == ty.bare() {
                *value = self.push_one(
                    OpKind::ConvertLayout,
                    vec![*value],
                    (UNUSED, ty),
                    operation,
                    out,
                );
            }
        }
        self.bind_results(&operation.results, values.as_deref());
    }

    /// Builds an operation and gives its results; none where it was refused.
    fn build(&mut self, operation: &'r Operation<'a>, out: &mut Vec<OpId>) -> Option<Vec<Value>> {
        let operands = match &operation.action {
            Action::Broken => return None,
            _ => self.operands(&operation.operands, &operation.operand_types)?,
        };
        match &operation.action {
            Action::Broken => None,
            Action::Do(kind) => self.plain(kind, operands, operation, out),
            Action::Assume => {
                if operation.operand_types != [Type::scalar(DType::I1)] {
                    let message = "only a truth value `i1` can be assumed";
                    self.errors.push(Diagnostic::new(operation.span, message));
                }
                Some(Vec::new())
            }
            Action::Ordered => Some(operands),
            Action::Cat => {
                let [x, y] = operands[..] else { return None };
                Rewriter { builder: self, operation, out }.concatenated(x, y).map(|x| vec![x])
            }
            Action::Clamp { propagate_nan } => {
                let bounds = <[Value; 3]>::try_from(operands).ok()?;
                let mut rewriter = Rewriter { builder: self, operation, out };
                Some(vec![rewriter.clamped(bounds, *propagate_nan)])
            }
            Action::External(symbol) => {
                let mut rewriter = Rewriter { builder: self, operation, out };
                rewriter.external(symbol, &operands).map(|result| vec![result])
            }
            Action::Fp4 { axis } => {
                let mut rewriter = Rewriter { builder: self, operation, out };
                rewriter.fp4_to_fp(operands[0], *axis).map(|numbers| vec![numbers])
            }
            Action::InlineAsm(asm) => {
                Rewriter { builder: self, operation, out }.inline_asm(asm, &operands)
            }
            Action::Map { pack } => self.map_elementwise(*pack, &operands, operation, out),
            Action::Call(name) => self.inline(name, operands, operation, out),
            Action::Branch | Action::CondBranch | Action::Return => {
                let message = "this stands only at the end of a function's block";
                self.errors.push(Diagnostic::new(operation.span, message));
                None
            }
        }
    }

    fn plain(
        &mut self,
        kind: &OpKind,
        operands: Vec<Value>,
        operation: &'r Operation<'a>,
        out: &mut Vec<OpId>,
    ) -> Option<Vec<Value>> {
        if let (OpKind::Unary(Unary::Abs), &[x]) = (kind, &operands[..])
            && matches!(self.ty(x).element, Element::Scalar(DType::F8E4M3FN | DType::F8E5M2))
        {
            return Some(vec![Rewriter { builder: self, operation, out }.magnitude_of_byte(x)]);
        }
        // Offsets are signed, as an integer that addresses elements is in LLVM.
        let mut operands = operands;
        if let (OpKind::AddPtr, [_, offset]) = (kind, &mut operands[..])
            && matches!(self.ty(*offset).element, Element::Scalar(DType::I8 | DType::I16))
        {
            let mut rewriter = Rewriter { builder: self, operation, out };
            *offset = rewriter.cast(Cast::ExtS, *offset, DType::I32);
        }
        let folds = matches!(kind, OpKind::Reduce { .. } | OpKind::Scan { .. });
        if let Some(block) = asserting(operation).filter(|_| folds) {
            return self.asserting_fold(kind, operands, (operation, block), out);
        }
        let results = self.named_results(operation);
        for &result in &results {
            self.promise(result, &operation.promises);
        }
        let loc = self.place(operation.loc);
        let id = self.push(kind.clone(), operands, results.clone(), loc, operation.span, out);
        self.ops[id].spelled = true;
        if folds {
            let region = self.folding_region(operation)?;
            self.set_region(id, region);
            return Some(results);
        }
        for block in &operation.regions {
            let region = self.in_region(block.label_span, |builder| {
                Some(builder.promised_region(block, &operation.param_promises))
            })?;
            self.set_region(id, region);
        }
        Some(results)
    }

    fn promise(&mut self, value: Value, promises: &Promises) {
        self.values[value].promises = promises.of(&self.values[value].ty);
    }

    pub(super) fn region(&mut self, block: &'r Block<'a>) -> Region {
        self.promised_region(block, &[])
    }

    fn promised_region(&mut self, block: &'r Block<'a>, promises: &[(usize, Promises)]) -> Region {
        let mut region = Region { params: self.block_params(&block.params), ops: Vec::new() };
        for (param, promises) in promises {
            if let Some(&param) = region.params.get(*param) {
                self.promise(param, promises);
            }
        }
        for operation in &block.operations {
            self.operation(operation, &mut region.ops);
        }
        region
    }
}

/// Types as they print, with commas between them.
pub(super) fn list(types: &[Type]) -> String {
    types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
