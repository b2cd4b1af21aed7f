//! A scan under way.
//!
//! The region runs once for each place along the axis after the first, each of its values standing for
//! as many scalars as there are lines along the axis.

use super::bounds::Fold;
use super::elements::{Bounded, Bounds, Elements};

/// Some operands whose prefixes along an axis are being folded.
#[derive(Clone, PartialEq)]
pub(super) struct Scan {
    /// The operands, as `outer x extent x inner` elements; folded up to `done` steps.
    elements: Vec<Vec<u64>>,
    /// How far off each element may be.
    bounds: Vec<Vec<f64>>,
    /// What may be rounded differently.
    law: Fold,
    /// The bounds of the results that are sums.
    sums: Vec<Option<Bounds>>,
    outer: usize,
    extent: usize,
    inner: usize,
    reverse: bool,
    done: usize,
}

impl Scan {
    /// A scan of operands of `shape` along `axis`, which is one of the shape's.
    pub(super) fn new(
        operands: &[Bounded],
        shape: &[u64],
        axis: usize,
        reverse: bool,
        law: Fold,
    ) -> Self {
        let count = |extents: &[u64]| extents.iter().product::<u64>() as usize;
        let (outer, inner) = (count(&shape[..axis]), count(&shape[axis + 1..]));
        let all = 0..count(shape);
        let elements = |x: &Bounded| all.clone().map(|index| x.get(index)).collect();
        let bounds = |x: &Bounded| all.clone().map(|index| x.bounds.get(index)).collect();
        let mut scan = Self {
            elements: operands.iter().map(elements).collect(),
            bounds: operands.iter().map(bounds).collect(),
            law,
            sums: Vec::new(),
            outer,
            extent: shape[axis] as usize,
            inner,
            reverse,
            done: 1,
        };
        let lines = [scan.lanes(), scan.extent];
        scan.sums = scan.law.of_sums(operands, lines, |lane, step| scan.place(lane, step), true);
        scan
    }

    /// The results, once every place has been folded.
    pub(super) fn finished(&self) -> Option<Vec<Bounded>> {
        let result = |index: usize| {
            let own = &self.bounds[index];
            let own = || Bounds::held(own.len(), |index| own[index]);
            Bounded {
                bits: Elements::each(self.elements[index].clone().into()),
                bounds: self.sums[index].clone().unwrap_or_else(own),
            }
        };
        (self.done == self.extent).then(|| (0..self.elements.len()).map(result).collect())
    }

    /// What may be rounded differently.
    pub(super) fn law(&self) -> &Fold {
        &self.law
    }

    /// How many scalars each value in the region stands for.
    pub(super) fn lanes(&self) -> usize {
        self.outer * self.inner
    }

    /// What enters the region next: what was folded so far, then the elements.
    pub(super) fn parameters(&self) -> Vec<Bounded> {
        let line = |index: usize, step: usize| Bounded {
            bits: Elements::from_fn(self.lanes(), |lane| {
                self.elements[index][self.place(lane, step)]
            }),
            bounds: Bounds::held(self.lanes(), |lane| self.bounds[index][self.place(lane, step)]),
        };
        let all = |step: usize| (0..self.elements.len()).map(move |index| line(index, step));
        all(self.done - 1).chain(all(self.done)).collect()
    }

    /// Takes what the region yielded.
    pub(super) fn fold(&mut self, yielded: &[Bounded]) {
        let places: Vec<usize> =
            (0..self.lanes()).map(|lane| self.place(lane, self.done)).collect();
        let all = self.elements.iter_mut().zip(&mut self.bounds);
        for ((bits, bounds), yielded) in all.zip(yielded) {
            for (lane, &place) in places.iter().enumerate() {
                bits[place] = yielded.get(lane);
                bounds[place] = yielded.bounds.get(lane);
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
