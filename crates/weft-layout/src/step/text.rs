//! Plans as text: one step a line. Of a long list the plain form shows the ends, and the alternate
//! form (`{:#}`) everything.

use core::fmt;

use super::{
    Access, Acting, Cost, Count, Cube, DataMap, File, Form, Kind, LaneMap, Neighbour, Parity, Plan,
    Scope, Step, Strategy,
};

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.0)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Scope::Warp => "warp",
            Scope::Block => "block",
        })
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Strategy::Nothing => "nothing",
            Strategy::Registers => "registers",
            Strategy::Shuffles => "shuffles",
            Strategy::SharedMemory => "shared memory",
            Strategy::Reduction => "reduction",
            Strategy::Scan => "scan",
            Strategy::GatherShuffles => "gather by shuffles",
            Strategy::GatherMemory => "gather from shared memory",
            Strategy::Histogram => "histogram",
        })
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cost { wavefronts, ideal_wavefronts, shuffles, alu, barriers, instructions, total } =
            self;
        write!(
            f,
            "{}.{:02} cycles ({wavefronts} wavefronts of at least {ideal_wavefronts}, {shuffles} \
             shuffles, {alu} arithmetic, {barriers} barriers; {instructions} instructions)",
            total / 100,
            total % 100
        )
    }
}

/// The types of the inputs, one line a step, the outputs and the price. Long lists are shortened,
/// unless the alternate form is asked for.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &file in &self.inputs {
            write_definition(f, self, file)?;
            writeln!(f, " = input")?;
        }
        for step in &self.steps {
            write_step(f, self, step)?;
            writeln!(f)?;
        }
        write!(f, "output")?;
        write_files(f, &self.outputs)?;
        writeln!(f)?;
        write!(f, "# {}: {}", self.strategy, self.cost)?;
        if self.scratch_bytes > 0 {
            write!(f, ", {} bytes of scratch", self.scratch_bytes)?;
        }
        Ok(())
    }
}

fn write_definition(f: &mut fmt::Formatter<'_>, plan: &Plan, file: File) -> fmt::Result {
    let ty = plan.file(file);
    write!(f, "{file}: {} x {} bits", ty.registers, ty.element_bits)
}

/// One step of a plan as text.
pub struct StepText<'a> {
    plan: &'a Plan,
    step: &'a Step,
}

impl Plan {
    /// A step of this plan as text, as in the text of the plan.
    pub fn text_of<'a>(&'a self, step: &'a Step) -> StepText<'a> {
        StepText { plan: self, step }
    }
}

impl fmt::Display for StepText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_step(f, self.plan, self.step)
    }
}

fn write_files(f: &mut fmt::Formatter<'_>, files: &[File]) -> fmt::Result {
    for file in files {
        write!(f, " {file}")?;
    }
    Ok(())
}

fn write_step(f: &mut fmt::Formatter<'_>, plan: &Plan, step: &Step) -> fmt::Result {
    match step {
        Step::Permute { from, to, source } => {
            write_definition(f, plan, *to)?;
            write!(f, " = permute {from} [")?;
            write_list(f, source, ", ", |f, register| write!(f, "{register}"))?;
            f.write_str("]")
        }
        Step::Concat { from, to } => {
            write_definition(f, plan, *to)?;
            f.write_str(" = concat")?;
            write_files(f, from)
        }
        Step::Select { even, odd, to, odd_where: Parity { lane, warp } } => {
            write_definition(f, plan, *to)?;
            write!(f, " = select {even} {odd} by lane {lane:#x} warp {warp:#x}")
        }
        Step::Where { inside, outside, to, threads: Cube { lanes, warps, ones } } => {
            write_definition(f, plan, *to)?;
            let value = u8::from(*ones);
            write!(f, " = where lane {lanes:#x} warp {warps:#x} are {value} {inside} {outside}")
        }
        Step::Bytes { a, b, to, selector } => {
            write_definition(f, plan, *to)?;
            write!(f, " = bytes {a} {b} {:#x}", selector.xor)?;
            if selector.is_constant() {
                return Ok(());
            }
            write!(f, " ^ lane {:x?} warp {:x?}", selector.lane, selector.warp)
        }
        Step::Exchange { from, to, source } => {
            write_definition(f, plan, *to)?;
            write!(f, " = exchange {from} ")?;
            write_lane_map(f, source)
        }
        Step::Shift { from, to, bits, neighbour } => {
            write_definition(f, plan, *to)?;
            let which = match neighbour {
                Neighbour::Before => "before",
                Neighbour::After => "after",
            };
            write!(f, " = shift {from} from {which} along lane bits {bits:?}")
        }
        Step::Affine { from, to, map } => {
            write_definition(f, plan, *to)?;
            write!(f, " = affine {from} ")?;
            write_data_map(f, map)
        }
        Step::Fetch { from, lane, to } => {
            write_definition(f, plan, *to)?;
            write!(f, " = fetch {from} from lane {lane}")
        }
        Step::Pick { even, odd, to, index, bit } => {
            write_definition(f, plan, *to)?;
            write!(f, " = pick {even} {odd} by bit {bit} of {index}")
        }
        Step::Lookup { address, to } => {
            write_definition(f, plan, *to)?;
            write!(f, " = lookup at {address}")
        }
        Step::Zero { to } => {
            write_definition(f, plan, *to)?;
            f.write_str(" = zero")
        }
        Step::Count(count) => write_count(f, count),
        Step::Add { a, b, to } => {
            write_definition(f, plan, *to)?;
            write!(f, " = add {a} {b}")
        }
        Step::Access(access) => write_access(f, plan, access),
        Step::Barrier(scope) => write!(f, "barrier {scope}"),
        Step::Combine { operator, a, b, to, ordered } => {
            for (index, &file) in to.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                write_definition(f, plan, file)?;
            }
            write!(f, " = combine {} (", operator.0)?;
            write_files(f, a)?;
            f.write_str(" ) (")?;
            write_files(f, b)?;
            f.write_str(if *ordered { " ) ordered" } else { " )" })
        }
    }
}

fn write_lane_map(f: &mut fmt::Formatter<'_>, map: &LaneMap) -> fmt::Result {
    if map.is_butterfly() {
        return write!(f, "lane ^ {:#x}", map.xor);
    }
    write!(f, "lane {:?} warp {:?} ^ {:#x}", map.lane, map.warp, map.xor)
}

fn write_data_map(f: &mut fmt::Formatter<'_>, map: &DataMap) -> fmt::Result {
    write!(f, "{:?} lane {:?} warp {:?} ^ [", map.data, map.lane, map.warp)?;
    write_list(f, &map.xor, ", ", |f, xor| write!(f, "{xor}"))?;
    f.write_str("]")
}

fn write_count(f: &mut fmt::Formatter<'_>, count: &Count) -> fmt::Result {
    let Count { numbers, mask, below, map, acting } = count;
    write!(f, "count {numbers} below {below}")?;
    if let Some(mask) = mask {
        write!(f, " where {mask}")?;
    }
    f.write_str(" at ")?;
    write_data_map(f, map)?;
    write_acting(f, *acting)
}

fn write_acting(f: &mut fmt::Formatter<'_>, acting: Acting) -> fmt::Result {
    if acting == Acting::ALL {
        return Ok(());
    }
    write!(f, " idle lane {:#x} warp {:#x}", acting.idle_lanes, acting.idle_warps)
}

fn write_access(f: &mut fmt::Formatter<'_>, plan: &Plan, access: &Access) -> fmt::Result {
    let Access { kind, form, file, groups, lane, warp, acting } = access;
    match kind {
        Kind::Load => {
            write_definition(f, plan, *file)?;
            f.write_str(" = load")?;
        }
        Kind::Store => write!(f, "store {file}")?,
    }
    if let Form::Matrix(matrix) = form {
        write!(f, " matrices of {} rows of {} bits", matrix.rows, matrix.element_bits)?;
        f.write_str(if matrix.transposed { " transposed" } else { "" })?;
    }
    write!(f, " at lane {lane:?} warp {warp:?}")?;
    write_acting(f, *acting)?;
    f.write_str(" ")?;
    write_list(f, groups, " ", |f, group| write!(f, "{:?}@{}", group.registers, group.address))
}

/// How many entries of a list the plain form shows before its last one.
const SHOWN: usize = 3;

fn write_list<T>(
    f: &mut fmt::Formatter<'_>,
    list: &[T],
    between: &str,
    write: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    let hidden = if f.alternate() { 0 } else { list.len().saturating_sub(SHOWN + 1) };
    for (index, entry) in list.iter().enumerate() {
        if hidden > 1 && (SHOWN..SHOWN + hidden).contains(&index) {
            if index == SHOWN {
                write!(f, "{between}({hidden} more)")?;
            }
            continue;
        }
        f.write_str(if index > 0 { between } else { "" })?;
        write(f, entry)?;
    }
    Ok(())
}
