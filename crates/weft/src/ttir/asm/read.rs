//! The text of inline assembly: PTX instructions, declarations of registers, comments.

/// One instruction: `@!p mad.lo.s32 $0, %a, 3, {b, c};`
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Instruction {
    /// The register that says whether it is done, and whether it says so by being false.
    pub(super) guard: Option<(Operand, bool)>,
    /// What stands between the points: `mad`, `lo`, `s32`.
    pub(super) words: Vec<String>,
    /// The operands, in the order of the text.
    pub(super) operands: Vec<Operand>,
}

/// An operand of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    /// `$3`: an operand of the assembly as a whole.
    Slot(usize),
    /// A register that was declared, or a special one, with its `%`.
    Register(String),
    /// Raw bits; a negative number is extended by its sign.
    Number(u64),
    /// Several registers side by side, `{a, b}`.
    Vector(Vec<Operand>),
}

/// The registers that a text declares, with their types, and its instructions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Assembly {
    /// Names and types: `("t0", "b32")`.
    pub(super) registers: Vec<(String, String)>,
    /// The instructions, in order.
    pub(super) instructions: Vec<Instruction>,
}

/// The most registers that one declaration with `<…>` declares.
const MOST_REGISTERS: u64 = 1024;

/// Reads a text; an error says what is not understood.
pub(super) fn read(text: &str) -> Result<Assembly, String> {
    let mut assembly = Assembly::default();
    let plain = without_comments(text);
    // Braces of a vector stand inside a statement, those of a scope between two.
    for statement in statements(&plain) {
        let statement = statement.trim();
        if statement.is_empty() {
            continue;
        }
        match statement.strip_prefix(".reg") {
            Some(declared) => declare(declared, &mut assembly.registers)?,
            None => assembly.instructions.push(instruction(statement)?),
        }
    }
    Ok(assembly)
}

fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        let (before, comment) = rest.split_at(start);
        plain.push_str(before);
        plain.push(' ');
        let end = if comment.starts_with("//") { "\n" } else { "*/" };
        rest = comment.split_once(end).map_or("", |(_, after)| after);
    }
    plain + rest
}

/// What stands between semicolons, without the braces of scopes.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').map(|statement| {
        statement.trim_start_matches(|c: char| c.is_whitespace() || c == '{' || c == '}')
    })
}

fn declare(text: &str, registers: &mut Vec<(String, String)>) -> Result<(), String> {
    let (ty, names) = text
        .trim_start()
        .strip_prefix('.')
        .and_then(|rest| rest.split_once(char::is_whitespace))
        .ok_or_else(|| format!("`.reg{text}` declares no registers"))?;
    for name in names.split(',').map(str::trim) {
        let Some((name, count)) = name.split_once('<') else {
            registers.push((name.into(), ty.into()));
            continue;
        };
        let count = count.trim_end_matches('>').trim().parse::<u64>().ok();
        let count = count.filter(|&count| count <= MOST_REGISTERS);
        let count = count.ok_or_else(|| format!("`.reg{text}` declares too many registers"))?;
        registers.extend((0..count).map(|index| (format!("{name}{index}"), ty.to_string())));
    }
    Ok(())
}

fn instruction(text: &str) -> Result<Instruction, String> {
    let (guard, rest) = match text.strip_prefix('@') {
        Some(guarded) => {
            let (register, rest) = guarded
                .split_once(char::is_whitespace)
                .ok_or_else(|| format!("`{text}` has a guard and nothing that it guards"))?;
            let inverted = register.starts_with('!');
            (Some((operand(register.trim_start_matches('!'))?, inverted)), rest.trim_start())
        }
        None => (None, text),
    };
    let (name, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let words = name.split('.').map(str::to_string).collect();
    let operands = separated(operands).into_iter().map(operand).collect::<Result<_, _>>()?;
    Ok(Instruction { guard, words, operands })
}

/// What stands between commas that are not inside braces.
fn separated(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() || !parts.is_empty() {
        parts.push(last);
    }
    parts
}

fn operand(text: &str) -> Result<Operand, String> {
    let Some(inner) = text.strip_prefix('{') else { return single(text) };
    let inner = inner.strip_suffix('}').ok_or_else(|| unknown(text))?;
    let parts = separated(inner).into_iter().map(single).collect::<Result<_, _>>()?;
    Ok(Operand::Vector(parts))
}

fn unknown(text: &str) -> String {
    format!("`{text}` is no operand that is understood")
}

/// An operand that is no vector.
fn single(text: &str) -> Result<Operand, String> {
    if let Some(slot) = text.strip_prefix('$') {
        return Ok(Operand::Slot(slot.parse().map_err(|_| unknown(text))?));
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return number(text).map(Operand::Number).ok_or_else(|| unknown(text));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '%' | '$' | '.');
    if text.is_empty() || !text.chars().all(plain) {
        return Err(unknown(text));
    }
    Ok(Operand::Register(text.into()))
}

/// `12`, `-3`, `0x1f`, `0U`, or the bits of a float: `0f3f800000`, `0d…`.
fn number(text: &str) -> Option<u64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let plain = lower.trim_end_matches('u');
    let magnitude = if let Some(bits) = lower.strip_prefix("0f").or(lower.strip_prefix("0d")) {
        return u64::from_str_radix(bits, 16).ok().filter(|_| !negative);
    } else if let Some(hexadecimal) = plain.strip_prefix("0x") {
        u64::from_str_radix(hexadecimal, 16).ok()?
    } else if let Some(binary) = plain.strip_prefix("0b") {
        u64::from_str_radix(binary, 2).ok()?
    } else {
        plain.parse().ok()?
    };
    Some(if negative { magnitude.wrapping_neg() } else { magnitude })
}
