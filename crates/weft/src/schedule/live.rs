//! The registers that the values of a tile program take, and where they are live.

use crate::dtype::DType;
use crate::id::IdMap;
use crate::tile::{Kernel, Op, OpId, OpKind, Region, Value};
use weft_layout::machine::Machine;

/// The values that are live at a place.
#[derive(Clone, Default)]
pub(super) struct Live {
    values: IdMap<Value, bool>,
    /// The registers of a thread that they take.
    pub(super) words: u64,
}

/// The registers that values of a kernel take in each thread of a block.
pub(super) struct Registers {
    definitions: IdMap<Value, Option<OpId>>,
    threads: u64,
}

impl Registers {
    /// Those of a kernel whose blocks have so many warps.
    pub(super) fn of(kernel: &Kernel, machine: &Machine, warps: u32) -> Self {
        let threads = u64::from(machine.lanes()) * u64::from(warps);
        Self { definitions: kernel.definitions(), threads }
    }

    /// The registers of a thread that a value takes: none if it is in memory, a truth value, an address, or made of
    /// fewer elements.
    pub(super) fn words(&self, kernel: &Kernel, value: Value) -> u64 {
        let ty = kernel.ty(value);
        let dtype = ty.dtype();
        let made = self.definitions[value].map(|id| &kernel.ops[id].kind);
        let is_free = matches!(
            made,
            Some(
                OpKind::Constant(_)
                    | OpKind::Splat
                    | OpKind::Broadcast
                    | OpKind::ExpandDims { .. }
                    | OpKind::MakeRange { .. }
            )
        );
        let is_number = ty.is_tensor() && ty.element.pointee().is_none() && dtype != DType::I1;
        if is_free || !is_number || ty.memory().is_some() || ty.is_descriptor() {
            return 0;
        }
        (ty.elements() * u64::from(dtype.bytes())).div_ceil(4 * self.threads)
    }

    /// From what is live behind an operation to what is live in front of it.
    pub(super) fn step_back(&self, kernel: &Kernel, id: OpId, live: &mut Live) {
        for &value in &kernel.ops[id].results {
            self.end(kernel, live, value);
        }
        for value in read(kernel, id) {
            self.begin(kernel, live, value);
        }
    }

    /// What is live through all rounds of an operation's regions, if so much is live behind it.
    pub(super) fn around(&self, kernel: &Kernel, id: OpId, behind: &Live) -> Live {
        let mut around = behind.clone();
        let Op { results, regions, .. } = &kernel.ops[id];
        for &result in results {
            self.end(kernel, &mut around, result);
        }
        // What a loop reads is live through all its rounds.
        for value in read_inside(kernel, regions) {
            self.begin(kernel, &mut around, value);
        }
        around
    }

    fn begin(&self, kernel: &Kernel, live: &mut Live, value: Value) {
        if !core::mem::replace(live.values.entry(value), true) {
            live.words += self.words(kernel, value);
        }
    }

    fn end(&self, kernel: &Kernel, live: &mut Live, value: Value) {
        if core::mem::take(live.values.entry(value)) {
            live.words -= self.words(kernel, value);
        }
    }
}

/// What an operation reads, and those inside it from outside of them.
pub(super) fn read(kernel: &Kernel, id: OpId) -> Vec<Value> {
    let Op { operands, regions, .. } = &kernel.ops[id];
    [&operands[..], &read_inside(kernel, regions)].concat()
}

fn read_inside(kernel: &Kernel, regions: &[Region]) -> Vec<Value> {
    let (mut read, mut own) = (Vec::new(), IdMap::<Value, bool>::default());
    for region in regions {
        region.params.iter().for_each(|&param| own.set(param, true));
        kernel.walk(region, &mut |_, op| {
            read.extend(&op.operands);
            let params = op.regions.iter().flat_map(|region| &region.params);
            op.results.iter().chain(params).for_each(|&value| own.set(value, true));
        });
    }
    read.retain(|&value| !own[value]);
    read
}
