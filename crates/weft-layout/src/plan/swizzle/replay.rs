//! The construction of section 9.2 step by step, for one writer and one reader.

use alloc::vec::Vec;

use super::{
    demand::Demand,
    meter::priced,
    pair::pairs,
    problem::{Problem, SwizzleError, Use},
    search::memory,
    task::Task,
};
use crate::{
    access::Kind,
    f2::{Echelon, Matrix, Subspace},
    layout::Layout,
    step::Form,
};

/// The values of the seven steps of the construction; elements are places of the tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Step 1, vectors: the registers that both sides have, as many as an access takes; filled up to
    /// one word where they are less.
    pub vector: Vec<u64>,
    /// Step 2, sizes: the offset bits that choose a bank.
    pub bank_bits: u32,
    /// The offset bits that choose a segment.
    pub segment_bits: u32,
    /// Step 3, phases: the logarithm of the phases of the writer and of the reader.
    pub phases: [u32; 2],
    /// What the lanes of one phase and the words of their vectors span, for the writer.
    pub store_phase: Vec<u64>,
    /// The same for the reader.
    pub load_phase: Vec<u64>,
    /// Step 4, sorting: what both phases span (I).
    pub shared: Vec<u64>,
    /// What the writer's phase adds to it (E).
    pub only_store: Vec<u64>,
    /// What the reader's phase adds to it (F).
    pub only_load: Vec<u64>,
    /// The most dimensions that segments without conflicts have (lemma 9.5).
    pub most_segment_bits: u32,
    /// Step 5, pairing: the segments that are sums of elements of both phases (H).
    pub sums: Vec<u64>,
    /// Step 6, topping up: the segments that neither phase reaches (C).
    pub rest: Vec<u64>,
    /// The segments, lowest first: no more than `segment_bits`.
    pub segment: Vec<u64>,
    /// Step 7, banks: what completes vector and segments to a basis.
    pub bank: Vec<u64>,
    /// The memory layout that follows.
    pub memory: Layout,
    /// What both sides take on it.
    pub uses: Vec<Use>,
    /// Weighted wavefronts of one warp.
    pub total: u64,
}

/// Replays the construction for a problem of one store and one load.
///
/// It ignores what is fixed, and both sides use vectors of one width.
/// Fails with [`SwizzleError::NotAPair`] for other problems.
pub fn replay(problem: &Problem<'_>) -> Result<Replay, SwizzleError> {
    let task = Task::new(problem)?;
    let kinds: Vec<Kind> = task.demands.iter().map(|demand| demand.kind).collect();
    let ([store, load], [Kind::Store, Kind::Load]) = (&task.demands[..], &kinds[..]) else {
        return Err(SwizzleError::NotAPair { accesses: kinds.len() });
    };
    let widest = |demand: &Demand<'_>| {
        demand.ways.iter().filter(|way| way.form == Form::Vector).count() as u32 - 1
    };
    let widest = widest(store).min(widest(load)) + task.bytes_log2;
    let (found, phases) =
        pairs(problem.machine, task.bits, task.bytes_log2, [&store.side, &load.side], widest)?;
    let elements =
        |vectors: &[u64]| -> Vec<u64> { vectors.iter().map(|&v| task.element(v)).collect() };
    let (u, v) = (Subspace::from_vectors(&phases.store), Subspace::from_vectors(&phases.load));
    let both = u.intersection(&v);
    let shared: Vec<u64> = both.basis().collect();
    let beyond = |generators: &[u64]| -> Vec<u64> {
        let mut echelon = Echelon::of(both.basis());
        generators.iter().copied().filter(|&column| echelon.grows(column)).collect()
    };
    let reached = u.sum(&v);
    let (sums, rest): (Vec<u64>, Vec<u64>) =
        found.segment.iter().partition(|&&segment| reached.contains(segment));
    let columns = [&found.vector[..], &found.bank, &found.segment].concat();
    let columns = Matrix::new(task.bits, &columns).map_err(crate::LayoutError::from)?;
    let (total, uses) = priced(&task, &columns)?;
    let count = |demand: &Demand<'_>, vector: u32| {
        demand.ways.get(vector as usize).map_or(0, |way| way.phases)
    };
    Ok(Replay {
        bank_bits: (task.bits - task.segments()).saturating_sub(found.vector.len() as u32),
        segment_bits: task.segments(),
        phases: [count(store, found.store_vector), count(load, found.load_vector)],
        store_phase: elements(&phases.store),
        load_phase: elements(&phases.load),
        shared: elements(&shared),
        only_store: elements(&beyond(&phases.store)),
        only_load: elements(&beyond(&phases.load)),
        most_segment_bits: task.bits - u.dim().max(v.dim()),
        sums: elements(&sums),
        rest: elements(&rest),
        vector: elements(&found.vector),
        bank: elements(&found.bank),
        segment: elements(&found.segment),
        memory: memory(&task, problem, &columns)?,
        uses,
        total,
    })
}
