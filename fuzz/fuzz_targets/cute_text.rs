//! CuTe's layouts: whatever the text, reading it ends; what is read prints to something that reads
//! as the same; what is imported agrees with CuTe's own arithmetic, and what is refused shows a true
//! witness; what is exported is imported as the same map.

#![no_main]

use weft_layout::interop::cute::{self, ImportError};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(composed) = cute::parse(text) else { return };
    assert_eq!(cute::parse(&composed.to_string()).as_ref(), Ok(&composed));
    let labels = cute::mode_labels(composed.layout.rank().max(1)).expect("few modes");
    let evaluated = |index: u64| composed.apply(index).expect("an index of the layout");
    match cute::import(&composed, &labels) {
        Ok(map) => {
            for index in [0, 1, 2, 3, 5, 0x55, 0xfff, u64::MAX] {
                let index = index & ((1_u128 << map.ins().total_bits()) - 1) as u64;
                assert_eq!(map.apply_flat(index), evaluated(index));
            }
            if let Ok(export) = cute::export(&map) {
                let again = cute::import(&export.composed, &labels).expect("what is exported");
                assert_eq!(again.constant(), map.constant());
                assert_eq!(again.layout().matrix().columns(), map.layout().matrix().columns());
            }
            let _ = cute::memory_layout(&map);
        }
        Err(ImportError::NotAffine(carry)) => {
            assert_eq!(evaluated(carry.x ^ carry.y), carry.at_both);
            assert_ne!(carry.at_both, carry.expected());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
