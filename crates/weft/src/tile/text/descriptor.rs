//! Operations on tensor descriptors.

use super::Printer;
use crate::atomic::Rmw;
use crate::tile::{DescriptorOp, Fetch, Op, Phase, Sent, TransferOp, Type, Value};
use core::fmt::{self, Write};

impl Printer<'_, '_, '_> {
    pub(super) fn descriptor(&mut self, what: DescriptorOp, op: &Op) -> fmt::Result {
        let Op { operands, results, .. } = op;
        let (first, rest) = operands.split_at(operands.len().min(1));
        match what {
            DescriptorOp::Make { nan } => {
                self.parts("tt.make_tensor_descriptor", first, rest, op, 2)?;
                if nan {
                    self.f.write_str(" {padding = 2 : i32}")?;
                }
                self.made(op)
            }
            DescriptorOp::Given => {
                self.parts("weft.given_tensor_descriptor", first, rest, op, 3)?;
                self.made(op)
            }
            DescriptorOp::Load => {
                self.indexed("tt.descriptor_load", first, rest)?;
                write!(self.f, " : {} -> {}", self.ty(operands, 0), self.ty(results, 0))
            }
            DescriptorOp::Gather => {
                self.indexed("tt.descriptor_gather", first, rest)?;
                self.function_type(operands, results)
            }
            DescriptorOp::Store | DescriptorOp::Reduce(_) | DescriptorOp::Scatter => {
                let name = match what {
                    DescriptorOp::Reduce(op) => format!("tt.descriptor_reduce {},", reduction(op)),
                    DescriptorOp::Scatter => "tt.descriptor_scatter".into(),
                    _ => "tt.descriptor_store".to_string(),
                };
                let (indices, value) = rest.split_at(rest.len().saturating_sub(1));
                self.indexed(&name, first, indices)?;
                self.f.write_str(", ")?;
                self.operands(value)?;
                self.f.write_str(" : ")?;
                if what.is_by_rows() {
                    return self.types(operands);
                }
                self.types(first)?;
                self.f.write_str(", ")?;
                self.types(value)
            }
        }
    }

    /// `weft.open_mbarriers {copies = 2 : i32} : M`, `weft.open_mbarriers {threads} : M`,
    /// `weft.fetch_block %d[%i, %j], %memory, %mbarriers[%which], %exists : D, T, M`,
    /// `weft.send_block %d[%i, %j], %memory : D, T`, `weft.reduce_block add, %d[%i, %j], %memory : D, T`,
    /// `weft.wait_mbarrier %mbarriers[%which], %parity : M`, `weft.leave %mbarriers[%which], %memory : M, T`,
    /// `weft.after_leave %mbarriers[%which], %parity : M`, and `weft.close_mbarriers %mbarriers : M`.
    pub(super) fn transfer(&mut self, what: TransferOp, op: &Op) -> fmt::Result {
        let Op { operands, results, .. } = op;
        match what {
            TransferOp::Open { phase } => {
                self.f.write_str("weft.open_mbarriers ")?;
                match phase {
                    Phase::Copies(copies) => write!(self.f, "{{copies = {copies} : i32}} : ")?,
                    Phase::Threads => self.f.write_str("{threads} : ")?,
                }
                self.types(results)
            }
            TransferOp::Fetch => {
                let Some(Fetch { descriptor, indices, memory, mbarriers, which, exists }) =
                    Fetch::of(operands)
                else {
                    return Ok(());
                };
                self.indexed("weft.fetch_block", &[descriptor], &indices)?;
                self.f.write_str(", ")?;
                self.operands(&[memory])?;
                self.f.write_str(", ")?;
                self.indexed("", &[mbarriers], &[which])?;
                self.f.write_str(", ")?;
                self.operands(&[exists])?;
                self.f.write_str(" : ")?;
                self.types(&[descriptor, memory, mbarriers])
            }
            TransferOp::Send(reduces) => {
                let Some(Sent { descriptor, indices, memory }) = Sent::of(operands) else {
                    return Ok(());
                };
                let name = match reduces {
                    None => "weft.send_block".into(),
                    Some(op) => format!("weft.reduce_block {},", reduction(op)),
                };
                self.indexed(&name, &[descriptor], &indices)?;
                self.f.write_str(", ")?;
                self.operands(&[memory])?;
                self.f.write_str(" : ")?;
                self.types(&[descriptor, memory])
            }
            TransferOp::Wait | TransferOp::AfterLeave | TransferOp::Leave => {
                let (mbarriers, rest) = operands.split_at(operands.len().min(1));
                let (which, rest) = rest.split_at(rest.len().min(1));
                write!(self.f, "weft.{}", what.name())?;
                self.indexed("", mbarriers, which)?;
                self.f.write_str(", ")?;
                self.operands(rest)?;
                self.f.write_str(" : ")?;
                let memories = if what == TransferOp::Leave { rest } else { &[] };
                self.types(&[mbarriers, memories].concat())
            }
            TransferOp::Close => {
                self.call("weft.close_mbarriers", operands)?;
                self.f.write_str(" : ")?;
                self.types(operands)
            }
        }
    }

    /// Writes an operation on a block, `NAME %d[%i, %j]`.
    fn indexed(&mut self, name: &str, descriptor: &[Value], indices: &[Value]) -> fmt::Result {
        self.call(name, descriptor)?;
        self.f.write_char('[')?;
        self.operands(indices)?;
        self.f.write_char(']')
    }

    /// `NAME %p, [%m, %n], [%s, %t]` and a list of the others.
    fn parts(
        &mut self,
        name: &str,
        base: &[Value],
        mut rest: &[Value],
        op: &Op,
        lists: usize,
    ) -> fmt::Result {
        self.call(name, base)?;
        let rank = self.ty(&op.results, 0).shape.len();
        for list in 0..lists {
            let many = if list < 2 { rank.min(rest.len()) } else { rest.len() };
            let (values, others) = rest.split_at(many);
            self.f.write_str(", [")?;
            self.operands(values)?;
            self.f.write_char(']')?;
            rest = others;
        }
        Ok(())
    }

    /// ` : <f32>, <32x32xf32>`
    fn made(&mut self, op: &Op) -> fmt::Result {
        let Type { element, shape, .. } = self.ty(&op.results, 0);
        write!(self.f, " : <{element}>, <")?;
        shape.iter().try_for_each(|extent| write!(self.f, "{extent}x"))?;
        write!(self.f, "{element}>")
    }
}

/// What Triton calls a reduction.
fn reduction(op: Rmw) -> String {
    if op == Rmw::FAdd { "add".into() } else { op.to_string() }
}
