//! File tests: an input, what is asked of it, and what comes of that, in one file.
//!
//! A file below `tests/texts` holds cases; its folder says what they are about, its ending what their inputs are
//! (`.lane` or `.ttir`; those of `weft-command` are commands). Lines that begin with `//! ` are the harness's, everything between them is taken as it
//! stands:
//!
//! ```text
//! // Comments, up to the first case.
//!
//! //! case what no round changes is computed before the loop
//! lane @test(n: i32) warps 2 lanes 32 shared 0 {
//!   ..
//! }
//!
//! //! gives pass hoist
//! lane @test(n: i32) warps 2 lanes 32 shared 0 {
//!   ..
//! }
//! ```
//!
//! * `case NAME` begins a case. A file without one is a single case, with the name of the file.
//! * `gives COMMAND` stands in front of what the command makes of the case's input; a case may have several.
//!   Behind the command, `| from TEXT` leaves out the lines in front of the first one with this text,
//!   `| lines TEXT, TEXT` leaves those that have one of these texts, without the space around them, and
//!   `| first COUNT` so many. The commands are in `lane.rs` and `tile.rs`.
//! * `input PATH` takes the input from a file of the repository.
//! * Any other word is an option of the commands, such as `grid 4`.
//!
//! Empty lines at the end of an input or of a text do not count.
//!
//! Each case is a test: `cargo test -p weft-compiler --test files -- hoist` runs those with this word in their
//! names or their paths. Where a text differs, `UPDATE_EXPECT=1` writes what was given into the file.

#![allow(clippy::unwrap_used, reason = "a test may end where it is surprised")]

mod format;
mod harness;
mod lane;
mod schedules;
mod tile;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts");
    harness::run(&folder, |path, case, command| {
        let words: Vec<&str> = command.split_whitespace().collect();
        let is_lane = path.extension().is_some_and(|extension| extension == "lane");
        if is_lane { lane::run(case, &words) } else { tile::run(case, &words) }
    })
}
