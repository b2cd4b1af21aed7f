//! Which bytes a copy of a box moves, and what it moves them between.

use crate::dtype::DType;
use crate::lane::{Tensor, TensorMap};
use crate::memory::{Memory, OutOfRange};
use crate::scalar;

/// Bytes that are neighbours in both memories.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first byte in shared memory.
    pub(super) shared: usize,
    /// The buffer and its byte; nothing outside of the tensor.
    pub(super) global: Option<(usize, usize)>,
    pub(super) bytes: u32,
}

/// What is wrong with the copy of a box.
pub(super) enum Wrong {
    Misaligned(String),
    Outside(OutOfRange),
}

/// The bytes of the box at some coordinates, innermost first, in pieces of at most 16.
pub(super) fn runs(
    map: &TensorMap,
    tensor: &Tensor,
    coordinates: &[i64],
    start: u32,
    stores: bool,
    memory: &Memory,
) -> Result<Vec<Run>, Wrong> {
    let element = map.element.bytes();
    let rank = map.sides.len();
    let aligned = |what: &str, number: u64, align: u32| match number % u64::from(align) {
        0 => Ok(()),
        _ => Err(Wrong::Misaligned(format!(
            "a copy of a box whose {what} is {number}, no multiple of {align}"
        ))),
    };
    aligned("address in shared memory", start.into(), TensorMap::ALIGN)?;
    aligned("tensor's address", tensor.base, TensorMap::PIECE)?;
    for &stride in &tensor.strides[..rank - 1] {
        aligned("tensor's stride", stride, TensorMap::PIECE)?;
    }
    let (first, row) = (coordinates[0], map.sides[0]);
    let offset = first.unsigned_abs() * u64::from(element);
    aligned("first coordinate in bytes", offset, TensorMap::PIECE)?;
    let end = tensor.extents[0] as i64;
    if stores && (first..first + i64::from(row)).contains(&end) {
        aligned(
            "tensor's row, which is stored to its end,",
            tensor.extents[0] * u64::from(element),
            16,
        )?;
    }
    let each = TensorMap::PIECE / element;
    let mut runs = Vec::new();
    let rows: u32 = map.sides[1..].iter().product();
    for number in 0..rows {
        let (mut rest, mut within, mut address) = (number, true, tensor.base);
        let outer = map.sides.iter().zip(coordinates).zip(&tensor.extents).skip(1);
        for (((&side, &start), &extent), &stride) in outer.zip(&tensor.strides) {
            let coordinate = start + i64::from(rest % side);
            rest /= side;
            within &= (0..extent as i64).contains(&coordinate);
            address = address.wrapping_add(coordinate.wrapping_mul(stride as i64) as u64);
        }
        for piece in 0..row / each {
            let from = first + i64::from(piece * each);
            let place = map.place(start + (number * row + piece * each) * element) as usize;
            let inside = (0.max(-from).min(i64::from(each))) as u32;
            let behind = (end - from).clamp(inside.into(), each.into()) as u32;
            let (inside, behind) = if within { (inside, behind) } else { (each, each) };
            for (from_element, to, holds) in
                [(0, inside, false), (inside, behind, true), (behind, each, false)]
            {
                if from_element == to {
                    continue;
                }
                let bytes = (to - from_element) * element;
                let far = (from + i64::from(from_element)) * i64::from(element);
                let found = || memory.locate(address.wrapping_add(far as u64), bytes);
                let global = holds.then(found).transpose().map_err(Wrong::Outside)?;
                runs.push(Run { shared: place + (from_element * element) as usize, global, bytes });
            }
        }
    }
    Ok(runs)
}

/// What the elements of a box are outside of the tensor.
pub(super) fn outside(element: DType, nan: bool) -> Vec<u8> {
    let number = if nan && element.is_float() { f64::NAN } else { 0.0 };
    let bits = scalar::from_f64(element, number);
    bits.to_le_bytes()[..element.bytes() as usize].to_vec()
}

#[cfg(test)]
mod tests {
    use super::{outside, runs};
    use crate::dtype::DType;
    use crate::lane::{Tensor, TensorMap};
    use crate::memory::{Buffer, Memory};

    /// Every element of a box by the definition: its byte in shared memory, and its byte in the buffer, if it is
    /// within the tensor.
    fn elements(map: &TensorMap, tensor: &Tensor, coordinates: &[i64]) -> Vec<(u32, Option<u64>)> {
        let bytes = map.element.bytes();
        let count: u32 = map.sides.iter().product();
        let one = |number: u32| {
            let (mut rest, mut within, mut at) = (number, true, 0);
            for (axis, &side) in map.sides.iter().enumerate() {
                let coordinate = coordinates[axis] + i64::from(rest % side);
                rest /= side;
                within &= (0..tensor.extents[axis] as i64).contains(&coordinate);
                let stride = if axis == 0 { u64::from(bytes) } else { tensor.strides[axis - 1] };
                at += coordinate * stride as i64;
            }
            (map.place(number * bytes), within.then_some(at as u64))
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn a_box_is_moved_element_by_element() {
        let mut memory = Memory::default();
        let (name, dtype) = (String::new(), DType::I8);
        memory.push(Buffer { name, bytes: vec![0; 1 << 16], dtype, initialised: true });
        let base = Memory::base(0);
        let at = |coordinates: &[i64]| coordinates.to_vec();
        let cases = [
            (
                DType::F32,
                &[32, 4][..],
                128,
                [40, 6, 1],
                [160, 0],
                [at(&[16, 4]), at(&[-16, -2]), at(&[64, 0])],
            ),
            (
                DType::F16,
                &[64, 2, 2],
                128,
                [72, 3, 3],
                [144, 448],
                [at(&[8, 1, 1]), at(&[-8, -1, 2]), at(&[0; 3])],
            ),
            (
                DType::I8,
                &[32, 8],
                32,
                [50, 20, 1],
                [64, 0],
                [at(&[32, 15]), at(&[-32, 3]), at(&[16, 30])],
            ),
            (
                DType::F64,
                &[8, 3],
                64,
                [9, 5, 1],
                [80, 0],
                [at(&[2, 1]), at(&[4, 4]), at(&[-2, -2])],
            ),
            (DType::I16, &[256], 16, [999, 1, 1], [0, 0], [at(&[0]), at(&[992]), at(&[-8])]),
        ];
        for (element, sides, span, extents, strides, starts) in cases {
            let map = TensorMap { element, sides: sides.into(), span, made: false };
            assert!(map.is_legal(), "{map}");
            let mut tensor = Tensor { base, ..Tensor::default() };
            tensor.extents[..3].copy_from_slice(&extents);
            tensor.strides[..2].copy_from_slice(&strides);
            assert_eq!(Tensor::from_bytes(&tensor.to_bytes()), tensor);
            for coordinates in starts {
                let Ok(found) = runs(&map, &tensor, &coordinates, 0, false, &memory) else {
                    panic!("{map} at {coordinates:?} is refused");
                };
                let mut bytes = vec![None; map.bytes() as usize];
                for run in found {
                    for byte in 0..run.bytes as usize {
                        let global = run.global.map(|(_, at)| (at + byte) as u64);
                        assert_eq!(bytes[run.shared + byte].replace(global), None, "twice");
                    }
                }
                for (place, global) in elements(&map, &tensor, &coordinates) {
                    for byte in 0..element.bytes() {
                        let wanted = Some(global.map(|at| at + u64::from(byte)));
                        assert_eq!(
                            bytes[(place + byte) as usize],
                            wanted,
                            "{map} at {coordinates:?}"
                        );
                    }
                }
            }
        }
        assert_eq!(outside(DType::F16, true), [0x00, 0x7e]);
        assert_eq!(outside(DType::I32, true), [0; 4]);
    }
}
