//! Agreement with layouts that Triton 3.9.0 printed: a committed sample, and more where they are at
//! hand.

use std::{
    collections::BTreeMap,
    env, eprintln, format, fs,
    path::PathBuf,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    Layout, Machine,
    interop::parse_attribute,
    layout::Bases,
    plan::convert,
    space::{Label, PARTITION},
};

/// The reference data in `WEFT_ORACLE_DIR`; says so when there is none.
fn oracle(name: &str) -> Option<String> {
    let Some(dir) = env::var_os("WEFT_ORACLE_DIR") else {
        eprintln!("skipped: WEFT_ORACLE_DIR is not set");
        return None;
    };
    let path = PathBuf::from(dir).join(name);
    let text = fs::read_to_string(&path);
    Some(text.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// The text of a JSON field up to the matching end of its value.
fn field<'a>(line: &'a str, key: &str) -> &'a str {
    let key = format!("\"{key}\":");
    let start = line.find(&key).unwrap() + key.len();
    let rest = line[start..].trim_start();
    if let Some(text) = rest.strip_prefix('"') {
        return &text[..text.find('"').unwrap()];
    }
    let mut depth = 0;
    let end = rest.find(|c| {
        depth += i32::from(matches!(c, '[' | '{')) - i32::from(matches!(c, ']' | '}'));
        depth < 0 || (depth == 0 && matches!(c, ',' | ']' | '}'))
    });
    rest[..end.unwrap() + usize::from(rest.starts_with(['[', '{']))].trim()
}

fn numbers(list: &str) -> Vec<u64> {
    list.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
}

/// Asserts that our layouts are the recorded ones, one a line; returns how many there are.
fn assert_recorded(text: &str) -> usize {
    let records = text.lines().filter(|line| line.contains("\"attribute\":"));
    let answers: Vec<Result<(), String>> = records.map(compare).collect();
    let wrong: Vec<String> = answers.iter().filter_map(|answer| answer.clone().err()).collect();
    let first = wrong[..wrong.len().min(8)].join("\n");
    assert!(wrong.is_empty(), "{} of {} differ:\n{first}", wrong.len(), answers.len());
    answers.len()
}

/// Whether our layout is the recorded one, and its attribute is read and printed as it stands.
fn compare(line: &str) -> Result<(), String> {
    let attribute = field(line, "attribute");
    let family = parse_attribute(attribute).map_err(|error| format!("{attribute}: {error}"))?;
    let shape = numbers(field(line, "shape"));
    let expected = recorded_bases(field(line, "bases"), shape.len());
    let found = family.layout(&shape).map(|layout| {
        let mut bases = layout.bases();
        // Triton's binding leaves this axis out; the elements that the others miss are its own.
        if bases.iter().any(|axis| axis.0 == PARTITION) && layout.is_surjective() {
            bases.retain(|axis| axis.0 != PARTITION);
        }
        bases
    });
    if family.to_string() == attribute && found.as_ref() == Ok(&expected) {
        return Ok(());
    }
    Err(format!("{attribute} {shape:?}\n  {expected:?}\n  {family}\n  {found:?}"))
}

/// The bases of a record, in the order in which it lists the axes.
fn recorded_bases(object: &str, rank: usize) -> Bases {
    let names = object.split('"').skip(1).step_by(2);
    let bases = |name| numbers(field(object, name)).chunks(rank).map(<[u64]>::to_vec).collect();
    names.map(|name| (Label::new(name).unwrap(), bases(name))).collect()
}

#[test]
fn triton_layouts() {
    let Some(text) = oracle("triton-layouts.jsonl") else { return };
    assert!(assert_recorded(&text) >= 1200);
}

/// The committed sample of all families; `oracle/record.py` made it.
const SAMPLE: &str = include_str!("../../oracle/layouts.jsonl");

#[test]
fn recorded_layouts() {
    assert_eq!(assert_recorded(SAMPLE), 319);
}

/// The committed sample: attribute, shape and our layout.
pub(super) fn sample() -> Vec<(String, Vec<u64>, Layout)> {
    let read = |line| {
        let (attribute, shape) = (field(line, "attribute"), numbers(field(line, "shape")));
        let layout = parse_attribute(attribute).unwrap().layout(&shape).unwrap();
        (attribute.to_string(), shape, layout)
    };
    SAMPLE.lines().filter(|line| line.contains("\"attribute\":")).map(read).collect()
}

/// The pairs of layouts that Triton's tests convert between, with the bits of an element.
pub(super) fn conversions() -> Option<Vec<(Layout, Layout, u32)>> {
    let text = oracle("triton-conversions.jsonl")?;
    let pair = |line: &str| {
        let [from, to] = ["from", "to"].map(|key| parse_attribute(field(line, key)).unwrap());
        let shape = numbers(field(line, "shape"));
        let digits = numbers(field(line, "element"));
        (from.layout(&shape).unwrap(), to.layout(&shape).unwrap(), digits[0] as u32)
    };
    Some(text.lines().map(pair).collect())
}

#[test]
fn triton_conversions() {
    let Some(pairs) = conversions() else { return };
    let machine = Machine::by_name("sm_90").unwrap();
    let (mut planned, mut conflicting) = (0, 0);
    let mut strategies = BTreeMap::new();
    for (from, to, bits) in pairs {
        let plan = convert(&from, &to, bits, machine)
            .unwrap_or_else(|error| panic!("{error}: {from} to {to}"));
        planned += 1;
        conflicting += u32::from(plan.cost.wavefronts > plan.cost.ideal_wavefronts);
        *strategies.entry(plan.strategy).or_insert(0) += 1;
    }
    eprintln!("{planned} planned, {conflicting} with conflicts, {strategies:?}");
    assert!(planned >= 455);
}
