//! Conversions: what they cost, that no single change leaves them right and cheaper, and many of them.

use std::{collections::BTreeMap, env, format, println, string::String, vec::Vec};

use arbitrary::{Result, Unstructured};

use super::oracle;
use crate::{
    Layout, Machine,
    family::Blocked,
    interop::parse_attribute,
    plan::{
        PlanError, conversions, convert,
        swizzle::{Access, Problem, solve},
    },
    space::{LANE, REGISTER, Space, WARP},
    step::{Cost, Form, Kind, Matrix, Plan, Scope, Step, Strategy, price},
    testing::{self, distributed_over, invertible, repeat, shape},
    witness::{self, conversion_is_shown},
};

fn hopper() -> &'static Machine {
    Machine::by_name("sm_90").unwrap()
}

/// A layout of one warp (or more) from columns.
fn places(shape: &[u64], [registers, lanes, warps]: [&[u64]; 3]) -> Layout {
    let outs = Space::tensor(shape).unwrap();
    let bits = |columns: &[u64]| columns.len() as u32;
    let ins = Space::hardware(bits(registers), bits(lanes), bits(warps), 0).unwrap();
    Layout::new(ins, outs, &[registers, lanes, warps].concat()).unwrap()
}

/// How many instructions of each kind and form a plan has.
fn accesses(plan: &Plan) -> BTreeMap<(bool, bool), usize> {
    let mut counts = BTreeMap::new();
    for step in &plan.steps {
        if let Step::Access(access) = step {
            let key = (access.kind == Kind::Load, access.form != Form::Vector);
            *counts.entry(key).or_insert(0) += access.groups.len();
        }
    }
    counts
}

/// The 16 x 32 tile of f32 in 8 instructions: vectors of 16 bytes one way, matrices the other.
#[test]
fn s0_36_the_transpose_takes_8_instructions_with_matrix_moves() {
    // n in bits 0 to 4, m in bits 5 to 8: columns of the tile, then rows of it.
    let [m0, m1, m2, m3] = [32, 64, 128, 256];
    let columns = places(&[16, 32], [&[m0, m1, m2, m3], &[1, 2, 4, 8, 16], &[]]);
    let rows = places(&[16, 32], [&[2, 4, 8, 16], &[m0, m1, m2, m3, 1], &[]]);
    let plan = convert(&columns, &rows, 32, hopper()).unwrap();
    assert_eq!(accesses(&plan), BTreeMap::from([((false, false), 4), ((true, true), 4)]), "{plan}");
    assert_eq!((plan.cost.wavefronts, plan.cost.ideal_wavefronts), (32, 32));
    assert_eq!((plan.cost.instructions, plan.cost.barriers), (9, 1));
    assert!(plan.steps.contains(&Step::Barrier(Scope::Warp)));
    // Where a machine stores matrices only as well as loads them, the other way round.
    let back = convert(&rows, &columns, 32, hopper()).unwrap();
    assert_eq!(back.cost.instructions, 9, "{back}");
    // Without matrix moves, one side goes word by word.
    let plain = Machine { matrix_moves: [].as_slice().into(), ..hopper().clone() };
    let plain = convert(&columns, &rows, 32, &plain).unwrap();
    assert_eq!((plain.cost.wavefronts, plain.cost.instructions), (32, 21));
}

/// Halves whose rows one side holds and whose columns the other: transposed matrices.
#[test]
fn halves_are_transposed_on_the_way() {
    let rows = places(&[32, 8], [&[1, 2, 4], &[8, 16, 32, 64, 128], &[]]);
    let columns = places(&[32, 8], [&[8, 16, 32], &[64, 128, 1, 2, 4], &[]]);
    let ampere = Machine::by_name("sm_80").unwrap();
    // Where matrices are only loaded, vectors are stored.
    for (machine, from, to, most) in [
        (ampere, &rows, &columns, 1),
        (hopper(), &rows, &columns, 2),
        (hopper(), &columns, &rows, 2),
    ] {
        let plan = convert(from, to, 16, machine).unwrap();
        let forms: Vec<Form> = plan
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Access(access) if access.form != Form::Vector => Some(access.form),
                _ => None,
            })
            .collect();
        assert!(forms.contains(&Form::Matrix(Matrix::COLUMNS)) && forms.len() <= most, "{plan}");
        assert_eq!((plan.cost.wavefronts, plan.cost.ideal_wavefronts), (8, 8));
        assert_eq!(plan.cost.instructions, 3, "{plan}");
    }
}

/// The layouts of a published case whose loads collide where words are not looked at.
#[test]
fn words_of_halves_meet_different_banks() {
    let from = places(&[256], [&[2, 1, 64], &[32, 4, 16, 128, 8], &[]]);
    let to = places(&[256], [&[16, 128, 32], &[1, 8, 4, 2, 64], &[]]);
    let plan = convert(&from, &to, 16, hopper()).unwrap();
    assert_eq!(plan.cost.wavefronts, plan.cost.ideal_wavefronts, "{plan}");
}

/// Bits of registers and lanes that change places: half of the registers travel for each.
#[test]
fn half_of_the_registers_travel_for_each_bit() {
    let lanes = [8, 16, 32, 64, 128];
    let from = places(&[8, 32], [&[1, 2, 4], &lanes, &[]]);
    let one = places(&[8, 32], [&[8, 2, 4], &[1, 16, 32, 64, 128], &[]]);
    let two = places(&[8, 32], [&[8, 16, 4], &[1, 2, 32, 64, 128], &[]]);
    let turned = places(&[8, 32], [&[8, 16, 4], &[2, 32, 64, 128, 1], &[]]);
    for (to, shuffles, alu, total) in
        [(&one, 4, 12, 600), (&two, 8, 24, 1200), (&turned, 12, 28, 1400)]
    {
        let Plan { cost, strategy, .. } = convert(&from, to, 32, hopper()).unwrap();
        assert_eq!(strategy, Strategy::Shuffles);
        assert_eq!((cost.shuffles, cost.alu, cost.total), (shuffles, alu, total), "{to}");
    }
}

/// Two bits of words of halves: exchanges are cheaper alone, memory beside busy arithmetic.
#[test]
fn other_work_of_a_loop_decides_between_ways() {
    let from = places(&[32, 32], [&[1, 2, 4, 8, 16], &[32, 64, 128, 256, 512], &[]]);
    let to = places(&[32, 32], [&[1, 32, 64, 8, 16], &[2, 4, 128, 256, 512], &[]]);
    let found = conversions(&from, &to, 16, hopper()).unwrap();
    let beside = |alu| {
        let work = Cost { alu, instructions: alu, ..Cost::default() };
        found.beside(work, hopper())
    };
    assert_eq!(beside(0).strategy, Strategy::Shuffles);
    assert_eq!(beside(32).strategy, Strategy::SharedMemory);
    // Nothing beside costs at least what the plan costs alone.
    for plan in found.plans() {
        assert!(plan.cost.beside(Cost::default(), hopper()) >= plan.cost.total);
    }
}

/// Bytes from columns to rows over four warps: no byte of a word of one side is in a register of the
/// other. Two bits exchanged between registers and lanes cost less than 32 loads of single bytes, on
/// either side of the memory.
#[test]
fn bytes_without_common_registers_are_exchanged_before_or_behind_memory() {
    let columns = Blocked::new(&[8, 1], &[8, 4], &[1, 4], &[0, 1]).layout(&[64, 64]).unwrap();
    let rows = Blocked::new(&[1, 4], &[2, 16], &[4, 1], &[1, 0]).layout(&[64, 64]).unwrap();
    for (from, to) in [(&columns, &rows), (&rows, &columns)] {
        let plan = convert(from, to, 8, hopper()).unwrap();
        assert_eq!(witness::conversion(&plan, from, to), Ok(()));
        let Cost { wavefronts, shuffles, barriers, total, .. } = plan.cost;
        assert_eq!((wavefronts, shuffles, barriers, total), (16, 8, 1, 2900), "{plan}");
        let found = conversions(from, to, 8, hopper()).unwrap();
        let without = found.plans().filter(|plan| plan.cost.shuffles == 0);
        assert_eq!(without.map(|plan| plan.cost.wavefronts).min(), Some(40));
        // Halves have enough in common: nothing is exchanged.
        let found = conversions(from, to, 16, hopper()).unwrap();
        assert!(found.plans().all(|plan| plan.cost.shuffles == 0));
    }
}

/// Warps that hold the same do not wait for each other.
#[test]
fn copies_of_warps_need_no_barrier_of_the_block() {
    let lanes = [1, 2, 4, 8, 16];
    let from = places(&[512], [&[32, 64, 128, 256], &lanes, &[0, 0]]);
    let to = places(&[512], [&lanes[1..], &[32, 64, 128, 256, 1], &[0, 0]]);
    let plan = convert(&from, &to, 32, hopper()).unwrap();
    assert!(plan.steps.contains(&Step::Barrier(Scope::Warp)), "{plan}");
    assert_eq!(plan.scratch_bytes, 4 * 4 * 512);
}

/// Elements of 16 bits between operands of products: a thread chooses among the halves of two words
/// by one byte permute, before they travel and after.
#[test]
fn choices_among_halves_of_words_are_byte_permutes() {
    let operand = |width: u32| {
        let text = format!(
            "#ttg.dot_op<{{opIdx = 0, parent = #ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, \
             warpsPerCTA = [1, 1], instrShape = [16, 8]}}>, kWidth = {width}}}>"
        );
        parse_attribute(&text).unwrap().layout(&[32, 32]).unwrap()
    };
    let Plan { cost, .. } = convert(&operand(1), &operand(2), 16, hopper()).unwrap();
    assert_eq!((cost.shuffles, cost.alu, cost.total), (16, 32, 1600));
}

/// Bytes whose lanes and warps add up many elements: what lets one side move vectors.
#[test]
fn threads_that_mix_all_bits_still_move_vectors() {
    let from = places(&[2048], [&[32, 256, 4, 128], &[1121, 1963, 168, 1035, 319], &[1885, 240]]);
    let to = places(&[2048], [&[1, 2, 4, 8], &[16, 32, 64, 128, 256], &[512, 1024]]);
    let Plan { cost, .. } = convert(&from, &to, 8, hopper()).unwrap();
    // 16 for single bytes on one side, 4 for vectors of four on the other.
    assert_eq!((cost.wavefronts, cost.ideal_wavefronts), (20, 20));
}

#[test]
fn alternatives_are_told_from_the_cheapest_on() {
    let mut counts = BTreeMap::new();
    let (mut reached, mut all) = (0, 0);
    repeat(if long() { 5000 } else { 200 }, |u| {
        let (machine, bits, from, to) = random_pair(u)?;
        let found = match conversions(&from, &to, bits, machine) {
            Err(PlanError::Scratch { .. }) => return Ok(()),
            found => found.unwrap(),
        };
        let costs: Vec<u64> = found.plans().map(|plan| plan.cost.total).collect();
        assert!(costs.is_sorted());
        assert!(
            found.least <= costs[0],
            "{} > {}: {}\n{from}\n{to}",
            found.least,
            costs[0],
            found.best
        );
        let best = convert(&from, &to, bits, machine).unwrap();
        assert_eq!(best.cost.total, costs[0], "{best}\n{}\n{from}\n{to}", found.best);
        *counts.entry(costs.len()).or_insert(0) += 1;
        reached += u32::from(found.least == costs[0]);
        all += 1;
        Ok(())
    });
    println!("{counts:?}, {reached} of {all} are at the bound");
    assert!(counts.keys().any(|&count| count > 2), "{counts:?}");
    assert!(reached > 0 && reached < all);
}

/// Registers above the words that are only renamed repeat a conversion within warps, each twice at twice
/// the price; copies of registers above the words cost nothing.
#[test]
fn registers_that_ride_along_repeat_the_price() {
    let mut compared = 0;
    repeat(if long() { 3000 } else { 60 }, |u| {
        let bits = *u.choose(&[8, 16, 32])?;
        let registers = u.int_in_range(2..=3)?;
        let inside = registers + 5;
        let columns = [testing::shuffled(u, inside)?, testing::shuffled(u, inside)?];
        // As many more registers, which number the highest elements; then copies.
        let sides = |more: u32, copies: [&[u64]; 2]| {
            let own: Vec<u64> = (0..more).map(|bit| 1 << (inside + bit)).collect();
            [0, 1].map(|side| {
                let (lanes, other) = columns[side].split_at(5);
                let all = [other, &own, copies[side]].concat();
                places(&[1 << (inside + more)], [&all, lanes, &[]])
            })
        };
        let price = |[from, to]: [Layout; 2]| {
            let found = conversions(&from, &to, bits, hopper()).unwrap();
            let ways = found.plans().filter(|plan| plan.strategy != Strategy::SharedMemory);
            ways.map(|plan| plan.cost.total).min()
        };
        // Two are kept, because words of bytes may be filled along them.
        let wide = price(sides(3, [&[], &[]]));
        assert_eq!(wide, price(sides(2, [&[], &[]])).map(|one| 2 * one), "{columns:?}");
        let highest = 1 << (inside + 2);
        for copies in [[&[0][..], &[]], [&[], &[0]], [&[highest, 0], &[0, highest]]] {
            assert_eq!(price(sides(3, copies)), wide, "{bits} {copies:?} {columns:?}");
        }
        compared += u32::from(wide > Some(0));
        Ok(())
    });
    assert!(compared > 20, "{compared}");
}

/// What a conversion through memory pays in wavefronts is what the search for swizzles finds best for the
/// same store and the same load: two searches, of which neither may fall behind.
#[test]
fn conversions_take_the_wavefronts_of_the_best_swizzle() {
    let (mut compared, mut optimal, mut above) = (0, 0, 0);
    repeat(if long() { 2000 } else { 100 }, |u| {
        let bits = *u.choose(&[32, 64])?;
        let warps = u.int_in_range(0..=2)?;
        let registers = u.int_in_range(0..=4)?;
        let shape = shape(u, registers + 5 + warps)?;
        let mut side = || distributed_over(u, &shape, 5, warps, testing::Kind::Permutation);
        let (from, to) = (side()?, side()?);
        let found = conversions(&from, &to, bits, hopper()).unwrap();
        let through = |plan: &&Plan| plan.strategy == Strategy::SharedMemory;
        let Some(plan) = found.plans().find(through) else { return Ok(()) };
        let accesses = [(Kind::Store, &from), (Kind::Load, &to)]
            .map(|(kind, layout)| Access::new(kind, layout.clone()));
        let solved = solve(&Problem::new(hopper(), bits, accesses.into())).unwrap();
        let taken = plan.cost.wavefronts;
        assert!(taken >= solved.bound, "{taken} < {}\n{plan}\n{from}\n{to}", solved.bound);
        // Where lanes hold copies, only some of them store; the conversion does not look for the
        // offsets that suit those best.
        let copies = from.columns(LANE).contains(&0) || to.columns(LANE).contains(&0);
        if copies {
            above += u32::from(taken > solved.total);
            return Ok(());
        }
        assert_eq!(taken, solved.total, "{plan}\n{from}\n{to}");
        compared += 1;
        optimal += u32::from(solved.total == solved.bound);
        Ok(())
    });
    println!("{compared} conversions, {optimal} shown to be best; {above} with copies above");
    assert!(compared > 20 && optimal * 2 > compared);
}

/// Many cases, where `WEFT_LONG` is set (best with `--release`).
fn long() -> bool {
    env::var_os("WEFT_LONG").is_some()
}

/// Any machine, width and pair of layouts: copies, 1 to 8 warps, 32 or 64 lanes, one to three axes;
/// some within warps.
fn random_pair(u: &mut Unstructured<'_>) -> Result<(&'static Machine, u32, Layout, Layout)> {
    let machine = *u.choose(&Machine::ALL)?;
    let lanes = machine.lanes_log2;
    let bits = *u.choose(&[1, 4, 8, 16, 32, 64])?;
    let warps = u.int_in_range(0..=3)?;
    let kind = testing::Kind::any(u)?;
    if u.ratio(1, 3)? {
        let registers = u.int_in_range(0..=4)?;
        let shape = shape(u, registers + lanes + warps)?;
        let from = distributed_over(u, &shape, lanes, warps, testing::Kind::Permutation)?;
        let inside = from.ins().total_bits() - warps;
        let mixed = if u.ratio(1, 2)? {
            invertible(u, inside)?.columns().to_vec()
        } else {
            testing::shuffled(u, inside)?
        };
        let columns: Vec<u64> = mixed.iter().map(|&place| from.apply_flat(place)).collect();
        let columns = [&columns[..], from.columns(WARP)].concat();
        let to = Layout::new(from.ins().clone(), from.outs().clone(), &columns).unwrap();
        return Ok((machine, bits, from, to));
    }
    let size = u.int_in_range(0..=12)?;
    let shape = shape(u, size)?;
    let from = distributed_over(u, &shape, lanes, warps, kind)?;
    let to = distributed_over(u, &shape, lanes, warps, kind)?;
    Ok((machine, bits, from, to))
}

/// Random conversions of every machine: a hundred thousand where `WEFT_LONG` is set.
#[test]
fn conversions_of_every_kind_are_accepted() {
    let mut counts = BTreeMap::new();
    let mut refused = 0;
    repeat(if long() { 100_000 } else { 400 }, |u| {
        let (machine, bits, from, to) = random_pair(u)?;
        match convert(&from, &to, bits, machine) {
            Err(PlanError::Scratch { .. }) => refused += 1,
            Err(error) => panic!("{error}\n{from}\n{to}"),
            Ok(plan) => {
                // The full replay, in builds without debug assertions too.
                let verdict = witness::conversion(&plan, &from, &to);
                assert_eq!(verdict, Ok(()), "{plan:#}\n{from}\n{to}");
                let matrices = accesses(&plan).keys().any(|key| key.1);
                *counts.entry((plan.strategy, matrices)).or_insert(0) += 1;
            }
        }
        Ok(())
    });
    println!("{counts:?}, {refused} too large for shared memory");
    assert!(counts.keys().any(|key| key.1), "{counts:?}");
}

/// The pairs that Triton's tests convert between, by the full replay: a seventh of them unless
/// `WEFT_LONG` is set.
#[test]
fn tritons_pairs_are_replayed() {
    let Some(pairs) = oracle::conversions() else { return };
    let every = if long() { 1 } else { 7 };
    let mut replayed = 0;
    for (from, to, bits) in pairs.into_iter().step_by(every) {
        let plan = convert(&from, &to, bits, hopper()).unwrap();
        assert_eq!(witness::conversion(&plan, &from, &to), Ok(()), "{plan}\n{from}\n{to}");
        replayed += 1;
    }
    println!("{replayed} pairs");
    assert!(replayed >= if long() { 455 } else { 60 });
}

/// A plan with one thing changed, and what.
type Mutant = (String, Plan);

/// Every plan that differs from this one in one place: a step less, a bit of an address, of a mask or
/// of a selector, an entry of a list, a barrier of a narrower scope, another form.
fn mutants(plan: &Plan) -> Vec<Mutant> {
    let mut all: Vec<Mutant> = Vec::new();
    let address_bits = plan.scratch_bytes.max(1).ilog2();
    for (index, step) in plan.steps.iter().enumerate() {
        let mut with = |what: String, change: &dyn Fn(&mut Step)| {
            let mut changed = plan.clone();
            change(&mut changed.steps[index]);
            if changed != *plan {
                all.push((format!("step {index}: {what}"), changed));
            }
        };
        match step {
            Step::Barrier(_) => with("narrower".into(), &|step| *step = Step::Barrier(Scope::Warp)),
            Step::Permute { source, .. } => {
                for at in 0..source.len() {
                    with(format!("entry {at}"), &|step| {
                        let Step::Permute { source, .. } = step else { return };
                        let next = (at + 1) % source.len();
                        source[at] = source[next];
                    });
                }
            }
            Step::Concat { .. } => with("reversed".into(), &|step| {
                let Step::Concat { from, .. } = step else { return };
                from.reverse();
            }),
            Step::Select { .. } => {
                with("sides".into(), &|step| {
                    let Step::Select { even, odd, .. } = step else { return };
                    core::mem::swap(even, odd);
                });
                for bit in 0..plan.lane_bits + plan.warp_bits {
                    with(format!("parity bit {bit}"), &|step| {
                        let Step::Select { odd_where, .. } = step else { return };
                        match bit.checked_sub(plan.lane_bits) {
                            None => odd_where.lane ^= 1 << bit,
                            Some(warp) => odd_where.warp ^= 1 << warp,
                        }
                    });
                }
            }
            Step::Bytes { to, .. } => {
                with("sides".into(), &|step| {
                    let Step::Bytes { a, b, .. } = step else { return };
                    core::mem::swap(a, b);
                });
                for bit in 0..plan.file(*to).element_bits / 2 {
                    with(format!("selector bit {bit}"), &|step| {
                        let Step::Bytes { selector, .. } = step else { return };
                        selector.xor ^= 1 << bit;
                    });
                    for lane in 0..plan.lane_bits as usize {
                        with(format!("selector bit {bit} by lane bit {lane}"), &|step| {
                            let Step::Bytes { selector, .. } = step else { return };
                            selector.lane.resize(plan.lane_bits as usize, 0);
                            selector.lane[lane] ^= 1 << bit;
                        });
                    }
                }
            }
            Step::Exchange { source, .. } => {
                for bit in 0..plan.lane_bits {
                    with(format!("lane xor bit {bit}"), &|step| {
                        let Step::Exchange { source, .. } = step else { return };
                        source.xor ^= 1 << bit;
                    });
                    for column in 0..source.lane.len() {
                        with(format!("lane map bit {bit} of column {column}"), &|step| {
                            let Step::Exchange { source, .. } = step else { return };
                            source.lane[column] ^= 1 << bit;
                        });
                    }
                }
            }
            Step::Access(access) => {
                let last = access.groups.len() - 1;
                for group in [0, last] {
                    with(format!("without group {group}"), &|step| {
                        let Step::Access(access) = step else { return };
                        access.groups.remove(group);
                    });
                    with(format!("registers of group {group}"), &|step| {
                        let Step::Access(access) = step else { return };
                        access.groups[group].registers.reverse();
                    });
                    for bit in 0..=address_bits {
                        with(format!("address bit {bit} of group {group}"), &|step| {
                            let Step::Access(access) = step else { return };
                            access.groups[group].address ^= 1 << bit;
                        });
                    }
                }
                for bit in 0..=address_bits {
                    for column in 0..access.lane.len() {
                        with(format!("address bit {bit} by lane bit {column}"), &|step| {
                            let Step::Access(access) = step else { return };
                            access.lane[column] ^= 1 << bit;
                        });
                    }
                    for column in 0..access.warp.len() {
                        with(format!("address bit {bit} by warp bit {column}"), &|step| {
                            let Step::Access(access) = step else { return };
                            access.warp[column] ^= 1 << bit;
                        });
                    }
                }
                for bit in 0..plan.lane_bits {
                    with(format!("idle lane bit {bit}"), &|step| {
                        let Step::Access(access) = step else { return };
                        access.acting.idle_lanes ^= 1 << bit;
                    });
                }
                for bit in 0..plan.warp_bits {
                    with(format!("idle warp bit {bit}"), &|step| {
                        let Step::Access(access) = step else { return };
                        access.acting.idle_warps ^= 1 << bit;
                    });
                }
                for form in
                    [Form::Vector, Form::Matrix(Matrix::ROWS), Form::Matrix(Matrix::COLUMNS)]
                {
                    with(format!("{form:?}"), &|step| {
                        let Step::Access(access) = step else { return };
                        access.form = form;
                    });
                }
            }
            _ => {}
        }
        let mut without = plan.clone();
        without.steps.remove(index);
        all.push((format!("without step {index}"), without));
    }
    if plan.scratch_bytes > 1 {
        let scratch_bytes = plan.scratch_bytes / 2;
        all.push(("half of the scratch memory".into(), Plan { scratch_bytes, ..plan.clone() }));
    }
    all
}

/// What became of changed plans.
#[derive(Debug, Default)]
struct Verdicts {
    rejected: u64,
    /// Right, and dearer.
    dearer: u64,
    /// Right, and as dear.
    equivalent: u64,
}

/// Every single change is rejected by the witness, or leaves a plan that the replay shows to be right
/// and that costs no less.
fn try_mutants(
    plan: &Plan,
    from: &Layout,
    to: &Layout,
    machine: &Machine,
    verdicts: &mut Verdicts,
) {
    let own = price(plan, machine).unwrap();
    for (what, mutant) in mutants(plan) {
        let verdict = witness::conversion(&mutant, from, to);
        // What the quick check accepts is right.
        if conversion_is_shown(&mutant, from, to) == Ok(true) {
            assert_eq!(verdict, Ok(()), "{what}\n{mutant:#}");
        }
        if verdict.is_err() {
            verdicts.rejected += 1;
            continue;
        }
        let Ok(cost) = price(&mutant, machine) else {
            // The machine has no such access.
            verdicts.rejected += 1;
            continue;
        };
        assert!(
            cost.total >= own.total,
            "{what} costs {cost}, less than {own}\n{plan:#}\n{from}\n{to}"
        );
        if cost.total > own.total {
            verdicts.dearer += 1;
        } else {
            verdicts.equivalent += 1;
        }
    }
}

#[test]
fn no_single_change_makes_a_plan_cheaper_and_leaves_it_right() {
    let mut verdicts = Verdicts::default();
    let mut kinds = BTreeMap::new();
    repeat(if long() { 2000 } else { 40 }, |u| {
        let (machine, bits, from, to) = random_pair(u)?;
        let small = from.in_bits(REGISTER).max(to.in_bits(REGISTER)) <= 4;
        let found = conversions(&from, &to, bits, machine);
        let Some(found) =
            found.ok().filter(|_| small && from.in_bits(LANE) + from.in_bits(WARP) <= 7)
        else {
            return Ok(());
        };
        for plan in found.plans() {
            try_mutants(plan, &from, &to, machine, &mut verdicts);
            *kinds.entry((plan.strategy, accesses(plan).keys().any(|key| key.1))).or_insert(0) += 1;
        }
        Ok(())
    });
    println!("{verdicts:?} of {kinds:?}");
    assert!(verdicts.rejected > 1000, "{verdicts:?}");
    assert!(kinds.len() >= 4, "{kinds:?}");
    assert!(verdicts.equivalent * 4 < verdicts.rejected, "{verdicts:?}");
}
