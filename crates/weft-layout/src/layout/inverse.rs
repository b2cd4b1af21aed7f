//! Inverses (definition 4.5), and what stands in their way.

use super::{Coordinates, Layout, LayoutError};
use crate::f2::{Matrix, Subspace};

impl Layout {
    /// The places that hold element zero: how far a layout is from holding each element once.
    pub fn kernel(&self) -> Subspace {
        self.matrix.kernel()
    }

    /// The elements that are held.
    pub fn image(&self) -> Subspace {
        self.matrix.image()
    }

    /// Two places that hold the same element, if there are any; the first one is the zero place.
    pub fn collision(&self) -> Option<(Coordinates, Coordinates)> {
        let place = self.kernel().basis().next()?;
        Some((self.ins.unpack(0), self.ins.unpack(place)))
    }

    /// An element that no place holds, if there is one.
    pub fn unreached(&self) -> Option<Coordinates> {
        let element = self.image().complement(self.outs.total_bits()).basis().next()?;
        Some(self.outs.unpack(element))
    }

    /// The inverse map.
    ///
    /// Fails with two places that hold the same element, or with an element that no place holds.
    pub fn invert(&self) -> Result<Layout, LayoutError> {
        let inverse = self.matrix.inverse().map_err(|error| match self.collision() {
            Some((first, second)) => {
                LayoutError::NotInjective { first, second, image: self.outs.unpack(0) }
            }
            // Not square and injective: there are more outputs than inputs.
            None => match self.unreached() {
                Some(output) => LayoutError::NotSurjective { output },
                None => LayoutError::Singular(error),
            },
        })?;
        Layout::from_matrix(self.outs.clone(), self.ins.clone(), inverse)
    }

    /// A map `X` with `self ∘ X` the identity: for each element the lowest place that holds it
    /// (definition 4.5).
    ///
    /// Places are compared as in [`solve`](Layout::solve).
    /// Fails with an element that no place holds.
    pub fn right_inverse(&self) -> Result<Layout, LayoutError> {
        let identity = Matrix::identity(self.outs.total_bits())?;
        let identity = Layout::from_matrix(self.outs.clone(), self.outs.clone(), identity)?;
        identity.solve(self).map_err(|error| match error {
            LayoutError::NotReached { image, .. } => LayoutError::NotSurjective { output: image },
            other => other,
        })
    }
}
