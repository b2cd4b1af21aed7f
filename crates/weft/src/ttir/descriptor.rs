//! Tensor descriptors: their type, and the operations on them.

use super::attribute::Attribute;
use super::lexer::TokenKind;
use super::parser::Parser;
use super::syntax::{Action, Operation, Parse};
use super::table::{Details, Special};
use super::types::DescribedBlock;
use crate::atomic::Rmw;
use crate::diagnostic::{Diagnostic, Span};
use crate::dtype::DType;
use crate::tile::{DescriptorOp, Element, MAX_DESCRIPTOR_RANK, OpKind, Type};

impl<'a> Parser<'a> {
    /// The operations on descriptors.
    pub(super) fn descriptor(
        &mut self,
        special: Special,
        mut details: Details<'a>,
        start: Span,
    ) -> Parse<Operation<'a>> {
        let mut operation = Operation::new(Action::Broken, start);
        let op = match special {
            Special::MakeDescriptor | Special::GivenDescriptor => {
                self.make_descriptor(special, &mut details, &mut operation)?
            }
            _ => self.use_descriptor(special, &mut details, &mut operation)?,
        };
        details.attributes.finish(details.name)?;
        operation.action = Action::Do(OpKind::Descriptor(op));
        operation.span = self.since(start);
        super::forms::check_types(details.name, &operation, operation.span)?;
        Ok(operation)
    }

    /// `%p, [%m, %n], [%s, %t] {padding = 1 : i32} : <f32>, <32x32xf32>`; 3.6 writes the block as
    /// `<tensor<32x32xf32>>`. What a kernel was given has two more lists instead of the attribute.
    fn make_descriptor(
        &mut self,
        special: Special,
        details: &mut Details<'a>,
        operation: &mut Operation<'a>,
    ) -> Parse<DescriptorOp> {
        let is_given = special == Special::GivenDescriptor;
        operation.operands.push(self.value()?);
        let mut counts = [0; 3];
        for count in counts.iter_mut().take(if is_given { 3 } else { 2 }) {
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
        let [extents, strides, flags] = counts;
        if [extents, strides] != [rank; 2] || rank > MAX_DESCRIPTOR_RANK {
            let message = format!(
                "a descriptor of blocks with {rank} dimensions has as many extents and strides, not \
                 {extents} and {strides}, and at most {MAX_DESCRIPTOR_RANK}"
            );
            return Err(Diagnostic::new(details.span, message));
        }
        let extent = if is_given { DType::I64 } else { DType::I32 };
        operation.operand_types.push(Type::pointer(pointee));
        operation.operand_types.extend(vec![Type::scalar(extent); rank]);
        operation.operand_types.extend(vec![Type::scalar(DType::I64); rank]);
        operation.operand_types.extend(vec![Type::scalar(DType::I1); flags]);
        operation.result_types.push(Type::descriptor(&block));
        Ok(if is_given { DescriptorOp::Given } else { DescriptorOp::Make { nan } })
    }

    /// `%d[%i, %j] : D -> T`; with a value, `%d[%i, %j], %v : D, T`; of rows,
    /// `%d[%rows, %j] : (D, I, i32) -> T` and `%d[%rows, %j], %v : D, I, i32, T`.
    fn use_descriptor(
        &mut self,
        special: Special,
        details: &mut Details<'a>,
        operation: &mut Operation<'a>,
    ) -> Parse<DescriptorOp> {
        let mut rmw = Rmw::Add;
        if special == Special::DescriptorReduce {
            let (word, span) = self.take(TokenKind::Word, "what is done, such as `add`")?;
            rmw = Rmw::by_name(word).ok_or_else(|| {
                Diagnostic::new(span, format!("`{word}` is no reduction that is supported"))
            })?;
            self.expect(b',')?;
        }
        operation.operands.push(self.value()?);
        self.expect(b'[')?;
        operation.operands.extend(self.list(b']', Self::value)?);
        let indices = operation.operands.len() - 1;
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
        let by_rows = matches!(special, Special::DescriptorGather | Special::DescriptorScatter);
        let round = self.eat(b'(');
        let DescribedBlock { ty: block, unsigned } = self.described_block()?;
        if unsigned {
            rmw = rmw.unsigned();
        }
        operation.operand_types.push(Type::descriptor(&block));
        if by_rows {
            for _ in 0..indices {
                self.expect(b',')?;
                operation.operand_types.push(self.ty()?);
            }
        } else {
            operation.operand_types.extend(vec![Type::scalar(DType::I32); indices]);
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
        // The sum of floats has a name of its own.
        if rmw == Rmw::Add && block.dtype().is_float() {
            rmw = Rmw::FAdd;
        }
        Ok(match special {
            Special::DescriptorStore => DescriptorOp::Store,
            Special::DescriptorReduce => DescriptorOp::Reduce(rmw),
            Special::DescriptorGather => DescriptorOp::Gather,
            Special::DescriptorScatter => DescriptorOp::Scatter,
            _ => DescriptorOp::Load,
        })
    }

    /// Whether a descriptor's type is next.
    pub(super) fn at_descriptor(&self) -> bool {
        self.text() == "!tt.tensordesc"
    }

    /// Reads the type of a descriptor, `!tt.tensordesc<32x32xf32>`.
    pub(super) fn descriptor_type(&mut self) -> Parse<Type> {
        let span = self.token.span;
        let block = self.described_block()?.ty;
        let rank = block.shape.len();
        if rank > MAX_DESCRIPTOR_RANK || !matches!(block.element, Element::Scalar(_)) {
            let message =
                format!("a descriptor is of numbers in 1 to {MAX_DESCRIPTOR_RANK} dimensions");
            return Err(Diagnostic::new(self.since(span), message));
        }
        Ok(Type::descriptor(&block))
    }

    fn described_block(&mut self) -> Parse<DescribedBlock> {
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
