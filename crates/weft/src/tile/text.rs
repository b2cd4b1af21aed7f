//! The tile program's text: Triton's own spelling, without locations.
//!
//! `ttir::parse` reads it back to the same program. Values print under the names that they have;
//! where a name is missing, or would hide another, a new one is made. Operations that Triton does not
//! have print under names of the dialect `weft`.

mod descriptor;
mod elementwise;
mod formed;

use super::aliases::Aliases;
use super::names::Names;
use super::spelling;
use super::{
    Element, InlineAsm, Kernel, LoopHints, Module, Op, OpId, OpKind, Param, Precision, Promise,
    Region, ScaledDot, ScaledFactor, ScaledOperands, Type, Value,
};
use crate::cache::Cache;
use crate::dtype::DType;
use crate::id::IdMap;
use crate::scalar;
use core::fmt::{self, Write};

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Module { kernels, locations: _, launch } = self;
        let aliases = Aliases::of(kernels);
        aliases.define(f)?;
        f.write_str("module")?;
        if !launch.is_empty() {
            write!(f, " attributes {launch}")?;
        }
        f.write_str(" {\n")?;
        for kernel in kernels {
            f.write_str(&aliases.shorten(Inside(kernel).to_string()))?;
        }
        f.write_str("}\n")
    }
}

/// A kernel inside a module.
struct Inside<'a>(&'a Kernel);

impl fmt::Display for Inside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printer::new(self.0, f).kernel(1)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printer::new(self, f).kernel(0)
    }
}

/// What owns a region, which decides how its last operation is spelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// A region of a `for` or `if`: a `yield` of nothing is left out.
    Brief,
    While,
    Reduce,
    Scan,
    Kernel,
}

struct Printer<'a, 'f, 'g> {
    kernel: &'a Kernel,
    f: &'f mut fmt::Formatter<'g>,
    /// The name of each value that has been defined.
    names: IdMap<Value, String>,
    /// The names that can be seen here.
    scope: Names,
}

impl<'a, 'f, 'g> Printer<'a, 'f, 'g> {
    fn new(kernel: &'a Kernel, f: &'f mut fmt::Formatter<'g>) -> Self {
        Self { kernel, f, names: IdMap::default(), scope: Names::default() }
    }

    fn kernel(&mut self, depth: usize) -> fmt::Result {
        // Every field is printed or named here, so that a new one cannot be forgotten.
        let Kernel { name, params, values: _, ops: _, body, loc: _ } = self.kernel;
        self.indent(depth)?;
        f_symbol(self.f, "tt.func public ", name)?;
        self.f.write_char('(')?;
        for (index, (param, &value)) in params.iter().zip(&body.params).enumerate() {
            self.define(value);
            let comma = if index > 0 { ", " } else { "" };
            write!(self.f, "{comma}%{}: {}", self.names[value], self.kernel.ty(value))?;
            let Param { name: _, divisibility, pointer_range } = param;
            match (divisibility, pointer_range) {
                (1, 0) => {}
                (_, 0) => write!(self.f, " {{tt.divisibility = {divisibility} : i32}}")?,
                (1, _) => write!(self.f, " {{tt.pointer_range = {pointer_range} : i32}}")?,
                _ => write!(
                    self.f,
                    " {{tt.divisibility = {divisibility} : i32, tt.pointer_range = {pointer_range} : i32}}"
                )?,
            }
        }
        self.f.write_str(") attributes {noinline = false} {\n")?;
        self.ops(body, Owner::Kernel, depth + 1)?;
        self.indent(depth)?;
        self.f.write_str("}\n")
    }

    fn indent(&mut self, depth: usize) -> fmt::Result {
        (0..depth).try_for_each(|_| self.f.write_str("  "))
    }

    // Names.

    fn define(&mut self, value: Value) {
        let mut wanted = self.wanted(value);
        if wanted.contains('#') {
            // In MLIR a name that begins with a digit is all digits.
            let letter = if wanted.starts_with(|c: char| c.is_ascii_digit()) { "v" } else { "" };
            wanted = format!("{letter}{}", wanted.replace('#', "_"));
        }
        let name = self.scope.unique(&wanted);
        self.names.set(value, name);
    }

    /// The name that a value has, or its number.
    fn wanted(&self, value: Value) -> String {
        match &self.kernel.values[value].name {
            Some(name) => name.clone(),
            None => value.to_string().trim_start_matches('%').to_string(),
        }
    }

    /// Names the results, and prints `%a, %b:2 = `.
    fn results(&mut self, results: &[Value]) -> fmt::Result {
        let mut rest = results;
        let mut comma = "";
        while let Some((&first, after)) = rest.split_first() {
            let wanted = self.wanted(first);
            let base = wanted.strip_suffix("#0");
            // Results `x#0`, `x#1`, … are one group.
            let group = base.map_or(0, |base| {
                let numbered = rest.iter().enumerate();
                numbered
                    .take_while(|(i, value)| self.wanted(**value) == format!("{base}#{i}"))
                    .count()
            });
            match (base, rest.split_at_checked(group)) {
                (Some(base), Some((members, others))) if group > 1 => {
                    let name = self.scope.unique(base);
                    write!(self.f, "{comma}%{name}:{group}")?;
                    for (i, &member) in members.iter().enumerate() {
                        self.names.set(member, format!("{name}#{i}"));
                    }
                    rest = others;
                }
                _ => {
                    self.define(first);
                    write!(self.f, "{comma}%{}", self.names[first])?;
                    rest = after;
                }
            }
            comma = ", ";
        }
        if results.is_empty() { Ok(()) } else { self.f.write_str(" = ") }
    }

    // Operations.

    fn ops(&mut self, region: &'a Region, owner: Owner, depth: usize) -> fmt::Result {
        for &id in &region.ops {
            self.op(id, owner, depth)?;
        }
        Ok(())
    }

    /// What stands between the braces of a region; its parameters have names.
    fn region(&mut self, region: &'a Region, owner: Owner, depth: usize) -> fmt::Result {
        self.f.write_str("{\n")?;
        self.ops(region, owner, depth + 1)?;
        self.indent(depth)?;
        self.f.write_char('}')
    }

    fn op(&mut self, id: OpId, owner: Owner, depth: usize) -> fmt::Result {
        let op = &self.kernel.ops[id];
        let Op { kind, operands, results, regions: _, loc: _, span: _, spelled: _ } = op;
        if *kind == OpKind::Yield && operands.is_empty() && owner == Owner::Brief {
            return Ok(());
        }
        self.indent(depth)?;
        self.results(results)?;
        match kind {
            OpKind::Reduce { axis, contract } => {
                let contract = if *contract { ", contract = true" } else { "" };
                let attributes = format!("axis = {axis} : i32{contract}");
                self.folding("tt.reduce", &attributes, Owner::Reduce, op, depth)?;
            }
            OpKind::Scan { axis, reverse } => {
                let attributes = format!("axis = {axis} : i32, reverse = {reverse}");
                self.folding("tt.scan", &attributes, Owner::Scan, op, depth)?;
            }
            OpKind::For(hints) => self.for_(op, *hints, depth)?,
            OpKind::While => self.while_(op, depth)?,
            OpKind::If => self.if_(op, depth)?,
            _ => self.simple(op, owner)?,
        }
        self.f.write_char('\n')
    }

    fn operands(&mut self, operands: &[Value]) -> fmt::Result {
        for (index, &operand) in operands.iter().enumerate() {
            write!(self.f, "{}%{}", if index > 0 { ", " } else { "" }, self.names[operand])?;
        }
        Ok(())
    }

    fn types(&mut self, values: &[Value]) -> fmt::Result {
        for (index, &value) in values.iter().enumerate() {
            write!(self.f, "{}{}", if index > 0 { ", " } else { "" }, self.kernel.ty(value))?;
        }
        Ok(())
    }

    /// Writes an operation and its operands, `NAME %a, %b`.
    fn call(&mut self, name: &str, operands: &[Value]) -> fmt::Result {
        self.f.write_str(name)?;
        if !operands.is_empty() {
            self.f.write_char(' ')?;
        }
        self.operands(operands)
    }

    /// ` : (T, U) -> V`
    fn function_type(&mut self, operands: &[Value], results: &[Value]) -> fmt::Result {
        self.f.write_str(" : (")?;
        self.types(operands)?;
        self.f.write_str(") -> ")?;
        let single = results.len() == 1;
        self.f.write_str(if single { "" } else { "(" })?;
        self.types(results)?;
        self.f.write_str(if single { "" } else { ")" })
    }

    /// The type of the operand or result at `index`; operations that do not verify have no types.
    fn ty(&self, values: &[Value], index: usize) -> Type {
        let value = values.get(index).and_then(|&value| self.kernel.values.get(value));
        value.map_or_else(|| Type::scalar(DType::I1), |value| value.ty.clone())
    }

    /// An operation without regions.
    fn simple(&mut self, op: &Op, owner: Owner) -> fmt::Result {
        let Op { kind, operands, results, .. } = op;
        let (first, result) = (self.ty(operands, 0), self.ty(results, 0));
        match kind {
            OpKind::Constant(bits) => self.constant(*bits, &result),
            OpKind::Poison => write!(self.f, "ub.poison : {result}"),
            OpKind::MakeRange { start, end } => {
                let bounds = format!(" {{end = {end} : i32, start = {start} : i32}}");
                write!(self.f, "tt.make_range{} : {result}", self.promised(&bounds, results))
            }
            OpKind::ProgramId(axis) => {
                let axis = format!(" {}", axis_name(*axis));
                write!(self.f, "tt.get_program_id{} : {result}", self.promised(&axis, results))
            }
            OpKind::NumPrograms(axis) => {
                write!(self.f, "tt.get_num_programs {} : {result}", axis_name(*axis))
            }
            OpKind::Splat => self.converted("tt.splat", op, ""),
            OpKind::Unsplat => {
                self.call("tt.unsplat", operands)?;
                write!(self.f, " : {first}")
            }
            OpKind::ExpandDims { axis } => {
                self.converted("tt.expand_dims", op, &format!(" {{axis = {axis} : i32}}"))
            }
            OpKind::Broadcast => self.converted("tt.broadcast", op, ""),
            OpKind::Reshape { allow_reorder } => {
                self.converted("tt.reshape", op, if *allow_reorder { " allow_reorder" } else { "" })
            }
            OpKind::Trans { order } => {
                let order: Vec<_> = order.iter().map(ToString::to_string).collect();
                let order = order.join(", ");
                self.converted("tt.trans", op, &format!(" {{order = array<i32: {order}>}}"))
            }
            OpKind::ConvertLayout => self.converted("ttg.convert_layout", op, ""),
            OpKind::Join => self.converted("tt.join", op, ""),
            OpKind::Split => self.converted("tt.split", op, ""),
            OpKind::Histogram => self.converted("tt.histogram", op, ""),
            OpKind::Gather { axis } => {
                let (source, indices) = operands.split_at(operands.len().min(1));
                self.call("tt.gather", source)?;
                self.f.write_char('[')?;
                self.operands(indices)?;
                write!(self.f, "] {{axis = {axis} : i32}}")?;
                self.function_type(operands, results)
            }
            OpKind::Unary(_)
            | OpKind::Binary(_)
            | OpKind::Compare(_)
            | OpKind::Select
            | OpKind::Cast(_)
            | OpKind::Fma
            | OpKind::Directed(..)
            | OpKind::Function(_)
            | OpKind::AddPtr => self.elementwise(op),
            OpKind::Load(options) => {
                self.call("tt.load", operands)?;
                let cache = cache_policy(options.cache);
                let volatile = options.volatile.then(|| "isVolatile = true".to_string());
                let attributes: Vec<_> = cache.into_iter().chain(volatile).collect();
                let attributes = if attributes.is_empty() {
                    String::new()
                } else {
                    format!(" {{{}}}", attributes.join(", "))
                };
                write!(self.f, "{} : {first}", self.promised(&attributes, results))
            }
            OpKind::Store(cache) => {
                self.call("tt.store", operands)?;
                if let Some(policy) = cache_policy(*cache) {
                    write!(self.f, " {{{policy}}}")?;
                }
                write!(self.f, " : {first}")
            }
            OpKind::Atomic { op, order, scope } => {
                let name = spelling::atomic(*op).name;
                let op = op.rmw().map_or_else(String::new, |op| format!(" {op},"));
                self.call(&format!("{name}{op} {order}, {scope},"), operands)?;
                self.function_type(operands, results)
            }
            OpKind::Print { prefix, hex, signed } => self.print(prefix, *hex, signed, operands),
            OpKind::Assert { message } => {
                self.call("tt.assert", operands)?;
                write!(self.f, ", \"{}\" : {first}", quoted(message))
            }
            OpKind::InlineAsm(asm) => self.assembly(asm, op),
            OpKind::Descriptor(what) => self.descriptor(*what, op),
            OpKind::Dot(precision) => {
                self.call("tt.dot", operands)?;
                if *precision != Precision::Ieee {
                    write!(self.f, ", inputPrecision = {precision}")?;
                }
                write!(self.f, " : {first} * {} -> {result}", self.ty(operands, 1))
            }
            OpKind::DotScaled(scaled) => self.scaled(*scaled, op),
            OpKind::WarpgroupDot(precision) => {
                self.call("ttng.warp_group_dot", operands)?;
                write!(self.f, " {{inputPrecision = {} : i32}}", precision.number())?;
                write!(self.f, " : {first} * {} -> {result}", self.ty(operands, 1))
            }
            OpKind::Local(_) | OpKind::AsyncCopy(_) => self.formed(op),
            OpKind::Transfer(what) => self.transfer(*what, op),
            OpKind::Barrier => self.f.write_str("ttg.barrier all"),
            OpKind::GridWait => self.f.write_str("tt.grid_dependency_wait"),
            OpKind::GridLaunch => self.f.write_str("tt.grid_dependency_launch_dependents"),
            OpKind::Condition => {
                let (condition, values) = operands.split_at(operands.len().min(1));
                self.f.write_str("scf.condition(")?;
                self.operands(condition)?;
                self.f.write_char(')')?;
                self.handed("", values)
            }
            OpKind::Yield => {
                let name = match owner {
                    Owner::Reduce => "tt.reduce.return",
                    Owner::Scan => "tt.scan.return",
                    Owner::Brief | Owner::While | Owner::Kernel => "scf.yield",
                };
                self.handed(name, operands)
            }
            OpKind::Return => self.handed("tt.return", operands),
            // Printed by `op`.
            OpKind::Reduce { .. }
            | OpKind::Scan { .. }
            | OpKind::For(_)
            | OpKind::While
            | OpKind::If => Ok(()),
        }
    }

    fn print(
        &mut self,
        prefix: &str,
        hex: bool,
        signed: &[bool],
        operands: &[Value],
    ) -> fmt::Result {
        let signed: Vec<_> = signed.iter().map(|&x| u8::from(x).to_string()).collect();
        let list = if signed.is_empty() { "" } else { ": " };
        write!(self.f, "tt.print \"{}\" {{hex = {hex}, isSigned = ", quoted(prefix))?;
        write!(self.f, "array<i32{list}{}>}}", signed.join(", "))?;
        if operands.is_empty() {
            return Ok(());
        }
        self.f.write_str(" : ")?;
        self.operands(operands)?;
        self.f.write_str(" : ")?;
        self.types(operands)
    }

    /// `%a scale %s, %b scale %t, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : A, S * B, T -> C`
    fn scaled(&mut self, scaled: ScaledDot, op: &Op) -> fmt::Result {
        self.f.write_str("tt.dot_scaled ")?;
        let Some(ScaledOperands { factors, scales, sum }) = scaled.operands(&op.operands) else {
            return self.operands(&op.operands);
        };
        for (factor, scale) in factors.into_iter().zip(scales) {
            self.operands(&[factor])?;
            if let Some(scale) = scale {
                self.f.write_str(" scale ")?;
                self.operands(&[scale])?;
            }
            self.f.write_str(", ")?;
        }
        self.operands(&[sum])?;
        let (mut turned, mut types) = (String::new(), Vec::new());
        for (side, name) in ["lhs", "rhs"].into_iter().enumerate() {
            let ty = self.kernel.ty(factors[side]).clone();
            let format = match (scaled.factors[side], ty.dtype()) {
                (ScaledFactor::Pairs { along_summed }, _) => {
                    if !along_summed {
                        turned.push_str(&format!(", {name}_k_pack = false"));
                    }
                    "e2m1"
                }
                (ScaledFactor::Floats, DType::F16) => "fp16",
                (ScaledFactor::Floats, DType::BF16) => "bf16",
                (ScaledFactor::Floats, DType::F8E5M2 | DType::F8E5M2FNUZ) => "e5m2",
                (ScaledFactor::Floats, _) => "e4m3",
            };
            write!(self.f, " {name} = {format}")?;
            let scale = scales[side].map(|scale| format!(", {}", self.kernel.ty(scale)));
            types.push(format!("{ty}{}", scale.unwrap_or_default()));
        }
        let result = self.ty(&op.results, 0);
        write!(self.f, " {{fastMath = {}{turned}}}", scaled.fast)?;
        write!(self.f, " : {} -> {result}", types.join(" * "))
    }

    fn assembly(&mut self, asm: &InlineAsm, op: &Op) -> fmt::Result {
        let Op { operands, results, .. } = op;
        let InlineAsm { text, constraints, pure, reason: _ } = asm;
        write!(self.f, "tt.elementwise_inline_asm \"{}\" ", quoted(text))?;
        write!(self.f, "{{constraints = \"{}\", ", quoted(constraints))?;
        write!(self.f, "packed_element = 1 : i32, pure = {pure}}}")?;
        if !operands.is_empty() {
            self.f.write_char(' ')?;
            self.operands(operands)?;
            self.f.write_str(" : ")?;
            self.types(operands)?;
        }
        self.f.write_str(" -> ")?;
        self.types(results)
    }

    /// `NAME %x ATTRIBUTES : A -> B`
    fn converted(&mut self, name: &str, op: &Op, attributes: &str) -> fmt::Result {
        self.call(name, &op.operands)?;
        let (from, to) = (self.ty(&op.operands, 0), self.ty(&op.results, 0));
        let attributes = self.promised(attributes, &op.results);
        write!(self.f, "{attributes} : {from} -> {to}")
    }

    /// What stands in front of an operation's types: its attributes, if any, with the promises about its result
    /// among them.
    fn promised(&self, attributes: &str, results: &[Value]) -> String {
        let promises = results.first().map_or_else(Vec::new, |&result| self.promises(result, ""));
        if promises.is_empty() {
            return attributes.to_string();
        }
        let promises = promises.join(", ");
        match attributes.strip_suffix('}') {
            Some(others) => format!("{others}, {promises}}}"),
            None => format!("{attributes} {{{promises}}}"),
        }
    }

    /// What is promised of a value, as attributes whose names end in this way.
    fn promises(&self, value: Value, ending: &str) -> Vec<String> {
        let promises = self.kernel.values.get(value).map_or(&[][..], |value| &value.promises);
        let kinds = ["contiguity", "divisibility", "constancy"].into_iter().enumerate();
        kinds
            .filter_map(|(kind, name)| {
                let of = |promise: &Promise| {
                    [promise.contiguity, promise.divisibility, promise.constancy][kind]
                };
                let numbers: Vec<_> = promises.iter().map(of).collect();
                numbers.iter().any(|&number| number != 1).then(|| {
                    let count = numbers.len();
                    format!("tt.{name}{ending} = dense<{numbers:?}> : tensor<{count}xi32>")
                })
            })
            .collect()
    }

    /// `NAME %a, %b : T, U`, or the name alone.
    fn handed(&mut self, name: &str, values: &[Value]) -> fmt::Result {
        self.call(name, values)?;
        if !values.is_empty() {
            self.f.write_str(" : ")?;
            self.types(values)?;
        }
        Ok(())
    }

    fn constant(&mut self, bits: u64, ty: &Type) -> fmt::Result {
        let number = match ty.dtype() {
            DType::I1 => (bits & 1 == 1).to_string(),
            dtype if dtype.is_int() => scalar::sign_extend(dtype, bits).to_string(),
            dtype => float(dtype, bits),
        };
        match ty {
            ty if ty.is_tensor() => write!(self.f, "arith.constant dense<{number}> : {ty}"),
            ty if ty.element == Element::Scalar(DType::I1) => {
                write!(self.f, "arith.constant {number}")
            }
            ty => write!(self.f, "arith.constant {number} : {ty}"),
        }
    }

    // Operations with regions. Results have names already; parameters get theirs here.

    fn folding(
        &mut self,
        name: &str,
        attributes: &str,
        owner: Owner,
        op: &'a Op,
        depth: usize,
    ) -> fmt::Result {
        write!(self.f, "\"{name}\"(")?;
        self.operands(&op.operands)?;
        write!(self.f, ") <{{{attributes}}}> (")?;
        let mark = self.scope.mark();
        for region in &op.regions {
            self.labelled(region, owner, depth)?;
        }
        self.scope.leave(mark);
        self.f.write_char(')')?;
        self.function_type(&op.operands, &op.results)
    }

    /// A region whose parameters stand in a label.
    fn labelled(&mut self, region: &'a Region, owner: Owner, depth: usize) -> fmt::Result {
        if region.params.is_empty() {
            return self.region(region, owner, depth);
        }
        self.f.write_str("{\n")?;
        self.indent(depth)?;
        self.f.write_str("^bb0(")?;
        for (index, &param) in region.params.iter().enumerate() {
            self.define(param);
            let comma = if index > 0 { ", " } else { "" };
            write!(self.f, "{comma}%{}: {}", self.names[param], self.kernel.ty(param))?;
        }
        self.f.write_str("):\n")?;
        self.ops(region, owner, depth + 1)?;
        self.indent(depth)?;
        self.f.write_char('}')
    }

    /// `(%a = %x, …)`
    fn bindings(&mut self, params: &[Value], initial: &[Value]) -> fmt::Result {
        self.f.write_char('(')?;
        for (index, (&param, &value)) in params.iter().zip(initial).enumerate() {
            self.define(param);
            let comma = if index > 0 { ", " } else { "" };
            write!(self.f, "{comma}%{} = %{}", self.names[param], self.names[value])?;
        }
        self.f.write_char(')')
    }

    fn for_(&mut self, op: &'a Op, hints: LoopHints, depth: usize) -> fmt::Result {
        let (Some(body), [low, high, step, initial @ ..]) = (op.regions.first(), &op.operands[..])
        else {
            return self.f.write_str("scf.for");
        };
        let mark = self.scope.mark();
        let (counter, carried) = body.params.split_at(body.params.len().min(1));
        self.f.write_str("scf.for ")?;
        for &counter in counter {
            self.define(counter);
            write!(self.f, "%{}", self.names[counter])?;
        }
        let [low_name, high_name, step_name] = [low, high, step].map(|&v| self.names[v].clone());
        write!(self.f, " = %{low_name} to %{high_name} step %{step_name} ")?;
        if !initial.is_empty() {
            self.f.write_str("iter_args")?;
            self.bindings(carried, initial)?;
            self.f.write_str(" -> (")?;
            self.types(&op.results)?;
            self.f.write_str(") ")?;
        }
        write!(self.f, " : {} ", self.kernel.ty(*low))?;
        self.region(body, Owner::Brief, depth)?;
        self.scope.leave(mark);
        let mut attributes = Vec::new();
        attributes.extend(hints.flatten.then(|| "tt.flatten".to_string()));
        attributes.extend(hints.stages.map(|stages| format!("tt.num_stages = {stages} : i32")));
        for (index, &param) in body.params.iter().enumerate() {
            attributes.extend(self.promises(param, &format!("_arg{index}")));
        }
        if !attributes.is_empty() {
            write!(self.f, " {{{}}}", attributes.join(", "))?;
        }
        Ok(())
    }

    fn while_(&mut self, op: &'a Op, depth: usize) -> fmt::Result {
        let [before, after] = &op.regions[..] else { return self.f.write_str("scf.while") };
        let mark = self.scope.mark();
        self.f.write_str("scf.while")?;
        if !op.operands.is_empty() {
            self.f.write_char(' ')?;
            self.bindings(&before.params, &op.operands)?;
        }
        self.f.write_str(" : (")?;
        self.types(&op.operands)?;
        self.f.write_str(") -> (")?;
        self.types(&op.results)?;
        self.f.write_str(") ")?;
        self.region(before, Owner::While, depth)?;
        self.scope.leave(mark);
        self.f.write_str(" do ")?;
        self.labelled(after, Owner::While, depth)?;
        self.scope.leave(mark);
        Ok(())
    }

    fn if_(&mut self, op: &'a Op, depth: usize) -> fmt::Result {
        let [then, otherwise] = &op.regions[..] else { return self.f.write_str("scf.if") };
        let mark = self.scope.mark();
        self.call("scf.if", &op.operands)?;
        self.f.write_char(' ')?;
        if !op.results.is_empty() {
            self.f.write_str("-> (")?;
            self.types(&op.results)?;
            self.f.write_str(") ")?;
        }
        self.region(then, Owner::Brief, depth)?;
        self.scope.leave(mark);
        if !op.results.is_empty() || otherwise.ops.len() > 1 {
            self.f.write_str(" else ")?;
            self.region(otherwise, Owner::Brief, depth)?;
            self.scope.leave(mark);
        }
        Ok(())
    }
}

/// `@name`, in quotes where it has unusual letters.
fn f_symbol(f: &mut fmt::Formatter<'_>, before: &str, name: &str) -> fmt::Result {
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
    let plain = name.bytes().all(usual)
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let quote = if plain { "" } else { "\"" };
    write!(f, "{before}@{quote}{name}{quote}")
}

fn axis_name(axis: u8) -> &'static str {
    match axis {
        0 => "x",
        1 => "y",
        _ => "z",
    }
}

/// 3.9's attribute, where there is something to say.
fn cache_policy(cache: Cache) -> Option<String> {
    if cache == Cache::default() {
        return None;
    }
    let modifier = spelling::name_of(spelling::CACHE_MODIFIERS, &cache.modifier)?;
    let eviction = spelling::name_of(spelling::EVICTIONS, &cache.eviction)?;
    Some(format!(
        "cachePolicy = #tt.cache_policy<cache_modifier = {modifier}, eviction_policy = {eviction}>"
    ))
}

/// A float as MLIR writes it: six digits where they are exact, else all, else the bits.
fn float(dtype: DType, bits: u64) -> String {
    let value = scalar::to_f64(dtype, bits);
    let back = |text: &str| text.parse().ok().map(|value| scalar::from_f64(dtype, value));
    for digits in [6, 16] {
        let text = format!("{value:.digits$e}");
        if value.is_finite() && back(&text) == Some(bits) {
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            return format!("{mantissa}e{sign}{exponent:0>2}");
        }
    }
    let width = 2 + dtype.bits() as usize / 4;
    format!("{bits:#0width$X}")
}

/// A text between the quotes of Triton IR.
fn quoted(text: &str) -> String {
    crate::format::quoted(text, |byte| format!("\\{byte:02X}"))
}
