//! Who is served when: the words of one access, phase by phase and wavefront by wavefront.

use alloc::vec::Vec;

use super::{AccessError, check_width, widest_shared};
use crate::{
    f2::low_mask,
    machine::{Kind, Machine},
};

/// The lanes that are served together, and the words that they ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The lanes, in order.
    pub lanes: Vec<u32>,
    /// The words, each once, by bank and wavefront.
    pub words: Vec<Word>,
}

/// A word of memory that a bank serves in one wavefront of a phase, to everybody who asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The number of the bank that both addresses fall on.
    pub bank: u64,
    /// The wavefront of the phase: a bank serves its words in the order of the lanes that ask.
    pub wavefront: u32,
    /// The byte address that the lane accesses.
    pub address: u64,
    /// Who asks for it, in the order of lanes.
    pub asked: Vec<Asker>,
}

/// A lane that asks for a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asker {
    /// The number of the lane in its warp.
    pub lane: u32,
    /// Which word of its vector this is.
    pub word: u32,
}

impl Phase {
    /// How many wavefronts it takes.
    pub fn wavefronts(&self) -> u32 {
        self.words.iter().map(|word| word.wavefront + 1).max().unwrap_or(0)
    }
}

/// How one access of shared memory is served, phase by phase.
///
/// `addresses[lane]` is the lane's byte address, or nothing when it takes no part; `bytes` is the
/// width of each lane's access.
/// Fails when the access is not legal on the machine.
///
/// ```
/// use weft_layout::{Machine, access::serve, machine::Kind};
///
/// // 16 bytes a lane: 8 lanes ask for all banks, and four phases follow each other.
/// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
/// let addresses: Vec<_> = (0..32).map(|lane| Some(16 * lane)).collect();
/// let phases = serve(machine, Kind::Load, &addresses, 16)?;
/// assert_eq!(phases.len(), 4);
/// assert_eq!(phases[1].lanes, [8, 9, 10, 11, 12, 13, 14, 15]);
/// assert_eq!((phases[1].words.len(), phases[1].wavefronts()), (32, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn serve(
    machine: &Machine,
    kind: Kind,
    addresses: &[Option<u64>],
    bytes: u32,
) -> Result<Vec<Phase>, AccessError> {
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
    let mut acting: Vec<(u64, u32, u64)> =
        acting().map(|(lane, address)| (served.reduce(lane.into()), lane, address)).collect();
    acting.sort_unstable();

    let word = machine.bank_bytes_log2;
    let banks = low_mask(machine.banks_log2_of(kind));
    let mut queues = Queues::new();
    let phases = acting.chunk_by(|a, b| a.0 == b.0).map(|lanes| {
        queues.clear();
        let mut asked: Vec<Vec<Asker>> = Vec::new();
        for &(_, lane, address) in lanes {
            for index in 0..1 << width.saturating_sub(word) {
                let address = (address >> word) + u64::from(index);
                let place = queues.ask(address & banks, address);
                if place == asked.len() {
                    asked.push(Vec::new());
                }
                asked[place].push(Asker { lane, word: index });
            }
        }
        let words = queues.words.iter().zip(asked).map(|(queued, asked)| Word {
            bank: queued.bank,
            wavefront: queued.wavefront,
            address: queued.address << word,
            asked,
        });
        let mut words: Vec<Word> = words.collect();
        words.sort_unstable_by_key(|word| (word.bank, word.wavefront));
        Phase { lanes: lanes.iter().map(|&(_, lane, _)| lane).collect(), words }
    });
    Ok(phases.collect())
}

/// The words that one phase asks each bank for, each once.
pub(super) struct Queues {
    /// The last word that was queued for the banks of one remainder.
    last: [u16; REMAINDERS],
    words: Vec<Queued>,
    wavefronts: u32,
}

/// More than any machine has banks: banks beyond share a queue and are told apart in it.
const REMAINDERS: usize = 128;

/// Stands for no word: the end of a list.
const NONE: u16 = u16::MAX;

struct Queued {
    bank: u64,
    address: u64,
    wavefront: u32,
    before: u16,
}

impl Queues {
    pub(super) fn new() -> Queues {
        Queues { last: [NONE; REMAINDERS], words: Vec::new(), wavefronts: 0 }
    }

    /// Takes all words away.
    pub(super) fn clear(&mut self) {
        self.last = [NONE; REMAINDERS];
        self.words.clear();
        self.wavefronts = 0;
    }

    /// How many words the longest queue has.
    pub(super) fn wavefronts(&self) -> u32 {
        self.wavefronts
    }

    /// Queues a word unless it is queued; its number, in the order of queueing.
    pub(super) fn ask(&mut self, bank: u64, address: u64) -> usize {
        let last = &mut self.last[bank as usize % REMAINDERS];
        let (mut before, mut wavefront) = (*last, 0);
        while let Some(queued) = self.words.get(usize::from(before)) {
            if queued.bank == bank {
                if queued.address == address {
                    return usize::from(before);
                }
                wavefront += 1;
            }
            before = queued.before;
        }
        let place = self.words.len();
        self.words.push(Queued { bank, address, wavefront, before: *last });
        // A phase has at most a few thousand words: lanes times the words of a vector.
        *last = place as u16;
        self.wavefronts = self.wavefronts.max(wavefront + 1);
        place
    }
}
