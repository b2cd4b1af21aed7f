//! One movement as a device function: registers in, registers out.
//!
//! ```
//! use weft::{conversion, dtype::DType};
//! use weft::emit::{cuda, ptx::Target};
//! use weft_layout::{Machine, family::Blocked, plan};
//!
//! let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
//! let rows = Blocked::new(&[1, 4], &[2, 16], &[1, 1], &[1, 0]).layout(&[2, 64])?;
//! let columns = Blocked::new(&[2, 2], &[1, 32], &[1, 1], &[0, 1]).layout(&[2, 64])?;
//! let plan = plan::convert(&rows, &columns, 32, machine)?;
//! let program = conversion::function("turn", &plan, DType::F32)?;
//!
//! let target = Target::by_name("sm_90").ok_or("no such target")?;
//! let text = cuda::function(&program, target, &["Two rows, turned.".into()])?;
//! assert!(text.contains("void turn(const float (&from)[4], float (&to)[4])"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::dtype::DType;
use crate::lane::{Builder, Param, Program};
use crate::location::{Location, Locations};
use crate::movement::{self, Misfit, Movement};
use crate::simplify;
use weft_layout::access::Kind;
use weft_layout::step::{Plan, Step};

/// A function around a plan of one tensor of elements `dtype`, simplified.
///
/// Its parameters are the registers of the plan's input, its results those of the output, its shared
/// memory the plan's scratch memory. Each operation's place is a note that names the step it is of.
/// Whoever calls it twice with the same memory waits in between.
pub fn function(name: &str, plan: &Plan, dtype: DType) -> Result<Program, Misfit> {
    let warps = 1u32.checked_shl(plan.warp_bits).unwrap_or(u32::MAX);
    let mut build = Builder::new(name, warps, plan.lane_bits);
    let count = plan.inputs.first().map_or(0, |&input| plan.file(input).registers);
    let from = (0..count).map(|index| Param {
        name: format!("from{index}"),
        dtype,
        pointee: None,
        divisibility: 1,
    });
    let inputs = vec![from.map(|param| build.param(param)).collect()];
    let places: Vec<_> = notes(plan)
        .into_iter()
        .map(|note| build.add_location(Location::Noted { note, of: Locations::unknown() }))
        .collect();
    let movement = Movement { plan, inputs, places: &places };
    let mut outputs =
        movement::write_together(&mut build, vec![movement], &mut |_, left, _| left.to_vec())?;
    let outputs = outputs.pop().and_then(|mut files| files.pop()).unwrap_or_default();
    let program = build.finish_with(&outputs);
    Ok(simplify::run(program))
}

/// For each step what it moves, in a sentence and as the plan's text has it.
pub fn notes(plan: &Plan) -> Vec<String> {
    let text = plan.to_string();
    let lines = text.lines().skip(plan.inputs.len());
    let steps = plan.steps.iter().zip(lines).enumerate();
    steps
        .map(|(index, (step, line))| {
            format!("step {}, {}: {}", index + 1, sentence(plan, step), line.trim())
        })
        .collect()
}

/// A step of a plan in a few words: `4 registers from another lane`, `2 stores of 16 bytes`.
pub fn sentence(plan: &Plan, step: &Step) -> String {
    let plural = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let registers = |file| plural(plan.file(file).registers as usize, "register");
    match step {
        Step::Permute { to, .. } => format!("{} renamed, which is free", registers(*to)),
        Step::Concat { to, .. } => format!("{} put side by side, which is free", registers(*to)),
        Step::Select { to, .. } | Step::Where { to, .. } => {
            format!("each thread picks {} out of two files", registers(*to))
        }
        Step::Pick { to, .. } => {
            format!("{} picked out of two files by a bit of the data", registers(*to))
        }
        Step::Affine { to, .. } => format!("{} computed from the data", registers(*to)),
        Step::Fetch { to, .. } => format!("{} from the lanes that the data name", registers(*to)),
        Step::Lookup { to, .. } => format!("{} loaded from where the data say", registers(*to)),
        Step::Zero { to } => format!("{} of zeros", registers(*to)),
        Step::Count(count) => format!("{} counted in memory", registers(count.numbers)),
        Step::Add { to, .. } => format!("{} of sums", registers(*to)),
        Step::Shift { to, .. } => format!("{} from a neighbouring lane", registers(*to)),
        Step::Bytes { to, .. } => format!("{} put together from bytes", registers(*to)),
        Step::Exchange { to, .. } => format!("{} from another lane", registers(*to)),
        Step::Barrier(scope) => format!("the {scope} waits"),
        Step::Combine { to, .. } => format!("{} combined", plural(to.len(), "operand")),
        Step::Access(access) => {
            let elements = access.groups.first().map_or(0, |group| group.registers.len());
            let bytes = elements * plan.file(access.file).element_bits as usize / 8;
            let what = match access.kind {
                Kind::Load => "load",
                Kind::Store => "store",
            };
            format!("{} of {}", plural(access.groups.len(), what), plural(bytes, "byte"))
        }
    }
}
