//! Products by the matrix units of warpgroups.
//!
//! A descriptor tells the matrix unit where a factor lies in memory: a constant and the address where its tile
//! begins. Where the tiles of a warpgroup begin depends on the number of the warp, which a shuffle makes known to be
//! the same in all lanes; those of further rows, columns and terms follow at constant distances.
//!
//! Products are waited for where [`Orders`](crate::lower::local_order::Orders) say, the oldest first.

use crate::assign::{AssignError, LayoutId, Warpgroup};
use crate::dtype::DType;
use crate::lane::{self, WarpgroupMultiply};
use crate::lower::Lowerer;
use crate::lower::local_order::may_fly;
use crate::scalar::{Binary, Cast};
use crate::tile::{Op, OpId, OpKind, Value};
use weft_layout::family::Major;
use weft_layout::machine::Part;
use weft_layout::plan::operand::Operand;
use weft_layout::space::Label;

use super::matrix::dtype;

/// The units in which a descriptor counts bytes, as a logarithm.
const UNIT_LOG2: i32 = 4;

/// A factor in memory.
struct InMemory {
    operand: Operand,
    /// The axes of the memory that the product keeps and sums over.
    kept: Label,
    summed: Label,
    /// The address of the memory, in bytes.
    base: lane::Value,
    /// How far from there the tiles of a warpgroup begin, in bytes, and the bits of that which differ between
    /// warpgroups.
    own: (lane::Value, u64),
}

impl InMemory {
    /// The descriptor of a tile, by the first row or column of it that a warpgroup has and the first term.
    fn descriptor(&self, build: &mut lane::Builder, kept: u64, summed: u64) -> lane::Value {
        // A legal operand begins wherever an instruction does.
        let start = self.start(kept, summed);
        let (own, moving) = self.own;
        // Of the bits that no warpgroup moves, adding is the same as exclusive or.
        let moved = build.i32((start & moving) as i32);
        let own = build.binary(Binary::Xor, own, moved);
        let apart = build.i32((start & !moving) as i32);
        let own = build.binary(Binary::Add, own, apart);
        let address = build.binary(Binary::Add, self.base, own);
        let unit = build.i32(UNIT_LOG2);
        let units = build.binary(Binary::ShrU, address, unit);
        let bits = self.operand.descriptor().bits();
        let low = build.i32(bits as u32 as i32);
        let low = build.binary(Binary::Add, units, low);
        let low = build.cast(Cast::ExtU, low, DType::I64);
        let high = build.constant(DType::I64, bits >> 32 << 32);
        build.binary(Binary::Or, low, high)
    }

    fn start(&self, kept: u64, summed: u64) -> u64 {
        let place = [(self.kept, kept), (self.summed, summed)];
        let start = self.operand.start(&place);
        debug_assert!(start.is_some(), "a legal operand begins wherever an instruction does");
        start.unwrap_or_default()
    }
}

/// Where a left factor lies.
enum Left {
    Memory(Box<InMemory>),
    /// The words of each step of each tile of rows.
    Registers(Vec<lane::Value>),
}

/// The instructions of a warpgroup: tiles of rows, of columns, and steps along the summed axis.
struct Tiles<'a> {
    product: &'a Warpgroup,
    operation: WarpgroupMultiply,
    rows: u64,
    columns: u64,
    steps: u64,
}

impl Tiles<'_> {
    /// The sums, if they are to be kept, plus the products, as the instruction's words; they are under way.
    fn multiplied(
        &self,
        build: &mut lane::Builder,
        left: &Left,
        right: &InMemory,
        start: &[lane::Value],
        keep: Option<lane::Value>,
    ) -> Vec<lane::Value> {
        let [height, width] = self.product.instruction.shape(Part::Sum);
        let [down, _] = self.product.split;
        let packed = self.packed(build, start);
        let tile = self.operation.accumulators().count();
        build.warpgroup_fence();
        let mut sums = Vec::with_capacity(packed.len());
        for (index, words) in packed.chunks(tile).enumerate() {
            let (row, column) = (index as u64 / self.columns, index as u64 % self.columns);
            let mut words = words.to_vec();
            for step in 0..self.steps {
                let term = step * u64::from(self.product.instruction.summed);
                let a = match left {
                    Left::Memory(left) => {
                        vec![left.descriptor(build, row * down * height, term)]
                    }
                    Left::Registers(words) => {
                        let each = words.len() / (self.rows * self.steps) as usize;
                        let first = (row * self.steps + step) as usize * each;
                        words[first..first + each].to_vec()
                    }
                };
                let b = right.descriptor(build, column * width, term);
                let keep = keep.filter(|_| step == 0);
                words = build.warpgroup_multiply(self.operation, &a, b, keep, &words).to_vec();
            }
            sums.extend(words);
        }
        build.warpgroup_commit();
        sums
    }

    fn numbers_in_word(&self) -> usize {
        (32 / self.operation.sum.bits()).max(1) as usize
    }

    /// Sums as the instruction's words.
    fn packed(&self, build: &mut lane::Builder, sums: &[lane::Value]) -> Vec<lane::Value> {
        match self.numbers_in_word() {
            1 => sums.to_vec(),
            numbers => sums.chunks(numbers).map(|word| build.join(word)).collect(),
        }
    }

    /// The sums in the instruction's words.
    fn unpacked(&self, build: &mut lane::Builder, words: &[lane::Value]) -> Vec<lane::Value> {
        match self.numbers_in_word() {
            1 => words.to_vec(),
            _ => words.iter().flat_map(|&word| build.split(word, self.operation.sum)).collect(),
        }
    }
}

impl Lowerer<'_> {
    /// The number of the warp, as a value that the lanes of a warp are known to have in common; nothing where
    /// there is one warpgroup.
    pub(in crate::lower) fn common_warp(&mut self) -> Option<lane::Value> {
        let mut any = false;
        self.kernel.walk(&self.kernel.body, &mut |_, op| {
            any |= matches!(op.kind, OpKind::WarpgroupDot(_));
        });
        (any && self.block.warps > WarpgroupMultiply::WARPS).then(|| {
            let warp = self.build.id(lane::IdKind::Warp);
            let first = self.build.i32(0);
            self.build.shuffle_index(warp, first)
        })
    }

    pub(super) fn warpgroup_product(
        &mut self,
        id: OpId,
        op: &Op,
        product: &Warpgroup,
    ) -> Result<(), AssignError> {
        let [a, b, c] = [0, 1, 2].map(|index| op.operands[index]);
        let result = op.results[0];
        let start = self.get(c, product.accumulator)?.to_vec();
        let right = self.in_memory(b, product, Part::Right)?;
        let left = match product.left {
            None => Left::Memory(Box::new(self.in_memory(a, product, Part::Left)?)),
            Some(layout) => Left::Registers(self.words(a, layout)?),
        };
        let tiles = self.tiles(product, [a, c], &left, &right);
        let keep = if self.is_zero(c) {
            Some(self.build.constant(DType::I1, 0))
        } else {
            op.operands.get(3).map(|&keep| self.scalar(keep))
        };
        let sums = tiles.multiplied(&mut self.build, &left, &right, &start, keep);
        if may_fly(self.assignment, id, result) {
            for sum in self.flights.iter_mut().filter(|sum| **sum == Some(c)) {
                *sum = None;
            }
            self.flights.push(Some(result));
            self.bind_tensor(result, product.accumulator, sums.into());
            return Ok(());
        }
        let sums = self.landed(0, &sums)?;
        let sums = tiles.unpacked(&mut self.build, &sums);
        self.bind_moved(result, product.accumulator, &sums)
    }

    fn tiles<'p>(
        &self,
        product: &'p Warpgroup,
        [a, c]: [Value; 2],
        left: &Left,
        right: &InMemory,
    ) -> Tiles<'p> {
        let is_turned = |factor: &InMemory| factor.operand.major() == Major::Mn;
        let (left_in_registers, turned) = match left {
            Left::Memory(left) => (false, is_turned(left)),
            Left::Registers(_) => (true, false),
        };
        let [rows, columns] = [0, 1].map(|axis| self.kernel.ty(c).shape[axis]);
        let [down, across] = product.split;
        let summed = self.kernel.ty(a).shape[1];
        let instruction = &product.instruction;
        let [height, width] = instruction.shape(Part::Sum);
        let operation = WarpgroupMultiply {
            columns: instruction.columns as u16,
            summed: instruction.summed as u8,
            left: dtype(instruction.left),
            right: dtype(instruction.right),
            sum: dtype(instruction.sum),
            left_in_registers,
            transposed: [turned, is_turned(right)],
            keeps: false,
        };
        Tiles {
            product,
            operation,
            rows: rows / down / height,
            columns: columns / across / width,
            steps: summed / u64::from(instruction.summed),
        }
    }

    /// The words of a left factor in registers.
    fn words(&mut self, factor: Value, layout: LayoutId) -> Result<Vec<lane::Value>, AssignError> {
        let numbers = self.get(factor, layout)?;
        let in_word = (32 / self.kernel.ty(factor).dtype().bits()).max(1) as usize;
        Ok(match in_word {
            1 => numbers.to_vec(),
            _ => numbers.chunks(in_word).map(|word| self.build.join(word)).collect(),
        })
    }

    /// A factor that lies in memory.
    fn in_memory(
        &mut self,
        factor: Value,
        product: &Warpgroup,
        part: Part,
    ) -> Result<InMemory, AssignError> {
        let ty = self.assignment.placed(self.kernel, factor);
        let view = self.view(factor);
        let refused = |reason: String| AssignError::NoOperand {
            name: self.kernel.value_name(factor),
            ty: ty.to_string(),
            reason,
        };
        let memory = self.assignment.buffers(factor)?;
        let operand = product
            .operand(memory, ty.tensor_extents(), part)
            .map_err(|error| refused(error.to_string()))?;
        let part_of = || refused("it is a part of a buffer".into());
        let base = view.whole().ok_or_else(part_of)?;
        let [kept, summed] = Warpgroup::axes(part);
        let [down, across] = product.split;
        let (unit, groups, copies) = match part {
            Part::Left => (product.instruction.rows.into(), down, [0, across]),
            Part::Right | Part::Sum => (ty.shape[1] / across, across, [down, 0]),
        };
        let mut columns = vec![0; product.instruction.warps().ilog2() as usize];
        columns.extend(vec![0; copies[0].max(1).ilog2() as usize]);
        for group in 0..groups.ilog2() {
            let place = [(kept, unit << group)];
            columns.push(operand.start(&place).unwrap_or_default());
        }
        columns.extend(vec![0; copies[1].max(1).ilog2() as usize]);
        let moving = columns.iter().fold(0, |all, column| all | column);
        let own = match self.warp.filter(|_| moving != 0) {
            Some(warp) => {
                let columns: Vec<u32> = columns.iter().map(|&column| column as u32).collect();
                self.build.linear(&columns, warp)
            }
            None => self.build.i32(0),
        };
        Ok(InMemory { operand, kept, summed, base, own: (own, moving) })
    }

    /// Whether all elements of a value are zero, whatever its type.
    fn is_zero(&self, value: Value) -> bool {
        let op = self.definitions[value].map(|id| &self.kernel.ops[id]);
        matches!(op.map(|op| &op.kind), Some(OpKind::Constant(0)))
    }

    /// Waits until only so many of the latest products are under way, where more may be.
    pub(in crate::lower) fn wait_for_products(&mut self, pending: u32) -> Result<(), AssignError> {
        if self.flights.len() > pending as usize {
            self.landed(pending, &[])?;
        }
        Ok(())
    }

    /// Waits until only so many of the latest products are under way, and gives some of the sums that are over
    /// then; the others are bound.
    fn landed(
        &mut self,
        pending: u32,
        own: &[lane::Value],
    ) -> Result<Vec<lane::Value>, AssignError> {
        let over = self.flights.len().saturating_sub(pending as usize);
        let left = self.flights.split_off(over);
        let over = core::mem::replace(&mut self.flights, left);
        let mut values = own.to_vec();
        let mut bound = Vec::new();
        for sum in over.into_iter().flatten() {
            let home = self.anywhere(sum)?;
            let registers = self.get(sum, home)?;
            values.extend_from_slice(&registers);
            bound.push((sum, home, registers.len()));
        }
        let ready = self.build.warpgroup_wait(pending, &values);
        let (own, mut rest) = ready.split_at(own.len());
        for (sum, home, count) in bound {
            let (registers, others) = rest.split_at(count);
            rest = others;
            self.bind_tensor(sum, home, registers.into());
        }
        Ok(own.to_vec())
    }
}
