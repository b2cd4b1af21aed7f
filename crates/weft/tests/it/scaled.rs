//! `tt.dot_scaled` against sums of decoded and scaled numbers, without the steps it is read as.

use weft::dtype::DType;
use weft::memory::{Buffer, Memory};
use weft::scalar;
use weft::tile::eval;
use weft::ttir;

/// 16 x 64 numbers of four bits times 64 x 16 of eight, 32 along the summed axis sharing a scale.
const TEXT: &str = "
tt.func public @scaled(%a: !tt.ptr<i8>, %s: !tt.ptr<i8>, %b: !tt.ptr<f8E5M2>, %t: !tt.ptr<i8>, %c: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r512 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r1024 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %r256 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %a0 = tt.splat %a : !tt.ptr<i8> -> tensor<512x!tt.ptr<i8>>
  %a1 = tt.addptr %a0, %r512 : tensor<512x!tt.ptr<i8>>, tensor<512xi32>
  %a2 = tt.load %a1 : tensor<512x!tt.ptr<i8>>
  %a3 = tt.reshape %a2 : tensor<512xi8> -> tensor<16x32xi8>
  %s0 = tt.splat %s : !tt.ptr<i8> -> tensor<32x!tt.ptr<i8>>
  %s1 = tt.addptr %s0, %r32 : tensor<32x!tt.ptr<i8>>, tensor<32xi32>
  %s2 = tt.load %s1 : tensor<32x!tt.ptr<i8>>
  %s3 = tt.reshape %s2 : tensor<32xi8> -> tensor<16x2xi8>
  %b0 = tt.splat %b : !tt.ptr<f8E5M2> -> tensor<1024x!tt.ptr<f8E5M2>>
  %b1 = tt.addptr %b0, %r1024 : tensor<1024x!tt.ptr<f8E5M2>>, tensor<1024xi32>
  %b2 = tt.load %b1 : tensor<1024x!tt.ptr<f8E5M2>>
  %b3 = tt.reshape %b2 : tensor<1024xf8E5M2> -> tensor<64x16xf8E5M2>
  %t0 = tt.splat %t : !tt.ptr<i8> -> tensor<32x!tt.ptr<i8>>
  %t1 = tt.addptr %t0, %r32 : tensor<32x!tt.ptr<i8>>, tensor<32xi32>
  %t2 = tt.load %t1 : tensor<32x!tt.ptr<i8>>
  %t3 = tt.reshape %t2 : tensor<32xi8> -> tensor<16x2xi8>
  %d = tt.dot_scaled %a3 scale %s3, %b3 scale %t3, %zero lhs = e2m1 rhs = e5m2 {fastMath = false} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x16xf8E5M2>, tensor<16x2xi8> -> tensor<16x16xf32>
  %flat = tt.reshape %d : tensor<16x16xf32> -> tensor<256xf32>
  %c0 = tt.splat %c : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %c1 = tt.addptr %c0, %r256 : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %c1, %flat : tensor<256x!tt.ptr<f32>>
  tt.return
}";

/// The numbers of four bits without their sign.
const E2M1: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

#[test]
fn scaled_products_are_sums_of_scaled_numbers() {
    let bytes = |count: usize, seed: usize, low: usize, span: usize| -> Vec<u8> {
        (0..count).map(|index| (low + (index * 37 + seed * 101) % span) as u8).collect()
    };
    let a = bytes(512, 1, 0, 256);
    // Without infinities and NaN, both signs.
    let signs = (0..1024u32).map(|index| u8::from(index % 3 == 2) << 7);
    let b: Vec<u8> =
        bytes(1024, 2, 0, 0x7c).into_iter().zip(signs).map(|(x, sign)| x | sign).collect();
    let (mut s, t) = (bytes(32, 3, 120, 14), bytes(32, 4, 120, 14));
    // One row's first scale is NaN.
    s[10] = 255;
    let mut memory = Memory::default();
    let mut args = Vec::new();
    for (dtype, data) in [(DType::I8, &a), (DType::I8, &s), (DType::F8E5M2, &b), (DType::I8, &t)] {
        let bytes = data.clone();
        args.push(memory.push(Buffer { name: "in".into(), bytes, dtype, initialised: true }));
    }
    let bytes = vec![0; 1024];
    let out =
        memory.push(Buffer { name: "c".into(), bytes, dtype: DType::F32, initialised: false });
    args.push(out);
    let module = ttir::parse(TEXT).unwrap();
    eval::run(&module.kernels[0], [1, 1, 1], &args, &mut memory, eval::Options::default()).unwrap();
    for row in 0..16 {
        for column in 0..16 {
            let (mut sum, mut size) = (0.0, 0.0);
            for k in 0..64 {
                // The first of two numbers lies in the lower half.
                let nibble = a[row * 32 + k / 2] >> (4 * (k % 2)) & 15;
                let sign = if nibble < 8 { 1.0 } else { -1.0 };
                let x = sign * E2M1[usize::from(nibble & 7)];
                let y = scalar::to_f64(DType::F8E5M2, b[k * 16 + column].into());
                let scale = |exponent: u8| match exponent {
                    255 => f64::NAN,
                    exponent => 2f64.powi(i32::from(exponent) - 127),
                };
                let term = x * scale(s[row * 2 + k / 32]) * y * scale(t[column * 2 + k / 32]);
                sum += term;
                size += term.abs();
            }
            let bits = memory.read(out + (row * 16 + column) as u64 * 4, 4).unwrap();
            let got = scalar::to_f64(DType::F32, bits);
            if row == 5 {
                assert!(got.is_nan() && sum.is_nan());
            } else {
                assert!((got - sum).abs() <= 1e-5 * size, "({row}, {column}): {got}, not {sum}");
            }
        }
    }
}
