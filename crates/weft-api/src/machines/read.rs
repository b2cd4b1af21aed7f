//! A machine read from JSON: every value is checked, and nothing is passed over.

use super::MEASURED;
use super::at::{At, MachineError, Object};
use serde_json::Value;
use std::borrow::Cow;
use weft_layout::Machine;
use weft_layout::f2::Subspace;
use weft_layout::machine::{
    Fragments, Isa, Kind, MAX_ACCESS_LOG2, MatrixMove, MatrixMultiply, Number, Origin, Part,
    Phases, Pipe, Prices, Reach, Shuffle, Source, Storage, Timing, Together, Transposes, Widths,
};

/// The most lanes of a warp that the engine's tables have room for.
const MAX_LANES: u32 = 64;
/// More than any price: sums of them stay far from the end of 64 bits.
const MAX_PRICE: u64 = 1_000_000_000;
/// More than any capacity.
const MAX_BYTES: u64 = 1 << 30;
const MAX_COUNT: u32 = 1 << 24;

const KEYS: [&str; 32] = [
    "name",
    "isa",
    "lanes",
    "banks",
    "store_banks",
    "bank_bytes",
    "phases",
    "shared_vector_bytes",
    "global_vector_bytes",
    "atomic_vector_bytes",
    "sector_bytes",
    "shared_bytes_per_block",
    "shared_bytes",
    "threads_per_block",
    "threads",
    "blocks",
    "registers",
    "registers_per_thread",
    "multiprocessors",
    "barriers",
    "cluster_blocks",
    "direct_copies",
    "matrix_moves",
    "matrix_multiplies",
    "warpgroup_multiplies",
    "scaled_multiplies",
    "shuffles",
    "byte_permute",
    "prices",
    "timing",
    "sources",
    MEASURED,
];

/// The machine that a JSON value describes, as [`MachineAnswer`](super::MachineAnswer) writes it.
///
/// Every key must be there except `sources` (then nothing is known of where the numbers come from),
/// `warpgroup_multiplies` and `scaled_multiplies` (then there are none), `atomic_vector_bytes` (then each takes one element), `timing` (then it is that of
/// `sm_90` or `gfx942`) and `measured`, which is not looked into.
pub fn read(value: &Value) -> Result<Machine, MachineError> {
    let object = At::root(value).object(&KEYS)?;
    let get = |key| object.get(key);
    let lanes = get("lanes")?.power(1..=MAX_LANES)?;
    let bank_bytes = get("bank_bytes")?.power(1..=1 << MAX_ACCESS_LOG2)?;
    let banks = get("banks")?.power(1..=1024)?;
    let store_banks = get("store_banks")?.power(1..=1024)?;
    let rows = [banks * bank_bytes, store_banks * bank_bytes];
    let shared_bytes = get("shared_bytes")?.number(1..=MAX_BYTES)?;
    let threads = get("threads")?.count(lanes..=MAX_COUNT)?;
    let global_vector_bytes = get("global_vector_bytes")?.power(1..=64)?;
    let registers = get("registers")?.count(1..=MAX_COUNT)?;
    let isa = isa(&get("isa")?)?;
    Ok(Machine {
        name: Cow::Owned(name(&get("name")?)?),
        isa,
        lanes_log2: lanes.ilog2(),
        banks_log2: banks.ilog2(),
        store_banks_log2: store_banks.ilog2(),
        bank_bytes_log2: bank_bytes.ilog2(),
        phases: phases(&get("phases")?, lanes, bank_bytes, rows)?,
        shared_vector_bytes: get("shared_vector_bytes")?.power(1..=1 << MAX_ACCESS_LOG2)?,
        global_vector_bytes,
        atomic_vector_bytes: match object.find("atomic_vector_bytes") {
            Some(at) => at.power(1..=global_vector_bytes)?,
            None => 1,
        },
        sector_bytes: get("sector_bytes")?.power(1..=4096)?,
        shared_bytes_per_block: within(
            &get("shared_bytes_per_block")?,
            shared_bytes,
            "shared_bytes",
        )?,
        shared_bytes,
        threads_per_block: threads_per_block(&get("threads_per_block")?, lanes, threads)?,
        threads,
        blocks: get("blocks")?.count(1..=MAX_COUNT)?,
        registers,
        registers_per_thread: within(
            &get("registers_per_thread")?,
            u64::from(registers),
            "registers",
        )? as u32,
        multiprocessors: get("multiprocessors")?.count(1..=1 << 16)?,
        barriers: get("barriers")?.count(1..=1 << 16)?,
        cluster_blocks: get("cluster_blocks")?.count(1..=1 << 16)?,
        direct_copies: Cow::Owned(match object.find("direct_copies") {
            Some(at) => direct_copies(&at)?,
            None => Vec::new(),
        }),
        matrix_moves: Cow::Owned(matrix_moves(&get("matrix_moves")?, lanes)?),
        matrix_multiplies: Cow::Owned(matrix_multiplies(&get("matrix_multiplies")?, 1, false)?),
        warpgroup_multiplies: Cow::Owned(match object.find("warpgroup_multiplies") {
            Some(at) => matrix_multiplies(&at, 4, false)?,
            None => Vec::new(),
        }),
        scaled_multiplies: Cow::Owned(match object.find("scaled_multiplies") {
            Some(at) => matrix_multiplies(&at, 1, true)?,
            None => Vec::new(),
        }),
        shuffles: Cow::Owned(shuffles(&get("shuffles")?, lanes)?),
        byte_permute: Cow::Owned(get("byte_permute")?.text()?.to_owned()),
        prices: prices(&get("prices")?)?,
        timing: match object.find("timing") {
            Some(at) => timing(&at)?,
            None => match usual_timing(isa) {
                Some(usual) => usual,
                None => timing(&get("timing")?)?,
            },
        },
        sources: Cow::Owned(sources(&object)?),
    })
}

fn name(at: &At<'_>) -> Result<String, MachineError> {
    let text = at.text()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if text.is_empty() || text.len() > 64 || !text.chars().all(plain) {
        return at.refuse("a name is of 1 to 64 letters, digits, `_`, `-` and `.`");
    }
    Ok(text.to_owned())
}

fn isa(at: &At<'_>) -> Result<Isa, MachineError> {
    if at.value.is_string() {
        return at.word(&[("amdgcn", Isa::Amdgcn)]);
    }
    let capability = at.object(&["ptx"])?.get("ptx")?.count(10..=9999)?;
    Ok(Isa::Ptx { capability })
}

/// A capacity of a part, which the whole's bounds.
fn within(at: &At<'_>, whole: u64, of: &str) -> Result<u64, MachineError> {
    let part = at.number(1..=MAX_BYTES)?;
    if part > whole {
        return at.refuse(format!("{part} is more than `{of}`, which is {whole}"));
    }
    Ok(part)
}

fn threads_per_block(at: &At<'_>, lanes: u32, threads: u32) -> Result<u32, MachineError> {
    let count = within(at, threads.into(), "threads")? as u32;
    if count < lanes || !count.is_multiple_of(lanes) {
        return at.refuse(format!("{count} threads are no warps of {lanes} lanes"));
    }
    Ok(count)
}

fn phases(
    at: &At<'_>,
    lanes: u32,
    bank_bytes: u32,
    [load_row, store_row]: [u32; 2],
) -> Result<Phases, MachineError> {
    let object = at.object(&["load", "store", "merging"])?;
    let (merging, merging_from) = match object.find("merging") {
        Some(at) if !at.value.is_null() => merges(&at, lanes)?,
        _ => (0, u32::MAX),
    };
    let load = widths(&object.get("load")?, lanes, bank_bytes, load_row)?;
    let store = widths(&object.get("store")?, lanes, bank_bytes, store_row)?;
    Ok(Phases { load, store, merging, merging_from })
}

fn merges(at: &At<'_>, lanes: u32) -> Result<(u8, u32), MachineError> {
    let object = at.object(&["lane_bits", "from_bytes"])?;
    let bits = object.get("lane_bits")?;
    let mut mask = 0;
    for at in bits.list()? {
        let bit = at.count(0..=u32::MAX)?;
        if bit >= lanes.ilog2() {
            return at.refuse(format!("a warp of {lanes} lanes has no lane bit {bit}"));
        }
        mask |= 1 << bit;
    }
    if mask == 0 {
        return bits.refuse("name a lane bit, or give null for `merging`");
    }
    // Phases join with those of half the width.
    let from = object.get("from_bytes")?.power(2..=1 << MAX_ACCESS_LOG2)?;
    Ok((mask, from.ilog2()))
}

fn widths(at: &At<'_>, lanes: u32, bank_bytes: u32, row: u32) -> Result<Together, MachineError> {
    let object = at.object(&["1", "2", "4", "8", "16"])?;
    let mut table = Together::default();
    for (log2, slot) in table.iter_mut().enumerate() {
        let width = 1 << log2;
        let at = object.get(&format!("{width}"))?;
        let mut basis: Vec<u64> = Vec::new();
        for vector in at.list()? {
            let lane = vector.number(1..=u64::from(MAX_LANES) - 1)?;
            if lane >= u64::from(lanes) {
                return vector.refuse(format!("a warp of {lanes} lanes has no lane {lane}"));
            }
            if Subspace::from_vectors(&basis).contains(lane) {
                return vector.refuse(format!(
                    "{lane} is an exclusive-or of the others, and a basis has none such"
                ));
            }
            basis.push(lane);
        }
        let bytes = u32::max(width, bank_bytes) << basis.len();
        if bytes > row {
            return at.refuse(format!(
                "{} lanes ask for {bytes} bytes together, and all banks serve {row}",
                1 << basis.len()
            ));
        }
        for (slot, lane) in slot.iter_mut().zip(basis) {
            *slot = lane as u8;
        }
    }
    Ok(table)
}

/// Widths of copies, the narrowest first.
fn direct_copies(at: &At<'_>) -> Result<Vec<u32>, MachineError> {
    let mut widths: Vec<u32> = Vec::new();
    for at in at.list()? {
        let bytes = at.power(1..=1 << MAX_ACCESS_LOG2)?;
        if widths.last().is_some_and(|&last| last >= bytes) {
            return at.refuse("the widths of copies are told from the narrowest on, each once");
        }
        widths.push(bytes);
    }
    Ok(widths)
}

fn matrix_moves(at: &At<'_>, lanes: u32) -> Result<Vec<MatrixMove>, MachineError> {
    at.list()?.iter().map(|at| matrix_move(at, lanes)).collect()
}

fn matrix_move(at: &At<'_>, lanes: u32) -> Result<MatrixMove, MachineError> {
    let object = at.object(&[
        "name",
        "kind",
        "element_bits",
        "rows",
        "row_bytes",
        "matrices",
        "transposes",
        "architecture_specific",
    ])?;
    let rows = object.get("rows")?.power(1..=lanes)?;
    let counts = object.get("matrices")?;
    let mut matrices = Vec::new();
    for at in counts.list()? {
        let count = at.power(1..=MAX_LANES)?;
        if count * rows > lanes {
            return at
                .refuse(format!("{count} matrices of {rows} rows need more than {lanes} lanes"));
        }
        matrices.push(count);
    }
    if matrices.is_empty() {
        return counts.refuse("an instruction moves at least one matrix");
    }
    Ok(MatrixMove {
        name: Cow::Owned(object.get("name")?.text()?.to_owned()),
        kind: object.get("kind")?.word(&[("load", Kind::Load), ("store", Kind::Store)])?,
        element_bits: object.get("element_bits")?.power(1..=64)?,
        rows,
        row_bytes: object.get("row_bytes")?.power(1..=128)?,
        matrices: Cow::Owned(matrices),
        transposes: (object.get("transposes")?)
            .word(&[("either", Transposes::Either), ("always", Transposes::Always)])?,
        architecture_specific: object.get("architecture_specific")?.truth()?,
    })
}

/// Instructions that so many warps run together, of factors with scales or without.
fn matrix_multiplies(
    at: &At<'_>,
    warps: u32,
    scaled: bool,
) -> Result<Vec<MatrixMultiply>, MachineError> {
    let one = |at: &At<'_>| {
        let multiply = matrix_multiply(at, warps)?;
        match (multiply.scale_group().is_some(), scaled) {
            (true, false) => at.refuse("its factors have scales, and those of its list have none"),
            (false, true) => at.refuse("its factors have no scales, and those of its list have"),
            (true, true)
                if multiply.rows != multiply.columns || multiply.rows * multiply.summed != 2048 =>
            {
                at.refuse("with scales there are products of 16 x 16 x 128 and of 32 x 32 x 64")
            }
            _ => Ok(multiply),
        }
    };
    at.list()?.iter().map(one).collect()
}

fn matrix_multiply(at: &At<'_>, warps: u32) -> Result<MatrixMultiply, MachineError> {
    let object = at.object(&[
        "name",
        "rows",
        "columns",
        "widths",
        "summed",
        "left",
        "right",
        "sum",
        "fragments",
        "architecture_specific",
        "price",
    ])?;
    let number = |key| object.get(key)?.word(&Number::ALL.map(|number| (number.word(), number)));
    let (left, right) = (number("left")?, number("right")?);
    let known = Fragments::ALL.map(|fragments| (fragments.word(), fragments));
    // Files that do not say are of the time when there was `mma` alone.
    let fragments = object.find("fragments").map_or(Ok(Fragments::Mma), |at| at.word(&known))?;
    if left.bits() != right.bits() && fragments != Fragments::MfmaScaled {
        return object.get("right")?.refuse("the factors are of one width");
    }
    let [rows, columns, summed] = fragments.sizes(left.bits());
    let multiply = MatrixMultiply {
        name: Cow::Owned(object.get("name")?.text()?.to_owned()),
        rows: object.get("rows")?.power(rows)?,
        columns: object.get("columns")?.count(columns)?,
        widths: Cow::Owned(object.find("widths").map_or(Ok(Vec::new()), |at| widths_of(&at))?),
        summed: object.get("summed")?.power(summed)?,
        left,
        right,
        sum: number("sum")?,
        fragments,
        transposed: false,
        architecture_specific: (object.find("architecture_specific"))
            .map_or(Ok(false), |at| at.truth())?,
        price: object.get("price")?.number(0..=MAX_PRICE)?,
    };
    if multiply.warps() != warps {
        return at.refuse(format!(
            "{} warps run it together, and {warps} do where it stands",
            multiply.warps()
        ));
    }
    let registers = [Part::Left, Part::Right, Part::Sum].into_iter();
    let mut registers = registers.filter(|&part| multiply.storage(part) != Storage::Shared);
    match registers.find_map(|part| multiply.fragment(part).err()) {
        Some(error) => at.refuse(error.to_string()),
        None => Ok(multiply),
    }
}

/// Reads the numbers of columns that an instruction can have.
fn widths_of(at: &At<'_>) -> Result<Vec<Widths>, MachineError> {
    let widths = |at: &At<'_>| {
        let object = at.object(&["from", "to", "step"])?;
        let from = object.get("from")?.count(8..=256)?;
        let to = object.get("to")?.count(from..=256)?;
        Ok(Widths { from, to, step: object.get("step")?.count(8..=256)? })
    };
    at.list()?.iter().map(widths).collect()
}

fn shuffles(at: &At<'_>, lanes: u32) -> Result<Vec<Shuffle>, MachineError> {
    let shuffle = |at: &At<'_>| {
        let object = at.object(&["name", "reach", "pipe"])?;
        Ok(Shuffle {
            name: Cow::Owned(object.get("name")?.text()?.to_owned()),
            reach: reach(&object.get("reach")?, lanes)?,
            pipe: (object.get("pipe")?)
                .word(&[("memory", Pipe::Memory), ("arithmetic", Pipe::Arithmetic)])?,
        })
    };
    at.list()?.iter().map(shuffle).collect()
}

fn reach(at: &At<'_>, lanes: u32) -> Result<Reach, MachineError> {
    if let Value::String(text) = at.value {
        if text == "any" {
            return Ok(Reach::Any);
        }
        return at
            .refuse("the reach is \"any\", {\"within\": N}, {\"masks\": [N]} or {\"swap\": N}");
    }
    let object = at.object(&["within", "masks", "swap"])?;
    let mask = |at: &At<'_>| at.number(1..=u64::from(lanes).max(2) - 1);
    match (object.find("within"), object.find("masks"), object.find("swap")) {
        (Some(at), None, None) => mask(&at).map(Reach::Within),
        (None, Some(at), None) => {
            let masks: Result<Vec<u64>, _> = at.list()?.iter().map(mask).collect();
            Ok(Reach::Masks(Cow::Owned(masks?)))
        }
        (None, None, Some(at)) => {
            let mask = mask(&at)?;
            if mask.is_power_of_two() {
                Ok(Reach::Swap(mask))
            } else {
                at.refuse(format!("{mask} is more than one lane bit"))
            }
        }
        _ => at.refuse("the reach has one of `within`, `masks` and `swap`"),
    }
}

fn prices(at: &At<'_>) -> Result<Prices, MachineError> {
    let object = at.object(&[
        "wavefront",
        "shuffle",
        "alu",
        "issue",
        "warp_barrier",
        "block_barrier",
        "block_barrier_per_warp",
        "sector",
    ])?;
    let positive = |key| object.get(key)?.number(1..=MAX_PRICE);
    let any = |key| object.get(key)?.number(0..=MAX_PRICE);
    Ok(Prices {
        wavefront: positive("wavefront")?,
        shuffle: positive("shuffle")?,
        alu: positive("alu")?,
        issue: positive("issue")?,
        warp_barrier: any("warp_barrier")?,
        block_barrier: any("block_barrier")?,
        block_barrier_per_warp: any("block_barrier_per_warp")?,
        sector: positive("sector")?,
    })
}

fn timing(at: &At<'_>) -> Result<Timing, MachineError> {
    let object =
        at.object(&["parts", "special", "l2_sector", "exchange", "matrix", "shared", "global"])?;
    let time = |key| object.get(key)?.number(1..=MAX_PRICE);
    Ok(Timing {
        parts: object.get("parts")?.count(1..=64)?,
        special: time("special")?,
        l2_sector: time("l2_sector")?,
        exchange: time("exchange")?,
        matrix: time("matrix")?,
        shared: time("shared")?,
        global: time("global")?,
    })
}

/// The timing of a machine whose file does not tell it: of the first known one with its instruction set.
fn usual_timing(isa: Isa) -> Option<Timing> {
    let set = core::mem::discriminant(&isa);
    let usual = ["sm_90", "gfx942"].into_iter().filter_map(Machine::by_name);
    let mut usual = usual.filter(|machine| core::mem::discriminant(&machine.isa) == set);
    usual.next().map(|machine| machine.timing)
}

fn sources(machine: &Object<'_>) -> Result<Vec<Source>, MachineError> {
    let Some(at) = machine.find("sources") else {
        let from = Cow::Borrowed("the machine's file does not say");
        return Ok(vec![Source { of: Cow::Borrowed(""), origin: Origin::Recalled, from }]);
    };
    let origins = Origin::ALL.map(|origin| (origin.word(), origin));
    let source = |at: &At<'_>| {
        let object = at.object(&["of", "origin", "from"])?;
        let of = object.get("of")?;
        let path = of.text()?;
        let first = path.split('.').next().unwrap_or_default();
        if !path.is_empty() && !KEYS[2..KEYS.len() - 2].contains(&first) {
            return of.refuse(format!("a machine has no `{first}` that could have a source"));
        }
        Ok(Source {
            of: Cow::Owned(path.to_owned()),
            origin: object.get("origin")?.word(&origins)?,
            from: Cow::Owned(object.get("from")?.text()?.to_owned()),
        })
    };
    at.list()?.iter().map(source).collect()
}
