//! Choices of a way for each access, and the least wavefronts of each.
//!
//! An access with vectors of 2^v elements holds the elements at the lowest `v` offset bits in its
//! registers, and its lanes and warps leave these bits alone; a matrix move says the same with some
//! lanes in the place of registers.
//! So for each `t` the elements at the lowest `t` bits lie in the room of all accesses that speak of
//! so many bits and meet the sum of what they keep apart in zero only: that is what [`room`] counts.
//! The rest is the rank law: a phase of more dimensions than a row has meets any segments.

use alloc::{vec, vec::Vec};

use super::{
    demand::{Demand, Place},
    task::Task,
};
use crate::f2::Subspace;

/// The most choices that are looked at one by one.
const MAX_CHOICES: usize = 4096;

/// The way of each access, by number, and the least that they take.
pub(super) struct Choice {
    pub(super) ways: Vec<usize>,
    /// Weighted wavefronts of a warp and round.
    pub(super) least: u64,
    pub(super) instructions: u64,
}

/// All choices that dimensions allow, the cheapest first.
pub(super) struct Choices {
    pub(super) list: Vec<Choice>,
    /// The least that any layout takes.
    pub(super) bound: u64,
    /// Whether no choice is left out.
    pub(super) all: bool,
}

impl Choices {
    pub(super) fn of(task: &Task<'_>) -> Choices {
        let demands = &task.demands;
        let (mut list, all) = candidates(task);
        list.retain(|choice| !task.stop.is_set() && choice.is_possible(demands));
        for choice in &mut list {
            if task.stop.is_set() {
                break;
            }
            choice.least = weighted(demands, |index| choice.floor_of(task, index));
        }
        list.sort_by_key(|choice| (choice.least, choice.instructions));
        let floors = weighted(demands, |index| demands[index].floor());
        let least = list.first().map_or(floors, |choice| choice.least);
        Choices { bound: if all { least } else { floors }, list, all }
    }
}

/// The sum of what each access takes.
fn weighted(demands: &[Demand<'_>], taken: impl Fn(usize) -> u64) -> u64 {
    demands.iter().enumerate().fold(0, |sum: u64, (index, demand)| {
        sum.saturating_add(taken(index).saturating_mul(demand.weight))
    })
}

/// Choices with what each access takes at least alone, the cheapest first, possible or not; and
/// whether these are all.
fn candidates(task: &Task<'_>) -> (Vec<Choice>, bool) {
    let demands = &task.demands;
    let count = demands.iter().try_fold(1_usize, |count, demand| {
        count.checked_mul(demand.ways.len()).filter(|&count| count <= MAX_CHOICES)
    });
    let ways = match count {
        Some(_) => every(demands),
        None => capped(demands),
    };
    let mut list: Vec<Choice> = ways
        .into_iter()
        .map(|ways| {
            let way = |index: usize| (&demands[index], demands[index].way(ways[index]));
            let least = |index| way(index).1.least(way(index).0.row);
            let instructions = weighted(demands, |index| way(index).1.instructions());
            Choice { least: weighted(demands, least), instructions, ways }
        })
        .collect();
    list.sort_by_key(|choice| (choice.least, choice.instructions));
    (list, count.is_some())
}

/// Every choice of one way for each demand.
fn every(demands: &[Demand<'_>]) -> Vec<Vec<usize>> {
    demands.iter().fold(vec![Vec::new()], |choices, demand| {
        let extend = |choice: &Vec<usize>| {
            let choice = choice.clone();
            (0..demand.ways.len()).map(move |way| [&choice[..], &[way]].concat())
        };
        choices.iter().flat_map(extend).collect()
    })
}

/// The choices in which all accesses have one width where they can, and those in which one access
/// moves in another way.
fn capped(demands: &[Demand<'_>]) -> Vec<Vec<usize>> {
    let widest =
        |demand: &Demand<'_>| demand.ways.iter().filter(|way| way.rows.is_empty()).count() - 1;
    let most = demands.iter().map(widest).max().unwrap_or(0);
    let all = |cap: usize| demands.iter().map(move |demand| widest(demand).min(cap));
    let mut choices: Vec<Vec<usize>> = Vec::new();
    for cap in 0..=most {
        let common: Vec<usize> = all(cap).collect();
        for (index, demand) in demands.iter().enumerate() {
            for way in 0..demand.ways.len() {
                let mut choice = common.clone();
                choice[index] = way;
                choices.push(choice);
            }
        }
    }
    choices.sort();
    choices.dedup();
    choices
}

impl Choice {
    /// Whether dimensions allow it.
    fn is_possible(&self, demands: &[Demand<'_>]) -> bool {
        (1..=self.longest(demands)).all(|t| {
            let (room, apart) = room(demands, &self.ways, t);
            let one = step(demands, &self.ways, t - 1).is_some();
            one && room.is_none_or(|room| room.dim() - room.intersection(&apart).dim() >= t as u32)
        })
    }

    /// Of how many of the lowest offset bits some access speaks.
    fn longest(&self, demands: &[Demand<'_>]) -> usize {
        let lengths = demands.iter().zip(&self.ways).map(|(d, &way)| d.way(way).low.len());
        lengths.max().unwrap_or(0)
    }

    /// The least that one access takes beside the others: a phase whose lanes have no part at some
    /// bank bits has the others only.
    fn floor_of(&self, task: &Task<'_>, index: usize) -> u64 {
        let demands = &task.demands;
        let demand = &demands[index];
        let way = demand.way(self.ways[index]);
        let longest = self.longest(demands).min(demand.row as usize);
        let unused = (way.low.len()..longest).filter(|&bit| {
            let each = demands.iter().zip(&self.ways).map(|(d, &way)| d.apart(way, bit));
            each.fold(Subspace::ZERO, |all, apart| all.sum(&apart)).contains_all(&way.lanes)
        });
        way.least(demand.row - unused.count() as u32)
    }
}

/// Where the elements at the lowest `count` offset bits lie for all accesses that speak of so many
/// bits, and what they meet in zero only.
fn room(demands: &[Demand<'_>], ways: &[usize], count: usize) -> (Option<Subspace>, Subspace) {
    let each = demands.iter().zip(ways).filter_map(|(demand, &way)| demand.room(way, count));
    each.fold((None, Subspace::ZERO), |(all, apart), (room, without)| {
        let both = all.map_or(room, |all: Subspace| all.intersection(&room));
        (Some(both), apart.sum(&without))
    })
}

/// What is asked of the element at one offset bit.
pub(super) struct Step {
    /// Where it lies, nothing where it may be anything.
    pub(super) place: Option<Place>,
    /// What has no part at this bit.
    pub(super) apart: Subspace,
}

/// What all accesses ask of the element at offset bit `bit`; nothing where they contradict.
pub(super) fn step(demands: &[Demand<'_>], ways: &[usize], bit: usize) -> Option<Step> {
    let mut step = Step { place: None, apart: Subspace::ZERO };
    for (demand, &way) in demands.iter().zip(ways) {
        let Some(place) = demand.place(way, bit) else { continue };
        step.apart = step.apart.sum(&demand.apart(way, bit));
        step.place = Some(match step.place {
            None => place,
            Some(other) => Place {
                inside: other.inside.intersection(&place.inside),
                element: other.element.or(place.element),
            },
        });
    }
    // An element lies in the room of all, and where two are named they are one.
    let fits = step.place.as_ref().and_then(|place| Some((place, place.element?))).is_none_or(
        |(place, element)| place.inside.contains(element) && !step.apart.contains(element),
    );
    fits.then_some(step)
}
