//! The matrix product.

use super::elements::Elements;
use crate::dtype::DType;
use crate::scalar::{self, Cast};
use crate::tile::Type;

/// `c + a · b`: for each place `(m, n)`, `acc = c`, then `acc = fma(a[m, k], b[k, n], acc)` for `k`
/// upward, in the type of `c`. Dimensions before the last two count matrices.
pub(super) fn dot(
    [a, b, c]: [&Elements; 3],
    [a_type, b_type, c_type]: [&Type; 3],
) -> Result<Elements, String> {
    let mismatch = || format!("{a_type} times {b_type} is no {c_type}");
    let ([a_outer @ .., m, k], [b_outer @ .., b_k, n], [c_outer @ .., c_m, c_n]) =
        (&a_type.shape[..], &b_type.shape[..], &c_type.shape[..])
    else {
        return Err(mismatch());
    };
    if (a_outer, b_outer, m, n, k) != (c_outer, c_outer, c_m, c_n, b_k) {
        return Err(mismatch());
    }
    let dtype = c_type.dtype();
    let (m, n, k) = (*m as usize, *n as usize, *k as usize);
    let a = converted(a, a_type, dtype).ok_or_else(mismatch)?;
    let b = converted(b, b_type, dtype).ok_or_else(mismatch)?;
    let fma = scalar::fma(dtype);
    // The matrix of b in question, transposed, so that both factors run along k.
    let mut columns = vec![0; k * n];
    let mut transposed = usize::MAX;
    Ok(Elements::from_fn(c_type.elements() as usize, |place| {
        let (row, column) = (place / n, place % n);
        let matrix = row / m;
        if matrix != transposed {
            transposed = matrix;
            for (index, element) in columns.iter_mut().enumerate() {
                *element = b[matrix * k * n + (index % k) * n + index / k];
            }
        }
        let (a_row, b_column) = (&a[row * k..][..k], &columns[column * k..][..k]);
        a_row.iter().zip(b_column).fold(c.get(place), |acc, (&a, &b)| fma(a, b, acc))
    }))
}

/// Every element in the type of the sum, or none where that type does not hold them exactly.
fn converted(elements: &Elements, from: &Type, to: DType) -> Option<Vec<u64>> {
    let (count, from) = (from.elements() as usize, from.dtype());
    let op = match (from, to) {
        _ if from == to => Cast::Bits,
        _ if scalar::cast_applies(Cast::ExtS, from, to) => Cast::ExtS,
        (DType::F16 | DType::BF16, DType::F32) | (_, DType::F64) if from.is_float() => Cast::Float,
        (_, DType::F16 | DType::BF16 | DType::F32) if from.is_f8() => Cast::Float,
        _ => return None,
    };
    Some((0..count).map(|index| scalar::cast(op, from, to, elements.get(index))).collect())
}
