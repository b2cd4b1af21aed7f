//! The rows of machines: what must hold of all of them.

use std::{boxed::Box, collections::BTreeSet, vec::Vec};

use crate::{
    Machine,
    f2::low_mask,
    family::{DotOperand, Family, NvidiaMma},
    interop::parse_attribute,
    machine::{
        BrokenGroup, Fragments, Isa, Kind, MAX_ACCESS_LOG2, MatrixMultiply, Number, Part, Reach,
        Storage,
    },
    space::{LANE, REGISTER, WARP},
};

#[test]
fn every_target_has_a_row() {
    let names: Vec<&str> = Machine::ALL.iter().map(|machine| &*machine.name).collect();
    let expected = "sm_80 sm_86 sm_89 sm_90 sm_100 sm_120 gfx90a gfx942 gfx950 gfx1100 gfx1200";
    assert_eq!(names.join(" "), expected);
    for machine in Machine::ALL {
        assert_eq!(Machine::by_name(&machine.name), Some(machine));
        match machine.isa {
            Isa::Ptx { capability } => assert_eq!(machine.name, std::format!("sm_{capability}")),
            Isa::Amdgcn => assert!(machine.name.starts_with("gfx")),
        }
    }
    assert_eq!(Machine::by_name("sm_91"), None);
}

#[test]
fn rows_are_consistent() {
    for machine in Machine::ALL {
        let name = &machine.name;
        let powers =
            [machine.shared_vector_bytes, machine.global_vector_bytes, machine.sector_bytes];
        assert!(powers.iter().all(|bytes| bytes.is_power_of_two()), "{name}");
        assert!(machine.atomic_vector_bytes.is_power_of_two(), "{name}");
        assert!(machine.atomic_vector_bytes <= machine.global_vector_bytes, "{name}");
        assert!(machine.shared_vector_bytes <= 1 << MAX_ACCESS_LOG2, "{name}");
        assert!(machine.shared_bytes_per_block <= machine.shared_bytes, "{name}");
        assert!(machine.threads_per_block <= machine.threads, "{name}");
        assert_eq!(machine.threads % machine.lanes(), 0, "{name}");
        let prices = &machine.prices;
        for price in [prices.wavefront, prices.shuffle, prices.alu, prices.issue, prices.sector] {
            assert!(price > 0, "{name}");
        }
        for kind in [Kind::Load, Kind::Store] {
            for width in 0..=MAX_ACCESS_LOG2 {
                let phase = machine.phases.subspace(kind, width);
                // Lanes of the warp, of which a phase holds at most one row of all banks.
                assert!(phase.leads() & !low_mask(machine.lanes_log2) == 0, "{name}");
                let row = machine.banks_log2_of(kind) + machine.bank_bytes_log2;
                assert!(phase.dim() + width.max(machine.bank_bytes_log2) <= row, "{name} {width}");
            }
        }
    }
}

#[test]
fn instructions_that_move_between_lanes_stay_in_the_warp() {
    for machine in Machine::ALL {
        let lanes = low_mask(machine.lanes_log2);
        let mut names = BTreeSet::new();
        for shuffle in machine.shuffles.iter() {
            assert!(names.insert(&shuffle.name), "{}", shuffle.name);
            let reached = match &shuffle.reach {
                Reach::Any => lanes,
                Reach::Within(mask) | Reach::Swap(mask) => *mask,
                Reach::Masks(masks) => masks.iter().fold(0, |all, mask| all | mask),
            };
            assert!(reached != 0 && reached & !lanes == 0, "{} {}", machine.name, shuffle.name);
        }
        assert!(machine.shuffles.iter().any(|shuffle| shuffle.reach == Reach::Any));
        for matrix_move in machine.matrix_moves.iter() {
            assert!(names.insert(&matrix_move.name), "{}", matrix_move.name);
            let bytes = matrix_move.rows * matrix_move.row_bytes;
            for count in matrix_move.matrices.iter() {
                // The bytes of all matrices, dealt out in words of 4 bytes.
                assert_eq!(count * bytes % (4 * machine.lanes()), 0, "{}", matrix_move.name);
            }
        }
    }
}

/// Which machines have which matrix moves, as the assembler accepts them.
#[test]
fn matrix_moves_by_machine() {
    let names = |machine: &str| -> Vec<&str> {
        let machine = Machine::by_name(machine).unwrap();
        machine.matrix_moves.iter().map(|matrix_move| &*matrix_move.name).collect()
    };
    assert_eq!(names("sm_89"), ["ldmatrix.m8n8.b16"]);
    assert_eq!(names("sm_90"), ["ldmatrix.m8n8.b16", "stmatrix.m8n8.b16"]);
    assert_eq!(names("sm_120").len(), 4);
    assert_eq!(names("gfx942"), [""; 0]);
    let transposing = ["ds_read_b64_tr_b16", "ds_read_b64_tr_b8", "ds_read_b64_tr_b4"];
    assert_eq!(names("gfx950"), transposing);
}

/// The fragments, number by number, against the formulas of the PTX ISA ("matrix fragments for
/// `mma.m16n8k16`" and its siblings).
#[test]
fn fragments_of_matrix_instructions_are_those_of_the_isa() {
    let mut seen = BTreeSet::new();
    for machine in Machine::ALL {
        for multiply in machine.matrix_multiplies.iter() {
            let name = &multiply.name;
            assert_eq!(machine.matrix_multiply(name), Some(multiply));
            assert_eq!(multiply.lanes_log2(), machine.lanes_log2, "{name}");
            if multiply.fragments != Fragments::Mma || !seen.insert(name.clone()) {
                continue;
            }
            let word = u64::from(32 / multiply.left.bits()).max(1);
            for part in [Part::Left, Part::Right, Part::Sum] {
                let layout = multiply.fragment(part).unwrap();
                assert!(layout.is_invertible(), "{name} {part:?}");
                let [_, columns] = multiply.shape(part);
                let registers = 1 << layout.in_bits(REGISTER);
                for (lane, register) in (0..32).flat_map(|l| (0..registers).map(move |r| (l, r))) {
                    let (group, quad) = (lane / 4, lane % 4);
                    let (i, e) = (register / word, register % word);
                    let (row, column) = match part {
                        Part::Left if multiply.rows == 16 => {
                            (group + 8 * (i % 2), word * quad + e + 4 * word * (i / 2))
                        }
                        Part::Left => (group, word * quad + e + 4 * word * i),
                        Part::Right => (word * quad + e + 4 * word * i, group),
                        Part::Sum => (group + 8 * (register / 2), 2 * quad + register % 2),
                    };
                    let place = layout.apply_flat(lane << layout.in_bits(REGISTER) | register);
                    assert_eq!(place, row * columns + column, "{name} {part:?} {lane} {register}");
                }
            }
        }
    }
    assert_eq!(seen.len(), 18);
}

/// Triton's families describe the same fragments.
#[test]
fn fragments_of_matrix_instructions_are_triton_s_layouts() {
    let machine = Machine::by_name("sm_89").unwrap();
    for name in [
        "mma.m16n8k16.f32.f16.f16",
        "mma.m16n8k8.f32.tf32.tf32",
        "mma.m8n8k4.f64.f64.f64",
        "mma.m16n8k32.s32.s8.s8",
        "mma.m16n8k32.f32.e4m3.e5m2",
    ] {
        let multiply = machine.matrix_multiply(name).unwrap();
        let result = NvidiaMma {
            version_major: 2,
            version_minor: 0,
            warps_per_cta: [1, 1].into(),
            instr_shape: multiply.shape(Part::Sum).into(),
            blocks: [].into(),
        };
        let parent = Box::new(Family::NvidiaMma(result));
        assert_eq!(
            parent.layout(&multiply.shape(Part::Sum)),
            Ok(multiply.fragment(Part::Sum).unwrap())
        );
        let k_width = (32 / multiply.left.bits()).max(1);
        for (operand, part) in [(0, Part::Left), (1, Part::Right)] {
            let family = DotOperand { operand, parent: parent.clone(), k_width };
            let layout = family.layout(&multiply.shape(part));
            assert_eq!(layout, Ok(multiply.fragment(part).unwrap()), "{name} {part:?}");
        }
    }
}

/// Every number of a machine, by its path.
fn numbers(machine: &Machine) -> Vec<std::string::String> {
    let mut paths: Vec<std::string::String> = [
        "lanes banks store_banks bank_bytes shared_vector_bytes global_vector_bytes",
        "atomic_vector_bytes sector_bytes",
        "shared_bytes_per_block shared_bytes threads_per_block threads blocks registers",
        "registers_per_thread multiprocessors barriers cluster_blocks byte_permute phases.merging",
        "direct_copies",
        "prices.wavefront prices.shuffle prices.alu prices.issue prices.warp_barrier",
        "prices.block_barrier prices.block_barrier_per_warp prices.sector",
        "timing.parts timing.special timing.l2_sector timing.exchange timing.matrix",
        "timing.shared timing.global",
    ]
    .iter()
    .flat_map(|line| line.split(' '))
    .map(Into::into)
    .collect();
    for bytes in [1, 2, 4, 8, 16] {
        paths.push(std::format!("phases.load.{bytes}"));
        paths.push(std::format!("phases.store.{bytes}"));
    }
    let moves = machine.matrix_moves.iter().map(|form| std::format!("matrix_moves.{}", form.name));
    paths.extend(moves);
    let multiplies = machine.matrix_multiplies.iter();
    paths.extend(multiplies.map(|form| std::format!("matrix_multiplies.{}", form.name)));
    let multiplies = machine.warpgroup_multiplies.iter();
    paths.extend(multiplies.map(|form| std::format!("warpgroup_multiplies.{}", form.name)));
    let multiplies = machine.scaled_multiplies.iter();
    paths.extend(multiplies.map(|form| std::format!("scaled_multiplies.{}", form.name)));
    paths.extend(machine.shuffles.iter().map(|form| std::format!("shuffles.{}", form.name)));
    paths
}

#[test]
fn every_number_has_a_source_and_every_source_a_number() {
    for machine in Machine::ALL {
        let mut used = BTreeSet::new();
        for path in numbers(machine) {
            let source = machine.source(&path);
            let source = source.unwrap_or_else(|| panic!("{}: {path} has no source", machine.name));
            used.insert(&*source.of);
        }
        let all: Vec<&str> = machine.sources.iter().map(|source| &*source.of).collect();
        assert_eq!(used.len(), all.len(), "{}: {used:?} of {all:?}", machine.name);
    }
}

#[test]
fn a_source_covers_whole_names() {
    let machine = Machine::by_name("sm_90").unwrap();
    assert!(machine.source("prices.sector").unwrap().from.contains("TB/s"));
    assert_eq!(machine.source("prices.sectors").unwrap().of, "prices");
}

/// The fragments of `wgmma` against the tables of the PTX ISA, and where its matrices lie.
#[test]
fn fragments_of_warpgroup_instructions_are_those_of_the_isa() {
    let machine = Machine::by_name("sm_90").unwrap();
    for any in machine.warpgroup_multiplies.iter() {
        assert_eq!(machine.matrix_multiply(&any.name), Some(any));
        assert_eq!((any.warps(), any.left.bits() * any.summed), (4, 256));
        assert_eq!(
            [Part::Left, Part::Right, Part::Sum].map(|part| any.storage(part)),
            [Storage::Either, Storage::Shared, Storage::Registers]
        );
        assert!(any.fragment(Part::Right).is_err());
        let word = u64::from(32 / any.left.bits()).max(1);
        for columns in (1..=33).map(|eighths| 8 * eighths) {
            let Some(multiply) = any.with_columns(columns) else {
                let odd = columns > 24 && columns % 16 == 8;
                assert!(columns > 256 || any.sum == Number::S32 && odd, "{} {columns}", any.name);
                continue;
            };
            assert!(multiply.name.contains(&std::format!("m64n{columns}k")));
            assert_eq!(multiply.price, 50 * u64::from(columns));
            assert_eq!(multiply.shared_bytes(Storage::Shared), 2048 + 32 * u64::from(columns));
            assert_eq!(multiply.shared_bytes(Storage::Registers), 32 * u64::from(columns));
            for part in [Part::Left, Part::Sum] {
                let layout = multiply.fragment(part).unwrap();
                let [rows, width] = multiply.shape(part).map(u64::next_power_of_two);
                assert_eq!((layout.shape(), layout.is_invertible()), ([rows, width].into(), true));
                let (own, step) = if part == Part::Left { (word, word) } else { (2, 2) };
                for place in 0..rows * width {
                    let at = |label| layout.ins().coordinate(label, place);
                    let (register, lane, warp) = (at(REGISTER), at(LANE), at(WARP));
                    let (e, i) = (register % own, register / own);
                    let row = 16 * warp + lane / 4 + 8 * (i % 2);
                    let column = step * (lane % 4) + e + 4 * step * (i / 2);
                    assert_eq!(layout.apply_flat(place), row * width + column, "{part:?} {place}");
                }
            }
        }
    }
}

/// The rows, columns and summed indices of `mfma` and `wmma`, number by number, against what AMD's matrix
/// instruction calculator prints.
#[test]
fn fragments_of_amd_s_instructions_are_those_of_the_calculator() {
    let mut forms = BTreeSet::new();
    for machine in Machine::ALL.into_iter().filter(|machine| machine.isa == Isa::Amdgcn) {
        assert!(!machine.matrix_multiplies.is_empty() && machine.warpgroup_multiplies.is_empty());
        for multiply in machine.matrix_multiplies.iter() {
            let lanes = u64::from(machine.lanes());
            let [rows, columns] = multiply.shape(Part::Sum);
            let summed = u64::from(multiply.summed);
            let upper = match multiply.fragments {
                Fragments::WmmaGfx11 => 0,
                _ => rows * summed / lanes,
            };
            for part in [Part::Left, Part::Right, Part::Sum] {
                let layout = multiply.fragment(part).unwrap();
                let copies = multiply.fragments == Fragments::WmmaGfx11 && part != Part::Sum;
                assert_eq!((layout.is_surjective(), layout.is_injective()), (true, !copies));
                let width = multiply.shape(part)[1];
                for place in 0..1 << layout.ins().total_bits() {
                    let at = |label| layout.ins().coordinate(label, place);
                    let (register, lane) = (at(REGISTER), at(LANE));
                    let (low, high) = (lane % rows, lane / rows);
                    let [row, column] = match part {
                        Part::Left => [low, register + upper * high],
                        Part::Right => [register + upper * high, low],
                        Part::Sum => [sum_row(multiply, register, high), low],
                    };
                    let found = layout.apply_flat(place);
                    assert_eq!(found, row * width + column, "{} {part:?} {place}", multiply.name);
                }
            }
            assert_eq!(rows, columns);
            forms.insert(&multiply.name);
        }
    }
    assert_eq!(forms.len(), 40);
}

/// The row of a sum in a register of a lane, `high` being the lane's number beyond the columns.
fn sum_row(multiply: &MatrixMultiply, register: u64, high: u64) -> u64 {
    let groups = 64 / u64::from(multiply.columns);
    match (multiply.fragments, multiply.sum) {
        (Fragments::Mfma, Number::F64) => high + 4 * register,
        (Fragments::Mfma, _) => register % 4 + 4 * (high + groups * (register / 4)),
        (Fragments::WmmaGfx11, _) => 2 * register + high,
        _ => register + 8 * high,
    }
}

/// And as Triton 3.9 describes them, read from its texts.
#[test]
fn fragments_of_amd_s_instructions_are_triton_s_layouts() {
    for machine in Machine::ALL.into_iter().filter(|machine| machine.isa == Isa::Amdgcn) {
        for multiply in machine.matrix_multiplies.iter() {
            let [rows, columns] = multiply.shape(Part::Sum);
            let summed = multiply.summed;
            let lanes = 1 << multiply.lanes_log2();
            let version = match &*machine.name {
                "gfx90a" => 2,
                "gfx942" => 3,
                "gfx950" => 4,
                "gfx1100" => 1,
                _ => 2,
            };
            let (parent, k_width) = if multiply.fragments == Fragments::Mfma {
                let wide = if multiply.sum == Number::F64 { ", elementBitWidth = 64" } else { "" };
                let text = std::format!(
                    "#ttg.amd_mfma<{{version = {version}, warpsPerCTA = [1, 1], instrShape = \
                     [{rows}, {columns}, {summed}], isTransposed = false{wide}}}>"
                );
                (text, multiply.rows * summed / lanes)
            } else {
                let text = std::format!(
                    "#ttg.amd_wmma<{{version = {version}, isTranspose = false, ctaLayout = {{}}}}>"
                );
                (text, if version == 1 { 16 } else { 8 })
            };
            for (index, part) in [Part::Left, Part::Right].into_iter().enumerate() {
                let text = std::format!(
                    "#ttg.dot_op<{{opIdx = {index}, parent = {parent}, kWidth = {k_width}}}>"
                );
                let layout = parse_attribute(&text).unwrap().layout(&multiply.shape(part));
                assert_eq!(layout, Ok(multiply.fragment(part).unwrap()), "{}", multiply.name);
            }
            let layout = parse_attribute(&parent).unwrap().layout(&[rows, columns]);
            assert_eq!(layout, Ok(multiply.fragment(Part::Sum).unwrap()), "{}", multiply.name);
        }
    }
}

/// `wgmma` as Triton 3.9 describes it, read from its texts.
#[test]
fn fragments_of_warpgroup_instructions_are_triton_s_layouts() {
    let machine = Machine::by_name("sm_90").unwrap();
    for any in machine.warpgroup_multiplies.iter() {
        for columns in [8, 16, 32, 64, 128, 256] {
            let multiply = any.with_columns(columns).unwrap();
            let parent = std::format!(
                "#ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], \
                 instrShape = [16, {columns}, {}]}}>",
                multiply.summed
            );
            let k_width = 32 / multiply.left.bits();
            let left =
                std::format!("#ttg.dot_op<{{opIdx = 0, parent = {parent}, kWidth = {k_width}}}>");
            for (text, part) in [(&left, Part::Left), (&parent, Part::Sum)] {
                let layout = parse_attribute(text).unwrap().layout(&multiply.shape(part));
                assert_eq!(layout, Ok(multiply.fragment(part).unwrap()), "{} {part:?}", any.name);
            }
        }
    }
}

/// The numbers that a lane has of each part of a scaled instruction, by the formulas of AMD's CDNA 4 manual:
/// 16 bytes of a factor together, of one of eight bits 16 more from half the summed index on.
#[test]
fn fragments_of_scaled_instructions_are_those_of_the_isa() {
    let machine = Machine::by_name("gfx950").unwrap();
    assert_eq!(machine.scaled_multiplies.len(), 18);
    for multiply in machine.scaled_multiplies.iter() {
        let name = &multiply.name;
        assert_eq!(machine.matrix_multiply(name), Some(multiply));
        assert_eq!((multiply.lanes_log2(), multiply.scale_group()), (6, Some(32)), "{name}");
        let [side, columns] = multiply.shape(Part::Sum);
        assert_eq!((side, side * u64::from(multiply.summed)), (columns, 2048), "{name}");
        let summed = u64::from(multiply.summed);
        for part in [Part::Left, Part::Right] {
            let layout = multiply.fragment(part).unwrap();
            assert!(layout.is_invertible(), "{name} {part:?}");
            let width = multiply.shape(part)[1];
            // Numbers of four bits fill 16 bytes.
            let together = if multiply.number(part) == Number::E2M1 { 32 } else { 16 };
            for place in 0..1 << layout.ins().total_bits() {
                let at = |label| layout.ins().coordinate(label, place);
                let (register, lane) = (at(REGISTER), at(LANE));
                let (kept, run) = (lane % side, lane / side);
                let half = register / together * summed / 2;
                let index = half + run * together + register % together;
                let [row, column] = if part == Part::Left { [kept, index] } else { [index, kept] };
                assert_eq!(layout.apply_flat(place), row * width + column, "{name} {part:?}");
            }
            let scales = multiply.scale_fragment(part).unwrap();
            assert_eq!(scales.shape(), [side, summed / 32], "{name}");
            for lane in 0..64 {
                let (kept, group) = (lane % side, lane / side);
                assert_eq!(scales.apply_flat(lane), kept * (summed / 32) + group, "{name}");
            }
        }
        assert_eq!(multiply.scale_fragment(Part::Sum), None);
    }
    let plain = machine.matrix_multiply("mfma.m16n16k32.f32.e4m3.e4m3").unwrap();
    assert_eq!((plain.scale_group(), plain.scale_fragment(Part::Left)), (None, None));
}

/// And as Triton 3.9 describes them: the layouts that it gives `tt.dot_scaled` for gfx950, where a tensor of
/// numbers of four bits is one of bytes.
#[test]
fn fragments_of_scaled_instructions_are_triton_s_layouts() {
    let machine = Machine::by_name("gfx950").unwrap();
    for multiply in machine.scaled_multiplies.iter() {
        let [rows, columns] = multiply.shape(Part::Sum);
        let parent = std::format!(
            "#ttg.amd_mfma<{{version = 4, warpsPerCTA = [1, 1], instrShape = [{rows}, {columns}, {}], \
             isTransposed = false}}>",
            multiply.summed
        );
        let sum = parse_attribute(&parent).unwrap().layout(&[rows, columns]);
        assert_eq!(sum, Ok(multiply.fragment(Part::Sum).unwrap()), "{}", multiply.name);
        for (index, part) in [Part::Left, Part::Right].into_iter().enumerate() {
            let text =
                std::format!("#ttg.dot_op<{{opIdx = {index}, parent = {parent}, kWidth = 16}}>");
            let own = multiply.fragment(part).unwrap();
            let mut shape = multiply.shape(part);
            let packed = multiply.number(part) == Number::E2M1;
            if packed {
                shape[1 - index] /= 2;
            }
            let layout = parse_attribute(&text).unwrap().layout(&shape).unwrap();
            // A place among numbers as one among bytes: half as far along the summed index.
            let width = multiply.shape(part)[1];
            let in_bytes = |place: u64| match (packed, part) {
                (false, _) => place,
                (true, Part::Left) => place / width * shape[1] + place % width / 2,
                (true, _) => place / width / 2 * width + place % width,
            };
            let registers: Vec<u64> =
                own.columns(REGISTER)[usize::from(packed)..].iter().map(|&p| in_bytes(p)).collect();
            assert_eq!(layout.columns(REGISTER), registers, "{} {part:?}", multiply.name);
            let lanes: Vec<u64> = own.columns(LANE).iter().map(|&place| in_bytes(place)).collect();
            assert_eq!(layout.columns(LANE), lanes, "{} {part:?}", multiply.name);
        }
        // `lane` of the linear layouts of the two scales, whose tensors have as many groups.
        let linear = match rows {
            16 => "[[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2]]",
            _ => "[[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1]]",
        };
        let text =
            std::format!("#ttg.linear<{{register = [], lane = {linear}, warp = [], block = []}}>");
        let shape = [rows, u64::from(multiply.summed) / 32];
        let scales = parse_attribute(&text).unwrap().layout(&shape);
        for part in [Part::Left, Part::Right] {
            assert_eq!(scales, Ok(multiply.scale_fragment(part).unwrap()), "{}", multiply.name);
        }
    }
}

/// What shares a scale stays together, in any order, and so do pairs of four bits; else there is a witness.
#[test]
fn an_order_that_breaks_a_group_is_refused_with_a_witness() {
    let machine = Machine::by_name("gfx950").unwrap();
    let named = |name: &str| machine.matrix_multiply(name).unwrap();
    let bytes = named("mfma_scale.m16n16k128.f32.e4m3.e5m2");
    let mixed = named("mfma_scale.m32n32k64.f32.e4m3.e2m1");
    let own: Vec<u64> = (0..9).map(|bit| 1 << bit).collect();
    let orders = [
        own.clone(),
        // Within groups, and whole groups.
        [16, 8, 4, 2, 1, 32, 64, 128, 256].to_vec(),
        [1, 2, 4, 8, 16, 256, 128, 64, 32].to_vec(),
    ];
    for order in &orders {
        assert_eq!(bytes.keeps_groups(order), Ok(()), "{order:?}");
    }
    let broken = [1, 2, 4, 64, 16, 32, 8, 128, 256];
    let witness = bytes.keeps_groups(&broken).unwrap_err();
    assert_eq!(witness, BrokenGroup { bit: 3, index: 64, size: 32 });
    // The witness holds: the two are of one group there, and of two here.
    assert_eq!((1_u64 << witness.bit) / 32, 0);
    assert_ne!(broken[witness.bit as usize] / 32, 0);
    assert_eq!(
        std::string::ToString::to_string(&witness),
        "numbers 0 and 8 of the instruction have a scale in common, and stand for 0 and 64, which have \
         not: 32 neighbours do"
    );
    assert_eq!(mixed.keeps_groups(&orders[0]), Ok(()));
    assert_eq!(mixed.keeps_groups(&orders[1]), Err(BrokenGroup { bit: 0, index: 16, size: 2 }));
    // Without scales any order is one.
    assert_eq!(named("mfma.m16n16k32.f32.e4m3.e4m3").keeps_groups(&broken), Ok(()));
}
