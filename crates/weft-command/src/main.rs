//! The command `weft`: a thin shell around `weft-api`.
//!
//! `arguments` says what can be typed, `requests` answers it, `device` runs kernels on a GPU, `probe`
//! measures one, `serve` shows the page, `input` reads files, `triton` has Triton read those of Python,
//! `manual` is for shells and readers, and `output` is the only place that writes, but for `progress`, on
//! terminals, and `mcp`, which speaks a protocol. The exit status is 0 when all is well, 1
//! when a run found something wrong or results differ, 2 when the input or the machine is at fault.

mod arguments;
mod batch;
mod device;
mod failure;
mod input;
mod manual;
#[cfg(feature = "mcp")]
mod mcp;
mod output;
mod probe;
mod progress;
mod requests;
mod serve;
mod triton;

use arguments::{Arguments, Command};
use clap::Parser as _;
use output::Output;
use std::process::ExitCode;
use weft_api::budget::within;

/// Small objects by the ten thousand are what compiling asks an allocator for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How a command that was carried out ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    /// What was asked is done, and nothing was found.
    Good,
    /// Something was found, or results differ.
    Findings,
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version come this way too. Nobody is left to tell if this cannot be written.
            manual::color_of_broken_line().choose();
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    arguments.color.choose();
    let mut output = Output::standard();
    let budget = arguments.command.budget();
    let outcome = within(&budget, || match &arguments.command {
        Command::Layout(layout) => requests::layout(layout, &mut output),
        Command::Convert(convert) => requests::convert(convert, &mut output),
        Command::Conflicts(conflicts) => requests::conflicts(conflicts, &mut output),
        Command::Swizzle(swizzle) => requests::swizzle(swizzle, &mut output),
        Command::Port(port) => requests::port(port, &mut output),
        Command::Compile(compile) => requests::compile(compile, &mut output),
        Command::Run(run) => requests::run(run, &mut output),
        Command::Explain(explain) => requests::explain(explain, &mut output),
        Command::Machines(machines) => requests::machines(machines, &mut output),
        Command::Probe(arguments) => probe::run(arguments, &mut output),
        Command::Paper(arguments) => requests::paper(arguments, &mut output),
        Command::Serve(arguments) => serve::run(arguments, &mut output),
        #[cfg(feature = "mcp")]
        Command::Mcp(arguments) => mcp::run(arguments.limited.limits()),
        Command::Completions(arguments) => manual::completions(arguments, &mut output),
        Command::Man(arguments) => manual::page(arguments, &mut output),
    });
    match outcome {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(failure) => failure.report(arguments.command.json(), &mut output),
    }
}
