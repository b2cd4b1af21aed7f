//! Questions to the layout engine.

use crate::answer::{ConvertAnswer, LayoutAnswer, MachineAnswer, MachinesAnswer};
use crate::bases::{Bases, LayoutSource};
use crate::error::ApiError;
use crate::request::{
    ConvertRequest, LayoutRequest, MachinesRequest, check_shape, given_bits, machine,
};
use weft_layout::plan;
use weft_layout::witness;
use weft_layout::{Label, Layout, LayoutError, Machine, Space, interop};

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
    let LayoutRequest { attribute, shape, element, element_bits, .. } = request;
    let element_bits = given_bits(element.as_deref(), *element_bits)?;
    check_shape(shape)?;
    let layout = read("attribute", attribute, shape)?;
    Ok(LayoutAnswer {
        bases: Bases::of(&layout),
        shape: shape.clone(),
        element_bits,
        picture: None,
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

/// The layout that a source says for a tensor of this shape.
fn read(parameter: &'static str, source: &LayoutSource, shape: &[u64]) -> Result<Layout, ApiError> {
    match source {
        LayoutSource::Text(text) => read_text(parameter, text, shape),
        LayoutSource::Bases { bases, shape: own } => {
            check_same(parameter, own.as_deref().unwrap_or(shape), shape)?;
            read_bases(bases, shape).map_err(|(basis, error)| ApiError::Layout {
                parameter,
                basis,
                error: Box::new(error),
            })
        }
    }
}

/// The layout that an attribute, or a layout's bases as text, say for a tensor of this shape.
fn read_text(parameter: &'static str, text: &str, shape: &[u64]) -> Result<Layout, ApiError> {
    let attribute = |error: interop::ParseError| {
        let before = text.get(..error.span.start).unwrap_or(text);
        ApiError::Attribute {
            parameter,
            column: before.chars().count() + 1,
            error: Box::new(error),
        }
    };
    if text.trim_start().starts_with('[') {
        let layout = interop::parse_layout(text).map_err(attribute)?;
        if !layout.outs().is_tensor() {
            let error = Box::new(LayoutError::NotTensor);
            return Err(ApiError::Layout { parameter, basis: None, error });
        }
        check_same(parameter, &layout.shape(), shape)?;
        return Ok(layout);
    }
    let family = interop::parse_attribute(text).map_err(attribute)?;
    family.layout(shape).map_err(|error| ApiError::Family { parameter, error: Box::new(error) })
}

/// Checks that a layout is one of the tensor that the request is about.
fn check_same(parameter: &'static str, found: &[u64], expected: &[u64]) -> Result<(), ApiError> {
    if found != expected {
        let (found, expected) = (found.to_vec(), expected.to_vec());
        return Err(ApiError::OtherShape { parameter, found, expected });
    }
    Ok(())
}

/// The layout of these bases; a refusal names the axis and the bit of the basis at fault, if it is
/// one.
fn read_bases(
    bases: &Bases,
    shape: &[u64],
) -> Result<Layout, (Option<(String, usize)>, LayoutError)> {
    let outs = Space::tensor(shape).map_err(|error| (None, error.into()))?;
    let order = outs.coordinate_order();
    let mut axes = Vec::new();
    for (name, images) in &bases.0 {
        let label = Label::new(name).map_err(|error| (None, error.into()))?;
        for (bit, image) in images.iter().enumerate() {
            let image: Vec<_> = order.iter().copied().zip(image.iter().copied()).collect();
            outs.pack(&image).map_err(|error| (Some((name.clone(), bit)), error.into()))?;
        }
        axes.push((label, images.clone()));
    }
    Layout::from_bases(&axes, outs).map_err(|error| (None, error))
}
