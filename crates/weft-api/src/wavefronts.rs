//! How an access is served: the rank law beside the count, and one instruction word by word.

use crate::answer::{AlgebraAnswer, MovedAnswer, PhaseAnswer, WavefrontsAnswer, WordAnswer};
use crate::error::ApiError;
use crate::reading::{Reading, in_waves_of, read, read_linear};
use crate::request::{AccessKind, WavefrontsRequest, machine, needed_bits};
use crate::view::{self, Banks, Instruction};
use weft_layout::Space;
use weft_layout::access::{Kind, Law, Memory, Phase, Transfer, Word};

/// How the accesses of a tensor are served, and one instruction of them in full.
///
/// ```
/// use weft_api::{request::WavefrontsRequest, wavefronts};
///
/// // Columns of a 16 x 32 tile in rows of 128 bytes: two words a bank, sixteen deep.
/// let request = WavefrontsRequest {
///     registers: "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] \
///                 -> [dim0: 16, dim1: 32]"
///         .into(),
///     memory: "(16,32):(32,1)".into(),
///     shape: vec![16, 32],
///     element: Some("f32".into()),
///     ..Default::default()
/// };
/// let answer = wavefronts::wavefronts(&request)?;
/// assert_eq!((answer.instructions, answer.wavefronts, answer.ideal), (16, 256, 16));
/// let algebra = answer.algebra.ok_or("the memory has no gaps")?;
/// assert_eq!((algebra.dimension, algebra.wavefronts), (4, 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn wavefronts(request: &WavefrontsRequest) -> Result<WavefrontsAnswer, ApiError> {
    let WavefrontsRequest { registers, memory, shape, element, element_bits, target, .. } = request;
    let bits = needed_bits(element.as_deref(), *element_bits)?;
    let machine = machine(target)?;
    let registers = read_linear("registers", registers, shape)?;
    let registers = in_waves_of("registers", &registers, &machine)?;
    let Reading { map, padded } = read("memory", memory, Some(shape))?;
    let memory = padded.as_ref().map_or(Memory::Affine(&map), Memory::Padded);
    let (name, kind) = match request.kind {
        AccessKind::Load => ("load", Kind::Load),
        AccessKind::Store => ("store", Kind::Store),
    };
    let transfer = Transfer::new(&machine, kind, &registers, memory, bits)?;
    let (instructions, warps) = (transfer.instructions(), transfer.warps());
    for (what, asked, count) in
        [("instruction", request.instruction, instructions), ("warp", request.warp, warps)]
    {
        if asked >= count {
            return Err(ApiError::Instruction { what, asked, count });
        }
    }
    let banks = machine.banks_log2_of(kind);
    let (mut wavefronts, mut ideal) = (0, 0);
    for number in 0..instructions {
        for phase in transfer.served(number, request.warp)? {
            wavefronts += u64::from(phase.wavefronts());
            ideal += (phase.words.len() as u64).div_ceil(1_u64.checked_shl(banks).unwrap_or(1));
        }
    }
    let shown = Instruction::of(&transfer, request.instruction, request.warp)?;
    let drawn = Banks { machine: &machine, element_bits: bits };
    let pictures = request.pictures.then(|| {
        let tile = view::served_tile(memory, drawn, kind, &shown)?;
        let banks = view::served_banks(drawn, kind, &shown);
        Ok::<_, ApiError>((view::svg(&tile), view::svg(&banks)))
    });
    let (tile, banks) = pictures.transpose()?.unzip();
    let places = request.places.then(|| view::places(memory, drawn)).transpose()?;
    let outs = registers.outs();
    Ok(WavefrontsAnswer {
        machine: machine.name.to_string(),
        kind: name.into(),
        vector_bytes: transfer.vector_bytes(),
        instructions,
        warps,
        wavefronts,
        ideal,
        algebra: transfer.law().map(|law| algebra(outs, &law)),
        instruction: request.instruction,
        warp: request.warp,
        phases: shown.phases.iter().map(|phase| served(outs, &shown, phase)).collect(),
        tile,
        banks,
        places,
    })
}

fn algebra(outs: &Space, law: &Law) -> AlgebraAnswer {
    let all = |elements: &[u64]| elements.iter().map(|&e| coordinates(outs, e)).collect();
    AlgebraAnswer {
        segment: all(&law.segment),
        phase: all(&law.phase),
        meet: all(&law.meet),
        dimension: law.meet.len() as u32,
        phases: 1_u64.checked_shl(law.phases).unwrap_or(u64::MAX),
        wavefronts: law.wavefronts(),
    }
}

fn served(outs: &Space, instruction: &Instruction, phase: &Phase) -> PhaseAnswer {
    let word = |word: &Word| WordAnswer {
        bank: word.bank,
        wavefront: word.wavefront,
        address: word.address,
        moved: (word.asked.iter())
            .flat_map(|&asker| {
                instruction.moved(asker).iter().map(move |moved| MovedAnswer {
                    lane: asker.lane,
                    register: moved.register,
                    element: coordinates(outs, moved.element),
                })
            })
            .collect(),
    };
    PhaseAnswer {
        lanes: phase.lanes.clone(),
        wavefronts: phase.wavefronts(),
        words: phase.words.iter().map(word).collect(),
    }
}

/// The coordinates of a place of the tensor.
fn coordinates(outs: &Space, place: u64) -> Vec<u64> {
    outs.coordinate_order().into_iter().map(|label| outs.coordinate(label, place)).collect()
}
