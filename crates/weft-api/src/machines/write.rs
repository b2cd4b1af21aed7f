//! A machine as it is written.

use serde::Serialize;
use weft_layout::Machine;
use weft_layout::machine::{
    Isa, Kind, MatrixMove, MatrixMultiply, Phases, Pipe, Prices, Reach, Shuffle, Source, Timing,
    Together, Transposes, Widths,
};

/// A machine, with every number of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MachineAnswer {
    /// The name under which it is chosen.
    pub name: String,
    /// The instruction set that programs for it are written in.
    pub isa: IsaAnswer,
    /// Lanes of a warp.
    pub lanes: u32,
    /// Banks of shared memory.
    pub banks: u32,
    /// Banks of shared memory as stores see them.
    pub store_banks: u32,
    /// Bytes that a bank serves in a wavefront.
    pub bank_bytes: u32,
    /// Which lanes shared memory serves together.
    pub phases: PhasesAnswer,
    /// The most bytes of one lane in one access of shared memory.
    pub shared_vector_bytes: u32,
    /// The most bytes of one lane in one access of global memory.
    pub global_vector_bytes: u32,
    /// The most bytes of one lane to which one atomic adds floats; 1 where each takes one element.
    pub atomic_vector_bytes: u32,
    /// Bytes of a sector of global memory.
    pub sector_bytes: u32,
    /// The most bytes of shared memory of a block.
    pub shared_bytes_per_block: u64,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_bytes: u64,
    /// The most threads of a block.
    pub threads_per_block: u32,
    /// The most threads on a multiprocessor.
    pub threads: u32,
    /// The most blocks on a multiprocessor.
    pub blocks: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
    /// The most 32-bit registers of a thread.
    pub registers_per_thread: u32,
    /// Multiprocessors of the largest device of this kind.
    pub multiprocessors: u32,
    /// The barriers that the warps of one block can wait at.
    pub barriers: u32,
    /// The most blocks of a cluster.
    pub cluster_blocks: u32,
    /// The bytes of one lane that a copy from global straight into shared memory moves, where the lanes
    /// of a wave write side by side; none without such copies.
    pub direct_copies: Vec<u32>,
    /// The instructions that move matrices between shared memory and registers.
    pub matrix_moves: Vec<MatrixMoveAnswer>,
    /// The instructions by which one warp multiplies matrices in its registers.
    pub matrix_multiplies: Vec<MatrixMultiplyAnswer>,
    /// The instructions by which four warps multiply matrices, from shared memory.
    pub warpgroup_multiplies: Vec<MatrixMultiplyAnswer>,
    /// The instructions by which one warp multiplies matrices of numbers with scales, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scaled_multiplies: Vec<MatrixMultiplyAnswer>,
    /// The instructions that exchange registers between lanes.
    pub shuffles: Vec<ShuffleAnswer>,
    /// The instruction that makes a word of any four bytes of two.
    pub byte_permute: String,
    /// What instructions cost, in hundredths of a cycle.
    pub prices: PricesAnswer,
    /// How long instructions take, in hundredths of a cycle.
    pub timing: TimingAnswer,
    /// Where these numbers come from.
    pub sources: Vec<SourceAnswer>,
    /// The machine itself, for reports.
    #[serde(skip)]
    pub machine: Machine,
}

/// The instruction set of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IsaAnswer {
    /// NVIDIA PTX of this compute capability, for example 90.
    Ptx(u32),
    /// AMD's instruction set for the processor that the machine is named after.
    Amdgcn,
}

/// Which lanes shared memory serves together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhasesAnswer {
    /// The lanes that loads serve together.
    pub load: WidthsAnswer,
    /// The lanes that stores serve together.
    pub store: WidthsAnswer,
    /// Which phases a load joins in pairs, if any.
    pub merging: Option<MergingAnswer>,
}

/// A basis of the differences of lanes that are served together, for each width in bytes a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WidthsAnswer {
    /// One byte a lane.
    #[serde(rename = "1")]
    pub one: Vec<u8>,
    /// Two bytes a lane.
    #[serde(rename = "2")]
    pub two: Vec<u8>,
    /// Four bytes a lane.
    #[serde(rename = "4")]
    pub four: Vec<u8>,
    /// Eight bytes a lane.
    #[serde(rename = "8")]
    pub eight: Vec<u8>,
    /// Sixteen bytes a lane.
    #[serde(rename = "16")]
    pub sixteen: Vec<u8>,
}

/// Loads that join their phases in pairs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MergingAnswer {
    /// The lane bits one of which must be a copy for the whole warp.
    pub lane_bits: Vec<u32>,
    /// The narrowest load that does so, in bytes a lane.
    pub from_bytes: u32,
}

/// An instruction that moves matrices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatrixMoveAnswer {
    /// The mnemonic without count and transposition.
    pub name: String,
    /// Which way it moves them: `load` or `store`.
    pub kind: &'static str,
    /// The bits of an element.
    pub element_bits: u32,
    /// The rows of one matrix.
    pub rows: u32,
    /// The bytes of a row.
    pub row_bytes: u32,
    /// How many matrices one instruction can move.
    pub matrices: Vec<u32>,
    /// Whether it transposes them: `either` or `always`.
    pub transposes: &'static str,
    /// Whether only code for the architecture alone may use it.
    pub architecture_specific: bool,
}

/// An instruction that multiplies two matrices and adds the product to a third.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatrixMultiplyAnswer {
    /// The shape and the kinds of numbers, as one word.
    pub name: String,
    /// Rows of the left factor.
    pub rows: u32,
    /// Columns of the right factor; the fewest of several.
    pub columns: u32,
    /// The numbers of columns that it can have, where it is not `columns` alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub widths: Vec<ColumnsAnswer>,
    /// How many products each sum gets.
    pub summed: u32,
    /// What the left factor holds: `f16`, `bf16`, `tf32`, `f32`, `f64`, `e4m3`, `e5m2`, `e4m3fnuz`,
    /// `e5m2fnuz` or `s8`.
    pub left: &'static str,
    /// What the right factor holds.
    pub right: &'static str,
    /// What the sum holds: `f16`, `f32`, `f64` or `s32`.
    pub sum: &'static str,
    /// How its matrices are dealt out: `mma`, `wgmma`, `mfma`, `wmma_gfx11` or `wmma_gfx12`.
    pub fragments: &'static str,
    /// Whether only code for the architecture alone may use it.
    pub architecture_specific: bool,
    /// Hundredths of a cycle for one instruction of all its warps, with `columns` columns.
    pub price: u64,
}

/// Numbers of columns: `from`, `from + step`, … to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnsAnswer {
    /// The fewest columns that there are.
    pub from: u32,
    /// The most columns that there are.
    pub to: u32,
    /// From one to the next.
    pub step: u32,
}

/// An instruction that exchanges registers between lanes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShuffleAnswer {
    /// The mnemonic, as the vendor's assembler spells it.
    pub name: String,
    /// Which lane a lane can read.
    pub reach: ReachAnswer,
    /// What it keeps busy: `memory` or `arithmetic`.
    pub pipe: &'static str,
}

/// Which lane a lane reads in a shuffle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReachAnswer {
    /// Any lane of the warp.
    Any,
    /// The one that differs by a mask within these bits.
    Within(u64),
    /// The one that differs by one of these masks.
    Masks(Vec<u64>),
    /// Of two registers, lanes with this bit set and clear change places.
    Swap(u64),
}

/// What instructions cost a warp, in hundredths of a cycle of a multiprocessor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PricesAnswer {
    /// One wavefront of shared memory.
    pub wavefront: u64,
    /// One lane exchange of 32 bits by an instruction that goes to any lane.
    pub shuffle: u64,
    /// One integer or logic instruction, select or byte permute.
    pub alu: u64,
    /// The issue of one instruction.
    pub issue: u64,
    /// A barrier of one warp.
    pub warp_barrier: u64,
    /// A barrier of a block, without the share of its warps.
    pub block_barrier: u64,
    /// The share of each warp in a barrier of a block.
    pub block_barrier_per_warp: u64,
    /// One sector of global memory.
    pub sector: u64,
}

/// How long instructions take, in hundredths of a cycle: what no choice of a layout hangs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimingAnswer {
    /// The parts of a multiprocessor that issue for themselves.
    pub parts: u32,
    /// One special function of a whole warp, all parts together.
    pub special: u64,
    /// One sector of global memory out of the L2 cache.
    pub l2_sector: u64,
    /// Until the result of an exchange between lanes may be used.
    pub exchange: u64,
    /// Until the sum of a warp's product of matrices may be used.
    pub matrix: u64,
    /// Until what is loaded from shared memory may be used.
    pub shared: u64,
    /// Until what is loaded from global memory may be used, where the L2 cache has it.
    pub global: u64,
}

/// Where numbers come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceAnswer {
    /// The number, or all below, as keys with dots between them; empty for the whole machine.
    pub of: String,
    /// `measured`, `published`, `documented`, `assembled`, `inferred` or `recalled`.
    pub origin: &'static str,
    /// The document, the measurement or the other number that it was taken from.
    pub from: String,
}

impl MachineAnswer {
    /// A machine as it is written.
    pub fn of(machine: &Machine) -> Self {
        let power = |log2: u32| 1_u32.checked_shl(log2).unwrap_or(0);
        Self {
            name: machine.name.to_string(),
            isa: match machine.isa {
                Isa::Ptx { capability } => IsaAnswer::Ptx(capability),
                _ => IsaAnswer::Amdgcn,
            },
            lanes: machine.lanes(),
            banks: power(machine.banks_log2),
            store_banks: power(machine.store_banks_log2),
            bank_bytes: power(machine.bank_bytes_log2),
            phases: phases(&machine.phases),
            shared_vector_bytes: machine.shared_vector_bytes,
            global_vector_bytes: machine.global_vector_bytes,
            atomic_vector_bytes: machine.atomic_vector_bytes,
            sector_bytes: machine.sector_bytes,
            shared_bytes_per_block: machine.shared_bytes_per_block,
            shared_bytes: machine.shared_bytes,
            threads_per_block: machine.threads_per_block,
            threads: machine.threads,
            blocks: machine.blocks,
            registers: machine.registers,
            registers_per_thread: machine.registers_per_thread,
            multiprocessors: machine.multiprocessors,
            barriers: machine.barriers,
            cluster_blocks: machine.cluster_blocks,
            direct_copies: machine.direct_copies.to_vec(),
            matrix_moves: machine.matrix_moves.iter().map(matrix_move).collect(),
            matrix_multiplies: machine.matrix_multiplies.iter().map(matrix_multiply).collect(),
            warpgroup_multiplies: (machine.warpgroup_multiplies.iter())
                .map(matrix_multiply)
                .collect(),
            scaled_multiplies: machine.scaled_multiplies.iter().map(matrix_multiply).collect(),
            shuffles: machine.shuffles.iter().map(shuffle).collect(),
            byte_permute: machine.byte_permute.to_string(),
            prices: prices(&machine.prices),
            timing: timing(&machine.timing),
            sources: machine.sources.iter().map(source).collect(),
            machine: machine.clone(),
        }
    }
}

fn phases(phases: &Phases) -> PhasesAnswer {
    let widths = |table: &Together| {
        let [one, two, four, eight, sixteen] =
            table.map(|row| row.into_iter().filter(|&lanes| lanes != 0).collect());
        WidthsAnswer { one, two, four, eight, sixteen }
    };
    let merging = phases.merging;
    PhasesAnswer {
        load: widths(&phases.load),
        store: widths(&phases.store),
        merging: (merging != 0).then(|| MergingAnswer {
            lane_bits: (0..8).filter(|bit| merging >> bit & 1 == 1).collect(),
            from_bytes: 1_u32.checked_shl(phases.merging_from).unwrap_or(0),
        }),
    }
}

fn matrix_move(form: &MatrixMove) -> MatrixMoveAnswer {
    MatrixMoveAnswer {
        name: form.name.to_string(),
        kind: match form.kind {
            Kind::Load => "load",
            Kind::Store => "store",
        },
        element_bits: form.element_bits,
        rows: form.rows,
        row_bytes: form.row_bytes,
        matrices: form.matrices.to_vec(),
        transposes: match form.transposes {
            Transposes::Either => "either",
            Transposes::Always => "always",
        },
        architecture_specific: form.architecture_specific,
    }
}

fn matrix_multiply(form: &MatrixMultiply) -> MatrixMultiplyAnswer {
    let columns = |&Widths { from, to, step }: &Widths| ColumnsAnswer { from, to, step };
    MatrixMultiplyAnswer {
        name: form.name.to_string(),
        rows: form.rows,
        columns: form.columns,
        widths: form.widths.iter().map(columns).collect(),
        summed: form.summed,
        left: form.left.word(),
        right: form.right.word(),
        sum: form.sum.word(),
        fragments: form.fragments.word(),
        architecture_specific: form.architecture_specific,
        price: form.price,
    }
}

fn shuffle(form: &Shuffle) -> ShuffleAnswer {
    ShuffleAnswer {
        name: form.name.to_string(),
        reach: match &form.reach {
            Reach::Any => ReachAnswer::Any,
            Reach::Within(mask) => ReachAnswer::Within(*mask),
            Reach::Masks(masks) => ReachAnswer::Masks(masks.to_vec()),
            Reach::Swap(mask) => ReachAnswer::Swap(*mask),
        },
        pipe: match form.pipe {
            Pipe::Memory => "memory",
            Pipe::Arithmetic => "arithmetic",
        },
    }
}

fn prices(prices: &Prices) -> PricesAnswer {
    let &Prices {
        wavefront,
        shuffle,
        alu,
        issue,
        warp_barrier,
        block_barrier,
        block_barrier_per_warp,
        sector,
    } = prices;
    PricesAnswer {
        wavefront,
        shuffle,
        alu,
        issue,
        warp_barrier,
        block_barrier,
        block_barrier_per_warp,
        sector,
    }
}

fn timing(timing: &Timing) -> TimingAnswer {
    let &Timing { parts, special, l2_sector, exchange, matrix, shared, global } = timing;
    TimingAnswer { parts, special, l2_sector, exchange, matrix, shared, global }
}

fn source(source: &Source) -> SourceAnswer {
    SourceAnswer {
        of: source.of.to_string(),
        origin: source.origin.word(),
        from: source.from.to_string(),
    }
}
