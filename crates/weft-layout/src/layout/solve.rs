//! Solving `to ∘ X = self`: which place of one layout holds what a place of another does.
//!
//! [`Layout::solve`] states the rules by which it chooses among copies; this is why they hold.
//!
//! Locality is exact for every place.
//! The places of `to` fall into layers: registers, then lanes, then warps, then blocks.
//! A basis of its columns that takes from the lower layers what it can expresses every difference in
//! the lowest layer possible, and linearly so.
//! The other two rules are applied to one bit of `self` after the other, within what locality and the
//! bits before leave open.
//!
//! Staying in place never costs independence: what it gets wrong is put right in lower layers, so
//! `to ∘ X = self` holds even where an axis is the same in both layouts and another axis of `to` also
//! reaches its image, and `X` confuses no two places that `self` tells apart.

use alloc::vec::Vec;

use super::{Layout, LayoutError, mismatch};
use crate::{
    f2::{Echelon, Matrix, Subspace, extract_bits, low_mask, ones},
    space::{BLOCK, LANE, Label, WARP},
};

/// What [`Layout::solve_with`] finds: one solution, and what may be added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// `X`: from the places of one layout to those of the other.
    pub map: Layout,
    /// The freedom: adding any of these places to any basis of [`map`](Solution::map) gives another
    /// solution, and there are no others.
    pub free: Subspace,
    /// Whether fewest changes and the lowest copy are exact.
    /// They are when at most 12 dimensions of the freedom are no single bits; above that places are
    /// improved one vector of the freedom at a time.
    pub exact: bool,
}

impl Solution {
    /// Whether no choice was made.
    pub fn is_unique(&self) -> bool {
        self.free.dim() == 0
    }
}

/// The most dimensions of a kernel in which every copy is looked at.
const EXACT_DIM: usize = 12;

/// How often a copy is improved where not all can be looked at.
const MAX_IMPROVEMENTS: usize = 1024;

impl Layout {
    /// A map `X` with `to ∘ X = self`: for each place of `self` a place of `to` that holds the same
    /// element.
    ///
    /// Where `to` holds copies there are many solutions, one for each map into its kernel.
    /// Three rules choose among them, in this order:
    ///
    /// 1. *Locality.* A place keeps its block if it can, then its warp, then its lane.
    ///    This holds for every place, not only for those of a single bit.
    /// 2. *Fewest changes.* Of the block, then of the warp, then of the lane as few bits change as
    ///    possible, then of the registers as few as possible are set; a register whose basis is the
    ///    same on both sides stays.
    /// 3. *The lowest copy.* Of what is left the least place is taken.
    ///
    /// The outputs are matched by label; those of `to` may be larger.
    /// Fails when an output is missing on either side or too small in `to`, or with the first bit of
    /// `self` that goes where `to` holds nothing.
    ///
    /// ```
    /// use weft_layout::interop::parse_layout;
    ///
    /// let rows = parse_layout("[register: (0,1), lane: (1,0)] -> [dim0: 2, dim1: 2]")?;
    /// let columns = parse_layout("[register: (1,0), lane: (0,1)] -> [dim0: 2, dim1: 2]")?;
    /// let moves = rows.solve(&columns)?;
    /// assert_eq!(moves.compose(&columns)?, rows);
    /// // Each lane reads register `lane` of the lane numbered by its own register.
    /// assert_eq!(moves.to_string(), "[register: (0,1), lane: (1,0)] -> [register: 2, lane: 2]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve(&self, to: &Layout) -> Result<Layout, LayoutError> {
        Ok(self.solve_with(to)?.map)
    }

    /// As [`solve`](Layout::solve), saying also how free the choice was.
    ///
    /// ```
    /// use weft_layout::interop::parse_layout;
    ///
    /// let plain = parse_layout("[lane: 1 2] -> [dim0: 4]")?;
    /// let copies = parse_layout("[register: 1 3, lane: 1 2] -> [dim0: 4]")?;
    /// let solution = plain.solve_with(&copies)?;
    /// // Each lane finds its element in itself; the registers hold copies of other lanes' elements.
    /// assert_eq!(solution.map.to_string(), "[lane: (0,1) (0,2)] -> [register: 4, lane: 4]");
    /// assert_eq!(solution.free.dim(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve_with(&self, to: &Layout) -> Result<Solution, LayoutError> {
        let widened = if self.outs == to.outs {
            None
        } else {
            if let Some(label) = to.outs.labels().find(|&label| !self.outs.contains(label)) {
                return Err(mismatch(&self.outs, &to.outs, label));
            }
            Some(self.matrix.compose(&self.outs.embedding(&to.outs)?)?)
        };
        let target = widened.as_ref().unwrap_or(&self.matrix);
        let layers = Layers::of(to);
        // Bits that go to zero are in no pivot: they stay, and leave nothing to choose.
        let mut choice = (!layers.mixed.is_empty()).then(|| Choice::new(&layers));
        let mut columns = [0; 64];
        for (label, start, bits) in self.ins.iter() {
            for bit in 0..bits {
                let goal = target.column(start + bit);
                let stay = stay_place(to, label, bit, goal);
                let (residue, place) = layers.echelon.reduce(goal ^ to.apply_flat(stay), stay);
                if residue != 0 {
                    return Err(LayoutError::NotReached {
                        label,
                        bit,
                        image: to.outs.unpack(goal),
                    });
                }
                let index = start + bit;
                columns[index as usize] = match &mut choice {
                    Some(choice) => choice.nearest(index, place, stay),
                    None => place,
                };
            }
        }
        let matrix = Matrix::new(to.ins.total_bits(), &columns[..self.ins.total_bits() as usize])?;
        let map = Layout::from_matrix(self.ins.clone(), to.ins.clone(), matrix)?;
        let exact = choice.is_none_or(|choice| choice.exact);
        Ok(Solution { map, free: layers.free(), exact })
    }
}

/// The place of `to` where bit `bit` of axis `label` would stay: the same bit of the same axis, if
/// there is one; outside lane, warp and block only when it holds `goal` already.
fn stay_place(to: &Layout, label: Label, bit: u32, goal: u64) -> u64 {
    let thread = [LANE, WARP, BLOCK].contains(&label);
    match to.ins.offset_of(label) {
        Some(offset) if bit < to.ins.bits(label) => {
            let stays = thread || to.matrix.column(offset + bit) == goal;
            if stays { 1 << (offset + bit) } else { 0 }
        }
        _ => 0,
    }
}

/// The layers of a layout's places: everything else, then lanes, then warps, then blocks.
const LAYERS: usize = 4;

/// The columns of a layout, eliminated layer by layer, and its kernel.
struct Layers {
    /// Pivots are taken from the lowest layer possible.
    echelon: Echelon,
    /// The bits of each layer.
    bits: [u64; LAYERS],
    /// The bits that go to zero; no other vector of the kernel's basis has them.
    zeros: u64,
    /// The rest of a basis of the kernel, lowest layer first.
    mixed: Vec<u64>,
    /// How many of those lie in layers up to and including each.
    mixed_upto: [usize; LAYERS],
}

impl Layers {
    fn of(layout: &Layout) -> Layers {
        let threads = [LANE, WARP, BLOCK].map(|label| layout.ins.mask(label));
        let all = low_mask(layout.ins.total_bits());
        let others = threads.iter().fold(all, |rest, mask| rest & !mask);
        let mut layers = Layers {
            echelon: Echelon::new(),
            bits: [others, threads[0], threads[1], threads[2]],
            zeros: 0,
            mixed: Vec::new(),
            mixed_upto: [0; LAYERS],
        };
        for layer in 0..LAYERS {
            for bit in ones(layers.bits[layer]) {
                match layers.echelon.insert(layout.matrix.column(bit), 1 << bit) {
                    Some(relation) if relation.is_power_of_two() => layers.zeros |= relation,
                    Some(relation) => layers.mixed.push(relation),
                    None => {}
                }
            }
            layers.mixed_upto[layer] = layers.mixed.len();
        }
        layers
    }

    fn free(&self) -> Subspace {
        let zeros = Subspace::of_bits(self.zeros);
        if self.mixed.is_empty() { zeros } else { zeros.sum(&Subspace::from_vectors(&self.mixed)) }
    }

    /// The change of a place beyond the lowest layer, with higher layers in higher bits.
    fn key(&self, change: u64) -> u64 {
        self.bits[1..].iter().rev().fold(0, |key, &layer| {
            key.checked_shl(layer.count_ones()).unwrap_or(0) | extract_bits(change, layer)
        })
    }

    /// The highest layer in which a place changes, given the key of the change.
    fn highest(&self, key: u64) -> usize {
        let mut rest = key;
        let reached = self.bits[1..].iter().map(|layer| {
            let before = rest;
            rest = rest.checked_shr(layer.count_ones()).unwrap_or(0);
            before != 0
        });
        reached.filter(|&reached| reached).count()
    }

    /// How many bits of each layer change, highest layer first, then the place.
    fn cost(&self, place: u64, stay: u64) -> ([u32; LAYERS], u64) {
        let [rest, lane, warp, block] = self.bits.map(|mask| ((place ^ stay) & mask).count_ones());
        ([block, warp, lane, rest], place)
    }
}

/// The choice of copies, one bit after the other.
struct Choice<'a> {
    layers: &'a Layers,
    /// The changes of the bits seen, by their keys, each with the bits that it combines.
    seen: Echelon,
    /// What each bit seen adds to its first solution: an element of the kernel.
    added: [u64; 64],
    exact: bool,
}

impl<'a> Choice<'a> {
    fn new(layers: &'a Layers) -> Choice<'a> {
        Choice { layers, seen: Echelon::new(), added: [0; 64], exact: true }
    }

    /// The best place for bit `index`, given its first solution and where it would stay.
    ///
    /// Together with bits before, this bit may change fewer layers than alone; the sum must stay in
    /// those, so that only the kernel there is free.
    fn nearest(&mut self, index: u32, first: u64, stay: u64) -> u64 {
        if first == stay {
            return first;
        }
        let key = self.layers.key(first ^ stay);
        let (residue, with) = self.seen.reduce(key, 0);
        let start = ones(with).fold(first, |sum, bit| sum ^ self.added[bit as usize]);
        let best = self.least(start, stay, self.layers.highest(residue));
        self.added[index as usize] = best ^ first;
        self.seen.insert(key, 1 << index);
        best
    }

    /// The best of the places that differ from `start` by the kernel up to a layer.
    fn least(&mut self, start: u64, stay: u64, layer: usize) -> u64 {
        let mixed = &self.layers.mixed[..self.layers.mixed_upto[layer]];
        let cost = |&place: &u64| self.layers.cost(place, stay);
        if mixed.len() <= EXACT_DIM {
            // In an order in which neighbours differ by one vector.
            let steps =
                (1_u32..1 << mixed.len()).map(|count| mixed[count.trailing_zeros() as usize]);
            let places = steps.scan(start, |place, vector| {
                *place ^= vector;
                Some(*place)
            });
            return places.chain([start]).min_by_key(cost).unwrap_or(start);
        }
        self.exact = false;
        let mut best = start;
        for _ in 0..MAX_IMPROVEMENTS {
            let neighbours = mixed.iter().map(|vector| best ^ vector);
            match neighbours.min_by_key(cost) {
                Some(better) if cost(&better) < cost(&best) => best = better,
                _ => break,
            }
        }
        best
    }
}
