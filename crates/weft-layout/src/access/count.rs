use alloc::vec::Vec;

use super::{AccessError, Collision, Wavefronts, check_width, widest_shared};
use crate::{
    f2::low_mask,
    machine::{Kind, Machine},
};

/// The wavefronts of one access of shared memory, counted over its addresses.
///
/// This is for addresses that are no linear function of the lane, those of padded memory say; for
/// the others [`wavefronts`](super::wavefronts) gives the same numbers.
/// `addresses[lane]` is the lane's byte address, or nothing when it takes no part; `bytes` is the
/// width of each lane's access.
/// Fails when the access is not legal on the machine.
///
/// ```
/// use weft_layout::{Machine, access::count_wavefronts, machine::Kind};
///
/// // One column of a tile of 32 x 32 floats: in rows of 32 words, and of 33.
/// let column = |row: u64| (0..32).map(|lane| Some(4 * row * lane)).collect::<Vec<_>>();
/// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
/// assert_eq!(count_wavefronts(machine, Kind::Load, &column(32), 4)?.actual, 32);
/// assert_eq!(count_wavefronts(machine, Kind::Load, &column(33), 4)?.actual, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count_wavefronts(
    machine: &Machine,
    kind: Kind,
    addresses: &[Option<u64>],
    bytes: u32,
) -> Result<Wavefronts, AccessError> {
    let width = check_width(bytes, widest_shared(machine))?;
    if addresses.len() != machine.lanes() as usize {
        let (expected, found) = (machine.lanes(), addresses.len());
        return Err(AccessError::Addresses { expected, found });
    }
    let acting = || (0..).zip(addresses).filter_map(|(lane, address)| Some((lane, (*address)?)));
    if let Some((lane, address)) = acting().find(|(_, address)| address % u64::from(bytes) != 0) {
        return Err(AccessError::MisalignedLane { lane, address, bytes });
    }
    let address = |lane: u32| addresses.get(lane as usize).copied().flatten();
    // A lane that takes part is no copy of one that does not.
    let copy =
        |bit: &u32| (0..machine.lanes()).all(|lane| address(lane) == address(lane ^ 1 << bit));
    // Phases are given by at most 8 lane bits.
    let copies = (0..machine.lanes_log2.min(8)).filter(copy).fold(0, |mask, bit| mask | 1 << bit);
    let served = machine.phases.served(kind, width, copies);
    let word = machine.bank_bytes_log2;
    let words_each = 1_u32 << width.saturating_sub(word);
    let banks = low_mask(machine.banks_log2_of(kind));

    // All words that are asked for, in the order of phase, bank and word.
    let mut asked: Vec<Asked> = acting()
        .flat_map(|(lane, address)| {
            let phase = served.reduce(lane.into());
            (0..words_each).map(move |index| {
                let address = (address >> word) + u64::from(index);
                Asked { phase, bank: address & banks, address, lane, index }
            })
        })
        .collect();
    asked.sort_unstable();
    asked.dedup_by_key(|asked| (asked.phase, asked.bank, asked.address));
    let mut sum = Wavefronts { actual: 0, ideal: 0, witness: None };
    for phase in asked.chunk_by(|a, b| a.phase == b.phase) {
        let ways = phase.chunk_by(|a, b| a.bank == b.bank).map(<[Asked]>::len);
        let ideal = (phase.len() as u64).div_ceil(banks.saturating_add(1).max(1));
        sum.actual = sum.actual.saturating_add(ways.max().unwrap_or(0) as u32);
        sum.ideal = sum.ideal.saturating_add(ideal as u32);
    }
    if sum.actual > sum.ideal {
        let collides =
            |pair: &&[Asked]| pair[0].phase == pair[1].phase && pair[0].bank == pair[1].bank;
        sum.witness = asked.windows(2).find(collides).map(|pair| Collision {
            lanes: [pair[0].lane, pair[1].lane],
            words: [pair[0].index, pair[1].index],
        });
    }
    Ok(sum)
}

/// One word that a lane asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    phase: u64,
    bank: u64,
    address: u64,
    lane: u32,
    index: u32,
}
