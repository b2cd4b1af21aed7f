//! One instruction of an access: what it touches of the tensor, and how the banks serve it.

use super::banks::{Banks, whole};
use super::grid::{Held, of_elements};
use super::palette::{Colour, legend};
use super::scene::{Cell, Fill, Group, Panel, Scene, Served};
use super::tile::{extent, numbers};
use crate::error::ApiError;
use std::collections::BTreeMap;
use weft_layout::access::{Asker, ConflictsError, Kind, Memory, Phase, Transfer, Word};
use weft_layout::space::OFFSET;

/// One instruction of one warp that moves a part of a tensor.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Which of the warp's.
    pub number: u64,
    /// The number of the warp that issues it.
    pub warp: u64,
    /// How it is served.
    pub phases: Vec<Phase>,
    /// For each lane what it moves, in the order of memory.
    moved: BTreeMap<u32, Vec<Moved>>,
    /// The elements of a vector in one word; or the words of an element.
    per_word: Share,
}

/// What a lane moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The number of the register.
    pub register: u64,
    /// The number of the element in its tensor, row by row.
    pub element: u64,
}

#[derive(Clone, Copy, Debug)]
enum Share {
    Elements(usize),
    Words(usize),
}

impl Instruction {
    /// An instruction of a movement.
    pub fn of(transfer: &Transfer<'_>, number: u64, warp: u64) -> Result<Self, ConflictsError> {
        let phases = transfer.served(number, warp)?;
        let lanes = phases.iter().flat_map(|phase| phase.lanes.iter().copied());
        let moved = lanes.map(|lane| {
            let registers = transfer.registers(number, warp, lane).into_iter();
            let both = registers.zip(transfer.elements(number, warp, lane));
            (lane, both.map(|(register, element)| Moved { register, element }).collect())
        });
        let moved: BTreeMap<u32, Vec<Moved>> = moved.collect();
        let elements = moved.values().next().map_or(1, Vec::len);
        let words = 1 + phases
            .iter()
            .flat_map(|phase| &phase.words)
            .flat_map(|word| word.asked.iter().map(|asker| asker.word as usize))
            .max()
            .unwrap_or(0);
        let per_word = if elements >= words {
            Share::Elements(elements / words)
        } else {
            Share::Words(words / elements.max(1))
        };
        Ok(Self { number, warp, phases, moved, per_word })
    }

    /// What a lane moves of a word.
    pub fn moved(&self, asker: Asker) -> &[Moved] {
        let word = asker.word as usize;
        let (start, count) = match self.per_word {
            Share::Elements(elements) => (word * elements, elements),
            Share::Words(words) => (word / words, 1),
        };
        let own = self.moved.get(&asker.lane).map_or(&[][..], |moved| moved);
        own.get(start..(start + count).min(own.len())).unwrap_or_default()
    }

    /// Each phase's words with who asks for them.
    fn words(&self) -> impl Iterator<Item = (Served, &Word)> {
        (0..).zip(&self.phases).flat_map(|(phase, served)| {
            let words = served.words.iter();
            words.map(move |word| (Served { phase, wavefront: word.wavefront }, word))
        })
    }
}

/// The tensor with each element's bank; what the instruction moves is marked and names its lane.
///
/// Fails as [`scene`](super::scene()) does.
pub fn served_tile(
    memory: Memory<'_>,
    banks: Banks<'_>,
    kind: Kind,
    instruction: &Instruction,
) -> Result<Scene, ApiError> {
    let mut touched: BTreeMap<u64, (Served, Vec<(u32, u64)>)> = BTreeMap::new();
    for (served, word) in instruction.words() {
        for &asker in &word.asked {
            for moved in instruction.moved(asker) {
                let entry = touched.entry(moved.element).or_insert((served, Vec::new()));
                entry.1.push((asker.lane, moved.register));
            }
        }
    }
    let (map, view) = whole(memory);
    let ins = map.ins();
    let held = |element: u64, place: u64| {
        let offset = view.physical(ins.coordinate(OFFSET, place));
        let bank = banks.of(offset);
        let here = touched.get(&element);
        let lanes = here.map_or(&[][..], |(_, lanes)| lanes);
        let more = here.map(|(served, lanes)| {
            let lanes: Vec<String> = (lanes.iter())
                .map(|(lane, register)| format!("register {register} of lane {lane}"))
                .collect();
            let Served { phase, wavefront } = served;
            format!(", {}, phase {phase}, wavefront {wavefront}", lanes.join(" and "))
        });
        Held {
            text: named(lanes.iter().map(|(lane, _)| *lane)).unwrap_or_else(|| bank.to_string()),
            more: format!(", bank {bank}{}", more.unwrap_or_default()),
            colour: Colour::of(bank),
            served: here.map(|(served, _)| *served),
        }
    };
    let caption = "A cell is an element and its colour the bank; T5 says that lane 5 moves it now, \
                   another number is the bank.";
    let mut scene = of_elements(&map, &view, "What one instruction moves", caption, held)?;
    scene.notes.insert(0, banks.note());
    scene.notes.insert(0, said(kind, instruction));
    scene.legend = legend("bank", banks.machine.banks_log2);
    Ok(scene)
}

/// What the banks serve, wavefront by wavefront: a panel a phase.
pub fn served_banks(banks: Banks<'_>, kind: Kind, instruction: &Instruction) -> Scene {
    let width = extent(banks.machine.banks_log2_of(kind));
    let panel = |(phase, served): (u32, &Phase)| {
        let height = served.wavefronts();
        let words: BTreeMap<(u32, u64), &Word> =
            served.words.iter().map(|word| ((word.wavefront, word.bank), word)).collect();
        let places =
            (0..height).flat_map(|wavefront| (0..width).map(move |bank| (wavefront, bank)));
        let cells = places.map(|(wavefront, bank)| {
            let Some(word) = words.get(&(wavefront, bank)) else {
                let label = format!("wavefront {wavefront}, bank {bank}: idle");
                return Cell { label, ..Cell::default() };
            };
            let lanes = word.asked.iter().map(|asker| asker.lane);
            let names: Vec<String> = lanes.clone().map(|lane| lane.to_string()).collect();
            Cell {
                text: named(lanes).unwrap_or_default(),
                label: format!(
                    "wavefront {wavefront}, bank {bank}: the word at byte {}, lane {}",
                    word.address,
                    names.join(" ")
                ),
                fill: Fill::Colour(Colour::of(bank)),
                served: Some(Served { phase, wavefront }),
            }
        });
        Panel {
            heading: format!("phase {phase}: {}", taken(served)),
            rows: vec![Group { label: "wavefront".into(), heads: numbers(height.into()) }],
            columns: vec![Group { label: "bank".into(), heads: numbers(width) }],
            cells: cells.collect(),
            rows_left_out: 0,
            columns_left_out: 0,
        }
    };
    Scene {
        title: "How the banks serve it".into(),
        caption:
            "A row is a wavefront: what all banks serve at once; T5 is a word that lane 5 asks \
                  for. A column is as long as its bank is busy."
                .into(),
        notes: vec![said(kind, instruction)],
        panels: (0..).zip(&instruction.phases).map(panel).collect(),
        panels_left_out: 0,
        legend: Vec::new(),
    }
}

/// The lane that asks, with `+` where others ask for the same.
fn named(mut lanes: impl Iterator<Item = u32>) -> Option<String> {
    let first = lanes.next()?;
    let more = lanes.any(|lane| lane != first);
    Some(format!("T{first}{}", if more { "+" } else { "" }))
}

/// Which lanes a phase serves, in how many wavefronts.
fn taken(phase: &Phase) -> String {
    let runs = phase.lanes.chunk_by(|a, b| a + 1 == *b).filter_map(|run| {
        let (first, last) = (run.first()?, run.last()?);
        Some(if first == last { first.to_string() } else { format!("{first}–{last}") })
    });
    let wavefronts = phase.wavefronts();
    let plural = if wavefronts == 1 { "" } else { "s" };
    format!("lanes {}, {wavefronts} wavefront{plural}", runs.collect::<Vec<_>>().join(" "))
}

/// Which instruction it is.
fn said(kind: Kind, instruction: &Instruction) -> String {
    let Instruction { number, warp, phases, .. } = instruction;
    let what = match kind {
        Kind::Load => "load",
        Kind::Store => "store",
    };
    let wavefronts: u32 = phases.iter().map(Phase::wavefronts).sum();
    let phases = match phases.len() {
        1 => "one phase".into(),
        count => format!("{count} phases"),
    };
    let plural = if wavefronts == 1 { "" } else { "s" };
    format!(
        "Instruction {number} of the {what}, warp {warp}: {phases}, {wavefronts} wavefront{plural}."
    )
}
