//! Swizzles: where in shared memory each element goes so that a writer and a reader both move whole
//! vectors without bank conflicts.
//!
//! This is the algorithm of section 9.2 of the paper.
//! An offset is cut into a vector part, a bank part and a segment part (one segment is one row over
//! all banks).
//! Lanes that are served together collide exactly when some difference of theirs lies in the
//! segments, up to the words of a vector and the elements of a word, so the segments are chosen to
//! meet neither the writer's phase `U` nor the reader's phase `V`: write `U = I + E`, `V = I + F`,
//! let `C` complete `I + E + F`; then `C` and the sums `e + f` of paired vectors are such a space,
//! and lemma 9.5 says that none is larger.
//!
//! Where the paper takes all lanes of a warp, this takes those of one phase of the access (a 16-byte
//! access serves 8 lanes at a time); and the elements of one word count as part of both phases, so
//! that elements narrower than a word are covered.

use alloc::vec::Vec;

use crate::{
    access::widest_shared_log2,
    f2::{self, Echelon, Matrix, Subspace, low_mask, ones},
    layout::LayoutError,
    machine::{Kind, Machine},
};

/// One access of a swizzled buffer: the elements at the register and lane bits of its layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The elements of the register bits.
    pub registers: Vec<u64>,
    /// The elements of the lane bits; zero for lanes that take no part.
    pub lanes: Vec<u64>,
    /// The elements of the warp bits.
    pub warps: Vec<u64>,
}

/// Whose registers fill the vector part of an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preference {
    /// Registers of both sides only, so that both use equal vectors.
    Common,
    /// Then registers of the writer: its vectors may be wider.
    Store,
    /// Then registers of the reader.
    Load,
}

impl Preference {
    /// Every preference, in the order in which they are tried.
    pub const ALL: [Preference; 3] = [Preference::Common, Preference::Store, Preference::Load];
}

/// A bijection between elements and offsets of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swizzle {
    /// The elements at the lowest offset bits: those of one vector, filled up to one word.
    pub vector: Vec<u64>,
    /// The elements at the offset bits that choose the bank.
    pub bank: Vec<u64>,
    /// The elements at the offset bits that choose the segment.
    pub segment: Vec<u64>,
    /// The offset (in elements) of each element.
    pub offsets: Matrix,
    /// The logarithm of the elements of a vector of the writer.
    pub store_vector: u32,
    /// The logarithm of the elements of a vector of the reader.
    pub load_vector: u32,
}

/// The swizzle for one writer and one reader of a buffer of 2^`bits` elements of
/// 2^`bytes_log2` bytes.
///
/// No access is wider than 2^`widest_log2` bytes a lane, nor than the machine allows.
/// The writer's columns must be a basis of all elements (zeros aside).
/// Fails when they are not.
pub fn swizzle(
    machine: &Machine,
    bits: u32,
    bytes_log2: u32,
    store: &Side,
    load: &Side,
    preference: Preference,
    widest_log2: u32,
) -> Result<Swizzle, LayoutError> {
    Ok(construct(machine, bits, bytes_log2, store, load, preference, widest_log2)?.0)
}

/// The swizzle with vectors that writer and reader share, and the phases that it avoids.
pub(super) fn pairs(
    machine: &Machine,
    bits: u32,
    bytes_log2: u32,
    [store, load]: [&Side; 2],
    widest_log2: u32,
) -> Result<(Swizzle, Phases), LayoutError> {
    construct(machine, bits, bytes_log2, store, load, Preference::Common, widest_log2)
}

fn construct(
    machine: &Machine,
    bits: u32,
    bytes_log2: u32,
    store: &Side,
    load: &Side,
    preference: Preference,
    widest_log2: u32,
) -> Result<(Swizzle, Phases), LayoutError> {
    let lanes = store.lanes.len().max(load.lanes.len());
    if lanes > f2::MAX_BITS as usize {
        return Err(f2::MatrixError::TooLarge { rows: bits as usize, cols: lanes }.into());
    }
    let widest = widest_shared_log2(machine).min(widest_log2).saturating_sub(bytes_log2);
    let (mut vector, common) = vector_part(store, load, preference, widest as usize);
    let wide = vector.len() as u32;
    let (store_vector, load_vector) = match preference {
        Preference::Common => (common, common),
        Preference::Store => (wide, common),
        Preference::Load => (common, wide),
    };
    let word = machine.bank_bytes_log2.saturating_sub(bytes_log2).min(bits) as usize;
    fill_word(&mut vector, word, store, load);

    let store_width = bytes_log2 + store_vector;
    let load_width = bytes_log2 + load_vector;
    let copies = load.lanes.iter().enumerate().filter(|lane| *lane.1 == 0);
    let copies = copies.fold(0, |mask, (bit, _)| mask | 1 << bit);
    let merged = u32::from(machine.phases.merges(load_width, copies));
    let phases = Phases {
        store: phase(
            machine,
            Kind::Store,
            store,
            store_width,
            &vector,
            store_vector as usize,
            word,
        ),
        load: phase(
            machine,
            Kind::Load,
            load,
            load_width - merged,
            &vector,
            load_vector as usize,
            word,
        ),
        rigid: vector.clone(),
    };
    let row = machine.row_bytes_log2().saturating_sub(bytes_log2);
    let Arranged { bank, segment, offsets } = arrange(bits, row, store, load, &phases)?;
    let aligned = |side: &Side, vector: u32| {
        let threads = side.lanes.iter().chain(&side.warps);
        let low = threads.fold(0, |all, &column| all | offsets.apply(column));
        vector.min(low.trailing_zeros())
    };
    let swizzle = Swizzle {
        store_vector: aligned(store, store_vector),
        load_vector: aligned(load, load_vector),
        vector,
        bank,
        segment,
        offsets,
    };
    Ok((swizzle, phases))
}

/// What stands above the vector part.
pub(in crate::plan) struct Arranged {
    pub(in crate::plan) bank: Vec<u64>,
    pub(in crate::plan) segment: Vec<u64>,
    pub(in crate::plan) offsets: Matrix,
}

/// Chooses segments that meet neither phase, and completes the offsets; one row over all banks has
/// 2^`row` elements.
pub(in crate::plan) fn arrange(
    bits: u32,
    row: u32,
    store: &Side,
    load: &Side,
    phases: &Phases,
) -> Result<Arranged, LayoutError> {
    let segment = phases.segments(store, load, bits.saturating_sub(row) as usize);
    let mut echelon = Echelon::of(phases.rigid.iter().chain(&segment).copied());
    let completion = store.lanes.iter().chain(&store.registers).chain(&store.warps);
    let bank: Vec<u64> = completion.copied().filter(|&column| echelon.grows(column)).collect();
    let columns: Vec<u64> = phases.rigid.iter().chain(&bank).chain(&segment).copied().collect();
    let offsets = Matrix::new(bits, &columns)?.inverse()?;
    Ok(Arranged { bank, segment, offsets })
}

/// The vector part, and how many vectors of it both sides can use.
pub(in crate::plan) fn vector_part(
    store: &Side,
    load: &Side,
    preference: Preference,
    widest: usize,
) -> (Vec<u64>, u32) {
    let (mine, theirs) =
        (Subspace::from_vectors(&store.registers), Subspace::from_vectors(&load.registers));
    let both = mine.intersection(&theirs);
    let mut echelon = Echelon::new();
    let mut vector = Vec::new();
    let mut take = |vector: &mut Vec<u64>, column: u64| {
        if vector.len() < widest && echelon.grows(column) {
            vector.push(column);
        }
    };
    // Single registers first: they keep the order that the layouts have.
    for &column in store.registers.iter().filter(|&&column| theirs.contains(column)) {
        take(&mut vector, column);
    }
    for column in both.basis() {
        take(&mut vector, column);
    }
    let common = vector.len() as u32;
    let more: &[u64] = match preference {
        Preference::Common => &[],
        Preference::Store => &store.registers,
        Preference::Load => &load.registers,
    };
    for &column in more {
        take(&mut vector, column);
    }
    (vector, common)
}

/// Extends the vector part to one word, by anything.
pub(in crate::plan) fn fill_word(vector: &mut Vec<u64>, word: usize, store: &Side, load: &Side) {
    let mut echelon = Echelon::of(vector.iter().copied());
    let candidates = load.registers.iter().chain(&store.registers);
    let candidates = candidates.chain(&store.lanes).chain(&store.warps);
    for &column in candidates {
        if vector.len() < word && echelon.grows(column) {
            vector.push(column);
        }
    }
}

/// What one phase of an access touches: its lanes, its vector, the rest of its words.
pub(in crate::plan) fn phase(
    machine: &Machine,
    kind: Kind,
    side: &Side,
    width: u32,
    vector: &[u64],
    length: usize,
    word: usize,
) -> Vec<u64> {
    let together = machine.phases.subspace(kind, width);
    let lane = |lanes: u64| {
        ones(lanes & low_mask(side.lanes.len() as u32))
            .fold(0, |sum, bit| sum ^ side.lanes[bit as usize])
    };
    let lanes: Vec<u64> = together.basis().map(lane).collect();
    let words = &vector[..length.max(word).min(vector.len())];
    lanes.into_iter().chain(words.iter().copied()).filter(|&column| column != 0).collect()
}

/// What one phase of each side touches.
pub(in crate::plan) struct Phases {
    pub(in crate::plan) store: Vec<u64>,
    pub(in crate::plan) load: Vec<u64>,
    /// The vector part: paired last, so that the vectors of lanes stay aligned.
    pub(in crate::plan) rigid: Vec<u64>,
}

impl Phases {
    /// At most `count` vectors whose span meets neither phase.
    fn segments(&self, store: &Side, load: &Side, count: usize) -> Vec<u64> {
        let (u, v) = (Subspace::from_vectors(&self.store), Subspace::from_vectors(&self.load));
        let common = u.intersection(&v);
        let beyond = |generators: &[u64]| -> Vec<u64> {
            let mut echelon = Echelon::of(common.basis());
            generators.iter().copied().filter(|&column| echelon.grows(column)).collect()
        };
        let (mut e, mut f) = (beyond(&self.store), beyond(&self.load));
        let mut all = Echelon::of(u.basis().chain(v.basis()));
        let rest = store.registers.iter().chain(&store.warps).chain(&store.lanes);
        let mut segments: Vec<u64> = rest.copied().filter(|&column| all.grows(column)).collect();

        let (mine, theirs) =
            (Subspace::from_vectors(&store.registers), Subspace::from_vectors(&load.registers));
        let mut pairs = self.pair_rigid(&mut e, &mut f, &mine);
        pairs.extend(self.pair_rigid(&mut f, &mut e, &theirs));
        segments.extend(e.iter().zip(&f).map(|(e, f)| e ^ f));
        segments.extend(pairs);
        segments.truncate(count);
        segments
    }

    /// Pairs vectors of `own` that are part of a vector access with vectors of `other` that are
    /// registers of the same side: those do not misalign its lanes.
    fn pair_rigid(
        &self,
        own: &mut Vec<u64>,
        other: &mut Vec<u64>,
        registers: &Subspace,
    ) -> Vec<u64> {
        let mut pairs = Vec::new();
        while let Some(index) = own.iter().position(|column| self.rigid.contains(column)) {
            let Some(partner) = other.iter().rposition(|&column| registers.contains(column)) else {
                break;
            };
            pairs.push(own.remove(index) ^ other.remove(partner));
        }
        pairs
    }
}
