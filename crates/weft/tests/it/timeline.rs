//! Laws of rounds on the clock, over every kernel.

use std::path::Path;
use weft::budget::Stop;
use weft::compile::{self, Options, TensorMaps};
use weft::timeline::{self, Unit, Work};
use weft::ttir;
use weft_layout::machine::Machine;

/// No unit works longer than the round takes, and what a warp does lies within one.
#[test]
fn a_round_has_room_for_what_happens_in_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "ttir") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let Ok(module) = ttir::parse(&text) else { continue };
        let all = [TensorMaps::None, TensorMaps::All].map(|maps| ("sm_90", maps));
        let others = ["sm_80", "gfx942", "gfx1100"].map(|name| (name, TensorMaps::None));
        for (name, tensor_maps) in all.into_iter().chain(others) {
            let machine = Machine::by_name(name).unwrap();
            let options = Options { warps: 4, tensor_maps, ..Options::for_machine(machine) };
            let Ok(compiled) = compile::compile(&module, &module.kernels[0], &options) else {
                continue;
            };
            for round in timeline::rounds(&compiled.program, machine, &Stop::default()) {
                seen += 1;
                let place = format!("{} {name} {}: {round:?}", path.display(), round.inst);
                assert!(round.time > 0, "{place}");
                for &(unit, busy) in &round.busy {
                    assert!(busy <= round.time, "{unit:?} of {place}");
                }
                assert_eq!(round.busy.len(), Unit::ALL.len());
                let length = round.spans.iter().map(|span| span.end).max().unwrap_or(0);
                for pair in round.spans.windows(2) {
                    let [left, right] = pair else { unreachable!("windows of two") };
                    assert!((left.work, left.end) < (right.work, right.start), "{place}");
                }
                for work in Work::ALL {
                    let spans = round.spans.iter().filter(|span| span.work == work);
                    assert!(spans.map(|span| span.end - span.start).sum::<u64>() <= length);
                }
            }
        }
    }
    assert!(seen > 200, "{seen} rounds");
}
