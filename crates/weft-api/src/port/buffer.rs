//! The accesses of a buffer on another machine.

use super::fragment;
use crate::answer::{PortedAccess, PortedBuffer, SwizzleAnswer};
use crate::bases::LayoutSource;
use crate::budget;
use crate::error::ApiError;
use crate::reading::{Reading, in_waves_of, read, read_linear};
use crate::request::{PortRequest, needed_bits};
use crate::swizzles;
use weft_layout::access::{self, Kind, Memory};
use weft_layout::family;
use weft_layout::interop;
use weft_layout::plan::swizzle::Access;
use weft_layout::{Layout, Machine};

/// What the accesses of a buffer become, and where it lies best for them.
pub(super) fn port(
    request: &PortRequest,
    from: &Machine,
    target: &Machine,
) -> Result<PortedBuffer, ApiError> {
    let PortRequest { store, loads, memory, shape, element, element_bits, .. } = request;
    let bits = needed_bits(element.as_deref(), *element_bits)?;
    let memory = memory.as_ref().map(|memory| read("memory", memory, Some(shape))).transpose()?;
    let mut accesses = Vec::new();
    let mut threads = Vec::new();
    let stores = store.iter().map(|store| ("store".to_owned(), "store", Kind::Store, store));
    let several = loads.len() > 1;
    let loads = (1..).zip(loads).map(|(number, load)| {
        let name = if several { format!("load {number}") } else { "load".into() };
        (name, "loads", Kind::Load, load)
    });
    for (name, parameter, kind, source) in stores.chain(loads) {
        let before = read_linear(parameter, source, shape)?;
        let carried = carried(parameter, source, &before, target, request, bits)?;
        let Carried { layout, how, .. } = &carried;
        let counted = |machine, layout: &Layout| {
            let memory = memory.as_ref()?;
            wavefronts(machine, kind, layout, memory, bits)
        };
        accesses.push(PortedAccess {
            access: name.clone(),
            from: before.to_string(),
            to: layout.to_string(),
            name: carried.name.clone(),
            how: how.clone(),
            before: counted(from, &before),
            kept: counted(target, layout),
        });
        threads.push((name, Access::new(kind, carried.layout)));
    }
    budget::begin("while a memory layout was looked for")?;
    let swizzle = swizzles::between(target, bits, threads, shape)?;
    Ok(PortedBuffer { accesses, swizzle })
}

/// A layout on another machine.
struct Carried {
    layout: Layout,
    name: Option<String>,
    how: String,
}

/// A fragment of NVIDIA's becomes one of the machine's own; of any other layout the threads are cut into its
/// waves.
fn carried(
    parameter: &'static str,
    source: &LayoutSource,
    before: &Layout,
    target: &Machine,
    request: &PortRequest,
    bits: u32,
) -> Result<Carried, ApiError> {
    let PortRequest { shape, element, .. } = request;
    if let LayoutSource::Text(text) = source
        && let Ok(named) = interop::parse_attribute(text)
        && let Some(found) = fragment::of(target, &named, shape, element.as_deref(), bits)
    {
        let fragment::Fragment { layout, name, instruction } = found;
        return Ok(Carried { layout, name: Some(name), how: instruction });
    }
    let layout = in_waves_of(parameter, before, target)?;
    let name = family::names(&layout).first().map(ToString::to_string);
    Ok(Carried { layout, name, how: "waves".into() })
}

/// The wavefronts of an access and those without conflicts, where it is one of the machine's.
fn wavefronts(
    machine: &Machine,
    kind: Kind,
    registers: &Layout,
    memory: &Reading,
    bits: u32,
) -> Option<[u64; 2]> {
    let Reading { map, padded } = memory;
    let memory = padded.as_ref().map_or(Memory::Affine(map), Memory::Padded);
    let found = access::conflicts(machine, kind, registers, memory, bits).ok()?;
    Some([found.wavefronts, found.ideal])
}

/// The offset of an element as a device function.
pub(super) fn code(swizzle: &SwizzleAnswer, request: &PortRequest, target: &Machine) -> String {
    let dims = 0..request.shape.len();
    let parameters: Vec<String> = dims.clone().map(|dim| format!("unsigned dim{dim}")).collect();
    let extents: Vec<String> = request.shape.iter().map(u64::to_string).collect();
    let SwizzleAnswer { wavefronts, bound, shared_bytes, xor, .. } = swizzle;
    format!(
        "// Where an element of a tensor of {} elements lies in {shared_bytes} bytes of shared memory, for {}.\n\
         // The accesses of a wave take {wavefronts} wavefronts; no layout takes fewer than {bound}.\n\
         __device__ __forceinline__ unsigned element_offset({}) {{\n  return {xor};\n}}\n",
        extents.join("x"),
        target.name,
        parameters.join(", "),
    )
}
