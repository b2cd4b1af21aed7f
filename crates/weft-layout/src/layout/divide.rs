//! Division: a layout as a tile and its repetitions (definition 4.4).
//!
//! An instruction that moves a tile `T` can carry out a layout exactly when the layout divided by
//! `T` exists (theorem 5.1); the quotient says where the repetitions lie.

use alloc::vec::Vec;
use core::ops::Range;

use super::{BitAction, Coordinates, Layout, LayoutError, placement::Places};
use crate::space::{Label, Space, SpaceError};

impl Layout {
    /// The layout `C` with `self = divisor.product(C)`, over the axes of `self` (definition 4.4).
    ///
    /// Fails with the axis in which the divisor is larger, or with the first bit at which `self` does
    /// not begin with `divisor`: where it goes and where it should.
    pub fn divide_left(&self, divisor: &Layout) -> Result<Layout, LayoutError> {
        self.divide(divisor, Side::Minor)
    }

    /// The layout `C` with `self = C.product(divisor)`, over the axes of `self`.
    ///
    /// Fails like [`divide_left`](Layout::divide_left), where `self` does not end with `divisor`.
    pub fn divide_right(&self, divisor: &Layout) -> Result<Layout, LayoutError> {
        self.divide(divisor, Side::Major)
    }

    /// The bits of input axis `label` put in such an order that `tile` divides on the left, and the
    /// quotient.
    ///
    /// Generalised vectorisation: registers may be renamed for free, so that an instruction whose
    /// tile does not divide the layout may still divide the layout with its registers permuted.
    /// An order is found whenever there is one; bits that the tile does not need keep theirs.
    ///
    /// Fails when no bit of the axis goes where a bit of the tile does, and as
    /// [`divide_left`](Layout::divide_left).
    ///
    /// ```
    /// use weft_layout::{Layout, Label, interop::parse_layout, space::REGISTER};
    ///
    /// // Column by column: the registers of a row stand last.
    /// let layout = parse_layout("[register: 8 16 1 2, lane: 4] -> [dim0: 32]")?;
    /// let pairs = Layout::identity(2, REGISTER, Label::dim(0))?;
    /// assert!(layout.divide_left(&pairs).is_err());
    /// let (quotient, order) = layout.divide_left_permuted(&pairs, REGISTER)?;
    /// assert_eq!(order.bits(), [2, 3, 0, 1]);
    /// assert_eq!(pairs.product(&quotient)?, order.apply(&layout)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn divide_left_permuted(
        &self,
        tile: &Layout,
        label: Label,
    ) -> Result<(Layout, BitAction), LayoutError> {
        self.divide_permuted(tile, label, Side::Minor)
    }

    /// As [`divide_left_permuted`](Layout::divide_left_permuted), with the tile as the major part.
    pub fn divide_right_permuted(
        &self,
        tile: &Layout,
        label: Label,
    ) -> Result<(Layout, BitAction), LayoutError> {
        self.divide_permuted(tile, label, Side::Major)
    }

    /// The layout of the repetitions of `tile`, where the tile's outputs need not be the lowest bits
    /// of their axes.
    ///
    /// The tile must be the first bits of each of its input axes, as in
    /// [`divide_left`](Layout::divide_left); the other bits must avoid every output bit that the tile
    /// touches.
    /// The result maps the other bits to the outputs of `self`: a place is the sum of a place of the
    /// tile and one of the result, and no carry or cancellation joins the two.
    ///
    /// ```
    /// use weft_layout::interop::parse_layout;
    ///
    /// // Each instruction moves elements 0, 1, 4 and 5.
    /// let layout = parse_layout("[register: 1 4 2, lane: 8] -> [dim0: 16]")?;
    /// let tile = parse_layout("[register: 1 4] -> [dim0: 8]")?;
    /// assert!(layout.divide_left(&tile).is_err());
    /// let repetitions = parse_layout("[register: 2, lane: 8] -> [dim0: 16]")?;
    /// assert_eq!(layout.repetitions(&tile)?, repetitions);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn repetitions(&self, tile: &Layout) -> Result<Layout, LayoutError> {
        let ins = difference(&self.ins, &tile.ins, |_| {})?;
        let places = tile.outs.embedding(&self.outs)?;
        let touched =
            places.apply(tile.matrix.columns().iter().fold(0, |all, column| all | column));
        let mut columns = Vec::with_capacity(ins.total_bits() as usize);
        for label in self.ins.labels() {
            let expected = tile.columns(label).iter().map(|&column| Some(places.apply(column)));
            let expected = expected.chain(core::iter::repeat(None));
            for ((bit, &column), expected) in (0..).zip(self.columns(label)).zip(expected) {
                match expected {
                    Some(place) if place == column => {}
                    None if column & touched == 0 => columns.push(column),
                    _ => return Err(self.not_divisible(label, bit, expected)),
                }
            }
        }
        Layout::new(ins, self.outs.clone(), &columns)
    }

    fn divide(&self, divisor: &Layout, side: Side) -> Result<Layout, LayoutError> {
        let (mut inner, mut outer) = (Places::new(), Places::new());
        let outs = difference(&self.outs, &divisor.outs, |axis| {
            let (tile, rest) = side.cut(&axis);
            inner.put(tile, axis.part.start as u32);
            outer.put(rest, axis.rest_start as u32);
        })?;
        let mut columns = [0; 64];
        let mut wrong = None;
        let ins = difference(&self.ins, &divisor.ins, |axis| {
            let (tile, rest) = side.cut(&axis);
            for bit in axis.whole.clone() {
                let column = self.matrix.columns()[bit];
                let (inside, outside) = (inner.place(column), outer.place(column));
                let expected = tile
                    .contains(&bit)
                    .then(|| divisor.matrix.columns()[axis.part.start + bit - tile.start]);
                match expected {
                    Some(place) if inside == place && outside == 0 => {}
                    None if inside == 0 => columns[axis.rest_start + bit - rest.start] = outside,
                    _ => wrong = wrong.or(Some((axis.label, bit - axis.whole.start, expected))),
                }
            }
        })?;
        if let Some((label, bit, expected)) = wrong {
            let expected = expected.map(|place| self.tile_place(divisor, place, side));
            return Err(self.not_divisible(label, bit as u32, expected));
        }
        Layout::from_array(ins, outs, &columns)
    }

    fn divide_permuted(
        &self,
        tile: &Layout,
        label: Label,
        side: Side,
    ) -> Result<(Layout, BitAction), LayoutError> {
        difference(&self.ins, &tile.ins, |_| {})?;
        difference(&self.outs, &tile.outs, |_| {})?;
        let own = self.columns(label);
        let mut chosen: Vec<u32> = Vec::with_capacity(own.len());
        for (bit, &place) in (0..).zip(tile.columns(label)) {
            let place = self.tile_place(tile, place, side);
            let found = (0..).zip(own).find(|&(other, &c)| c == place && !chosen.contains(&other));
            let Some((found, _)) = found else {
                let expected = self.outs.unpack(place);
                return Err(LayoutError::NoSuchBasis { label, bit, expected });
            };
            chosen.push(found);
        }
        let mut order: Vec<u32> =
            (0..own.len() as u32).filter(|bit| !chosen.contains(bit)).collect();
        order.splice(if side == Side::Minor { 0..0 } else { order.len()..order.len() }, chosen);
        let action = BitAction::new(label, own.len() as u32, &order)?;
        Ok((action.apply(self)?.divide(tile, side)?, action))
    }

    /// Where a place of a divisor's outputs lies in those of `self`.
    fn tile_place(&self, tile: &Layout, place: u64, side: Side) -> u64 {
        let shift = |label| match side {
            Side::Minor => 0,
            Side::Major => self.outs.bits(label) as i32 - tile.outs.bits(label) as i32,
        };
        Places::between(&tile.outs, &self.outs, shift).place(place)
    }

    fn not_divisible(&self, label: Label, bit: u32, expected: Option<u64>) -> LayoutError {
        let coordinates = |place: u64| -> Coordinates { self.outs.unpack(place) };
        LayoutError::NotDivisible {
            label,
            bit,
            image: coordinates(self.basis(label, bit)),
            expected: expected.map(coordinates),
        }
    }
}

/// Which part of a product a divisor is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Minor,
    Major,
}

impl Side {
    /// The bits of an axis that belong to the divisor, and the others.
    fn cut(self, axis: &Cut) -> (Range<usize>, Range<usize>) {
        let Range { start, end } = axis.whole;
        let tile = axis.part.len();
        match self {
            Side::Minor => (start..start + tile, start + tile..end),
            Side::Major => (end - tile..end, start..end - tile),
        }
    }
}

/// An axis from which bits are taken.
struct Cut {
    label: Label,
    /// Its bits in the whole.
    whole: Range<usize>,
    /// Its bits in the part; no more than in the whole.
    part: Range<usize>,
    /// Its first bit in what is left.
    rest_start: usize,
}

/// The axes of `whole` without the bits of `part`; calls `visit` for each.
fn difference(
    whole: &Space,
    part: &Space,
    mut visit: impl FnMut(Cut),
) -> Result<Space, LayoutError> {
    // A product keeps the order of its factors' axes, so that both are gone through in step.
    let (mut parts, mut rest_start) = (part.iter().peekable(), 0);
    for (label, start, bits) in whole.iter() {
        let taken = parts.next_if(|axis| axis.0 == label);
        let (_, part_start, taken) = taken.unwrap_or((label, 0, 0));
        let Some(rest) = bits.checked_sub(taken) else {
            return Err(SpaceError::TooFewBits { label, needed: taken, found: bits }.into());
        };
        visit(Cut {
            label,
            whole: start as usize..(start + bits) as usize,
            part: part_start as usize..(part_start + taken) as usize,
            rest_start,
        });
        rest_start += rest as usize;
    }
    if let Some((label, _, _)) = parts.next() {
        let before = part.labels().take_while(|&other| other != label).last();
        return Err(match before.filter(|_| whole.contains(label)) {
            Some(before) => LayoutError::Order(before, label),
            None => SpaceError::UnknownLabel(label).into(),
        });
    }
    Ok(whole.with_bits(|label, bits| bits - part.bits(label))?)
}
