//! What the text says, before names are resolved and calls inlined.

use super::asm::InlineAsm;
use super::descriptor_argument::DescriptorArgument;
use crate::budget::Stop;
use crate::diagnostic::{Diagnostic, Span};
use crate::location::Loc;
use crate::tile::{OpKind, Promise, Type};

/// What can be read, or the reason that it cannot.
pub(super) type Parse<T> = Result<T, Diagnostic>;

/// The most errors that are reported for one text.
const MAX_ERRORS: usize = 20;

/// The errors found so far.
pub(super) struct Errors {
    list: Vec<Diagnostic>,
    /// Where the text ends: one complaint about that is enough.
    end: u32,
    /// Whether nobody asks for what is read any more.
    stop: Stop,
}

impl Errors {
    /// No errors, for a text that ends at a byte.
    pub(super) fn new(end: usize, stop: &Stop) -> Self {
        Self { list: Vec::new(), end: end as u32, stop: stop.clone() }
    }

    /// Adds an error, unless there are too many or the text's end has been complained about.
    pub(super) fn push(&mut self, error: Diagnostic) {
        let at_end = |error: &Diagnostic| error.span.start >= self.end;
        let repeated = at_end(&error) && self.list.iter().any(at_end);
        if !self.full() && !repeated {
            self.list.push(error);
        }
    }

    /// Whether reading on would tell nothing more.
    pub(super) fn full(&self) -> bool {
        self.list.len() >= MAX_ERRORS || self.stop.is_set()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The errors in the order of the text.
    pub(super) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|error| error.span.start);
        self.list
    }
}

/// A function, `tt.func`, as it stands in the text.
pub(super) struct Function<'a> {
    /// The symbol, without `@` and quotes.
    pub(super) name: &'a str,
    pub(super) name_span: Span,
    /// Whether it is an entry point.
    pub(super) public: bool,
    /// What is said of each argument.
    pub(super) arguments: Vec<Argument>,
    pub(super) result_types: Vec<Type>,
    /// The blocks; the first one's parameters are the function's. Empty for a declaration.
    pub(super) blocks: Vec<Block<'a>>,
    pub(super) loc: Loc,
}

/// What is said of a function's argument, besides its name and type.
pub(super) struct Argument {
    /// It is a multiple of this; 1 where nothing is known.
    pub(super) divisibility: u64,
    /// What [`Param::pointer_range`](crate::tile::Param::pointer_range) will be.
    pub(super) pointer_range: u32,
    /// What is said of a tensor descriptor.
    pub(super) descriptor: Option<DescriptorArgument>,
}

/// A straight list of operations.
#[derive(Default)]
pub(super) struct Block<'a> {
    /// The label, without `^`; empty for an entry block that has none.
    pub(super) label: &'a str,
    pub(super) label_span: Span,
    pub(super) params: Vec<BlockParam<'a>>,
    pub(super) operations: Vec<Operation<'a>>,
}

/// A value that enters a block.
#[derive(Clone)]
pub(super) struct BlockParam<'a> {
    /// The name, without `%`.
    pub(super) name: &'a str,
    pub(super) span: Span,
    pub(super) ty: Type,
}

/// A name that an operation defines, for one result or several.
pub(super) struct ResultName<'a> {
    /// The name, without `%`.
    pub(super) name: &'a str,
    /// How many results it stands for.
    pub(super) count: usize,
    pub(super) span: Span,
}

/// A mention of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use<'a> {
    /// The name, without `%`.
    pub(super) name: &'a str,
    /// The `1` of `%0#1`.
    pub(super) index: Option<usize>,
    pub(super) span: Span,
}

/// A block that a branch goes to, with the values it hands over.
pub(super) struct Successor<'a> {
    /// The label, without `^`.
    pub(super) label: &'a str,
    pub(super) span: Span,
    pub(super) operands: Vec<Use<'a>>,
    pub(super) types: Vec<Type>,
}

/// What an operation asks for.
#[derive(Clone, Debug)]
pub(super) enum Action<'a> {
    /// An operation of the tile program.
    Do(OpKind),
    /// `llvm.intr.assume`, which does nothing.
    Assume,
    /// A wait or a fence that the compiler puts by itself where it is needed: its operands.
    Ordered,
    /// `tt.clampf`: a maximum, then a minimum.
    Clamp {
        /// Whether a NaN wins.
        propagate_nan: bool,
    },
    /// `tt.cat`: the elements of one tensor, then those of another.
    Cat,
    /// `tt.extern_elementwise`: the function's name.
    External(&'a str),
    /// `ttg.fp4_to_fp`: pairs of numbers of four bits along an axis.
    Fp4 {
        /// The axis that becomes twice as long.
        axis: u8,
    },
    /// Inline assembly, `tt.elementwise_inline_asm`.
    InlineAsm(Box<InlineAsm>),
    /// `tt.map_elementwise`: a region for each element, or for so many at a time.
    Map {
        /// How many elements the region takes at a time.
        pack: u64,
    },
    /// `tt.call` of the function of this name.
    Call(&'a str),
    /// `cf.br`: on to another block.
    Branch,
    /// `cf.cond_br`: on to one of two blocks.
    CondBranch,
    /// `tt.return`: the end of a function.
    Return,
    /// The operation could not be read, which has been reported.
    Broken,
}

/// What the source promises of values: for each axis a number, or one number for all axes, or nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Promises {
    pub(super) contiguity: Vec<i128>,
    pub(super) divisibility: Vec<i128>,
    pub(super) constancy: Vec<i128>,
}

impl Promises {
    /// The same of each axis of a type; nothing where nothing is promised.
    pub(super) fn of(&self, ty: &Type) -> Vec<Promise> {
        let Self { contiguity, divisibility, constancy } = self;
        // Facts are powers of two: of another number what divides it.
        let at = |list: &[i128], axis: usize| {
            let number = if list.len() == 1 { list.first() } else { list.get(axis) };
            let number = number.copied().filter(|&number| number > 0).unwrap_or(1);
            1 << number.trailing_zeros().min(62)
        };
        let promised = (0..ty.shape.len().max(1)).map(|axis| Promise {
            contiguity: at(contiguity, axis),
            divisibility: at(divisibility, axis),
            constancy: at(constancy, axis),
        });
        let promised: Vec<_> = promised.collect();
        if promised.iter().all(|&promise| promise == Promise::NONE) { Vec::new() } else { promised }
    }
}

/// One operation, types and all, with values by name.
pub(super) struct Operation<'a> {
    pub(super) action: Action<'a>,
    pub(super) results: Vec<ResultName<'a>>,
    pub(super) operands: Vec<Use<'a>>,
    /// As many as operands, and as results.
    pub(super) operand_types: Vec<Type>,
    pub(super) result_types: Vec<Type>,
    pub(super) regions: Vec<Block<'a>>,
    /// A region of several blocks, which [`Self::regions`] does not hold: those of one that folds, or of
    /// a `tt.map_elementwise`, in which a function that returns early was inlined.
    pub(super) branching: Option<Box<Function<'a>>>,
    pub(super) successors: Vec<Successor<'a>>,
    /// What the source promises of the results.
    pub(super) promises: Promises,
    /// What it promises of the region's parameters, by their numbers.
    pub(super) param_promises: Vec<(usize, Promises)>,
    pub(super) loc: Loc,
    /// The text up to the location or the first region.
    pub(super) span: Span,
}
