//! Questions about swizzles.

mod code;
mod names;

use crate::answer::{CertificateAnswer, SwizzleAnswer, TraceAnswer, UseAnswer};
use crate::bases::Bases;
use crate::error::ApiError;
use crate::reading::read_linear;
use crate::request::{SwizzleRequest, machine, needed_bits};
use code::{masks, offset_of};
use names::Names;
use weft_layout::access::Kind;
use weft_layout::plan::swizzle::{
    Access, Certificate, Meter, Problem, Replay, Solved, Use, Verdict, check, replay, solve,
};
use weft_layout::space::OFFSET;
use weft_layout::step::Form;
use weft_layout::{Layout, Machine, Space};

/// Where a tensor that is stored once and loaded one or more times lies best in shared memory.
///
/// ```
/// use weft_api::{request::SwizzleRequest, swizzles};
///
/// let store = "[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] \
///              -> [dim0: 16, dim1: 32]";
/// let load = "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] \
///             -> [dim0: 16, dim1: 32]";
/// let answer = swizzles::swizzle(&SwizzleRequest {
///     store: store.into(),
///     loads: vec![load.into()],
///     shape: vec![16, 32],
///     element: Some("f32".into()),
///     target: "sm_90".into(),
///     ..Default::default()
/// })?;
/// assert_eq!((answer.wavefronts, answer.bound), (32, 32));
/// assert!(answer.certificate.optimal);
/// # Ok::<(), weft_api::ApiError>(())
/// ```
pub fn swizzle(request: &SwizzleRequest) -> Result<SwizzleAnswer, ApiError> {
    let SwizzleRequest { store, loads, shape, element, element_bits, target, .. } = request;
    let bits = needed_bits(element.as_deref(), *element_bits)?;
    if loads.is_empty() {
        return Err(ApiError::NoLoads);
    }
    let mut accesses = vec![Access::new(Kind::Store, read_linear("store", store, shape)?)];
    for load in loads {
        accesses.push(Access::new(Kind::Load, read_linear("loads", load, shape)?));
    }
    if !request.weights.is_empty() {
        if request.weights.len() != accesses.len() {
            let (given, accesses) = (request.weights.len(), accesses.len());
            return Err(ApiError::Weights { given, accesses });
        }
        for (access, &weight) in accesses.iter_mut().zip(&request.weights) {
            access.weight = weight;
        }
    }
    let machine = machine(target)?;
    let mut problem = Problem::new(&machine, bits, accesses);
    problem.scratch_bytes = request.scratch_bytes;
    let solved = solve(&problem)?;
    let meter = Meter::new(&problem)?;
    let names = Names::of(&problem, &solved, &meter, shape);
    // The order of banks does not matter to the accesses, but to CuTe's names.
    let solved = Solved { memory: names.memory, ..solved };
    let verdict = check(&problem, &solved).map_err(|error| ApiError::Unchecked { error })?;
    let trace = request.trace.then(|| replay(&problem)).transpose()?;
    let element_bytes = u64::from(bits.next_power_of_two().max(8)) / 8;
    let elements = 1_u64.checked_shl(solved.memory.in_bits(OFFSET)).unwrap_or(u64::MAX);
    Ok(SwizzleAnswer {
        bases: Bases::of(&solved.memory),
        shape: shape.clone(),
        wavefronts: solved.total,
        bound: solved.bound,
        certificate: certificate(&solved, verdict),
        accesses: uses(&problem, &solved),
        shared_bytes: elements.saturating_mul(element_bytes),
        rounds: masks(solved.memory.outs(), &solved.rounds),
        xor: offset_of(&solved.memory),
        cute: names.cute,
        triton: names.triton,
        tma: names.tma,
        trace: trace.as_ref().map(steps),
    })
}

fn certificate(solved: &Solved, verdict: Verdict) -> CertificateAnswer {
    let (kind, candidates) = match solved.certificate {
        Certificate::Dimensions => ("dimensions", None),
        Certificate::Floors => ("floors", None),
        Certificate::Exhausted { candidates } => ("exhausted", Some(candidates)),
    };
    CertificateAnswer { kind, optimal: verdict != Verdict::Gap, candidates }
}

fn uses(problem: &Problem<'_>, solved: &Solved) -> Vec<UseAnswer> {
    let several = problem.accesses.len() > 2;
    let name = |index: usize| match index {
        0 => "store".into(),
        load if several => format!("load {load}"),
        _ => "load".into(),
    };
    let each = solved.uses.iter().zip(&problem.accesses).enumerate();
    each.map(|(index, (taken, access))| UseAnswer {
        access: name(index),
        matrix: mnemonic(problem.machine, access.kind, taken),
        vector_bytes: taken.bytes,
        instructions: taken.instructions,
        wavefronts: taken.wavefronts,
        floor: taken.floor,
    })
    .collect()
}

/// The matrix move by which an access moves, with count and transposition.
fn mnemonic(machine: &Machine, kind: Kind, taken: &Use) -> Option<String> {
    let Form::Matrix(matrix) = taken.form else { return None };
    let count = Form::matrices(matrix, taken.bytes.into())?;
    let mut moves = machine.matrix_moves.iter();
    let name = &moves.find(|found| found.moves(kind, matrix, count))?.name;
    let (shape, element) = name.rsplit_once('.')?;
    let trans = if matrix.transposed { ".trans" } else { "" };
    Some(format!("{shape}.x{count}{trans}.{element}"))
}

fn steps(replay: &Replay) -> TraceAnswer {
    let outs = replay.memory.outs();
    let elements = |places: &[u64]| places.iter().map(|&place| coordinates(outs, place)).collect();
    TraceAnswer {
        vector: elements(&replay.vector),
        bank_bits: replay.bank_bits,
        segment_bits: replay.segment_bits,
        phases: replay.phases.map(|log2| 1_u64.checked_shl(log2).unwrap_or(u64::MAX)),
        store_phase: elements(&replay.store_phase),
        load_phase: elements(&replay.load_phase),
        shared: elements(&replay.shared),
        only_store: elements(&replay.only_store),
        only_load: elements(&replay.only_load),
        most_segment_bits: replay.most_segment_bits,
        sums: elements(&replay.sums),
        rest: elements(&replay.rest),
        segment: elements(&replay.segment),
        bank: elements(&replay.bank),
        xor: offset_of(&replay.memory),
        wavefronts: replay.total,
    }
}

/// The coordinates of a place of the tensor.
fn coordinates(outs: &Space, place: u64) -> Vec<u64> {
    outs.coordinate_order().into_iter().map(|label| outs.coordinate(label, place)).collect()
}

/// The layout whose offset bits hold these elements.
fn memory(outs: &Space, elements: &[u64]) -> Option<Layout> {
    let offsets = Space::new(&[(OFFSET, elements.len() as u32)]).ok()?;
    Layout::new(offsets, outs.clone(), elements).ok()
}
