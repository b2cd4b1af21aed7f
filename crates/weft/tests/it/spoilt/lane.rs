//! Changes of the program of one thread, and what must hold of whatever is still accepted.

use arbitrary::Arbitrary;
use weft::emit::{self, Language, Target};
use weft::lane::{self, Inst, Program, Region, Value};
use weft::memory::Memory;
use weft::sim::{self, Launch, Machine};
use weft::simplify;

/// One way to spoil a program; numbers are taken modulo what there is.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Edit {
    Operand { inst: u16, operand: u8, value: u16 },
    DropOperand { inst: u16, operand: u8 },
    AddOperand { inst: u16, value: u16 },
    DropResult { inst: u16, result: u8 },
    AddResult { inst: u16, value: u16 },
    Op { inst: u16, like: u16 },
    Type { value: u16, like: u16 },
    Drop { region: u8, index: u16 },
    Repeat { region: u8, index: u16, at: u16 },
    Swap { region: u8, one: u16, other: u16 },
    DropRegion { inst: u16 },
    AddRegion { inst: u16, like: u16 },
    Parameter { region: u8, value: u16 },
    Piece { bytes: u16 },
}

/// The region with a number, in the order of the operations that own them.
fn region(program: &mut Program, number: u8) -> &mut Region {
    let owners: Vec<(Inst, usize)> = (program.insts.iter())
        .flat_map(|(id, inst)| (0..inst.regions.len()).map(move |index| (id, index)))
        .collect();
    match owners.get(usize::from(number) % (owners.len() + 1)) {
        Some(&(owner, index)) => &mut program.insts[owner].regions[index],
        None => &mut program.body,
    }
}

pub(crate) fn spoil(program: &mut Program, edit: Edit) {
    let insts: Vec<Inst> = program.insts.keys().collect();
    let values: Vec<Value> = program.values.keys().collect();
    if insts.is_empty() || values.is_empty() {
        return;
    }
    let inst = |number: u16| insts[usize::from(number) % insts.len()];
    let value = |number: u16| values[usize::from(number) % values.len()];
    let within = |number: u16, count: usize| usize::from(number) % count.max(1);
    match edit {
        Edit::Operand { inst: at, operand, value: new } => {
            let operands = &mut program.insts[inst(at)].operands;
            let index = within(operand.into(), operands.len());
            if let Some(operand) = operands.get_mut(index) {
                *operand = value(new);
            }
        }
        Edit::DropOperand { inst: at, operand } => {
            let operands = &mut program.insts[inst(at)].operands;
            if !operands.is_empty() {
                operands.remove(within(operand.into(), operands.len()));
            }
        }
        Edit::AddOperand { inst: at, value: new } => {
            program.insts[inst(at)].operands.push(value(new));
        }
        Edit::DropResult { inst: at, result } => {
            let results = &mut program.insts[inst(at)].results;
            if !results.is_empty() {
                results.remove(within(result.into(), results.len()));
            }
        }
        Edit::AddResult { inst: at, value: new } => {
            program.insts[inst(at)].results.push(value(new));
        }
        Edit::Op { inst: at, like } => {
            program.insts[inst(at)].op = program.insts[inst(like)].op.clone();
        }
        Edit::Type { value: at, like } => {
            program.values[value(at)].dtype = program.values[value(like)].dtype;
        }
        Edit::Drop { region: at, index } => {
            let insts = &mut region(program, at).insts;
            if !insts.is_empty() {
                insts.remove(within(index, insts.len()));
            }
        }
        Edit::Repeat { region: at, index, at: to } => {
            let insts = &mut region(program, at).insts;
            if let Some(&again) = insts.get(within(index, insts.len())) {
                insts.insert(within(to, insts.len()), again);
            }
        }
        Edit::Swap { region: at, one, other } => {
            let insts = &mut region(program, at).insts;
            if !insts.is_empty() {
                let (one, other) = (within(one, insts.len()), within(other, insts.len()));
                insts.swap(one, other);
            }
        }
        Edit::DropRegion { inst: at } => drop(program.insts[inst(at)].regions.pop()),
        Edit::AddRegion { inst: at, like } => {
            let regions = program.insts[inst(like)].regions.clone();
            program.insts[inst(at)].regions.extend(regions);
        }
        Edit::Parameter { region: at, value: new } => {
            region(program, at).params.push(value(new));
        }
        Edit::Piece { bytes } => {
            if let Some(piece) = program.shared.keys().next() {
                program.shared[piece].bytes = bytes.into();
            }
        }
    }
}

/// What any program that is accepted must bear: the passes leave one that is accepted too and does the
/// same, it is printed or refused, and the simulator comes to an end. Says whether it was accepted.
pub(crate) fn bear(program: &Program, machine: &Machine, args: &[u64], memory: &Memory) -> bool {
    if lane::verify(program).is_err() {
        return false;
    }
    for name in ["sm_90", "gfx942"] {
        let target = Target::by_name(name).expect("a target of the table");
        for language in [Language::Ptx, Language::Cuda, Language::Hip] {
            let _text = emit::print(program, language, target);
        }
    }
    let simpler = simplify::run(program.clone());
    if let Err(errors) = lane::verify(&simpler) {
        panic!("the passes broke a program: {errors:?}\n{program}");
    }
    let options = sim::Options { max_steps: 1 << 14, ..sim::Options::default() };
    let run = |program: &Program| {
        let mut memory = memory.clone();
        let launch = Launch { program, grid: [2, 1, 1], args, machine, options };
        let report = sim::run(&launch, &mut memory);
        report.ok().filter(sim::Report::is_clean).map(|_| memory)
    };
    // What a faulty program computes is nobody's promise.
    if let (Some(before), Some(after)) = (run(program), run(&simpler)) {
        assert!(before == after, "the passes changed what a program does:\n{program}\n{simpler}");
    }
    true
}
