//! Random kernels: what is written, one action at a time.
//!
//! What can be used again is exact: the evaluator and the simulator apply the same scalar operations,
//! and where an order matters (sums of floats by reduction or atomics) no partial sum is rounded. The
//! bits of a NaN are not fixed, so floats are not cast to integers of the same bits.

use super::build::{Build, Sample, tensor};
use super::dice::Dice;
use weft::dtype::DType;
use weft::scalar::{self, Binary, Cast, Compare, Unary};
use weft::tile::{Element, OpKind, Precision, Type, Value};

/// The most elements of a tensor.
const MOST_ELEMENTS: u64 = 4096;

pub(super) fn sample(bytes: &[u8]) -> Sample {
    let mut b = Build::new(Dice::new(bytes));
    let most = b.dice.pick(&[64, 256, 512, 1024, 1024, MOST_ELEMENTS]);
    let pid = b.op(OpKind::ProgramId(0), &[], &Type::scalar(DType::I32));
    b.pool.push(pid);
    for _ in 0..=b.dice.below(3) {
        b.load_new(most);
    }
    let steps = 5 + b.dice.below(20);
    for _ in 0..steps {
        if b.ops() > 500 {
            break;
        }
        b.act(most);
    }
    let stores = 1 + b.dice.below(5);
    for index in 0..stores.min(b.pool.len()) {
        let value = if index < 2 { b.pool[b.pool.len() - 1 - index] } else { b.any() };
        b.store_somewhere(value);
    }
    b.finish()
}

impl Build<'_> {
    /// Any number that can be used here, rather a new one.
    pub(super) fn any(&mut self) -> Value {
        if self.dice.chance(1, 2)
            && let Some(tensor) = self.any_where(|ty| ty.elements() > 8)
        {
            return tensor;
        }
        let count = self.pool.len();
        let back = self.dice.below(count).min(self.dice.below(count));
        self.pool[count - 1 - back]
    }

    pub(super) fn any_where(&mut self, good: impl Fn(&Type) -> bool) -> Option<Value> {
        let fitting: Vec<Value> =
            self.pool.iter().copied().filter(|&value| good(&self.ty(value))).collect();
        (!fitting.is_empty()).then(|| {
            let back = self.dice.below(fitting.len()).min(self.dice.below(fitting.len()));
            fitting[fitting.len() - 1 - back]
        })
    }

    pub(super) fn any_tensor(&mut self) -> Option<Value> {
        self.any_where(Type::is_tensor)
    }

    pub(super) fn dtype(&mut self) -> DType {
        self.dice.pick(&[
            DType::I32,
            DType::I32,
            DType::F32,
            DType::F16,
            DType::I8,
            DType::I16,
            DType::I64,
            DType::BF16,
            DType::F64,
            DType::I1,
        ])
    }

    /// A type that can be moved and converted, if not computed with.
    pub(super) fn moved_dtype(&mut self) -> DType {
        if self.dice.chance(1, 10) { self.eight_bit_dtype() } else { self.dtype() }
    }

    fn eight_bit_dtype(&mut self) -> DType {
        self.dice.pick(&[DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ])
    }

    pub(super) fn shape(&mut self, most: u64) -> Vec<u64> {
        let rank = 1 + self.dice.below(3);
        let mut left = most;
        if rank > 1 && self.dice.chance(1, 2) {
            // All of it, so that many tensors have as many elements.
            let mut shape = Vec::new();
            for _ in 1..rank {
                let extent = 1 << self.dice.below(left.min(64).ilog2() as usize + 1);
                left /= extent;
                shape.push(extent);
            }
            let at = self.dice.below(rank);
            shape.insert(at, left);
            return shape;
        }
        let mut shape: Vec<u64> = (0..rank)
            .map(|_| {
                let extent = (1 << self.dice.below(7)).min(left);
                left /= extent;
                extent
            })
            .collect();
        if rank == 1 {
            shape[0] = (shape[0] << self.dice.below(4)).min(most);
        }
        shape
    }

    pub(super) fn act(&mut self, most: u64) {
        match self.dice.below(56) {
            0..12 => self.elementwise(),
            12..19 => self.reshaped(most),
            19..23 => self.load_new(most),
            23..27 => self.reduced(),
            27 => self.argmax(),
            28 => self.dot(most),
            29 | 30 => self.atomic(),
            31 | 32 => {
                let value = self.any();
                self.store_somewhere(value);
            }
            33 => self.scalar_and_back(most),
            34..36 if self.depth() < 3 => self.for_loop(most),
            36..38 if self.depth() < 3 => self.if_else(most),
            38 if self.depth() < 3 => self.while_loop(most),
            39 | 40 => self.joined(most),
            41 => self.split(),
            42 => self.eight_bits(),
            43 => self.sum(most),
            44 => self.variance(most),
            45 | 46 => self.approximate(),
            47 | 48 => self.written_and_read(most),
            49 | 50 => self.scanned(),
            51 => self.gathered(most),
            52 => self.counted(),
            53 | 54 if self.depth() < 3 => self.product_loop(most),
            _ => self.elementwise(),
        }
    }

    /// Some value of this very type.
    pub(super) fn of_type(&mut self, ty: &Type) -> Value {
        if self.dice.chance(3, 4)
            && let Some(value) = self.any_where(|other| other == ty)
        {
            return value;
        }
        let elements = ty.elements();
        if self.dice.chance(2, 3)
            && let Some(value) = self.any_where(|other| {
                other.is_tensor() == ty.is_tensor() && other.elements() == elements
            })
        {
            let value = if self.ty(value).shape == ty.shape {
                value
            } else {
                self.reshape(value, &ty.shape)
            };
            return self.cast_to(value, ty.dtype());
        }
        if ty.is_tensor()
            && self.dice.chance(1, 3)
            && let Some(scalar) = self.any_where(|other| !other.is_tensor())
        {
            let scalar = self.cast_to(scalar, ty.dtype());
            return self.splat(scalar, &ty.shape);
        }
        let bits = match ty.dtype() {
            dtype if dtype.is_float() => {
                scalar::from_f64(dtype, self.dice.below(64) as f64 / 4.0 - 8.0)
            }
            dtype if self.dice.chance(1, 2) => 1 << self.dice.below(dtype.bits() as usize),
            dtype => (self.dice.below(64) as u64).wrapping_sub(20) & dtype.mask(),
        };
        self.number(ty, bits)
    }

    pub(super) fn cast_to(&mut self, value: Value, to: DType) -> Value {
        let ty = self.ty(value);
        let from = ty.dtype();
        if from == to {
            return value;
        }
        // Integers become floats of eight bits by way of wider ones, and back.
        if (from.is_f8() && to.is_int()) || (to.is_f8() && from.is_int()) {
            let between = self.dice.pick(&[DType::F32, DType::F16]);
            let wide = self.cast_to(value, between);
            return self.cast_to(wide, to);
        }
        let fitting: Vec<Cast> = Cast::ALL
            .iter()
            .copied()
            .filter(|&cast| scalar::cast_applies(cast, from, to))
            .filter(|&cast| cast != Cast::Bits || from.is_int())
            .collect();
        let cast = self.dice.pick(&fitting);
        self.op(OpKind::Cast(cast), &[value], &ty.with_element(Element::Scalar(to)))
    }

    pub(super) fn truth(&mut self, shape: &[u64]) -> Value {
        let ty = if shape.is_empty() { Type::scalar(DType::I1) } else { tensor(DType::I1, shape) };
        if self.dice.chance(1, 3) {
            return self.of_type(&ty);
        }
        let dtype = self.dtype();
        let x = self.of_type(&ty.with_element(Element::Scalar(dtype)));
        let y = self.of_type(&ty.with_element(Element::Scalar(dtype)));
        self.compare(x, y)
    }

    pub(super) fn compare(&mut self, x: Value, y: Value) -> Value {
        let ty = self.ty(x);
        let dtype = ty.dtype();
        let fitting: Vec<Compare> = Compare::ALL
            .iter()
            .copied()
            .filter(|&op| scalar::compare(op, dtype).is_some())
            .collect();
        let op = self.dice.pick(&fitting);
        self.op(OpKind::Compare(op), &[x, y], &ty.with_element(Element::Scalar(DType::I1)))
    }

    pub(super) fn elementwise(&mut self) {
        let x = self.any();
        let ty = self.ty(x);
        let dtype = ty.dtype();
        let result = match self.dice.below(12) {
            0..6 | 8 if dtype.is_f8() => {
                let to = self.moved_dtype();
                self.cast_to(x, to)
            }
            0..5 => {
                let fitting: Vec<Binary> = Binary::ALL
                    .iter()
                    .copied()
                    .filter(|&op| scalar::binary(op, dtype).is_some())
                    .filter(|&op| {
                        dtype.bits() >= 32 || !matches!(op, Binary::MulHiU | Binary::MulHiS)
                    })
                    .filter(|&op| op != Binary::Pow && (op != Binary::Rem || dtype != DType::F64))
                    .collect();
                let op = self.dice.pick(&fitting);
                let mut y = self.of_type(&ty);
                if matches!(op, Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU) {
                    y = if self.dice.chance(1, 2) {
                        let power = 1 << self.dice.below(dtype.bits() as usize);
                        self.number(&ty, power)
                    } else {
                        let one = self.constant(&ty, 1);
                        self.binary(Binary::Or, y, one)
                    };
                }
                let divides =
                    matches!(op, Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU);
                if divides || self.dice.chance(1, 2) {
                    self.binary(op, x, y)
                } else {
                    self.binary(op, y, x)
                }
            }
            5 => {
                let fitting: Vec<Unary> = Unary::ALL
                    .iter()
                    .copied()
                    .filter(|&op| scalar::unary(op, dtype).is_some() && !is_composed(op, dtype))
                    .collect();
                let op = self.dice.pick(&fitting);
                self.op(OpKind::Unary(op), &[x], &ty)
            }
            6 | 7 => {
                let to = self.moved_dtype();
                self.cast_to(x, to)
            }
            8 => {
                let y = self.of_type(&ty);
                self.compare(x, y)
            }
            9 | 10 => {
                let whole = self.dice.chance(1, 4);
                let condition = self.truth(if whole { &[] } else { &ty.shape });
                let y = self.of_type(&ty);
                self.op(OpKind::Select, &[condition, x, y], &ty)
            }
            _ if dtype.is_f8() => self.cast_to(x, DType::F32),
            _ if dtype.is_float() => {
                let (y, z) = (self.of_type(&ty), self.of_type(&ty));
                self.op(OpKind::Fma, &[x, y, z], &ty)
            }
            _ => {
                let y = self.of_type(&ty);
                self.binary(Binary::Add, x, y)
            }
        };
        self.pool.push(result);
    }

    pub(super) fn reshaped(&mut self, most: u64) {
        let Some(value) = self.any_tensor() else { return };
        let moved = self.moved(value, most);
        self.pool.push(moved);
    }

    /// A chain of shape operations.
    pub(super) fn moved(&mut self, mut value: Value, most: u64) -> Value {
        for _ in 0..=self.dice.below(3) {
            let ty = self.ty(value);
            let rank = ty.shape.len();
            value = match self.dice.below(4) {
                0 => {
                    let order = self.dice.order(rank);
                    let shape: Vec<u64> = order.iter().map(|&axis| ty.shape[axis]).collect();
                    let order = order.iter().map(|&axis| axis as u8).collect();
                    let result = Type::tensor(ty.element, &shape);
                    self.op(OpKind::Trans { order }, &[value], &result)
                }
                1 => {
                    let mut left = ty.elements().trailing_zeros() as usize;
                    let mut shape = Vec::new();
                    for _ in 0..self.dice.below(3) {
                        let bits = self.dice.below(left + 1);
                        left -= bits;
                        shape.push(1 << bits);
                    }
                    shape.push(1 << left);
                    self.reshape(value, &shape)
                }
                2 if rank < 4 => {
                    let axis = self.dice.below(rank + 1) as u8;
                    self.expand(value, axis)
                }
                _ => {
                    let mut shape = ty.shape.to_vec();
                    for axis in 0..rank {
                        let room = most.max(64) / shape.iter().product::<u64>().max(1);
                        if shape[axis] == 1 && room > 1 {
                            let bits = room.ilog2().min(5) as usize;
                            shape[axis] = 1 << self.dice.below(bits + 1);
                        }
                    }
                    self.broadcast(value, &shape)
                }
            };
        }
        value
    }

    pub(super) fn reduced(&mut self) {
        let computed = |ty: &Type| ty.is_tensor() && !ty.dtype().is_f8();
        let Some(value) = self.any_where(computed) else { return };
        let ty = self.ty(value);
        let axis = self.dice.below(ty.shape.len());
        let mut operands = vec![value];
        for _ in 0..self.dice.below(8).saturating_sub(5) {
            let dtype = self.dtype();
            operands.push(self.of_type(&tensor(dtype, &ty.shape)));
        }
        let around = self.any_where(|ty| *ty == Type::scalar(DType::I32));
        let results = self.reduce(axis, &operands, |b, params| {
            let (left, right) = params.split_at(params.len() / 2);
            left.iter().zip(right).map(|(&x, &y)| b.folded(x, y, around)).collect()
        });
        self.pool.extend(results);
    }

    /// An associative and commutative combination of two scalars.
    pub(super) fn folded(&mut self, x: Value, y: Value, around: Option<Value>) -> Value {
        let dtype = self.ty(x).dtype();
        if dtype.is_float() {
            let op =
                self.dice.pick(&[Binary::MaxNum, Binary::MinNum, Binary::Maximum, Binary::Minimum]);
            return self.binary(op, x, y);
        }
        let op = self.dice.pick(&[
            Binary::Add,
            Binary::Add,
            Binary::Mul,
            Binary::And,
            Binary::Or,
            Binary::Xor,
            Binary::MinS,
            Binary::MaxS,
            Binary::MinU,
            Binary::MaxU,
        ]);
        let result = self.binary(op, x, y);
        match around {
            // Another group operation: the neutral element is moved by a scalar from around.
            Some(around) if matches!(op, Binary::Add | Binary::Xor) && self.dice.chance(1, 4) => {
                let around = self.cast_to(around, dtype);
                self.binary(op, result, around)
            }
            _ if dtype == DType::I1 && self.dice.chance(1, 2) => {
                // A conjunction as a choice.
                self.op(OpKind::Select, &[x, y, x], &Type::scalar(dtype))
            }
            _ => result,
        }
    }

    /// The largest element and the smallest of its indices.
    pub(super) fn argmax(&mut self) {
        let int = |ty: &Type| ty.is_tensor() && ty.dtype().is_int() && ty.dtype() != DType::I1;
        let Some(value) = self.any_where(int) else { return };
        let ty = self.ty(value);
        let axis = self.dice.below(ty.shape.len());
        let mut index = self.range(0, ty.shape[axis]);
        for before in 0..axis {
            index = self.expand(index, before as u8);
        }
        for after in axis + 1..ty.shape.len() {
            index = self.expand(index, after as u8);
        }
        let index = self.broadcast(index, &ty.shape);
        let results = self.reduce(axis, &[value, index], |b, params| {
            let &[value, index, other, at] = params else { unreachable!() };
            let truth = Type::scalar(DType::I1);
            let greater = b.op(OpKind::Compare(Compare::Sgt), &[value, other], &truth);
            let equal = b.op(OpKind::Compare(Compare::Eq), &[value, other], &truth);
            let before = b.op(OpKind::Compare(Compare::Slt), &[index, at], &truth);
            let tie = b.binary(Binary::And, equal, before);
            let keep = b.binary(Binary::Or, greater, tie);
            let (value_type, index_type) = (b.ty(value), b.ty(index));
            vec![
                b.op(OpKind::Select, &[keep, value, other], &value_type),
                b.op(OpKind::Select, &[keep, index, at], &index_type),
            ]
        });
        self.pool.extend(results);
    }

    pub(super) fn dot(&mut self, most: u64) {
        let most = most.min(1024);
        let side = |b: &mut Self| 1 << b.dice.below(6);
        let (m, n, k): (u64, u64, u64) = (side(self), side(self), side(self));
        if m * n > most || m * k > most || k * n > most || m * n * k > 1 << 13 {
            return;
        }
        let (from, to) = self.dice.pick(&[
            (DType::F16, DType::F32),
            (DType::F16, DType::F16),
            (DType::BF16, DType::F32),
            (DType::F32, DType::F32),
            (DType::F64, DType::F64),
            (DType::F8E4M3FN, DType::F32),
            (DType::F8E5M2, DType::F16),
            (DType::I8, DType::I32),
            (DType::I16, DType::I32),
            (DType::I32, DType::I32),
            (DType::I64, DType::I64),
        ]);
        let batch: &[u64] = if self.dice.chance(1, 4) { &[2] } else { &[] };
        let shape = |sides: [u64; 2]| [batch, &sides[..]].concat();
        let a = self.whole(&tensor(from, &shape([m, k])), 7);
        let b = self.whole(&tensor(from, &shape([k, n])), 7);
        let c = self.whole(&tensor(to, &shape([m, n])), 255);
        let (_, precision) = self.dice.pick(&Precision::TABLE);
        let result = self.op(OpKind::Dot(precision), &[a, b, c], &tensor(to, &shape([m, n])));
        self.pool.push(result);
    }

    /// Numbers of a type: any integers, floats that are whole numbers up to `most` (all ones), so that
    /// sums of their products are exact in any order.
    fn whole(&mut self, ty: &Type, most: u64) -> Value {
        if ty.dtype().is_int() {
            return self.of_type(ty);
        }
        let words = tensor(DType::I32, &ty.shape);
        let any = self.of_type(&words);
        let mask = self.constant(&words, most);
        let small = self.binary(Binary::And, any, mask);
        let floats = tensor(DType::F32, &ty.shape);
        let whole = self.op(OpKind::Cast(Cast::FloatFromS), &[small], &floats);
        match ty.dtype() {
            DType::F32 => whole,
            _ => self.op(OpKind::Cast(Cast::Float), &[whole], ty),
        }
    }

    /// Two tensors side by side.
    pub(super) fn joined(&mut self, most: u64) {
        let small = |ty: &Type| ty.is_tensor() && 2 * ty.elements() <= most && ty.shape.len() < 5;
        let Some(x) = self.any_where(small) else { return };
        let ty = self.ty(x);
        let y = self.of_type(&ty);
        let mut shape = ty.shape.to_vec();
        shape.push(2);
        let joined = self.op(OpKind::Join, &[x, y], &Type::tensor(ty.element, &shape));
        self.pool.push(joined);
    }

    /// The halves of a tensor whose last dimension has size two, perhaps after a reshape.
    pub(super) fn split(&mut self) {
        let even = |ty: &Type| ty.is_tensor() && ty.elements() >= 4;
        let Some(mut value) = self.any_where(even) else { return };
        let ty = self.ty(value);
        if ty.shape.len() < 2 || ty.shape.last() != Some(&2) {
            value = self.reshape(value, &[ty.elements() / 2, 2]);
        }
        let mut half = self.ty(value);
        half.shape.pop();
        let halves = self.owner(OpKind::Split, &[value], &[half.clone(), half], Vec::new());
        self.pool.extend(halves);
    }

    /// Through floats of eight bits and back.
    pub(super) fn eight_bits(&mut self) {
        let Some(value) = self.any_where(|ty| ty.dtype().is_float()) else { return };
        let ty = self.ty(value);
        let narrow = self.eight_bit_dtype();
        let narrowed = self.cast_to(value, narrow);
        let wide = self.dice.pick(&[DType::F32, DType::F16, DType::BF16, DType::F64]);
        let widened = ty.with_element(Element::Scalar(wide));
        let result = self.op(OpKind::Cast(Cast::Float), &[narrowed], &widened);
        self.pool.push(result);
    }

    /// Tensors of one element to scalars, scalars to tensors.
    pub(super) fn scalar_and_back(&mut self, most: u64) {
        if let Some(single) = self.any_where(|ty| ty.is_tensor() && ty.elements() == 1)
            && self.dice.chance(1, 2)
        {
            let ty = Type::scalar(self.ty(single).dtype());
            let value = self.op(OpKind::Unsplat, &[single], &ty);
            self.pool.push(value);
        } else if let Some(scalar) = self.any_where(|ty| !ty.is_tensor()) {
            let shape = self.shape(most);
            let value = self.splat(scalar, &shape);
            self.pool.push(value);
        }
    }
}

/// Whether a function is compiled to an algorithm, whose last place may differ, or to an instruction that takes
/// subnormal results for zeros, as `2^x` is.
pub(super) fn is_composed(op: Unary, dtype: DType) -> bool {
    use Unary::{Cos, Erf, Exp, Exp2, Expm1, Log, Log1p, Log2, Sin, Tanh};
    match op {
        Sin | Cos | Tanh | Erf | Expm1 | Log1p | Exp2 | Log | Log2 => true,
        Exp => dtype == DType::F64,
        _ => false,
    }
}
