//! Atomics on several elements that lie side by side.

use super::{Outcome, add, ints, kinds, load, pointer, run_on, values};
use crate::atomic::{Order, Rmw, Scope};
use crate::dtype::DType;
use crate::lane::{AtomicAccess, Builder, Op, Space, Value};
use crate::scalar;
use crate::sim::FindingKind;
use smallvec::{SmallVec, smallvec};

/// Lanes that add to the same four floats add to each by itself; a plain load of the last one races.
#[test]
fn an_atomic_on_neighbours_is_one_on_each() {
    for plain in [false, true] {
        let mut build = Builder::new("sums", 1, 5);
        let out = pointer(&mut build, "out");
        let added = [1.0, 2.0, 3.0, 4.0]
            .map(|value| build.constant(DType::F32, scalar::from_f64(DType::F32, value)));
        let (order, scope) = (Order::AcqRel, Scope::Gpu);
        let space = Space::Global;
        let op = Op::Atomic(AtomicAccess {
            space,
            op: Rmw::FAdd.into(),
            order,
            scope,
            predicated: false,
        });
        let mut operands: SmallVec<[Value; 4]> = smallvec![out];
        operands.extend(added);
        build.emit(op, operands, &[DType::F32; 4]);
        if plain {
            let last = build.constant(DType::I64, 12);
            let at = add(&mut build, out, last);
            load(&mut build, space, at);
        }
        let Outcome { report, memory } = run_on(&build.finish(), 2, vec![ints("out", &[0; 4])]);
        assert_eq!(report.is_clean(), !plain, "{:#?}", report.findings);
        assert!(kinds(&report).iter().all(|&kind| kind == FindingKind::Race));
        let sums = [64.0f32, 128.0, 192.0, 256.0].map(f32::to_bits);
        assert_eq!(values(&memory, 0), sums);
    }
}
