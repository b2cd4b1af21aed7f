//! Questions about swizzles.

mod accesses;
mod code;
mod direct;
mod names;
mod tma;
mod several;

use crate::answer::{CertificateAnswer, PortableAnswer, SwizzleAnswer, TraceAnswer, UseAnswer};
use crate::bases::Bases;
use crate::budget;
use crate::error::ApiError;
use crate::request::{SwizzleRequest, machine, needed_bits};
use accesses::Accesses;
use code::{masks, offset_of};
use direct::Buffer;
use names::{Names, ordered};
use tma::has_tma;
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
    let SwizzleRequest { shape, element, element_bits, target, also, .. } = request;
    let bits = needed_bits(element.as_deref(), *element_bits)?;
    let accesses = Accesses::read(request)?;
    let first = machine(target)?;
    let others = also.iter().map(machine).collect::<Result<Vec<_>, ApiError>>()?;
    let mut problem = Problem::new(&first, bits, accesses.list());
    problem.scratch_bytes = request.scratch_bytes;
    budget::begin("while a memory layout was looked for")?;
    problem.stop = budget::current().stop;
    let found = if !others.is_empty() {
        several::solve(&problem, &accesses, &others, shape)?
    } else if accesses.tma {
        by_tma(&problem, shape)?
    } else {
        by_threads(&problem, shape)?
    };
    let trace = request.trace.then(|| replay(&problem)).transpose()?;
    Ok(SwizzleAnswer {
        trace: trace.as_ref().map(steps),
        ..answer(&problem, &accesses, found, shape)
    })
}

/// Where a tensor lies best in shared memory for these accesses by threads, each with its name.
pub(crate) fn between(
    machine: &Machine,
    bits: u32,
    threads: Vec<(String, Access)>,
    shape: &[u64],
) -> Result<SwizzleAnswer, ApiError> {
    let accesses = Accesses { threads, tma: false };
    let mut problem = Problem::new(machine, bits, accesses.list());
    problem.stop = budget::current().stop;
    let found = by_threads(&problem, shape)?;
    Ok(answer(&problem, &accesses, found, shape))
}

/// The answer but for the steps of the construction.
fn answer(
    problem: &Problem<'_>,
    accesses: &Accesses,
    found: Found,
    shape: &[u64],
) -> SwizzleAnswer {
    let Found { solved, names, certificate, portable, without_tma } = found;
    let bits = problem.element_bits;
    let store = accesses.list().into_iter().find(|access| access.kind == Kind::Store);
    let loads = accesses.list().into_iter().filter(|access| access.kind == Kind::Load);
    let outs = solved.memory.outs();
    let direct = direct::answers(&Buffer {
        machine: problem.machine,
        element_bits: bits.next_power_of_two().max(8),
        memory: &solved.memory,
        loads: loads.collect(),
        axis: direct::contiguous(store.as_ref().map(|access| &access.layout), outs),
        stop: problem.stop.clone(),
    });
    let element_bytes = u64::from(bits.next_power_of_two().max(8)) / 8;
    let elements = 1_u64.checked_shl(solved.memory.in_bits(OFFSET)).unwrap_or(u64::MAX);
    SwizzleAnswer {
        bases: Bases::of(&solved.memory),
        shape: shape.to_vec(),
        wavefronts: solved.total,
        bound: solved.bound,
        certificate,
        accesses: uses(problem.machine, accesses, &solved.uses),
        portable,
        shared_bytes: elements.saturating_mul(element_bytes),
        rounds: masks(solved.memory.outs(), &solved.rounds),
        xor: offset_of(&solved.memory),
        cute: names.cute,
        triton: names.triton,
        tma: names.tma,
        without_tma,
        direct,
        trace: None,
    }
}

/// A memory layout that was found and checked.
struct Found {
    solved: Solved,
    names: Names,
    certificate: CertificateAnswer,
    portable: Option<PortableAnswer>,
    without_tma: Option<u64>,
}

/// The best memory layout for threads alone.
fn by_threads(problem: &Problem<'_>, shape: &[u64]) -> Result<Found, ApiError> {
    let solved = solve(problem)?;
    let meters =
        [Measured { meter: Meter::new(problem)?, uses: &solved.uses, total: solved.total }];
    // The order of banks does not matter to the accesses, but to CuTe's names.
    let memory = ordered(problem, &solved, &meters);
    let tma = has_tma(problem.machine).then(|| tma::best(problem, &meters, shape)).flatten();
    let names = Names { tma, ..Names::of(&memory, &meters, shape) };
    let solved = Solved { memory, ..solved };
    let verdict = check(problem, &solved).map_err(|error| ApiError::Unchecked { error })?;
    let certificate = certificate(&solved, verdict != Verdict::Gap);
    Ok(Found { solved, names, certificate, portable: None, without_tma: None })
}

/// The best mode of the tensor memory accelerator for what the threads do beside it.
fn by_tma(problem: &Problem<'_>, shape: &[u64]) -> Result<Found, ApiError> {
    let solved = tma::solve(problem, shape)?;
    check(problem, &solved).map_err(|error| ApiError::Unchecked { error })?;
    let meters =
        [Measured { meter: Meter::new(problem)?, uses: &solved.uses, total: solved.total }];
    let tma = tma::best(problem, &meters, shape);
    let names = Names { tma, ..Names::of(&solved.memory, &meters, shape) };
    let certificate = CertificateAnswer { kind: "modes", ..certificate(&solved, true) };
    let without_tma = Some(solve(problem)?.total);
    Ok(Found { solved, names, certificate, portable: None, without_tma })
}

/// What the accesses of one machine take on the layout that was found.
struct Measured<'a> {
    meter: Meter<'a>,
    uses: &'a [Use],
    total: u64,
}

fn certificate(solved: &Solved, optimal: bool) -> CertificateAnswer {
    let (kind, candidates) = match solved.certificate {
        Certificate::Dimensions => ("dimensions", None),
        Certificate::Floors => ("floors", None),
        Certificate::Exhausted { candidates } => ("exhausted", Some(candidates)),
    };
    CertificateAnswer { kind, optimal, candidates }
}

fn uses(machine: &Machine, accesses: &Accesses, uses: &[Use]) -> Vec<UseAnswer> {
    let each = uses.iter().zip(&accesses.threads);
    each.map(|(taken, (name, access))| UseAnswer {
        access: name.clone(),
        matrix: mnemonic(machine, access.kind, taken),
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

/// The layout without its block axis, which is empty.
fn memory_of(layout: &Layout) -> Layout {
    memory(layout.outs(), layout.columns(OFFSET)).unwrap_or_else(|| layout.clone())
}
