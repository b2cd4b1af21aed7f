//! Machines as JSON: written, read back, and refused.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use weft::dtype::DType;
use weft_api::invoke;
use weft_api::machines::{self, MachineAnswer};
use weft_layout::Machine;

fn written(machine: &Machine) -> Value {
    serde_json::from_str(&invoke::text_of(&MachineAnswer::of(machine))).unwrap()
}

/// The sentence with which a change of the `sm_90` machine is refused.
fn refused(change: impl FnOnce(&mut Value)) -> String {
    let mut value = written(Machine::by_name("sm_90").unwrap());
    change(&mut value);
    machines::read(&value).unwrap_err().to_string()
}

#[test]
fn every_machine_is_read_back_as_it_was_written() {
    for machine in Machine::ALL {
        assert_eq!(&machines::read(&written(machine)).unwrap(), machine);
    }
}

/// The reader's keys are those that the writer's types derive, everywhere: beside them only what was measured,
/// which the reader does not look into.
#[test]
fn the_reader_knows_the_keys_that_are_written_and_no_others() {
    let [mut written_keys, mut known]: [BTreeMap<String, BTreeSet<String>>; 2] = Default::default();
    for machine in Machine::ALL {
        let whole = written(machine);
        let mut pointers = vec![String::new()];
        collect(&whole, String::new(), &mut pointers);
        for pointer in pointers {
            let Some(Value::Object(object)) = whole.pointer(&pointer) else { continue };
            let is_index = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            let outside = pointer.split('/').filter(|part| !is_index(part));
            // Products of warps, of warpgroups and with scales are one type.
            let place = outside.collect::<Vec<_>>().join(".");
            let place = place.replace("warpgroup", "matrix").replace("scaled", "matrix");
            written_keys.entry(place.clone()).or_default().extend(object.keys().cloned());
            let mut changed = whole.clone();
            changed.pointer_mut(&pointer).unwrap()["no such key"] = json!(1);
            let refused = machines::read(&changed).unwrap_err().to_string();
            let (_, keys) =
                refused.split_once("there is no key `no such key`; there are ").unwrap();
            known.entry(place).or_default().extend(keys.split(", ").map(ToOwned::to_owned));
        }
    }
    written_keys.get_mut("").unwrap().insert("measured".into());
    assert_eq!(known, written_keys);
}

#[test]
fn products_with_scales_stand_in_a_list_of_their_own() {
    let whole = written(Machine::by_name("gfx950").unwrap());
    for (list, other, says) in [
        ("matrix_multiplies", "scaled_multiplies", "have scales, and those of its list have none"),
        ("scaled_multiplies", "matrix_multiplies", "have no scales, and those of its list have"),
    ] {
        let mut changed = whole.clone();
        changed[list][0] = whole[other][0].clone();
        let refused = machines::read(&changed).unwrap_err().to_string();
        assert_eq!(refused, format!("`target.{list}[0]`: its factors {says}"));
    }
    let mut changed = whole.clone();
    changed["scaled_multiplies"][0]["summed"] = json!(128);
    let refused = machines::read(&changed).unwrap_err().to_string();
    assert_eq!(
        refused,
        "`target.scaled_multiplies[0]`: with scales there are products of 16 x 16 x 128 and of 32 x 32 x 64"
    );
}

#[test]
fn what_a_machine_lacks_has_or_cannot_be_is_told_with_its_path() {
    let check = |change: fn(&mut Value), expected: &str| assert_eq!(refused(change), expected);
    check(|m| *m = json!(90), "`target`: a number stands where an object should");
    check(
        |m| m["prices"]["shufle"] = json!(1),
        "`target.prices`: there is no key `shufle`; there are wavefront, shuffle, alu, issue, \
         warp_barrier, block_barrier, block_barrier_per_warp, sector",
    );
    check(
        |m| drop(m.as_object_mut().unwrap().remove("lanes")),
        "`target`: the key `lanes` is missing",
    );
    check(
        |m| m["lanes"] = json!(0),
        "`target.lanes`: 0 is not possible: a whole number from 1 to 64 is",
    );
    check(|m| m["lanes"] = json!(48), "`target.lanes`: 48 is no power of two");
    check(|m| m["lanes"] = json!("32"), "`target.lanes`: a text stands where a number should");
    check(
        |m| m["banks"] = json!(32.5),
        "`target.banks`: 32.5 is not possible: a whole number from 1 to 1024 is",
    );
    check(
        |m| m["phases"]["load"]["16"] = json!([1, 2, 3]),
        "`target.phases.load.16[2]`: 3 is an exclusive-or of the others, and a basis has none such",
    );
    check(
        |m| m["phases"]["store"]["4"] = json!([1, 32]),
        "`target.phases.store.4[1]`: a warp of 32 lanes has no lane 32",
    );
    check(
        |m| m["phases"]["load"]["16"] = json!([1, 2, 4, 8]),
        "`target.phases.load.16`: 16 lanes ask for 256 bytes together, and all banks serve 128",
    );
    check(
        |m| m["phases"]["merging"]["lane_bits"] = json!([5]),
        "`target.phases.merging.lane_bits[0]`: a warp of 32 lanes has no lane bit 5",
    );
    check(
        |m| m["shared_bytes_per_block"] = json!(1 << 20),
        "`target.shared_bytes_per_block`: 1048576 is more than `shared_bytes`, which is 233472",
    );
    check(
        |m| m["threads_per_block"] = json!(100),
        "`target.threads_per_block`: 100 threads are no warps of 32 lanes",
    );
    check(
        |m| m["prices"]["alu"] = json!(0),
        "`target.prices.alu`: 0 is not possible: a whole number from 1 to 1000000000 is",
    );
    check(
        |m| m["prices"]["alu"] = json!(-52),
        "`target.prices.alu`: -52 is not possible: a whole number from 1 to 1000000000 is",
    );
    check(
        |m| m["matrix_moves"][0]["matrices"] = json!([8]),
        "`target.matrix_moves[0].matrices[0]`: 8 matrices of 8 rows need more than 32 lanes",
    );
    check(
        |m| m["shuffles"][1]["reach"] = json!({"within": 31, "swap": 16}),
        "`target.shuffles[1].reach`: the reach has one of `within`, `masks` and `swap`",
    );
    check(
        |m| m["sources"][0]["origin"] = json!("guessed"),
        "`target.sources[0].origin`: there is no `guessed`; there are measured, published, \
         documented, assembled, inferred, recalled",
    );
    check(
        |m| m["sources"][0]["of"] = json!("price.alu"),
        "`target.sources[0].of`: a machine has no `price` that could have a source",
    );
    check(
        |m| m["isa"] = json!({"ptx": "90"}),
        "`target.isa.ptx`: a text stands where a number should",
    );
    check(
        |m| m["name"] = json!("a b"),
        "`target.name`: a name is of 1 to 64 letters, digits, `_`, `-` and `.`",
    );
}

/// Whatever one value becomes, the machine is read or refused, and a machine that is read plans.
#[test]
fn any_change_of_one_value_is_answered() {
    let values = [
        json!(null),
        json!(0),
        json!(1),
        json!(2),
        json!(64),
        json!(u64::MAX),
        json!(-1),
        json!(0.5),
        json!("x"),
        json!([]),
        json!([1]),
        json!({}),
        json!(true),
    ];
    for machine in [Machine::by_name("sm_90").unwrap(), Machine::by_name("gfx942").unwrap()] {
        let whole = written(machine);
        let mut pointers = Vec::new();
        collect(&whole, String::new(), &mut pointers);
        for pointer in &pointers {
            for value in &values {
                let mut changed = whole.clone();
                *changed.pointer_mut(pointer).unwrap() = value.clone();
                let read = machines::read(&changed);
                let request = json!({
                    "request": "convert",
                    "from": "[register: (0,1) (0,2), lane: (1,0) (2,0) (4,0) (8,0) (16,0)] -> \
                             [dim0: 32, dim1: 4]",
                    "to": "[register: (1,0) (2,0), lane: (0,1) (0,2) (4,0) (8,0) (16,0)] -> \
                           [dim0: 32, dim1: 4]",
                    "shape": [32, 4],
                    "element": "f16",
                    "target": changed,
                });
                let answer = invoke(&request.to_string());
                if read.is_err() {
                    assert!(answer.starts_with(r#"{"error":{"kind":"target""#), "{answer}");
                }
                assert!(!answer.contains("defect"), "{pointer} {value}: {answer}");
            }
        }
    }
}

/// The pointers of all values inside a value.
fn collect(value: &Value, pointer: String, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                collect(inner, format!("{pointer}/{key}"), into);
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                collect(inner, format!("{pointer}/{index}"), into);
            }
        }
        _ => {}
    }
    if !pointer.is_empty() {
        into.push(pointer);
    }
}

#[test]
fn a_request_takes_a_machine_by_name_or_whole() {
    let mut request = json!({
        "request": "convert",
        "from": "[register: 1 2, lane: 4 8 16 32 64] -> [dim0: 128]",
        "to": "[register: 32 64, lane: 1 2 4 8 16] -> [dim0: 128]",
        "shape": [128],
        "element": "f32",
    });
    let by_default = invoke(&request.to_string());
    request["target"] = written(Machine::by_name("sm_90").unwrap());
    assert_eq!(invoke(&request.to_string()), by_default);
    // Dear shuffles send it through shared memory.
    request["target"]["prices"]["shuffle"] = json!(100_000);
    let answer: Value = serde_json::from_str(&invoke(&request.to_string())).unwrap();
    assert_eq!(answer["strategy"], "shared memory", "{answer}");
}

/// However it is spelled, a name leads to one machine.
#[test]
fn a_product_is_one_machine() {
    let mut seen = BTreeMap::new();
    for machine in Machine::ALL {
        assert!(machine.products().count() > 0, "{}", machine.name);
        for name in machine.products().chain([&*machine.name]) {
            let spelled = [name.to_uppercase(), name.replace('_', ""), name.replace("rtx", "RTX ")];
            for name in spelled.iter().map(String::as_str).chain([name]) {
                assert_eq!(Machine::by_name(name), Some(machine), "{name}");
            }
            let other = seen.insert(name.replace('_', ""), &machine.name);
            assert_eq!(other, None, "{name} is {} too", machine.name);
        }
    }
}

/// What others call a type leads to it, and to no other.
#[test]
fn a_name_of_an_element_type_is_of_one() {
    for dtype in DType::ALL {
        for name in dtype.other_names().iter().chain([&dtype.name()]) {
            assert_eq!(DType::called(name), Some(dtype), "{name}");
            assert_eq!(DType::called(&name.to_uppercase()), Some(dtype), "{name}");
            assert_eq!(weft_api::request::element_bits(name), Ok(dtype.bits()), "{name}");
        }
    }
}
