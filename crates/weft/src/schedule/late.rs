//! Products that begin late, where a thread has too few registers for their sums to wait.
//!
//! ```text
//! %p = warpgroup_dot %x, %y, %zero          %a = warpgroup_dot %z, %y, %zero
//! %a = warpgroup_dot %z, %y, %zero   ==>    %b = exp %a
//! %b = exp %a                               %p = warpgroup_dot %x, %y, %zero
//! %c = mul %p, %b                           %c = mul %p, %b
//! ```
//!
//! A product of warpgroups is computed beside the operations between its beginning and the first use of its sum, so it
//! begins where the source has it. But from there on the sum takes registers. Where what is live meanwhile takes more
//! than a thread has, words would go to the stack and back in each round, which costs more than waiting; there the
//! product begins in front of the operation that takes its sum.

use super::live::{Live, Registers, read};
use crate::simplify::registers::room_of;
use crate::tile::effects::{Control, Fence, Tokens};
use crate::tile::{Kernel, Op, OpKind, Region, Value};
use weft_layout::machine::Machine;

/// Moves products down whose sums would wait for too long.
pub(super) fn run(kernel: &mut Kernel, machine: &Machine, warps: u32) {
    let threads = machine.lanes() * warps;
    let room = room_of(machine.registers, threads, machine.registers_per_thread).into();
    let registers = Registers::of(kernel, machine, warps);
    let mut body = core::mem::take(&mut kernel.body);
    Late { kernel, registers, room }.region(&mut body, &Live::default());
    kernel.body = body;
}

struct Late<'a> {
    kernel: &'a mut Kernel,
    registers: Registers,
    /// The registers that values may take.
    room: u64,
}

impl Late<'_> {
    /// Moves the products of a region and of those inside it, behind which some values are live.
    fn region(&mut self, region: &mut Region, behind: &Live) {
        let mut live = behind.clone();
        for index in (0..region.ops.len()).rev() {
            let id = region.ops[index];
            if !self.kernel.ops[id].regions.is_empty() {
                let around = self.registers.around(self.kernel, id, &live);
                let inside = core::mem::take(&mut self.kernel.ops[id].regions);
                let inside = inside.into_iter().map(|mut region| {
                    self.region(&mut region, &around);
                    region
                });
                self.kernel.ops[id].regions = inside.collect();
            }
            self.registers.step_back(self.kernel, id, &mut live);
        }
        let mut index = 0;
        while index < region.ops.len() {
            match self.place(region, index, behind) {
                Some(place) => region.ops[index..place].rotate_left(1),
                None => index += 1,
            }
        }
    }

    /// In front of which operation the product at a place of a region had better begin.
    fn place(&self, region: &Region, index: usize, behind: &Live) -> Option<usize> {
        let op = &self.kernel.ops[region.ops[index]];
        let [left, right, addend] = op.operands[..] else { return None };
        let in_memory = |factor: Value| self.kernel.ty(factor).memory().is_some();
        let is_free = matches!(op.kind, OpKind::WarpgroupDot(_))
            && in_memory(left)
            && in_memory(right)
            && self.registers.words(self.kernel, addend) == 0;
        if !is_free {
            return None;
        }
        let later = region.ops.iter().enumerate().skip(index + 1);
        let (place, _) =
            later.into_iter().find(|&(_, &id)| read(self.kernel, id).contains(&op.results[0]))?;
        let mut between = region.ops[index + 1..place].iter().map(|&id| &self.kernel.ops[id]);
        if !between.all(may_be_passed) {
            return None;
        }
        let mut live = behind.clone();
        let mut most = 0;
        for at in (index + 1..region.ops.len()).rev() {
            self.registers.step_back(self.kernel, region.ops[at], &mut live);
            if at < place {
                most = most.max(live.words);
            }
        }
        (most > self.room).then_some(place)
    }
}

/// Whether a product may begin behind an operation as well as in front of it: one that writes no memory that stood
/// before, and orders nothing.
fn may_be_passed(op: &Op) -> bool {
    let effects = op.kind.effects();
    let writes = effects.local.writes && !effects.allocates;
    !writes
        && effects.fence == Fence::None
        && effects.tokens == Tokens::None
        && effects.control == Control::None
        && !effects.opaque
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::AxisFacts;
    use crate::scalar::Binary;
    use crate::{factors, ttir};

    /// What a kernel does in order, of two products of 64 x 256 over 128 of which the second one waits for the
    /// exponentials of the first.
    fn order(warps: u32) -> Vec<&'static str> {
        let tile = |name: &str, m: u32, n: u32| {
            format!(
                "
  %{name}_i = tt.make_range {{end = {m} : i32, start = 0 : i32}} : tensor<{m}xi32>
  %{name}_j = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>
  %{name}_r = tt.expand_dims %{name}_i {{axis = 1 : i32}} : tensor<{m}xi32> -> tensor<{m}x1xi32>
  %{name}_c = tt.expand_dims %{name}_j {{axis = 0 : i32}} : tensor<{n}xi32> -> tensor<1x{n}xi32>
  %{name}_w = arith.constant dense<{n}> : tensor<{m}x1xi32>
  %{name}_s = arith.muli %{name}_r, %{name}_w : tensor<{m}x1xi32>
  %{name}_a = tt.broadcast %{name}_s : tensor<{m}x1xi32> -> tensor<{m}x{n}xi32>
  %{name}_b = tt.broadcast %{name}_c : tensor<1x{n}xi32> -> tensor<{m}x{n}xi32>
  %{name}_o = arith.addi %{name}_a, %{name}_b : tensor<{m}x{n}xi32>
  %{name}_p = tt.splat %x : !tt.ptr<f16> -> tensor<{m}x{n}x!tt.ptr<f16>>
  %{name}_at = tt.addptr %{name}_p, %{name}_o : tensor<{m}x{n}x!tt.ptr<f16>>, tensor<{m}x{n}xi32>
  %{name} = tt.load %{name}_at : tensor<{m}x{n}x!tt.ptr<f16>>"
            )
        };
        let [k, q, d] = [tile("k", 64, 128), tile("q", 128, 256), tile("d", 128, 256)];
        let product = "tensor<64x128xf16> * tensor<128x256xf16> -> tensor<64x256xf32>";
        let text = format!(
            "tt.func public @two(%x: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %out: !tt.ptr<f32>) {{{k}{q}{d}
  %zero = arith.constant dense<0.0> : tensor<64x256xf32>
  %s = tt.dot %k, %q, %zero : {product}
  %t = tt.dot %k, %d, %zero : {product}
  %e = math.exp2 %s : tensor<64x256xf32>
  %f = arith.mulf %t, %e : tensor<64x256xf32>
  %i = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
  %g = \"tt.reduce\"(%f) <{{axis = 1 : i32}}> ({{
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    tt.reduce.return %sum : f32
  }}) : (tensor<64x256xf32>) -> tensor<64xf32>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %to = tt.addptr %outs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %to, %g : tensor<64x!tt.ptr<f32>>
  tt.return
}}"
        );
        let module = ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let (kernel, machine) = (&module.kernels[0], Machine::by_name("sm_90").unwrap());
        let facts = AxisFacts::of(kernel);
        let mut kernel = factors::run(kernel, &facts, machine, warps).unwrap();
        run(&mut kernel, machine, warps);
        let kinds = kernel.body.ops.iter().map(|&id| match kernel.ops[id].kind {
            OpKind::WarpgroupDot(_) => "product",
            OpKind::Unary(_) => "exp",
            OpKind::Binary(Binary::Mul)
                if kernel.ty(kernel.ops[id].results[0]).dtype().is_float() =>
            {
                "mul"
            }
            _ => "",
        });
        kinds.filter(|kind| !kind.is_empty()).collect()
    }

    #[test]
    fn a_product_begins_late_where_its_sum_does_not_fit_beside_what_comes_first() {
        // Sums of 128 and of 64 registers a thread.
        assert_eq!(order(4), ["product", "exp", "product", "mul"]);
        assert_eq!(order(8), ["product", "product", "exp", "mul"]);
    }
}
