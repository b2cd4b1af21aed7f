//! Products of numbers with scales by the instructions that take these.
//!
//! An instruction takes the scale of a factor as one byte of a word, and says which. So four scales of a lane that
//! follow one another in its registers share a word, of four steps along the summed axis or of several tiles; fewer
//! have a word each. A factor without scales has the scale one; so have both of a product of numbers of eight bits, if
//! that instruction is the fastest.

use super::Lowerer;
use super::matrix::{Place, Plan, exchanged_if, summed};
use super::parts::Parts;
use crate::assign::{AssignError, Matrix};
use crate::dtype::DType;
use crate::lane::{self, ScaledMultiply, ScaledNumber, Words};
use crate::scalar::Cast;
use crate::tile::{Op, ScaledOperands, Value};
use rustc_hash::FxHashMap;
use weft_layout::Layout;
use weft_layout::machine::{MatrixMultiply, Number};
use weft_layout::space::REGISTER;

/// The exponent of the scale one.
const ONE: i32 = 127;

/// How many scales a word has.
const IN_WORD: usize = 4;

/// What the lane program calls the numbers of a factor.
fn number(number: Number) -> ScaledNumber {
    match number {
        Number::E2M1 => ScaledNumber::E2M1,
        Number::E5M2 => ScaledNumber::E5M2,
        // There are no others with scales; the verifier would refuse one.
        _ => ScaledNumber::E4M3,
    }
}

/// The lane operation of an instruction, its scales in the lowest bytes.
fn operation(instruction: &MatrixMultiply) -> ScaledMultiply {
    let MatrixMultiply { rows, left, right, transposed, .. } = instruction;
    let [left, right] = exchanged_if(*transposed, [number(*left), number(*right)]);
    ScaledMultiply { side: *rows as u8, left, right, bytes: [0; 2] }
}

/// The words that a factor's elements fill, four in each: bytes of one number, or of two.
fn in_bytes(words: [Words; 3]) -> [Words; 3] {
    let [left, right, sum] = words;
    [Words { numbers: 4, ..left }, Words { numbers: 4, ..right }, sum]
}

/// The scales of a factor, in words.
struct Scales {
    words: Vec<lane::Value>,
    /// How many share one.
    in_word: usize,
    /// The register with the scale at a place of the first lane; of a factor without scales there is none.
    by_place: FxHashMap<u64, usize>,
    /// Rows or columns, and the groups of each.
    sizes: [u64; 2],
}

impl Scales {
    /// Of registers in a layout.
    fn of(build: &mut lane::Builder, registers: &[lane::Value], layout: &Layout) -> Self {
        let in_word = if registers.len().is_multiple_of(IN_WORD) { IN_WORD } else { 1 };
        let words = registers.chunks(in_word).map(|word| match *word {
            [only] => build.cast(Cast::ExtU, only, DType::I32),
            _ => build.join(word),
        });
        let words = words.collect();
        let places = 0..1_u64 << layout.in_bits(REGISTER);
        let by_place = places.map(|at| (layout.apply_flat(at), at as usize)).collect();
        let shape = layout.shape();
        let sizes = match shape[..] {
            [.., kept, groups] => [kept, groups],
            _ => [1, 1],
        };
        Self { words, in_word, by_place, sizes }
    }

    /// The scale one for every number.
    fn ones(build: &mut lane::Builder) -> Self {
        let words = vec![build.i32(ONE)];
        Self { words, in_word: 1, by_place: FxHashMap::default(), sizes: [1, 1] }
    }

    /// The word with the scales of a tile of rows or columns in a step, and which of its bytes has them.
    fn at(&self, [matrix, kept, step]: [u64; 3]) -> (lane::Value, u8) {
        let [height, groups] = self.sizes;
        let place =
            (matrix * height + kept % height) * groups + step / ScaledMultiply::GROUP as u64;
        let found = self.by_place.get(&place);
        debug_assert!(
            found.is_some() || self.by_place.is_empty(),
            "a lane has the scales of its tiles"
        );
        let register = found.copied().unwrap_or(0);
        (self.words[register / self.in_word], (register % self.in_word) as u8)
    }
}

impl Lowerer<'_> {
    pub(super) fn scaled_product(
        &mut self,
        op: &Op,
        operands: ScaledOperands<Value>,
        matrix: &Matrix,
    ) -> Result<(), AssignError> {
        let ScaledOperands { factors: [a, b], scales, sum } = operands;
        let result = op.results[0];
        let mut wanted = vec![(a, matrix.left), (b, matrix.right)];
        wanted.extend(scales.into_iter().zip(matrix.scales).filter_map(|(x, of)| x.zip(of)));
        let moved = self.get_together(&wanted)?;
        let start = self.get(sum, matrix.accumulator)?.to_vec();
        let layouts = [matrix.left, matrix.right, matrix.accumulator]
            .map(|layout| self.assignment.layouts.get(layout));
        let operation = operation(&matrix.instruction);
        let plan = Plan::of(matrix, layouts, in_bytes(operation.words()))?;
        let build = &mut self.build;
        let mut rest = moved[2..].iter();
        let mut scales = Vec::new();
        for layout in matrix.scales {
            let known = layout.zip(rest.as_slice().first());
            scales.push(match known {
                Some((layout, registers)) => {
                    rest.next();
                    Scales::of(build, registers, self.assignment.layouts.get(layout))
                }
                None => Scales::ones(build),
            });
        }
        let transposed = matrix.instruction.transposed;
        let mut multiply = |build: &mut lane::Builder, at: Place, words: [&[lane::Value]; 3]| {
            let Place { matrix, row, column, step } = at;
            let of_left = scales[0].at([matrix, row, step]);
            let of_right = scales[1].at([matrix, column, step]);
            let [(s, left), (t, right)] = exchanged_if(transposed, [of_left, of_right]);
            let operation = ScaledMultiply { bytes: [left, right], ..operation };
            build.scaled_multiply(operation, words, [s, t]).to_vec()
        };
        let [left, right]: [Parts; 2] =
            [&moved[0], &moved[1]].map(|numbers| vec![numbers.to_vec()]);
        let sums = summed(build, &plan, [&left, &right], &[(0, 0)], start, &mut multiply);
        self.bind_moved(result, matrix.accumulator, &sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_layout::Machine;

    #[test]
    fn every_scaled_instruction_of_a_machine_is_an_operation() {
        let mut count = 0;
        for machine in Machine::ALL {
            let all = machine.scaled_multiplies.iter();
            for instruction in all.flat_map(|of| [Some(of.clone()), of.exchanged()]).flatten() {
                let operation = operation(&instruction);
                assert!(operation.exists(), "{}: {operation:?}", instruction.name);
                assert_eq!(operation.summed(), instruction.summed as usize);
                assert_eq!(instruction.scale_group(), Some(ScaledMultiply::GROUP as u32));
                count += 1;
            }
        }
        assert_eq!(count, 36);
    }
}
