//! Layouts of shared and tensor memory, held against their definitions.

use std::{
    string::{String, ToString},
    vec::Vec,
};

use arbitrary::{Result, Unstructured};
use arbtest::arbtest;

use crate::{
    Label, Layout,
    affine::Padding,
    family::{
        Blocked, Family, FamilyError, NvmmaShared, PaddedElements, PaddedShared, PartitionedShared,
        RotatingShared, SharedLinear, SwizzledShared, TensorMemory, TensorMemoryScales,
    },
    interop::parse_attribute,
    space::{COL, OFFSET, PARTITION, ROW},
};

/// Powers of two, `2^low` to `2^high`.
fn power(u: &mut Unstructured<'_>, low: u32, high: u32) -> Result<u64> {
    Ok(1 << u.int_in_range(low..=high)?)
}

fn read(text: &str) -> Family {
    parse_attribute(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The coordinates of an element, `dim0` first.
fn coordinates(layout: &Layout, place: u64) -> Vec<u64> {
    let element = layout.apply_flat(place);
    let dims = (0..layout.shape().len() as u32).map(Label::dim);
    dims.map(|dim| layout.outs().coordinate(dim, element)).collect()
}

/// Definition 4.11 with what it leaves out: the row's own offset, and parameters of at least 1.
#[test]
fn swizzled_rows_follow_the_formula() {
    arbtest(|u| {
        let (vec, per_phase, max_phase) = (power(u, 0, 4)?, power(u, 0, 4)?, power(u, 0, 4)?);
        let (rows, columns) = (power(u, 0, 6)?, power(u, 0, 6)?);
        let swizzled = SwizzledShared::new(vec, per_phase, max_phase, &[1, 0]);
        let layout = swizzled.layout(&[rows, columns]).unwrap();
        for offset in 0..rows * columns {
            let (row, column) = (offset / columns, offset % columns);
            let first = vec * ((row / per_phase) % max_phase) % columns;
            assert_eq!(coordinates(&layout, offset), [row, column ^ first]);
        }
        Ok(())
    })
    .budget_ms(400);
}

#[test]
fn rotating_rows_follow_the_formula() {
    arbtest(|u| {
        let (vec, per_phase, max_phase) = (power(u, 0, 4)?, power(u, 0, 2)?, power(u, 0, 3)?);
        let (rows, columns) = (power(u, 0, 7)?, power(u, 0, 5)?);
        let plain = SwizzledShared::new(vec, per_phase, max_phase, &[1, 0]);
        let rotating = RotatingShared { rows: plain.clone() };
        let layout = rotating.layout(&[rows, columns]).unwrap();
        for offset in 0..rows * columns {
            let (row, column) = (offset / columns, offset % columns);
            let phase = (row / per_phase) % max_phase;
            let run = row / (per_phase * max_phase) % max_phase;
            let first = vec * (phase ^ run) % columns;
            assert_eq!(coordinates(&layout, offset), [row, column ^ first]);
        }
        if rows <= per_phase * max_phase {
            assert_eq!(Ok(layout), plain.layout(&[rows, columns]));
        }
        Ok(())
    })
    .budget_ms(400);
}

#[test]
fn phases_of_zero_are_refused() {
    for (parameter, swizzled) in [
        ("vec", SwizzledShared::new(0, 1, 1, &[1, 0])),
        ("perPhase", SwizzledShared::new(1, 0, 1, &[1, 0])),
        ("maxPhase", SwizzledShared::new(1, 1, 0, &[1, 0])),
    ] {
        let error = FamilyError::NotPowerOfTwo { parameter, value: 0 };
        assert_eq!(swizzled.layout(&[8, 8]), Err(error.clone()));
        assert_eq!(RotatingShared { rows: swizzled }.layout(&[8, 8]), Err(error));
    }
}

/// Where the tensor is one core matrix wide, the mode is a swizzle of 16-byte vectors.
#[test]
fn a_core_matrix_is_a_swizzle() {
    for bytes in [32, 64, 128] {
        for bits in [8, 16, 32, 64] {
            for rows in [8, 16, 128, 512] {
                let mut nvmma = NvmmaShared::new(bytes, bits);
                let columns = bytes * 8 / bits;
                let (vec, per_phase, max_phase) = (128 / bits, 128 / bytes, bytes / 16);
                let rows_first = SwizzledShared::new(vec, per_phase, max_phase, &[1, 0]);
                let shape = [rows, columns];
                assert_eq!(nvmma.layout(&shape), rows_first.layout(&shape));
                nvmma.transposed = true;
                let columns_first = SwizzledShared::new(vec, per_phase, max_phase, &[0, 1]);
                let shape = [columns, rows];
                assert_eq!(nvmma.layout(&shape), columns_first.layout(&shape));
            }
        }
    }
}

/// The canonical layouts of matrix descriptors with packed strides: panels of rows of `S` bytes, the
/// bits of the 16-byte vector crossed with those of the 128-byte line.
#[test]
fn core_matrices_lie_as_descriptors_read_them() {
    arbtest(|u| {
        let span = *u.choose(&[32_u64, 64, 128])?;
        let bytes = power(u, 0, 3)?;
        let (rows, panels) = (power(u, 3, 8)?, power(u, 0, 2)?);
        let mut nvmma = NvmmaShared::new(span, 8 * bytes);
        nvmma.transposed = u.arbitrary()?;
        let own = usize::from(!nvmma.transposed);
        let mut shape = [rows; 2];
        shape[own] = panels * span / bytes;
        let layout = nvmma.layout(&shape).unwrap();
        assert!(layout.is_invertible());
        for _ in 0..64 {
            let offset = u.int_in_range(0..=rows * shape[own] - 1)?;
            let place = coordinates(&layout, offset);
            let (long, row) = (place[own] * bytes, place[1 - own]);
            let linear = long / span * rows * span + row * span + long % span;
            let address = linear ^ ((linear >> 7) % (span / 16)) << 4;
            assert_eq!(address, offset * bytes, "{nvmma:?} {shape:?} {place:?}");
        }
        Ok(())
    })
    .budget_ms(500);
}

/// Half-empty rows: of 16 offsets the upper 8 repeat the lower ones.
#[test]
fn four_bit_rows_are_half_empty() {
    let family = read(
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, \
         fp4Padded = true}>",
    );
    let layout = family.layout(&[8, 64]).unwrap();
    assert_eq!(
        layout.to_string(),
        "[offset: (0,1) (0,2) (0,4) (0,0) (0,8) (0,16) (0,32) (1,8) (2,16) (4,32), block:] \
         -> [dim0: 8, dim1: 64]"
    );
}

#[test]
fn partitions_hold_pieces_in_turn() {
    arbtest(|u| {
        let rank = u.int_in_range(1..=3)?;
        let piece: Vec<u64> = (0..rank).map(|_| power(u, 0, 3)).collect::<Result<_>>()?;
        let mut order: Vec<usize> = (0..rank).collect();
        order.rotate_left(u.choose_index(rank)?);
        let inner = SwizzledShared::new(power(u, 0, 2)?, power(u, 0, 2)?, power(u, 0, 2)?, &order);
        let (partitions, groups) = (power(u, 1, 3)?, power(u, 0, 2)?);
        let dim = u.choose_index(rank)?;
        let mut shape = piece.clone();
        shape[dim] *= partitions * groups;
        let family = PartitionedShared {
            num_partitions: partitions,
            num_groups: groups,
            partition_dim: dim,
            partition_layout: Family::SwizzledShared(inner.clone()).into(),
        };
        let layout = family.layout(&shape).unwrap();
        assert!(layout.is_invertible());
        let inner = inner.layout(&piece).unwrap();
        let elements: u64 = piece.iter().product();
        for partition in 0..partitions {
            for offset in 0..elements * groups {
                let place = [(OFFSET, offset), (PARTITION, partition)];
                let place = layout.ins().pack(&place).unwrap();
                let mut expected = coordinates(&inner, offset % elements);
                let number = offset / elements * partitions + partition;
                expected[dim] += number * piece[dim];
                assert_eq!(coordinates(&layout, place), expected);
            }
        }
        Ok(())
    })
    .budget_ms(400);
}

#[test]
fn padding_is_asked_for_by_its_name() {
    let text = "#ttg.padded_shared<[32:+4, 128:+8] {order = [1, 0], shape = [16, 32]}>";
    let family = read(text);
    assert_eq!(family.to_string(), text);
    assert_eq!(family.layout(&[16, 32]), Err(FamilyError::Gaps));
    assert_eq!(
        FamilyError::Gaps.to_string(),
        "padding leaves gaps, which no linear layout has; `Family::padded` gives the layout with \
         its gaps"
    );
    let padded = family.padded(&[16, 32]).unwrap();
    // Row 9 begins after 9 gaps of 4 and 2 of 8.
    assert_eq!(padded.physical(9 * 32), 9 * 32 + 9 * 4 + 2 * 8);
    assert_eq!(coordinates(padded.layout(), 9 * 32 + 5), [9, 5]);
    let error = family.padded(&[16, 64]).unwrap_err();
    assert_eq!(error.to_string(), "the layout has size 32 along axis 1, the tensor 64");

    // The same, its bases written out, and with two blocks.
    let bases =
        "offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0]]";
    let single = read(&std::format!("#ttg.padded_shared<[32:+4, 128:+8] {{{bases}, block = []}}>"));
    assert_eq!(single.padded(&[16, 32]).unwrap(), padded);
    let twice =
        read(&std::format!("#ttg.padded_shared<[32:+4, 128:+8] {{{bases}, block = [[16, 0]]}}>"));
    assert!(twice.padded(&[32, 32]).unwrap().layout().is_invertible());

    // Other memories have no gaps; registers cannot have any.
    let swizzled = Family::SwizzledShared(SwizzledShared::new(8, 1, 8, &[1, 0]));
    let plain = swizzled.padded(&[16, 64]).unwrap();
    assert_eq!((plain.layout(), plain.paddings()), (&swizzled.layout(&[16, 64]).unwrap(), &[][..]));
    let blocked = Family::Blocked(Blocked::new(&[1, 4], &[8, 4], &[1, 1], &[1, 0]));
    assert_eq!(blocked.padded(&[16, 64]), Err(FamilyError::NoOffsets));
    // The pieces of partitioned memory bring their gaps.
    let partitioned = Family::PartitionedShared(PartitionedShared {
        num_partitions: 2,
        num_groups: 2,
        partition_dim: 0,
        partition_layout: family.into(),
    });
    let dealt = partitioned.padded(&[64, 32]).unwrap();
    assert_eq!(dealt.paddings(), padded.paddings());
    assert!(dealt.layout().is_invertible());
    assert_eq!(partitioned.layout(&[64, 32]), Err(FamilyError::Gaps));
}

#[test]
fn bases_written_out_are_one_to_one() {
    let linear = |offset: &[[u64; 2]], block: &[[u64; 2]]| {
        let vectors = |bases: &[[u64; 2]]| bases.iter().map(|basis| basis.to_vec()).collect();
        SharedLinear { offset: vectors(offset), block: vectors(block), alignment: 16 }
    };
    let layout = linear(&[[0, 1], [1, 1], [0, 0]], &[[2, 0]]).layout(&[4, 2]).unwrap();
    assert!(layout.is_surjective());
    let twice = linear(&[[0, 1], [1, 1], [1, 0]], &[]);
    assert_eq!(
        twice.layout(&[2, 2]).unwrap_err().to_string(),
        "3 bases other than zero, of which 2 are independent, cannot number elements of 2 bits one \
         to one"
    );
    let missing = linear(&[[0, 2], [1, 0]], &[]);
    assert!(matches!(missing.layout(&[2, 4]), Err(FamilyError::NotOneToOne { rank: 2, .. })));
    let other = linear(&[[0, 1], [1, 0]], &[]).layout(&[4, 2]);
    assert_eq!(other, Err(FamilyError::Covers { dim: 0, size: 4, covered: 2 }));
}

/// The bases of rows and columns of a single block, each as (dim0, dim1).
fn tensor_memory(family: &Family, shape: &[u64]) -> String {
    family.layout(shape).unwrap().to_string()
}

/// The accumulators of the matrix instructions: which rows of the result lie in which memory rows.
#[test]
fn accumulators_lie_where_the_instructions_put_them() {
    let full = Family::TensorMemory(TensorMemory::new(128, 16));
    assert_eq!(
        tensor_memory(&full, &[128, 16]),
        "[row: (1,0) (2,0) (4,0) (8,0) (16,0) (32,0) (64,0), col: (0,1) (0,2) (0,4) (0,8), block:] \
         -> [dim0: 128, dim1: 16]"
    );
    // 64 rows use half of the memory rows …
    let half = Family::TensorMemory(TensorMemory::new(64, 4));
    assert_eq!(
        tensor_memory(&half, &[64, 4]),
        "[row: (1,0) (2,0) (4,0) (8,0) (0,0) (16,0) (32,0), col: (0,1) (0,2), block:] \
         -> [dim0: 64, dim1: 4]"
    );
    // … and a second tile the other half.
    assert_eq!(
        tensor_memory(&half, &[128, 4]),
        "[row: (1,0) (2,0) (4,0) (8,0) (64,0) (16,0) (32,0), col: (0,1) (0,2), block:] \
         -> [dim0: 128, dim1: 4]"
    );
    assert_eq!(
        tensor_memory(&half, &[64, 8]),
        "[row: (1,0) (2,0) (4,0) (8,0) (0,4) (16,0) (32,0), col: (0,1) (0,2), block:] \
         -> [dim0: 64, dim1: 8]"
    );
    // Two blocks with 64 rows each: the upper half of the columns lies in the upper rows.
    let pair = read(
        "#ttng.tensor_memory_encoding<blockM = 64, blockN = 8, colStride = 1, CGALayout = [[1, 0]], \
         twoCTAs = true>",
    );
    assert_eq!(
        tensor_memory(&pair, &[128, 8]),
        "[row: (1,0) (2,0) (4,0) (8,0) (16,0) (32,0) (0,4), col: (0,1) (0,2), block: (64,0)] \
         -> [dim0: 128, dim1: 8]"
    );
    // Every second column of 16-bit results is left empty.
    let unpacked = read("#ttng.tensor_memory_encoding<blockM = 128, blockN = 4, colStride = 2>");
    let layout = unpacked.layout(&[128, 4]).unwrap();
    assert_eq!((layout.basis(COL, 0), layout.basis(COL, 1)), (0, 1));
}

/// Scale factors: 32 rows, four times, and the next groups of 32 rows in further columns.
#[test]
fn scale_factors_are_repeated_in_each_quarter() {
    let rows_first =
        Family::TensorMemoryScales(TensorMemoryScales { blocks: Vec::new(), columns_first: false });
    assert_eq!(
        tensor_memory(&rows_first, &[256, 8]),
        "[row: (1,0) (2,0) (4,0) (8,0) (16,0) (0,0) (0,0), col: (0,1) (0,2) (32,0) (64,0) (128,0) \
         (0,4), block:] -> [dim0: 256, dim1: 8]"
    );
    let columns_first = read("#ttng.tensor_memory_scales_encoding<blockRepOrder = kThenMn>");
    let layout = columns_first.layout(&[256, 8]).unwrap();
    assert_eq!(layout.in_bits(ROW), 7);
    assert_eq!(coordinates(&layout, 1 << (7 + 4)), [0, 4]);
    assert_eq!(coordinates(&layout, 1 << (7 + 5)), [128, 0]);
}

/// Each refusal says which parameter is wrong and what would be right.
#[test]
fn refusals_say_what_would_be_right() {
    let nvmma = |text: &str| std::format!("#ttg.nvmma_shared<{{{text}}}>");
    let tensor = |text: &str| std::format!("#ttng.tensor_memory_encoding<{text}>");
    let cases: [(String, &[u64], &str); 12] = [
        (
            nvmma("swizzlingByteWidth = 16, transposed = false, elementBitWidth = 16"),
            &[64, 64],
            "`swizzlingByteWidth` is 16; 0, 32, 64 or 128 is expected",
        ),
        (
            nvmma("swizzlingByteWidth = 128, transposed = false, elementBitWidth = 24"),
            &[64, 64],
            "`elementBitWidth` is 24; a power of two up to 128 is expected",
        ),
        (
            nvmma("swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16"),
            &[64, 32],
            "the tensor has size 32 along axis 1, at least 64 is needed",
        ),
        (
            nvmma("swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16"),
            &[64, 4],
            "the tensor has size 4 along axis 1, at least 8 is needed",
        ),
        (
            nvmma(
                "swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, \
                 CGALayout = [[0, 1]]",
            ),
            &[64, 64],
            "the tensor has size 64 along axis 1, at least 128 is needed",
        ),
        (
            nvmma(
                "swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, \
                 CGALayout = [[1, 0], [0, 2]]",
            ),
            &[64, 64],
            "basis 1 of `CGALayout` is wrong: along each axis the parts 1, 2, 4, … are expected \
             once each",
        ),
        (
            nvmma("swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16, rank = 3"),
            &[64, 64],
            "3 axes are expected, 2 are given",
        ),
        (
            tensor("blockM = 32, blockN = 8, colStride = 1"),
            &[128, 8],
            "`blockM` is 32; 64 or 128 is expected",
        ),
        (
            tensor("blockM = 128, blockN = 24, colStride = 1"),
            &[128, 8],
            "`blockN` holds 24, which is not a power of two",
        ),
        (
            tensor("blockM = 128, blockN = 8, colStride = 2, fp4Padded = true"),
            &[128, 8],
            "`colStride` is 2; 1 (with `fp4Padded`) is expected",
        ),
        (
            tensor("blockM = 128, blockN = 8, colStride = 1, twoCTAs = true"),
            &[128, 8],
            "`CGALayout` must begin with [1, 0] where two blocks work together",
        ),
        (
            tensor("blockM = 128, blockN = 8, colStride = 1"),
            &[64, 8],
            "the tensor has size 64 along axis 0, at least 128 is needed",
        ),
    ];
    for (text, shape, message) in cases {
        let error = read(&text).layout(shape).unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
}

/// Triton 3.6 wrote the parts of tensor memory as two numbers.
#[test]
fn older_spellings_are_read() {
    let older = read(
        "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CTASplitM = 2, \
         CTASplitN = 2, twoCTAs = true>",
    );
    assert_eq!(
        older.to_string(),
        "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, \
         CGALayout = [[1, 0], [0, 1]], twoCTAs = true>"
    );
    let scales = read("#ttng.tensor_memory_scales_encoding<CTASplitM = 2>");
    let newer = "#ttng.tensor_memory_scales_encoding<CGALayout = [[1, 0]]>";
    assert_eq!(scales.to_string(), newer);
    let error = parse_attribute("#ttng.tensor_memory_scales_encoding<CTASplitM = 3>").unwrap_err();
    assert_eq!(error.to_string(), "at byte 36: expected a power of two");
    let text = "#ttng.tensor_memory_scales_encoding<blockRepOrder = k>";
    let error = parse_attribute(text).unwrap_err();
    assert_eq!(error.to_string(), "at byte 36: expected `mnThenK` or `kThenMn`");
    // What 3.9 leaves out may be written.
    let spelt = "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, \
                 elementBitWidth = 8, fp4Padded = false, rank = 2}>";
    assert_eq!(read(spelt), Family::NvmmaShared(NvmmaShared::new(64, 8)));
}

/// A number that is a small power of two, most of the time.
fn number(u: &mut Unstructured<'_>) -> Result<u64> {
    Ok(match u.int_in_range(0..=60)? {
        0 => u.arbitrary()?,
        1 => *u.choose(&[0, 3, 1 << 63, u64::MAX])?,
        _ => power(u, 0, 6)?,
    })
}

/// Bases that mostly choose a part each.
fn bases(u: &mut Unstructured<'_>, rank: usize, most: usize) -> Result<Vec<Vec<u64>>> {
    let mut next = std::vec![1_u64; rank];
    let count = u.int_in_range(0..=most)?;
    (0..count)
        .map(|_| {
            let mut basis = std::vec![0; rank];
            if let Some(last) = rank.checked_sub(1) {
                let dim = u.int_in_range(0..=last)?;
                basis[dim] = if u.ratio(1, 20)? { number(u)? } else { next[dim] };
                next[dim] = next[dim].wrapping_mul(2);
            }
            if u.ratio(1, 60)? {
                basis.push(1);
            }
            Ok(basis)
        })
        .collect()
}

/// A family with any parameters, for tensors of about this many axes.
fn family(u: &mut Unstructured<'_>, rank: usize, depth: u32) -> Result<Family> {
    let mut order: Vec<usize> = (0..rank).collect();
    if !order.is_empty() && u.ratio(1, 40)? {
        order[0] = usize::MAX;
    }
    let rows = SwizzledShared {
        vec: number(u)?,
        per_phase: number(u)?,
        max_phase: number(u)?,
        order: order.clone(),
        blocks: bases(u, rank, 2)?,
    };
    let paddings = std::vec![Padding { interval: number(u)?, padding: number(u)? }];
    Ok(match u.int_in_range(0..=if depth == 0 { 7 } else { 8 })? {
        0 => Family::SwizzledShared(rows),
        1 => Family::RotatingShared(RotatingShared { rows }),
        2 => Family::NvmmaShared(NvmmaShared {
            swizzling_byte_width: *u.choose(&[0, 32, 64, 128, 0, 32, 64, 128, 16, u64::MAX])?,
            transposed: u.arbitrary()?,
            element_bit_width: number(u)?,
            fp4_padded: u.arbitrary()?,
            rank,
            blocks: if rank == 0 { Vec::new() } else { bases(u, rank, 2)? },
        }),
        3 => Family::SharedLinear(SharedLinear {
            offset: bases(u, rank, 6)?,
            block: bases(u, rank, 2)?,
            alignment: number(u)?,
        }),
        4 => Family::TensorMemory(TensorMemory {
            block_m: *u.choose(&[64, 64, 64, 128, 128, 1 << 63])?,
            block_n: number(u)?,
            col_stride: *u.choose(&[1, 1, 1, 2, 4, 0])?,
            blocks: bases(u, rank, 2)?,
            two_ctas: u.arbitrary()?,
            fp4_padded: u.arbitrary()?,
        }),
        5 => Family::TensorMemoryScales(TensorMemoryScales {
            blocks: bases(u, rank, 2)?,
            columns_first: u.arbitrary()?,
        }),
        6 => {
            let shape = (0..rank).map(|_| number(u)).collect::<Result<_>>()?;
            let elements = PaddedElements::Order { order, shape };
            Family::PaddedShared(PaddedShared { paddings, elements })
        }
        7 => {
            let elements =
                PaddedElements::Bases { offset: bases(u, rank, 6)?, block: bases(u, rank, 2)? };
            Family::PaddedShared(PaddedShared { paddings, elements })
        }
        _ => Family::PartitionedShared(PartitionedShared {
            num_partitions: number(u)?,
            num_groups: number(u)?,
            partition_dim: u.int_in_range(0..=rank)?,
            partition_layout: family(u, rank, depth - 1)?.into(),
        }),
    })
}

/// Any parameters: a layout of the shape or an error, never a panic; and the text is read back.
#[test]
fn any_parameters_are_answered() {
    arbtest(|u| {
        let rank = if u.ratio(1, 100)? { 80 } else { *u.choose(&[2, 2, 2, 2, 1, 3, 0, 5])? };
        let family = family(u, rank, 2)?;
        let extreme = u.ratio(1, 10)?;
        let size = |u: &mut Unstructured<'_>| if extreme { number(u) } else { power(u, 0, 10) };
        let shape: Vec<u64> = (0..rank).map(|_| size(u)).collect::<Result<_>>()?;
        if let Ok(layout) = family.layout(&shape) {
            assert_eq!(layout.shape(), shape);
            // A memory with gaps counts its addresses in 64 bits.
            let has_addresses = layout.ins().contains(OFFSET) && layout.in_bits(OFFSET) < 64;
            assert_eq!(family.padded(&shape).is_ok(), has_addresses);
        }
        if let Ok(padded) = family.padded(&shape) {
            assert_eq!(padded.layout().shape(), shape);
        }
        assert_eq!(parse_attribute(&family.to_string()), Ok(family));
        Ok(())
    })
    .budget_ms(1500);
}
