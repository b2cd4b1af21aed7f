//! Prints and assertions, element by element.

use super::elements::Bounded;
use super::world::{Site, World};
use crate::scalar;
use crate::tile::report::{self, Print};
use crate::tile::{Element, OpKind};

impl World<'_, '_> {
    /// Does what a print or an assertion says.
    pub(super) fn report(&mut self, site: Site<'_>, operands: &[Bounded]) {
        match (&site.op.kind, operands) {
            (OpKind::Print { prefix, .. }, []) => {
                let instance = site.instance.map(u64::from);
                self.printed.push(|| report::bare_line(prefix).line(&instance));
            }
            (OpKind::Print { prefix, hex, signed }, operands) => {
                let print = Print { prefix, hex: *hex, signed };
                for (index, operand) in operands.iter().enumerate() {
                    self.print(site, index, operand, print);
                }
            }
            (OpKind::Assert { message }, [condition]) => {
                let count = self.kernel.ty(site.op.operands[0]).elements() as usize;
                for element in (0..count).filter(|&element| condition.get(element) & 1 == 0) {
                    self.failed(site, element, message);
                }
            }
            _ => {}
        }
    }

    fn print(&mut self, site: Site<'_>, index: usize, operand: &Bounded, print: Print<'_>) {
        let ty = self.kernel.ty(site.op.operands[index]);
        let line = report::line(self.kernel, &site.op.operands, index, print);
        for element in 0..ty.elements() {
            let mut values: Vec<u64> = site.instance.into_iter().map(u64::from).collect();
            let mut stride = ty.elements();
            for &extent in &ty.shape {
                stride /= extent.max(1);
                values.push(element / stride.max(1) % extent.max(1));
            }
            let mut bits = operand.get(element as usize);
            if let Element::Scalar(mut dtype) = ty.element {
                for &(cast, to) in &line.casts {
                    bits = scalar::cast(cast, dtype, to, bits);
                    dtype = to;
                }
            }
            values.push(bits);
            self.printed.push(|| line.format.line(&values));
        }
    }
}
