//! A reduction under way.
//!
//! Each level of the tree folds the elements at `2i` and `2i + 1` along the axis into the element at
//! `i`. A region of element-wise scalar operations folds all pairs of a level in one go, each of its
//! values standing for as many scalars as there are pairs; any other region runs once for each pair.

use super::bounds::Fold;
use super::elements::{Bounded, Bounds, Elements};
use crate::tile::{Kernel, OpKind, Region};

/// Some operands that are being folded along an axis.
#[derive(Clone, PartialEq)]
pub(super) struct Reduction {
    /// The operands, as `outer x extent x inner` elements.
    operands: Vec<Bounded>,
    outer: usize,
    extent: usize,
    inner: usize,
    /// Where pairs are folded one by one: the results of this level so far, with their bounds.
    folded: Option<Vec<Vec<(u64, f64)>>>,
    /// What may be rounded differently.
    law: Fold,
    /// The bounds of the results that are sums.
    sums: Vec<Option<Bounds>>,
}

impl Reduction {
    /// A reduction of operands of `shape` along `axis`, which is one of the shape's.
    pub(super) fn new(
        operands: Vec<Bounded>,
        shape: &[u64],
        axis: usize,
        at_once: bool,
        law: Fold,
    ) -> Self {
        let count = |extents: &[u64]| extents.iter().product::<u64>() as usize;
        let folded = if at_once { None } else { Some(vec![Vec::new(); operands.len()]) };
        let (outer, inner) = (count(&shape[..axis]), count(&shape[axis + 1..]));
        let extent = shape[axis] as usize;
        let place =
            |line: usize, step: usize| (line / inner * extent + step) * inner + line % inner;
        let sums = law.of_sums(&operands, [outer * inner, extent], place, false);
        Self { operands, outer, extent, inner, folded, law, sums }
    }

    /// The results, once there is nothing left to fold.
    pub(super) fn finished(&self) -> Option<Vec<Bounded>> {
        let result = |(operand, sum): (&Bounded, &Option<Bounds>)| Bounded {
            bits: operand.bits.clone(),
            bounds: sum.as_ref().unwrap_or(&operand.bounds).clone(),
        };
        (self.extent == 1).then(|| self.operands.iter().zip(&self.sums).map(result).collect())
    }

    /// What may be rounded differently.
    pub(super) fn law(&self) -> &Fold {
        &self.law
    }

    /// How many scalars each value in the region stands for, if it folds a level at once.
    pub(super) fn lanes(&self) -> Option<usize> {
        self.folded.is_none().then_some(self.pairs())
    }

    /// What enters the region next: the left elements, then the right ones.
    pub(super) fn parameters(&self) -> Vec<Bounded> {
        let side = |right: usize| {
            self.operands.iter().map(move |x| Bounded {
                bits: self.side(&x.bits, right),
                bounds: self.side(&x.bounds, right),
            })
        };
        side(0).chain(side(1)).collect()
    }

    /// Takes what the region yielded.
    pub(super) fn fold(&mut self, yielded: Vec<Bounded>) {
        let pairs = self.pairs();
        match &mut self.folded {
            None => self.operands = yielded,
            Some(folded) => {
                for (folded, yielded) in folded.iter_mut().zip(&yielded) {
                    folded.push((yielded.get(0), yielded.bounds.get(0)));
                }
                if folded.first().is_some_and(|folded| folded.len() < pairs) {
                    return;
                }
                self.operands = folded
                    .iter_mut()
                    .map(|folded| {
                        let folded = core::mem::take(folded);
                        let count = folded.len();
                        Bounded {
                            bits: Elements::from_fn(count, |index| folded[index].0),
                            bounds: Bounds::held(count, |index| folded[index].1),
                        }
                    })
                    .collect();
            }
        }
        self.extent /= 2;
    }

    fn pairs(&self) -> usize {
        self.outer * self.extent / 2 * self.inner
    }

    fn side<T: Copy>(&self, operand: &Elements<T>, right: usize) -> Elements<T> {
        let Elements::Each(elements) = operand else { return operand.clone() };
        if let Some(folded) = &self.folded {
            let done = folded.first().map_or(0, Vec::len);
            let (pair, within) = (done / self.inner, done % self.inner);
            return Elements::Same(elements[(2 * pair + right) * self.inner + within]);
        }
        // The outer index and the pair's index together count pairs of rows of `inner` elements.
        let rows = elements.chunks_exact(self.inner).skip(right).step_by(2);
        Elements::each(rows.flatten().copied().collect::<Vec<_>>().into())
    }
}

/// Whether a region consists of operations on scalars, element by element.
pub(super) fn is_elementwise(kernel: &Kernel, region: &Region) -> bool {
    let scalar = |kind: &OpKind| {
        matches!(
            kind,
            OpKind::Constant(_)
                | OpKind::Poison
                | OpKind::ProgramId(_)
                | OpKind::NumPrograms(_)
                | OpKind::Unary(_)
                | OpKind::Binary(_)
                | OpKind::Compare(_)
                | OpKind::Select
                | OpKind::Cast(_)
                | OpKind::Fma
                | OpKind::Directed(..)
                | OpKind::Function(_)
                | OpKind::AddPtr
                | OpKind::Yield
        )
    };
    region.ops.iter().filter_map(|&id| kernel.ops.get(id)).all(|op| {
        scalar(&op.kind) && op.results.iter().all(|&result| !kernel.ty(result).is_tensor())
    })
}
