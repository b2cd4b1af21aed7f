//! Lane programs as text files, run on every schedule.
//!
//! A file in `tests/lanes` is a program with what it is to show in comments that begin with `//!`:
//!
//! * `arg NAME = iota TYPE COUNT` or `arg NAME = empty TYPE COUNT`: the buffers, in order;
//! * `arg NAME = map BUFFER 40x6 strides 160 [nan]`: an argument that maps a tensor which begins where the buffer does,
//!   its extents and the bytes between rows, innermost first;
//! * `grid N`: the blocks, one if nothing is said;
//! * `fault NAME: drop "A"; swap "B" for "C" | KIND at "D"`: the program without its line A, and with B in place of C,
//!   has a finding of this kind at a line with D; several kinds and several texts may stand there with `or` between
//!   them. If the kind is `refused` the verifier refuses it.
//!
//! The program as it stands has no finding when what runs on by itself does so as early and as late as it may, and
//! on a thousand random schedules. Each fault is found on the earliest, the latest, and on twenty random ones.
//! What it computes it asserts itself.

use std::path::Path;
use weft::dtype::DType;
use weft::lane::{self, Program, Tensor};
use weft::memory::{Buffer, Memory};
use weft::sim::{self, FindingKind, Launch, Machine, Options, Report, Timing};

struct Case {
    name: String,
    text: String,
    args: Vec<Given>,
    grid: u32,
    faults: Vec<Fault>,
}

/// An argument.
enum Given {
    /// A buffer's name, whether it holds its indices, its type and how many elements it has.
    Buffer(String, bool, DType, usize),
    Map(Tensor),
}

struct Fault {
    name: String,
    edits: Vec<(String, String)>,
    kind: String,
    at: Vec<String>,
}

/// The texts between quotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(str::to_string).collect()
}

fn fault(text: &str) -> Fault {
    let (name, rest) = text.split_once(": ").expect("a fault has a name");
    let (edits, found) = rest.split_once(" | ").expect("a fault has a finding");
    let edits = edits.split("; ").map(|edit| match &quoted(edit)[..] {
        [line] if edit.starts_with("drop") => (line.clone(), String::new()),
        [from, to] if edit.starts_with("swap") => (from.clone(), to.clone()),
        _ => panic!("{edit}: drop \"A\" or swap \"A\" for \"B\""),
    });
    let (kind, at) = found.split_once(" at ").unwrap_or((found, "\"\""));
    Fault { name: name.into(), edits: edits.collect(), kind: kind.into(), at: quoted(at) }
}

/// A tensor in the buffer of a name.
fn map(args: &[Given], of: &str, [extents, strides]: [&str; 2], nan: bool) -> Given {
    let is_it = |given: &Given| matches!(given, Given::Buffer(name, ..) if name == of);
    let buffer = args.iter().position(is_it).expect("a map is of a buffer before it");
    let mut tensor = Tensor { base: Memory::base(buffer), nan, ..Tensor::default() };
    for (numbers, text) in [(&mut tensor.extents[..], extents), (&mut tensor.strides[..], strides)]
    {
        for (place, number) in numbers.iter_mut().zip(text.split('x')) {
            *place = number.parse().unwrap();
        }
    }
    Given::Map(tensor)
}

fn case(path: &Path) -> Case {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let (mut args, mut faults, mut grid) = (Vec::new(), Vec::new(), 1);
    for line in text.lines().filter_map(|line| line.strip_prefix("//! ")) {
        if let Some(rest) = line.strip_prefix("arg ") {
            let words: Vec<&str> = rest.split_whitespace().collect();
            if let [_, "=", "map", of, extents, "strides", strides, nan @ ..] = &words[..] {
                args.push(map(&args, of, [extents, strides], *nan == ["nan"]));
                continue;
            }
            let [name, "=", how @ ("iota" | "empty"), dtype, count] = words[..] else {
                panic!("{line}");
            };
            let dtype = DType::by_name(dtype).unwrap();
            args.push(Given::Buffer(name.into(), how == "iota", dtype, count.parse().unwrap()));
        } else if let Some(rest) = line.strip_prefix("grid ") {
            grid = rest.parse().unwrap();
        } else if let Some(rest) = line.strip_prefix("fault ") {
            faults.push(fault(rest));
        } else {
            panic!("{name}: `{line}` says nothing that is known");
        }
    }
    Case { name, text, args, grid, faults }
}

impl Case {
    /// The text with the edits of a fault; lines keep their numbers.
    fn text_with(&self, fault: &Fault) -> String {
        let mut lines: Vec<String> = self.text.lines().map(str::to_string).collect();
        for (from, to) in &fault.edits {
            let is_code = |line: &&mut String| !line.starts_with("//!") && line.contains(from);
            let mut found = lines.iter_mut().filter(is_code);
            let line = found.next().unwrap_or_else(|| panic!("{}: no line has {from}", fault.name));
            assert!(found.next().is_none(), "{}: several lines have {from}", fault.name);
            *line = if to.is_empty() { String::new() } else { line.replace(from, to) };
        }
        lines.join("\n")
    }

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

    /// Whether a report has a finding of a kind at a line with a text.
    fn finds(&self, program: &Program, report: &Report, fault: &Fault) -> bool {
        let text = self.text_with(fault);
        report.findings.iter().any(|finding| {
            let line = program.locations.resolve(finding.actor.loc).map_or(0, |(_, line, _)| line);
            let line = text.lines().nth((line as usize).wrapping_sub(1)).unwrap_or("");
            let mut kinds = fault.kind.split(" or ");
            kinds.any(|kind| kind == finding.kind.to_string())
                && fault.at.iter().any(|at| line.contains(at))
        })
    }
}

fn read(text: &str, name: &str) -> Program {
    lane::read(text, name).unwrap_or_else(|error| panic!("{error}"))
}

/// The findings of a report, a line each.
fn told(report: &Report) -> String {
    report.findings.iter().fold(String::new(), |told, finding| format!("{told}\n    {finding}"))
}

fn each(mut check: impl FnMut(&Case)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lanes");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in &paths {
        check(&case(path));
    }
}

fn schedules(random: u64) -> impl Iterator<Item = Timing> {
    [Timing::Earliest, Timing::Latest].into_iter().chain((0..random).map(Timing::Random))
}

#[test]
fn right_programs_have_no_finding_on_any_schedule() {
    each(|case| {
        let program = read(&case.text, &case.name);
        lane::verify(&program).unwrap_or_else(|errors| panic!("{}: {errors:?}", case.name));
        for timing in schedules(1000) {
            let report = case.run(&program, timing);
            assert!(report.is_clean(), "{} {timing:?}: {}", case.name, told(&report));
        }
    });
}

#[test]
fn each_fault_is_found_at_its_place_on_every_schedule() {
    let mut missed = Vec::new();
    each(|case| {
        for fault in &case.faults {
            let what = format!("{}: {}", case.name, fault.name);
            let program = read(&case.text_with(fault), &case.name);
            if fault.kind == "refused" {
                assert!(lane::verify(&program).is_err(), "{what}");
                continue;
            }
            lane::verify(&program).unwrap_or_else(|errors| panic!("{what}: {errors:?}"));
            for timing in schedules(20) {
                let report = case.run(&program, timing);
                if !case.finds(&program, &report, fault) {
                    missed.push(format!("{what}, {timing:?}: {}", told(&report)));
                    break;
                }
            }
        }
    });
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn texts_are_read_as_they_are_written() {
    each(|case| {
        let program = read(&case.text, &case.name);
        let text = program.to_string();
        let again = read(&text, &case.name);
        assert_eq!(again.to_string(), text, "{}", case.name);
    });
}

#[test]
fn simplified_programs_do_the_same() {
    each(|case| {
        let program = weft::simplify::run(read(&case.text, &case.name));
        lane::verify(&program)
            .unwrap_or_else(|errors| panic!("{}: {errors:?}\n{program}", case.name));
        for timing in schedules(100) {
            let report = case.run(&program, timing);
            assert!(report.is_clean(), "{} {timing:?}: {}", case.name, told(&report));
        }
    });
}

#[test]
fn kinds_have_the_names_that_faults_use() {
    let kinds = [FindingKind::InFlight, FindingKind::Unfenced, FindingKind::Phase];
    assert_eq!(kinds.map(|kind| kind.to_string()), ["in flight", "unfenced", "phase"]);
}
