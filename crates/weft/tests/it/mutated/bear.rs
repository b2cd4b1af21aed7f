//! What any verified kernel must bear, whatever it means.

use weft::compile::{self, CompileError, Options};
use weft::emit::{self, Language, Target};
use weft::memory::{Buffer, Memory};
use weft::sim::{self, Launch};
use weft::tile::{Kernel, Module, eval};
use weft_layout::machine::Machine;

/// The most elements of all values together: what is larger only takes longer.
const MOST_ELEMENTS: u64 = 1 << 17;

const MACHINES: [&str; 8] =
    ["sm_80", "sm_89", "sm_90", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200"];

/// Compiles for one of the machines, prints in every language, evaluates and simulates for a while: it
/// may be refused and may find faults, but nothing panics, and no pass leaves a broken program.
pub(crate) fn bear(
    module: &Module,
    kernel: &Kernel,
    choice: usize,
    run: Option<(Vec<u64>, Memory)>,
) {
    let elements = kernel.values.values().map(|value| value.ty.elements());
    if elements.fold(0, u64::saturating_add) > MOST_ELEMENTS {
        return;
    }
    let name = MACHINES[choice % MACHINES.len()];
    let machine = Machine::by_name(name).expect("a machine of the table");
    let warps = module.launch.warps.unwrap_or(1 << (choice / MACHINES.len() % 4));
    let options = Options { warps, verify_each: true, ..Options::for_machine(machine) };
    let compiled = match compile::compile(module, kernel, &options) {
        Ok(compiled) => compiled,
        Err(error @ CompileError::Broken { .. }) => panic!("{error}\n{kernel}"),
        Err(_) => return,
    };
    if let Some(target) = Target::by_name(name) {
        for language in [Language::Ptx, Language::Cuda, Language::Hip] {
            let _text = emit::print(&compiled.program, language, target);
        }
    }
    let (args, memory) = run.unwrap_or_else(|| arguments(kernel));
    let options = eval::Options { max_steps: 1 << 10, ..eval::Options::default() };
    let _outcome = eval::run(kernel, [2, 1, 1], &args, &mut memory.clone(), options);
    let launch = Launch {
        program: &compiled.program,
        grid: [2, 1, 1],
        args: &args,
        machine: &compile::simulated(machine, 8),
        options: sim::Options { max_steps: 1 << 14, ..sim::Options::default() },
    };
    let _outcome = sim::run(&launch, &mut memory.clone());
}

/// A small buffer for each pointer, and small numbers.
fn arguments(kernel: &Kernel) -> (Vec<u64>, Memory) {
    let mut memory = Memory::default();
    let args = kernel.arguments().map(|(param, value)| match kernel.ty(value).element.pointee() {
        None => 3,
        Some(dtype) => {
            let bytes = (0..4096_u32).map(|index| (index % 31) as u8).collect();
            memory.push(Buffer { name: param.name.clone(), bytes, dtype, initialised: true })
        }
    });
    (args.collect(), memory)
}
