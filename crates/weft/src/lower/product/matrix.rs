//! Products by matrix instructions.
//!
//! The registers of the three layouts are found by the elements that they hold: number `e` of a
//! fragment, in step `s` of the summed axis and in a tile of rows and columns, is the element at the
//! sum of their places, and the register is the one that has it. So nothing depends on the order of
//! registers, and rows or columns that a small tile does not have are the copies of those that it has.

use super::Lowerer;
use super::parts::{Parts, pairs, parts};
use crate::assign::{AssignError, Matrix};
use crate::dtype::DType;
use crate::lane::{self, Fragments, MatrixMultiply, Words};
use crate::scalar::{Binary, Cast, Compare};
use crate::tile::{Op, Precision};
use rustc_hash::FxHashMap;
use weft_layout::Layout;
use weft_layout::machine::{self, Number, Part};
use weft_layout::space::REGISTER;

/// The type of a number in registers.
pub(super) fn dtype(number: Number) -> DType {
    match number {
        Number::F16 => DType::F16,
        Number::BF16 => DType::BF16,
        Number::TF32 | Number::F32 => DType::F32,
        Number::F64 => DType::F64,
        Number::E4M3 => DType::F8E4M3FN,
        Number::E5M2 => DType::F8E5M2,
        Number::E4M3FNUZ => DType::F8E4M3FNUZ,
        Number::E5M2FNUZ => DType::F8E5M2FNUZ,
        // Two in a byte.
        Number::S8 | Number::E2M1 => DType::I8,
        Number::S32 => DType::I32,
    }
}

/// The lane operation of an instruction of one warp.
fn operation(instruction: &machine::MatrixMultiply) -> MatrixMultiply {
    let machine::MatrixMultiply { rows, columns, summed, left, right, sum, .. } = instruction;
    // Both sides have one name for a kind. Those of warpgroups stand in a list of their own; the verifier would
    // refuse one.
    let fragments = Fragments::by_word(instruction.fragments.word()).unwrap_or(Fragments::Mma);
    let [left, right] = exchanged_if(instruction.transposed, [left, right]);
    MatrixMultiply {
        fragments,
        rows: *rows as u8,
        columns: *columns as u8,
        summed: *summed as u8,
        left: dtype(*left),
        right: dtype(*right),
        sum: dtype(*sum),
    }
}

/// What belongs to the left factor and to the right one, exchanged for an instruction that is given the
/// transposes.
pub(super) fn exchanged_if<T>(transposed: bool, [left, right]: [T; 2]) -> [T; 2] {
    if transposed { [right, left] } else { [left, right] }
}

/// The registers of one matrix, by place.
struct Registers {
    /// Rows, columns: the sizes of the last two dimensions.
    sizes: [u64; 2],
    by_place: FxHashMap<u64, usize>,
    /// For each element of a fragment in a lane, row and column of its first number.
    fragment: Vec<[u64; 2]>,
    /// How many elements share a word.
    words: Words,
    /// The logarithm of the neighbours along the summed axis that an element holds.
    packed_log2: u32,
}

impl Registers {
    fn of(
        layout: &Layout,
        instruction: &machine::MatrixMultiply,
        part: Part,
        words: Words,
    ) -> Result<Registers, AssignError> {
        let shape = layout.shape();
        let sizes = match shape[..] {
            [.., rows, columns] => [rows, columns],
            _ => [1, 1],
        };
        let registers = 0..1_usize << layout.in_bits(REGISTER);
        // The registers are the lowest input bits.
        let by_place = registers.map(|at| (layout.apply_flat(at as u64), at)).collect();
        let own = instruction.fragment(part)?;
        let [_, width] = instruction.shape(part);
        // The first bit of a lane's numbers is inside of a byte.
        let packed_log2 = u32::from(instruction.number(part) == Number::E2M1);
        let fragment = (0..1_u64 << own.in_bits(REGISTER))
            .step_by(1 << packed_log2)
            .map(|register| own.apply_flat(register))
            .map(|place| [place / width, place % width])
            .collect();
        Ok(Registers { sizes, by_place, fragment, words, packed_log2 })
    }

    /// The register with an element of a tile that begins at a place, or its copy within the tile.
    fn register(&self, start: u64, [row, column]: [u64; 2]) -> usize {
        let [rows, columns] = self.sizes;
        let place = start ^ ((row & (rows - 1)) * columns) ^ (column & (columns - 1));
        let found = self.by_place.get(&place);
        debug_assert!(found.is_some(), "a thread has what its fragments hold");
        found.copied().unwrap_or(0)
    }

    /// The words of a fragment, packed from registers.
    fn packed(
        &self,
        build: &mut lane::Builder,
        values: &[lane::Value],
        places: impl Iterator<Item = usize>,
    ) -> Vec<lane::Value> {
        let numbers: Vec<lane::Value> = places.map(|register| values[register]).collect();
        if self.words.numbers == 1 {
            return numbers;
        }
        numbers.chunks(self.words.numbers).map(|word| build.join(word)).collect()
    }
}

/// The three matrices and the tiles of a thread.
pub(super) struct Plan<'m> {
    matrix: &'m Matrix,
    left: Registers,
    right: Registers,
    sum: Registers,
    /// Where the tiles of rows begin, as rows; those of columns; and the matrices.
    rows: Vec<u64>,
    columns: Vec<u64>,
    batch: Vec<u64>,
    /// Along the summed axis, where each step begins.
    steps: Vec<u64>,
}

impl<'m> Plan<'m> {
    /// By the layouts of the matrices, and the words of the operation that multiplies them.
    pub(super) fn of(
        matrix: &'m Matrix,
        [left, right, sum]: [&Layout; 3],
        [a, b, c]: [Words; 3],
    ) -> Result<Plan<'m>, AssignError> {
        let instruction = &matrix.instruction;
        let [a, b] = exchanged_if(instruction.transposed, [a, b]);
        let sum_registers = Registers::of(sum, instruction, Part::Sum, c)?;
        let [height, width] = instruction.shape(Part::Sum);
        let [rows, columns] = sum_registers.sizes;
        let mut starts: [Vec<u64>; 3] = Default::default();
        for register in 0..1_u64 << sum.in_bits(REGISTER) {
            let place = sum.apply_flat(register);
            let (row, column) = (place / columns % rows, place % columns);
            let start = [row & !(height - 1), column & !(width - 1), place / (rows * columns)];
            for (list, start) in starts.iter_mut().zip(start) {
                if !list.contains(&start) {
                    list.push(start);
                }
            }
        }
        let [rows, columns, batch] = starts;
        let inside = instruction.summed.ilog2() as usize;
        let bits = matrix.summed.get(inside..).unwrap_or_default();
        let steps = (0..1_u64 << bits.len()).map(|step| renamed(bits, step)).collect();
        Ok(Plan {
            matrix,
            left: Registers::of(left, instruction, Part::Left, a)?,
            right: Registers::of(right, instruction, Part::Right, b)?,
            sum: sum_registers,
            rows,
            columns,
            batch,
            steps,
        })
    }

    /// The words of the left factor in a tile and a step.
    fn left(
        &self,
        build: &mut lane::Builder,
        values: &[lane::Value],
        [matrix, row, step]: [u64; 3],
    ) -> Vec<lane::Value> {
        let [rows, summed] = self.left.sizes;
        let packed = self.left.packed_log2;
        let start = ((matrix * rows + row) * summed) ^ (step >> packed);
        let places = self.left.fragment.iter().map(|&[row, index]| {
            self.left.register(start, [row, renamed(&self.matrix.summed, index) >> packed])
        });
        self.left.packed(build, values, places)
    }

    /// The words of the right factor in a tile and a step.
    fn right(
        &self,
        build: &mut lane::Builder,
        values: &[lane::Value],
        [matrix, column, step]: [u64; 3],
    ) -> Vec<lane::Value> {
        let [summed, columns] = self.right.sizes;
        let packed = self.right.packed_log2;
        let start = ((matrix * summed + (step >> packed)) * columns) ^ column;
        let places = self.right.fragment.iter().map(|&[index, column]| {
            self.right.register(start, [renamed(&self.matrix.summed, index) >> packed, column])
        });
        self.right.packed(build, values, places)
    }

    /// The registers of the sum in a tile.
    fn sums(&self, [matrix, row, column]: [u64; 3]) -> Vec<usize> {
        let [rows, columns] = self.sum.sizes;
        let start = ((matrix * rows + row) * columns) ^ column;
        self.sum.fragment.iter().map(|&place| self.sum.register(start, place)).collect()
    }
}

/// The index that an index of the instruction's stands for.
fn renamed(bits: &[u64], index: u64) -> u64 {
    let set = bits.iter().enumerate().filter(|(bit, _)| index >> bit & 1 == 1);
    set.fold(0, |sum, (_, &index)| sum ^ index)
}

impl Lowerer<'_> {
    pub(super) fn matrix_product(
        &mut self,
        op: &Op,
        matrix: &Matrix,
        precision: Precision,
    ) -> Result<(), AssignError> {
        let [a, b, c] = [0, 1, 2].map(|index| op.operands[index]);
        let result = op.results[0];
        let factors = self.get_together(&[(a, matrix.left), (b, matrix.right)])?;
        let mut start = self.get(c, matrix.accumulator)?.to_vec();
        let layouts = [matrix.left, matrix.right, matrix.accumulator]
            .map(|layout| self.assignment.layouts.get(layout));
        let operation = operation(&matrix.instruction);
        let plan = Plan::of(matrix, layouts, operation.words())?;
        let pairs = pairs(self.kernel.ty(a).dtype(), matrix.instruction.left, precision);
        let transposed = matrix.instruction.transposed;
        let taken = exchanged_if(transposed, [operation.left, operation.right]);
        // Sums of f16 that the instruction adds up in f32 are rounded once, to the nearest, ties to even.
        let (own, of_sum) = (self.kernel.ty(c).dtype(), operation.sum);
        let mut multiply = |build: &mut lane::Builder, _: Place, matrices: [&[lane::Value]; 3]| {
            build.matrix_multiply(operation, matrices).to_vec()
        };
        let build = &mut self.build;
        if own != of_sum {
            start = start.iter().map(|&x| build.cast(Cast::Float, x, of_sum)).collect();
        }
        let left = parts(build, &factors[0], taken[0], pairs);
        let right = parts(build, &factors[1], taken[1], pairs);
        let mut sums = match pairs.split_last() {
            None | Some((_, [])) => {
                summed(build, &plan, [&left, &right], pairs, start, &mut multiply)
            }
            Some((largest, small)) => {
                // What the small parts add is a number, whatever the factors are.
                let zero = build.constant(of_sum, 0);
                let zeros = vec![zero; start.len()];
                let small = summed(build, &plan, [&left, &right], small, zeros, &mut multiply);
                let start = start.iter().zip(small).map(|(&start, small)| {
                    let none = build.compare(Compare::Une, small, small);
                    let small = build.select(none, zero, small);
                    build.binary(Binary::Add, start, small)
                });
                let start = start.collect();
                summed(build, &plan, [&left, &right], &[*largest], start, &mut multiply)
            }
        };
        if own != of_sum {
            sums = sums.iter().map(|&x| build.cast(Cast::Float, x, own)).collect();
        }
        self.bind_moved(result, matrix.accumulator, &sums)
    }
}

/// Writes the product of a tile in a step: of the words of the left matrix, of the right one, and of the sum.
pub(super) type Multiply<'a> =
    &'a mut dyn FnMut(&mut lane::Builder, Place, [&[lane::Value]; 3]) -> Vec<lane::Value>;

/// Where a tile's product stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) matrix: u64,
    pub(super) row: u64,
    pub(super) column: u64,
    /// The index along the summed axis at which the step begins.
    pub(super) step: u64,
}

/// `sums` plus the products of these pairs of parts: step by step along the summed axis, and in each
/// tile by tile, so that what one step needs is needed together.
pub(super) fn summed(
    build: &mut lane::Builder,
    plan: &Plan<'_>,
    [left, right]: [&Parts; 2],
    pairs: &[(usize, usize)],
    mut sums: Vec<lane::Value>,
    multiply: Multiply<'_>,
) -> Vec<lane::Value> {
    let in_word = plan.sum.words.numbers;
    // Sums of several numbers in a word stay packed from step to step.
    let mut tiles: FxHashMap<[u64; 3], Vec<lane::Value>> = FxHashMap::default();
    for &step in &plan.steps {
        for &(a, b) in pairs {
            for &matrix in &plan.batch {
                let columns: Vec<Vec<lane::Value>> = plan
                    .columns
                    .iter()
                    .map(|&column| plan.right(build, &right[b], [matrix, column, step]))
                    .collect();
                for &row in &plan.rows {
                    let rows = plan.left(build, &left[a], [matrix, row, step]);
                    for (&column, columns) in plan.columns.iter().zip(&columns) {
                        let tile = [matrix, row, column];
                        let words = tiles.entry(tile).or_insert_with(|| {
                            let registers = plan.sums(tile).into_iter();
                            plan.sum.packed(build, &sums, registers)
                        });
                        let [left, right] =
                            exchanged_if(plan.matrix.instruction.transposed, [&rows[..], columns]);
                        let place = Place { matrix, row, column, step };
                        *words = multiply(build, place, [left, right, &*words]);
                    }
                }
            }
        }
    }
    for (&matrix, &row) in plan.batch.iter().flat_map(|m| plan.rows.iter().map(move |r| (m, r))) {
        for &column in &plan.columns {
            let tile = [matrix, row, column];
            let Some(words) = tiles.get(&tile) else { continue };
            let numbers: Vec<lane::Value> = match in_word {
                1 => words.clone(),
                _ => {
                    let sum = dtype(plan.matrix.instruction.sum);
                    let split = |&word| build.split(word, sum);
                    words.iter().flat_map(split).collect()
                }
            };
            for (register, number) in plan.sums(tile).into_iter().zip(numbers) {
                sums[register] = number;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_layout::Machine;

    #[test]
    fn every_instruction_of_a_machine_is_an_operation_of_its_kind() {
        for machine in Machine::ALL {
            let all = machine.matrix_multiplies.iter();
            for instruction in all.flat_map(|of| [Some(of.clone()), of.exchanged()]).flatten() {
                let operation = operation(&instruction);
                assert_eq!(operation.fragments.word(), instruction.fragments.word());
                assert!(operation.exists(), "{}: {operation:?}", instruction.name);
            }
        }
    }
}
