//! Calls become the operations of the function that is called.

use super::MAX_DEPTH;
use super::build::{Builder, list};
use super::syntax::{Function, Operation};
use crate::diagnostic::Diagnostic;
use crate::location::Loc;
use crate::tile::{OpId, Type, Value};

/// A call that is being inlined.
pub(super) struct Call {
    /// The number of the function that is called.
    pub(super) callee: usize,
    /// Where it is called.
    pub(super) loc: Loc,
}

impl<'a, 'r> Builder<'a, 'r> {
    /// Builds the operations of the function that a call names, in its place; the call's results.
    pub(super) fn inline(
        &mut self,
        name: &str,
        arguments: Vec<Value>,
        operation: &'r Operation<'a>,
        out: &mut Vec<OpId>,
    ) -> Option<Vec<Value>> {
        let function = self
            .by_name
            .get(name)
            .and_then(|&index| self.functions.get(index).map(|function| (index, function)));
        let Some((index, function)) = function.filter(|(_, function)| !function.blocks.is_empty())
        else {
            let message = format!("the function `@{name}` is not in this text");
            self.errors.push(Diagnostic::new(operation.span, message));
            return None;
        };
        self.check_call(index, function, operation)?;
        let scope = core::mem::take(&mut self.scope);
        let loc = self.place(operation.loc);
        self.calls.push(Call { callee: index, loc });
        let params = function.blocks.first().map_or(&[][..], |block| &block.params);
        for (param, value) in params.iter().zip(arguments) {
            self.bind(param.name, param.span, Some(vec![value]));
        }
        let ending = self.function_body(index, function, out);
        self.calls.pop();
        self.scope = scope;
        ending.map(|ending| ending.values)
    }

    /// A call's types are the function's, and no function calls itself.
    fn check_call(
        &mut self,
        index: usize,
        function: &'r Function<'a>,
        operation: &Operation<'a>,
    ) -> Option<()> {
        let name = function.name;
        let error = |message: String| {
            Diagnostic::new(operation.span, message).with_label(function.name_span, "the function")
        };
        let mut open =
            core::iter::once(self.kernel).chain(self.calls.iter().map(|call| call.callee));
        if open.any(|callee| callee == index) {
            let through: Vec<_> = open
                .take(8)
                .filter_map(|callee| self.functions.get(callee))
                .map(|function| format!(" `@{}`", function.name))
                .collect();
            let path = if through.is_empty() {
                String::new()
            } else {
                format!(" through{}", through.join(","))
            };
            let message = format!("the function `@{name}` calls itself{path}");
            self.errors.push(error(message).with_hint("calls are inlined; write a loop"));
            return None;
        }
        if self.calls.len() == MAX_DEPTH {
            self.errors.push(error(format!("more than {MAX_DEPTH} calls inside one another")));
            return None;
        }
        let params = function.blocks.first().map_or(&[][..], |block| &block.params);
        let takes: Vec<Type> = params.iter().map(|param| param.ty.clone()).collect();
        if takes != operation.operand_types || function.result_types != operation.result_types {
            let gives = list(&function.result_types);
            self.errors
                .push(error(format!("`@{name}` takes ({}) and gives ({gives})", list(&takes))));
            return None;
        }
        Some(())
    }
}
