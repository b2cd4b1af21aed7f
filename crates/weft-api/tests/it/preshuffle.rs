//! `examples/mxfp4_preshuffle.py`: what the order of its activations is for.

use weft_api::explain;

#[test]
fn s1_17_codes_of_four_bits_come_in_loads_of_128_bits() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mxfp4_product.ttir");
    let text = std::fs::read_to_string(path).unwrap();
    for target in ["sm_80", "sm_89", "sm_90", "gfx90a", "gfx942"] {
        let request = serde_json::json!({ "ttir": text, "target": target });
        let answer = explain::explain(&serde_json::from_value(request).unwrap()).unwrap();
        let codes = answer.accesses.iter().find(|access| access.ty == "tensor<64x64xi8>");
        assert_eq!(codes.unwrap().vector_bytes, 16, "{target}");
    }
}
