//! What is refused, and why.

use arbitrary::{Result, Unstructured};
use std::{
    boxed::Box,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::{layout, operand};
use crate::{
    family::{
        AmdMfma, AmdWmma, Blocked, DotOperand, Family, FamilyError, IntelDpas, Linear, NvidiaMma,
        Slice,
    },
    interop::parse_attribute,
    testing::holds,
};

fn error(attribute: &str, shape: &[u64]) -> String {
    parse_attribute(attribute).unwrap().layout(shape).unwrap_err().to_string()
}

fn mma(version: u32, warps: &str, rest: &str) -> String {
    std::format!(
        "#ttg.nvidia_mma<{{versionMajor = {version}, versionMinor = 0, warpsPerCTA = {warps}{rest}}}>"
    )
}

#[test]
fn errors_say_what_is_wrong_and_what_would_be_right() {
    let small = ", instrShape = [16, 8]";
    let wide = ", instrShape = [16, 24, 16]";
    let mfma =
        |rest: &str| std::format!("#ttg.amd_mfma<{{version = 3, warpsPerCTA = [1, 1], {rest}}}>");
    let wmma = |version: u32, bases: &str| {
        std::format!(
            "#ttg.amd_wmma<{{version = {version}, isTranspose = false, ctaLayout = {{{bases}}}}}>"
        )
    };
    let dpas = |ops: u32, threads: u32| {
        std::format!(
            "#ttig.dpas<{{repeatCount = 1, systolicDepth = 8, executionSize = 16, opsPerChan = {ops}, \
             threadsPerWarp = {threads}, warpsPerCTA = [1, 1], repCluster = [1, 1]}}>"
        )
    };
    let linear = "#ttg.linear<{register = [[1]], lane = [[3]], warp = [], block = []}>";
    let table = [
        (mma(1, "[1, 1]", small), "`versionMajor` is 1; 2 (`mma.sync`) or 3 (`wgmma`) is expected"),
        (mma(2, "[1]", small), "2 axes are expected, 1 are given"),
        (mma(2, "[1, 3]", small), "`warpsPerCTA` holds 3, which is not a power of two"),
        (mma(3, "[4, 1]", wide), "`instrShape` holds 24, which is not a power of two"),
        (
            mma(2, "[1, 1]", ", instrShape = [16, 8, 16]"),
            "`instrShape` is [16, 8, 16]; [m, n] is expected",
        ),
        (
            mma(2, "[1, 1]", ", CGALayout = [[2, 0]], instrShape = [16, 8]"),
            "basis 0 of `CGALayout` is wrong: along each axis the parts 1, 2, 4, … are expected \
             once each",
        ),
        (
            operand(1, &mma(3, "[4, 1]", ", instrShape = [16, 64, 16]"), 2),
            "`opIdx` is 1; 0, as `wgmma` reads its right operand from memory, is expected",
        ),
        (operand(2, &mma(2, "[1, 1]", small), 2), "`opIdx` is 2; 0 or 1 is expected"),
        (
            operand(0, &operand(0, &mma(2, "[1, 1]", small), 2), 2),
            "`parent` is of the wrong family; `blocked` or a layout of matrix instructions is expected",
        ),
        (
            mfma("instrShape = [32, 16], isTransposed = true"),
            "`instrShape` is [32, 16]; 32 × 32, 16 × 16, 64 × 4 or 4 × 64 is expected",
        ),
        (
            mfma("instrShape = [64, 4], isTransposed = false"),
            "`instrShape` is [64, 4]; 4 × 64, or `isTransposed = true`, is expected",
        ),
        (wmma(4, ""), "`version` is 4; 1, 2 or 3 is expected"),
        (wmma(2, "warp = [[2, 0]]"), "the bases of `ctaLayout` leave elements out"),
        (operand(0, &wmma(2, ""), 2), "`kWidth` is 2; 4, 8 or 16 is expected"),
        (dpas(3, 16), "`opsPerChan` is 3; 1, 2 or 4 is expected"),
        (dpas(2, 32), "`threadsPerWarp` is 32; the matrix instruction takes 16 to 16 threads"),
        (operand(0, &dpas(4, 16), 4), "`kWidth` is 4; 2 is expected"),
    ];
    for (attribute, expected) in table {
        assert_eq!(error(&attribute, &[64, 64]), expected, "{attribute}");
    }
    assert_eq!(
        error(linear, &[4]),
        "basis 0 of `lane` is not a bit of its own; `generic_linear` takes any bases"
    );
    let generic = linear.replace("linear", "generic_linear");
    assert_eq!(layout(&generic, &[4]).apply_flat(3), 2);
    let hole = generic.replace("[[3]]", "[[4]]");
    assert_eq!(error(&hole, &[8]), "the bases of `register, lane, warp, block` leave elements out");
}

#[test]
fn generic_linear_grows_and_is_cut_by_coordinates() {
    let text = "#ttg.generic_linear<{register = [[0, 1]], lane = [[1, 0], [0, 2]], \
                warp = [[2, 3]], block = []}>";
    assert_eq!(
        layout(text, &[8, 4]).to_string(),
        "[register: (0,1) (4,0), lane: (1,0) (0,2), warp: (2,3), block:] -> [dim0: 8, dim1: 4]"
    );
    let slice = std::format!("#ttg.slice<{{dim = 1, parent = {text}}}>");
    assert_eq!(
        layout(&slice, &[4]).to_string(),
        "[register:, lane: 1 0, warp: 2, block:] -> [dim0: 4]"
    );
    // Cut to four rows, nothing reaches row 1.
    let lost = "#ttg.generic_linear<{register = [[1]], lane = [[6]], warp = [[4]], block = []}>";
    assert_eq!(layout(lost, &[8]).rank(), 3);
    let leaves = FamilyError::NotSurjective { parameter: "register, lane, warp, block" };
    assert_eq!(parse_attribute(lost).unwrap().layout(&[4]), Err(leaves));
}

#[test]
fn triton_3_6_writes_warps_of_wmma_as_numbers() {
    let old = "#ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [2, 2], \
               CGALayout = [[1, 0]], tilesPerWarp = [2, 1], instrShape = [16, 16, 32]}>";
    let new = "#ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = {register = [[1, 0]], \
               warp = [[0, 1], [2, 0]]}, CGALayout = [[1, 0]], instrShape = [16, 16, 32]}>";
    let family = parse_attribute(old).unwrap();
    assert_eq!(family.to_string(), new);
    assert_eq!(Ok(family), parse_attribute(new));
    // The order of parameters is free.
    let mfma = "#ttg.amd_mfma<{isTransposed = true, tilesPerWarp = [1, 1], version = 3, \
                instrShape = [32, 32], warpsPerCTA = [1, 2]}>";
    assert_eq!(
        parse_attribute(mfma).unwrap().to_string(),
        "#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 2], instrShape = [32, 32], \
         isTransposed = true}>"
    );
}

/// Mostly sensible numbers.
fn number(u: &mut Unstructured<'_>) -> Result<u64> {
    let odd = [0, 3, 24, 1 << 40, 1 << 63, u64::MAX];
    if u.ratio(1, 100)? { Ok(*u.choose(&odd)?) } else { Ok(1 << u.int_in_range(0..=6)?) }
}

fn numbers(u: &mut Unstructured<'_>, length: usize) -> Result<Vec<u64>> {
    let length = if u.ratio(1, 60)? { u.choose_index(5)? } else { length };
    (0..length).map(|_| number(u)).collect()
}

fn bases(u: &mut Unstructured<'_>, rank: usize) -> Result<Vec<Vec<u64>>> {
    let mut next = vec![1_u64; rank];
    let mut bases = Vec::new();
    for _ in 0..u.choose_index(4)? {
        let mut basis = vec![0; rank];
        if !u.ratio(1, 4)? {
            let dim = u.choose_index(rank)?;
            basis[dim] = next[dim];
            next[dim] = next[dim].saturating_mul(2);
        }
        if u.ratio(1, 30)? {
            basis = numbers(u, rank)?;
        }
        bases.push(basis);
    }
    Ok(bases)
}

fn family(u: &mut Unstructured<'_>, rank: usize, depth: u32) -> Result<Family> {
    let warps_per_cta = numbers(u, rank)?;
    let blocks = bases(u, rank)?;
    Ok(match u.int_in_range(0..=if depth == 0 { 5 } else { 8 })? {
        0 => {
            let [m, n] = *u.choose(&[[16, 8], [8, 8], [16, 64], [4, 8]])?;
            let batch = if rank == 3 && u.ratio(9, 10)? { vec![1, m, n] } else { vec![m, n] };
            let version_major = *u.choose(&[1, 2, 2, 3])?;
            Family::NvidiaMma(NvidiaMma {
                version_major,
                version_minor: 0,
                warps_per_cta,
                instr_shape: batch,
                blocks,
            })
        }
        1 => Family::AmdMfma(AmdMfma {
            version: u.int_in_range(1..=5)?,
            warps_per_cta,
            instr_shape: u.choose(&[[32, 32], [16, 16], [64, 4], [4, 64], [8, 8]])?.to_vec(),
            is_transposed: u.arbitrary()?,
            blocks,
            tiles_per_warp: if u.arbitrary()? { numbers(u, rank)? } else { Vec::new() },
            element_bit_width: *u.choose(&[32, 64, 16])?,
        }),
        2 => Family::AmdWmma(AmdWmma {
            version: u.int_in_range(0..=4)?,
            is_transposed: u.arbitrary()?,
            register: bases(u, rank)?,
            warp: bases(u, rank)?,
            blocks,
            instr_shape: *u.choose(&[[16, 16, 16], [16, 16, 32], [32, 16, 64]])?,
        }),
        3 => Family::IntelDpas(IntelDpas {
            repeat_count: number(u)?,
            systolic_depth: if u.ratio(9, 10)? { 8 } else { number(u)? },
            execution_size: *u.choose(&[8, 16])?,
            ops_per_chan: number(u)?,
            fp4_k_pack: *u.choose(&[None, None, Some(2), Some(u64::MAX)])?,
            threads_per_warp: *u.choose(&[8, 16, 32, 64, 0])?,
            warps_per_cta,
            rep_cluster: numbers(u, rank)?,
        }),
        4 => {
            let [register, lane] = [bases(u, rank)?, bases(u, rank)?];
            let linear = Linear { register, lane, warp: bases(u, rank)?, block: blocks };
            if u.arbitrary()? { Family::Linear(linear) } else { Family::GenericLinear(linear) }
        }
        5 => Family::Blocked(Blocked {
            size_per_thread: numbers(u, rank)?,
            threads_per_warp: numbers(u, rank)?,
            warps_per_cta,
            order: (0..rank).collect(),
            blocks,
        }),
        6 => {
            let parent = Box::new(family(u, rank + 1, depth - 1)?);
            Family::Slice(Slice { dim: u.choose_index(rank + 1)?, parent })
        }
        _ => {
            let parent = Box::new(family(u, rank, depth - 1)?);
            let operand = u.int_in_range(0..=2)?;
            let k_width = if u.ratio(1, 20)? { u32::MAX } else { 1 << u.int_in_range(0..=5)? };
            Family::DotOperand(DotOperand { operand, parent, k_width })
        }
    })
}

#[test]
fn any_family_has_a_surjective_layout_or_an_error() {
    let (mut built, mut refused) = (0, 0);
    holds(1500, |u| {
        let rank = u.int_in_range(1..=3)?;
        let family = family(u, rank, 2)?;
        let shape = if u.ratio(1, 10)? {
            numbers(u, rank)?
        } else {
            (0..rank).map(|_| Ok(1 << u.int_in_range(0..=8)?)).collect::<Result<_>>()?
        };
        let read = parse_attribute(&family.to_string()).unwrap();
        assert_eq!(read.to_string(), family.to_string());
        assert_eq!(read.layout(&shape), family.layout(&shape));
        match family.layout(&shape) {
            Ok(layout) => {
                built += 1;
                assert_eq!(layout.shape(), shape);
                assert!(layout.is_surjective(), "{family} {shape:?}: {layout}");
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
        Ok(())
    });
    assert!(built > 50 && refused > 50, "{built} built, {refused} refused");
}
