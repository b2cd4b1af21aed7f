//! Texts of Triton IR changed so that they stay texts of their kind: lines move, one name, number, type
//! or operation takes the place of another, here or everywhere.

use arbitrary::Unstructured;

/// A text of the same kind; none where there is nothing to change.
pub(crate) fn mutated(text: &str, seed: u32) -> Option<String> {
    let bytes: Vec<u8> = (0..16_u32)
        .flat_map(|index| {
            (seed ^ index.wrapping_mul(0x9E37_79B9)).wrapping_mul(0x85EB_CA6B).to_le_bytes()
        })
        .collect();
    let mut dice = Unstructured::new(&bytes);
    let mut below = |count: usize| dice.int_in_range(0..=count.checked_sub(1)?).ok();
    let mut lines: Vec<&str> = text.lines().collect();
    match below(8)? {
        0 => drop(lines.remove(below(lines.len())?)),
        1 => {
            let line = lines[below(lines.len())?];
            lines.insert(below(lines.len())?, line);
        }
        2 => {
            let (one, other) = (below(lines.len())?, below(lines.len())?);
            lines.swap(one, other);
        }
        how => {
            let tokens = tokens(text);
            let (start, token) = tokens[below(tokens.len())?];
            let like: Vec<&str> = (tokens.iter())
                .map(|&(_, other)| other)
                .filter(|other| kind(other) == kind(token) && *other != token)
                .collect();
            let small = ["0", "1", "2", "4", "16", "32", "64", "-1", "2147483648"];
            let types = ["f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32", "i64", "f8E5M2"];
            let other = match kind(token) {
                Kind::Number if how % 2 == 0 => small[below(small.len())?],
                Kind::Type if how % 2 == 0 => types[below(types.len())?],
                _ => like[below(like.len())?],
            };
            return Some(if how < 6 {
                let end = start + token.len();
                [&text[..start], other, &text[end..]].concat()
            } else {
                everywhere(text, &tokens, token, other)
            });
        }
    }
    Some(lines.join("\n"))
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Name,
    Number,
    Type,
    Operation,
    Word,
}

fn kind(token: &str) -> Kind {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match token.as_bytes() {
        [b'%', ..] => Kind::Name,
        [b'0'..=b'9', ..] => Kind::Number,
        [b'i' | b'f', rest @ ..] if !rest.is_empty() && number(&token[1..]) => Kind::Type,
        _ if token.starts_with("bf16") || token.starts_with("f8") => Kind::Type,
        _ if token.contains('.') => Kind::Operation,
        _ => Kind::Word,
    }
}

/// The words, numbers and names of a text with their places; in `128x64xf32`, each part is one.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    let mut start = None;
    for (place, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        let between_extents = letter == 'x'
            && start.is_some_and(|start: usize| {
                text[start..place].bytes().all(|byte| byte.is_ascii_digit())
            });
        let inside = letter.is_ascii_alphanumeric() || matches!(letter, '%' | '_' | '.' | '#');
        if inside && !between_extents {
            start.get_or_insert(place);
        } else if let Some(from) = start.take() {
            tokens.push((from, &text[from..place]));
        }
    }
    tokens
}

/// The text with one token replaced wherever it stands.
fn everywhere(text: &str, tokens: &[(usize, &str)], token: &str, other: &str) -> String {
    let mut changed = String::new();
    let mut done = 0;
    for &(start, _) in tokens.iter().filter(|(_, found)| *found == token) {
        changed += &text[done..start];
        changed += other;
        done = start + token.len();
    }
    changed + &text[done..]
}
