//! What is tried, one after the other, until a kernel fits a block.

use super::{MOST_STAGES, Options, TensorMaps};
use crate::tile::{Kernel, OpKind};
use std::borrow::Cow;
use std::collections::VecDeque;
use weft_layout::machine::Machine;

/// The prices of a byte of shared memory, in hundredths of a cycle of the block, at which homes are
/// chosen: the next one where a block does not have enough of it with those before.
const SHARED_BYTE: [u64; 4] = [0, 1, 10, 100];

/// How often the memory that a movement may take is halved where all together take too much.
const MOST_HALVINGS: u32 = 3;
/// How often it is before a byte costs so much that homes without movements are chosen: more passes are cheaper than
/// accesses of single elements. (AITER's `_routing_sigmoid_top1_kernel` on gfx942, whose weights take 64 KiB: 187,586
/// cycles by these prices in eight warps, and 690,629 without passes.)
const FEW_HALVINGS: u32 = 2;

/// From where matrix units take the factors of products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Factors {
    /// From shared memory, to which a copy engine brings blocks by tensor maps.
    Mapped {
        /// Whether it also takes blocks from there that are stored.
        stores: bool,
    },
    /// From shared memory, where the units of a warpgroup read them.
    Shared,
    /// From registers.
    Registers,
}

/// One way to compile a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// From where products take their factors.
    pub factors: Factors,
    /// The most stages of software pipelines; 1 leaves loads where they are.
    pub stages: u32,
    /// What a byte of shared memory costs, in hundredths of a cycle of the block.
    pub shared_byte: u64,
    /// How often the shared memory that a movement may take is halved: it then goes through it in more passes.
    pub halvings: u32,
}

impl Attempt {
    /// A kernel as it is, at the price of its instructions.
    pub(super) const PLAIN: Self =
        Self { factors: Factors::Registers, stages: 1, shared_byte: SHARED_BYTE[0], halvings: 0 };

    /// The options with the memory that movements may take.
    pub(super) fn options(self, options: &Options) -> Cow<'_, Options> {
        if self.halvings == 0 {
            return Cow::Borrowed(options);
        }
        let machine = &options.machine;
        let shared_bytes_per_block = machine.shared_bytes_per_block >> self.halvings;
        let machine = Machine { shared_bytes_per_block, ..machine.clone() };
        Cow::Owned(Options { machine, ..options.clone() })
    }
}

/// What need not be tried after an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) enum Futile {
    /// Anything with factors from there.
    Factors(Factors),
    /// Any pipeline with factors from there.
    Pipelines(Factors),
    /// Other prices: nothing was chosen by them.
    Prices(Factors, u32),
}

/// The most stages that a pipeline of a kernel may have: what its launch says, or one of its loops.
pub(super) fn most_stages(kernel: &Kernel, options: &Options) -> u32 {
    let asked = kernel.ops.values().filter_map(|op| match op.kind {
        OpKind::For(hints) => hints.stages,
        _ => None,
    });
    asked.fold(options.stages, u32::max).min(MOST_STAGES)
}

/// The attempts that are left, the best first.
pub(super) struct Attempts(VecDeque<Attempt>);

impl Attempts {
    /// Factors in memory go before those in registers, many stages before few, stores by a copy engine before those by
    /// threads, and choices that do not look at shared memory before those that save it, by passes first. Last, movements take even less
    /// of it.
    pub(super) fn of(kernel: &Kernel, options: &Options) -> Self {
        let mut list = VecDeque::new();
        let most_stages = most_stages(kernel, options);
        let mapped = [true, false].map(|stores| Factors::Mapped { stores });
        // Blocks come by tensor maps ahead of their use or not at all.
        let kinds: [(&[Factors], u32); 3] =
            [(&mapped, 2), (&[Factors::Shared], 1), (&[Factors::Registers], 1)];
        for (alike, least) in kinds {
            for stages in (least..=most_stages).rev() {
                for &factors in alike {
                    let at =
                        |shared_byte, halvings| Attempt { factors, stages, shared_byte, halvings };
                    let [first, low, dear @ ..] = SHARED_BYTE;
                    list.extend([at(first, 0), at(low, 0)]);
                    if factors == Factors::Registers {
                        list.extend((1..=FEW_HALVINGS).map(|halvings| at(low, halvings)));
                    }
                    list.extend(dear.map(|shared_byte| at(shared_byte, 0)));
                }
            }
        }
        let [.., shared_byte] = SHARED_BYTE;
        list.extend((1..=MOST_HALVINGS).map(|halvings| Attempt {
            shared_byte,
            halvings,
            ..Attempt::PLAIN
        }));
        let mut attempts = Self(list);
        if options.tensor_maps == TensorMaps::None || kernel.is_encoded() {
            for factors in mapped {
                attempts.leave_out(Futile::Factors(factors));
            }
        }
        attempts
    }

    /// The next one.
    pub(super) fn next(&mut self) -> Option<Attempt> {
        self.0.pop_front()
    }

    /// Leaves out what is futile.
    pub(super) fn leave_out(&mut self, futile: Futile) {
        self.0.retain(|&Attempt { factors, stages, halvings, .. }| match futile {
            Futile::Factors(from) => factors != from,
            Futile::Pipelines(from) => factors != from || stages == 1,
            Futile::Prices(from, of) => (factors, stages) != (from, of) || halvings > 0,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The attempts of a kernel without descriptors for a machine, in short.
    fn all(stages: u32, tensor_maps: TensorMaps) -> Attempts {
        let machine = Machine::by_name("sm_90").unwrap();
        let options = Options { stages, tensor_maps, ..Options::for_machine(machine) };
        let text = "module {\n  tt.func public @nothing() {\n    tt.return\n  }\n}";
        let module = crate::ttir::parse(text).unwrap();
        Attempts::of(&module.kernels[0], &options)
    }

    fn short(attempts: &Attempts) -> String {
        let one = |attempt: &Attempt| {
            let Attempt { factors, stages, shared_byte, halvings } = attempt;
            let factors = match factors {
                Factors::Mapped { stores: true } => "Stored".into(),
                Factors::Mapped { stores: false } => "Mapped".into(),
                other => format!("{other:?}"),
            };
            format!("{factors} {stages} {shared_byte} {halvings}")
        };
        attempts.0.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn many_stages_go_before_few_and_cheap_memory_before_dear() {
        assert_eq!(
            short(&all(2, TensorMaps::All)),
            "Stored 2 0 0, Stored 2 1 0, Stored 2 10 0, Stored 2 100 0, \
             Mapped 2 0 0, Mapped 2 1 0, Mapped 2 10 0, Mapped 2 100 0, \
             Shared 2 0 0, Shared 2 1 0, Shared 2 10 0, Shared 2 100 0, \
             Shared 1 0 0, Shared 1 1 0, Shared 1 10 0, Shared 1 100 0, \
             Registers 2 0 0, Registers 2 1 0, Registers 2 1 1, Registers 2 1 2, \
             Registers 2 10 0, Registers 2 100 0, \
             Registers 1 0 0, Registers 1 1 0, Registers 1 1 1, Registers 1 1 2, \
             Registers 1 10 0, Registers 1 100 0, \
             Registers 1 100 1, Registers 1 100 2, Registers 1 100 3"
        );
    }

    #[test]
    fn what_is_futile_is_not_tried() {
        let mut attempts = all(3, TensorMaps::None);
        attempts.leave_out(Futile::Factors(Factors::Shared));
        attempts.leave_out(Futile::Prices(Factors::Registers, 3));
        assert!(
            short(&attempts).starts_with("Registers 3 1 1, Registers 3 1 2, Registers 2 0 0, ")
        );
        attempts.leave_out(Futile::Pipelines(Factors::Registers));
        attempts.leave_out(Futile::Prices(Factors::Registers, 1));
        let left = "Registers 1 1 1, Registers 1 1 2, Registers 1 100 1, Registers 1 100 2, Registers 1 100 3";
        assert_eq!(short(&attempts), left);
    }
}
