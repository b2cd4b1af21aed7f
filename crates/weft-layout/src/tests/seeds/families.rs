//! Every family at once: its layout, its texts, its conversions.

use std::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::sm_90;
use crate::{
    Layout, Machine,
    family::{Family, Linear, SharedLinear, names},
    interop::{parse_attribute, parse_layout},
    plan::convert,
    space::{LANE, OFFSET, REGISTER, WARP},
    step::Strategy,
    witness,
};

const BLOCKED: &str = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], \
                       warpsPerCTA = [4, 1], order = [1, 0]}>";
const BLOCKED_3D: &str = "#ttg.blocked<{sizePerThread = [2, 1, 4], threadsPerWarp = [2, 4, 4], \
                          warpsPerCTA = [1, 2, 2], order = [2, 1, 0]}>";
const MMA: &str = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], \
                   instrShape = [16, 8]}>";
const MMA_3D: &str = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, \
                      warpsPerCTA = [1, 4, 1], instrShape = [1, 16, 8]}>";
const WGMMA: &str = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], \
                     instrShape = [16, 64, 16]}>";
const MFMA: &str = "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], \
                    isTransposed = true}>";
const WMMA_11: &str = "#ttg.amd_wmma<{version = 1, isTranspose = false, \
                       ctaLayout = {warp = [[0, 1], [1, 0]]}}>";
const WMMA_12: &str = "#ttg.amd_wmma<{version = 2, isTranspose = true, \
                       ctaLayout = {warp = [[0, 1], [1, 0]]}}>";
const DPAS: &str = "#ttig.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, \
                    opsPerChan = 2, threadsPerWarp = 32, warpsPerCTA = [2, 2], \
                    repCluster = [1, 1], A = [8, 16], B = [16, 16], C = [8, 16]}>";
const LINEAR: &str = "#ttg.linear<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [16, 0]], \
                      lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], \
                      warp = [[0, 32], [32, 0]], block = []}>";
const SWIZZLED_LANES: &str = "#ttg.generic_linear<{register = [[0, 1], [0, 2], [8, 0], [16, 0], \
                              [32, 0]], lane = [[0, 4], [0, 8], [1, 4], [2, 8], [4, 16]], \
                              warp = [[0, 16], [0, 32]], block = []}>";

fn operand(index: u32, parent: &str, k_width: u32) -> String {
    let k_width = if k_width == 0 { String::new() } else { format!(", kWidth = {k_width}") };
    format!("#ttg.dot_op<{{opIdx = {index}, parent = {parent}{k_width}}}>")
}

fn slice(dim: usize, parent: &str) -> String {
    format!("#ttg.slice<{{dim = {dim}, parent = {parent}}}>")
}

fn read(attribute: &str) -> Family {
    parse_attribute(attribute).unwrap_or_else(|error| panic!("{error}: {attribute}"))
}

fn layout(attribute: &str) -> Layout {
    read(attribute).layout(&[64, 64]).unwrap_or_else(|error| panic!("{error}: {attribute}"))
}

/// Twenty layouts of registers of 64 x 64 elements, 32 lanes and 4 warps, no two of one kind and
/// parameters.
fn twenty() -> Vec<String> {
    let results = [BLOCKED, LINEAR, SWIZZLED_LANES, MMA, WGMMA, WMMA_11, WMMA_12, DPAS];
    let slices = [(0, BLOCKED_3D), (1, MMA_3D)];
    let operands = [
        (0, BLOCKED, 0),
        (1, BLOCKED, 0),
        (0, MMA, 2),
        (1, MMA, 4),
        (0, WGMMA, 4),
        (0, WMMA_11, 16),
        (1, WMMA_12, 8),
        (0, DPAS, 1),
        (1, DPAS, 2),
    ];
    let slices = slices.map(|(dim, parent)| slice(dim, parent));
    let operands = operands.map(|(index, parent, k_width)| operand(index, parent, k_width));
    let of_operand = slice(0, &operand(1, MMA_3D, 2));
    let all = results.map(String::from).into_iter().chain(slices).chain(operands);
    all.chain([of_operand]).collect()
}

/// Layouts of memory.
const MEMORY: [&str; 6] = [
    "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>",
    "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
    "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [0, 1]}>",
    "#ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>",
    "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>",
    "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 1], \
     [2, 2], [4, 4], [8, 8], [16, 16], [32, 32]]}, alignment = 16>",
];

/// The taxonomy of figure 2: every family is a linear layout, of the kind that it is drawn under.
#[test]
fn s1_7_every_family_is_a_surjective_layout() {
    for attribute in twenty().iter().map(String::as_str).chain([MFMA]) {
        let layout = layout(attribute);
        assert!(layout.is_surjective(), "{attribute}");
        // Only what is swizzled over lanes is beyond definition 4.10.
        assert_eq!(layout.is_distributed(), attribute != SWIZZLED_LANES, "{attribute}");
        let lanes = if attribute == MFMA { 6 } else { 5 };
        assert_eq!((layout.in_bits(LANE), layout.in_bits(WARP)), (lanes, 2), "{attribute}");
    }
    for attribute in MEMORY {
        let layout = layout(attribute);
        assert!(layout.is_invertible(), "{attribute}");
        assert_eq!(layout.in_bits(OFFSET), 12, "{attribute}");
        assert!(layout.is_memory_layout(), "{attribute}");
    }
    // Unswizzled is what has no bases of two bits.
    let swizzled = MEMORY.map(|attribute| !layout(attribute).is_distributed());
    assert_eq!(swizzled, [false, true, true, true, true, true]);
}

/// Theorems 4.9 and 4.13: what each family says in its own words, bases say as well, and back.
#[test]
fn s1_11_every_family_survives_its_texts_and_is_recognised() {
    let all = twenty();
    let attributes = all.iter().map(String::as_str).chain([MFMA]).chain(MEMORY);
    let mut named = 0;
    for attribute in attributes {
        let family = read(attribute);
        assert_eq!(family.to_string(), attribute);
        let layout = layout(attribute);
        assert_eq!(parse_layout(&layout.to_string()).as_ref(), Ok(&layout), "{attribute}");
        // The bases alone.
        let bases = if layout.in_bits(OFFSET) == 0 {
            Family::GenericLinear(Linear::of(&layout))
        } else {
            let offset = layout.bases().swap_remove(0).1;
            Family::SharedLinear(SharedLinear { offset, block: Vec::new(), alignment: 16 })
        };
        assert_eq!(read(&bases.to_string()).layout(&[64, 64]).as_ref(), Ok(&layout));
        // A name is found again; where others mean the same, perhaps another one.
        let found = names(&layout);
        assert!(found.iter().all(|name| name.layout(&[64, 64]).as_ref() == Ok(&layout)));
        named += usize::from(found.contains(&family));
        assert!(!found.is_empty(), "{attribute}");
    }
    assert_eq!((named, all.len() + 1 + MEMORY.len()), (14, 27));
}

/// How often each strategy was chosen over all ordered pairs.
fn convert_all(attributes: &[String], bits: u32, machine: &Machine) -> BTreeMap<Strategy, u32> {
    let layouts: Vec<Layout> = attributes.iter().map(|attribute| layout(attribute)).collect();
    let mut chosen = BTreeMap::new();
    for (index, from) in layouts.iter().enumerate() {
        for (other, to) in layouts.iter().enumerate().filter(|other| other.0 != index) {
            let (a, b) = (&attributes[index], &attributes[other]);
            let plan = convert(from, to, bits, machine)
                .unwrap_or_else(|error| panic!("{error}: {a} to {b}"));
            assert_eq!(witness::conversion(&plan, from, to), Ok(()));
            *chosen.entry(plan.strategy).or_insert(0) += 1;
        }
    }
    chosen
}

#[test]
fn s3_9_one_routine_converts_all_380_ordered_pairs_of_20_families() {
    let all = twenty();
    let distinct: BTreeSet<String> = all.iter().map(|name| layout(name).to_string()).collect();
    assert_eq!((all.len(), distinct.len()), (20, 20));
    let chosen = convert_all(&all, 16, sm_90());
    std::println!("{chosen:?}");
    assert_eq!(chosen.values().sum::<u32>(), 380);
}

#[test]
fn s4_12_one_routine_converts_between_mma_wgmma_and_mfma() {
    let operands = |parent: &str, k_width| [operand(0, parent, k_width), String::from(parent)];
    let nvidia = [operands(MMA, 2), operands(WGMMA, 2)].concat();
    let chosen = convert_all(&nvidia, 16, sm_90());
    // The result of `wgmma` in 16 bits is its left operand, as attention needs it.
    assert_eq!((chosen.values().sum::<u32>(), chosen[&Strategy::Nothing]), (12, 2));
    let small = MFMA.replace("32, 32, 8", "16, 16, 16");
    let blocked = BLOCKED.replace("[2, 16]", "[4, 16]");
    let amd = [&operands(MFMA, 4)[..], &operands(&small, 4), &[blocked]].concat();
    let chosen = convert_all(&amd, 16, Machine::by_name("gfx942").unwrap());
    assert_eq!(chosen.values().sum::<u32>(), 20);
}

/// What the old system failed on: fragments with more than 32 contiguous bits in the last axis.
#[test]
fn s4_9_fragments_of_more_than_32_contiguous_bits_convert() {
    for (bits, k_width) in [(8, 8), (8, 16), (16, 4), (16, 8), (32, 2), (32, 4)] {
        let wide = operand(0, MMA, k_width);
        let contiguous = layout(&wide).reshape(&[4096]).unwrap();
        let run = contiguous.contiguous_run(REGISTER, crate::Label::dim(0));
        assert!(run * u64::from(bits) >= 64, "{run}");
        let all = [wide, operand(1, MMA, k_width), MMA.into(), BLOCKED.into()];
        assert_eq!(convert_all(&all, bits, sm_90()).values().sum::<u32>(), 12);
    }
}
