use alloc::vec::Vec;

use super::{
    Collision, Kind, Wavefronts, count_wavefronts,
    error::ConflictsError,
    fit::{Fit, Memory},
    wavefronts,
};
use crate::{
    f2::{low_mask, ones},
    layout::Layout,
    machine::Machine,
    space::{LANE, Label, REGISTER},
};

/// What it takes to move a whole tensor between registers and a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    /// The bytes of one lane in one instruction.
    pub vector_bytes: u32,
    /// The instructions of all warps that take part.
    pub instructions: u64,
    /// The wavefronts of all those instructions.
    pub wavefronts: u64,
    /// The wavefronts of as many instructions without bank conflicts.
    pub ideal: u64,
    /// Two words of one bank; present exactly when there is a conflict.
    pub witness: Option<Conflict>,
}

/// Two lanes that are served together and ask one bank for different words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Their places in the layout of the registers: register, lane, warp.
    pub places: [Coordinates; 2],
    /// The elements there; of a word of several the first that the lane moves.
    pub elements: [Coordinates; 2],
    /// What the elements differ by, bit by bit: the vector that the lanes and the segments of the
    /// memory have in common.
    pub difference: Coordinates,
    /// The byte addresses of the words that collide, or of the part of a word that a lane moves.
    pub addresses: [u64; 2],
    /// The number of the bank, counted from zero.
    pub bank: u64,
}

/// A place as coordinates by axis.
type Coordinates = Vec<(Label, u64)>;

/// The most accesses of lanes that are counted one by one, as a logarithm.
const MAX_COUNTED_LOG2: u32 = 24;

/// The wavefronts of moving a tensor from registers to a memory, or back, by plain vector accesses.
///
/// `registers` is a layout with as many lanes as the machine has; its axes beside `register` and
/// `lane` count the warps.
/// `memory` goes from `offset` to the same tensor; elements of `element_bits` bits lie at multiples
/// of that, those of one bit take a byte.
/// Each thread loads each of its elements once, in the longest vectors of consecutive offsets that
/// all threads hold in the same registers; each element is stored once, by the thread that holds it
/// first, as [`plan::vectorize`](crate::plan::vectorize) has it.
/// What is counted is the sum over all warps that take part.
///
/// Fails when the two do not fit each other or the machine; the error says where.
///
/// ```
/// use weft_layout::{Machine, access::conflicts, affine::Affine, interop::parse_layout, machine::Kind};
///
/// // The rows of a 16 x 32 tile, read by columns.
/// let columns = parse_layout(
///     "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> [dim0: 16, dim1: 32]",
/// )?;
/// let rows = parse_layout(
///     "[offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,0) (4,0) (8,0)] -> [dim0: 16, dim1: 32]",
/// )?;
/// let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
/// let found = conflicts(machine, Kind::Load, &columns, (&Affine::from(rows)).into(), 32)?;
/// assert_eq!((found.wavefronts, found.ideal), (256, 16));
/// let conflict = found.witness.ok_or("there is a conflict")?;
/// assert_eq!(conflict.addresses, [0, 128]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn conflicts(
    machine: &Machine,
    kind: Kind,
    registers: &Layout,
    memory: Memory<'_>,
    element_bits: u32,
) -> Result<Conflicts, ConflictsError> {
    let fit = Fit::new(machine, kind, registers, memory, element_bits)?;
    let repeated = (fit.groups.len() + fit.warps.len()) as u32;
    let instructions = 1_u64.checked_shl(repeated).unwrap_or(u64::MAX);
    let conflict = |(group, warp, collision)| {
        conflict(machine, kind, registers, &fit, (group, warp), collision)
    };
    let (wavefronts, ideal, first) = match memory {
        // A constant changes no rank: every instruction is like the first.
        Memory::Affine(_) => {
            let columns = fit.lane_columns();
            let one = wavefronts(machine, kind, &columns, fit.vector_bytes, fit.idle)?;
            let all = |wavefronts: u32| instructions.saturating_mul(wavefronts.into());
            let first = one.witness.map(|collision| (0, 0, collision));
            (all(one.actual), all(one.ideal), first)
        }
        Memory::Padded(_) => {
            let bits = repeated.saturating_add(machine.lanes_log2);
            if bits > MAX_COUNTED_LOG2 {
                return Err(ConflictsError::TooManyPlaces { bits });
            }
            let (mut wavefronts, mut ideal, mut first) = (0, 0, None);
            for warp in 0..1_u64 << fit.warps.len() {
                for group in 0..1_u64 << fit.groups.len() {
                    let one = counted(machine, kind, &fit, (group, warp))?;
                    wavefronts += u64::from(one.actual);
                    ideal += u64::from(one.ideal);
                    first = first.or(one.witness.map(|collision| (group, warp, collision)));
                }
            }
            (wavefronts, ideal, first)
        }
    };
    Ok(Conflicts {
        vector_bytes: fit.vector_bytes,
        instructions,
        wavefronts,
        ideal,
        witness: first.map(conflict),
    })
}

/// The sum of what the set bits of `selected` stand for.
pub(super) fn sum(entries: &[(u64, u64)], selected: u64) -> (u64, u64) {
    let chosen = ones(selected).filter_map(|bit| entries.get(bit as usize));
    chosen.fold((0, 0), |sum, entry| (sum.0 ^ entry.0, sum.1 ^ entry.1))
}

/// One instruction, counted over its addresses; `instruction` is the vector and the warp.
fn counted(
    machine: &Machine,
    kind: Kind,
    fit: &Fit<'_>,
    instruction: (u64, u64),
) -> Result<Wavefronts, ConflictsError> {
    let (group, warp) = (sum(&fit.groups, instruction.0).1, sum(&fit.warps, instruction.1).1);
    let lanes = 0..u64::from(machine.lanes());
    let address = |lane| fit.acts(lane).then(|| fit.address(lane, group, warp));
    let addresses: Vec<_> = lanes.map(address).collect();
    Ok(count_wavefronts(machine, kind, &addresses, fit.vector_bytes)?)
}

/// A collision in terms of the tensor.
fn conflict(
    machine: &Machine,
    kind: Kind,
    registers: &Layout,
    fit: &Fit<'_>,
    instruction: (u64, u64),
    collision: Collision,
) -> Conflict {
    let (_, group) = sum(&fit.groups, instruction.0);
    let (warps, warp) = sum(&fit.warps, instruction.1);
    let word = machine.bank_bytes_log2;
    let side = |index: usize| {
        let lane = u64::from(collision.lanes[index]);
        let byte = u64::from(collision.words[index]) << word;
        let register = fit.register(lane, group, warp, byte);
        // All of these are places of the layout.
        let own = registers.ins().pack(&[(REGISTER, register), (LANE, lane)]);
        (own.unwrap_or(0) | warps, fit.address(lane, group, warp) + byte)
    };
    let ((a, first), (b, second)) = (side(0), side(1));
    let element = |place: u64| registers.apply_flat(place);
    let [places, elements] = [
        [a, b].map(|place| registers.ins().unpack(place)),
        [a, b].map(|place| registers.outs().unpack(element(place))),
    ];
    Conflict {
        places,
        elements,
        difference: registers.outs().unpack(element(a) ^ element(b)),
        addresses: [first, second],
        bank: first >> word & low_mask(machine.banks_log2_of(kind)),
    }
}
