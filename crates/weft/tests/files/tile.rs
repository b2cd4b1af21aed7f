//! What may be asked of a text of Triton's IR:
//!
//! * `module`: how what is read prints, or what is wrong, where, with what belongs to it. What prints reads as
//!   the same;
//! * `facts`: each value that is no float with its contiguity, divisibility and constancy along each dimension,
//!   and the number that it is;
//! * `fused`: the arithmetic of the kernel after products were fused with sums;
//! * `once`: the kernel without loops that run once at most, and without branches that are known;
//! * `first`: the kernel with first rounds of loops apart where a branch tells them from the others;
//! * `whole`: the kernel with whole rounds of loops apart from last ones that are cut short;
//! * `order TARGET`: the operations that touch memory or move numbers between threads, in the order in which they are
//!   compiled;
//! * `homes TARGET`: where each value lives, where each operation runs, and how many elements an access takes;
//! * `ptx TARGET`, `cuda TARGET`, `hip TARGET`: the compiled kernel in that language.
//!
//! The option `warps N` says how many warps a block has, four if nothing is said.

use crate::format::Case;
use std::fmt::Write as _;
use weft::assign::{self, AccessShape, Block};
use weft::axis::AxisFacts;
use weft::budget::Budget;
use weft::compile::{self, Options};
use weft::diagnostic::Diagnostics;
use weft::emit::{self, Language, Target};
use weft::id::Id;
use weft::tile::{self, Kernel, Module, OpKind};
use weft::{first, fuse, natural, once, schedule, ttir, whole};
use weft_layout::machine::Machine;

/// What a command makes of a case.
pub(crate) fn run(case: &Case, words: &[&str]) -> Result<String, String> {
    case.knows(&["warps"])?;
    match words {
        ["module"] => module(&case.input),
        ["facts"] => Ok(facts(&read(case)?.kernels[0])),
        ["once"] => rewritten(&read(case)?.kernels[0], once::run),
        ["first"] => rewritten(&read(case)?.kernels[0], first::run),
        ["whole"] => whole(&read(case)?.kernels[0]),
        ["natural"] => natural(&read(case)?.kernels[0]),
        ["fused"] => fused(&read(case)?.kernels[0]),
        ["order", target] => order(case, &read(case)?.kernels[0], target),
        ["homes", target] => homes(case, &read(case)?.kernels[0], target),
        ["ptx", target] => printed(case, Language::Ptx, target),
        ["cuda", target] => printed(case, Language::Cuda, target),
        ["hip", target] => printed(case, Language::Hip, target),
        _ => Err("this is no command for Triton's IR; `tile.rs` lists them".into()),
    }
}

fn read(case: &Case) -> Result<Module, String> {
    ttir::parse(&case.input).map_err(|errors| complaints(&case.input, &errors))
}

fn machine(name: &str) -> Result<&'static Machine, String> {
    Machine::by_name(name).ok_or_else(|| format!("`{name}` is no machine"))
}

/// The errors as `line:column: message; hint` lines.
fn complaints(text: &str, Diagnostics(errors): &Diagnostics) -> String {
    let mut lines = String::new();
    for error in errors {
        let (line, column) = error.span.line_column(text);
        writeln!(lines, "{line}:{column}: {error}").unwrap();
        for (span, label) in &error.labels {
            let (line, column) = span.line_column(text);
            writeln!(lines, "  {line}:{column}: {label}").unwrap();
        }
    }
    lines
}

fn module(text: &str) -> Result<String, String> {
    let printed = match ttir::parse(text) {
        Ok(module) => module.to_string(),
        Err(errors) => return Ok(complaints(text, &errors)),
    };
    let again = ttir::parse(&printed)
        .map_err(|errors| format!("{}{printed}", complaints(&printed, &errors)))?;
    if again.to_string() == printed {
        Ok(printed)
    } else {
        Err(format!("it prints as\n{printed}\nand that as\n{again}"))
    }
}

/// What stands for any divisibility, as zero has it.
const ANY: u64 = 1 << 62;

fn facts(kernel: &Kernel) -> String {
    let facts = AxisFacts::of(kernel);
    let mut text = String::new();
    for value in kernel.values.keys() {
        if kernel.ty(value).dtype().is_float() {
            continue;
        }
        let known = facts.get(value);
        write!(text, "{:9}", kernel.value_name(value)).unwrap();
        for dim in &known.dims {
            let divisibility = if dim.divisibility == ANY { 0 } else { dim.divisibility };
            write!(text, " {}/{divisibility}/{}", dim.contiguity, dim.constancy).unwrap();
        }
        match known.constant {
            Some(constant) => writeln!(text, " = {constant}").unwrap(),
            None => text.push('\n'),
        }
    }
    text
}

fn fused(kernel: &Kernel) -> Result<String, String> {
    let Some(fused) = fuse::run(kernel, &[]) else { return Ok("not fused".into()) };
    tile::verify(&fused).map_err(|errors| format!("{errors}\n{fused}"))?;
    if fuse::run(&fused, &[]).is_some() {
        return Err(format!("what is fused is fused again:\n{fused}"));
    }
    let mut lines = String::new();
    fused.walk(&fused.body, &mut |_, op| {
        let is_float = op.results.first().is_some_and(|&it| fused.ty(it).dtype().is_float());
        let what = match op.kind {
            OpKind::Constant(bits) if is_float => f32::from_bits(bits as u32).to_string(),
            ref kind @ (OpKind::Unary(_) | OpKind::Binary(_) | OpKind::Fma) if is_float => {
                kind.name()
            }
            _ => return,
        };
        let operands = op.operands.iter().map(|&operand| fused.value_name(operand));
        let words = [fused.value_name(op.results[0]), "=".into(), what].into_iter().chain(operands);
        lines += &format!("{}\n", words.collect::<Vec<_>>().join(" "));
    });
    Ok(lines)
}

fn rewritten(
    kernel: &Kernel,
    rewrite: fn(&Kernel, &AxisFacts) -> Option<Kernel>,
) -> Result<String, String> {
    let Some(new) = rewrite(kernel, &AxisFacts::of(kernel)) else {
        return Ok("as it is".into());
    };
    tile::verify(&new).map_err(|errors| format!("{errors}\n{new}"))?;
    Ok(new.to_string())
}

fn whole(kernel: &Kernel) -> Result<String, String> {
    let Some(whole) = whole::run(kernel, &AxisFacts::of(kernel)) else {
        return Ok("as it is".into());
    };
    tile::verify(&whole.kernel).map_err(|errors| format!("{errors}\n{}", whole.kernel))?;
    let helps = whole.helps(&AxisFacts::of(&whole.kernel));
    Ok(if helps { whole.kernel.to_string() } else { "in two, which does not help".into() })
}

fn natural(kernel: &Kernel) -> Result<String, String> {
    let facts = AxisFacts::of(kernel);
    let Some(natural) = natural::run(kernel, &facts) else { return Ok("as it is".into()) };
    tile::verify(&natural.kernel).map_err(|errors| format!("{errors}\n{}", natural.kernel))?;
    let helps = natural.helps(&facts, &AxisFacts::of(&natural.kernel));
    Ok(if helps { natural.kernel.to_string() } else { "in two versions, which do not help".into() })
}

fn order(case: &Case, kernel: &Kernel, target: &str) -> Result<String, String> {
    let early = schedule::early(kernel, machine(target)?, case.number("warps", 4)?);
    let Some(early) = early else { return Ok("as it is".into()) };
    tile::verify(&early).map_err(|errors| format!("{errors}\n{early}"))?;
    let mut lines = String::new();
    early.walk(&early.body, &mut |_, op| {
        let moves = matches!(op.kind, OpKind::Reduce { .. } | OpKind::Dot(_) | OpKind::If);
        if moves || op.kind.effects().global.any() {
            let results = op.results.iter().chain(op.operands.first()).take(1);
            let named: String = results.map(|&value| early.value_name(value)).collect();
            lines += &format!("{} {named}\n", op.kind.name());
        }
    });
    Ok(lines)
}

fn homes(case: &Case, kernel: &Kernel, target: &str) -> Result<String, String> {
    let machine = machine(target)?;
    let facts = AxisFacts::of(kernel);
    let budget = Budget::default();
    let block = Block { machine, warps: case.number("warps", 4)?, shared_byte: 0, budget: &budget };
    let assignment =
        assign::run(kernel, &facts, block, &[]).map_err(|error| format!("{error:?}"))?;
    let mut text = String::new();
    let mut mentioned = Vec::new();
    for value in kernel.values.keys() {
        let Some(home) = assignment.registers(value) else { continue };
        mentioned.push(home);
        let name = kernel.value_name(value);
        writeln!(text, "{name:12} {} in {home}", kernel.ty(value)).unwrap();
    }
    kernel.walk(&kernel.body, &mut |id, op| {
        let Some(place) = assignment.runs_in(id) else { return };
        mentioned.push(place);
        let what = op.kind.name();
        if !matches!(op.kind, OpKind::Load(_) | OpKind::Store(_)) {
            writeln!(text, "{what} in {place}").unwrap();
            return;
        }
        let layout = assignment.layouts.get(place);
        let shape = AccessShape::of(kernel, &facts, machine, op, layout).unwrap();
        let elements = 1 << shape.vectors.vector_log2;
        let axes: Vec<String> = shape.axes.iter().map(ToString::to_string).collect();
        let axes = axes.join(" and ");
        writeln!(text, "{what} in {place}, {elements} elements along {axes} at once").unwrap();
    });
    mentioned.sort_unstable();
    mentioned.dedup();
    for layout in mentioned {
        writeln!(text, "{layout} (table entry {}):", layout.index()).unwrap();
        writeln!(text, "{}", assignment.layouts.get(layout)).unwrap();
    }
    Ok(text)
}

fn printed(case: &Case, language: Language, target: &str) -> Result<String, String> {
    let module = read(case)?;
    let warps = case.number("warps", 4)?;
    let options = Options { warps, ..Options::for_machine(machine(target)?) };
    let compiled = compile::compile(&module, &module.kernels[0], &options);
    let program = match compiled {
        Ok(compiled) => compiled.program,
        Err(error) => return Ok(error.to_string()),
    };
    let target = Target::by_name(target).ok_or_else(|| format!("`{target}` is no target"))?;
    let text = emit::print(&program, language, target);
    Ok(text.unwrap_or_else(|refused| refused.to_string()))
}
