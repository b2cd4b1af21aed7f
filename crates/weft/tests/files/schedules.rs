//! Lane programs that are right on every schedule, and that are wrong on every one where a line of them is.
//!
//! `schedules` runs a program when what runs on by itself does so as early and as late as it may, and at a thousand
//! random times. The program as it stands has no finding on any of them; neither has what the passes make of it.
//! Each fault has a finding of its kind at its place on all of them. What the program computes it asserts itself.
//! The text says what of it is found on the earliest and on the latest schedule. The options are:
//!
//! * `arg NAME = iota TYPE COUNT` or `arg NAME = empty TYPE COUNT`: the buffers, in order;
//! * `arg NAME = map BUFFER 40x6 strides 160 [nan]`: an argument that maps a tensor which begins where the buffer does,
//!   its extents and the bytes between rows, innermost first;
//! * `grid N`: the blocks, one if nothing is said;
//! * `fault NAME: drop "A"; swap "B" for "C" | KIND at "D"`: the program without its line A, and with B in place of C,
//!   has a finding of this kind at a line with D; several kinds and several texts may stand there with `or` between
//!   them. If the kind is `refused` the verifier refuses it.

use crate::format::Case;
use crate::lane::{read, verified};
use std::fmt::Write as _;
use weft::dtype::DType;
use weft::lane::{Program, Tensor, verify};
use weft::memory::{Buffer, Memory};
use weft::sim::{self, Finding, Launch, Machine, Options, Report, Timing};

/// Random schedules of a program.
const RANDOM: u64 = 1000;

/// An argument.
enum Given {
    /// A buffer's name, whether it holds its indices, its type and how many elements it has.
    Buffer(String, bool, DType, usize),
    Map(Tensor),
}

struct Fault {
    name: String,
    edits: Vec<(String, String)>,
    kinds: Vec<String>,
    /// Texts of the lines where it is found; any line if there are none.
    at: Vec<String>,
}

/// The texts between quotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(str::to_string).collect()
}

impl Fault {
    fn read(text: &str) -> Result<Self, String> {
        let wrong = || format!("`fault {text}` is not `NAME: EDITS | KIND at \"TEXT\"`");
        let (name, rest) = text.split_once(": ").ok_or_else(wrong)?;
        let (edits, found) = rest.split_once(" | ").ok_or_else(wrong)?;
        let edits = edits.split("; ").map(|edit| match &quoted(edit)[..] {
            [line] if edit.starts_with("drop") => Ok((line.clone(), String::new())),
            [from, to] if edit.starts_with("swap") => Ok((from.clone(), to.clone())),
            _ => Err(format!("`{edit}` is not `drop \"A\"` or `swap \"A\" for \"B\"`")),
        });
        let (kinds, at) = found.split_once(" at ").unwrap_or((found, ""));
        let kinds = kinds.split(" or ").map(Into::into).collect();
        Ok(Self {
            name: name.into(),
            edits: edits.collect::<Result<_, _>>()?,
            kinds,
            at: quoted(at),
        })
    }

    /// A text with the edits; lines keep their numbers.
    fn of(&self, text: &str) -> Result<String, String> {
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        for (from, to) in &self.edits {
            let mut found = lines.iter_mut().filter(|line| line.contains(from));
            let line = found.next().ok_or_else(|| format!("{}: no line has {from}", self.name))?;
            if found.next().is_some() {
                return Err(format!("{}: several lines have {from}", self.name));
            }
            *line = if to.is_empty() { String::new() } else { line.replace(from, to) };
        }
        Ok(lines.join("\n"))
    }

    /// Whether a finding is of a kind, and at a line with a text.
    fn is(&self, text: &str, program: &Program, finding: &Finding) -> bool {
        let line = line(text, program, finding);
        self.kinds.contains(&finding.kind.to_string())
            && (self.at.is_empty() || self.at.iter().any(|at| line.contains(at)))
    }

    /// The findings that a report has of the fault, and how many more there are; none if it has none.
    fn found(&self, text: &str, program: &Program, report: &Report) -> Option<String> {
        let (own, others): (Vec<&Finding>, Vec<&Finding>) =
            report.findings.iter().partition(|finding| self.is(text, program, finding));
        if own.is_empty() {
            return None;
        }
        let own = told(text, program, own);
        let others = others.len();
        Some(if others == 0 { own } else { format!("{own}\n    and {others} more") })
    }
}

/// A tensor in the buffer of a name.
fn map(args: &[Given], of: &str, [extents, strides]: [&str; 2], nan: bool) -> Option<Given> {
    let is_it = |given: &Given| matches!(given, Given::Buffer(name, ..) if name == of);
    let buffer = args.iter().position(is_it)?;
    let mut tensor = Tensor { base: Memory::base(buffer), nan, ..Tensor::default() };
    for (numbers, text) in [(&mut tensor.extents[..], extents), (&mut tensor.strides[..], strides)]
    {
        for (place, number) in numbers.iter_mut().zip(text.split('x')) {
            *place = number.parse().ok()?;
        }
    }
    Some(Given::Map(tensor))
}

fn args(case: &Case) -> Result<Vec<Given>, String> {
    let mut args = Vec::new();
    for (_, text) in case.options.iter().filter(|(word, _)| word == "arg") {
        let words: Vec<&str> = text.split_whitespace().collect();
        let given = match words[..] {
            [_, "=", "map", of, extents, "strides", strides, ref nan @ ..] => {
                map(&args, of, [extents, strides], nan == ["nan"])
            }
            [name, "=", how @ ("iota" | "empty"), dtype, count] => DType::by_name(dtype)
                .zip(count.parse().ok())
                .map(|(dtype, count)| Given::Buffer(name.into(), how == "iota", dtype, count)),
            _ => None,
        };
        args.push(given.ok_or_else(|| format!("`arg {text}` is not understood"))?);
    }
    Ok(args)
}

/// What every run of a case takes.
struct Runs {
    args: Vec<Given>,
    grid: u32,
}

impl Runs {
    fn run(&self, program: &Program, timing: Timing) -> Report {
        let mut memory = Memory::default();
        let args = self.args.iter().map(|given| {
            let (name, iota, dtype, count) = match given {
                Given::Buffer(name, iota, dtype, count) => (name, iota, dtype, count),
                Given::Map(tensor) => {
                    let (name, bytes) = ("map".into(), tensor.to_bytes().to_vec());
                    let dtype = DType::I64;
                    return memory.push(Buffer { name, bytes, dtype, initialised: true });
                }
            };
            let size = dtype.bytes() as usize;
            let number = |index: usize| match dtype {
                DType::F16 => u64::from(half::f16::from_f32((index % 17) as f32).to_bits()),
                DType::F32 => u64::from((index as f32).to_bits()),
                _ => index as u64,
            };
            let bytes = (0..*count).flat_map(|index| number(index).to_le_bytes()[..size].to_vec());
            memory.push(Buffer {
                name: name.clone(),
                bytes: if *iota { bytes.collect() } else { vec![0; size * count] },
                dtype: *dtype,
                initialised: *iota,
            })
        });
        let args = args.collect::<Vec<u64>>();
        let (machine, grid) = (Machine::nvidia(), [self.grid, 1, 1]);
        let options = Options { timing, max_steps: 1 << 20, ..Options::default() };
        sim::run(&Launch { program, grid, args: &args, machine: &machine, options }, &mut memory)
            .unwrap()
    }

    /// Refuses a program with a finding on any schedule.
    fn are_clean(&self, what: &str, text: &str, program: &Program) -> Result<(), String> {
        for timing in schedules() {
            let report = self.run(program, timing);
            if !report.is_clean() {
                let told = told(text, program, &report.findings);
                return Err(format!("{what} has findings, {timing:?}:{told}"));
            }
        }
        Ok(())
    }
}

fn schedules() -> impl Iterator<Item = Timing> {
    [Timing::Earliest, Timing::Latest].into_iter().chain((0..RANDOM).map(Timing::Random))
}

/// Findings, a line each, with the lines of the text where they are.
fn told<'a>(
    text: &str,
    program: &Program,
    findings: impl IntoIterator<Item = &'a Finding>,
) -> String {
    findings.into_iter().fold(String::new(), |told, finding| {
        let line = line(text, program, finding);
        format!("{told}\n    {} at `{line}`: {} ({})", finding.kind, finding.message, finding.actor)
    })
}

/// The line of a text that has a finding.
fn line<'a>(text: &'a str, program: &Program, finding: &Finding) -> &'a str {
    let line = program.locations.resolve(finding.actor.loc).map_or(0, |(_, line, _)| line);
    text.lines().nth((line as usize).wrapping_sub(1)).unwrap_or("").trim()
}

/// What is found on the earliest and on the latest schedule.
pub(crate) fn run(case: &Case, program: &Program) -> Result<String, String> {
    let runs = Runs { args: args(case)?, grid: case.number("grid", 1)? };
    runs.are_clean("the program", &case.input, program)?;
    let simple = weft::simplify::run(program.clone());
    verified(&simple)?;
    runs.are_clean("what the passes make of it", &case.input, &simple)?;
    let mut text = String::from("as it stands: no finding\n");
    for (_, fault) in case.options.iter().filter(|(word, _)| word == "fault") {
        let fault = Fault::read(fault)?;
        let wrong = fault.of(&case.input)?;
        let program = read(&wrong)?;
        writeln!(text, "{}:", fault.name).unwrap();
        if fault.kinds == ["refused"] {
            match verify(&program) {
                Ok(()) => return Err(format!("`{}` is not refused", fault.name)),
                Err(errors) => writeln!(text, "  refused: {}", errors.join("\n  ")).unwrap(),
            }
            continue;
        }
        verified(&program).map_err(|error| format!("{}: {error}", fault.name))?;
        let mut ends = Vec::new();
        for timing in schedules() {
            let report = runs.run(&program, timing);
            let Some(found) = fault.found(&wrong, &program, &report) else {
                let told = told(&wrong, &program, &report.findings);
                return Err(format!("`{}` is not found, {timing:?}:{told}", fault.name));
            };
            if ends.len() < 2 {
                ends.push(found);
            }
        }
        let [earliest, latest] = &ends[..] else {
            unreachable!("two schedules are no random ones")
        };
        let both = [("  at the earliest:", earliest), ("  at the latest:", latest)];
        if earliest == latest {
            writeln!(text, "  at the earliest and at the latest:{earliest}").unwrap();
        } else {
            for (when, findings) in both {
                writeln!(text, "{when}{findings}").unwrap();
            }
        }
    }
    Ok(text)
}
