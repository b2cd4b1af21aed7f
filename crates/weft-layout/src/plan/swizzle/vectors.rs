//! Which elements stand at the lowest offset bits: chains of subspaces, one dimension at a time.

use alloc::vec::Vec;

use super::{
    bound::{Step, step},
    task::Task,
};
use crate::f2::Subspace;

/// The elements at the lowest offset bits: as many as the widest vector and one word need.
/// Those up to `t` span the vector of 2^`t` elements.
pub(super) type Chain = Vec<u64>;

/// The most chains that are tried where not all are.
const SOME: usize = 12;

/// The chains for these ways: `all` of them, or a few likely ones.
pub(super) fn chains(task: &Task<'_>, ways: &[usize], all: bool) -> Vec<Chain> {
    let lengths = task.demands.iter().zip(ways).map(|(demand, &way)| demand.way(way).length());
    let longest = lengths.max().unwrap_or(0);
    let length = longest.max(task.word).max(task.vector.len() as u32).min(task.bits);
    let steps = (0..length as usize).map(|bit| step(&task.demands, ways, bit)).collect();
    let Some(steps) = steps else { return Vec::new() };
    let mut walk = Walk { task, steps, all, found: Vec::new() };
    walk.extend(&mut Vec::new());
    walk.found
}

struct Walk<'a> {
    task: &'a Task<'a>,
    steps: Vec<Step>,
    all: bool,
    found: Vec<Chain>,
}

impl Walk<'_> {
    fn extend(&mut self, chain: &mut Chain) {
        if self.task.stop.is_set() {
            return;
        }
        let Some(step) = self.steps.get(chain.len()) else {
            self.found.push(chain.clone());
            return;
        };
        let span = Subspace::from_vectors(chain);
        let low = self.task.low_fixed();
        let here = |(bit, _): &(usize, u64)| *bit == chain.len();
        let fixed = low.filter(|entry| !here(entry)).map(|(_, element)| element);
        let avoided =
            Subspace::spanned_by(span.basis().chain(fixed).chain(self.task.block.iter().copied()));
        let avoided = avoided.sum(&step.apart);
        let fits = |&x: &u64| {
            let inside = step.place.as_ref().is_none_or(|place| {
                place.inside.contains(x) && place.element.is_none_or(|element| x == element)
            });
            inside && !avoided.contains(x)
        };
        let inside = step.place.as_ref().map(|place| &place.inside);
        let named = step.place.as_ref().and_then(|place| place.element);
        let fixed = self.task.low_fixed().find(here).map(|fixed| fixed.1);
        let candidates = match fixed.or(named) {
            Some(element) => [element].to_vec(),
            None if self.all => every(&span, inside, self.task.bits),
            None => likely(self.task, inside),
        };
        let candidates: Vec<u64> = candidates.into_iter().filter(fits).collect();
        let mut classes: Vec<u64> = Vec::new();
        for x in candidates {
            let class = span.reduce(x);
            if classes.contains(&class) {
                continue;
            }
            classes.push(class);
            chain.push(x);
            self.extend(chain);
            chain.pop();
            if !self.all && (self.found.len() >= SOME || classes.len() >= 3) {
                break;
            }
        }
    }
}

/// A representative of each class.
fn every(span: &Subspace, own: Option<&Subspace>, bits: u32) -> Vec<u64> {
    let whole = Subspace::of_bits(crate::f2::low_mask(bits));
    let elements = own.unwrap_or(&whole).elements().into_iter().flatten();
    elements.filter(|&x| x != 0 && span.reduce(x) == x).collect()
}

/// The registers in their order, then the sums that several accesses share; without a place to lie
/// in, what fills up a word: registers, warps and lanes.
fn likely(task: &Task<'_>, own: Option<&Subspace>) -> Vec<u64> {
    let registers = task.demands.iter().flat_map(|demand| &demand.side.registers);
    let threads = || task.demands.iter().flat_map(|d| d.side.warps.iter().chain(&d.side.lanes));
    match own {
        Some(own) => {
            let single = registers.filter(|&&x| own.contains(x)).copied();
            single.chain(own.basis()).collect()
        }
        None => registers.chain(threads()).copied().filter(|&x| x != 0).collect(),
    }
}
