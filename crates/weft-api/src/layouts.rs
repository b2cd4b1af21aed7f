//! Questions to the layout engine.

use crate::answer::{Bases, ConvertAnswer, LayoutAnswer, MachineAnswer, MachinesAnswer};
use crate::error::ApiError;
use crate::request::{
    ConvertRequest, LayoutRequest, MachinesRequest, check_shape, given_bits, machine,
};
use weft_layout::plan;
use weft_layout::witness;
use weft_layout::{Layout, Machine, interop};

/// The machines that are known.
pub fn machines(request: &MachinesRequest) -> MachinesAnswer {
    let MachinesRequest {} = request;
    let row = |machine: &Machine| MachineAnswer {
        name: machine.name.to_string(),
        lanes: machine.lanes(),
        banks: 1 << machine.banks_log2,
        bank_bytes: 1 << machine.bank_bytes_log2,
        shared_vector_bytes: machine.shared_vector_bytes,
        global_vector_bytes: machine.global_vector_bytes,
        sector_bytes: machine.sector_bytes,
        shared_bytes_per_block: machine.shared_bytes_per_block,
        threads_per_block: machine.threads_per_block,
        registers: machine.registers,
        multiprocessors: machine.multiprocessors,
    };
    MachinesAnswer { machines: Machine::ALL.into_iter().map(row).collect() }
}

/// What a layout is.
///
/// ```
/// use weft_api::{layouts, request::LayoutRequest};
///
/// let attribute = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], \
///                  warpsPerCTA = [1, 1], order = [1, 0]}>";
/// let request =
///     LayoutRequest { attribute: attribute.into(), shape: vec![4, 16], ..Default::default() };
/// let answer = layouts::layout(&request)?;
/// assert_eq!(
///     answer.text,
///     "[register: (0,1), lane: (0,2) (0,4) (0,8) (1,0) (2,0), warp:, block:] \
///      -> [dim0: 4, dim1: 16]",
/// );
/// # Ok::<(), weft_api::ApiError>(())
/// ```
pub fn layout(request: &LayoutRequest) -> Result<LayoutAnswer, ApiError> {
    let LayoutRequest { attribute, shape, element, element_bits } = request;
    let element_bits = given_bits(element.as_deref(), *element_bits)?;
    check_shape(shape)?;
    let layout = read("attribute", attribute, shape)?;
    Ok(LayoutAnswer {
        bases: Bases::of(&layout),
        shape: shape.clone(),
        element_bits,
        text: layout.to_string(),
        layout,
    })
}

/// How a tensor moves from one layout to another; the plan has been replayed by the witness.
pub fn convert(request: &ConvertRequest) -> Result<ConvertAnswer, ApiError> {
    let ConvertRequest { from, to, shape, element, element_bits, target } = request;
    let Some(bits) = given_bits(element.as_deref(), *element_bits)? else {
        return Err(ApiError::ElementCount("missing"));
    };
    let machine = machine(target)?;
    check_shape(shape)?;
    let (from, to) = (read("from", from, shape)?, read("to", to, shape)?);
    let plan = plan::convert(&from, &to, bits, machine)?;
    witness::conversion(&plan, &from, &to)
        .map_err(|error| ApiError::Refused { what: "the plan".into(), error })?;
    Ok(ConvertAnswer::of(&plan))
}

/// The layout that an attribute, or a layout's bases, say for a tensor of this shape.
fn read(parameter: &'static str, text: &str, shape: &[u64]) -> Result<Layout, ApiError> {
    let attribute = |error: interop::ParseError| {
        let before = text.get(..error.span.start).unwrap_or(text);
        ApiError::Attribute { parameter, column: before.chars().count() + 1, error }
    };
    if text.trim_start().starts_with('[') {
        let layout = interop::parse_layout(text).map_err(attribute)?;
        if layout.shape() != shape {
            let (found, expected) = (layout.shape(), shape.to_vec());
            return Err(ApiError::OtherShape { parameter, found, expected });
        }
        return Ok(layout);
    }
    let family = interop::parse_attribute(text).map_err(attribute)?;
    family.layout(shape).map_err(|error| ApiError::Family { parameter, error })
}
