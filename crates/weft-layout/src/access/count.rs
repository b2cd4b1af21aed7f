use alloc::vec::Vec;

use super::{AccessError, Collision, Wavefronts, Word, serve};
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
    let banks = low_mask(machine.banks_log2_of(kind));
    let mut sum = Wavefronts { actual: 0, ideal: 0, witness: None };
    for phase in serve(machine, kind, addresses, bytes)? {
        let ideal = (phase.words.len() as u64).div_ceil(banks.saturating_add(1).max(1));
        let actual = phase.wavefronts();
        sum.actual = sum.actual.saturating_add(actual);
        sum.ideal = sum.ideal.saturating_add(ideal as u32);
        sum.witness = sum.witness.or_else(|| collision(&phase.words));
    }
    sum.witness = sum.witness.filter(|_| sum.actual > sum.ideal);
    Ok(sum)
}

/// The two lowest words of the first bank that has several.
fn collision(words: &[Word]) -> Option<Collision> {
    let mut banks = words.chunk_by(|a, b| a.bank == b.bank);
    let mut bank: Vec<&Word> = banks.find(|bank| bank.len() > 1)?.iter().collect();
    bank.sort_unstable_by_key(|word| word.address);
    let [first, second] = [bank.first()?.asked.first()?, bank.get(1)?.asked.first()?];
    Some(Collision { lanes: [first.lane, second.lane], words: [first.word, second.word] })
}
