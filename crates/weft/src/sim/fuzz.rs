//! Random programs, run here and by something simpler.

use super::count::{MAX_LANES, Pattern, Wavefronts};
use super::report::AccessKind;
use super::{FindingKind, Launch, Machine, Options, run};
use crate::atomic::{Order, Rmw, Scope};
use crate::dtype::DType;
use crate::lane::{
    Access, AtomicAccess, BarrierScope, Builder, IdKind, Op, Param, Program, Region, Space, Value,
};
use crate::memory::{Buffer, Memory};
use crate::scalar::{self, Binary, Cast, Compare};
use arbitrary::{Result, Unstructured};
use rustc_hash::FxHashMap;
use smallvec::smallvec;
use std::collections::{BTreeMap, BTreeSet};

const LANES_LOG2: u32 = 3;

fn pick(u: &mut Unstructured<'_>, from: &[Value]) -> Result<Value> {
    u.choose(from).copied()
}

/// Writes random operations on i32 values: arithmetic, `If`s and loops that end after a few turns,
/// lanes going their own ways. Returns a few values that are defined at the end.
fn random_body(
    u: &mut Unstructured<'_>,
    build: &mut Builder,
    seen: &[Value],
    depth: u32,
) -> Result<Vec<Value>> {
    let mut seen = seen.to_vec();
    for _ in 0..u.int_in_range(1..=6)? {
        match u.int_in_range(0..=9)? {
            0 if depth < 3 => {
                let (x, y) = (pick(u, &seen)?, pick(u, &seen)?);
                let condition = build.compare(Compare::Slt, x, y);
                let count = u.int_in_range(1..=3)?;
                let mut regions = Vec::new();
                for _ in 0..2 {
                    build.open_region(&[]);
                    let inner = random_body(u, build, &seen, depth + 1)?;
                    let yields: Vec<Value> =
                        (0..count).map(|_| pick(u, &inner)).collect::<Result<_>>()?;
                    regions.push(build.close_region(Op::Yield, &yields));
                }
                let otherwise = regions.pop().unwrap();
                let then = regions.pop().unwrap();
                seen.extend(build.if_(condition, then, otherwise, &vec![DType::I32; count]));
            }
            1 if depth < 3 => {
                let count = u.int_in_range(1..=4)?;
                let zero = build.i32(0);
                let mut inits = vec![zero];
                for _ in 0..count {
                    inits.push(pick(u, &seen)?);
                }
                let results = vec![DType::I32; u.int_in_range(0..=2)?];
                let inst = build.new_loop(&inits, &results);
                let params = build.open_region(&vec![DType::I32; count + 1]);
                let mut inside = seen.clone();
                inside.extend(&params);
                // At most so many turns, for some lanes fewer.
                let limit = build.i32(u.int_in_range(0..=3)?);
                let limit = if u.arbitrary()? {
                    let three = build.i32(3);
                    let x = pick(u, &seen)?;
                    build.binary(Binary::And, x, three)
                } else {
                    limit
                };
                let mut inner = inside.clone();
                for breaks in 0..2 {
                    let done = if breaks == 0 {
                        build.compare(Compare::Sge, params[0], limit)
                    } else {
                        let (x, y) = (pick(u, &inner)?, pick(u, &inner)?);
                        build.compare(Compare::Eq, x, y)
                    };
                    let values: Vec<Value> =
                        results.iter().map(|_| pick(u, &inner)).collect::<Result<_>>()?;
                    build.break_if(inst, done, &values);
                    inner = random_body(u, build, &inner, depth + 1)?;
                }
                let one = build.i32(1);
                let mut next = vec![build.binary(Binary::Add, params[0], one)];
                for _ in 0..count {
                    // Often another parameter, so that values change places.
                    let from = if u.arbitrary()? { &params } else { &inner };
                    next.push(pick(u, from)?);
                }
                let region = build.close_region(Op::Continue, &next);
                seen.extend(build.place_loop(inst, region));
            }
            2 => seen.push(build.i32(u.int_in_range(-3..=3)?)),
            3 => {
                let (x, y, z) = (pick(u, &seen)?, pick(u, &seen)?, pick(u, &seen)?);
                let condition = build.compare(Compare::Ult, x, y);
                seen.push(build.select(condition, y, z));
            }
            _ => {
                let ops = [Binary::Add, Binary::Sub, Binary::Xor, Binary::Mul, Binary::MaxS];
                let (op, x, y) = (*u.choose(&ops)?, pick(u, &seen)?, pick(u, &seen)?);
                seen.push(build.binary(op, x, y));
            }
        }
    }
    Ok(seen)
}

/// One thread of a program without memory, region by region; what leaves a region is either its
/// last operation's values or a break's.
struct Thread<'a> {
    program: &'a Program,
    lane: u64,
    values: FxHashMap<Value, u64>,
    stored: Vec<u64>,
}

enum Leave {
    End(Vec<u64>),
    Break(crate::lane::Inst, Vec<u64>),
}

impl Thread<'_> {
    fn region(&mut self, region: &Region) -> Leave {
        let program = self.program;
        for &id in &region.insts {
            let inst = &program.insts[id];
            let x: Vec<u64> = inst.operands.iter().map(|value| self.values[value]).collect();
            let dtype = |i: usize| program.dtype(inst.operands[i]);
            let results: Vec<u64> = match &inst.op {
                Op::Const(bits) => vec![*bits],
                Op::Param(_) => vec![Memory::base(0)],
                Op::Id(_) => vec![self.lane],
                Op::Binary(op) => vec![scalar::binary(*op, dtype(0)).unwrap()(x[0], x[1])],
                Op::Compare(op) => vec![scalar::compare(*op, dtype(0)).unwrap()(x[0], x[1])],
                Op::Select => vec![if x[0] == 1 { x[1] } else { x[2] }],
                Op::Cast(op) => {
                    let to = program.dtype(inst.results[0]);
                    vec![scalar::cast(*op, dtype(0), to, x[0])]
                }
                Op::Store { .. } => {
                    self.stored.push(x[1]);
                    vec![]
                }
                Op::If => match self.region(&inst.regions[usize::from(x[0] == 0)]) {
                    Leave::End(values) => values,
                    leave @ Leave::Break(..) => return leave,
                },
                Op::Loop => {
                    let mut carried = x;
                    loop {
                        let body = &inst.regions[0];
                        self.values.extend(body.params.iter().copied().zip(carried));
                        match self.region(body) {
                            Leave::End(values) => carried = values,
                            Leave::Break(target, values) if target == id => break values,
                            leave @ Leave::Break(..) => return leave,
                        }
                    }
                }
                Op::BreakIf { target } => {
                    if x[0] == 1 {
                        return Leave::Break(*target, x[1..].to_vec());
                    }
                    vec![]
                }
                Op::Continue | Op::Yield | Op::Return => return Leave::End(x),
                op => panic!("{op:?}"),
            };
            self.values.extend(inst.results.iter().copied().zip(results));
        }
        Leave::End(vec![])
    }
}

#[test]
fn random_control_computes_what_one_thread_alone_would() {
    arbtest::arbtest(|u| {
        let mut build = Builder::new("random", 1, LANES_LOG2);
        let pointee = Some(DType::I32);
        let param = Param { name: "out".into(), dtype: DType::I64, pointee, divisibility: 4 };
        let out = build.param(param);
        let lane = build.id(IdKind::Lane);
        let two = build.i32(2);
        let start = [lane, two];
        let values = random_body(u, &mut build, &start, 0)?;
        let count = values.len() as u64;
        let pitch = build.i32(count as i32 * 4);
        let row = build.binary(Binary::Mul, lane, pitch);
        let row = build.cast(Cast::ExtU, row, DType::I64);
        let at = build.binary(Binary::Add, out, row);
        for (index, &value) in values.iter().enumerate() {
            let access = Access { offset: 4 * index as i32, ..Access::default() };
            build.store(Space::Global, access, at, None, &[value]);
        }
        let program = build.finish();
        let mut memory = Memory::default();
        let bytes = vec![0; (count as usize) << (LANES_LOG2 + 2)];
        let buffer = Buffer { name: "out".into(), bytes, dtype: DType::I32, initialised: false };
        let args = [memory.push(buffer)];
        let machine = Machine::nvidia();
        let options = Options { max_steps: 1_000_000, max_findings: 8, ..Options::default() };
        let launch =
            Launch { program: &program, grid: [1; 3], args: &args, machine: &machine, options };
        let report = run(&launch, &mut memory).unwrap();
        assert!(report.finished);
        assert!(report.findings.iter().all(|finding| finding.kind == FindingKind::Divergence));
        for lane in 0..1u64 << LANES_LOG2 {
            let (values, stored) = (FxHashMap::default(), Vec::new());
            let mut thread = Thread { program: &program, lane, values, stored };
            thread.region(&program.body);
            for (index, &right) in thread.stored.iter().enumerate() {
                let at = args[0] + 4 * (lane * count + index as u64);
                assert_eq!(memory.read(at, 4), Ok(right), "lane {lane}, value {index}\n{program}");
            }
        }
        Ok(())
    })
    .size_max(4096)
    .budget_ms(1500);
}

/// An access of the race test: which bytes, by whom, when.
#[derive(Debug)]
struct Event {
    warp: u32,
    lane: u64,
    phase: u32,
    round: u32,
    bytes: core::ops::Range<u64>,
    write: bool,
    atomic: bool,
}

impl Event {
    fn races(&self, other: &Event) -> bool {
        let thread = |event: &Event| (event.warp, event.lane);
        let meet = self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end;
        let ordered =
            self.phase != other.phase || self.warp == other.warp && self.round != other.round;
        thread(self) != thread(other)
            && meet
            && (self.write || other.write)
            && !(self.atomic && other.atomic)
            && !ordered
    }
}

#[test]
fn a_race_is_found_exactly_where_two_accesses_are_not_ordered() {
    const LANES: u64 = 4;
    const BYTES: i32 = 64;
    let (mut racy, mut calm) = (0, 0);
    arbtest::arbtest(|u| {
        let mut build = Builder::new("race", 3, 2);
        let tile = build.shared(BYTES as u32, 16, BarrierScope::Block);
        let base = build.shared_base(tile);
        let (lane, warp) = (build.id(IdKind::Lane), build.id(IdKind::Warp));
        // Everything is written first, so that nothing is read before.
        let quarter = build.i32(16);
        let at = build.binary(Binary::Mul, lane, quarter);
        let at = build.binary(Binary::Add, at, base);
        let zero = build.i32(0);
        let first = build.compare(Compare::Eq, warp, zero);
        build.store(Space::Shared, Access::default(), at, Some(first), &[zero; 4]);
        build.barrier(BarrierScope::Block);
        let mut events: Vec<Event> = Vec::new();
        let (mut phase, mut round) = (0, 0);
        for _ in 0..u.int_in_range(1..=8)? {
            match u.int_in_range(0..=7)? {
                0 => {
                    build.barrier(BarrierScope::Block);
                    phase += 1;
                    continue;
                }
                1 => {
                    build.barrier(BarrierScope::Warp);
                    round += 1;
                    continue;
                }
                _ => {}
            }
            let (warps, lanes) = (u.int_in_range(1..=7)?, u.int_in_range(1..=15)?);
            let kind = u.int_in_range(0..=2)?;
            let dtype = match kind {
                2 => DType::I32,
                _ => *u.choose(&[DType::I8, DType::I16, DType::I32])?,
            };
            let size = dtype.bytes() as i32;
            let stride = if kind != 1 && u.arbitrary()? { 0 } else { size };
            let origin = u.int_in_range(0..=(BYTES - 4 * size) / size)? * size;
            let bit = |build: &mut Builder, mask: i32, index: Value| {
                let mask = build.i32(mask);
                let bit = build.binary(Binary::ShrU, mask, index);
                build.cast(Cast::Trunc, bit, DType::I1)
            };
            let (in_warp, in_lane) = (bit(&mut build, warps, warp), bit(&mut build, lanes, lane));
            let active = build.binary(Binary::And, in_warp, in_lane);
            let step = build.i32(stride);
            let at = build.binary(Binary::Mul, lane, step);
            let start = build.i32(origin);
            let at = build.binary(Binary::Add, at, start);
            let at = build.binary(Binary::Add, at, base);
            let value = build.constant(dtype, 1);
            match kind {
                0 => {
                    let predicate = Some((active, &[value][..]));
                    build.load(Space::Shared, Access::default(), dtype, 1, at, predicate);
                }
                1 => build.store(Space::Shared, Access::default(), at, Some(active), &[value]),
                _ => {
                    let op = Op::Atomic(AtomicAccess {
                        space: Space::Shared,
                        op: Rmw::Add.into(),
                        order: Order::Relaxed,
                        scope: Scope::Gpu,
                        predicated: true,
                    });
                    build.emit(op, smallvec![at, active, value], &[dtype]);
                }
            }
            for warp in (0..3).filter(|warp| warps >> warp & 1 == 1) {
                for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
                    let start = (origin + stride * lane as i32) as u64;
                    let bytes = start..start + size as u64;
                    let (write, atomic) = (kind != 0, kind == 2);
                    events.push(Event { warp, lane, phase, round, bytes, write, atomic });
                }
            }
        }
        let pair = events.iter().enumerate().find_map(|(i, event)| {
            events[..i].iter().find(|other| event.races(other)).map(|other| (other, event))
        });
        let right = pair.is_some();
        let program = build.finish();
        let machine = Machine::nvidia();
        let options = Options::default();
        let launch =
            Launch { program: &program, grid: [1; 3], args: &[], machine: &machine, options };
        let report = run(&launch, &mut Memory::default()).unwrap();
        assert!(report.finished);
        assert!(report.findings.iter().all(|finding| finding.kind == FindingKind::Race));
        let found = report.findings.first();
        assert_eq!(found.is_some(), right, "{program}\nfound {found:?}, right {pair:?}");
        *if right { &mut racy } else { &mut calm } += 1;
        Ok(())
    })
    .budget_ms(1500);
    assert!(racy > 20 && calm > 20, "{racy} with a race, {calm} without");
}

/// Wavefronts, ideal wavefronts, sectors and ideal sectors, straight from the rules.
fn count_plainly(
    machine: &Machine,
    addresses: &[u64; MAX_LANES],
    active: u64,
    bytes: u32,
    kind: AccessKind,
) -> [u64; 4] {
    let on = |lane: u32| active >> lane & 1 == 1;
    let address = |lane: u32| addresses[lane as usize];
    let table = if kind == AccessKind::Load { &machine.load_phases } else { &machine.store_phases };
    let mut groups = table.iter().find(|row| bytes <= row.lane_bytes).unwrap().groups.clone();
    let merges = kind == AccessKind::Load
        && machine.load_merge_masks.iter().any(|mask| {
            (0..32).all(|lane| on(lane) == on(lane ^ mask))
                && (0..32).all(|lane| !on(lane) || address(lane) == address(lane ^ mask))
        });
    if merges && groups.len() > 1 {
        groups = groups.chunks(2).map(<[Vec<u32>]>::concat).collect();
    }
    let touched = |lanes: &[u32]| -> BTreeSet<u64> {
        let lanes = lanes.iter().filter(|&&lane| on(lane));
        lanes.flat_map(|&lane| address(lane)..address(lane) + u64::from(bytes)).collect()
    };
    let (mut passes, mut ideal) = (0, 0);
    for group in groups.iter().filter(|group| group.iter().any(|&lane| on(lane))) {
        let mut banks: BTreeMap<u64, u64> = BTreeMap::new();
        if kind == AccessKind::Atomic {
            for &lane in group.iter().filter(|&&lane| on(lane)) {
                for word in address(lane) / 4..(address(lane) + u64::from(bytes)).div_ceil(4) {
                    *banks.entry(word % 32).or_default() += 1;
                }
            }
        } else {
            let words: BTreeSet<u64> = touched(group).iter().map(|byte| byte / 4).collect();
            for word in words {
                *banks.entry(word % 32).or_default() += 1;
            }
        }
        passes += banks.values().max().unwrap();
        ideal += (touched(group).len() as u64).div_ceil(128).max(1);
    }
    let all = touched(&(0..32).collect::<Vec<_>>());
    let sectors: BTreeSet<u64> = all.iter().map(|byte| byte / 32).collect();
    [passes, ideal, sectors.len() as u64, (all.len() as u64).div_ceil(32).max(1)]
}

#[test]
fn counts_are_what_the_rules_say() {
    let machine = Machine::nvidia();
    let mut counter = Wavefronts::new(&machine, 32, 1 << 18);
    arbtest::arbtest(|u| {
        let bytes = 1 << u.int_in_range(0..=4)?;
        let kind = *u.choose(&[AccessKind::Load, AccessKind::Store, AccessKind::Atomic])?;
        let active = match u.int_in_range(0..=2)? {
            0 => u64::from(u.arbitrary::<u32>()?.max(1)),
            _ => 0xffff_ffff,
        };
        let mut addresses = [0; MAX_LANES];
        let origin = u.int_in_range(0..=64u64)?;
        let shape = u.int_in_range(0..=4)?;
        // The image of each lane bit, for an affine pattern.
        let columns: [u64; 5] = core::array::from_fn(|_| u.int_in_range(0..=255).unwrap_or(0));
        for (lane, address) in addresses.iter_mut().enumerate().take(32) {
            let bits = (0..5).filter(|bit| lane >> bit & 1 == 1);
            let slot = match shape {
                0 => lane as u64,
                1 => bits.fold(0, |sum, bit| sum ^ columns[bit]),
                2 => bits.fold(0, |sum, bit| sum ^ 1 << (columns[bit] % 10)),
                3 => lane as u64 * columns[0],
                _ => u.int_in_range(0..=255)?,
            };
            *address = (origin + slot) * u64::from(bytes);
        }
        let pattern = Pattern::new(&addresses, active, bytes);
        let (passes, ideal) = counter.count(&pattern, kind);
        let (sectors, ideal_sectors) = pattern.sectors(32);
        assert_eq!(
            [passes, ideal, sectors, ideal_sectors],
            count_plainly(&machine, &addresses, active, bytes, kind),
            "{kind} of {bytes} bytes, lanes {active:#x}: {addresses:?}"
        );
        Ok(())
    })
    .budget_ms(1500);
}
