//! Questions to the layout engine.

use crate::answer::{ElementAnswer, LayoutAnswer, MachinesAnswer, NameAnswer};
use crate::bases::Bases;
use crate::error::ApiError;
use crate::machines::MachineAnswer;
use crate::reading::{Reading, read};
use crate::request::{LayoutRequest, MachinesRequest, given_bits, machine};
use weft::dtype::DType;
use weft_layout::affine::Affine;
use weft_layout::interop::cute::{self, Convention, TmaMode};
use weft_layout::{Machine, family};

/// The machines that are known, or the one that is asked for.
pub fn machines(request: &MachinesRequest) -> Result<MachinesAnswer, ApiError> {
    let MachinesRequest { target } = request;
    let machines = match target {
        Some(target) => vec![MachineAnswer::of(machine(target)?.as_ref())],
        None => Machine::ALL.into_iter().map(MachineAnswer::of).collect(),
    };
    let element =
        |dtype: DType| ElementAnswer { name: dtype.name(), other_names: dtype.other_names() };
    Ok(MachinesAnswer { machines, elements: DType::ALL.into_iter().map(element).collect() })
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
    let LayoutRequest { attribute, shape, element, element_bits, target, names: named, .. } =
        request;
    // Only pictures ask it, and yet a machine that is none is a fault of the request.
    machine(target)?;
    let element_bits = given_bits(element.as_deref(), *element_bits)?;
    let given = (!shape.is_empty()).then_some(&shape[..]);
    let Reading { map, padded } = read("attribute", attribute, given)?;
    let named = *named && padded.is_none();
    let outs = map.outs();
    let size = |label| 1_u64.checked_shl(outs.bits(label)).unwrap_or(u64::MAX);
    let constant = (map.constant() != 0).then(|| {
        let order = outs.coordinate_order().into_iter();
        order.map(|label| outs.coordinate(label, map.constant())).collect()
    });
    Ok(LayoutAnswer {
        bases: Bases::of(map.layout()),
        constant,
        paddings: padded.as_ref().map_or_else(Vec::new, |padded| {
            padded.paddings().iter().map(|gap| [gap.interval, gap.padding]).collect()
        }),
        shape: outs.coordinate_order().into_iter().map(size).collect(),
        element_bits,
        names: named.then(|| names(&map, element_bits)),
        picture: None,
        text: match map.linear() {
            Ok(layout) => layout.to_string(),
            Err(_) => map.to_string(),
        },
        map,
        padded,
    })
}

/// What a layout is called in the terms of others, the shortest name of each kind first.
fn names(map: &Affine, element_bits: Option<u32>) -> Vec<NameAnswer> {
    let mut names = Vec::new();
    let mut add = |by: &str, text: String| names.push(NameAnswer { by: by.into(), text });
    if let Ok(layout) = map.linear() {
        for name in family::names(&layout) {
            add("triton", name.to_string());
        }
    }
    if let Ok((convention, export)) = cute::export_tensor(map) {
        let by = match convention {
            Convention::Memory => "cute",
            Convention::ThreadValue => "cute thread-value",
        };
        add(by, export.composed.to_string());
        if let [swizzle] = export.composed.swizzles[..] {
            if let Some((target, source)) = swizzle.absolute() {
                // The same swizzle where positions are counted from zero.
                add("absolute swizzle", format!("Swizzle<{}, {target}, {source}>", swizzle.bits()));
            }
            let mode = element_bits.and_then(|bits| TmaMode::of(swizzle, bits.into()));
            if let Some(bytes) = mode.map(TmaMode::bytes).filter(|&bytes| bytes > 0) {
                add("tma swizzle", format!("{bytes} bytes"));
            }
        }
    } else if (map.ins().is_tensor() || map.outs().axes().len() == 1)
        && let Ok(export) = cute::export(map)
    {
        add("cute", export.composed.to_string());
    }
    names
}
