//! Gaussian elimination, one vector at a time.

use super::ones;

/// A set of vectors with distinct leading bits, each with the combination of inserted vectors that
/// it is.
#[derive(Clone)]
pub(crate) struct Echelon {
    leads: u64,
    vectors: [u64; 64],
    combinations: [u64; 64],
}

impl Echelon {
    pub(crate) fn new() -> Echelon {
        Echelon { leads: 0, vectors: [0; 64], combinations: [0; 64] }
    }

    /// The span of `vectors`, without combinations.
    pub(crate) fn of(vectors: impl IntoIterator<Item = u64>) -> Echelon {
        let mut echelon = Echelon::new();
        for vector in vectors {
            echelon.insert(vector, 0);
        }
        echelon
    }

    pub(crate) fn rank(&self) -> u32 {
        self.leads.count_ones()
    }

    /// Subtracts what the span can explain.
    /// Returns what is left and `combination` changed by what was subtracted; nothing is left
    /// exactly when `vector` lies in the span.
    pub(crate) fn reduce(&self, mut vector: u64, mut combination: u64) -> (u64, u64) {
        loop {
            let common = vector & self.leads;
            if common == 0 {
                return (vector, combination);
            }
            let lead = 63 - common.leading_zeros() as usize;
            vector ^= self.vectors[lead];
            combination ^= self.combinations[lead];
        }
    }

    /// Adds `vector` to the span.
    /// Returns `None` when it was new, else the combination of earlier vectors (and of
    /// `combination`) that is zero.
    pub(crate) fn insert(&mut self, vector: u64, combination: u64) -> Option<u64> {
        let (vector, combination) = self.reduce(vector, combination);
        if vector == 0 {
            return Some(combination);
        }
        let lead = 63 - vector.leading_zeros() as usize;
        self.leads |= 1 << lead;
        self.vectors[lead] = vector;
        self.combinations[lead] = combination;
        None
    }

    /// Adds `vector` and says whether the span grew.
    pub(crate) fn grows(&mut self, vector: u64) -> bool {
        self.insert(vector, 0).is_none()
    }

    /// The vectors in the order of their leading bits.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = u64> {
        ones(self.leads).map(|lead| self.vectors[lead as usize])
    }
}
