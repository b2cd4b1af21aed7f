//! Choices of vector widths, and the least wavefronts of each.
//!
//! An access with vectors of 2^v elements holds the elements at the lowest `v` offset bits in its
//! registers, and its lanes and warps leave these bits alone.
//! So for each `t` the elements at the lowest `t` bits lie in the registers of all accesses with
//! `v ≥ t` and meet the sum of their threads in zero only: that is what [`room`] counts.
//! The rest is the rank law: a phase of more dimensions than a row has meets any segments.

use alloc::{vec, vec::Vec};

use super::demand::{Demand, Task};
use crate::f2::Subspace;

/// The most choices of widths that are looked at one by one.
const MAX_CHOICES: usize = 4096;

/// The width of each access (as the logarithm of elements) and the least that they take.
pub(super) struct Widths {
    pub(super) vectors: Vec<u32>,
    /// Weighted wavefronts of a warp and round.
    pub(super) least: u64,
    pub(super) instructions: u64,
}

/// All choices of widths that dimensions allow, the cheapest first.
pub(super) struct Choices {
    pub(super) widths: Vec<Widths>,
    /// The least that any layout takes.
    pub(super) bound: u64,
    /// Whether no choice is left out.
    pub(super) all: bool,
}

impl Choices {
    pub(super) fn of(task: &Task<'_>) -> Choices {
        let demands = &task.demands;
        let count = demands.iter().try_fold(1_usize, |count, demand| {
            count.checked_mul(demand.widest as usize + 1).filter(|&count| count <= MAX_CHOICES)
        });
        let floors = demands.iter().fold(0_u64, |sum, demand| {
            sum.saturating_add(demand.floor().saturating_mul(demand.weight))
        });
        let candidates = match count {
            Some(_) => every(demands),
            None => capped(demands),
        };
        let mut list: Vec<Widths> = (candidates.into_iter())
            .filter(|vectors| is_possible(demands, vectors))
            .map(|vectors| widths(task, vectors))
            .collect();
        list.sort_by_key(|choice| (choice.least, choice.instructions));
        let least = list.first().map_or(floors, |choice| choice.least);
        let all = count.is_some();
        Choices { bound: if all { least } else { floors }, widths: list, all }
    }
}

/// Every choice of widths.
fn every(demands: &[Demand]) -> Vec<Vec<u32>> {
    demands.iter().fold(vec![Vec::new()], |choices, demand| {
        let extend = |choice: &Vec<u32>| {
            let choice = choice.clone();
            (0..=demand.widest).map(move |vector| [&choice[..], &[vector]].concat())
        };
        choices.iter().flat_map(extend).collect()
    })
}

/// The choices in which all accesses have one width where they can, and those in which one access
/// has another.
fn capped(demands: &[Demand]) -> Vec<Vec<u32>> {
    let most = demands.iter().map(|demand| demand.widest).max().unwrap_or(0);
    let all = |cap: u32| demands.iter().map(move |demand| demand.widest.min(cap));
    let mut choices: Vec<Vec<u32>> = Vec::new();
    for cap in 0..=most {
        let common: Vec<u32> = all(cap).collect();
        for (index, demand) in demands.iter().enumerate() {
            for width in 0..=demand.widest {
                let mut choice = common.clone();
                choice[index] = width;
                choices.push(choice);
            }
        }
    }
    choices.sort();
    choices.dedup();
    choices
}

fn widths(task: &Task<'_>, vectors: Vec<u32>) -> Widths {
    let each = || task.demands.iter().zip(&vectors);
    let least = each().fold(0_u64, |sum, (demand, &vector)| {
        sum.saturating_add(demand.least(vector).saturating_mul(demand.weight))
    });
    let instructions = each().fold(0_u64, |sum, (demand, &vector)| {
        sum.saturating_add(demand.instructions(vector).saturating_mul(demand.weight))
    });
    Widths { vectors, least, instructions }
}

fn is_possible(demands: &[Demand], vectors: &[u32]) -> bool {
    let most = vectors.iter().copied().max().unwrap_or(0);
    (1..=most).all(|t| {
        let (own, threads) = room(demands, vectors, t);
        own.is_none_or(|own| own.dim() - own.intersection(&threads).dim() >= t)
    })
}

/// Where the elements at the lowest `t` offset bits lie, and what they avoid: the registers of all
/// accesses whose vectors are so wide, and the sum of their threads.
pub(super) fn room(demands: &[Demand], vectors: &[u32], t: u32) -> (Option<Subspace>, Subspace) {
    let wide = demands.iter().zip(vectors).filter(|(_, vector)| **vector >= t);
    wide.fold((None, Subspace::ZERO), |(own, threads), (demand, _)| {
        let both = own.map_or(demand.own, |own: Subspace| own.intersection(&demand.own));
        (Some(both), threads.sum(&demand.threads))
    })
}
