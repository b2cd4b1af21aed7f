//! Layouts that fall into parts: identities, runs and quotients.

use alloc::vec::Vec;

use super::{Layout, LayoutError, mismatch};
use crate::space::{Label, SpaceError};

impl Layout {
    /// Whether the input axis `label` goes to the output axis of the same name and size, bit by bit.
    ///
    /// It may go to other outputs too, and other inputs may go there; see
    /// [`is_trivial_over`](Layout::is_trivial_over).
    pub fn is_identity_on(&self, label: Label) -> bool {
        let both = self.ins.contains(label) && self.outs.contains(label);
        both && self.ins.bits(label) == self.outs.bits(label)
            && (0..)
                .zip(self.columns(label))
                .all(|(bit, &place)| self.outs.coordinate(label, place) == 1 << bit)
    }

    /// Whether these axes go to themselves and nothing else passes between them and the others:
    /// exactly when there is a [`quotient`](Layout::quotient).
    pub fn is_trivial_over(&self, labels: &[Label]) -> bool {
        self.check_trivial_over(labels).is_ok()
    }

    /// The layout of the other axes, where these go to themselves and nothing passes between them
    /// and the others.
    ///
    /// Fails when an axis is not both input and output, with both sizes when they differ, or with
    /// the first bit that crosses.
    ///
    /// ```
    /// use weft_layout::{interop::parse_layout, space::{LANE, WARP}};
    ///
    /// let moves = parse_layout("[lane: (2,0) (1,0), warp: (0,1)] -> [lane: 4, warp: 2]")?;
    /// assert_eq!(moves.quotient(&[WARP])?, parse_layout("[lane: 2 1] -> [lane: 4]")?);
    /// assert_eq!(
    ///     moves.quotient(&[LANE]).unwrap_err().to_string(),
    ///     "bit 0 of `lane` goes to lane=2, which crosses the axes that are divided out"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn quotient(&self, labels: &[Label]) -> Result<Layout, LayoutError> {
        self.check_trivial_over(labels)?;
        let others = |space: &crate::Space| -> Vec<Label> {
            space.labels().filter(|label| !labels.contains(label)).collect()
        };
        self.sublayout(&others(&self.ins), &others(&self.outs))
    }

    fn check_trivial_over(&self, labels: &[Label]) -> Result<(), LayoutError> {
        let mut inside = 0;
        for &label in labels {
            if !self.ins.contains(label) && !self.outs.contains(label) {
                return Err(SpaceError::UnknownLabel(label).into());
            }
            if !self.ins.contains(label)
                || !self.outs.contains(label)
                || self.ins.bits(label) != self.outs.bits(label)
            {
                return Err(mismatch(&self.ins, &self.outs, label));
            }
            inside |= self.outs.mask(label);
        }
        for label in self.ins.labels() {
            let own = labels.contains(&label).then(|| self.outs.offset_of(label)).flatten();
            for (bit, &place) in (0..).zip(self.columns(label)) {
                let fits = match own {
                    Some(offset) => place == 1 << (offset + bit),
                    None => place & inside == 0,
                };
                if !fits {
                    let image = self.outs.unpack(place);
                    return Err(LayoutError::Crosses { label, bit, image });
                }
            }
        }
        Ok(())
    }

    /// The logarithm of [`contiguous_run`](Layout::contiguous_run).
    pub fn contiguous_bits(&self, input: Label, output: Label) -> u32 {
        let Some(offset) = self.outs.offset_of(output) else { return 0 };
        let columns = self.columns(input);
        let units = (0..self.outs.bits(output)).zip(columns);
        let run = units.take_while(|&(bit, &place)| place == 1 << (offset + bit)).count();
        let outside = |label: Label| &self.columns(label)[if label == input { run } else { 0 }..];
        let others = self.ins.labels().flat_map(outside).fold(0, |all, place| all | place);
        let touched = self.outs.coordinate(output, others);
        (run as u32).min(touched.trailing_zeros())
    }

    /// How many consecutive places of the input axis `input` hold consecutive elements along the
    /// output axis `output`, aligned, with nothing else in between; a power of two, at least 1.
    ///
    /// With registers as the input this is how many elements a vector access moves at once.
    /// For runs across several output axes, [`reshape_outs`](Layout::reshape_outs) to one axis first.
    /// A run of 2⁶⁴ elements counts as 2⁶⁴ − 1.
    ///
    /// ```
    /// use weft_layout::{Label, interop::parse_layout, space::{LANE, REGISTER}};
    ///
    /// let layout = parse_layout("[register: 1 2 8, lane: 4 16] -> [dim0: 32]")?;
    /// assert_eq!(layout.contiguous_run(REGISTER, Label::dim(0)), 4);
    /// assert_eq!(layout.contiguous_run(LANE, Label::dim(0)), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contiguous_run(&self, input: Label, output: Label) -> u64 {
        1_u64.checked_shl(self.contiguous_bits(input, output)).unwrap_or(u64::MAX)
    }

    /// The largest identity from `input` to `output` that divides the layout on the left, as its
    /// bits, and the quotient.
    ///
    /// Fails when there is no such input or output.
    pub fn split_identity(
        &self,
        input: Label,
        output: Label,
    ) -> Result<(u32, Layout), LayoutError> {
        let bits = self.contiguous_bits(input, output);
        Ok((bits, self.divide_left(&Layout::identity(bits, input, output)?)?))
    }
}
