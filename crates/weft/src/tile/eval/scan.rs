//! A scan under way.
//!
//! The region runs once for each place along the axis after the first, each of its values standing for
//! as many scalars as there are lines along the axis.

use super::elements::Elements;

/// Some operands whose prefixes along an axis are being folded.
#[derive(Clone, PartialEq)]
pub(super) struct Scan {
    /// The operands, as `outer x extent x inner` elements; folded up to `done` steps.
    elements: Vec<Vec<u64>>,
    outer: usize,
    extent: usize,
    inner: usize,
    reverse: bool,
    done: usize,
}

impl Scan {
    /// A scan of operands of `shape` along `axis`, which is one of the shape's.
    pub(super) fn new(operands: Vec<Elements>, shape: &[u64], axis: usize, reverse: bool) -> Self {
        let count = |extents: &[u64]| extents.iter().product::<u64>() as usize;
        let (outer, inner) = (count(&shape[..axis]), count(&shape[axis + 1..]));
        let all = |operand: Elements| (0..count(shape)).map(|index| operand.get(index)).collect();
        let elements = operands.into_iter().map(all).collect();
        Self { elements, outer, extent: shape[axis] as usize, inner, reverse, done: 1 }
    }

    /// The results, once every place has been folded.
    pub(super) fn finished(&self) -> Option<Vec<Elements>> {
        let all = || self.elements.iter().map(|each| Elements::each(each.clone().into()));
        (self.done == self.extent).then(|| all().collect())
    }

    /// How many scalars each value in the region stands for.
    pub(super) fn lanes(&self) -> usize {
        self.outer * self.inner
    }

    /// What enters the region next: what was folded so far, then the elements.
    pub(super) fn parameters(&self) -> Vec<Elements> {
        let line = |each: &[u64], step: usize| {
            Elements::from_fn(self.lanes(), |lane| each[self.place(lane, step)])
        };
        let folded = self.elements.iter().map(|each| line(each, self.done - 1));
        let next = self.elements.iter().map(|each| line(each, self.done));
        folded.chain(next).collect()
    }

    /// Takes what the region yielded.
    pub(super) fn fold(&mut self, yielded: &[Elements]) {
        let places: Vec<usize> =
            (0..self.lanes()).map(|lane| self.place(lane, self.done)).collect();
        for (each, yielded) in self.elements.iter_mut().zip(yielded) {
            for (lane, &place) in places.iter().enumerate() {
                each[place] = yielded.get(lane);
            }
        }
        self.done += 1;
    }

    /// Where a line has its element of a step.
    fn place(&self, lane: usize, step: usize) -> usize {
        let along = if self.reverse { self.extent - 1 - step } else { step };
        (lane / self.inner * self.extent + along) * self.inner + lane % self.inner
    }
}
