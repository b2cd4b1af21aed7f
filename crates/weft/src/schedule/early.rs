//! Loads that begin early: before the block first waits for what it loads.
//!
//! ```text
//! %x = load %p              %x = load %p
//! %s = reduce %x    ==>     %y = load %q
//! %y = load %q              %s = reduce %x
//! ```
//!
//! Where numbers move between threads, these meet at a barrier and wait for what was loaded; and an assembler moves no
//! load across a barrier. So the block waits for memory again for a load behind it, and has fewer bytes under way
//! at once than it could. Therefore a load goes up in front of the first operation of its stretch that waits
//! for others, with what computes its addresses, as far as registers hold what it brings: no fewer blocks shall run for
//! it than would, or no fewer than half of the warps that can.
//!
//! What was loaded already is in a cache, and need not begin early. Where registers hold it until then, it is not loaded
//! again at all: a kernel that looks at its row twice keeps the row.
//!
//! A stretch ends where something writes global memory, orders accesses, has copies under way, or branches.

use super::live::{Live, Registers};
use super::same::Same;
use crate::id::IdMap;
use crate::simplify::registers::{HALF, room_of};
use crate::tile::effects::{Control, Dependence, Fence, Tokens};
use crate::tile::{ByPointers, Kernel, Op, OpId, OpKind, Region, Value};
use std::collections::BTreeSet;
use weft_layout::machine::Machine;

/// How many operations a load may pass. A program that does one thing after another to a thousand tiles is not searched
/// from its beginning for each.
const FAR: usize = 1024;

/// The kernel with loads further up; nothing where none can move.
pub(super) fn run(kernel: &Kernel, machine: &Machine, warps: u32) -> Option<Kernel> {
    let registers = Registers::of(kernel, machine, warps);
    let mut regions = Vec::new();
    profile(kernel, &registers, (None, 0), &Live::default(), &mut regions);
    let room = room(machine, warps, peak(kernel, &regions));
    let mut result: Option<Kernel> = None;
    let same = Same::of(kernel);
    let mut kept = IdMap::default();
    for (at, live) in regions {
        let ops = region_of(kernel, at).ops.clone();
        let mut stretch = Stretch {
            kernel,
            registers: &registers,
            same: &same,
            room,
            ops,
            live,
            kept: &mut kept,
        };
        if stretch.order() {
            let result = result.get_or_insert_with(|| kernel.clone());
            match at {
                (Some(owner), number) => result.ops[owner].regions[number].ops = stretch.ops,
                (None, _) => result.body.ops = stretch.ops,
            }
        }
    }
    if let Some(result) = &mut result {
        let ids: Vec<OpId> = result.ops.keys().collect();
        for id in ids {
            for operand in &mut result.ops[id].operands {
                *operand = kept[*operand].unwrap_or(*operand);
            }
        }
    }
    result
}

/// A region: the operation that it belongs to, if it is not the kernel's body, and its number there.
type Place = (Option<OpId>, usize);

fn region_of(kernel: &Kernel, (owner, number): Place) -> &Region {
    owner.map_or(&kernel.body, |owner| &kernel.ops[owner].regions[number])
}

/// The registers that are live in front of each operation of a region and behind the last, and the same of those inside.
fn profile(
    kernel: &Kernel,
    registers: &Registers,
    place: Place,
    behind: &Live,
    found: &mut Vec<(Place, Vec<u64>)>,
) {
    let region = region_of(kernel, place);
    let mut live = behind.clone();
    let mut words = vec![live.words];
    for &id in region.ops.iter().rev() {
        let inside = kernel.ops[id].regions.len();
        if inside > 0 {
            let around = registers.around(kernel, id, &live);
            for number in 0..inside {
                profile(kernel, registers, (Some(id), number), &around, found);
            }
        }
        registers.step_back(kernel, id, &mut live);
        words.push(live.words);
    }
    words.reverse();
    found.push((place, words));
}

/// The most registers that are live at once where threads meet or a loop begins or ends. Between these an assembler
/// computes numbers one after another, and needs fewer than all of them; what a thread reduces it adds up likewise.
fn peak(kernel: &Kernel, regions: &[(Place, Vec<u64>)]) -> u64 {
    let mut peak = 0;
    for (place, live) in regions {
        let ops = &region_of(kernel, *place).ops;
        for (around, &id) in live.windows(2).zip(ops) {
            let op = &kernel.ops[id];
            if matches!(op.kind, OpKind::Reduce { .. }) {
                peak = peak.max(around[1]);
            } else if meets(op) || !op.regions.is_empty() {
                peak = peak.max(around[0]).max(around[1]);
            }
        }
    }
    peak
}

/// The registers that values may take where so many are live anyhow: those that let as many blocks run, or half of all
/// warps.
fn room(machine: &Machine, warps: u32, peak: u64) -> u64 {
    let threads = machine.lanes() * warps;
    let of_each = |blocks: u32| {
        u64::from(room_of(machine.registers / blocks, threads, machine.registers_per_thread))
    };
    let most = machine.registers / threads.max(1);
    let blocks = (1..=most).take_while(|&blocks| of_each(blocks) >= peak).last();
    let half = room_of(machine.registers, threads, HALF);
    of_each(blocks.unwrap_or(1)).max(half.into())
}

/// The operations of a region, in an order that changes.
struct Stretch<'a> {
    kernel: &'a Kernel,
    registers: &'a Registers,
    same: &'a Same,
    room: u64,
    ops: Vec<OpId>,
    /// The registers that are live in front of each, and behind the last.
    live: Vec<u64>,
    /// What was loaded before, for what loads of the same would bring.
    kept: &'a mut IdMap<Value, Option<Value>>,
}

impl Stretch<'_> {
    /// Moves the loads; whether one moved.
    fn order(&mut self) -> bool {
        let mut moved = false;
        let mut begin = 0;
        let mut needs = Needs::default();
        let mut loads = 0;
        let mut loaded = Vec::new();
        let mut gone = IdMap::<OpId, bool>::default();
        for index in 0..self.ops.len() {
            let (id, op) = (self.ops[index], &self.kernel.ops[self.ops[index]]);
            if ends_stretch(op) || loads == u64::BITS {
                (begin, loads) = (index + 1, 0);
                needs.stretch += 1;
                loaded.clear();
            } else {
                let mut own = needs.of(op);
                if is_load(op) {
                    let brings = |&&first: &&OpId| {
                        self.same.brings(self.kernel, &self.kernel.ops[first], op)
                    };
                    if let Some(&first) = loaded.iter().find(brings) {
                        if self.keep(first, index) {
                            gone.set(id, true);
                            moved = true;
                        }
                    } else {
                        loaded.push(id);
                        if let Some((to, with)) = self.place(index, begin, own, &needs) {
                            self.rise(to, &with);
                            moved = true;
                        }
                    }
                    own |= 1 << loads;
                    loads += 1;
                }
                for &result in &self.kernel.ops[id].results {
                    needs.loads.set(result, (needs.stretch, own));
                }
            }
        }
        self.ops.retain(|&id| !gone[id]);
        moved
    }

    /// Keeps what a load brings for a later one of the same; whether registers hold it until then.
    fn keep(&mut self, first: OpId, later: usize) -> bool {
        let (ops, kernel) = (&self.ops, self.kernel);
        let Some(at) = ops[..later].iter().rposition(|&id| id == first) else { return false };
        let [first, second] = [first, ops[later]].map(|id| &kernel.ops[id]);
        let words = self.words(first);
        // It may be live there already.
        if later - at > FAR || self.live[at + 1..=later].iter().any(|live| live + words > self.room)
        {
            return false;
        }
        for live in &mut self.live[at + 1..=later] {
            *live += words;
        }
        for (&value, &from) in second.results.iter().zip(&first.results) {
            self.kept.set(value, Some(from));
        }
        true
    }

    /// In front of which operation a load had better be, and what goes there with it, last first.
    fn place(
        &self,
        load: usize,
        begin: usize,
        own: u64,
        needs: &Needs,
    ) -> Option<(usize, Vec<usize>)> {
        let op = &self.kernel.ops[self.ops[load]];
        let mut wanted: BTreeSet<Value> = op.operands.iter().copied().collect();
        let mut with = vec![load];
        let mut words = self.words(op);
        let mut found = None;
        for index in (begin..load).rev().take(FAR) {
            // What the load brings is live around all that it passes.
            if self.live[index].max(self.live[index + 1]) + words > self.room {
                break;
            }
            let op = &self.kernel.ops[self.ops[index]];
            if op.results.iter().any(|result| wanted.contains(result)) {
                if !op.kind.effects().is_pure() || meets(op) {
                    break;
                }
                wanted.extend(&op.operands);
                with.push(index);
                words += self.words(op);
            } else if meets(op) {
                let waits = needs.of(op);
                // It would wait there for nothing that this one does not wait for.
                if waits != 0 && own & !waits == 0 {
                    found = Some((index, with.len()));
                }
            }
        }
        found.map(|(to, count)| {
            with.truncate(count);
            (to, with)
        })
    }

    /// Puts operations, last first, in front of another one.
    fn rise(&mut self, to: usize, with: &[usize]) {
        for (passed, &from) in with.iter().rev().enumerate() {
            let words = self.words(&self.kernel.ops[self.ops[from]]);
            let place = to + passed;
            self.ops[place..=from].rotate_right(1);
            // What is live in front of it at its new place is live behind it too, with its results.
            let before = self.live[place];
            self.live[place..=from].rotate_right(1);
            self.live[place] = before;
            for live in &mut self.live[place + 1..=from] {
                *live += words;
            }
        }
    }

    /// The registers that an operation's results take.
    fn words(&self, op: &Op) -> u64 {
        op.results.iter().map(|&result| self.registers.words(self.kernel, result)).sum()
    }
}

/// Which loads of a stretch values depend on.
#[derive(Default)]
struct Needs {
    /// The number of the stretch.
    stretch: u32,
    /// Of the loads of a stretch, those that a value depends on, a bit each.
    loads: IdMap<Value, (u32, u64)>,
}

impl Needs {
    /// Those of an operation's operands; loads of other stretches do not count.
    fn of(&self, op: &Op) -> u64 {
        let of_value = |&value: &Value| {
            let (stretch, loads) = self.loads[value];
            if stretch == self.stretch { loads } else { 0 }
        };
        op.operands.iter().map(of_value).fold(0, |all, loads| all | loads)
    }
}

/// Whether it is a load that nothing but its addresses keeps where it is.
fn is_load(op: &Op) -> bool {
    op.kind.by_pointers() == Some(ByPointers::Load) && !op.kind.effects().visible
}

/// Whether threads may meet for it, to give each other what they hold. Changes of layouts do not count: a text that
/// gives layouts has them as operations, another one nowhere, and both are compiled alike.
fn meets(op: &Op) -> bool {
    let effects = op.kind.effects();
    effects.dependence == Dependence::Across || effects.local.any()
}

/// Whether no load may pass it.
fn ends_stretch(op: &Op) -> bool {
    let effects = op.kind.effects();
    effects.global.writes
        || effects.fence != Fence::None
        || effects.tokens != Tokens::None
        || effects.control != Control::None
        || effects.visible
}
