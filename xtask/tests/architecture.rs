//! The arrows between modules, the words that stay above a floor, and who may name operations with effects.
//!
//! Cargo enforces the arrows between crates; this test those between the modules of one crate. A
//! module may see what its row names and nothing else. What a row leaves out is the point: the
//! simulator sees neither the lowering nor the planner's cost law, the printers do not see tile
//! programs, and the witness does not see the planner, so that each of them is an independent check.

mod code;
mod sources;

use code::{code, is_test};
use sources::{root, sources};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A folder with modules, and for each of them those of the others that it may see.
struct House {
    source: &'static str,
    /// How a path to one of the modules begins.
    root: &'static str,
    rows: &'static [(&'static str, &'static [&'static str])],
}

const FOUNDATION: &[&str] = &[
    "atomic",
    "budget",
    "cache",
    "diagnostic",
    "dtype",
    "format",
    "id",
    "location",
    "memory",
    "scalar",
];

const HOUSES: [House; 4] = [
    House {
        source: "crates/weft-layout/src",
        root: "crate::",
        rows: &[
            ("stop", &[]),
            ("f2", &[]),
            ("space", &["f2"]),
            ("layout", &["f2", "space"]),
            ("affine", &["f2", "space", "layout"]),
            ("family", &["f2", "space", "layout", "affine"]),
            ("machine", &["f2", "space", "layout", "family"]),
            ("access", &["f2", "space", "layout", "affine", "machine"]),
            ("step", &["f2", "machine", "access"]),
            ("witness", &["f2", "space", "layout", "step"]),
            (
                "plan",
                &[
                    "stop", "f2", "space", "layout", "family", "machine", "access", "step",
                    "witness",
                ],
            ),
            ("interop", &["f2", "space", "layout", "affine", "family"]),
            (
                "testing",
                &[
                    "f2", "space", "layout", "family", "machine", "access", "step", "witness",
                    "plan",
                ],
            ),
        ],
    },
    House {
        source: "crates/weft-layout/src/plan",
        root: "crate::plan::",
        rows: &[
            ("writing", &[]),
            ("swizzle", &[]),
            ("buffer", &["swizzle", "writing"]),
            ("hardware", &["swizzle"]),
            ("convert", &["buffer", "swizzle", "writing"]),
            ("fold", &["buffer", "swizzle", "writing"]),
            ("indexed", &["buffer", "convert", "swizzle", "writing"]),
            ("task", &["fold", "indexed"]),
        ],
    },
    House {
        source: "crates/weft/src",
        root: "crate::",
        rows: &[
            ("id", &[]),
            ("location", &["id"]),
            ("budget", &["location"]),
            ("diagnostic", &["location"]),
            ("dtype", &[]),
            ("cache", &[]),
            ("scalar", &["dtype"]),
            ("instruction", &["scalar"]),
            ("atomic", &["dtype", "scalar"]),
            ("memory", &["dtype"]),
            ("format", &[]),
            ("tile", FOUNDATION),
            ("scaled", &["dtype", "id", "scalar", "tile"]),
            (
                "ttir",
                &[
                    "atomic",
                    "budget",
                    "cache",
                    "diagnostic",
                    "dtype",
                    "id",
                    "instruction",
                    "location",
                    "scalar",
                    "scaled",
                    "tile",
                ],
            ),
            ("lane", &["atomic", "budget", "cache", "dtype", "format", "id", "location", "scalar"]),
            ("math", &["dtype", "lane", "scalar"]),
            ("movement", &["atomic", "dtype", "lane", "location", "scalar"]),
            ("axis", &["budget", "dtype", "id", "scalar", "tile"]),
            ("fuse", &["dtype", "id", "scalar", "tile"]),
            ("descriptors", &["atomic", "axis", "cache", "dtype", "id", "lane", "scalar", "tile"]),
            ("split", &["axis", "dtype", "id", "scalar", "tile"]),
            ("first", &["axis", "id", "split", "tile"]),
            ("once", &["axis", "id", "scalar", "tile"]),
            ("whole", &["axis", "id", "split", "tile"]),
            ("natural", &["axis", "dtype", "id", "scalar", "tile"]),
            ("flat", &["axis", "dtype", "id", "scalar", "tile"]),
            ("prune", &["id", "tile"]),
            ("unplace", &["id", "prune", "tile"]),
            ("factors", &["assign", "axis", "id", "prune", "tile"]),
            ("anew", &["dtype", "id", "scalar", "tile"]),
            ("pipeline", &["axis", "cache", "dtype", "id", "movement", "prune", "scalar", "tile"]),
            (
                "assign",
                &[
                    "axis",
                    "budget",
                    "cache",
                    "descriptors",
                    "diagnostic",
                    "dtype",
                    "id",
                    "lane",
                    "movement",
                    "scalar",
                    "tile",
                ],
            ),
            (
                "lower",
                &[
                    "assign",
                    "atomic",
                    "axis",
                    "budget",
                    "cache",
                    "descriptors",
                    "dtype",
                    "format",
                    "id",
                    "lane",
                    "location",
                    "math",
                    "movement",
                    "pipeline",
                    "scalar",
                    "tile",
                ],
            ),
            ("simplify", &["budget", "dtype", "id", "instruction", "lane", "location", "scalar"]),
            ("conversion", &["dtype", "lane", "location", "movement", "simplify"]),
            ("timeline", &["budget", "dtype", "id", "instruction", "lane", "location", "scalar"]),
            ("sim", &["atomic", "dtype", "format", "id", "lane", "location", "memory", "scalar"]),
            (
                "emit",
                &[
                    "atomic",
                    "budget",
                    "cache",
                    "dtype",
                    "format",
                    "id",
                    "instruction",
                    "lane",
                    "location",
                    "scalar",
                    "simplify",
                ],
            ),
            ("schedule", &["cache", "dtype", "id", "simplify", "tile"]),
            (
                "compile",
                &[
                    "anew",
                    "assign",
                    "axis",
                    "budget",
                    "descriptors",
                    "dtype",
                    "factors",
                    "first",
                    "flat",
                    "fuse",
                    "id",
                    "lane",
                    "lower",
                    "memory",
                    "natural",
                    "once",
                    "pipeline",
                    "scaled",
                    "schedule",
                    "sim",
                    "simplify",
                    "tile",
                    "timeline",
                    "whole",
                ],
            ),
        ],
    },
    House {
        source: "crates/weft-api/src",
        root: "crate::",
        rows: &[
            ("suggest", &[]),
            ("error", &["machines", "suggest"]),
            ("budget", &["error"]),
            ("bases", &[]),
            ("machines", &[]),
            ("request", &["bases", "error", "machines"]),
            ("answer", &["bases", "machines", "request"]),
            ("reading", &["bases", "error", "request"]),
            ("layouts", &["answer", "bases", "error", "machines", "reading", "request"]),
            ("operators", &["answer", "bases", "error", "layouts", "reading", "request"]),
            ("conflicts", &["answer", "error", "reading", "request"]),
            ("swizzles", &["answer", "bases", "budget", "error", "reading", "request"]),
            ("sweep", &["answer", "budget", "error", "reading", "request"]),
            ("kernels", &["answer", "budget", "error", "occupancy", "reading", "request"]),
            ("occupancy", &["answer"]),
            ("explain", &["answer", "budget", "error", "kernels", "occupancy", "request"]),
            ("run", &["answer", "budget", "error", "kernels", "occupancy", "request"]),
            (
                "port",
                &[
                    "answer",
                    "bases",
                    "budget",
                    "error",
                    "explain",
                    "kernels",
                    "occupancy",
                    "reading",
                    "report",
                    "request",
                    "swizzles",
                ],
            ),
            ("probe", &["error", "invoke", "kernels", "machines", "request"]),
            (
                "paper",
                &["answer", "bases", "budget", "error", "kernels", "reading", "request", "run"],
            ),
            ("view", &["answer", "budget", "error", "request"]),
            ("wavefronts", &["answer", "error", "reading", "request", "view"]),
            ("report", &["answer", "machines", "request"]),
            (
                "conversions",
                &["answer", "budget", "error", "kernels", "reading", "report", "request", "view"],
            ),
            (
                "invoke",
                &[
                    "answer",
                    "budget",
                    "conflicts",
                    "conversions",
                    "error",
                    "explain",
                    "kernels",
                    "layouts",
                    "operators",
                    "paper",
                    "port",
                    "report",
                    "request",
                    "run",
                    "sweep",
                    "swizzles",
                    "view",
                    "wavefronts",
                ],
            ),
            (
                "agent",
                &[
                    "answer",
                    "bases",
                    "budget",
                    "conflicts",
                    "conversions",
                    "error",
                    "explain",
                    "invoke",
                    "layouts",
                    "port",
                    "report",
                    "request",
                    "run",
                    "swizzles",
                ],
            ),
        ],
    },
];

/// Words that do not occur in the code of a crate: what belongs to another floor.
const ABSENT: [(&str, &[&str]); 3] = [
    ("crates/weft-layout/src", &["std::fs", "std::env", "std::time", "serde", "json", "svg"]),
    ("crates/weft/src", &["std::fs", "std::env", "std::time", "std::thread", "serde", "svg"]),
    ("crates/weft/src/sim", &["weft_layout"]),
];

/// The modules that a text names after such a path, alone or in braces.
fn seen(code: &str, root: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for (at, _) in code.match_indices(root) {
        // `$crate::` in a macro is the same crate; `some_crate::` is another.
        let before = code[..at].chars().next_back();
        if before.is_some_and(|before| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let rest = &code[at + root.len()..];
        let name = |text: &str| -> String {
            text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
        };
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut start = 0;
            for (index, letter) in group.char_indices() {
                match letter {
                    '{' => depth += 1,
                    '}' if depth == 0 => {
                        seen.insert(name(&group[start..index]));
                        break;
                    }
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        seen.insert(name(&group[start..index]));
                        start = index + 1;
                    }
                    _ => {}
                }
            }
        } else {
            seen.insert(name(rest));
        }
    }
    seen
}

/// The module that a file belongs to; none for the root of all.
fn module(source: &Path, file: &Path) -> Option<String> {
    let inside = file.strip_prefix(source).ok()?;
    let first = inside.components().next()?.as_os_str().to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!["lib", "main", "mod"].contains(&name)).then(|| name.to_owned())
}

fn wrong_arrows(house: &House, file: &str, module: &str, code: &str) -> Vec<String> {
    let Some((_, allowed)) = house.rows.iter().find(|(name, _)| *name == module) else {
        return vec![format!("{file}: module `{module}` has no row in the table of arrows")];
    };
    let known: BTreeSet<&str> = house.rows.iter().map(|(name, _)| *name).collect();
    seen(code, house.root)
        .iter()
        .filter(|target| {
            known.contains(target.as_str())
                && target.as_str() != module
                && !allowed.contains(&target.as_str())
        })
        .map(|target| format!("{file}: `{module}` may not see `{target}`"))
        .collect()
}

#[test]
fn arrows_run_one_way() {
    let mut wrong = Vec::new();
    for house in &HOUSES {
        let source = root().join(house.source);
        for file in sources(&source) {
            if is_test(&file) {
                continue;
            }
            let Some(module) = module(&source, &file) else { continue };
            let text = fs::read_to_string(&file).unwrap();
            let name = file.display().to_string();
            wrong.extend(wrong_arrows(house, &name, &module, &code(&text)));
        }
    }
    assert!(wrong.is_empty(), "arrows that run the wrong way:\n{}", wrong.join("\n"));
}

/// No two modules see each other, whatever the rows allow one by one.
#[test]
fn the_table_has_no_circle() {
    for house in &HOUSES {
        let mut placed = BTreeSet::new();
        while placed.len() < house.rows.len() {
            let next = house.rows.iter().find(|(name, allowed)| {
                !placed.contains(name) && allowed.iter().all(|seen| placed.contains(seen))
            });
            let Some((name, _)) = next else {
                panic!("{}: a circle among the modules after {placed:?}", house.source);
            };
            placed.insert(*name);
        }
    }
}

#[test]
fn words_of_other_floors_are_absent() {
    let mut found = Vec::new();
    for (folder, words) in ABSENT {
        for file in sources(&root().join(folder)) {
            if is_test(&file) {
                continue;
            }
            let text = code(&fs::read_to_string(&file).unwrap()).to_lowercase();
            for word in words {
                if text.contains(word) {
                    found.push(format!("{}: `{word}`", file.display()));
                }
            }
        }
    }
    assert!(found.is_empty(), "words that belong to another floor:\n{}", found.join("\n"));
}

/// Where effects are asked for, and never learned from a name.
struct Asking {
    /// Folders and files.
    places: &'static [&'static str],
    /// The operations that they see.
    of: &'static str,
    /// Where the rows of these operations stand.
    table: &'static str,
}

const ASKING: [Asking; 2] = [
    Asking {
        places: &[
            "crates/weft/src/simplify",
            "crates/weft/src/emit/ptx/uniform.rs",
            "crates/weft/src/emit/c/live.rs",
        ],
        of: "Op",
        table: "crates/weft/src/lane/effects.rs",
    },
    Asking {
        places: &[
            "crates/weft/src/fuse.rs",
            "crates/weft/src/pipeline",
            "crates/weft/src/prune.rs",
            "crates/weft/src/scaled.rs",
            "crates/weft/src/tile/slice.rs",
            "crates/weft/src/lower/order.rs",
            "crates/weft/src/lower/local.rs",
            "crates/weft/src/lower/local_order.rs",
        ],
        of: "OpKind",
        table: "crates/weft/src/tile/effects.rs",
    },
];

/// The operations whose rows in a table tell of memory, of other threads or of what is seen from outside.
/// What owns regions or ends them is known by name to whoever walks a program.
fn with_effects(table: &str, of: &str) -> BTreeSet<String> {
    let code = code(table);
    let (_, rows) = code.split_once("match self {\n            Op").expect("a table");
    let rows = format!("            Op{rows}");
    let (rows, _) = rows.split_once("\n        }\n").expect("its end");
    // A row begins in the column of the first one.
    let begins = |line: &str| {
        line.strip_prefix("            ")
            .is_some_and(|row| row.trim_start_matches('&').starts_with(of))
    };
    let mut chunks: Vec<String> = Vec::new();
    for line in rows.lines() {
        if begins(line) {
            chunks.push(String::new());
        }
        chunks.last_mut().expect("a row first").push_str(line);
    }
    let tells = |row: &&(&str, &str)| {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let fields = row.1.match_indices(": ").map(|(at, _)| {
            let before = &row.1[..at];
            &before[before.rfind(|letter| !is_word(letter)).map_or(0, |at| at + 1)..]
        });
        let mut told = fields.filter(|field| *field != "latency");
        // A family's file tells the rows of its operations, which all have some.
        let elsewhere = row.1.contains(".effects()");
        elsewhere || row.1.contains("UNKNOWN") || told.next().is_some()
    };
    let rows = chunks.iter().map(|row| row.split_once("=>").expect("what the row says"));
    let (control, others): (Vec<_>, Vec<_>) =
        rows.partition(|(_, says)| says.contains("control: "));
    assert!(!control.is_empty());
    others.iter().filter(tells).flat_map(|(left, _)| names(left, of)).collect()
}

/// The operations that a file names all the same, because it writes or rewrites them.
const REWRITES: [(&str, &[&str], &str); 16] = [
    ("weft/src/scaled.rs", &["Dot", "DotScaled"], "writes products with scales as others"),
    ("weft/src/fuse.rs", &["Reduce"], "gives sums along an axis their products unrounded"),
    ("simplify/barriers.rs", &["Sync"], "puts barriers there"),
    ("simplify/pack.rs", &["Sync"], "puts barriers there"),
    ("simplify/turns.rs", &["Sync"], "puts named barriers there"),
    (
        "simplify/park.rs",
        &["Load", "Store"],
        "stores words in front of loops, and loads them there",
    ),
    ("simplify/guards.rs", &["Load", "Store"], "writes accesses without their predicates"),
    ("simplify/expand.rs", &["Load", "Store"], "writes narrow accesses as accesses of words"),
    (
        "simplify/words.rs",
        &["Load", "Store", "ShuffleIndex", "ShuffleXor"],
        "chooses narrow accesses that become accesses of words, and knows what gives words",
    ),
    (
        "pipeline/find.rs",
        &["Descriptor", "Dot", "DotScaled", "Load", "WarpgroupDot"],
        "chooses loads that become copies, by the products that they feed",
    ),
    (
        "pipeline/behind.rs",
        &["Local", "WarpgroupDot"],
        "delays products by an iteration, with the views of their factors",
    ),
    ("pipeline/ahead.rs", &["AsyncCopy", "Load", "Local"], "writes loads as copies into buffers"),
    ("pipeline/grids.rs", &["GridWait"], "moves waits for other grids in front of loops"),
    ("pipeline/blocks.rs", &["Transfer"], "writes loads of blocks as copies into buffers"),
    ("pipeline/direct.rs", &["Local", "Transfer"], "writes loads of blocks as copies into memory"),
    (
        "lower/local_order.rs",
        &["Local", "Transfer", "WarpgroupDot"],
        "keeps products in flight, tells operands by their roles, and which operation a buffer comes from",
    ),
];

/// The operations of an enum that a text names.
fn names(code: &str, of: &str) -> BTreeSet<String> {
    let inside = |letter: char| letter.is_alphanumeric() || letter == '_';
    let prefix = format!("{of}::");
    // `LaneOp::` is another name; `lane::Op::` is the same enum.
    let heads = code.match_indices(&prefix).filter(|(at, _)| !code[..*at].ends_with(inside));
    let rest = heads.map(|(at, _)| &code[at + prefix.len()..]);
    rest.map(|rest| rest.chars().take_while(|c| inside(*c)).collect()).collect()
}

/// Passes ask the tables of effects (`lane::effects`, `tile::effects`): outside of what they rewrite they name
/// no operation that has any, and import none by itself.
#[test]
fn no_pass_learns_an_effect_from_a_name() {
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for Asking { places, of, table } in &ASKING {
        let operations = with_effects(&fs::read_to_string(root().join(table)).unwrap(), of);
        for place in *places {
            let path = root().join(place);
            let files = if path.is_dir() { sources(&path) } else { vec![path] };
            for file in files.iter().filter(|file| !is_test(file)) {
                let text = code(&fs::read_to_string(file).unwrap());
                let name = file.display().to_string();
                let row = REWRITES.iter().find(|(suffix, ..)| name.ends_with(suffix));
                for operation in names(&text, of).intersection(&operations) {
                    let allowed = row.and_then(|(file, allowed, _)| {
                        Some((*file, *allowed.iter().find(|allowed| *allowed == operation)?))
                    });
                    if allowed.is_none() {
                        wrong.push(format!("{name}: `{of}::{operation}`: ask for its effects"));
                    }
                    used.extend(allowed);
                }
                // Under another name the operations would not be seen.
                for hidden in [format!("{of}::*"), format!("{of}::{{"), format!("{of} as ")] {
                    if text.contains(&hidden) {
                        wrong.push(format!("{name}: `{hidden}` hides which operations it names"));
                    }
                }
            }
        }
    }
    for (file, operations, reason) in REWRITES {
        for operation in operations.iter().filter(|operation| !used.contains(&(file, **operation)))
        {
            wrong.push(format!("{file} does not name `{operation}` any more ({reason})"));
        }
    }
    assert!(wrong.is_empty(), "effects that are learned from names:\n{}", wrong.join("\n"));
}

/// What is only likely of an address is asked for where accesses are priced, and nowhere else.
#[test]
fn only_prices_ask_what_is_likely() {
    let source = root().join("crates/weft/src");
    let asks = |file: &Path| {
        let text = code(&fs::read_to_string(file).unwrap());
        let asks = [".likely()", ".likely_run("].iter().any(|call| text.contains(call));
        asks && !is_test(file) && !file.starts_with(source.join("axis"))
    };
    let asking: Vec<_> = sources(&source).into_iter().filter(|file| asks(file)).collect();
    assert_eq!(asking, [source.join("assign/access.rs")]);
}

/// Where the rows of a family's operations stand.
const FAMILIES: [&str; 12] = [
    "crates/weft/src/lane/atomics.rs",
    "crates/weft/src/lane/copies.rs",
    "crates/weft/src/lane/multiply.rs",
    "crates/weft/src/lane/scaled.rs",
    "crates/weft/src/lane/sync.rs",
    "crates/weft/src/lane/tensor.rs",
    "crates/weft/src/lane/transfer.rs",
    "crates/weft/src/lane/warpgroup.rs",
    "crates/weft/src/tile/copies.rs",
    "crates/weft/src/tile/descriptor.rs",
    "crates/weft/src/tile/local.rs",
    "crates/weft/src/tile/transfer.rs",
];

/// The tables have a row for each operation: no arm takes the rest.
#[test]
fn the_tables_of_effects_have_no_wildcard() {
    for table in ["crates/weft/src/lane/effects.rs", "crates/weft/src/tile/effects.rs"] {
        let text = fs::read_to_string(root().join(table)).unwrap();
        assert!(text.contains("#![deny(clippy::wildcard_enum_match_arm"), "{table}");
        let (_, rest) = text.split_once("match self {\n            Op").unwrap();
        let (rows, _) = rest.split_once("\n        }\n").unwrap();
        assert!(!rows.contains("_ =>") && !rows.contains("other =>"), "{table}");
    }
    for family in FAMILIES {
        let text = fs::read_to_string(root().join(family)).unwrap();
        assert!(text.contains("#![deny(clippy::wildcard_enum_match_arm"), "{family}");
        let tables: Vec<&str> = text.split("self) -> Effects {").skip(1).collect();
        assert!(!tables.is_empty(), "{family}");
        for rest in tables {
            let (rows, _) = rest.split_once("\n    }\n").unwrap();
            assert!(!rows.contains("_ =>") && !rows.contains("other =>"), "{family}");
        }
    }
}

#[test]
fn the_scan_for_names_sees_what_it_must() {
    let seen = |code: &str| names(code, "Op").into_iter().collect::<Vec<_>>();
    assert_eq!(seen("matches!(op, Op::Load { .. } | lane::Op::Barrier(_))"), ["Barrier", "Load"]);
    assert!(seen("LaneOp::Store, OpKind::Load").is_empty());
    for Asking { of, table, .. } in &ASKING {
        let table = fs::read_to_string(root().join(table)).unwrap();
        let found = with_effects(&table, of);
        let barrier = if *of == "Op" { "Sync" } else { "Barrier" };
        for operation in ["Load", "Atomic", "AsyncCopy", barrier, "InlineAsm", "Assert"] {
            assert!(found.contains(operation), "{of}::{operation}");
        }
        for operation in ["Unary", "Select", "If", "Yield", "Return"] {
            assert!(!found.contains(operation), "{of}::{operation}");
            assert!(table.contains(&format!("{of}::{operation}")));
        }
    }
}

#[test]
fn the_scan_sees_what_it_must() {
    let text = "use crate::{tile::{self, Op}, lane};\n// crate::emit\nlet x = crate::lower::run;\n";
    let named: Vec<String> = seen(&code(text), "crate::").into_iter().collect();
    assert_eq!(named, ["lane", "lower", "tile"]);
    let rooms = "use crate::plan::{PlanError, fold::axis::Axis, writing::tuple};";
    let named: Vec<String> = seen(&code(rooms), "crate::plan::").into_iter().collect();
    assert_eq!(named, ["PlanError", "fold", "writing"]);
    let house = HOUSES.iter().find(|house| house.source == "crates/weft-layout/src/plan").unwrap();
    assert_eq!(wrong_arrows(house, "memory.rs", "convert", rooms).len(), 1);
    let house = HOUSES.iter().find(|house| house.source == "crates/weft/src").unwrap();
    assert_eq!(wrong_arrows(house, "sim.rs", "sim", &code(text)).len(), 2);
    assert!(wrong_arrows(house, "lower.rs", "lower", "use crate::tile::Op;").is_empty());
}
