//! The command line for shells and readers: completions, pages of the manual.

use crate::Outcome;
use crate::arguments::{Arguments, Color, Completions, Man};
use crate::failure::Failure;
use crate::output::Output;
use clap::{CommandFactory as _, ValueEnum as _};
use weft_api::suggest::nearest;

/// The command `weft completions`: what a shell reads to complete words.
pub(crate) fn completions(
    arguments: &Completions,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "weft", &mut script);
    output.text(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Good)
}

/// The command `weft man`: a page of the manual.
pub(crate) fn page(arguments: &Man, output: &mut Output) -> Result<Outcome, Failure> {
    let mut command = Arguments::command();
    command.build();
    let command = match &arguments.command {
        None => command,
        Some(name) => command.find_subcommand(name).cloned().ok_or_else(|| {
            let known: Vec<String> =
                command.get_subcommands().map(|known| known.get_name().to_owned()).collect();
            let near = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
            Failure::NoCommand { name: name.clone(), near, known }
        })?,
    };
    let mut page = Vec::new();
    // Only writing can fail, and this is memory.
    let _ = clap_mangen::Man::new(command).render(&mut page);
    output.text(&String::from_utf8_lossy(&page))?;
    Ok(Outcome::Good)
}

/// What a line says of colours that is wrong elsewhere, perhaps before it says so.
pub(crate) fn color_of_broken_line() -> Color {
    let words: Vec<String> =
        std::env::args_os().filter_map(|word| word.into_string().ok()).collect();
    let said = words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--color") {
        Some("") => words.get(at + 1).map(String::as_str),
        Some(rest) => rest.strip_prefix('='),
        None => None,
    });
    said.and_then(|when| Color::from_str(when, false).ok()).unwrap_or(Color::Auto)
}
