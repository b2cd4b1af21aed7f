//! One instruction at a time against whole tensors; law and count on families of memories.

use arbitrary::{Result, Unstructured};
use std::{collections::BTreeSet, vec::Vec};

use super::conflicts::{memory, registers};
use crate::{
    Layout, Machine, Space,
    access::{ConflictsError, Counter, Folds, Kind, Memory, Phase, Transfer, conflicts},
    affine::Affine,
    f2::{Subspace, low_mask},
    interop::parse_layout,
    testing::repeat,
};

/// A machine, a way, a width of elements and a shape.
fn problem(u: &mut Unstructured<'_>) -> Result<(&'static Machine, Kind, u32, [u64; 2])> {
    let machine = *u.choose(&Machine::ALL)?;
    let kind = *u.choose(&[Kind::Load, Kind::Store])?;
    let shape = [1 << u.int_in_range(0..=5)?, 1 << u.int_in_range(0..=5)?];
    Ok((machine, kind, 1 << u.int_in_range(3..=6)?, shape))
}

/// No bank serves two words in one wavefront, and none is idle before its last one.
fn check_queues(phase: &Phase, elements: &[Vec<u64>]) {
    let mut served = BTreeSet::new();
    for word in &phase.words {
        assert!(served.insert((word.bank, word.wavefront)));
        assert!(word.wavefront == 0 || served.contains(&(word.bank, word.wavefront - 1)));
        assert!(word.asked.iter().all(|asker| phase.lanes.contains(&asker.lane)));
    }
    let addresses: BTreeSet<u64> = phase.words.iter().map(|word| word.address).collect();
    assert_eq!(addresses.len(), phase.words.len());
    let asked = phase.words.iter().flat_map(|word| &word.asked).map(|asker| asker.lane);
    assert_eq!(asked.collect::<BTreeSet<_>>(), phase.lanes.iter().copied().collect());
    assert!(phase.lanes.iter().all(|&lane| !elements[lane as usize].is_empty()));
}

#[test]
fn instructions_add_up_to_the_tensor() {
    let mut met = 0;
    repeat(400, |u| {
        let (machine, kind, bits, shape) = problem(u)?;
        let outs = Space::tensor(&shape).unwrap();
        let layout = registers(u, &outs, machine.lanes_log2)?;
        let constant = u.arbitrary::<u64>()? & low_mask(outs.total_bits());
        let memory = Affine::new(memory(u, &outs)?, constant).unwrap();
        let whole = conflicts(machine, kind, &layout, (&memory).into(), bits).unwrap();
        let transfer = Transfer::new(machine, kind, &layout, Memory::from(&memory), bits).unwrap();
        assert_eq!(transfer.instructions() * transfer.warps(), whole.instructions);
        let law = transfer.law().unwrap();
        let (mut wavefronts, mut moved) = (0, BTreeSet::new());
        for (warp, number) in (0..transfer.warps())
            .flat_map(|warp| (0..transfer.instructions()).map(move |number| (warp, number)))
        {
            let elements: Vec<Vec<u64>> =
                (0..machine.lanes()).map(|lane| transfer.elements(number, warp, lane)).collect();
            let mut one = 0;
            for phase in transfer.served(number, warp).unwrap() {
                check_queues(&phase, &elements);
                one += u64::from(phase.wavefronts());
            }
            assert_eq!(one, law.wavefronts());
            wavefronts += one;
            moved.extend(elements.into_iter().flatten());
        }
        assert_eq!(wavefronts, whole.wavefronts);
        assert_eq!(moved.len() as u64, shape[0] * shape[1]);
        // Where the lanes and the segments meet is in the span of the segments.
        let segment = Subspace::from_vectors(&law.segment);
        assert!(law.meet.iter().all(|&element| segment.contains(element)));
        met += u32::from(!law.meet.is_empty());
        Ok(())
    });
    assert!(met > 40, "{met}");
}

#[test]
fn a_counter_counts_what_a_tensor_takes() {
    let mut differing = BTreeSet::new();
    repeat(800, |u| {
        let (machine, kind, bits, shape) = problem(u)?;
        let outs = Space::tensor(&shape).unwrap();
        let layout = registers(u, &outs, machine.lanes_log2)?;
        let folds = Folds::of(&outs).unwrap();
        let number = u.arbitrary::<u64>()? & low_mask(folds.toggles());
        let counted = Counter::new(machine, kind, &layout, &folds, bits)
            .and_then(|mut counter| counter.count(number));
        let memory = Affine::from(folds.memory(number).unwrap());
        let whole = conflicts(machine, kind, &layout, (&memory).into(), bits);
        match (counted, whole) {
            (Ok(counted), Ok(whole)) => {
                let warps = whole.instructions / counted.instructions;
                assert_eq!(counted.law * warps, whole.wavefronts);
                assert_eq!(counted.counted, counted.law);
                differing.insert(counted);
            }
            (Err(counted), Err(whole)) => assert_eq!(counted, whole),
            (counted, whole) => panic!("{counted:?} {whole:?}"),
        }
        Ok(())
    });
    assert!(differing.len() > 20, "{differing:?}");
}

#[test]
fn folds_are_the_memories_of_the_toggles() {
    let outs = Space::tensor(&[16, 32]).unwrap();
    let folds = Folds::of(&outs).unwrap();
    assert_eq!(folds.toggles(), 20);
    // Row bit j into column bit j + 1.
    let number = (0..4).map(|j| 1_u64 << (5 * j + j + 1)).sum();
    let twice = parse_layout(
        "[offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,2) (2,4) (4,8) (8,16)] -> [dim0: 16, dim1: 32]",
    );
    assert_eq!(folds.memory(number), twice.ok());
    let plain: Layout = folds.memory(0).unwrap();
    assert!(plain.is_invertible());
    assert!(Folds::of(&Space::tensor(&[1 << 12, 1 << 12]).unwrap()).is_none());
}

#[test]
fn what_a_machine_cannot_move_is_refused() {
    let outs = Space::tensor(&[16, 32]).unwrap();
    let layout = parse_layout("[register: (0,1) (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0)] -> [dim0: 16, dim1: 32]").unwrap();
    let machine = Machine::by_name("sm_90").unwrap();
    let folds = Folds::of(&outs).unwrap();
    let refused = Counter::new(machine, Kind::Load, &layout, &folds, 32).err();
    assert_eq!(refused, Some(ConflictsError::Lanes { layout: 4, machine: 5 }));
}
