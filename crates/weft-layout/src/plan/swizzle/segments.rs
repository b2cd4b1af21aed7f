//! Which elements stand at the highest offset bits: a subspace that meets what each phase touches in
//! as little as possible.

use alloc::vec::Vec;
use core::cell::Cell;

use crate::f2::{Echelon, Subspace, extract_bits, low_mask, ones};
use crate::stop::Stop;

use super::task::power;

/// The most sweeps over all neighbours.
const SWEEPS: u32 = 6;

/// The most neighbours that are looked at in a sweep.
const NEIGHBOURS: usize = 1 << 13;

/// What a phase touches and what a wavefront of it weighs: the cost is `weight · 2^dim` of what the
/// segments share with it.
#[derive(Clone, Copy)]
pub(super) struct Meets {
    pub(super) touched: Subspace,
    pub(super) weight: u64,
    /// The registers of which it touches some more, whichever are best.
    pub(super) own: Subspace,
    /// How many of them, less those that it touches anyway.
    pub(super) chosen: u32,
}

/// The choice of `dim` dimensions that hold `include`, share nothing with `avoid`, and cost little.
pub(super) struct Segments<'a> {
    pub(super) within: Subspace,
    pub(super) dim: u32,
    pub(super) include: Subspace,
    pub(super) avoid: Subspace,
    pub(super) meets: &'a [Meets],
    /// How many ranks may still be taken: improvement ends with it.
    pub(super) budget: &'a Cell<u64>,
    /// The same where nobody wants it.
    pub(super) stop: &'a Stop,
}

impl Segments<'_> {
    /// What a choice costs.
    pub(super) fn cost(&self, segments: &[u64]) -> u64 {
        self.budget.set(self.budget.get().saturating_sub(self.meets.len() as u64));
        cost(self.meets, segments)
    }

    /// A good choice, `None` when there is none: the construction of lemma 9.5, filled up and then
    /// improved one dimension at a time until `goal` is reached.
    pub(super) fn find(&self, goal: u64) -> Option<Vec<u64>> {
        let mut best = self.start()?;
        let mut least = self.cost(&best);
        for _ in 0..SWEEPS {
            if least <= goal || !self.improve(&mut best, &mut least, goal) {
                break;
            }
        }
        Some(best)
    }

    /// Lemma 9.5 modulo what is included, filled up with what costs least.
    fn start(&self) -> Option<Vec<u64>> {
        let bits = 64 - self.within.leads().leading_zeros();
        let classes = self.include.quotient(bits);
        let frame = classes.project_all(&self.within);
        let inner = |space: &Subspace| {
            let classes = classes.project_all(space);
            Subspace::spanned_by(classes.basis().map(|v| extract_bits(v, frame.leads())))
        };
        let avoided: Vec<Subspace> =
            self.meets.iter().map(|meets| &meets.touched).chain([&self.avoid]).map(inner).collect();
        let basis: Vec<u64> = frame.basis().collect();
        let outer = |v: u64| {
            let class = ones(v).fold(0, |sum, bit| sum ^ basis.get(bit as usize).unwrap_or(&0));
            classes.lift(class)
        };
        let found = Subspace::largest_avoiding(frame.dim(), &avoided).space;
        let mut lifted: Vec<u64> = found.basis().map(outer).collect();
        lifted.sort_by_key(|vector| vector.count_ones());
        lifted.truncate(self.dim.saturating_sub(self.include.dim()) as usize);
        lifted.sort_unstable();
        let mut segments: Vec<u64> = lifted;
        segments.extend(self.include.basis());
        while (segments.len() as u32) < self.dim {
            if self.stop.is_set() {
                return None;
            }
            let own = Echelon::of(segments.iter().copied().chain(self.avoid.basis()));
            let new = candidates(&self.within).filter(|&x| own.reduce(x, 0).0 != 0);
            let cheapest = new.min_by_key(|&x| self.cost(&[&segments[..], &[x]].concat()))?;
            segments.insert(0, cheapest);
        }
        Some(segments)
    }

    /// Exchanges one dimension for a better one; says whether it did.
    fn improve(&self, best: &mut Vec<u64>, least: &mut u64, goal: u64) -> bool {
        let free = best.len() as u32 - self.include.dim().min(best.len() as u32);
        // The subspaces of one dimension less are those of even parity under a mask of coordinates.
        let masks = 1..power(free.min(12));
        let mut looked = 0;
        for mask in masks {
            let Some(pivot) = best.get(mask.trailing_zeros() as usize).copied() else { continue };
            let mut rest: Vec<u64> = Vec::with_capacity(best.len());
            for (index, &vector) in best.iter().enumerate() {
                let odd = mask >> index.min(63) & 1 == 1;
                rest.push(if odd { vector ^ pivot } else { vector });
            }
            rest.retain(|&vector| vector != 0);
            let own = Echelon::of(rest.iter().copied().chain(self.avoid.basis()));
            let fixed = Echelon::of(rest.iter().copied());
            for x in candidates(&self.within).filter(|&x| own.reduce(x, 0).0 != 0) {
                // Other representatives of the class give the same space.
                if fixed.reduce(x, 0).0 != x {
                    continue;
                }
                looked += 1;
                rest.insert(0, x);
                let new = self.cost(&rest);
                if new < *least {
                    (*best, *least) = (rest, new);
                    return *least > goal;
                }
                rest.remove(0);
                if looked >= NEIGHBOURS || self.budget.get() == 0 || self.stop.is_set() {
                    return false;
                }
            }
        }
        false
    }

    /// Calls `each` with every choice until it returns false.
    /// `avoid` may share with `include` what is not wanted: `each` sees to it.
    pub(super) fn every(&self, each: &mut dyn FnMut(&[u64]) -> bool) {
        let bits = 64 - self.within.leads().leading_zeros();
        let classes = self.include.quotient(bits);
        let frame = classes.project_all(&self.within);
        let basis: Vec<u64> = frame.basis().map(|class| classes.lift(class)).collect();
        let dim = self.dim.saturating_sub(self.include.dim());
        let included: Vec<u64> = self.include.basis().collect();
        let mut all = |inner: &[u64]| {
            let outer =
                |&v: &u64| ones(v).fold(0, |sum, bit| sum ^ basis.get(bit as usize).unwrap_or(&0));
            let mut segments: Vec<u64> = inner.iter().map(outer).collect();
            segments.extend(&included);
            each(&segments)
        };
        subspaces(frame.dim(), dim, 0, &mut Vec::new(), &mut all);
    }
}

/// The vectors that are tried: all of a small space, else sums of at most three of its basis.
fn candidates(within: &Subspace) -> impl Iterator<Item = u64> + '_ {
    let basis: Vec<u64> = within.basis().collect();
    let dim = basis.len() as u32;
    let small = dim <= 12;
    let sum = move |v: u64| ones(v).fold(0, |sum, bit| sum ^ basis[bit as usize]);
    let all = if small { 1..power(dim) } else { 1..1 };
    let few = (0..if small { 0 } else { dim }).flat_map(move |a| {
        (a..dim).flat_map(move |b| (b..dim).map(move |c| 1_u64 << a ^ 1 << b ^ 1 << c))
    });
    all.chain(few).map(sum)
}

fn cost(meets: &[Meets], segments: &[u64]) -> u64 {
    meets.iter().fold(0, |sum, meets| {
        let mut echelon = Echelon::of(meets.touched.basis());
        let shared = segments.iter().filter(|&&vector| !echelon.grows(vector)).count() as u32;
        // Registers in new banks share nothing more.
        let mut new = || meets.own.basis().filter(|&vector| echelon.grows(vector)).count() as u32;
        let more = if meets.chosen == 0 { 0 } else { meets.chosen.saturating_sub(new()) };
        sum.saturating_add(meets.weight.saturating_mul(power(shared + more)))
    })
}

/// Every subspace of `dim` dimensions of `bits` bits, by its reduced echelon basis; says whether to
/// go on.
fn subspaces(
    bits: u32,
    dim: u32,
    first: u32,
    basis: &mut Vec<u64>,
    each: &mut dyn FnMut(&[u64]) -> bool,
) -> bool {
    if dim == 0 {
        return each(basis);
    }
    let leads = basis.iter().fold(0, |leads, vector: &u64| leads | 1 << vector.ilog2());
    for lead in first..=bits.saturating_sub(dim) {
        if lead >= bits {
            break;
        }
        for below in 0..1_u64 << lead.min(63) {
            if below & leads != 0 {
                continue;
            }
            basis.push(1 << lead | below);
            let go_on = subspaces(bits, dim - 1, lead + 1, basis, each);
            basis.pop();
            if !go_on {
                return false;
            }
        }
    }
    true
}

/// The largest space of `bits` bits.
pub(super) fn whole(bits: u32) -> Subspace {
    Subspace::of_bits(low_mask(bits))
}
