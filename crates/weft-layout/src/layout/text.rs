//! Layouts as text: by their bases, and by their masks.

use core::fmt;

use super::Layout;
use crate::{
    f2::ones,
    space::{Label, Space},
};

/// `[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]`: each basis as its coordinates in
/// the order in which the outputs are listed; plain numbers when there is one output axis.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = self.outs.coordinate_order();
        f.write_str("[")?;
        for (index, label) in self.ins.labels().enumerate() {
            write!(f, "{}{label}:", if index == 0 { "" } else { ", " })?;
            for &place in self.columns(label) {
                f.write_str(" ")?;
                write_place(f, &self.outs, &order, place)?;
            }
        }
        write!(f, "] -> {}", self.outs)
    }
}

/// A place as coordinates, the way bases are written.
pub(crate) fn write_place(
    f: &mut fmt::Formatter<'_>,
    outs: &Space,
    order: &[Label],
    place: u64,
) -> fmt::Result {
    if let [label] = order {
        return write!(f, "{}", outs.coordinate(*label, place));
    }
    for (index, &label) in order.iter().enumerate() {
        write!(f, "{}{}", if index == 0 { "(" } else { "," }, outs.coordinate(label, place))?;
    }
    f.write_str(if order.is_empty() { "()" } else { ")" })
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A layout by its rows: for each output bit the input bits whose parity it is.
#[derive(Clone, Copy, Debug)]
pub struct Masks<'a>(pub(super) &'a Layout);

/// One line an output bit, as in `dim0[1] = register[0] ^ lane[2]`; `0` where nothing reaches it.
impl fmt::Display for Masks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Masks(layout) = self;
        let mut first = true;
        for (label, start, bits) in layout.outs.iter() {
            for bit in 0..bits {
                write!(f, "{}{label}[{bit}] =", if first { "" } else { "\n" })?;
                first = false;
                let mask = layout.matrix.row(start + bit);
                if mask == 0 {
                    f.write_str(" 0")?;
                }
                for (index, input) in ones(mask).enumerate() {
                    let axis = layout.ins.iter().find(|axis| input < axis.1 + axis.2);
                    let Some((label, start, _)) = axis else { continue };
                    let sign = if index == 0 { "" } else { "^ " };
                    write!(f, " {sign}{label}[{}]", input - start)?;
                }
            }
        }
        Ok(())
    }
}
