//! Inline assembly as text: LLVM's `$0` and `$$` replaced.

/// The text with each operand's name in its place. A number without an operand stays as it is.
pub(super) fn with_operands(text: &str, operand: impl Fn(usize) -> Option<String>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        result.push_str(before);
        if let Some(plain) = after.strip_prefix('$') {
            result.push('$');
            rest = plain;
            continue;
        }
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, others) = after.split_at(digits);
        match number.parse().ok().and_then(&operand) {
            Some(name) => result.push_str(&name),
            None => result.extend(["$", number]),
        }
        rest = others;
    }
    result + rest
}
