//! What is told of rounds of loops.

use std::path::Path;
use weft_api::answer::{ExplainAnswer, RoundAnswer};
use weft_api::explain::explain;
use weft_api::report;
use weft_layout::Machine;

fn explained(kernel: &str, target: &str) -> ExplainAnswer {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let ttir = std::fs::read_to_string(folder.join(format!("{kernel}.ttir"))).unwrap();
    let request = serde_json::json!({ "ttir": ttir, "target": target });
    explain(&serde_json::from_value(request).unwrap()).unwrap()
}

fn memories(round: &RoundAnswer) -> Vec<&'static str> {
    round.memories.iter().map(|memory| memory.memory).collect()
}

/// An H200's bandwidth of DRAM says nothing of an A100, whose table has it from there.
#[test]
fn a_bandwidth_is_told_with_its_source_or_not_at_all() {
    let answer = explained("gemm_f16", "sm_90");
    let [round] = &answer.rounds[..] else { panic!("{:?}", answer.rounds) };
    assert_eq!(memories(round), ["L2 cache", "DRAM"]);
    let machine = Machine::by_name("sm_90").unwrap();
    let sectors = round.bytes / u64::from(machine.sector_bytes);
    assert!(sectors > 0);
    let [cache, dram] = &round.memories[..] else { unreachable!("there are two") };
    assert_eq!(cache.time, sectors * machine.timing.l2_sector);
    assert_eq!(dram.time, sectors * machine.prices.sector);
    assert!(dram.reason.contains("18.39 bytes a cycle (documented: 4.8 TB/s"), "{}", dram.reason);
    assert!(
        dram.reason.ends_with("a bound unless the L2 cache has 65 % of them"),
        "{}",
        dram.reason
    );
    let text = report::explain(&answer);
    assert!(text.contains(&format!("    DRAM: {} bytes, at least 890.88 cycles at", round.bytes)));
    for round in explained("gemm_f16", "sm_80").rounds {
        assert_eq!(memories(&round), ["L2 cache"]);
    }
}

/// Two tiles of 128 by 32 halves, which a round copies.
#[test]
fn the_bytes_of_a_round_are_those_of_its_tiles() {
    let answer = explained("gemm_f16", "sm_90");
    assert_eq!(answer.rounds[0].bytes, 2 * 128 * 32 * 2);
}

#[test]
fn what_binds_is_told_alone_and_side_by_side() {
    let told = |kernel: &str, target: &str| {
        let answer = explained(kernel, target);
        let round = &answer.rounds[0];
        let text = report::explain(&answer);
        assert!(text.contains(&round.verdict) && text.contains(&round.side_by_side), "{text}");
        [round.verdict.clone(), round.side_by_side.clone()]
    };
    let [alone, together] = told("gemm_f16", "sm_90");
    assert_eq!(alone, "bound by shared memory");
    assert!(
        together.contains(": with 2 side by side bound by shared memory, at least "),
        "{together}"
    );
    let [alone, together] = told("layer_norm_forward", "sm_90");
    assert!(alone.starts_with("no unit is full; warp 0 waits "), "{alone}");
    assert!(together.contains(" side by side bound by integer units, at least "), "{together}");
    // Nothing is faster with others than the busiest unit allows, nor than all of them alone would be.
    for kernel in ["gemm_f16", "layer_norm_forward", "attention_f16", "flash_forward"] {
        for target in ["sm_90", "sm_80", "gfx942"] {
            let answer = explained(kernel, target);
            for round in &answer.rounds {
                let least = round.side_by_side.split("at least ").nth(1).unwrap();
                let least: f64 = least.split(' ').next().unwrap().parse().unwrap();
                let least = (least * 100.0).round() as u64;
                let blocks = u64::from(answer.occupancy.blocks);
                assert!(least >= round.busy[0].time && least * blocks >= round.time, "{round:?}");
                assert!(least <= round.time, "{round:?}");
            }
        }
    }
}
