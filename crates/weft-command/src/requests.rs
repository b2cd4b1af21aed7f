//! What each subcommand does: make a request, have it answered, print the answer.

use crate::arguments::{
    Compile, Conflicts, Convert, Explain, How, Kernel, Layout, Machines, Paper, Port, Run, Swizzle,
};
use crate::failure::Failure;
use crate::input;
use crate::output::Output;
use crate::progress::{counting, waiting};
use crate::triton::For;
use crate::{Outcome, batch, device};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;
use weft_api::invoke::{self, text_of};
use weft_api::request::{
    Arguments, CompileRequest, ConflictsRequest, ConvertRequest, DEFAULT_TARGET, Emit,
    EmitConversion, EmitPort, ExplainRequest, Format, LayoutRequest, MachinesRequest, PaperRequest,
    PortRequest, RunRequest, SwizzleRequest,
};
use weft_api::run::Prepared;
use weft_api::view::Colours;
use weft_api::{
    conflicts as counted, conversions, explain as explained, layouts, paper as tables,
    port as ported, report, swizzles,
};

/// The command `weft machines`.
pub(crate) fn machines(arguments: &Machines, output: &mut Output) -> Result<Outcome, Failure> {
    let target = arguments.machine.as_deref().map(input::target).transpose()?;
    let answer = layouts::machines(&MachinesRequest { target })?;
    // One machine is printed as it can be read back.
    let alone = arguments.machine.as_ref().and_then(|_| answer.machines.first());
    match (alone, arguments.json) {
        (Some(machine), true) => output.line(&text_of(machine))?,
        (Some(machine), false) => output.text(&report::machine(machine))?,
        (None, true) => output.line(&text_of(&answer))?,
        (None, false) => output.text(&report::machines(&answer))?,
    }
    Ok(Outcome::Good)
}

/// The command `weft layout`.
pub(crate) fn layout(arguments: &Layout, output: &mut Output) -> Result<Outcome, Failure> {
    if let Some(batch) = &arguments.batch {
        return batch::run("layout", batch, output);
    }
    let request = LayoutRequest {
        attribute: arguments.attribute.clone().unwrap_or_default().into(),
        shape: arguments.shape.clone().map_or_else(Vec::new, |shape| shape.0),
        element: arguments.element.clone(),
        element_bits: None,
        format: arguments.format,
        picture: arguments.picture,
        slice: arguments.slice.clone().map_or_else(Vec::new, |slice| slice.0),
        all: arguments.all,
        target: input::target(&arguments.target)?,
        names: !arguments.no_names,
    };
    if arguments.json {
        let answer = timed("layout", arguments.time, || invoke::layout(&request))?;
        output.line(&text_of(&answer))?;
        return Ok(Outcome::Good);
    }
    let picture = timed("layout", arguments.time, || {
        let answer = layouts::layout(&request)?;
        let format = request.format.unwrap_or(Format::Text);
        invoke::picture(&request, &answer, format, output.colours())
    })?;
    output.text(&picture)?;
    Ok(Outcome::Good)
}

/// The command `weft convert`.
pub(crate) fn convert(arguments: &Convert, output: &mut Output) -> Result<Outcome, Failure> {
    if let Some(batch) = &arguments.batch {
        return batch::run("convert", batch, output);
    }
    let request = ConvertRequest {
        from: arguments.from.clone().unwrap_or_default().into(),
        to: arguments.to.clone().unwrap_or_default().into(),
        shape: arguments.tensor.shape(),
        element: arguments.tensor.element.clone(),
        element_bits: None,
        target: input::target(&arguments.tensor.target)?,
        // The answer in JSON holds the plan anyway.
        emit: arguments.emit.or((!arguments.json).then_some(EmitConversion::Plan)),
    };
    let colours = if arguments.json { Colours::Off } else { output.colours() };
    let answer = timed("convert", arguments.time, || conversions::convert_for(&request, colours))?;
    if arguments.json {
        output.line(&text_of(&answer))?;
    } else {
        output.text(answer.text.as_deref().unwrap_or_default())?;
    }
    Ok(Outcome::Good)
}

/// The command `weft swizzle`.
pub(crate) fn swizzle(arguments: &Swizzle, output: &mut Output) -> Result<Outcome, Failure> {
    if let Some(batch) = &arguments.batch {
        return batch::run("swizzle", batch, output);
    }
    let also = arguments.also.iter().map(|name| input::target(name));
    let request = SwizzleRequest {
        store: arguments.store.clone().unwrap_or_default().into(),
        loads: arguments.loads.iter().cloned().map(Into::into).collect(),
        shape: arguments.tensor.shape(),
        element: arguments.tensor.element.clone(),
        element_bits: None,
        target: input::target(&arguments.tensor.target)?,
        also: also.collect::<Result<_, _>>()?,
        weights: arguments.weights.clone(),
        scratch_bytes: arguments.scratch,
        trace: arguments.trace,
        matrix_moves: arguments.no_matrix_moves.then_some(false),
    };
    let answer = timed("swizzle", arguments.time, || swizzles::swizzle(&request))?;
    if arguments.json {
        output.line(&text_of(&answer))?;
    } else {
        output.text(&report::swizzle(&answer))?;
    }
    Ok(Outcome::Good)
}

/// The command `weft conflicts`.
pub(crate) fn conflicts(arguments: &Conflicts, output: &mut Output) -> Result<Outcome, Failure> {
    if let Some(batch) = &arguments.batch {
        return batch::run("conflicts", batch, output);
    }
    let request = ConflictsRequest {
        registers: arguments.registers.clone().unwrap_or_default().into(),
        memory: arguments.memory.clone().unwrap_or_default().into(),
        shape: arguments.tensor.shape(),
        element: arguments.tensor.element.clone(),
        element_bits: None,
        target: input::target(&arguments.tensor.target)?,
        kind: arguments.kind,
    };
    let answer = timed("conflicts", arguments.time, || counted::conflicts(&request))?;
    if arguments.json {
        output.line(&text_of(&answer))?;
    } else {
        output.text(&report::conflicts(&answer))?;
    }
    Ok(Outcome::Good)
}

/// The command `weft port`.
pub(crate) fn port(arguments: &Port, output: &mut Output) -> Result<Outcome, Failure> {
    if let Some(batch) = &arguments.batch {
        return batch::run("port", batch, output);
    }
    let (from, target) = (input::target(&arguments.from)?, input::target(&arguments.target)?);
    let what = For { kernel: arguments.name.as_deref(), target: &from, warps: None };
    let source = arguments.file.as_ref();
    let source = source.map(|file| input::kernel(file, &arguments.python, what)).transpose()?;
    let request = PortRequest {
        ttir: source.as_ref().map(|source| source.text.clone()),
        kernel: arguments.name.clone(),
        warps: arguments.warps,
        store: arguments.store.clone().map(Into::into),
        loads: arguments.loads.iter().cloned().map(Into::into).collect(),
        memory: arguments.memory.clone().map(Into::into),
        shape: arguments.shape.clone().map_or_else(Vec::new, |shape| shape.0),
        element: arguments.element.clone(),
        element_bits: None,
        from,
        target: Some(target),
        // The answer in JSON says what a report tells.
        emit: (!arguments.json || arguments.emit != EmitPort::Report).then_some(arguments.emit),
    };
    let answer =
        timed("port", arguments.time, || ported::port(&request)).map_err(
            |error| match &source {
                Some(source) => Failure::about(source, error),
                None => error.into(),
            },
        )?;
    if arguments.json {
        output.line(&text_of(&answer))?;
    } else {
        output.text(answer.text.as_deref().unwrap_or_default())?;
    }
    Ok(Outcome::Good)
}

/// The command `weft compile`.
pub(crate) fn compile(arguments: &Compile, output: &mut Output) -> Result<Outcome, Failure> {
    if let Some(batch) = &arguments.batch {
        return batch::run("compile", batch, output);
    }
    let file = arguments.file.as_deref().unwrap_or(Path::new("-"));
    let Kernel { target, how } = &arguments.kernel;
    let How { warps, stages, no_fp_fusion, name, pins } = how;
    let target = input::target(target)?;
    let what = For { kernel: name.as_deref(), target: &target, warps: *warps };
    let source = input::kernel(file, &arguments.python, what)?;
    let request = CompileRequest {
        ttir: source.text.clone(),
        kernel: name.clone(),
        target,
        warps: *warps,
        stages: *stages,
        fp_fusion: no_fp_fusion.then_some(false),
        pins: pins.clone(),
        emit: if arguments.dump_after.is_some() { Vec::new() } else { vec![arguments.emit] },
        dump_after: arguments.dump_after.clone(),
        max_registers: arguments.max_registers,
        line_info: arguments.line_info,
        text_places: false,
    };
    let answer = timed("compile", arguments.time, || invoke::compile(&request))
        .map_err(|error| Failure::about(&source, error))?;
    let text = if arguments.json {
        text_of(&answer) + "\n"
    } else {
        let text = match (&arguments.dump_after, arguments.emit) {
            (Some(_), _) => answer.dump,
            (None, Emit::Tile) => answer.tile,
            (None, Emit::Ttgir) => answer.ttgir,
            (None, Emit::Ptx) => answer.ptx,
            (None, Emit::Cuda) => answer.cuda,
            (None, Emit::Hip) => answer.hip,
            (None, Emit::Lane) => answer.lane,
            (None, Emit::Report) => answer.report,
            (None, Emit::Launcher) => answer.c_launcher,
        };
        text.unwrap_or_default()
    };
    output.to(arguments.output.as_deref(), &text)?;
    Ok(Outcome::Good)
}

/// The command `weft explain`.
pub(crate) fn explain(arguments: &Explain, output: &mut Output) -> Result<Outcome, Failure> {
    let Kernel { target, how } = &arguments.kernel;
    let How { warps, stages, no_fp_fusion, name, pins } = how;
    let target = input::target(target)?;
    let what = For { kernel: name.as_deref(), target: &target, warps: *warps };
    let source = input::kernel(&arguments.file, &arguments.python, what)?;
    let request = ExplainRequest {
        ttir: source.text.clone(),
        kernel: name.clone(),
        target,
        warps: *warps,
        stages: *stages,
        fp_fusion: no_fp_fusion.then_some(false),
        pins: pins.clone(),
        text_places: false,
    };
    let answer = timed("explain", arguments.time, || explained::explain(&request))
        .map_err(|error| Failure::about(&source, error))?;
    if arguments.json {
        output.line(&text_of(&answer))?;
    } else {
        output.text(&report::explain(&answer))?;
    }
    Ok(Outcome::Good)
}

/// The command `weft paper`.
pub(crate) fn paper(arguments: &Paper, output: &mut Output) -> Result<Outcome, Failure> {
    let Paper { table, target, every, limited: _, json } = arguments;
    let target = input::target(target)?;
    let request = PaperRequest { table: *table, target, every: *every };
    let answer = waiting("every case of the table", || tables::paper(&request))?;
    if *json {
        output.line(&text_of(&answer))?;
    } else {
        output.text(&report::paper(&answer))?;
    }
    Ok(if answer.passed { Outcome::Good } else { Outcome::Findings })
}

/// The command `weft run`.
pub(crate) fn run(arguments: &Run, output: &mut Output) -> Result<Outcome, Failure> {
    let Run {
        file,
        grid,
        args,
        target,
        how: How { warps, stages, no_fp_fusion, name, pins },
        seed,
        verify,
        equal_stores,
        limited: _,
        python,
        device,
        compiled,
        json,
        time,
    } = arguments;
    let mut values = Arguments::default();
    for argument in args {
        values.push(argument)?;
    }
    let device = device.map(device::open).transpose()?;
    let code = match compiled {
        Some(path) => device::Code::Compiled(input::read(path)?.text),
        None => device::Code::Printed,
    };
    let target = match (target, &device) {
        (Some(target), _) => input::target(target)?,
        (None, Some(device)) => device::target(device)?.into(),
        (None, None) => DEFAULT_TARGET.into(),
    };
    let what = For { kernel: name.as_deref(), target: &target, warps: *warps };
    let source = input::kernel(file, python, what)?;
    let request = RunRequest {
        ttir: source.text.clone(),
        kernel: name.clone(),
        grid: *grid,
        args: values,
        target,
        warps: *warps,
        stages: *stages,
        fp_fusion: no_fp_fusion.then_some(false),
        pins: pins.clone(),
        seed: *seed,
        verify: *verify,
        equal_stores: *equal_stores,
        text_places: false,
    };
    let about = |error| Failure::about(&source, error);
    let prepared = timed("compile", *time, || Prepared::new(&request)).map_err(about)?;
    let evaluated = timed("evaluate", *time, || prepared.evaluate()).map_err(about)?;
    let start = Instant::now();
    let simulated = counting("simulate", "blocks", |so_far| {
        prepared.simulate_watched(&mut |progress| {
            so_far(progress.ended.into(), progress.blocks.into());
            ControlFlow::Continue(())
        })
    });
    let simulated = simulated.map_err(about)?;
    if *time {
        Output::rate("simulate", start.elapsed(), simulated.report.lane_instructions);
    }
    let mut answer = prepared.answer(&evaluated, &simulated)?;
    if let Some(device) = &device {
        device::run(device, &code, &prepared, &evaluated, &simulated, *time, &mut answer)?;
    }
    if *json {
        output.line(&text_of(&answer))?;
    } else {
        output.text(&report::run(&answer))?;
    }
    Ok(if answer.passed { Outcome::Good } else { Outcome::Findings })
}

/// Does something, and says how long it took if that is wanted.
fn timed<T>(what: &'static str, wanted: bool, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = waiting(what, work);
    if wanted {
        Output::duration(what, start.elapsed());
    }
    result
}
