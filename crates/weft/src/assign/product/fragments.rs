//! The layouts of the matrices of a product, from an instruction's fragments.
//!
//! The instruction deals out one small matrix over registers and lanes. Beyond it the warps take the
//! next rows and columns, and registers repeat it over the rest of the tile. The order of registers is
//! that of Triton's families, so that a layout that has a name there gets it.
//!
//! The index that is summed over may be renamed: `summed[j]` is the index that bit `j` of the
//! instruction's own stands for. Two renamings are used.
//!
//! * *Stretched*: a lane that has `w` neighbours along the summed axis together gets `2^t` of them
//!   (Triton's `kWidth`), so that it reads more of a row at a time.
//! * *As sums lie*: the bits of the summed index that a left factor has on lanes are named as the bits of
//!   a column that a sum has there, so that a sum is a left factor where it is. Of `mma.sync` a sum has
//!   bits 1 and 2 of a column on lanes, a left factor of bytes the bits 2 and 3 of the summed index:
//!
//! ```text
//! sum              registers n0 m3 n3 n4 …   lanes n1 n2 m0 m1 m2
//! factor of bytes  registers k0 k1 m3 k4 …   lanes k2 k3 m0 m1 m2
//! renamed          k0 = n0, k1 = n3, k2 = n1, k3 = n2, k4 = n4
//! ```

use super::Sizes;
use core::ops::Range;
use weft_layout::family::FamilyError;
use weft_layout::machine::{MatrixMultiply, Part};
use weft_layout::space::{LANE, REGISTER, WARP};
use weft_layout::{Layout, Space};

/// An instruction dealt out over a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragments<'a> {
    /// The instruction whose fragments they are.
    pub(super) instruction: &'a MatrixMultiply,
    /// The renaming of the summed index.
    pub(super) summed: &'a [u64],
    /// Over how many warps the matrices, the rows and the columns are dealt.
    pub(super) split: &'a [u64; 3],
}

/// The bits of an index of so many bits with `2^together` neighbours in a lane, where the instruction has
/// the bits `on_lanes` of its own on lanes.
pub(super) fn stretched(bits: u32, on_lanes: &Range<usize>, together: u32) -> Vec<u64> {
    let lanes = together..together + on_lanes.len() as u32;
    renamed(bits, on_lanes.start, lanes.map(|bit| 1 << bit).collect())
}

/// The bits of an index of so many bits, those on lanes as a row of the instruction's sums has them; nothing
/// if the sums have more of them on lanes, or fewer, or if the index is shorter than their rows.
pub(super) fn as_sums(
    bits: u32,
    on_lanes: &Range<usize>,
    instruction: &MatrixMultiply,
) -> Result<Option<Vec<u64>>, FamilyError> {
    let [_, columns] = instruction.shape(Part::Sum);
    let sum = instruction.fragment(Part::Sum)?;
    let lanes = sum.columns(LANE).iter().copied();
    let lanes: Vec<u64> = lanes.filter(|place| (1..columns).contains(place)).collect();
    let fits = lanes.len() == on_lanes.len() && columns <= 1 << bits;
    Ok(fits.then(|| renamed(bits, on_lanes.start, lanes)))
}

/// The bits of an index of so many bits, from `own` on those `lanes`, and the others in their order.
fn renamed(bits: u32, own: usize, lanes: Vec<u64>) -> Vec<u64> {
    let others = (0..bits).map(|bit| 1 << bit).filter(|bit| !lanes.contains(bit));
    let mut summed: Vec<u64> = others.collect();
    let own = own.min(summed.len());
    summed.splice(own..own, lanes);
    summed
}

/// Steps of an axis: each bit as the basis vector of a tensor's place.
struct Axis {
    /// The unit of the axis.
    unit: u64,
    extent: u64,
}

impl Axis {
    /// A coordinate's place; beyond the end a copy, which is no step.
    fn step(&self, coordinate: u64) -> u64 {
        if coordinate < self.extent { coordinate * self.unit } else { 0 }
    }

    /// The steps from `from` on to the end.
    fn steps(&self, from: u64) -> impl Iterator<Item = u64> {
        let powers = core::iter::successors(Some(from), |value| value.checked_mul(2));
        powers.take_while(|&value| value < self.extent).map(|value| value * self.unit)
    }

    /// The first `count` doublings from `from` on.
    fn doublings(&self, from: u64, count: u64) -> impl Iterator<Item = u64> {
        (0..count.max(1).ilog2()).map(move |bit| self.step(from << bit))
    }
}

impl Sizes {
    pub(super) fn sides(&self, part: Part) -> [u64; 2] {
        match part {
            Part::Left => [self.rows, self.summed >> u32::from(self.pairs[0])],
            Part::Right => [self.summed >> u32::from(self.pairs[1]), self.columns],
            Part::Sum => [self.rows, self.columns],
        }
    }

    fn shape(&self, part: Part) -> Vec<u64> {
        [&self.batch[..], &self.sides(part)].concat()
    }

    /// The last two dimensions of a part.
    fn axes(&self, part: Part) -> [Axis; 2] {
        let [height, width] = self.sides(part);
        [Axis { unit: width, extent: height }, Axis { unit: 1, extent: width }]
    }

    /// The dimensions that count matrices, as one.
    fn matrices(&self, part: Part) -> Axis {
        Axis { unit: self.sides(part).iter().product(), extent: self.count() }
    }

    /// An index along the summed axis as a step of a factor's tensor, no step where it is inside of a pair.
    fn summed(&self, factor: Part, index: u64) -> u64 {
        let (side, axis) = if factor == Part::Left { (0, 1) } else { (1, 0) };
        self.axes(factor)[axis].step(index >> u32::from(self.pairs[side]))
    }

    /// A step of the sum in a factor, which has its rows or its columns, and its matrices.
    fn of_factor(&self, factor: Part, step: u64) -> u64 {
        let [rows, columns] = self.sides(Part::Sum);
        let (matrix, row, column) =
            (step / (rows * columns), step / columns % rows, step % columns);
        let [above, below] = self.axes(factor);
        let own = if factor == Part::Left { above.step(row) } else { below.step(column) };
        self.matrices(factor).step(matrix) + own
    }
}

/// Whether a dimension of a part, the last one or that before it, is the summed one.
fn is_summed(part: Part, side: usize) -> bool {
    matches!((part, side), (Part::Left, 1) | (Part::Right, 0))
}

impl Fragments<'_> {
    /// The layouts of the left factor, the right one and the sum, without copies in registers.
    pub(super) fn layouts(&self, sizes: &Sizes) -> Result<[Layout; 3], FamilyError> {
        Ok([
            self.layout(sizes, Part::Left)?,
            self.layout(sizes, Part::Right)?,
            self.layout(sizes, Part::Sum)?,
        ])
    }

    /// A column of the fragment as a step of the tensor, the summed index renamed.
    fn placed(&self, sizes: &Sizes, part: Part, column: u64) -> u64 {
        let [_, width] = self.instruction.shape(part);
        let sides = [column / width, column % width].into_iter().enumerate();
        let steps = sides.map(|(side, value)| match value.checked_ilog2() {
            Some(bit) if is_summed(part, side) => {
                sizes.summed(part, self.summed.get(bit as usize).copied().unwrap_or(0))
            }
            _ => sizes.axes(part)[side].step(value),
        });
        steps.sum()
    }

    /// Whether layouts without copies in registers are what the instruction takes and gives, for some
    /// way to deal the product out over warps and registers.
    pub(super) fn hold(&self, sizes: &Sizes, layouts: [&Layout; 3]) -> Result<bool, FamilyError> {
        let [left, right, sum] = layouts;
        for (layout, part) in [(left, Part::Left), (right, Part::Right), (sum, Part::Sum)] {
            let fragment = self.instruction.fragment(part)?;
            let lanes = fragment.columns(LANE).iter().map(|&lane| self.placed(sizes, part, lane));
            if !lanes.eq(layout.columns(LANE).iter().copied()) {
                return Ok(false);
            }
        }
        let own = self.own_registers(sizes, Part::Sum)?;
        let held = sum.columns(REGISTER);
        let mut expected = [Vec::new(), Vec::new()];
        for (factor, expected) in [Part::Left, Part::Right].into_iter().zip(&mut expected) {
            let on_lanes = self.instruction.summed_on_lanes(factor)?;
            let summed = self.summed.iter().enumerate();
            let summed = summed.filter(|(bit, _)| !on_lanes.contains(bit));
            expected.extend(summed.map(|(_, &index)| sizes.summed(factor, index)));
            expected.extend(self.own_kept(sizes, factor)?);
            let tiles = held.iter().filter(|step| !own.contains(step));
            expected.extend(tiles.map(|&step| sizes.of_factor(factor, step)));
        }
        let same = |layout: &Layout, steps: &[u64]| {
            let sorted = |steps: &[u64]| {
                let mut steps = steps.to_vec();
                steps.retain(|&step| step != 0);
                steps.sort_unstable();
                steps
            };
            sorted(layout.columns(REGISTER)) == sorted(steps)
        };
        let warps = |layout: &Layout, factor: Part| {
            let own = sum.columns(WARP).iter().map(|&step| sizes.of_factor(factor, step));
            own.eq(layout.columns(WARP).iter().copied())
        };
        Ok(own.iter().all(|step| held.contains(step))
            && same(left, &expected[0])
            && same(right, &expected[1])
            && warps(left, Part::Left)
            && warps(right, Part::Right))
    }

    /// The steps of the registers of one instruction, without copies.
    fn own_registers(&self, sizes: &Sizes, part: Part) -> Result<Vec<u64>, FamilyError> {
        let fragment = self.instruction.fragment(part)?;
        let columns = fragment.columns(REGISTER).iter();
        let steps = columns.map(|&register| self.placed(sizes, part, register));
        Ok(steps.filter(|&step| step != 0).collect())
    }

    /// Those of a factor's that are rows of the left one or columns of the right one.
    fn own_kept(&self, sizes: &Sizes, factor: Part) -> Result<Vec<u64>, FamilyError> {
        let summed: Vec<u64> =
            self.summed.iter().map(|&index| sizes.summed(factor, index)).collect();
        let mut steps = self.own_registers(sizes, factor)?;
        steps.retain(|step| !summed.contains(step));
        Ok(steps)
    }

    /// The layout of a factor's scales, rows or columns by groups along the summed axis, without copies in registers,
    /// where the sum lies so: first the groups of the steps, then the tiles. Nothing where the factors have none.
    pub(super) fn scales(
        &self,
        sizes: &Sizes,
        factor: Part,
        sum: &Layout,
    ) -> Result<Option<Layout>, FamilyError> {
        let (Some(fragment), Some(group)) =
            (self.instruction.scale_fragment(factor), self.instruction.scale_group())
        else {
            return Ok(None);
        };
        let groups = (sizes.summed / u64::from(group)).max(1);
        let kept = if factor == Part::Left { sizes.rows } else { sizes.columns };
        let rows = Axis { unit: groups, extent: kept };
        let batch = Axis { unit: groups * kept, extent: sizes.count() };
        // A bit of the number of a group is one of the summed index.
        let first = group.ilog2() as usize;
        let named =
            |bit: usize| self.summed.get(first + bit).map_or(0, |&index| index / u64::from(group));
        let own_groups = u64::from(self.instruction.summed / group);
        let lane = |&column: &u64| match column % own_groups {
            0 => rows.step(column / own_groups),
            of => named(of.trailing_zeros() as usize),
        };
        let lanes: Vec<u64> = fragment.columns(LANE).iter().map(lane).collect();
        // A step of the sum has rows of the left factor and columns of the right one.
        let of_sum = |&step: &u64| {
            let (matrix, row) =
                (step / sizes.columns / sizes.rows, step / sizes.columns % sizes.rows);
            let own = if factor == Part::Left { row } else { step % sizes.columns };
            batch.step(matrix) + rows.step(own)
        };
        let warps: Vec<u64> = sum.columns(WARP).iter().map(of_sum).collect();
        let own = self.own_registers(sizes, Part::Sum)?;
        let tiles = sum.columns(REGISTER).iter().filter(|step| !own.contains(step));
        let mut registers: Vec<u64> =
            (own_groups.ilog2() as usize..groups.ilog2() as usize).map(named).collect();
        registers.extend(tiles.map(of_sum));
        registers.retain(|&step| step != 0);
        let shape = [&sizes.batch[..], &[kept, groups]].concat();
        let ins =
            Space::hardware(registers.len() as u32, lanes.len() as u32, warps.len() as u32, 0)?;
        Ok(Some(Layout::new(ins, Space::tensor(&shape)?, &[registers, lanes, warps].concat())?))
    }

    fn layout(&self, sizes: &Sizes, part: Part) -> Result<Layout, FamilyError> {
        let shape = sizes.shape(part);
        let axes = sizes.axes(part);
        let batch = sizes.matrices(part);
        let fragment = self.instruction.fragment(part)?;
        let [height, width] = self.instruction.shape(part);
        let placed = |&column: &u64| self.placed(sizes, part, column);
        let lanes: Vec<u64> = fragment.columns(LANE).iter().map(placed).collect();
        let [matrices, down, across] = *self.split;
        let steps = |axis: usize, from: u64, count: u64| -> Vec<u64> {
            if is_summed(part, axis) {
                return vec![0; count.max(1).ilog2() as usize];
            }
            axes[axis].doublings(from, count).collect()
        };
        // Warps walk along columns first, then rows, then matrices.
        let mut warps = Vec::new();
        match part {
            Part::Left => {
                warps.extend(vec![0; across.max(1).ilog2() as usize]);
                warps.extend(steps(0, height, down));
            }
            Part::Right => {
                warps.extend(steps(1, width, across));
                warps.extend(vec![0; down.max(1).ilog2() as usize]);
            }
            Part::Sum => {
                warps.extend(steps(1, width, across));
                warps.extend(steps(0, height, down));
            }
        }
        warps.extend(batch.doublings(1, matrices));
        let mut registers = self.registers(sizes, part, &axes, &batch)?;
        registers.retain(|&step| step != 0);
        let ins =
            Space::hardware(registers.len() as u32, lanes.len() as u32, warps.len() as u32, 0)?;
        Ok(Layout::new(ins, Space::tensor(&shape)?, &[registers, lanes, warps].concat())?)
    }

    /// The steps of registers, in the order of Triton's families.
    fn registers(
        &self,
        sizes: &Sizes,
        part: Part,
        axes: &[Axis; 2],
        batch: &Axis,
    ) -> Result<Vec<u64>, FamilyError> {
        let [height, width] = self.instruction.shape(part);
        let [matrices, down, across] = *self.split;
        let k = self.instruction.summed.ilog2() as usize;
        // A sum has none of it.
        let factor = if part == Part::Right { Part::Right } else { Part::Left };
        let on_lanes = self.instruction.summed_on_lanes(factor)?;
        // Along the summed axis: the neighbours below what lanes hold, then the rest.
        let lane = match self.summed.get(on_lanes.start) {
            Some(&index) if !on_lanes.is_empty() => index,
            _ => u64::MAX,
        };
        let indices = self.summed.iter().enumerate();
        let held = indices.filter(|(bit, _)| !on_lanes.contains(bit));
        let mut summed: Vec<u64> = held.map(|(_, &index)| index).collect();
        summed.sort_unstable();
        let inside = summed.partition_point(|&index| index < lane);
        let along = |indices: &[u64]| -> Vec<u64> {
            indices.iter().map(|&index| sizes.summed(part, index)).collect()
        };
        debug_assert!(k <= self.summed.len(), "the instruction sums no more than there is");
        let mut registers = Vec::new();
        match part {
            Part::Left => {
                registers.extend(along(&summed[..inside]));
                registers.extend(self.own_kept(sizes, part)?);
                registers.extend(along(&summed[inside..]));
                registers.extend(axes[0].steps(height * down));
            }
            Part::Right => {
                registers.extend(along(&summed));
                registers.extend(self.own_kept(sizes, part)?);
                registers.extend(axes[1].steps(width * across));
            }
            Part::Sum => {
                registers.extend(self.own_registers(sizes, part)?);
                registers.extend(axes[1].steps(width * across));
                registers.extend(axes[0].steps(height * down));
            }
        }
        registers.extend(batch.steps(matrices));
        Ok(registers)
    }
}
