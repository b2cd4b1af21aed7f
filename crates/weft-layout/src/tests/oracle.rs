//! Agreement with layouts that Triton 3.9.0 printed, where they are at hand.

use std::{
    collections::BTreeMap,
    env, eprintln, format, fs,
    path::PathBuf,
    string::{String, ToString},
    vec::Vec,
};

use crate::{Machine, interop::parse_attribute, layout::Bases, plan::convert, space::Label};

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

#[test]
fn triton_layouts() {
    let Some(text) = oracle("triton-layouts.jsonl") else { return };
    let (mut checked, mut wrong) = (0, Vec::new());
    for line in text.lines() {
        let attribute = field(line, "attribute");
        let family =
            parse_attribute(attribute).unwrap_or_else(|error| panic!("{error}: {attribute}"));
        assert_eq!(family.to_string(), attribute);
        let shape = numbers(field(line, "shape"));
        let bases = field(line, "bases");
        let expected: Bases = ["register", "lane", "warp", "offset", "block"]
            .iter()
            .filter(|&&name| bases.contains(&format!("\"{name}\"")))
            .map(|&name| {
                let lists = field(bases, name);
                let all = numbers(lists);
                (Label::new(name).unwrap(), all.chunks(shape.len()).map(<[u64]>::to_vec).collect())
            })
            .collect();
        checked += 1;
        let found = family.layout(&shape).map(|layout| layout.bases());
        if found.as_ref() != Ok(&expected) {
            wrong.push(format!("{attribute} {shape:?}\n  {expected:?}\n  {found:?}"));
        }
    }
    eprintln!("{checked} layouts checked");
    assert!(
        wrong.is_empty(),
        "{} of {checked} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(8)].join("\n")
    );
    assert!(checked >= 1200);
}

#[test]
fn triton_conversions() {
    let Some(text) = oracle("triton-conversions.jsonl") else { return };
    let machine = Machine::by_name("sm_90").unwrap();
    let (mut planned, mut conflicting) = (0, 0);
    let mut strategies = BTreeMap::new();
    for line in text.lines() {
        let [from, to] = ["from", "to"].map(|key| parse_attribute(field(line, key)).unwrap());
        let shape = numbers(field(line, "shape"));
        let digits = numbers(field(line, "element"));
        let (from, to) = (from.layout(&shape).unwrap(), to.layout(&shape).unwrap());
        let plan = convert(&from, &to, digits[0] as u32, machine)
            .unwrap_or_else(|error| panic!("{error}: {line}"));
        planned += 1;
        conflicting += u32::from(plan.cost.wavefronts > plan.cost.ideal_wavefronts);
        *strategies.entry(plan.strategy).or_insert(0) += 1;
    }
    eprintln!("{planned} planned, {conflicting} with conflicts, {strategies:?}");
    assert!(planned >= 455);
}
