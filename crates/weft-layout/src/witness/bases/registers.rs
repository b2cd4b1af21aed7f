//! Steps between registers.

use alloc::{vec, vec::Vec};

use super::{
    State, name,
    value::{ELEMENT, Value},
};
use crate::{
    f2::low_mask,
    step::{File, LaneMap, Parity, Selector},
    witness::byte_of_pair,
};

impl State<'_> {
    pub(super) fn permute(&mut self, from: File, to: File, source: &[u32]) -> Option<()> {
        let (old, new) = (self.ty(from)?, self.ty(to)?);
        if old.element_bits != new.element_bits || source.len() != new.registers as usize {
            return None;
        }
        let (parts, values) = (self.parts(old)? as usize, self.read(from)?);
        let mut moved = Vec::with_capacity(source.len() * parts);
        for &register in source {
            let start = (register as usize).checked_mul(parts)?;
            moved.extend_from_slice(values.get(start..start + parts)?);
        }
        self.define(to, moved)
    }

    pub(super) fn concat(&mut self, from: &[File], to: File) -> Option<()> {
        let ty = self.ty(to)?;
        let mut values = Vec::new();
        for &file in from {
            if self.ty(file)?.element_bits != ty.element_bits {
                return None;
            }
            values.extend_from_slice(self.read(file)?);
        }
        (values.len() as u64 == u64::from(ty.registers) * self.parts(ty)?)
            .then(|| self.define(to, values))?
    }

    pub(super) fn select(
        &mut self,
        even: File,
        odd: File,
        to: File,
        odd_where: Parity,
    ) -> Option<()> {
        self.same_type(&[even, odd, to])?;
        let odd_where = odd_where.lane & ((1 << self.plan.lane_bits) - 1)
            | odd_where.warp.checked_shl(self.plan.lane_bits)?;
        let pairs: Vec<(Value, Value)> = {
            let (even, odd) = (self.read(even)?, self.read(odd)?);
            even.iter().copied().zip(odd.iter().copied()).collect()
        };
        let values = pairs.iter().map(|&(even, odd)| self.forms.select(even, odd, odd_where));
        let values = values.collect::<Option<_>>()?;
        self.define(to, values)
    }

    pub(super) fn bytes(&mut self, a: File, b: File, to: File, selector: &Selector) -> Option<()> {
        let (first, second, ty) = (self.ty(a)?, self.ty(b)?, self.ty(to)?);
        let types = [first, second, ty];
        if types.iter().any(|ty| ty.element_bits > 32 || ty.registers != first.registers) {
            return None;
        }
        // One nibble for each byte of the result.
        let columns = self.thread_columns(&selector.lane, &selector.warp);
        let wide = 1_u64.checked_shl(4 * (ty.element_bits / 8)).map_or(u64::MAX, |end| end - 1);
        let (low, high) = (self.read(a)?, self.read(b)?);
        let (low_parts, high_parts) = (self.parts(first)? as usize, self.parts(second)? as usize);
        let mut pairs = Vec::with_capacity(ty.registers as usize);
        for register in 0..ty.registers as usize {
            let byte = |index: u64| {
                let byte = byte_of_pair(index, first, second)? as usize;
                let (file, parts) = if index < 4 { (low, low_parts) } else { (high, high_parts) };
                file.get(register * parts + byte).copied()
            };
            let pair = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| byte(i).unwrap_or(Value::UNDEFINED));
            pairs.push(pair);
        }
        let all = columns.iter().fold(selector.xor, |all, column| all | column);
        if all & wide & 0x8888_8888 != 0 {
            return None;
        }
        let mut values = Vec::with_capacity(pairs.len() * (ty.element_bits / 8) as usize);
        for pair in &pairs {
            for byte in 0..ty.element_bits / 8 {
                let nibble = |nibbles: u64| nibbles >> (4 * byte) & 7;
                let nibbles: Vec<u64> = columns.iter().map(|&column| nibble(column)).collect();
                values.push(self.forms.choose(pair, nibble(selector.xor), &nibbles)?);
            }
        }
        self.define(to, values)
    }

    /// The columns of all thread bits, lanes lowest; zero where there are none.
    fn thread_columns(&self, lane: &[u64], warp: &[u64]) -> Vec<u64> {
        let bits = |columns: &[u64], count: u32| -> Vec<u64> {
            let bit = |bit: u32| columns.get(bit as usize).copied().unwrap_or(0);
            (0..count).map(bit).collect()
        };
        [bits(lane, self.plan.lane_bits), bits(warp, self.plan.warp_bits)].concat()
    }

    pub(super) fn exchange(&mut self, from: File, to: File, source: &LaneMap) -> Option<()> {
        self.same_type(&[from, to])?;
        let lanes = 1_u64 << self.plan.lane_bits;
        let mut all = source.lane.iter().chain(&source.warp).chain([&source.xor]);
        if all.any(|&column| column >= lanes) {
            return None;
        }
        // The thread that is read, for each thread bit.
        let mut columns = self.thread_columns(&source.lane, &source.warp);
        for (column, bit) in columns.iter_mut().skip(self.plan.lane_bits as usize).zip(0_u32..) {
            *column |= lanes << bit;
        }
        let values = self.read(from)?.to_vec();
        let moved = values.iter().map(|&value| self.forms.compose(value, &columns, source.xor));
        let moved = moved.collect::<Option<_>>()?;
        self.define(to, moved)
    }

    pub(super) fn combine(&mut self, a: &[File], b: &[File], to: &[File]) -> Option<()> {
        let operands = self.plan.inputs.len();
        if [a.len(), b.len(), to.len()] != [operands; 3] || operands == 0 {
            return None;
        }
        let registers = self.ty(*to.first()?)?.registers;
        for ((&a, &b), &to) in a.iter().zip(b).zip(to) {
            let ty = self.same_type(&[a, b, to])?;
            if ty.registers != registers {
                return None;
            }
        }
        let mut results = vec![Vec::new(); operands];
        for register in 0..registers as usize {
            let (left, right) = (self.word(a, register)?, self.word(b, register)?);
            let word = self.words.combine(&mut self.forms, left, right)?;
            for (operand, (values, &file)) in results.iter_mut().zip(to).enumerate() {
                let own = word.constant | name(0, operand);
                let parts = 0..self.parts(self.ty(file)?)?;
                values.extend(parts.map(|part| Value { form: word.form, constant: own | part }));
            }
        }
        to.iter().zip(results).try_for_each(|(&file, values)| self.define(file, values))
    }

    /// What all files hold in a register, each its own component of it.
    fn word(&self, files: &[File], register: usize) -> Option<Value> {
        let mut word: Option<Value> = None;
        for (operand, &file) in files.iter().enumerate() {
            let parts = self.parts(self.ty(file)?)? as usize;
            let values = self.read(file)?.get(register * parts..(register + 1) * parts)?;
            for (part, &value) in (0_u64..).zip(values) {
                let own = name(0, operand) | part;
                let whole = Value { constant: value.constant ^ own, ..value };
                if whole.constant & low_mask(ELEMENT) != 0 || *word.get_or_insert(whole) != whole {
                    return None;
                }
            }
        }
        word
    }
}
