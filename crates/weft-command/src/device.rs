//! A kernel on a GPU: the same PTX, arguments and buffers, compared with the same results.

use crate::failure::Failure;
use crate::output::Output;
use weft_api::answer::{DeviceAnswer, RunAnswer};
use weft_api::layouts;
use weft_api::machines::{IsaAnswer, MachineAnswer};
use weft_api::request::MachinesRequest;
use weft_api::run::{Evaluated, Prepared, Simulated, Value};
use weft_driver::{Arg, Buffer, Device};

/// Launches that are timed together.
const TIMED_LAUNCHES: u32 = 100;

/// Opens a GPU by number.
pub(crate) fn open(ordinal: u32) -> Result<Device, Failure> {
    Ok(Device::open(ordinal)?)
}

/// The newest machine whose code a device runs.
pub(crate) fn target(device: &Device) -> Result<String, Failure> {
    let (major, minor) = device.compute_capability();
    let capability = |machine: &MachineAnswer| match machine.isa {
        IsaAnswer::Ptx(capability) => Some((capability, machine.name.clone())),
        IsaAnswer::Amdgcn => None,
    };
    let machines = layouts::machines(&MachinesRequest::default())?.machines;
    let mut names: Vec<(u32, String)> = machines.iter().filter_map(capability).collect();
    names.sort();
    let oldest = names.first().map(|(_, name)| name.clone()).unwrap_or_default();
    let runs = names.into_iter().rev().find(|(capability, _)| *capability <= major * 10 + minor);
    match runs {
        Some((_, name)) => Ok(name),
        None => {
            let device = device.name().to_owned();
            Err(Failure::Capability { device, major, minor, oldest })
        }
    }
}

/// The code that is launched: the kernel's own PTX, or what a compiler made of its CUDA text.
pub(crate) enum Code {
    /// The PTX that is printed.
    Printed,
    /// The text in PTX, for the driver to compile.
    Compiled(String),
}

/// Launches the kernel once, and adds what it gave to the answer.
pub(crate) fn run(
    device: &Device,
    code: &Code,
    prepared: &Prepared,
    evaluated: &Evaluated,
    simulated: &Simulated,
    time: bool,
    answer: &mut RunAnswer,
) -> Result<(), Failure> {
    // What does not end on the simulator would not end here, and what leaves its buffers would
    // write over others.
    let report = evaluated.outcome.as_ref().ok().filter(|_| simulated.report.is_clean());
    let Some(report) = report else {
        Output::note("note: not run on the device, because of what the simulator found");
        return Ok(());
    };
    let kernel = &prepared.kernel;
    let function = match code {
        Code::Printed => device.load_ptx(&kernel.ptx()?)?.function(&kernel.symbol())?,
        Code::Compiled(ptx) => device.load_ptx(ptx)?.function(&kernel.cuda_symbol())?,
    };
    let mut buffers = Vec::new();
    for buffer in prepared.memory.buffers() {
        let mut copy = device.alloc(buffer.bytes.len())?;
        copy.copy_in(&buffer.bytes)?;
        buffers.push(copy);
    }
    let program = kernel.program();
    let launch = |arguments: &[Arg<'_>]| {
        function.launch(prepared.grid, program.threads(), program.shared_bytes, arguments)
    };
    launch(&arguments(&prepared.arguments, &buffers, code))?;
    let mut memory = prepared.memory.clone();
    for (index, buffer) in buffers.iter().enumerate() {
        memory.bytes_mut(index).copy_from_slice(&buffer.copy_out()?);
    }
    let against_evaluator = prepared.check(&evaluated.memory, &memory, report);
    answer.passed &= against_evaluator.iter().all(|buffer| buffer.agrees);
    let (major, minor) = device.compute_capability();
    answer.device = Some(DeviceAnswer {
        name: device.name().to_owned(),
        capability: format!("sm_{major}{minor}"),
        buffers: against_evaluator,
        simulator: prepared.check(&simulated.memory, &memory, report),
    });
    if time {
        // A kernel with atomics may wait for a count that only a fresh buffer leads to.
        let launches = if simulated.report.atomics > 0 { 1 } else { TIMED_LAUNCHES };
        for (copy, buffer) in buffers.iter_mut().zip(prepared.memory.buffers()) {
            copy.copy_in(&buffer.bytes)?;
        }
        let arguments = arguments(&prepared.arguments, &buffers, code);
        let microseconds = device.time(launches, || launch(&arguments))?;
        Output::note(&format!("{:10} {microseconds:10.3} µs a launch", "device"));
    }
    Ok(())
}

/// The kernel's arguments; those of the printed PTX end in Triton's two further pointers, which a kernel
/// without scratch memory ignores.
fn arguments<'a>(values: &[Value], buffers: &'a [Buffer], code: &Code) -> Vec<Arg<'a>> {
    let argument = |value: &Value| match *value {
        Value::Buffer(index) => buffers.get(index).map_or(Arg::I64(0), Arg::Pointer),
        // Only the width decides how an argument travels.
        Value::Scalar { dtype, bits } => match dtype.bytes() {
            1 => Arg::I8(bits as i8),
            2 => Arg::I16(bits as i16),
            4 => Arg::I32(bits as i32),
            _ => Arg::I64(bits as i64),
        },
    };
    let scratch: &[Arg<'_>] = match code {
        Code::Printed => &[Arg::I64(0), Arg::I64(0)],
        Code::Compiled(_) => &[],
    };
    values.iter().map(argument).chain(scratch.iter().copied()).collect()
}
