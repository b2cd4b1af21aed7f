//! The solver: the cheapest choice of widths whose vectors and segments exist.

use alloc::vec::Vec;
use core::cell::Cell;

use super::{
    bound::{Choice, Choices},
    frame::{assemble, even, masks},
    meter::{Found, found, priced},
    problem::{Certificate, Problem, Solved, SwizzleError},
    segments::{Meets, Segments, whole},
    task::{Task, power},
    vectors::{Chain, chains},
};
use crate::{
    f2::{Echelon, Matrix, Subspace},
    layout::Layout,
    space::{OFFSET, Space},
};

/// The most offset bits for which everything is tried.
const EXACT_BITS: u32 = 6;

/// The most ranks that are taken where not everything is tried.
const MAX_RANKS: u64 = 1 << 20;

/// The most pairs of vectors and segments that are tried for it.
const MAX_CANDIDATES: u64 = 1 << 22;

/// A memory layout on which the accesses take few wavefronts in all, and how few they could.
///
/// Choices of vector widths and matrix moves are tried in the order of the least that each can take.
/// For each one vectors are chosen among the common registers, then segments that avoid every phase
/// (lemma 9.5, improved by exchanging dimensions).
/// Up to 6 offset bits every vector and every segment is tried, so that the result is the best.
/// Of layouts with equal wavefronts it prefers fewer instructions.
/// A search that [`Problem::stop`] ends is the error [`SwizzleError::Stopped`].
///
/// ```
/// use weft_layout::{Machine, access::Kind, interop::parse_layout};
/// use weft_layout::plan::swizzle::{Access, Problem, Verdict, check, solve};
///
/// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
/// // A warp writes 16 rows of 32 elements and reads pairs of columns.
/// let rows = "[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] \
///             -> [dim0: 16, dim1: 32]";
/// let columns = "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] \
///                -> [dim0: 16, dim1: 32]";
/// let store = Access::new(Kind::Store, parse_layout(rows)?);
/// let load = Access::new(Kind::Load, parse_layout(columns)?);
/// let problem = Problem::new(machine, 32, vec![store, load]);
/// let solved = solve(&problem)?;
/// assert_eq!(solved.total, 32);
/// assert_eq!(check(&problem, &solved)?, Verdict::Optimal);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve(problem: &Problem<'_>) -> Result<Solved, SwizzleError> {
    let task = Task::new(problem)?;
    let best = best(&task)?;
    let rounds = power(task.rounds.len() as u32);
    let (total, uses) = priced(&task, &best.columns)?;
    Ok(Solved {
        memory: memory(&task, problem, &best.columns)?,
        uses,
        total,
        bound: best.bound.saturating_mul(rounds),
        certificate: best.certificate,
        rounds: task.rounds.clone(),
    })
}

/// The elements at the offset bits of the best layout found, and the least that any takes in one
/// round.
pub(super) struct Best {
    pub(super) columns: Matrix,
    pub(super) bound: u64,
    pub(super) certificate: Certificate,
}

pub(super) fn best(task: &Task<'_>) -> Result<Best, SwizzleError> {
    let choices = Choices::of(task);
    // Rows of two lengths make two nested choices of segments; only one is searched in full.
    let exact = task.bits <= EXACT_BITS && task.row == task.short_row;
    let budget = Cell::new(MAX_RANKS);
    let mut search = Search::new(task, exact, budget);
    for choice in &choices.list {
        if task.stop.is_set() {
            return Err(SwizzleError::Stopped);
        }
        if search.best.as_ref().is_some_and(|best| best.total < choice.least) {
            break;
        }
        search.try_choice(choice)?;
    }
    // What a search has left out is not known.
    if task.stop.is_set() {
        return Err(SwizzleError::Stopped);
    }
    let exact = search.exact && choices.all;
    let (candidates, best) = (search.candidates, search.best);
    // Scalars need nothing, so that there is always a candidate unless what is fixed forbids it.
    let best = match best {
        Some(best) => best,
        None => plain(task)?,
    };
    let (bound, certificate) = match (best.total > choices.bound, exact, choices.all) {
        (true, true, _) => (best.total, Certificate::Exhausted { candidates }),
        (_, _, true) => (choices.bound, Certificate::Dimensions),
        _ => (choices.bound, Certificate::Floors),
    };
    Ok(Best { columns: best.columns, bound, certificate })
}

/// The layout of the elements at the offset bits.
pub(super) fn memory(
    task: &Task<'_>,
    problem: &Problem<'_>,
    columns: &Matrix,
) -> Result<Layout, SwizzleError> {
    let first = problem.accesses.first().ok_or(SwizzleError::NoAccess)?;
    let elements: Vec<u64> = columns.columns().iter().map(|&v| task.element(v)).collect();
    let offsets = Space::new(&[(OFFSET, task.bits)]).map_err(crate::LayoutError::from)?;
    Ok(Layout::new(offsets, first.layout.outs().clone(), &elements)?)
}

struct Search<'a> {
    task: &'a Task<'a>,
    best: Option<Found>,
    candidates: u64,
    /// Whether everything has been tried so far.
    exact: bool,
    /// How many ranks may still be taken where not everything is tried.
    budget: Cell<u64>,
}

impl<'a> Search<'a> {
    fn new(task: &'a Task<'a>, exact: bool, budget: Cell<u64>) -> Search<'a> {
        Search { task, best: None, candidates: 0, exact, budget }
    }

    /// Tries the vectors and segments of one choice of ways, where it could be better than the best.
    fn try_choice(&mut self, choice: &Choice) -> Result<(), SwizzleError> {
        if !self.could_improve(choice) {
            return Ok(());
        }
        for chain in &chains(self.task, &choice.ways, self.exact) {
            let is_spent = !self.exact && self.budget.get() == 0 && self.best.is_some();
            if is_spent || self.task.stop.is_set() {
                return Ok(());
            }
            if self.exact {
                self.every_segment(choice, chain)?;
            } else {
                self.good_segments(choice, chain)?;
            }
            if !self.could_improve(choice) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn could_improve(&self, choice: &Choice) -> bool {
        let key = (choice.least, choice.instructions);
        self.best.as_ref().is_none_or(|best| key < (best.total, best.instructions))
    }

    /// Tries every choice of segments, as far as the limit allows.
    fn every_segment(&mut self, choice: &Choice, chain: &Chain) -> Result<(), SwizzleError> {
        let task = self.task;
        let word = word(task, chain);
        let meets = meets(task, choice, chain, &whole(task.bits));
        let block = Subspace::from_vectors(&task.block);
        let bank = Subspace::from_vectors(&task.bank_from(chain.len()));
        let vector = Subspace::from_vectors(chain);
        let segments = Segments {
            within: whole(task.bits),
            dim: word.dim() + task.segments(),
            include: word.sum(&block),
            avoid: bank,
            meets: &meets,
            budget: &self.budget,
            stop: &task.stop,
        };
        let shared = power(word.dim()).max(1);
        let mut chosen: Option<(u64, Vec<u64>, Vec<u64>)> = None;
        segments.every(&mut |inner| {
            self.candidates += 1;
            if self.candidates > MAX_CANDIDATES || task.stop.is_set() {
                self.exact = false;
                return false;
            }
            // What shares the word alone counts once.
            let cost = segments.cost(inner) / shared;
            let better = chosen.as_ref().is_none_or(|chosen| cost < chosen.0);
            let known = self.best.as_ref().is_some_and(|best| best.total < cost);
            if !better || known {
                return true;
            }
            let with_word = Subspace::from_vectors(inner);
            let apart = with_word.intersection(&vector.sum(&bank)).dim() == word.dim();
            let above = |t: u32| if t < task.word { block } else { with_word };
            if let (true, Some(masks)) = (apart, masks(task, &choice.ways, chain, above)) {
                let inner = even(&with_word, masks.get(..task.word as usize).unwrap_or(&[]));
                chosen = Some((cost, inner.basis().collect(), masks));
            }
            chosen.as_ref().is_none_or(|chosen| chosen.0 > choice.least)
        });
        match chosen {
            Some((_, segments, masks)) => self.keep(chain, &masks, &segments),
            None => Ok(()),
        }
    }

    /// Tries the segments that lemma 9.5 and its improvements give.
    fn good_segments(&mut self, choice: &Choice, chain: &Chain) -> Result<(), SwizzleError> {
        let task = self.task;
        let Some(masks) = masks(task, &choice.ways, chain, |_| Subspace::ZERO) else {
            return Ok(());
        };
        let within = even(&whole(task.bits), &masks);
        let meets = meets(task, choice, chain, &within);
        let segments = Segments {
            within,
            dim: task.segments(),
            include: Subspace::from_vectors(&task.block),
            avoid: Subspace::from_vectors(&task.bank_from(chain.len())),
            meets: &meets,
            budget: &self.budget,
            stop: &task.stop,
        };
        let Some(found) = segments.find(choice.least) else { return Ok(()) };
        let Some(below) = below(task, &segments, &found) else { return Ok(()) };
        self.keep(chain, &masks, &[below, found].concat())
    }

    /// Keeps a choice if it is the best one, by the rank law.
    fn keep(&mut self, chain: &Chain, masks: &[u64], segments: &[u64]) -> Result<(), SwizzleError> {
        let Some(columns) = assemble(self.task, chain, masks, segments) else { return Ok(()) };
        let found = found(self.task, &columns)?;
        let key = (found.total, found.instructions);
        if self.best.as_ref().is_none_or(|best| key < (best.total, best.instructions)) {
            self.best = Some(found);
        }
        Ok(())
    }
}

/// Some layout that has the fixed elements where they belong.
fn plain(task: &Task<'_>) -> Result<Found, SwizzleError> {
    let low: Vec<(usize, u64)> = task.low_fixed().collect();
    let fixed = low.iter().map(|fixed| fixed.1).chain(task.block.iter().copied());
    let mut echelon = Echelon::of(fixed);
    let mut free = (0..task.bits).map(|bit| 1 << bit).filter(|&unit| echelon.grows(unit));
    let below = task.bits as usize - task.block.len().min(task.bits as usize);
    let at = |bit: usize| low.iter().find(|fixed| fixed.0 == bit).map(|fixed| fixed.1);
    let mut columns: Vec<u64> =
        (0..below).filter_map(|bit| at(bit).or_else(|| free.next())).collect();
    columns.extend(&task.block);
    found(task, &Matrix::new(task.bits, &columns).map_err(crate::LayoutError::from)?)
}

/// The elements at the bank bits that are segment bits to accesses of short rows.
fn below(task: &Task<'_>, segments: &Segments<'_>, found: &[u64]) -> Option<Vec<u64>> {
    if task.row == task.short_row {
        return Some(Vec::new());
    }
    let each = segments.meets.iter().zip(&task.demands);
    let short = each.filter(|(_, demand)| demand.row == task.short_row);
    let meets: Vec<Meets> = short.map(|(meets, _)| *meets).collect();
    let include = Subspace::from_vectors(found);
    let dim = task.bits.saturating_sub(task.short_row);
    let more = Segments { dim, include, meets: &meets, ..*segments }.find(0)?;
    let mut echelon = Echelon::of(found.iter().copied());
    Some(more.into_iter().filter(|&vector| echelon.grows(vector)).collect())
}

/// The elements of one word.
fn word(task: &Task<'_>, chain: &Chain) -> Subspace {
    Subspace::from_vectors(chain.get(..task.word as usize).unwrap_or(chain))
}

/// What the phases touch: lanes, vectors and the rest of their words, as far as it lies `within`.
fn meets(task: &Task<'_>, choice: &Choice, chain: &Chain, within: &Subspace) -> Vec<Meets> {
    let word = word(task, chain);
    let each = task.demands.iter().zip(&choice.ways);
    each.map(|(demand, &number)| {
        let way = demand.way(number);
        let low = Subspace::from_vectors(chain.get(..way.low.len()).unwrap_or(chain));
        let touched = way.lanes.sum(&low).sum(&word);
        // Registers that are rows already, beside those along the rows.
        let same = || demand.own().intersection(&way.lanes.sum(&low)).dim();
        let along = || demand.own().intersection(&low).dim();
        let chosen = match way.chosen() {
            0 => 0,
            chosen => chosen.saturating_sub(same() - along()),
        };
        Meets {
            touched: touched.intersection(within),
            weight: way.wavefronts(0).saturating_mul(demand.weight),
            own: demand.own().intersection(within),
            chosen,
        }
    })
    .collect()
}
