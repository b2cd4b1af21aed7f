//! Machines for people: a table of all, or everything that is known of one.

use super::line;
use crate::answer::MachinesAnswer;
use crate::machines::{
    IsaAnswer, MachineAnswer, MatrixMoveAnswer, MatrixMultiplyAnswer, PricesAnswer, ReachAnswer,
    ShuffleAnswer, SourceAnswer, WidthsAnswer,
};
use std::fmt::Display;
use weft_layout::Machine;

/// The widths of what stands beside a number.
const NAME: usize = 28;
const VALUE: usize = 27;

/// A table of machines.
pub fn machines(answer: &MachinesAnswer) -> String {
    let mut text = String::new();
    line(
        &mut text,
        "machine  lanes  banks  vector bytes   sector  shared bytes  threads     multi-   phases      \
         prices      such as",
    );
    line(
        &mut text,
        "                       shared/global   bytes     of a block  of a block  processors",
    );
    for machine in &answer.machines {
        let vectors = format!("{}/{}", machine.shared_vector_bytes, machine.global_vector_bytes);
        line(
            &mut text,
            format_args!(
                "{:7}  {:5}  {:5}  {vectors:>13}  {:6}  {:12}  {:10}  {:10}  {:10}  {:10}  {}",
                machine.name,
                machine.lanes,
                machine.banks,
                machine.sector_bytes,
                machine.shared_bytes_per_block,
                machine.threads_per_block,
                machine.multiprocessors,
                origin(machine, "phases.load.16"),
                origin(machine, "prices.alu"),
                such_as(&machine.name),
            ),
        );
    }
    text
}

/// Some products that are this machine; a machine of the user's is none.
fn such_as(name: &str) -> String {
    const MOST: usize = 2;
    let known = Machine::ALL.into_iter().find(|machine| machine.name == name);
    let products: Vec<&str> = known.into_iter().flat_map(Machine::products).take(MOST).collect();
    products.join(", ")
}

/// Everything that is known of a machine, each number with how it came to be known.
pub fn machine(machine: &MachineAnswer) -> String {
    let mut text = String::new();
    let isa = match &machine.isa {
        IsaAnswer::Ptx(capability) => format!("PTX, compute capability {capability}"),
        IsaAnswer::Amdgcn => "AMD's instruction set".into(),
    };
    line(&mut text, format_args!("{}: {isa}\n", machine.name));
    let mut row = |name: &str, value: &dyn Display, path: &str| {
        let value = value.to_string();
        line(&mut text, format_args!("{name:NAME$}  {value:VALUE$}  {}", origin(machine, path)));
    };
    let m = machine;
    row("lanes of a warp", &m.lanes, "lanes");
    row("banks", &m.banks, "banks");
    row("banks of stores", &m.store_banks, "store_banks");
    row("bytes of a bank", &m.bank_bytes, "bank_bytes");
    row("bytes of a shared access", &m.shared_vector_bytes, "shared_vector_bytes");
    row("bytes of a global access", &m.global_vector_bytes, "global_vector_bytes");
    row("bytes of an atomic sum", &m.atomic_vector_bytes, "atomic_vector_bytes");
    row("bytes of a sector", &m.sector_bytes, "sector_bytes");
    row("shared bytes of a block", &m.shared_bytes_per_block, "shared_bytes_per_block");
    row("shared bytes", &m.shared_bytes, "shared_bytes");
    row("threads of a block", &m.threads_per_block, "threads_per_block");
    row("threads", &m.threads, "threads");
    row("blocks", &m.blocks, "blocks");
    row("registers", &m.registers, "registers");
    row("registers of a thread", &m.registers_per_thread, "registers_per_thread");
    row("multiprocessors", &m.multiprocessors, "multiprocessors");
    row("barriers of a block", &m.barriers, "barriers");
    row("blocks of a cluster", &m.cluster_blocks, "cluster_blocks");
    for (kind, widths) in [("load", &m.phases.load), ("store", &m.phases.store)] {
        let WidthsAnswer { one, two, four, eight, sixteen } = widths;
        for (bytes, lanes) in [(1, one), (2, two), (4, four), (8, eight), (16, sixteen)] {
            let lanes: Vec<String> = lanes.iter().map(u8::to_string).collect();
            let name = format!("{bytes}-byte {kind}s, lanes");
            row(&name, &lanes.join(" "), &format!("phases.{kind}.{bytes}"));
        }
    }
    let merging = m.phases.merging.as_ref().map_or("none".into(), |merging| {
        format!("bits {:?} from {} bytes", merging.lane_bits, merging.from_bytes)
    });
    row("phases that loads join", &merging, "phases.merging");
    let copies: Vec<String> = m.direct_copies.iter().map(u32::to_string).collect();
    let copies = if copies.is_empty() { "none".into() } else { copies.join(" ") };
    row("direct copies, bytes a lane", &copies, "direct_copies");
    for form in &m.matrix_moves {
        let MatrixMoveAnswer { name, matrices, rows, row_bytes, .. } = form;
        let value = format!("{matrices:?} of {rows} x {row_bytes} bytes");
        row(name, &value, &format!("matrix_moves.{name}"));
    }
    for MatrixMultiplyAnswer { name, price, .. } in &m.matrix_multiplies {
        let price = format!("{}.{:02} cycles", price / 100, price % 100);
        row(name, &price, &format!("matrix_multiplies.{name}"));
    }
    for MatrixMultiplyAnswer { name, price, columns, .. } in &m.warpgroup_multiplies {
        let price = format!("{}.{:02} cycles for {columns} columns", price / 100, price % 100);
        row(name, &price, &format!("warpgroup_multiplies.{name}"));
    }
    for MatrixMultiplyAnswer { name, price, .. } in &m.scaled_multiplies {
        let price = format!("{}.{:02} cycles", price / 100, price % 100);
        row(name, &price, &format!("scaled_multiplies.{name}"));
    }
    for ShuffleAnswer { name, reach, pipe } in &m.shuffles {
        let reach = match reach {
            ReachAnswer::Any => "any lane".into(),
            ReachAnswer::Within(mask) => format!("masks within {mask}"),
            ReachAnswer::Masks(masks) => format!("masks {masks:?}"),
            ReachAnswer::Swap(mask) => format!("swap of {mask}"),
        };
        row(name, &format!("{reach}, {pipe}"), &format!("shuffles.{name}"));
    }
    row(&m.byte_permute, &"byte permute", "byte_permute");
    let p = &m.prices;
    let PricesAnswer { wavefront, shuffle, alu, issue, .. } = p;
    for (name, price, key) in [
        ("cycles of a wavefront", wavefront, "wavefront"),
        ("cycles of a shuffle", shuffle, "shuffle"),
        ("cycles of arithmetic", alu, "alu"),
        ("cycles of an issue", issue, "issue"),
        ("cycles of a warp's barrier", &p.warp_barrier, "warp_barrier"),
        ("cycles of a block's barrier", &p.block_barrier, "block_barrier"),
        ("  and of each warp in it", &p.block_barrier_per_warp, "block_barrier_per_warp"),
        ("cycles of a sector", &p.sector, "sector"),
    ] {
        let price = format!("{}.{:02}", price / 100, price % 100);
        row(name, &price, &format!("prices.{key}"));
    }
    line(&mut text, "\nsources, the closest of which counts");
    for SourceAnswer { of, origin, from } in &m.sources {
        let of = if of.is_empty() { "everything" } else { of };
        line(&mut text, format_args!("{of:NAME$}  {origin}: {from}"));
    }
    text
}

/// How a number came to be known.
fn origin(machine: &MachineAnswer, path: &str) -> &'static str {
    machine.machine.source(path).map_or("unknown", |source| source.origin.word())
}
