//! Attributes of the results of matrix instructions.

use alloc::{vec, vec::Vec};
use core::fmt;

use super::{Fields, ParseError, cga_layout};
use crate::family::{AmdMfma, AmdWmma, Family, IntelDpas, NvidiaMma};

/// The family of that name, if it is of matrix instructions.
pub(super) fn read(name: &str, fields: &mut Fields) -> Result<Option<Family>, ParseError> {
    Ok(Some(match name {
        "ttg.nvidia_mma" => Family::NvidiaMma(NvidiaMma {
            version_major: fields.small("versionMajor")?,
            version_minor: fields.small("versionMinor")?,
            warps_per_cta: fields.numbers("warpsPerCTA")?,
            instr_shape: fields.numbers("instrShape")?,
            blocks: fields.bases_or_none("CGALayout")?,
        }),
        "ttg.amd_mfma" => Family::AmdMfma(AmdMfma {
            version: fields.small("version")?,
            warps_per_cta: fields.numbers("warpsPerCTA")?,
            instr_shape: fields.numbers("instrShape")?,
            is_transposed: fields.flag("isTransposed")?,
            blocks: fields.bases_or_none("CGALayout")?,
            tiles_per_warp: several(fields.or("tilesPerWarp", Vec::new(), Fields::numbers)?),
            element_bit_width: fields.or("elementBitWidth", 32, Fields::small)?,
        }),
        "ttg.amd_wmma" => Family::AmdWmma(read_wmma(fields)?),
        "ttig.dpas" => Family::IntelDpas(read_dpas(fields)?),
        _ => return Ok(None),
    }))
}

/// Nothing where there is one tile along each axis, as where none is given.
fn several(tiles: Vec<u64>) -> Vec<u64> {
    if tiles.iter().all(|&tiles| tiles == 1) { Vec::new() } else { tiles }
}

/// The warps as bases (`ctaLayout`), or as Triton 3.6 writes them, as numbers along each axis.
fn read_wmma(fields: &mut Fields) -> Result<AmdWmma, ParseError> {
    let (register, warp) = if fields.has("ctaLayout") {
        let mut bases = fields.record("ctaLayout")?;
        let both = (bases.bases_or_none("register")?, bases.bases_or_none("warp")?);
        bases.finish()?;
        both
    } else {
        let warps = fields.powers_of_two("warpsPerCTA")?;
        let tiles = fields.or("tilesPerWarp", Vec::new(), Fields::powers_of_two)?;
        counted(&tiles, &warps)
    };
    // The rank is that of the bases; where there are none, of the tensor.
    fields.or("rank", 0, Fields::number)?;
    Ok(AmdWmma {
        version: fields.small("version")?,
        is_transposed: fields.flag("isTranspose")?,
        register,
        warp,
        blocks: fields.bases_or_none("CGALayout")?,
        instr_shape: fields.or("instrShape", AmdWmma::DEFAULT_SHAPE, Fields::three)?,
    })
}

/// The bases of as many tiles of a warp and warps along each axis, the last axis first: those of
/// registers, then those of warps.
fn counted(tiles: &[u64], warps: &[u64]) -> (Vec<Vec<u64>>, Vec<Vec<u64>>) {
    let (mut register, mut warp) = (Vec::new(), Vec::new());
    for dim in (0..warps.len()).rev() {
        let mut place = 1_u64;
        let counts = [tiles.get(dim).copied().unwrap_or(1), warps[dim]];
        for (bases, count) in [&mut register, &mut warp].into_iter().zip(counts) {
            for _ in 0..count.trailing_zeros() {
                let mut basis = vec![0; warps.len()];
                basis[dim] = place;
                bases.push(basis);
                place = place.unbounded_shl(1);
            }
        }
    }
    (register, warp)
}

fn read_dpas(fields: &mut Fields) -> Result<IntelDpas, ParseError> {
    // The sizes of the operands and the result follow from the other parameters.
    for key in ["A", "B", "C"] {
        fields.or(key, Vec::new(), Fields::numbers)?;
    }
    Ok(IntelDpas {
        repeat_count: fields.number("repeatCount")?,
        systolic_depth: fields.number("systolicDepth")?,
        execution_size: fields.number("executionSize")?,
        ops_per_chan: fields.number("opsPerChan")?,
        fp4_k_pack: fields.or("fp4KPack", None, |fields, key| fields.number(key).map(Some))?,
        threads_per_warp: fields.number("threadsPerWarp")?,
        warps_per_cta: fields.numbers("warpsPerCTA")?,
        rep_cluster: fields.numbers("repCluster")?,
    })
}

pub(super) fn nvidia_mma(f: &mut fmt::Formatter<'_>, result: &NvidiaMma) -> fmt::Result {
    let NvidiaMma { version_major, version_minor, warps_per_cta, instr_shape, blocks } = result;
    write!(f, "#ttg.nvidia_mma<{{versionMajor = {version_major}")?;
    write!(f, ", versionMinor = {version_minor}, warpsPerCTA = {warps_per_cta:?}")?;
    cga_layout(f, ", ", blocks)?;
    write!(f, ", instrShape = {instr_shape:?}}}>")
}

pub(super) fn amd_mfma(f: &mut fmt::Formatter<'_>, result: &AmdMfma) -> fmt::Result {
    let AmdMfma { version, warps_per_cta, instr_shape, is_transposed, tiles_per_warp, .. } = result;
    write!(f, "#ttg.amd_mfma<{{version = {version}, warpsPerCTA = {warps_per_cta:?}")?;
    write!(f, ", instrShape = {instr_shape:?}, isTransposed = {is_transposed}")?;
    cga_layout(f, ", ", &result.blocks)?;
    if tiles_per_warp.iter().any(|&tiles| tiles != 1) {
        write!(f, ", tilesPerWarp = {tiles_per_warp:?}")?;
    }
    if result.element_bit_width != 32 {
        write!(f, ", elementBitWidth = {}", result.element_bit_width)?;
    }
    f.write_str("}>")
}

pub(super) fn amd_wmma(f: &mut fmt::Formatter<'_>, result: &AmdWmma) -> fmt::Result {
    let AmdWmma { version, is_transposed, register, warp, blocks, instr_shape } = result;
    write!(f, "#ttg.amd_wmma<{{version = {version}, isTranspose = {is_transposed}")?;
    f.write_str(", ctaLayout = {")?;
    let mut comma = "";
    for (name, bases) in [("register", register), ("warp", warp)] {
        if !bases.is_empty() {
            write!(f, "{comma}{name} = {bases:?}")?;
            comma = ", ";
        }
    }
    f.write_str("}")?;
    cga_layout(f, ", ", blocks)?;
    if *instr_shape != AmdWmma::DEFAULT_SHAPE {
        write!(f, ", instrShape = {instr_shape:?}")?;
    }
    f.write_str("}>")
}

pub(super) fn intel_dpas(f: &mut fmt::Formatter<'_>, result: &IntelDpas) -> fmt::Result {
    let IntelDpas { repeat_count, systolic_depth, execution_size, ops_per_chan, .. } = result;
    write!(f, "#ttig.dpas<{{repeatCount = {repeat_count}, systolicDepth = {systolic_depth}")?;
    write!(f, ", executionSize = {execution_size}, opsPerChan = {ops_per_chan}")?;
    if let Some(pack) = result.fp4_k_pack {
        write!(f, ", fp4KPack = {pack}")?;
    }
    write!(f, ", threadsPerWarp = {}", result.threads_per_warp)?;
    write!(f, ", warpsPerCTA = {:?}", result.warps_per_cta)?;
    write!(f, ", repCluster = {:?}", result.rep_cluster)?;
    let [left, right, sum] = result.sizes();
    write!(f, ", A = {left:?}, B = {right:?}, C = {sum:?}}}>")
}
