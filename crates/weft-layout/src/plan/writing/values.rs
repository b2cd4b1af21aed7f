//! Plans written value by value: a value is a register of some file, and what is read together is
//! gathered from wherever it stands.

use alloc::{collections::BTreeMap, vec::Vec};

use crate::step::{File, Plan, Step};

/// A value, by number.
pub(in crate::plan) type Id = u32;

/// Where values stand in the new plan.
#[derive(Clone, Copy)]
struct ValuePlace {
    file: File,
    register: u32,
}

/// Writes steps on values that stand anywhere.
pub(in crate::plan) struct PlanWriter {
    pub(in crate::plan) plan: Plan,
    /// Where each value stands, once it does.
    places: Vec<Option<ValuePlace>>,
    /// Files one after the other.
    joined: BTreeMap<Vec<File>, File>,
}

impl PlanWriter {
    /// A plan with the inputs of another one.
    pub(in crate::plan) fn of(plan: &Plan) -> PlanWriter {
        let types: Vec<_> = plan.inputs.iter().map(|&file| plan.file(file)).collect();
        let mut new = Plan::new(&types, plan.lane_bits, plan.warp_bits);
        new.scratch_bytes = plan.scratch_bytes;
        new.strategy = plan.strategy;
        PlanWriter { plan: new, places: Vec::new(), joined: BTreeMap::new() }
    }

    /// A new value.
    pub(in crate::plan) fn value(&mut self) -> Id {
        self.places.push(None);
        (self.places.len() - 1) as Id
    }

    /// Values are the registers of a file.
    pub(in crate::plan) fn define(&mut self, values: &[Id], file: File) {
        for (register, &value) in (0..).zip(values) {
            if let Some(place) = self.places.get_mut(value as usize) {
                place.get_or_insert(ValuePlace { file, register });
            }
        }
    }

    /// A file of these values.
    pub(in crate::plan) fn gather(&mut self, values: &[Id], bits: u32) -> Option<File> {
        let places = values.iter().map(|&value| *self.places.get(value as usize)?);
        let places = places.collect::<Option<Vec<ValuePlace>>>()?;
        let mut files: Vec<File> = places.iter().map(|place| place.file).collect();
        files.sort_unstable();
        files.dedup();
        let mut total = 0;
        let start = |&file: &File| {
            total += self.plan.file(file).registers;
            total - self.plan.file(file).registers
        };
        let starts: Vec<u32> = files.iter().map(start).collect();
        let order = files.clone();
        let all = match files[..] {
            [] => self.plan.add_file(0, bits),
            [one] => one,
            _ => match self.joined.get(&files) {
                Some(&known) => known,
                None => {
                    let to = self.plan.add_file(total, bits);
                    self.joined.insert(files.clone(), to);
                    self.plan.steps.push(Step::Concat { from: files, to });
                    to
                }
            },
        };
        let start = |file: File| order.binary_search(&file).ok().and_then(|at| starts.get(at));
        let place = |place: &ValuePlace| start(place.file).copied().unwrap_or(0) + place.register;
        let source: Vec<u32> = places.iter().map(place).collect();
        let same = source.len() == total as usize && source.iter().zip(0..).all(|(&s, i)| s == i);
        if same {
            return Some(all);
        }
        let to = self.plan.add_file(source.len() as u32, bits);
        self.plan.steps.push(Step::Permute { from: all, to, source });
        Some(to)
    }
}
