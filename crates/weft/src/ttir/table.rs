//! The operations that can be read: one row each.
//!
//! A row says how the types after the colon are spread over operands and results, and how the words
//! and attributes before it become an [`OpKind`]. Element-wise operations have their rows in
//! `tile::spelling`, which the printer reads too. Operations whose text has a shape of its own
//! (constants, control flow, calls) are in `forms`.

use super::attribute::{Attribute, Attributes};
use super::parser::shortened;
use super::syntax::Action::{self, Do};
use super::syntax::Parse;
use crate::atomic::{Atomic, Order, Rmw, Scope};
use crate::cache::Cache;
use crate::diagnostic::{Diagnostic, Span};
use crate::scalar::Cast;
use crate::tile::form;
use crate::tile::spelling::{self, ATOMICS, Domain, ELEMENTWISE, Spelling};
use crate::tile::{LoadOptions, OpKind, Precision};
use Make::{Fixed, With};
use std::collections::VecDeque;

/// How the types after the colon are spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Types {
    /// `: T`: every operand and the result.
    Same,
    /// `: T`: the result; there are no operands.
    Result,
    /// `: T`: the operands; the result is a truth value of that shape.
    Compare,
    /// `: T` or `: C, T`: the condition, the two choices and the result.
    Select,
    /// `: T`: the operand; the result is its element.
    Element,
    /// `: P`: the pointers, from which the mask's, the values' and the result's types follow.
    Load,
    /// `: P`: the pointers, from which the values' and the mask's types follow.
    Store,
    /// `: P, O`: pointers and offsets; the result is as the pointers.
    AddPtr,
    /// `: A -> B` or `: A to B`: each operand, and the result.
    Convert,
    /// `: A -> B`: the operand, and each of two results.
    Halves,
    /// `: A -> B`: the operand and the result; a mask has the operand's shape.
    Counts,
    /// `: A * B -> C`: two factors; the third operand and the result are C.
    Product,
    /// `: T, U`: the operands; left out when there are none.
    Operands,
    /// `: T, U`: the operands, and as many results of these types; left out when there are none.
    Each,
    /// `: (T, U) -> V`.
    Function,
    /// `: (T, U) -> V`; the second operand stands in brackets.
    Indexed,
}

/// How many operands an operation takes: at least, at most.
pub(super) type Count = (usize, usize);

/// How an operation is read.
pub(super) enum Row {
    /// The common shape: operands, words, attributes, a colon, types.
    Common(Common),
    /// A shape of its own.
    Special(Special),
    /// A text that the operation tells itself; of its name is this one.
    Formed(OpKind),
}

/// An operation of the common shape.
#[derive(Clone)]
pub(super) struct Common {
    /// How the types are spread.
    pub(super) types: Types,
    /// How many operands there are.
    pub(super) count: Count,
    /// What the operands are, where the operation's name says it.
    pub(super) domain: Domain,
    /// How the operation comes from what was read.
    pub(super) make: Make,
}

/// What an operation of the common shape does.
#[derive(Clone)]
pub(super) enum Make {
    /// Always the same one.
    Fixed(Action<'static>),
    /// What its words and attributes say.
    With(for<'a> fn(&mut Details<'a>) -> Parse<Action<'a>>),
}

/// The operations whose text has a shape of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Special {
    Constant,
    For,
    If,
    While,
    Condition,
    Reduce,
    Scan,
    Map,
    DotScaled,
    Print,
    Assert,
    InlineAsm,
    MakeDescriptor,
    GivenDescriptor,
    DescriptorLoad,
    DescriptorStore,
    DescriptorReduce,
    DescriptorGather,
    DescriptorScatter,
    Call,
    Branch,
    CondBranch,
}

/// The rows of the common shape that are not element-wise.
#[rustfmt::skip]
static COMMON: &[(&str, Types, Count, Domain, Make)] = &[
    ("arith.cmpi",          Types::Compare,  (2, 2),   Domain::Ints,   With(compare_integers)),
    ("arith.cmpf",          Types::Compare,  (2, 2),   Domain::Floats, With(compare_floats)),
    ("arith.select",        Types::Select,   (3, 3),   Domain::Any,    Fixed(Do(OpKind::Select))),
    ("ub.poison",           Types::Result,   (0, 0),   Domain::Any,    Fixed(Do(OpKind::Poison))),
    ("llvm.intr.assume",    Types::Operands, (1, 1),   Domain::Any,    Fixed(Action::Assume)),
    ("tt.clampf",           Types::Same,     (3, 3),   Domain::Floats, With(clamp)),
    ("tt.make_range",       Types::Result,   (0, 0),   Domain::Any,    With(make_range)),
    ("tt.get_program_id",   Types::Result,   (0, 0),   Domain::Any,    With(program_id)),
    ("tt.get_num_programs", Types::Result,   (0, 0),   Domain::Any,    With(num_programs)),
    ("tt.splat",            Types::Convert,  (1, 1),   Domain::Any,    Fixed(Do(OpKind::Splat))),
    ("tt.unsplat",          Types::Element,  (1, 1),   Domain::Any,    Fixed(Do(OpKind::Unsplat))),
    ("tt.expand_dims",      Types::Convert,  (1, 1),   Domain::Any,    With(expand_dims)),
    ("tt.broadcast",        Types::Convert,  (1, 1),   Domain::Any,    Fixed(Do(OpKind::Broadcast))),
    ("tt.reshape",          Types::Convert,  (1, 1),   Domain::Any,    With(reshape)),
    ("tt.trans",            Types::Convert,  (1, 1),   Domain::Any,    With(trans)),
    ("ttg.convert_layout",  Types::Convert,  (1, 1),   Domain::Any,    Fixed(Do(OpKind::ConvertLayout))),
    ("tt.join",             Types::Convert,  (2, 2),   Domain::Any,    Fixed(Do(OpKind::Join))),
    ("tt.split",            Types::Halves,   (1, 1),   Domain::Any,    Fixed(Do(OpKind::Split))),
    ("tt.cat",              Types::Convert,  (2, 2),   Domain::Any,    Fixed(Action::Cat)),
    ("tt.gather",           Types::Indexed,  (2, 2),   Domain::Any,    With(gather)),
    ("tt.histogram",        Types::Counts,   (1, 2),   Domain::Any,    Fixed(Do(OpKind::Histogram))),
    ("tt.addptr",           Types::AddPtr,   (2, 2),   Domain::Any,    Fixed(Do(OpKind::AddPtr))),
    ("tt.load",             Types::Load,     (1, 3),   Domain::Any,    With(load)),
    ("tt.store",            Types::Store,    (2, 3),   Domain::Any,    With(store)),
    ("tt.dot",              Types::Product,  (3, 3),   Domain::Any,    With(dot)),
    ("ttng.warp_group_dot", Types::Product,  (3, 4),   Domain::Any,    With(warpgroup_dot)),
    ("ttng.warp_group_dot_wait", Types::Each, (1, 255), Domain::Any,   Fixed(Action::Ordered)),
    ("ttng.fence_async_shared", Types::Each, (0, 0),   Domain::Any,    Fixed(Action::Ordered)),
    ("ttg.fp4_to_fp",       Types::Convert,  (1, 1),   Domain::Any,    With(fp4)),
    ("tt.extern_elementwise", Types::Function, (1, 4), Domain::Any,  With(external)),
    ("ttg.barrier",         Types::Operands, (0, 0),   Domain::Any,    With(barrier)),
    ("gpu.barrier",         Types::Operands, (0, 0),   Domain::Any,    Fixed(Do(OpKind::Barrier))),
    ("tt.grid_dependency_wait", Types::Operands, (0, 0), Domain::Any, Fixed(Do(OpKind::GridWait))),
    ("tt.grid_dependency_launch_dependents", Types::Operands, (0, 0), Domain::Any, Fixed(Do(OpKind::GridLaunch))),
    ("tt.return",           Types::Operands, ANY,      Domain::Any,    Fixed(Action::Return)),
    ("tt.reduce.return",    Types::Operands, ANY,      Domain::Any,    Fixed(Do(OpKind::Yield))),
    ("tt.scan.return",      Types::Operands, ANY,      Domain::Any,    Fixed(Do(OpKind::Yield))),
    ("tt.map_elementwise.return", Types::Operands, ANY, Domain::Any,   Fixed(Do(OpKind::Yield))),
    ("scf.yield",           Types::Operands, ANY,      Domain::Any,    Fixed(Do(OpKind::Yield))),
];

/// Any number of operands.
const ANY: Count = (0, usize::MAX);

/// The operations with a shape of their own.
static SPECIAL: &[(&str, Special)] = &[
    ("arith.constant", Special::Constant),
    ("scf.for", Special::For),
    ("scf.if", Special::If),
    ("scf.while", Special::While),
    ("scf.condition", Special::Condition),
    ("tt.reduce", Special::Reduce),
    ("tt.scan", Special::Scan),
    ("tt.map_elementwise", Special::Map),
    ("tt.dot_scaled", Special::DotScaled),
    ("tt.print", Special::Print),
    ("tt.assert", Special::Assert),
    ("tt.elementwise_inline_asm", Special::InlineAsm),
    ("tt.make_tensor_descriptor", Special::MakeDescriptor),
    ("weft.given_tensor_descriptor", Special::GivenDescriptor),
    ("tt.descriptor_load", Special::DescriptorLoad),
    ("tt.descriptor_store", Special::DescriptorStore),
    ("tt.descriptor_reduce", Special::DescriptorReduce),
    ("tt.descriptor_gather", Special::DescriptorGather),
    ("tt.descriptor_scatter", Special::DescriptorScatter),
    ("tt.call", Special::Call),
    ("cf.br", Special::Branch),
    ("cf.cond_br", Special::CondBranch),
];

/// Attributes that allow more than we do, or say what the operands say already.
const PERMISSIONS: &[&str] = &[
    "bCluster",
    "efficient_layout",
    "fastmath",
    "maxNumImpreciseAcc",
    "operandSegmentSizes",
    "overflow",
    "overflowFlags",
    "pendings",
];

/// Operations that Triton prints and we do not read, so that a hint does not take one for a typing
/// mistake in the name of another.
static KNOWN_UNSUPPORTED: &[&str] =
    &["cf.switch", "scf.execute_region", "scf.parallel", "func.call", "func.func"];

/// The row of an operation.
pub(super) fn row(name: &str) -> Option<Row> {
    if let Some(Spelling { kind, domain, .. }) = ELEMENTWISE.iter().find(|row| row.name == name) {
        let (types, operands) = match kind {
            OpKind::Cast(_) => (Types::Convert, 1),
            OpKind::Unary(_) => (Types::Same, 1),
            OpKind::Binary(_) => (Types::Same, 2),
            _ => (Types::Same, 3),
        };
        let make = match kind {
            OpKind::Cast(Cast::Float | Cast::FloatToZero) => With(convert_floats),
            _ => Fixed(Do(kind.clone())),
        };
        let count = (operands, operands);
        return Some(Row::Common(Common { types, count, domain: *domain, make }));
    }
    if let Some((_, types, count, domain, make)) = COMMON.iter().find(|row| row.0 == name) {
        let (types, count, domain) = (*types, *count, *domain);
        return Some(Row::Common(Common { types, count, domain, make: make.clone() }));
    }
    if let Some(row) = ATOMICS.iter().find(|row| row.name == name) {
        let (types, count, domain) = (Types::Function, row.count(), Domain::Any);
        return Some(Row::Common(Common { types, count, domain, make: With(atomic) }));
    }
    if let Some((_, kind)) = form::names().find(|(known, _)| *known == name) {
        return Some(Row::Formed(kind));
    }
    SPECIAL.iter().find(|row| row.0 == name).map(|row| Row::Special(row.1))
}

/// Every name that has a row.
fn names() -> impl Iterator<Item = &'static str> {
    let elementwise = ELEMENTWISE.iter().map(|row| row.name);
    let common = COMMON.iter().map(|row| row.0);
    let atomics = ATOMICS.iter().map(|row| row.name);
    let formed = form::names().map(|(name, _)| name);
    elementwise.chain(common).chain(atomics).chain(formed).chain(SPECIAL.iter().map(|row| row.0))
}

/// The complaint about an operation without a row.
pub(super) fn unsupported(name: &str, span: Span) -> Diagnostic {
    let error = Diagnostic::new(span, format!("`{}` is not supported", shortened(name)));
    let allowed = if name.len() < 8 { 1 } else { 2 };
    let near = |known: &&str| distance(name, known) <= allowed;
    if !KNOWN_UNSUPPORTED.contains(&name)
        && let Some(nearest) = names().filter(near).min_by_key(|known| distance(name, known))
    {
        return error.with_hint(format!("did you mean `{nearest}`?"));
    }
    let dialect = name.split('.').next().unwrap_or_default();
    let mut known: Vec<&str> =
        names().filter(|known| known.split('.').next() == Some(dialect)).collect();
    if known.is_empty() {
        return error.with_hint(
            "operations of the dialects arith, math, tt, ttg, scf, cf, ub, gpu.barrier and llvm.intr.assume are read",
        );
    }
    known.sort_unstable();
    error.with_hint(format!("of `{dialect}` there are {}", known.join(", ")))
}

/// How many letters must be changed, added or left out to make one name from the other; large when
/// one is much longer.
pub(super) fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 64;
    if a.len().abs_diff(b.len()) > 2 || a.len() > LONGEST {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, cell) in b.bytes().zip(row.iter_mut().skip(1)) {
            let next = (diagonal + usize::from(x != y)).min(left + 1).min(*cell + 1);
            diagonal = core::mem::replace(cell, next);
            left = next;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

/// The words and attributes of one operation, from which its kind is made.
pub(super) struct Details<'a> {
    /// The name of the operation, as it stands in the text.
    pub(super) name: &'a str,
    /// Where the name stands.
    pub(super) span: Span,
    /// Words that stand alone, in order: `slt`, `relaxed`, `allow_reorder`.
    pub(super) words: VecDeque<(&'a str, Span)>,
    /// Everything with a name.
    pub(super) attributes: Attributes<'a>,
}

impl<'a> Details<'a> {
    /// Makes the operation's action, and refuses words and attributes that nobody asked for.
    pub(super) fn action(mut self, make: &Make) -> Parse<Action<'a>> {
        self.attributes.ignore(PERMISSIONS);
        let action = match make {
            Fixed(action) => action.clone(),
            With(make) => make(&mut self)?,
        };
        if let Some((word, span)) = self.words.front() {
            let message = format!("`{}` has no meaning in `{}`", shortened(word), self.name);
            return Err(Diagnostic::new(*span, message));
        }
        self.attributes.finish(self.name)?;
        Ok(action)
    }

    /// The next word that stands alone, or the attribute of this name: an entry of a table. In the
    /// generic form an attribute is a number, counted from `first`.
    fn choice<T: Copy>(&mut self, name: &str, table: &[(&str, T)], first: i128) -> Parse<T> {
        let (word, span) = match (self.words.pop_front(), self.attributes.take(name)) {
            (Some(word), _) => word,
            (None, Some((Attribute::Word(word), span))) => (word, span),
            (None, Some((Attribute::Integer(number), span))) => {
                let entry = usize::try_from(number - first).ok().and_then(|i| table.get(i));
                return entry.map(|(_, value)| *value).ok_or_else(|| {
                    Diagnostic::new(span, format!("{number} is no {name} that is supported"))
                });
            }
            (None, Some((_, span))) => {
                let message = format!("the attribute `{name}` is a word or a number");
                return Err(Diagnostic::new(span, message));
            }
            (None, None) => return Err(self.missing(name)),
        };
        choose(word, span, name, table)
    }

    fn missing(&self, name: &str) -> Diagnostic {
        Diagnostic::new(self.span, format!("`{}` needs its {name}", self.name))
    }

    /// The grid's axis: `x`, `y` or `z`.
    fn grid_axis(&mut self) -> Parse<u8> {
        self.choice("axis", &[("x", 0), ("y", 1), ("z", 2)], 0)
    }

    /// Takes the attribute `axis`, which must be there.
    pub(super) fn axis(&mut self) -> Parse<u8> {
        let Some((axis, span)) = self.attributes.take_integer("axis")? else {
            return Err(self.missing("attribute `axis`"));
        };
        u8::try_from(axis)
            .map_err(|_| Diagnostic::new(span, format!("{axis} is no axis of a tensor")))
    }

    /// The attribute `order`: a permutation of axes.
    pub(super) fn order(&mut self) -> Parse<Vec<u8>> {
        let Some((order, span)) = self.attributes.take("order") else {
            return Err(self.missing("attribute `order`"));
        };
        let complaint = || Diagnostic::new(span, "an order is a list of axes, `array<i32: 1, 0>`");
        let Attribute::Integers(order) = order else { return Err(complaint()) };
        let order = order.into_iter().map(u8::try_from).collect::<Result<_, _>>();
        order.map_err(|_| complaint())
    }

    /// Takes an attribute that counts something, which must be there.
    pub(super) fn number(&mut self, name: &str) -> Parse<u32> {
        let Some((number, span)) = self.attributes.take_integer(name)? else {
            return Err(self.missing(&format!("attribute `{name}`")));
        };
        let message = || format!("{number} is no `{name}`: it counts something");
        u32::try_from(number).map_err(|_| Diagnostic::new(span, message()))
    }

    fn take_i32(&mut self, name: &str) -> Parse<i32> {
        let Some((value, span)) = self.attributes.take_integer(name)? else {
            return Err(self.missing(&format!("attribute `{name}`")));
        };
        i32::try_from(value)
            .map_err(|_| Diagnostic::new(span, format!("{value} does not fit 32 bits")))
    }

    /// Cache behaviour, as 3.9 (`cachePolicy`) or 3.6 (`cacheModifier`, `evictionPolicy`) writes it.
    pub(super) fn cache(&mut self) -> Parse<Cache> {
        let mut from = Attributes::default();
        let keys = match self.attributes.take("cachePolicy") {
            Some((Attribute::Policy(policy), _)) => {
                from.extend(policy);
                ["cache_modifier", "eviction_policy"]
            }
            Some((_, span)) => {
                return Err(Diagnostic::new(span, "a cache policy is `#tt.cache_policy<…>`"));
            }
            None => {
                let [modifier, eviction] = ["cacheModifier", "evictionPolicy"];
                for (long, short) in [(modifier, "cache"), (eviction, "evict")] {
                    let attribute = self.attributes.take(long);
                    if let Some((value, span)) = attribute.or_else(|| self.attributes.take(short)) {
                        from.add(long, value, span);
                    }
                }
                [modifier, eviction]
            }
        };
        let mut details =
            Details { name: self.name, span: self.span, words: VecDeque::new(), attributes: from };
        let mut cache = Cache::default();
        let [modifier, eviction] = keys;
        if details.attributes.has(modifier) {
            cache.modifier = details.choice(modifier, spelling::CACHE_MODIFIERS, 1)?;
        }
        if details.attributes.has(eviction) {
            cache.eviction = details.choice(eviction, spelling::EVICTIONS, 1)?;
        }
        details.attributes.finish(self.name)?;
        Ok(cache)
    }
}

/// The entry of a table with a name.
fn choose<T: Copy>(word: &str, span: Span, what: &str, table: &[(&str, T)]) -> Parse<T> {
    let entry = table.iter().find(|(name, _)| *name == word);
    entry.map(|(_, value)| *value).ok_or_else(|| {
        let names = table.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        Diagnostic::new(span, format!("`{}` is no {what} that is supported", shortened(word)))
            .with_hint(format!("there are {names}"))
    })
}

fn compare_integers<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    let predicate = details.choice("predicate", spelling::INTEGER_PREDICATES, 0)?;
    Ok(Do(OpKind::Compare(predicate)))
}

fn compare_floats<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    let predicate = details.choice("predicate", spelling::FLOAT_PREDICATES, 1)?;
    Ok(Do(OpKind::Compare(predicate)))
}

/// Narrowing conversions round to nearest even or toward zero, or are refused.
fn convert_floats<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    if details.words.front().is_some_and(|(word, _)| *word == "to_nearest_even") {
        details.words.pop_front();
    }
    for key in ["rounding", "roundingmode"] {
        match details.attributes.take(key) {
            // In the generic form 1 is rtne of `tt.fp_to_fp`, 0 is to_nearest_even of `arith`.
            None | Some((Attribute::Word("rtne"), _)) => {}
            // In the generic form 0 is rtz.
            Some((Attribute::Word("rtz") | Attribute::Integer(0), _)) if key == "rounding" => {
                return Ok(Do(OpKind::Cast(Cast::FloatToZero)));
            }
            Some((Attribute::Integer(1), _)) if key == "rounding" => {}
            Some((Attribute::Integer(0), _)) if key == "roundingmode" => {}
            Some((_, span)) => {
                let message =
                    "only rounding to nearest even (`rtne`) and toward zero (`rtz`) is supported";
                return Err(Diagnostic::new(span, message));
            }
        }
    }
    Ok(Do(OpKind::Cast(Cast::Float)))
}

fn program_id<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    Ok(Do(OpKind::ProgramId(details.grid_axis()?)))
}

/// Whatever memory it is for: a block waits for all of its accesses.
fn barrier<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    const SPACES: [&str; 4] = ["all", "local", "global_read", "global_write"];
    let named = details.words.len();
    while details.words.front().is_some_and(|(word, _)| SPACES.contains(word)) {
        details.words.pop_front();
    }
    if named == 0 {
        let message = format!("`{}` does not say for which memory", details.name);
        return Err(Diagnostic::new(details.span, message).with_hint("write `ttg.barrier all`"));
    }
    Ok(Do(OpKind::Barrier))
}

fn num_programs<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    Ok(Do(OpKind::NumPrograms(details.grid_axis()?)))
}

fn expand_dims<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    Ok(Do(OpKind::ExpandDims { axis: details.axis()? }))
}

fn external<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    details.attributes.ignore(&["libname", "libpath", "pure"]);
    match details.attributes.take("symbol") {
        Some((Attribute::String(symbol), _)) => Ok(Action::External(symbol)),
        _ => Err(details.missing("attribute `symbol`")),
    }
}

fn dot<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    let given = details.attributes.has("inputPrecision");
    let precision = if given {
        details.choice("inputPrecision", &Precision::TABLE, 0)?
    } else {
        Precision::Ieee
    };
    Ok(Do(OpKind::Dot(precision)))
}

fn warpgroup_dot<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    // Whether it is waited for at once is decided anew.
    details.attributes.ignore(&["isAsync"]);
    match dot(details)? {
        Do(OpKind::Dot(precision)) => Ok(Do(OpKind::WarpgroupDot(precision))),
        other => Ok(other),
    }
}

fn gather<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    Ok(Do(OpKind::Gather { axis: details.axis()? }))
}

fn fp4<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    Ok(Action::Fp4 { axis: details.axis()? })
}

fn clamp<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    // 0 and 65535 are the generic form's numbers.
    let propagate_nan = match details.attributes.take("propagateNan") {
        None | Some((Attribute::Word("none") | Attribute::Integer(0), _)) => false,
        Some((Attribute::Word("all") | Attribute::Integer(65535), _)) => true,
        Some((_, span)) => {
            let error = Diagnostic::new(span, "this way to treat NaN is not supported");
            return Err(error.with_hint("there are none, all"));
        }
    };
    Ok(Action::Clamp { propagate_nan })
}

fn make_range<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    let (start, end) = (details.take_i32("start")?, details.take_i32("end")?);
    Ok(Do(OpKind::MakeRange { start, end }))
}

fn reshape<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    let mut allow_reorder = details.attributes.take_bool("allow_reorder")?;
    while let Some((word @ ("allow_reorder" | "efficient_layout"), _)) = details.words.front() {
        allow_reorder |= *word == "allow_reorder";
        details.words.pop_front();
    }
    Ok(Do(OpKind::Reshape { allow_reorder }))
}

fn trans<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    Ok(Do(OpKind::Trans { order: details.order()? }))
}

fn load<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    let volatile = details.attributes.take_bool("isVolatile")?;
    // Padding matters only with boundary checks, which are refused when there are any.
    if let Some((Attribute::Integers(checks), _)) = details.attributes.clone().take("boundaryCheck")
        && checks.is_empty()
    {
        details.attributes.ignore(&["boundaryCheck", "padding"]);
    }
    Ok(Do(OpKind::Load(LoadOptions { cache: details.cache()?, volatile })))
}

fn store<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    Ok(Do(OpKind::Store(details.cache()?)))
}

/// The order and scope of an atomic.
fn sharing(details: &mut Details<'_>) -> Parse<(Order, Scope)> {
    let orders = [
        ("relaxed", Order::Relaxed),
        ("acquire", Order::Acquire),
        ("release", Order::Release),
        ("acq_rel", Order::AcqRel),
    ];
    let scopes = [("gpu", Scope::Gpu), ("cta", Scope::Block), ("sys", Scope::System)];
    Ok((details.choice("sem", &orders, 1)?, details.choice("scope", &scopes, 1)?))
}

fn atomic<'a>(details: &mut Details<'a>) -> Parse<Action<'a>> {
    let spelled = ATOMICS.iter().find(|row| row.name == details.name);
    let mut op = spelled.map_or(Atomic::Rmw(Rmw::Add), |row| row.op);
    if op.rmw().is_some() {
        // `Rmw::ALL` has the order of the generic form's numbers.
        let table: Vec<(&str, Rmw)> = Rmw::ALL.iter().map(|&op| (op.name(), op)).collect();
        op = details.choice("atomic_rmw_op", &table, 1)?.into();
    }
    let (order, scope) = sharing(details)?;
    Ok(Do(OpKind::Atomic { op, order, scope }))
}
