//! Attributes of memory layouts.

use alloc::{boxed::Box, vec::Vec};
use core::fmt;

use super::{Fields, ParseError, cga_layout};
use crate::family::{
    Family, NvmmaShared, PaddedElements, PaddedShared, PartitionedShared, RotatingShared,
    SharedLinear, SwizzledShared, TensorMemory, TensorMemoryScales,
};

/// The family of that name, if it is one of memory.
pub(super) fn read(name: &str, fields: &mut Fields) -> Result<Option<Family>, ParseError> {
    Ok(Some(match name {
        "ttg.swizzled_shared" => Family::SwizzledShared(read_swizzled(fields)?),
        "ttg.amd_rotating_shared" => {
            Family::RotatingShared(RotatingShared { rows: read_swizzled(fields)? })
        }
        "ttg.padded_shared" => Family::PaddedShared(PaddedShared {
            paddings: fields.gaps()?,
            elements: read_padded_elements(fields)?,
        }),
        "ttg.partitioned_shared" => Family::PartitionedShared(PartitionedShared {
            num_partitions: fields.number("numPartitions")?,
            num_groups: fields.number("numGroups")?,
            partition_dim: fields.number("partitionDim")? as usize,
            partition_layout: Box::new(fields.attribute("partitionLayout")?),
        }),
        "ttg.nvmma_shared" => Family::NvmmaShared(read_nvmma(fields)?),
        "ttg.shared_linear" => Family::SharedLinear(SharedLinear {
            offset: fields.bases("offset")?,
            block: fields.bases_or_none("block")?,
            alignment: fields.number("alignment")?,
        }),
        "ttng.tensor_memory_encoding" => Family::TensorMemory(TensorMemory {
            block_m: fields.number("blockM")?,
            block_n: fields.number("blockN")?,
            col_stride: fields.number("colStride")?,
            blocks: read_matrix_blocks(fields)?,
            two_ctas: fields.flag_or_false("twoCTAs")?,
            fp4_padded: fields.flag_or_false("fp4Padded")?,
        }),
        "ttng.tensor_memory_scales_encoding" => Family::TensorMemoryScales(TensorMemoryScales {
            blocks: read_matrix_blocks(fields)?,
            columns_first: fields.is_second(
                "blockRepOrder",
                ["mnThenK", "kThenMn"],
                "`mnThenK` or `kThenMn`",
            )?,
        }),
        _ => return Ok(None),
    }))
}

fn read_swizzled(fields: &mut Fields) -> Result<SwizzledShared, ParseError> {
    Ok(SwizzledShared {
        vec: fields.number("vec")?,
        per_phase: fields.number("perPhase")?,
        max_phase: fields.number("maxPhase")?,
        order: fields.dims("order")?,
        blocks: fields.bases_or_none("CGALayout")?,
    })
}

fn read_padded_elements(fields: &mut Fields) -> Result<PaddedElements, ParseError> {
    if fields.has("order") {
        let (order, shape) = (fields.dims("order")?, fields.numbers("shape")?);
        return Ok(PaddedElements::Order { order, shape });
    }
    let (offset, block) = (fields.bases("offset")?, fields.bases("block")?);
    Ok(PaddedElements::Bases { offset, block })
}

fn read_nvmma(fields: &mut Fields) -> Result<NvmmaShared, ParseError> {
    let blocks = fields.bases_or_none("CGALayout")?;
    // Triton leaves the number of axes out when it is 2 or the bases tell it.
    let told = blocks.first().map_or(2, Vec::len);
    Ok(NvmmaShared {
        swizzling_byte_width: fields.number("swizzlingByteWidth")?,
        transposed: fields.flag("transposed")?,
        element_bit_width: fields.number("elementBitWidth")?,
        fp4_padded: fields.flag_or_false("fp4Padded")?,
        rank: if fields.has("rank") { fields.number("rank")? as usize } else { told },
        blocks,
    })
}

/// `CGALayout`, or as Triton 3.6 writes it, the numbers of parts along rows and columns.
fn read_matrix_blocks(fields: &mut Fields) -> Result<Vec<Vec<u64>>, ParseError> {
    let mut blocks = fields.bases_or_none("CGALayout")?;
    let rows = fields.power_of_two_or_one("CTASplitM")?;
    let columns = fields.power_of_two_or_one("CTASplitN")?;
    blocks.extend((0..rows.trailing_zeros()).map(|bit| [1 << bit, 0].to_vec()));
    blocks.extend((0..columns.trailing_zeros()).map(|bit| [0, 1 << bit].to_vec()));
    Ok(blocks)
}

pub(super) fn swizzled_shared(f: &mut fmt::Formatter<'_>, shared: &SwizzledShared) -> fmt::Result {
    swizzled(f, "swizzled_shared", shared)
}

pub(super) fn rotating_shared(f: &mut fmt::Formatter<'_>, shared: &RotatingShared) -> fmt::Result {
    swizzled(f, "amd_rotating_shared", &shared.rows)
}

fn swizzled(f: &mut fmt::Formatter<'_>, name: &str, shared: &SwizzledShared) -> fmt::Result {
    let SwizzledShared { vec, per_phase, max_phase, order, blocks } = shared;
    write!(f, "#ttg.{name}<{{vec = {vec}, perPhase = {per_phase}")?;
    write!(f, ", maxPhase = {max_phase}, order = {order:?}")?;
    cga_layout(f, ", ", blocks)?;
    f.write_str("}>")
}

pub(super) fn padded_shared(f: &mut fmt::Formatter<'_>, shared: &PaddedShared) -> fmt::Result {
    f.write_str("#ttg.padded_shared<[")?;
    for (index, gap) in shared.paddings.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(f, "{comma}{}:+{}", gap.interval, gap.padding)?;
    }
    match &shared.elements {
        PaddedElements::Order { order, shape } => {
            write!(f, "] {{order = {order:?}, shape = {shape:?}}}>")
        }
        PaddedElements::Bases { offset, block } => {
            write!(f, "] {{offset = {offset:?}, block = {block:?}}}>")
        }
    }
}

pub(super) fn partitioned_shared(
    f: &mut fmt::Formatter<'_>,
    shared: &PartitionedShared,
) -> fmt::Result {
    let PartitionedShared { num_partitions, num_groups, partition_dim, partition_layout } = shared;
    write!(f, "#ttg.partitioned_shared<{{numPartitions = {num_partitions}")?;
    write!(f, ", numGroups = {num_groups}, partitionDim = {partition_dim}")?;
    write!(f, ", partitionLayout = {partition_layout}}}>")
}

pub(super) fn nvmma_shared(f: &mut fmt::Formatter<'_>, shared: &NvmmaShared) -> fmt::Result {
    let NvmmaShared { swizzling_byte_width, transposed, element_bit_width, .. } = shared;
    write!(f, "#ttg.nvmma_shared<{{swizzlingByteWidth = {swizzling_byte_width}")?;
    write!(f, ", transposed = {transposed}, elementBitWidth = {element_bit_width}")?;
    if shared.fp4_padded {
        f.write_str(", fp4Padded = true")?;
    }
    if shared.rank != shared.blocks.first().map_or(2, Vec::len) {
        write!(f, ", rank = {}", shared.rank)?;
    }
    cga_layout(f, ", ", &shared.blocks)?;
    f.write_str("}>")
}

pub(super) fn shared_linear(f: &mut fmt::Formatter<'_>, shared: &SharedLinear) -> fmt::Result {
    let SharedLinear { offset, block, alignment } = shared;
    write!(f, "#ttg.shared_linear<{{offset = {offset:?}")?;
    if !block.is_empty() {
        write!(f, ", block = {block:?}")?;
    }
    write!(f, "}}, alignment = {alignment}>")
}

pub(super) fn tensor_memory(f: &mut fmt::Formatter<'_>, memory: &TensorMemory) -> fmt::Result {
    let TensorMemory { block_m, block_n, col_stride, blocks, two_ctas, fp4_padded } = memory;
    write!(f, "#ttng.tensor_memory_encoding<blockM = {block_m}, blockN = {block_n}")?;
    write!(f, ", colStride = {col_stride}")?;
    cga_layout(f, ", ", blocks)?;
    for (name, set) in [("twoCTAs", two_ctas), ("fp4Padded", fp4_padded)] {
        if *set {
            write!(f, ", {name} = true")?;
        }
    }
    f.write_str(">")
}

pub(super) fn tensor_memory_scales(
    f: &mut fmt::Formatter<'_>,
    memory: &TensorMemoryScales,
) -> fmt::Result {
    let TensorMemoryScales { blocks, columns_first } = memory;
    f.write_str("#ttng.tensor_memory_scales_encoding<")?;
    cga_layout(f, "", blocks)?;
    if *columns_first {
        let comma = if blocks.is_empty() { "" } else { ", " };
        write!(f, "{comma}blockRepOrder = kThenMn")?;
    }
    f.write_str(">")
}
