//! Where values live, as `explain` tells it.

use weft_api::answer::{BuffersAnswer, ExplainAnswer, HomeAnswer};
use weft_api::explain::explain;
use weft_api::request::ExplainRequest;

fn explained(ttir: &str, target: &str) -> ExplainAnswer {
    let request = ExplainRequest {
        ttir: ttir.into(),
        kernel: None,
        target: target.into(),
        warps: None,
        stages: None,
        fp_fusion: None,
        pins: Vec::new(),
        text_places: false,
    };
    explain(&request).unwrap()
}

const PRODUCT: &str = include_str!("../../../../kernels/matmul_f16.ttir");

#[test]
fn factors_that_matrix_units_read_live_in_shared_memory() {
    let answer = explained(PRODUCT, "sm_90");
    let of = |name: &str| -> Vec<&HomeAnswer> {
        answer.homes.iter().filter(|home| home.value == name).collect()
    };
    // Their loads are copies now: no register holds them.
    for (name, ty, span) in
        [("%x_21", "tensor<64x32xf16>", 64), ("%y_30", "tensor<32x64xf16>", 128)]
    {
        let [home] = of(name)[..] else { panic!("{name}: {:?}", of(name)) };
        assert_eq!((home.memory, home.ty.as_str()), ("shared memory", ty));
        let attribute = format!(
            "#ttg.nvmma_shared<{{swizzlingByteWidth = {span}, transposed = false, elementBitWidth = 16}}>"
        );
        let swizzle_bytes = Some(span);
        let buffers = BuffersAnswer { count: 3, bytes: 64 * 32 * 2, attribute, swizzle_bytes };
        assert_eq!(home.buffers, Some(buffers));
        assert!(home.layout.starts_with("[offset: (0,1) (0,2) (0,4)"), "{}", home.layout);
        assert!(home.reason.starts_with("filled by the async_copy at "), "{}", home.reason);
        assert!(home.reason.contains(", read by the warpgroup_dot at "), "{}", home.reason);
    }
    let [sums] = of("%sums_31")[..] else { panic!() };
    assert_eq!((sums.memory, &sums.buffers), ("registers", &None));
    // All buffers are there at once, and what moves through memory goes behind or into them.
    let all = answer.homes.iter().filter_map(|home| home.buffers.as_ref());
    let bytes: u64 = all.map(|buffers| buffers.count * buffers.bytes).sum();
    assert!(bytes <= answer.shared_bytes.into());
}

#[test]
fn factors_of_a_warps_instructions_live_in_registers() {
    let answer = explained(PRODUCT, "gfx942");
    assert!(!answer.homes.is_empty());
    assert!(answer.homes.iter().all(|home| home.memory == "registers" && home.buffers.is_none()));
}

#[test]
fn what_the_text_says_of_memory_is_told_as_it_stands() {
    let given = include_str!("../../../../kernels/ttgir/attention.80.ttgir");
    let answer = explained(given, "sm_80");
    let shared: Vec<_> = answer.homes.iter().filter(|home| home.buffers.is_some()).collect();
    assert!(!shared.is_empty());
    for home in shared {
        assert_eq!(home.reason, "given by the text");
        let attribute = &home.buffers.as_ref().unwrap().attribute;
        let name = attribute.split('<').next().unwrap();
        assert!(given.contains(name), "{attribute}");
    }
}
