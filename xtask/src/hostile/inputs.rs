//! Mutated inputs: texts of kernels, requests, tools' arguments, words of the command.

use crate::root;
use fastrand::Rng;
use serde_json::{Value, json};
use std::fs;

#[path = "../../../crates/weft/tests/it/mutated/text.rs"]
mod text;

/// The letters of a word of the command.
const LONGEST_WORD: usize = 4 << 10;
/// The bytes of a line of the command, with a pointer to each word.
const LONGEST_LINE: usize = 64 << 10;
/// The longest kernel that is mutated, in bytes: longer ones say nothing new.
const LONGEST: usize = 24 << 10;
/// What a request may take, so that an endless loop is an answer too, in milliseconds.
const TIME: u64 = 2_000;

/// What is mutated.
pub(super) struct Seeds {
    kernels: Vec<String>,
    requests: Vec<Value>,
}

impl Seeds {
    pub(super) fn read() -> anyhow::Result<Self> {
        let mut kernels = Vec::new();
        for folder in ["kernels", "examples"] {
            for entry in fs::read_dir(root().join(folder))? {
                let path = entry?.path();
                let is_kernel = path.extension().is_some_and(|end| end == "ttir" || end == "ttgir");
                if is_kernel && fs::metadata(&path)?.len() <= LONGEST as u64 {
                    kernels.push(path);
                }
            }
        }
        kernels.sort();
        let kernels = kernels.iter().map(fs::read_to_string).collect::<Result<_, _>>()?;
        let requests =
            fs::read_to_string(root().join("crates/weft-api/tests/transports/requests.jsonl"))?;
        // Some of them are no JSON.
        let requests = requests.lines().filter_map(|line| serde_json::from_str(line).ok());
        // Whoever asks for hours may have them.
        let requests = requests.filter(|request: &Value| request.get("limits").is_none()).collect();
        Ok(Self { kernels, requests })
    }

    /// The kernel of a text, changed once to three times.
    fn kernel(&self, dice: &mut Rng) -> String {
        let mut kernel = self.kernels[dice.usize(..self.kernels.len())].clone();
        for _ in 0..dice.usize(1..=3) {
            if let Some(changed) = text::mutated(&kernel, dice.u32(..)) {
                kernel = changed;
            }
        }
        kernel
    }

    /// A request of the library.
    fn asked(&self, dice: &mut Rng) -> Value {
        match dice.u8(..10) {
            0..2 => {
                json!({"request": "compile", "ttir": self.kernel(dice), "emit": ["ptx", "cuda", "report", "ttgir"]})
            }
            2 => json!({"request": "explain", "ttir": self.kernel(dice)}),
            3 => {
                let kernel = self.kernel(dice);
                let args = arguments(&kernel);
                json!({"request": "run", "ttir": kernel, "grid": 2, "args": args})
            }
            _ => {
                let mut request = self.requests[dice.usize(..self.requests.len())].clone();
                for _ in 0..dice.usize(1..=3) {
                    mutate(&mut request, dice);
                }
                request
            }
        }
    }

    /// A request of the library, as text that may be no JSON any more. Where the shell sets no limit of time,
    /// each request does.
    pub(super) fn request(&self, dice: &mut Rng, has_limit: bool) -> String {
        let mut request = self.asked(dice);
        let all = match &mut request {
            Value::Array(several) => &mut several[..],
            one => std::slice::from_mut(one),
        };
        for object in all.iter_mut().filter_map(Value::as_object_mut) {
            if dice.u8(..8) > 0 || !has_limit {
                object.insert("limits".into(), json!({"milliseconds": TIME}));
            }
        }
        let text = request.to_string();
        if dice.u8(..10) == 0 { scrambled(&text, dice) } else { text }
    }

    /// What is typed behind `weft`, and what stands on standard input.
    pub(super) fn line(&self, dice: &mut Rng) -> (Vec<String>, String) {
        let (mut words, input) = words(&self.asked(dice));
        if dice.u8(..4) == 0 {
            let word = dice.usize(..words.len());
            words[word] = scrambled(&words[word], dice);
        }
        // A kernel of the system takes no zero byte, and no word without end.
        for word in &mut words {
            *word = word.replace('\0', " ").chars().take(LONGEST_WORD).collect();
        }
        // All words together stand on the stack, a quarter of which they may take with the environment.
        let mut room = LONGEST_LINE;
        let fitting = words.iter().take_while(|word| {
            let bytes = word.len() + 1 + size_of::<usize>();
            room.checked_sub(bytes).inspect(|rest| room = *rest).is_some()
        });
        let count = fitting.count();
        words.truncate(count);
        words.extend(["--limit".into(), format!("milliseconds={TIME}")]);
        (words, input)
    }

    /// The name and the arguments of an agent's tool.
    pub(super) fn call(&self, dice: &mut Rng) -> (String, String) {
        let mut request = self.requests[dice.usize(..self.requests.len())].clone();
        let asked = request.as_object_mut().and_then(|object| object.remove("request"));
        mutate(&mut request, dice);
        // Not every request is a tool.
        let tool = match asked.as_ref().and_then(Value::as_str) {
            Some("run") => "simulate",
            Some(name) if TOOLS.contains(&name) => name,
            _ => "layout",
        };
        (tool.into(), request.to_string())
    }
}

/// An argument for each parameter that the first line of a kernel names.
fn arguments(kernel: &str) -> Value {
    let head = kernel.lines().find(|line| line.contains("tt.func public")).unwrap_or_default();
    let parameters = head.split('%').skip(1).filter_map(|rest| rest.split_once(": "));
    let argument = |(name, rest): (&str, &str)| {
        let element = rest.strip_prefix("!tt.ptr<").and_then(|rest| rest.split('>').next());
        let value = element.map_or("64".into(), |element| format!("random:{element}[4096]"));
        (name.to_owned(), Value::from(value))
    };
    parameters.map(argument).collect::<serde_json::Map<_, _>>().into()
}

/// A request as it is typed: its members as options, a kernel on standard input.
pub(super) fn words(request: &Value) -> (Vec<String>, String) {
    let (mut words, mut input) = (Vec::new(), String::new());
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<_> =
                items.iter().map(|item| item.to_string().replace('"', "")).collect();
            items.join(",")
        }
        value => value.to_string(),
    };
    let members = request.as_object().into_iter().flatten();
    for (name, value) in members.filter(|(name, _)| *name != "request") {
        let option = match &**name {
            "loads" => "--load".to_owned(),
            "args" => "--arg".to_owned(),
            "pins" => "--pin".to_owned(),
            name => format!("--{}", name.replace('_', "-")),
        };
        match (&**name, value) {
            ("ttir", kernel) => {
                input = plain(kernel);
                words.push("-".into());
            }
            ("attribute", layout) => words.push(plain(layout)),
            ("table", table) => words.push(plain(table)),
            ("loads" | "pins", Value::Array(items)) => {
                words.extend(items.iter().flat_map(|item| [option.clone(), plain(item)]));
            }
            ("args", Value::Object(members)) => {
                let each = members.iter().map(|(name, value)| format!("{name}={}", plain(value)));
                words.extend(each.flat_map(|argument| [option.clone(), argument]));
            }
            (_, Value::Bool(true)) => words.push(option),
            (_, value) => words.extend([option, plain(value)]),
        }
    }
    let request = request.get("request").map_or_else(|| "layout".into(), plain);
    words.insert(0, request);
    (words, input)
}

/// The tools that are called as requests are.
const TOOLS: [&str; 7] =
    ["machines", "layout", "conflicts", "swizzle", "convert", "compile", "explain"];

/// Numbers and other values at the edges of what anything takes.
const EDGES: [&str; 24] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "48",
    "63",
    "64",
    "65",
    "4096",
    "65536",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "1e308",
    "0.5",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
];

fn edge(dice: &mut Rng) -> Value {
    serde_json::from_str(EDGES[dice.usize(..EDGES.len())]).unwrap_or_default()
}

/// Changes something in a value: a member goes, comes twice or becomes another; a text is scrambled.
fn mutate(value: &mut Value, dice: &mut Rng) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let keys: Vec<String> = members.keys().cloned().collect();
            let key = &keys[dice.usize(..keys.len())];
            match dice.u8(..8) {
                0 => drop(members.remove(key)),
                1 => drop(members.insert(scrambled(key, dice), edge(dice))),
                2 => {
                    let other = members[&keys[dice.usize(..keys.len())]].clone();
                    members.insert(key.clone(), other);
                }
                _ => mutate(&mut members[key], dice),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let index = dice.usize(..items.len());
            match dice.u8(..6) {
                0 => drop(items.remove(index)),
                1 => {
                    let again = vec![items[index].clone(); 1 << dice.u8(..12)];
                    items.splice(index..index, again);
                }
                2 => items[index] = edge(dice),
                _ => mutate(&mut items[index], dice),
            }
        }
        Value::String(text) if dice.u8(..6) > 0 => {
            let is_kernel = text.contains("tt.func");
            let changed = is_kernel.then(|| text::mutated(text, dice.u32(..))).flatten();
            *text = changed.unwrap_or_else(|| scrambled(text, dice));
        }
        value => *value = edge(dice),
    }
}

/// What layouts, numbers and JSON are made of.
const LETTERS: &str = "()[]{}<>:,=#%\"\\0123456789xo-+_.*?S ;\n\u{feff}\u{e9}";

/// A text with letters that go, come, move or repeat.
pub(super) fn scrambled(text: &str, dice: &mut Rng) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let new: Vec<char> = LETTERS.chars().collect();
    for _ in 0..dice.usize(1..=4) {
        let (at, letter) = (dice.usize(..=letters.len()), new[dice.usize(..new.len())]);
        match dice.u8(..5) {
            0 if at < letters.len() => drop(letters.remove(at)),
            1 if at < letters.len() => letters[at] = letter,
            2 => letters.truncate(at.max(letters.len() / 2)),
            // Deep nesting and long numbers are made of one letter.
            3 => drop(letters.splice(at..at, vec![letter; 1 << dice.u8(..16)])),
            _ => letters.insert(at, letter),
        }
    }
    letters.into_iter().collect()
}
