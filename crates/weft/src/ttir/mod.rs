//! Reads Triton IR and Triton GPU IR: MLIR's text as Triton 3.6 to 3.9 print it.
//!
//! [`parse`] gives the tile program, verified, or everything that is wrong with the text. It never
//! panics, and its time and memory are bounded by the text and the limits below.
//!
//! # How a text is read
//!
//! 1. `lexer` makes tokens, `module` reads modules, functions and blocks, `forms` the operations:
//!    most have one common shape and a row in `table`; `constant` and `control` read the others. After a complaint, reading goes on with the
//!    next line.
//! 2. `build` resolves names and writes the tile program; `call` inlines, `flow` turns branches
//!    between blocks (an early `return`) into `if`s.
//! 3. [`tile::verify()`] checks the result.
//!
//! Layouts (`encoding`) stay in the types as they are named, and are checked where they stand.
//!
//! # What becomes of what the tile program does not have
//!
//! | text | tile program |
//! |---|---|
//! | `tt.call` | the callee's operations; recursion is refused |
//! | `tt.clampf` | a maximum, then a minimum |
//! | `tt.cat` | `join`, `trans`, `reshape`: the first one's elements, then the second one's |
//! | `tt.map_elementwise` | the region's operations on tensors |
//! | `scf.if` in a region that folds or maps | both ways, and `select` |
//! | `tt.assert` in a region that folds | one more component, asserted behind the operation |
//! | `tt.extern_elementwise` | the function of libdevice, where it is known |
//! | `ttg.fp4_to_fp` | shifts and masks, and the layout that the text gives |
//! | a tensor descriptor that a kernel is given | its parts, as Triton's launcher hands them over, put together |
//! | `llvm.intr.assume` | nothing |
//! | `cf.br`, `cf.cond_br` | `if`; loops of branches are refused |
//! | `tt.contiguity`, `tt.divisibility`, `tt.constancy` of a result, or with `_argN` of a loop's parameter | what the source promises of a value ([`Promise`](crate::tile::Promise)) |
//! | `tt.pointer_range` of an argument | how far memory is reached through it ([`Param`](crate::tile::Param)) |
//! | `scf.yield` left out | a `yield` of nothing |
//! | `maxNumImpreciseAcc` of `tt.dot`, fast-math and overflow flags, loop hints | nothing: each allows what we do |
//!
//! # Not read
//!
//! Constants whose elements differ, pointers to tensors and to other memory than global; of TTGIR what needs
//! TMA, tensor memory or warp specialisation. Each is refused by name.

mod asm;
mod asserted;
mod attribute;
mod build;
mod call;
mod constant;
mod control;
mod descriptor;
mod descriptor_argument;
mod encoding;
mod external;
mod flow;
mod formed;
mod forms;
mod lexer;
mod lift;
mod location;
mod module;
mod parser;
mod report;
mod rewrite;
mod scaled;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod types;

use crate::budget::Budget;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::tile::{self, Module};

/// The most regions, calls, locations or attributes inside one another.
const MAX_DEPTH: usize = tile::MAX_DEPTH;
/// The most operations, operands and results for each operation that a thread's program may have
/// ([`Limits::operations`](crate::budget::Limits::operations)), and the least number that is read however few
/// these are.
const READ_PER_OPERATION: u64 = 4;
const ALWAYS_READ: u64 = 1 << 20;
/// The most blocks of a function.
const MAX_BLOCKS: usize = 1 << 10;
/// The longest text, in bytes, unless a limit for longer ones is given
/// ([`Limits::text_bytes`](crate::budget::Limits::text_bytes)); places in a text have 32 bits.
const MAX_TEXT: u64 = 1 << 26;

/// The file that places in the text itself name.
pub const TEXT: &str = "text";

/// Which places the operations of a program get.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Places {
    /// Those in the user's source, as the text tells them by `loc(…)`.
    #[default]
    Source,
    /// Those at which they begin in the text: line and column of the file [`TEXT`]. The user's are the
    /// further steps of their [`trail`](crate::location::Locations::trail).
    Text,
}

/// Reads the kernels of a text; the error lists everything that is wrong with it, up to twenty
/// complaints.
pub fn parse(text: &str) -> Result<Module, Diagnostics> {
    parse_with(text, Places::Source)
}

/// The same with the places that are wanted.
///
/// ```
/// use weft::ttir::{Places, parse_with};
///
/// let text = "tt.func public @stop() {\n  tt.return loc(\"stop.py\":7:1)\n}";
/// let place = |places| {
///     let module = parse_with(text, places).unwrap();
///     let last = module.kernels[0].ops.values().next_back().unwrap().loc;
///     module.locations.display(last).to_string()
/// };
/// assert_eq!(place(Places::Source), "stop.py:7:1");
/// assert_eq!(place(Places::Text), "text:2:3");
/// ```
pub fn parse_with(text: &str, places: Places) -> Result<Module, Diagnostics> {
    parse_within(text, places, &Budget::default())
}

/// The same within a budget: until it is stopped, when a part of the text was read or there is an error about
/// it, and no longer texts than its `operations` and `text_bytes` are for.
pub fn parse_within(text: &str, places: Places, budget: &Budget) -> Result<Module, Diagnostics> {
    let longest = budget.limits.text_bytes.clamp(MAX_TEXT, u32::MAX.into());
    if text.len() as u64 > longest {
        let message = format!("the text is longer than {} MiB", longest >> 20);
        let hint = "the limit `text_bytes` raises it, up to 4096";
        return Err(Diagnostic::new(Span::default(), message).with_hint(hint).into());
    }
    let parser::Reading { functions, locations, launch, aliases, mut errors } =
        parser::read(text, places, &budget.stop);
    let most = budget.limits.operations.saturating_mul(READ_PER_OPERATION).max(ALWAYS_READ);
    let module = build::build(&functions, locations, launch, most, &mut errors);
    if errors.is_empty() {
        for kernel in &module.kernels {
            if let Err(Diagnostics(broken)) = tile::verify(kernel) {
                for error in broken {
                    errors.push(error);
                }
            }
        }
    }
    if errors.is_empty() {
        return Ok(module);
    }
    let mut errors = errors.into_sorted();
    for error in &mut errors {
        error.source = aliases.source(text, error.span, &module.locations);
    }
    Err(Diagnostics(errors))
}
