//! Triton's layout attributes.

mod distributed;
mod fields;
mod matrix;
mod memory;

use alloc::vec::Vec;
use core::fmt;

use self::fields::Fields;
use super::cursor::{Cursor, ParseError, ParseErrorKind};
use crate::family::Family;

/// How deeply attributes and lists may be nested.
const MAX_DEPTH: u32 = 32;

/// Reads an attribute as Triton prints it, for example
/// `#ttg.slice<{dim = 1, parent = #ttg.blocked<{…}>}>`.
///
/// Known are the layouts of registers, shared memory and tensor memory that [`Family`] lists, as
/// Triton 3.6 and 3.9 write them; printed they are as 3.9 writes them.
pub fn parse_attribute(text: &str) -> Result<Family, ParseError> {
    let cursor = &mut Cursor::new(text);
    let family = attribute(cursor, 0)?;
    if !cursor.at_end() {
        return Err(cursor.error(ParseErrorKind::Expected("the end of the attribute")));
    }
    Ok(family)
}

fn attribute(cursor: &mut Cursor<'_>, depth: u32) -> Result<Family, ParseError> {
    let start = cursor.start();
    if depth > MAX_DEPTH {
        return Err(cursor.error(ParseErrorKind::TooDeep));
    }
    cursor.expect("#")?;
    let name = cursor.word();
    let name_span = start..cursor.position();
    let mut fields = Fields::read(cursor, start, depth)?;
    let mut known = None;
    for read in [distributed::read, matrix::read, memory::read] {
        known = known.or(read(name, &mut fields)?);
    }
    let Some(family) = known else {
        let kind = ParseErrorKind::UnknownAttribute(name.into());
        return Err(ParseError { span: name_span, kind });
    };
    fields.finish()?;
    Ok(family)
}

/// The attribute as Triton prints it.
impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Family::Blocked(blocked) => distributed::blocked(f, blocked),
            Family::Linear(linear) => distributed::linear(f, "linear", linear),
            Family::GenericLinear(linear) => distributed::linear(f, "generic_linear", linear),
            Family::Slice(slice) => distributed::slice(f, slice),
            Family::NvidiaMma(result) => matrix::nvidia_mma(f, result),
            Family::AmdMfma(result) => matrix::amd_mfma(f, result),
            Family::AmdWmma(result) => matrix::amd_wmma(f, result),
            Family::IntelDpas(result) => matrix::intel_dpas(f, result),
            Family::DotOperand(operand) => distributed::dot_operand(f, operand),
            Family::SwizzledShared(shared) => memory::swizzled_shared(f, shared),
            Family::RotatingShared(shared) => memory::rotating_shared(f, shared),
            Family::PaddedShared(shared) => memory::padded_shared(f, shared),
            Family::PartitionedShared(shared) => memory::partitioned_shared(f, shared),
            Family::NvmmaShared(shared) => memory::nvmma_shared(f, shared),
            Family::SharedLinear(shared) => memory::shared_linear(f, shared),
            Family::TensorMemory(memory) => memory::tensor_memory(f, memory),
            Family::TensorMemoryScales(memory) => memory::tensor_memory_scales(f, memory),
        }
    }
}

/// The parts of the blocks, when there are several blocks.
fn cga_layout(f: &mut fmt::Formatter<'_>, before: &str, blocks: &[Vec<u64>]) -> fmt::Result {
    if blocks.is_empty() { Ok(()) } else { write!(f, "{before}CGALayout = {blocks:?}") }
}
