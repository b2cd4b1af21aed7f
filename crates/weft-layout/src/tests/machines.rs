//! The rows of machines: what must hold of all of them.

use std::{boxed::Box, collections::BTreeSet, vec::Vec};

use crate::{
    Machine,
    f2::low_mask,
    family::{DotOperand, Family, NvidiaMma},
    machine::{Isa, Kind, MAX_ACCESS_LOG2, Part, Reach},
    space::REGISTER,
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
            if !seen.insert(name.clone()) {
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
        "lanes banks store_banks bank_bytes shared_vector_bytes global_vector_bytes sector_bytes",
        "shared_bytes_per_block shared_bytes threads_per_block threads blocks registers",
        "registers_per_thread multiprocessors barriers cluster_blocks byte_permute phases.merging",
        "prices.wavefront prices.shuffle prices.alu prices.issue prices.warp_barrier",
        "prices.block_barrier prices.block_barrier_per_warp prices.sector",
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
