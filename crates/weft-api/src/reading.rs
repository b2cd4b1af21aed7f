//! Layouts as requests give them: read from any of their texts, or from data.

use crate::bases::{Bases, LayoutSource};
use crate::error::ApiError;
use crate::request::check_shape;
use weft_layout::affine::{Affine, Padded};
use weft_layout::family::FamilyError;
use weft_layout::interop::{
    self,
    cute::{self, ImportError},
};
use weft_layout::space::{BLOCK, LANE, REGISTER, WARP};
use weft_layout::{Label, Layout, LayoutError, Machine, Space};

/// What a source says.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// The map, from places to elements; of a CuTe layout that no memory layout is, from elements to
    /// offsets.
    pub(crate) map: Affine,
    /// The same with its gaps, where there are any.
    pub(crate) padded: Option<Padded>,
}

/// The layout that a source says, for a tensor of this shape; only an attribute needs one.
pub(crate) fn read(
    parameter: &'static str,
    source: &LayoutSource,
    shape: Option<&[u64]>,
) -> Result<Reading, ApiError> {
    if let Some(shape) = shape {
        check_shape(shape)?;
    }
    match source {
        LayoutSource::Text(text) if text.trim_start().starts_with('[') => {
            let layout = interop::parse_layout(text).map_err(|e| in_text(parameter, text, e))?;
            if shape.is_some() {
                tensor(parameter, &layout)?;
                check_same(parameter, &layout.shape(), shape)?;
            }
            Ok(Reading { map: layout.into(), padded: None })
        }
        LayoutSource::Text(text) if is_cute(text) => read_cute(parameter, text, shape),
        LayoutSource::Text(text) => read_attribute(parameter, text, shape),
        LayoutSource::Bases { bases, shape: own } => {
            let given = own.as_deref().or(shape).ok_or(ApiError::ShapeMissing { parameter })?;
            check_shape(given)?;
            check_same(parameter, given, shape)?;
            let layout = read_bases(bases, given).map_err(|(basis, error)| ApiError::Layout {
                parameter,
                basis,
                error: Box::new(error),
            })?;
            Ok(Reading { map: layout.into(), padded: None })
        }
    }
}

/// The linear layout of a tensor of this shape that a source says.
pub(crate) fn read_linear(
    parameter: &'static str,
    source: &LayoutSource,
    shape: &[u64],
) -> Result<Layout, ApiError> {
    let Reading { map, padded } = read(parameter, source, Some(shape))?;
    if padded.is_some() {
        return Err(ApiError::Family { parameter, error: Box::new(FamilyError::Gaps) });
    }
    let layout = map.linear().map_err(|error| wrong(parameter, error))?;
    tensor(parameter, &layout)?;
    Ok(layout)
}

fn wrong(parameter: &'static str, error: LayoutError) -> ApiError {
    ApiError::Layout { parameter, basis: None, error: Box::new(error) }
}

/// Checks that a layout is one of a tensor.
fn tensor(parameter: &'static str, layout: &Layout) -> Result<(), ApiError> {
    let is_tensor = layout.outs().is_tensor();
    if is_tensor { Ok(()) } else { Err(wrong(parameter, LayoutError::NotTensor)) }
}

/// A layout whose threads, counted through all warps, are cut into waves of a machine.
pub(crate) fn in_waves_of(
    parameter: &'static str,
    layout: &Layout,
    machine: &Machine,
) -> Result<Layout, ApiError> {
    let threads = [layout.columns(LANE), layout.columns(WARP)].concat();
    let Some((lanes, warps)) = threads.split_at_checked(machine.lanes_log2 as usize) else {
        return Err(ApiError::Threads {
            parameter,
            threads: threads.len() as u32,
            machine: machine.name.to_string(),
            lanes: machine.lanes_log2,
        });
    };
    let (registers, blocks) = (layout.columns(REGISTER), layout.columns(BLOCK));
    let axes = [(REGISTER, registers), (LANE, lanes), (WARP, warps), (BLOCK, blocks)];
    let ins = Space::new(&axes.map(|(label, columns)| (label, columns.len() as u32)));
    let columns = axes.map(|(_, columns)| columns).concat();
    Layout::new(ins.map_err(|e| wrong(parameter, e.into()))?, layout.outs().clone(), &columns)
        .map_err(|error| wrong(parameter, error))
}

fn in_text(parameter: &'static str, text: &str, error: interop::ParseError) -> ApiError {
    let before = text.get(..error.span.start).unwrap_or(text);
    ApiError::Attribute { parameter, column: before.chars().count() + 1, error: Box::new(error) }
}

/// Whether a text begins as CuTe's layouts do: with a shape or a swizzle.
fn is_cute(text: &str) -> bool {
    let text = text.trim_start();
    let swizzles = ["S<", "Sw<", "Swizzle<"];
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '(' | '_' | '-'))
        || swizzles.iter().any(|swizzle| text.starts_with(swizzle))
}

fn read_attribute(
    parameter: &'static str,
    text: &str,
    shape: Option<&[u64]>,
) -> Result<Reading, ApiError> {
    let family = interop::parse_attribute(text).map_err(|error| in_text(parameter, text, error))?;
    let shape = shape.ok_or(ApiError::ShapeMissing { parameter })?;
    let refused = |error| ApiError::Family { parameter, error: Box::new(error) };
    match family.layout(shape) {
        Ok(layout) => Ok(Reading { map: layout.into(), padded: None }),
        Err(FamilyError::Gaps) => {
            let padded = family.padded(shape).map_err(refused)?;
            Ok(Reading { map: padded.layout().clone().into(), padded: Some(padded) })
        }
        Err(error) => Err(refused(error)),
    }
}

/// A layout from the coordinates of a tensor to offsets, turned round if that is possible.
fn read_cute(
    parameter: &'static str,
    text: &str,
    shape: Option<&[u64]>,
) -> Result<Reading, ApiError> {
    let composed = cute::parse(text).map_err(|error| in_text(parameter, text, error))?;
    let dims: Vec<Label> =
        (0..composed.layout.rank().max(1)).map(|dim| Label::dim(dim as u32)).collect();
    let map = match cute::import(&composed, &dims) {
        Ok(map) => map,
        Err(error) => {
            let Some(padded) = cute::padded(&composed) else {
                let grown = matches!(error, ImportError::NotPowerOfTwo { .. });
                let grown = grown.then(|| cute::grown(&composed.layout)).flatten();
                return Err(ApiError::Cute { parameter, error: Box::new(error), grown });
            };
            check_same(parameter, &padded.layout().shape(), shape)?;
            return Ok(Reading { map: padded.layout().clone().into(), padded: Some(padded) });
        }
    };
    let own: Vec<u64> = (map.ins().axes().iter())
        .map(|axis| 1_u64.checked_shl(axis.1).unwrap_or(u64::MAX))
        .collect();
    check_same(parameter, &own, shape)?;
    match cute::memory_layout(&map) {
        Ok(memory) => Ok(Reading { map: memory, padded: None }),
        Err(error) if shape.is_some() => Err(wrong(parameter, error)),
        Err(_) => Ok(Reading { map, padded: None }),
    }
}

/// Checks that a layout is one of the tensor that the request is about.
fn check_same(
    parameter: &'static str,
    found: &[u64],
    expected: Option<&[u64]>,
) -> Result<(), ApiError> {
    match expected {
        Some(expected) if found != expected => {
            let (found, expected) = (found.to_vec(), expected.to_vec());
            Err(ApiError::OtherShape { parameter, found, expected })
        }
        _ => Ok(()),
    }
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
