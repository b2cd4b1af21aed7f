//! A probe finds a machine again from times that the machine's own laws give.

use weft_api::machines::MachineAnswer;
use weft_api::probe::{Device, Experiment, Instruction, Probe, ProbeError, Row};
use weft_api::request::Target;
use weft_layout::Machine;
use weft_layout::access::count_wavefronts;
use weft_layout::machine::{Kind, Phases, Pipe, Prices};

/// Cycles of an experiment's instructions on a machine: the busiest pipe, and barriers.
fn cycles(machine: &Machine, experiment: &Experiment, addresses: &[u32]) -> f64 {
    let prices = &machine.prices;
    let at: Vec<Option<u64>> = addresses.iter().map(|&at| Some(at.into())).collect();
    let access = |kind, bytes| {
        u64::from(count_wavefronts(machine, kind, &at, bytes).unwrap().actual) * prices.wavefront
    };
    let (mut memory, mut arithmetic, mut floats, mut waiting) = (0, 0, 0, 0);
    for instruction in &experiment.instructions {
        match *instruction {
            Instruction::Load(bytes) => memory += access(Kind::Load, bytes),
            Instruction::Store(bytes) => memory += access(Kind::Store, bytes),
            Instruction::LoadMatrix { count, .. } | Instruction::StoreMatrix { count, .. } => {
                memory += u64::from(count) * prices.wavefront;
            }
            Instruction::ShuffleIndex | Instruction::ShuffleXor => match machine.shuffles[0].pipe {
                Pipe::Memory => memory += prices.shuffle,
                Pipe::Arithmetic => arithmetic += prices.shuffle,
            },
            Instruction::Permute | Instruction::Logic | Instruction::Select => {
                arithmetic += prices.alu;
            }
            Instruction::Multiply | Instruction::Fma => floats += prices.issue,
            Instruction::WarpBarrier => waiting += prices.warp_barrier,
            Instruction::BlockBarrier => waiting += prices.barrier(experiment.warps.into()),
        }
    }
    let issue = experiment.instructions.len() as u64 * prices.issue;
    let busiest = match waiting {
        0 => memory.max(arithmetic).max(floats).max(issue),
        _ => memory.max(arithmetic).max(floats),
    };
    (busiest + waiting) as f64 / 100.0
}

fn probe(machine: &Machine) -> Probe {
    let whole = serde_json::to_value(MachineAnswer::of(machine)).unwrap();
    Probe::new(&Target::Whole(Box::new(whole)), Device::like(machine)).unwrap()
}

fn rows(machine: &Machine) -> Vec<Row> {
    let row = |experiment: &Experiment| {
        let times = experiment.addresses.iter().map(|at| cycles(machine, experiment, at));
        Row::new(experiment, &times.collect::<Vec<f64>>())
    };
    probe(machine).experiments().iter().map(row).collect()
}

/// Probes a machine that knows nothing of the one that is found.
fn found(machine: &Machine) -> Result<Machine, ProbeError> {
    let ignorant = Machine::by_name("sm_90").unwrap();
    let target = Target::from(&*ignorant.name);
    let probe = Probe::new(&target, Device::like(machine)).unwrap();
    probe.infer(rows(machine), "2026-11-20").map(|probed| probed.machine.machine)
}

/// Machines unlike each other, all with NVIDIA's instructions.
fn machines() -> Vec<Machine> {
    let sm_90 = Machine::by_name("sm_90").unwrap();
    let of = |name: &str| Machine::by_name(name).unwrap();
    let shuffles = |pipe| {
        let mut forms = sm_90.shuffles.to_vec();
        for form in &mut forms {
            form.pipe = pipe;
        }
        forms
    };
    vec![
        sm_90.clone(),
        Machine {
            phases: Phases { merging: 0b100, merging_from: 4, ..sm_90.phases.clone() },
            multiprocessors: 7,
            prices: Prices {
                wavefront: 200,
                shuffle: 230,
                alu: 60,
                issue: 30,
                warp_barrier: 17,
                block_barrier: 900,
                block_barrier_per_warp: 310,
                ..sm_90.prices
            },
            ..sm_90.clone()
        },
        Machine {
            lanes_log2: 6,
            phases: of("gfx942").phases.clone(),
            shuffles: shuffles(Pipe::Arithmetic).into(),
            ..sm_90.clone()
        },
        Machine {
            lanes_log2: 6,
            banks_log2: 6,
            phases: of("gfx950").phases.clone(),
            ..sm_90.clone()
        },
        Machine { phases: of("gfx1100").phases.clone(), bank_bytes_log2: 2, ..sm_90.clone() },
    ]
}

#[test]
fn a_probe_finds_the_machine_that_gave_the_times() {
    for machine in machines() {
        let found = found(&machine).unwrap();
        assert_eq!(found.phases.merging, machine.phases.merging);
        let expected = Machine {
            name: found.name.clone(),
            sources: found.sources.clone(),
            // What its memory takes the driver would tell.
            prices: Prices {
                sector: Machine::by_name("sm_90").unwrap().prices.sector,
                ..machine.prices
            },
            ..machine
        };
        assert_eq!(found, expected);
    }
}

#[test]
fn times_of_no_machine_are_refused() {
    let machine = Machine::by_name("sm_90").unwrap();
    let times = rows(machine);
    let probe = probe(machine);
    let check = |change: &dyn Fn(&mut Vec<Row>), expected: &str| {
        let mut times = times.clone();
        change(&mut times);
        assert_eq!(probe.infer(times, "").unwrap_err().to_string(), expected);
    };
    let at = |times: &mut Vec<Row>, pattern: &str| -> usize {
        times.iter().position(|row| row.pattern.starts_with(pattern)).unwrap()
    };
    check(
        &|times| {
            let row = at(times, "ld.shared.v4.u32, lane 9 and each");
            times[row].cycles[2] -= 1.0;
        },
        "lanes 9 and 12 do not collide as their difference says in `ld.shared.v4.u32, lane 9 and \
         each later lane in one bank, the others aside`",
    );
    check(
        &|times| {
            let row = at(times, "st.shared.u32, lane 1 at 4");
            times[row].cycles.fill(1.0);
        },
        "no distance of lanes costs a wavefront more in `st.shared.u32, lane 1 at 4, 8, … 4096, \
         the others at 0`",
    );
    check(
        &|times| {
            let row = at(times, "prmt.b32");
            times[row].cycles[0] = -0.5;
        },
        "`prmt.b32` took -0.5 cycles, which is no price",
    );
    check(
        &|times| {
            let row = at(times, "bar.sync, 8 warps");
            times.remove(row);
        },
        "nothing was measured of `bar.sync, 8 warps`",
    );
}

/// Every lane's access is aligned and every pattern has a name of its own, whatever the machine.
#[test]
fn experiments_are_well_formed() {
    for machine in machines() {
        let experiments = probe(&machine).experiments();
        let mut names: Vec<&str> = experiments.iter().map(|one| &*one.pattern).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), experiments.len());
        for experiment in &experiments {
            let aligned = experiment.instructions.iter().map(|one| match *one {
                Instruction::Load(bytes) | Instruction::Store(bytes) => bytes,
                Instruction::LoadMatrix { .. } | Instruction::StoreMatrix { .. } => 16,
                _ => 1,
            });
            let align = aligned.max().unwrap();
            for addresses in &experiment.addresses {
                assert_eq!(addresses.len(), machine.lanes() as usize);
                assert!(addresses.iter().all(|at| at % align == 0), "{}", experiment.pattern);
            }
            assert!(experiment.shared_bytes() <= 72 << 10);
            assert!(experiment.warps * machine.lanes() <= 2048);
        }
    }
}

#[test]
fn older_devices_are_not_asked_for_newer_instructions() {
    for name in ["sm_80", "sm_90"] {
        let probe = probe(Machine::by_name(name).unwrap());
        let stores = |one: &&Experiment| one.pattern.starts_with("stmatrix");
        assert_eq!(
            probe.experiments().iter().filter(stores).count(),
            if name == "sm_80" { 0 } else { 8 }
        );
    }
}

/// The row of `sm_90` is what was measured, and what was measured is what the times say.
#[test]
fn the_row_of_sm_90_is_the_h200_that_was_measured() {
    let text = include_str!("../../../../docs/measurements/h200.json");
    let file: serde_json::Value = serde_json::from_str(text).unwrap();
    let machine = weft_api::machines::read(&file).unwrap();
    let sm_90 = Machine::by_name("sm_90").unwrap();
    let named =
        Machine { name: machine.name.clone(), sources: machine.sources.clone(), ..sm_90.clone() };
    assert_eq!(machine, named);

    let (device, rows) = weft_api::probe::read_rows(&file).unwrap();
    let probe = Probe::new(&Target::from("sm_90"), device).unwrap();
    let probed = probe.infer(rows, file["measured"]["date"].as_str().unwrap()).unwrap();
    assert_eq!(probed.to_json(), text);
}

/// What the laws say of every pattern with a time of its own, against that time.
#[test]
fn the_laws_give_the_times_of_the_h200() {
    let text = include_str!("../../../../docs/measurements/h200.json");
    let file: serde_json::Value = serde_json::from_str(text).unwrap();
    let (device, rows) = weft_api::probe::read_rows(&file).unwrap();
    let sm_90 = Machine::by_name("sm_90").unwrap();
    let probe = Probe::new(&Target::from("sm_90"), device).unwrap();
    let mut compared = 0;
    for (experiment, row) in probe.experiments().iter().zip(&rows) {
        assert_eq!(experiment.pattern, row.pattern);
        // Products have no price, the law of a matrix's rows is not here, and barriers hide behind
        // other work.
        let other = |one: &Instruction| {
            matches!(
                one,
                Instruction::LoadMatrix { .. }
                    | Instruction::StoreMatrix { .. }
                    | Instruction::BlockBarrier
                    | Instruction::WarpBarrier
                    | Instruction::Multiply
            )
        };
        if experiment.instructions.iter().any(other) {
            continue;
        }
        for (addresses, &measured) in experiment.addresses.iter().zip(&row.cycles) {
            let expected = cycles(sm_90, experiment, addresses);
            // Of mixtures each pipe is met as the assembler orders them.
            let alone = experiment.instructions.len() == 1;
            let (low, high) = if alone { (0.99, 1.04) } else { (0.93, 1.25) };
            let (low, high) = (low * expected, high * expected);
            assert!((low..=high).contains(&measured), "{}: {expected} {measured}", row.pattern);
            compared += 1;
        }
    }
    assert_eq!(compared, 5414);
}

/// What a block's barrier costs where work stands around it: nothing at the best, and at the worst
/// what it costs alone, once for the block. So each warp of a plan pays its share.
#[test]
fn a_barrier_is_paid_once_for_all_warps_of_a_block() {
    let text = include_str!("../../../../docs/measurements/h200.json");
    let file: serde_json::Value = serde_json::from_str(text).unwrap();
    let (device, rows) = weft_api::probe::read_rows(&file).unwrap();
    let prices = &Machine::by_name("sm_90").unwrap().prices;
    let probe = Probe::new(&Target::from("sm_90"), device).unwrap();
    let mut compared = 0;
    for (experiment, row) in probe.experiments().iter().zip(&rows) {
        let barriers = experiment.instructions.iter();
        let barriers = barriers.filter(|one| **one == Instruction::BlockBarrier).count() as u64;
        if barriers == 0 || experiment.instructions.len() as u64 == barriers {
            continue;
        }
        let wavefronts: u64 = experiment
            .instructions
            .iter()
            .map(|one| match *one {
                Instruction::Load(bytes) | Instruction::Store(bytes) => u64::from(bytes / 4),
                _ => 0,
            })
            .sum();
        let warps = u64::from(experiment.warps);
        let pipe = wavefronts * prices.wavefront * warps;
        let all = pipe + barriers * prices.barrier_share(warps) * warps;
        let measured = row.cycles[0] * 100.0;
        assert!(measured > 0.99 * pipe as f64, "{}", row.pattern);
        assert!(measured < 1.02 * all as f64, "{}", row.pattern);
        compared += 1;
    }
    assert_eq!(compared, 28);
}
