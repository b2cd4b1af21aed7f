//! A plan in pictures: what registers and memory hold, movement by movement.

use super::View;
use super::holders::Holders;
use super::palette::{Colour, legend};
use super::scene::{Cell, Fill, Group, MAX_CELLS, Panel, Scene, Window};
use super::tile::numbers;
use crate::budget;
use crate::error::ApiError;
use std::collections::BTreeMap;
use weft::conversion::sentence;
use weft_layout::machine::Matrix;
use weft_layout::space::LANE;
use weft_layout::step::{Access, File, Form, Kind, Plan, Step};
use weft_layout::witness::{Piece, Touch, Trace, WitnessError};
use weft_layout::{Layout, Machine, Space};

/// A conversion to be seen.
#[derive(Clone, Copy, Debug)]
pub struct Movement<'a> {
    /// The plan by which it moves.
    pub plan: &'a Plan,
    /// The layout the tensor is in.
    pub from: &'a Layout,
    /// The layout that it goes to.
    pub to: &'a Layout,
    /// The machine that it is for.
    pub machine: &'a Machine,
}

/// The pictures of a plan, in the order of its steps, of the first warp: its registers before, after
/// each round of exchanges and after the last step, and each access of shared memory by banks.
///
/// Renamings, selections and arithmetic have no picture of their own: the next one shows what they did.
/// Fails when the plan does not do what it is for, or more is wanted in full than [`MAX_CELLS`].
pub fn movement(movement: &Movement<'_>, view: &View<'_>) -> Result<Scene, ApiError> {
    let Movement { plan, from, to, machine } = *movement;
    let refused = |error: WitnessError| ApiError::Refused { what: "the plan".into(), error };
    let drawer = Drawer {
        trace: Trace::of(plan, from, to).map_err(refused)?,
        plan,
        machine,
        window: view.window,
        holders: Holders::new(from).map_err(ApiError::drawing)?,
        ins: from.ins(),
        outs: from.outs(),
    };
    // Those of registers are counted before any is drawn: there may be a thousand times as many as fit.
    let mut cells = 0;
    let files = plan.inputs.iter().chain(&plan.outputs).copied();
    let moved = plan.steps.iter().filter_map(|step| match step {
        Step::Exchange { to, .. } | Step::Shift { to, .. } | Step::Fetch { to, .. } => Some(*to),
        _ => None,
    });
    for file in files.chain(moved) {
        let (height, width) = drawer.of_registers(file);
        cells = fitting(cells + height * width)?;
    }
    let mut panels = Vec::new();
    let end = |name: &str, files: &[File], file: File| match files {
        [_] => name.into(),
        _ => format!("{name}: {file}"),
    };
    for &input in &plan.inputs {
        budget::check()?;
        panels.push(drawer.registers(end("before", &plan.inputs, input), input));
    }
    for (index, step) in plan.steps.iter().enumerate() {
        budget::check()?;
        let heading = || format!("step {}, {}", index + 1, sentence(plan, step));
        match step {
            Step::Exchange { to, .. } | Step::Shift { to, .. } | Step::Fetch { to, .. } => {
                panels.push(drawer.registers(heading(), *to));
            }
            Step::Access(access) => {
                let panel = drawer.memory(access, &heading())?;
                cells = fitting(cells + panel.cells.len() as u64)?;
                panels.push(panel);
            }
            _ => {}
        }
    }
    for &output in &plan.outputs {
        budget::check()?;
        panels.push(drawer.registers(end("after", &plan.outputs, output), output));
    }
    Ok(Scene {
        title: format!("{} moves by {}", from.outs(), plan.strategy),
        caption:
            "Registers and lanes of warp 0; of memory the words, a row over all banks. Numbers \
                  are elements, counted along the rows of the tensor."
                .into(),
        notes: vec![
            "In registers an element has the colour of the lane that held it first; in memory, of \
             the wavefront that moves it."
                .into(),
        ],
        panels,
        panels_left_out: 0,
        legend: legend(LANE.as_str(), plan.lane_bits),
    })
}

/// So many cells, where they fit into a picture.
fn fitting(cells: u64) -> Result<u64, ApiError> {
    if cells <= MAX_CELLS {
        return Ok(cells);
    }
    Err(ApiError::Picture {
        reason: format!("{cells} cells and more are too many to draw in full"),
        hint: format!(
            "a picture in full has at most {MAX_CELLS} cells; as text it may be shown in part"
        ),
    })
}

struct Drawer<'a> {
    trace: Trace<'a>,
    plan: &'a Plan,
    machine: &'a Machine,
    window: Window,
    holders: Holders,
    ins: &'a Space,
    outs: &'a Space,
}

impl Drawer<'_> {
    /// Rows and columns of the registers of a file, as far as they are shown.
    fn of_registers(&self, file: File) -> (u64, u64) {
        self.shown(u64::from(self.plan.file(file).registers), self.lanes())
    }

    fn lanes(&self) -> u64 {
        1_u64.checked_shl(self.plan.lane_bits).unwrap_or(0)
    }

    /// The registers of a file in the first warp.
    fn registers(&self, heading: String, file: File) -> Panel {
        let (registers, lanes) = (u64::from(self.plan.file(file).registers), self.lanes());
        let (height, width) = self.of_registers(file);
        let places = (0..height).flat_map(|row| (0..width).map(move |lane| (row, lane)));
        let cells = places.map(|(register, lane)| {
            let held = self.trace.register(file, register as u32, lane as u32, 0);
            let first = held.iter().flatten().next();
            let fill = first.map_or(Fill::Empty, |piece| Fill::Colour(self.colour(piece)));
            let label = format!("register {register}, lane {lane}: {}", self.words(&held));
            Cell { text: self.numbers(&held), label, fill, ..Cell::default() }
        });
        Panel {
            heading,
            cells: cells.collect(),
            rows: vec![Group { label: "register".into(), heads: numbers(height) }],
            columns: vec![Group { label: "lane".into(), heads: numbers(width) }],
            rows_left_out: registers - height,
            columns_left_out: lanes - width,
        }
    }

    /// The words of memory that an access of the first warp moves.
    fn memory(&self, access: &Access, heading: &str) -> Result<Panel, ApiError> {
        let word_log2 = self.machine.bank_bytes_log2;
        let row_log2 = self.machine.banks_log2_of(access.kind);
        let mut words: BTreeMap<u64, Word> = BTreeMap::new();
        let mut begun = 0;
        for (number, group) in access.groups.iter().enumerate() {
            budget::check()?;
            let touches = self.trace.touches(access, group, 0);
            let bytes = self.plan.file(access.file).element_bits / 8 * group.registers.len() as u32;
            let (waves, count) = self.wavefronts(access, &touches, bytes);
            for touch in &touches {
                let at = touch.address >> word_log2;
                let wave = begun + waves.get(&(self.phase(access, touch, bytes), at)).unwrap_or(&0);
                let word = words.entry(at).or_insert_with(|| Word::new(number, wave));
                word.pieces.insert(touch.address, touch.piece);
                word.lanes.push(touch.lane);
            }
            begun += count;
        }
        let last = words.keys().next_back().map_or(0, |at| (at >> row_log2) + 1);
        let banks = 1_u64.checked_shl(row_log2).unwrap_or(0);
        let (height, width) = self.shown(last, banks);
        let places = (0..height).flat_map(|row| (0..width).map(move |bank| (row, bank)));
        let cells = places.map(|(row, bank)| match words.get(&(row << row_log2 | bank)) {
            None => Cell::default(),
            Some(word) => self.word(access, word, (row << row_log2 | bank) << word_log2, bank),
        });
        let heads = (0..height).map(|row| (row << (row_log2 + word_log2)).to_string());
        Ok(Panel {
            heading: format!(
                "{heading}: {begun} wavefronts of {} instructions",
                access.groups.len()
            ),
            cells: cells.collect(),
            rows: vec![Group { label: "byte".into(), heads: heads.collect() }],
            columns: vec![Group { label: "bank".into(), heads: numbers(width) }],
            rows_left_out: last - height,
            columns_left_out: banks - width,
        })
    }

    fn word(&self, access: &Access, word: &Word, byte: u64, bank: u64) -> Cell {
        let held: Vec<Option<Piece>> = word.pieces.values().copied().collect();
        let mut lanes = word.lanes.clone();
        lanes.sort_unstable();
        lanes.dedup();
        let lanes: Vec<String> = lanes.iter().map(u32::to_string).collect();
        let verb = match access.kind {
            Kind::Load => "loaded by",
            Kind::Store => "stored by",
        };
        Cell {
            text: self.numbers(&held),
            label: format!(
                "byte {byte}, bank {bank}: {}, {verb} lane {}, instruction {}, wavefront {}",
                self.words(&held),
                lanes.join(" "),
                word.instruction,
                word.wave
            ),
            fill: Fill::Colour(Colour::of(word.wave)),
            ..Cell::default()
        }
    }

    /// The lanes that are served together with the one that gave an address: which part of the
    /// instruction it belongs to.
    fn phase(&self, access: &Access, touch: &Touch, bytes: u32) -> u64 {
        match access.form {
            // Each matrix is served by itself.
            Form::Matrix(Matrix { rows, .. }) => u64::from(touch.giver) / u64::from(rows.max(1)),
            Form::Vector => {
                let free = access.lane.iter().enumerate().filter(|(_, column)| **column == 0);
                let copies = free.fold(0, |mask, (bit, _)| mask | 1 << bit);
                let served = self.machine.phases.served(access.kind, bytes.max(1).ilog2(), copies);
                served.reduce(touch.lane.into())
            }
        }
    }

    /// The wavefront of each word in each phase of an instruction, and how many there are.
    fn wavefronts(
        &self,
        access: &Access,
        touches: &[Touch],
        bytes: u32,
    ) -> (BTreeMap<(u64, u64), u64>, u64) {
        let mut asked: Vec<(u64, u64)> = touches
            .iter()
            .map(|touch| {
                (self.phase(access, touch, bytes), touch.address >> self.machine.bank_bytes_log2)
            })
            .collect();
        asked.sort_unstable();
        asked.dedup();
        let banks = (1_u64 << self.machine.banks_log2_of(access.kind)) - 1;
        let (mut waves, mut begun) = (BTreeMap::new(), 0);
        for phase in asked.chunk_by(|a, b| a.0 == b.0) {
            // Words of one bank wait for each other.
            let mut queues: BTreeMap<u64, u64> = BTreeMap::new();
            for &(phase, word) in phase {
                let queue = queues.entry(word & banks).or_default();
                waves.insert((phase, word), begun + *queue);
                *queue += 1;
            }
            begun += queues.values().copied().max().unwrap_or(0);
        }
        (waves, begun)
    }

    fn shown(&self, rows: u64, columns: u64) -> (u64, u64) {
        match self.window {
            Window::First { rows: r, columns: c, .. } => (rows.min(r), columns.min(c)),
            Window::Full => (rows, columns),
        }
    }

    /// The colour of the lane that held an element first.
    fn colour(&self, piece: &Piece) -> Colour {
        let place = self.holders.lowest(piece.element).unwrap_or(0);
        Colour::of(self.ins.coordinate(LANE, place))
    }

    /// The number of an element along the rows.
    fn number(&self, element: u64) -> u64 {
        self.outs.coordinate_order().into_iter().fold(0, |number, label| {
            number << self.outs.bits(label) | self.outs.coordinate(label, element)
        })
    }

    /// The elements that stand side by side, each once.
    fn numbers(&self, held: &[Option<Piece>]) -> String {
        let mut elements: Vec<Option<u64>> =
            held.iter().map(|piece| piece.map(|piece| self.number(piece.element))).collect();
        elements.dedup();
        let text = |element: &Option<u64>| element.map_or("-".into(), |number| number.to_string());
        elements.iter().map(text).collect::<Vec<String>>().join(" ")
    }

    fn words(&self, held: &[Option<Piece>]) -> String {
        match held.iter().flatten().count() {
            0 => "nothing".into(),
            _ => format!("element {}", self.numbers(held)),
        }
    }
}

/// A word of memory that an access moves.
struct Word {
    instruction: usize,
    wave: u64,
    /// What is in it, by address.
    pieces: BTreeMap<u64, Option<Piece>>,
    lanes: Vec<u32>,
}

impl Word {
    fn new(instruction: usize, wave: u64) -> Word {
        Word { instruction, wave, pieces: BTreeMap::new(), lanes: Vec::new() }
    }
}
