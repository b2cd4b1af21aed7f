//! Reads a lane program's text.
//!
//! The text is what a [`Program`] displays as, one operation a line. Comments begin with `//`, at the start of a
//! line or after a blank, and empty lines are ignored. The place of an operation in the source is its line
//! in this text.

use super::family;
use super::text::{EVICTIONS, MODIFIERS, space_name};
use super::{
    Access, BarrierScope, Builder, Form, IdKind, Inst, InstData, Matrix, Multiprocessor, Op, Param,
    Program, Region, Role, Shared, SharedData, Space, TensorMap, Value, ValueData,
};
use crate::dtype::DType;
use crate::format::Format;
use crate::id::{Id, IdVec};
use crate::location::Location;
use crate::scalar::{Binary, Cast, Compare, Rounding, Unary};
use core::iter::Peekable;
use core::str::FromStr;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use thiserror::Error;

/// Why a text is no lane program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{file}:{line}: {message}")]
pub struct ReadError {
    /// The name that the text was given.
    pub file: String,
    /// The line, from one.
    pub line: u32,
    /// What is wrong with it.
    pub message: String,
}

/// How deep regions may lie in one another.
const DEEPEST: usize = 64;

/// Reads a program from its text; `file` is what places are told by.
///
/// Whether it obeys the rules of lane programs is not looked at: see [`verify`](super::verify()).
pub fn read(text: &str, file: &str) -> Result<Program, ReadError> {
    Reader::new(text, file).program()
}

/// A line without its comment.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let mut before = ' ';
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quoted => drop(chars.next()),
            '"' => quoted = !quoted,
            '/' if !quoted && before == ' ' && line[at..].starts_with("//") => return &line[..at],
            _ => {}
        }
        before = c;
    }
    line
}

type Read<T> = Result<T, String>;

struct Reader<'a> {
    file: &'a str,
    lines: Peekable<Box<dyn Iterator<Item = (u32, &'a str)> + 'a>>,
    line: u32,
    program: Program,
    /// The regions around the operation that comes next.
    open: Vec<Region>,
    /// What the text calls a value.
    values: FxHashMap<&'a str, Value>,
    /// What the text calls a loop.
    loops: FxHashMap<&'a str, Inst>,
    /// The loops that pieces take turns in.
    turns: Vec<(Shared, &'a str)>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, file: &'a str) -> Self {
        let lines = text.lines().zip(1..).map(|(line, at)| (at, without_comment(line).trim()));
        let lines: Box<dyn Iterator<Item = (u32, &'a str)>> =
            Box::new(lines.filter(|(_, line)| !line.is_empty()));
        Self {
            file,
            lines: lines.peekable(),
            line: 1,
            program: Builder::new("", 1, 5).finish(),
            open: Vec::new(),
            values: FxHashMap::default(),
            loops: FxHashMap::default(),
            turns: Vec::new(),
        }
    }

    fn next(&mut self) -> Read<&'a str> {
        let (at, line) = self.lines.next().ok_or("the text ends inside of the program")?;
        self.line = at;
        Ok(line)
    }

    fn program(mut self) -> Result<Program, ReadError> {
        match self.whole() {
            Ok(()) => Ok(self.program),
            Err(message) => Err(ReadError { file: self.file.into(), line: self.line, message }),
        }
    }

    fn whole(&mut self) -> Read<()> {
        let first = self.next()?;
        self.header(first)?;
        while let Some((_, line)) = self.lines.peek()
            && line.starts_with("@s")
        {
            let line = self.next()?;
            self.piece(line)?;
        }
        let (body, end) = self.region(&[])?;
        if !end.is_empty() {
            return Err(format!("`{end}` behind the program"));
        }
        if let Some((at, line)) = self.lines.next() {
            self.line = at;
            return Err(format!("`{line}` behind the program"));
        }
        for (piece, name) in core::mem::take(&mut self.turns) {
            self.program.shared[piece].turns = Some(self.loop_named(name)?);
        }
        self.program.body = body;
        Ok(())
    }

    /// `lane @name(params) warps W lanes L shared S [of R S B] {`
    fn header(&mut self, line: &'a str) -> Read<()> {
        let form = "a program begins with `lane @name(arguments) warps N lanes N shared N {`";
        let line =
            line.strip_prefix("lane @").and_then(|line| line.strip_suffix('{')).ok_or(form)?;
        let (name, line) = line.split_once('(').ok_or(form)?;
        let (params, rest) = line.rsplit_once(')').ok_or(form)?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let ["warps", warps, "lanes", lanes, "shared", shared, of @ ..] = &words[..] else {
            return Err(form.into());
        };
        let lanes: u32 = number(lanes)?;
        if !lanes.is_power_of_two() {
            return Err(format!("{lanes} lanes: a power of two"));
        }
        let program = &mut self.program;
        program.insts = IdVec::default();
        (program.name, program.warps) = (name.into(), number(warps)?);
        (program.lanes_log2, program.shared_bytes) = (lanes.ilog2(), number(shared)?);
        program.multiprocessor = match of {
            [] => None,
            ["of", registers, shared, reserved] => Some(Multiprocessor {
                registers: number(registers)?,
                shared_bytes: number(shared)?,
                reserved_bytes: number(reserved)?,
            }),
            _ => return Err(form.into()),
        };
        for param in params.split(", ").filter(|param| !param.is_empty()) {
            let form = || {
                format!(
                    "`{param}` is no argument: `name: type`, `name: ptr<type> by N` or `name: map<type 64x8 span 128>`"
                )
            };
            let (name, rest) = param.split_once(": ").ok_or_else(form)?;
            let (of, divisibility) = match rest.split_once(" by ") {
                Some((of, divisibility)) => (of, number(divisibility)?),
                None => (rest, 1),
            };
            if let Some(of) = of.strip_prefix("map<").and_then(|of| of.strip_suffix('>')) {
                program.maps.insert(program.params.len() as u32, tensor_map(of)?);
                let (name, dtype) = (name.into(), DType::I64);
                program.params.push(Param { name, dtype, pointee: None, divisibility });
                continue;
            }
            let pointee = of.strip_prefix("ptr<").and_then(|of| of.strip_suffix('>'));
            let pointee = pointee.map(dtype).transpose()?;
            let dtype = pointee.map_or_else(|| dtype(of), |_| Ok(DType::I64))?;
            program.params.push(Param { name: name.into(), dtype, pointee, divisibility });
        }
        Ok(())
    }

    /// `@s0 = N bytes at N align N [warp] [scratch] [renewed] [ordered] [mbarriers] [turns LOOP]`
    fn piece(&mut self, line: &'a str) -> Read<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, "=", bytes, "bytes", "at", offset, "align", align, marks @ ..] = &words[..]
        else {
            return Err(format!("`{line}` is no piece: `@s0 = N bytes at N align N`"));
        };
        let mut piece = SharedData {
            bytes: number(bytes)?,
            align: number(align)?,
            offset: number(offset)?,
            scope: BarrierScope::Block,
            scratch: false,
            renewed: false,
            ordered: false,
            turns: None,
            mbarriers: false,
        };
        let index = self.program.shared.len();
        if Self::piece_named(name)? != index {
            return Err(format!("{name} where @s{index} comes next"));
        }
        let mut marks = marks.iter();
        while let Some(&mark) = marks.next() {
            match mark {
                "warp" => piece.scope = BarrierScope::Warp,
                "scratch" => piece.scratch = true,
                "renewed" => piece.renewed = true,
                "ordered" => piece.ordered = true,
                "mbarriers" => piece.mbarriers = true,
                "turns" => {
                    let owner = marks.next().ok_or("a loop stands behind `turns`")?;
                    self.turns.push((Shared::new(index), owner));
                }
                mark => return Err(format!("`{mark}` tells nothing of a piece")),
            }
        }
        self.program.shared.push(piece);
        Ok(())
    }

    fn piece_named(name: &str) -> Read<usize> {
        name.strip_prefix("@s").and_then(|index| index.parse().ok()).ok_or_else(|| {
            format!("`{name}` is no piece of shared memory, which are called @s0, @s1, …")
        })
    }

    fn loop_named(&self, name: &str) -> Read<Inst> {
        let known = self.loops.get(name).copied();
        known.ok_or_else(|| format!("`{name}` is the name of no loop"))
    }

    /// Operations up to the closing brace of their region, and how the line goes on behind it.
    fn region(&mut self, params: &[(&'a str, DType)]) -> Read<(Region, &'a str)> {
        if self.open.len() >= DEEPEST {
            return Err(format!("regions lie in one another more than {DEEPEST} deep"));
        }
        let params = params.iter().map(|&(name, dtype)| self.define(name, dtype));
        let params = params.collect::<Read<Vec<Value>>>()?;
        self.open.push(Region { params, insts: Vec::new() });
        loop {
            let line = self.next()?;
            if let Some(end) = line.strip_prefix('}') {
                return Ok((self.open.pop().unwrap_or_default(), end.trim()));
            }
            self.operation(line)?;
        }
    }

    fn define(&mut self, name: &'a str, dtype: DType) -> Read<Value> {
        let value = self.program.values.push(ValueData { dtype });
        match self.values.insert(name, value) {
            None => Ok(value),
            Some(_) => Err(format!("{name} is defined twice")),
        }
    }

    /// The values of a list, and their types where they are defined.
    fn typed(list: &'a str) -> Read<Vec<(&'a str, DType)>> {
        let one = |one: &'a str| {
            let (name, of) = one.split_once(": ").ok_or_else(|| format!("`{one}` has no type"))?;
            Ok((name.trim(), dtype(of.trim())?))
        };
        list.split(',').filter(|one| !one.trim().is_empty()).map(|o| one(o.trim())).collect()
    }

    fn operation(&mut self, line: &'a str) -> Read<()> {
        let (file, at) = (self.file.into(), self.line);
        let place = Location::File { file, line: at, column: 1 };
        let loc = self.program.locations.push(place);
        let (results, rest) = match line.split_once(" = ") {
            Some((results, rest)) if results.starts_with('%') => (Self::typed(results)?, rest),
            _ => (Vec::new(), line),
        };
        let (head, params) = match rest.strip_suffix('{').map(str::trim_end) {
            None => (rest, None),
            Some(rest) => match rest.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
                Some((head, params)) => (head.trim_end(), Some(Self::typed(params)?)),
                None => (rest, Some(Vec::new())),
            },
        };
        let mut words = Words { rest: head };
        let name = words.next().unwrap_or("");
        let (op, label) = match params {
            None => (self.op(name, &mut words)?, None),
            Some(_) => owner(name, &mut words)?,
        };
        let (operands, regions) = (self.operands(&words)?, Vec::new());
        let inst = InstData { op, operands, results: SmallVec::new(), regions, loc };
        let inst = self.program.insts.push(inst);
        if let Some(label) = label
            && self.loops.insert(label, inst).is_some()
        {
            return Err(format!("two loops are called `{label}`"));
        }
        if let Some(params) = params {
            let (first, mut end) = self.region(&params)?;
            let mut regions = vec![first];
            while end == "else {" {
                let (region, next) = self.region(&[])?;
                regions.push(region);
                end = next;
            }
            if !end.is_empty() {
                return Err(format!("`{end}` behind a region"));
            }
            self.program.insts[inst].regions = regions;
        }
        let results = results.into_iter().map(|(name, dtype)| self.define(name, dtype));
        self.program.insts[inst].results = results.collect::<Read<_>>()?;
        if let Some(region) = self.open.last_mut() {
            region.insts.push(inst);
        }
        Ok(())
    }

    fn operands(&self, words: &Words<'a>) -> Read<SmallVec<[Value; 4]>> {
        let list = words.rest.split(',').map(str::trim).filter(|name| !name.is_empty());
        list.map(|name| {
            let known = self.values.get(name).copied();
            known.ok_or_else(|| format!("`{name}` is no value that is defined before"))
        })
        .collect()
    }

    /// The operation of a name, with the words that belong to it.
    fn op(&self, name: &str, words: &mut Words<'a>) -> Read<Op> {
        let mut parts = name.split('.');
        let first = parts.next().unwrap_or("");
        let parts: Vec<&str> = parts.collect();
        let none = || match &family::forms(first)[..] {
            [] => format!("`{name}` is no operation"),
            forms => format!("`{name}` is no operation: such are `{}`", forms.join("`, `")),
        };
        if let Some(op) = family::read(name, &mut || words.next().map(str::to_owned)) {
            return Ok(op);
        }
        Ok(match (first, &parts[..]) {
            ("const", []) => Op::Const(bits(words.next().ok_or("bits stand behind `const`")?)?),
            ("param", []) => Op::Param(words.number()?),
            ("lane", []) => Op::Id(IdKind::Lane),
            ("warp", []) => Op::Id(IdKind::Warp),
            ("thread", []) => Op::Id(IdKind::Thread),
            ("block", [axis]) => Op::Id(IdKind::Block(number(axis)?)),
            ("blocks", [axis]) => Op::Id(IdKind::Blocks(number(axis)?)),
            ("linear", []) => Op::Linear { columns: words.bracketed()? },
            ("select", []) => Op::Select,
            ("fma", []) => Op::Fma,
            ("fma", [rounding]) => Op::FmaToward(Rounding::by_name(rounding).ok_or_else(none)?),
            ("round", ["pair", to]) => Op::RoundPair(dtype(to)?),
            ("widen", ["pair", from]) => Op::WidenPair(dtype(from)?),
            ("bytes", []) => Op::Bytes,
            ("offset", []) => Op::Offset,
            ("address", []) => {
                let name = words.next().ok_or("a piece stands behind `address`")?;
                let index = Self::piece_named(name)?;
                if index >= self.program.shared.len() {
                    return Err(format!("{name} is not declared"));
                }
                Op::SharedBase(Shared::new(index))
            }
            ("cmp", [op]) => Op::Compare(Compare::by_name(op).ok_or_else(none)?),
            ("cast", [op]) => Op::Cast(Cast::by_name(op).ok_or_else(none)?),
            ("load" | "store", [of, ..]) => {
                let (of, offset) = at_offset(of)?;
                let (space, mut access) = (space(of)?, access(name, &parts[1..])?);
                access.offset += offset;
                if first == "load" {
                    Op::Load { space, access }
                } else {
                    Op::Store { space, access }
                }
            }
            ("shuffle", ["xor"]) => Op::ShuffleXor { mask: words.number()? },
            ("shuffle", ["index"]) => Op::ShuffleIndex,
            ("print", []) => {
                let text = words.quoted()?;
                let format = Format::from_c(&text);
                Op::Print(Box::new(format.ok_or_else(|| format!("{text:?} is no format"))?))
            }
            ("asm", marks) => {
                let volatile = flag(marks, "volatile").ok_or_else(none)?;
                Op::InlineAsm { text: words.quoted()?, pure: !volatile }
            }
            ("assert", []) => Op::Assert { message: words.quoted()? },
            ("break", ["if"]) => {
                let name = words.next().ok_or("a loop stands behind `break.if`")?;
                Op::BreakIf { target: self.loop_named(name)? }
            }
            ("continue", []) => Op::Continue,
            ("yield", []) => Op::Yield,
            ("return", []) => Op::Return,
            (_, []) => match (Unary::by_name(name), Binary::by_name(name)) {
                (Some(op), _) => Op::Unary(op),
                (_, Some(op)) => Op::Binary(op),
                _ => return Err(none()),
            },
            _ => return Err(none()),
        })
    }
}

/// An operation with regions, and what the text calls it if it is a loop.
fn owner<'a>(name: &str, words: &mut Words<'a>) -> Read<(Op, Option<&'a str>)> {
    match name {
        "if" => Ok((Op::If, None)),
        "loop" => Ok((Op::Loop, Some(words.next().ok_or("a loop has a name")?))),
        "roles" => {
            let mut roles = Vec::new();
            while let Some(word) = words.next() {
                roles.push(role(word)?);
            }
            Ok((Op::Roles(roles), None))
        }
        name => Err(format!("`{name}` has no regions")),
    }
}

/// The words of an operation, and its operands.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    /// The next word; none where the operands begin.
    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        if rest.is_empty() || rest.starts_with('%') {
            return None;
        }
        let (word, rest) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
        self.rest = rest;
        Some(word)
    }

    fn number<T: FromStr>(&mut self) -> Read<T> {
        number(self.next().ok_or("a number is missing")?)
    }

    /// Reads a list of numbers, such as `[1 2 3]`.
    fn bracketed(&mut self) -> Read<Vec<u32>> {
        let list = self.rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (list, rest) = list.ok_or("numbers stand between brackets")?;
        self.rest = rest;
        list.split_whitespace().map(number).collect()
    }

    /// A text between quotes, as Rust writes it.
    fn quoted(&mut self) -> Read<String> {
        let form = || "a text stands between quotes".to_string();
        let rest = self.rest.trim_start().strip_prefix('"').ok_or_else(form)?;
        let mut text = String::new();
        let mut chars = rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &rest[at + 1..];
                    return Ok(text);
                }
                '\\' => text.push(escaped(&mut chars).ok_or_else(form)?),
                c => text.push(c),
            }
        }
        Err(form())
    }
}

/// What stands behind a backslash.
fn escaped(chars: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    Some(match chars.next()?.1 {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        'u' => {
            let digits = chars.map(|(_, c)| c).skip_while(|&c| c == '{').take_while(|&c| c != '}');
            let digits: String = digits.collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
        }
        c @ ('"' | '\'' | '\\') => c,
        _ => return None,
    })
}

fn number<T: FromStr>(text: &str) -> Read<T> {
    text.parse().map_err(|_| format!("`{text}` is no number that fits here"))
}

fn bits(text: &str) -> Read<u64> {
    let digits = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
    digits.and_then(Result::ok).ok_or_else(|| format!("`{text}` are no bits: `0x…`"))
}

fn dtype(name: &str) -> Read<DType> {
    DType::by_name(name).ok_or_else(|| format!("`{name}` is no type"))
}

fn space(name: &str) -> Read<Space> {
    let known = [Space::Global, Space::Shared].into_iter().find(|&of| space_name(of) == name);
    known.ok_or_else(|| format!("`{name}` is no memory: global or shared"))
}

/// Whether a mark stands there; none if something else does.
fn flag(marks: &[&str], mark: &str) -> Option<bool> {
    match marks {
        [] => Some(false),
        [found] => (*found == mark).then_some(true),
        _ => None,
    }
}

/// Reads a role, `first+warps` or `first+warps:registers`.
fn role(word: &str) -> Read<Role> {
    let form = || format!("`{word}` is no role: `FIRST+WARPS` or `FIRST+WARPS:REGISTERS`");
    let (first, rest) = word.split_once('+').ok_or_else(form)?;
    let (warps, registers) = match rest.split_once(':') {
        Some((warps, registers)) => (warps, Some(number(registers)?)),
        None => (rest, None),
    };
    Ok(Role { first: number(first)?, warps: number(warps)?, registers })
}

/// `f16 64x8 span 128`
fn tensor_map(text: &str) -> Read<TensorMap> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [element, sides, "span", span, marks @ ..] = &words[..] else {
        return Err(format!("`map<{text}>` is no tensor map: `map<f16 64x8 span 128>`"));
    };
    let made = flag(marks, "made");
    let made = made.ok_or_else(|| format!("a map is `made` or an argument, not `{marks:?}`"))?;
    let sides = sides.split('x').map(number).collect::<Read<_>>()?;
    Ok(TensorMap { element: dtype(element)?, sides, span: number(span)?, made })
}

/// What follows the memory of a load or store.
fn access(name: &str, marks: &[&str]) -> Read<Access> {
    let mut access = Access::default();
    let mut marks = marks.iter();
    while let Some(&mark) = marks.next() {
        let (mark, offset) = at_offset(mark)?;
        access.offset += offset;
        match mark {
            "matrix" => {
                let form = || format!("`{name}`: a matrix is told as `matrix.8.b16`");
                let rows = marks.next().copied().ok_or_else(form)?;
                let bits = marks.next().and_then(|bits| bits.strip_prefix('b')).ok_or_else(form)?;
                let (bits, offset) = at_offset(bits)?;
                access.offset += offset;
                let matrix =
                    Matrix { element_bits: number(bits)?, rows: number(rows)?, transposed: false };
                access.form = Form::Matrix(matrix);
            }
            "transposed" => match &mut access.form {
                Form::Matrix(matrix) => matrix.transposed = true,
                Form::Vector => return Err(format!("`{name}`: only matrices are transposed")),
            },
            "volatile" => access.volatile = true,
            "if" => access.predicated = true,
            "" => {}
            mark => {
                let modifier = MODIFIERS.iter().find(|(_, name)| *name == mark);
                let eviction = EVICTIONS.iter().find(|(_, name)| *name == mark);
                match (modifier, eviction) {
                    (Some(&(modifier, _)), _) => access.cache.modifier = modifier,
                    (_, Some(&(eviction, _))) => access.cache.eviction = eviction,
                    _ => return Err(format!("`{name}`: `{mark}` tells nothing of an access")),
                }
            }
        }
    }
    Ok(access)
}

/// A word, and the offset in brackets behind it.
fn at_offset(word: &str) -> Read<(&str, i32)> {
    match word.strip_suffix(']').and_then(|word| word.split_once('[')) {
        Some((word, offset)) => Ok((word, number(offset)?)),
        None => Ok((word, 0)),
    }
}
