//! The largest subspace that shares only zero with each of given subspaces (lemma 9.5).

use alloc::vec::Vec;

use super::{Echelon, Subspace, extract_bits, low_mask, ones};

/// A subspace that shares only zero with given ones, and how large one could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avoiding {
    /// The subspace that was found.
    pub space: Subspace,
    /// No such subspace has a larger dimension.
    pub bound: u32,
}

impl Avoiding {
    /// Whether the subspace is known to be as large as possible.
    pub fn is_largest(&self) -> bool {
        self.space.dim() == self.bound
    }
}

/// The largest dimension in which all subspaces are tried.
const EXACT_DIM: u32 = 6;

/// The largest dimension in which the greedy choice looks at every vector.
const GREEDY_DIM: u32 = 12;

/// The most bits of the vectors that the greedy choice looks at above that.
const GREEDY_WEIGHT: u32 = 3;

impl Subspace {
    /// The largest subspace of the first `bits` bits that meets each of `avoided` only in zero.
    ///
    /// For up to two subspaces it is the construction of lemma 9.5, of dimension
    /// `bits − max(dim)`, whether their dimensions are equal or not.
    /// For three and more that number is only an upper bound: three lines leave nothing of a plane.
    /// There all subspaces are tried when the sum of the avoided ones, modulo what all of them share,
    /// has at most 6 dimensions; above that vectors are taken greedily (in order of value, up to 12
    /// dimensions; else those of at most three bits), and [`Avoiding::bound`] says how far the
    /// result may be from the largest.
    ///
    /// ```
    /// use weft_layout::f2::Subspace;
    ///
    /// let [x, y, diagonal] = [0b01, 0b10, 0b11].map(|line| Subspace::from_vectors(&[line]));
    /// assert_eq!(Subspace::largest_avoiding(2, &[x, y]).space, diagonal);
    /// assert_eq!(Subspace::largest_avoiding(2, &[x, y, diagonal]).bound, 0);
    /// ```
    pub fn largest_avoiding(bits: u32, avoided: &[Subspace]) -> Avoiding {
        let whole = Subspace::of_bits(low_mask(bits));
        let inside: Vec<Subspace> =
            avoided.iter().map(|space| space.intersection(&whole)).collect();
        let maximal: Vec<Subspace> = (inside.iter().enumerate())
            .filter(|&(index, space)| !is_covered(space, index, &inside))
            .map(|(_, space)| *space)
            .collect();
        let largest = |space: Subspace| Avoiding { space, bound: space.dim() };
        match maximal[..] {
            [] => largest(whole),
            [one] => largest(one.complement(bits)),
            [a, b] => largest(avoiding_two(bits, &a, &b)),
            _ => avoiding_many(bits, &maximal),
        }
    }
}

/// Whether a subspace is zero or lies in another one of the list (of equal ones, the first counts).
fn is_covered(space: &Subspace, index: usize, all: &[Subspace]) -> bool {
    let covers = |(other, candidate): (usize, &Subspace)| {
        other != index && candidate.contains_all(space) && (other < index || candidate != space)
    };
    space.dim() == 0 || all.iter().enumerate().any(covers)
}

/// Lemma 9.5: what neither holds, and sums of one vector of each.
fn avoiding_two(bits: u32, a: &Subspace, b: &Subspace) -> Subspace {
    let both = a.intersection(b);
    let beyond = |space: &Subspace| -> Vec<u64> {
        let mut echelon = Echelon::of(both.basis());
        space.basis().filter(|&vector| echelon.grows(vector)).collect()
    };
    let pairs = beyond(a).into_iter().zip(beyond(b)).map(|(e, f)| e ^ f);
    Subspace::spanned_by(pairs.chain(a.sum(b).complement(bits).basis()))
}

/// What lies outside the sum comes for free, and what all share plays no part: the question is one
/// about the sum modulo the intersection.
fn avoiding_many(bits: u32, avoided: &[Subspace]) -> Avoiding {
    let sum = avoided.iter().fold(Subspace::ZERO, |sum, space| sum.sum(space));
    let shared = avoided.iter().fold(sum, |shared, space| shared.intersection(space));
    let classes = shared.quotient(bits);
    let frame = classes.project_all(&sum);
    let coordinates = |space: &Subspace| {
        let classes = classes.project_all(space);
        Subspace::spanned_by(classes.basis().map(|class| extract_bits(class, frame.leads())))
    };
    let inner: Vec<Subspace> = avoided.iter().map(coordinates).collect();
    let bound = frame.dim() - inner.iter().map(Subspace::dim).max().unwrap_or(0);
    let (found, bound) = if frame.dim() <= EXACT_DIM {
        let found = Search::run(frame.dim(), &inner, bound);
        (found, found.dim())
    } else {
        (greedy(frame.dim(), &inner, bound), bound)
    };
    // Coordinates to elements: each stands at a leading bit of the frame.
    let frame_basis: Vec<u64> = frame.basis().collect();
    let element = |vector: u64| ones(vector).fold(0, |sum, bit| sum ^ frame_basis[bit as usize]);
    let lifted = found.basis().map(|vector| classes.lift(element(vector)));
    let outside = sum.complement(bits);
    let space = Subspace::spanned_by(lifted.chain(outside.basis()));
    Avoiding { space, bound: bound + outside.dim() }
}

/// Takes vectors as they come.
/// One pass suffices: what a smaller choice excludes a larger one excludes too.
fn greedy(dim: u32, avoided: &[Subspace], bound: u32) -> Subspace {
    let mut taken = Echelon::new();
    let mut reached: Vec<Echelon> =
        avoided.iter().map(|space| Echelon::of(space.basis())).collect();
    for vector in candidates(dim) {
        if taken.rank() == bound {
            break;
        }
        if reached.iter().all(|echelon| echelon.reduce(vector, 0).0 != 0) {
            taken.grows(vector);
            for echelon in &mut reached {
                echelon.grows(vector);
            }
        }
    }
    Subspace::spanned_by(taken.vectors())
}

/// The vectors that the greedy choice looks at.
fn candidates(dim: u32) -> Vec<u64> {
    if dim <= GREEDY_DIM {
        return (1..1 << dim).collect();
    }
    let mut all: Vec<u64> = Vec::new();
    let mut lightest: Vec<u64> = [0].to_vec();
    for _ in 0..GREEDY_WEIGHT {
        let add = |&vector: &u64| {
            let above = 64 - vector.leading_zeros();
            (above..dim).map(move |bit| vector | 1 << bit)
        };
        lightest = lightest.iter().flat_map(add).collect();
        all.extend_from_slice(&lightest);
    }
    all
}

/// All subspaces of at most six bits, each once, by its reduced echelon basis.
/// A set of vectors is a mask with one bit a vector.
struct Search {
    dim: u32,
    /// The non-zero vectors that may not be elements.
    forbidden: u64,
    /// The dimension at which to stop.
    goal: u32,
    best: Vec<u64>,
}

impl Search {
    fn run(dim: u32, avoided: &[Subspace], goal: u32) -> Subspace {
        let all = avoided.iter().flat_map(|space| space.elements().into_iter().flatten());
        let forbidden = all.fold(0_u64, |set, vector| set | 1 << (vector & 63)) & !1;
        let mut search = Search { dim, forbidden, goal, best: Vec::new() };
        search.extend(&mut Vec::new(), 1, 0);
        Subspace::from_vectors(&search.best)
    }

    /// Tries all ways to add vectors with leading bits from `first` on to `basis`, which spans `set`.
    fn extend(&mut self, basis: &mut Vec<u64>, set: u64, first: u32) {
        if basis.len() > self.best.len() {
            self.best.clone_from(basis);
        }
        for lead in first..self.dim {
            let most = basis.len() as u32 + (self.dim - lead);
            if self.best.len() as u32 >= self.goal.min(most) {
                return;
            }
            let leads = basis.iter().fold(0, |leads, vector: &u64| leads | 1 << vector.ilog2());
            for vector in (1_u64 << lead)..(2 << lead) {
                if vector & leads != 0 {
                    continue;
                }
                let shifted =
                    ones(set).fold(0, |moved, old| moved | 1 << (u64::from(old) ^ vector));
                if shifted & self.forbidden == 0 {
                    basis.push(vector);
                    self.extend(basis, set | shifted, lead + 1);
                    basis.pop();
                }
            }
        }
    }
}
