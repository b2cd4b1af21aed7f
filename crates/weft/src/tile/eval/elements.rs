//! The elements of one value, what is known of each, and loops over them.

use std::rc::Rc;

/// Something of each element of a value, in row-major order: its raw bits, unless another type is named.
#[derive(Clone, Debug)]
pub(super) enum Elements<T = u64> {
    /// It is the same of every element. A single element is always held like this.
    Same(T),
    /// Two or more elements, one by one.
    Each(Rc<[T]>),
}

impl<T: Copy> Elements<T> {
    /// Elements one by one, or the only one.
    pub(super) fn each(elements: Rc<[T]>) -> Self {
        match *elements {
            [only] => Elements::Same(only),
            _ => Elements::Each(elements),
        }
    }

    /// `count` elements, each from its index.
    pub(super) fn from_fn(count: usize, element: impl FnMut(usize) -> T) -> Self {
        Self::each((0..count).map(element).collect())
    }

    /// Whether these can be the elements of a value that has `count` of them.
    pub(super) fn fits(&self, count: usize) -> bool {
        match self {
            Elements::Same(_) => true,
            Elements::Each(elements) => elements.len() == count,
        }
    }

    /// The bytes that they take beside the value that names them.
    fn bytes(&self) -> usize {
        match self {
            Elements::Same(_) => 0,
            Elements::Each(elements) => size_of_val(&**elements),
        }
    }

    /// The element at `index`, which must be one of a value that it [`fits`](Elements::fits).
    pub(super) fn get(&self, index: usize) -> T {
        match self {
            Elements::Same(bits) => *bits,
            Elements::Each(elements) => elements[index],
        }
    }

    /// The only element, if there is one for all.
    pub(super) fn only(&self) -> Option<T> {
        match self {
            Elements::Same(bits) => Some(*bits),
            Elements::Each(_) => None,
        }
    }

    /// The elements at `offset + Σ index[i] * strides[i]` for every index of `shape`, in row-major
    /// order. Every such place exists.
    pub(super) fn strided(&self, shape: &[u64], strides: &[usize]) -> Self {
        let Elements::Each(source) = self else { return self.clone() };
        let count = shape.iter().product::<u64>() as usize;
        let mut index = vec![0; shape.len()];
        let mut place = 0;
        Elements::from_fn(count, |_| {
            let element = source[place];
            // Count the index up like an odometer, and the place with it.
            for axis in (0..shape.len()).rev() {
                index[axis] += 1;
                place += strides[axis];
                if index[axis] < shape[axis] as usize {
                    break;
                }
                place -= index[axis] * strides[axis];
                index[axis] = 0;
            }
            element
        })
    }
}

impl Elements {
    /// `apply` of each element.
    pub(super) fn map(&self, apply: impl Fn(u64) -> u64) -> Self {
        match self {
            Elements::Same(bits) => Elements::Same(apply(*bits)),
            Elements::Each(elements) => {
                Elements::Each(elements.iter().map(|&bits| apply(bits)).collect())
            }
        }
    }

    /// `apply` of each pair of elements at one index; both have the same count, or one is the same
    /// everywhere.
    pub(super) fn zip(&self, other: &Elements, apply: impl Fn(u64, u64) -> u64) -> Self {
        match (self, other) {
            (x, Elements::Same(y)) => x.map(|x| apply(x, *y)),
            (Elements::Same(x), y) => y.map(|y| apply(*x, y)),
            (Elements::Each(x), Elements::Each(y)) => {
                Elements::each(x.iter().zip(&**y).map(|(&x, &y)| apply(x, y)).collect())
            }
        }
    }

    /// `apply` of the three elements at each of `count` indices.
    pub(super) fn zip3(
        count: usize,
        [x, y, z]: [&Elements; 3],
        apply: impl Fn(u64, u64, u64) -> u64,
    ) -> Self {
        match (x, y, z) {
            (Elements::Same(x), Elements::Same(y), Elements::Same(z)) => {
                Elements::Same(apply(*x, *y, *z))
            }
            _ => Elements::from_fn(count, |index| apply(x.get(index), y.get(index), z.get(index))),
        }
    }
}

/// Equal element by element, however they are held.
impl<T: PartialEq> PartialEq for Elements<T> {
    fn eq(&self, other: &Elements<T>) -> bool {
        match (self, other) {
            (Elements::Same(x), Elements::Same(y)) => x == y,
            (Elements::Each(x), Elements::Each(y)) => Rc::ptr_eq(x, y) || x == y,
            (Elements::Same(same), Elements::Each(each))
            | (Elements::Each(each), Elements::Same(same)) => each.iter().all(|bits| bits == same),
        }
    }
}

/// How far each element of a value may be from the evaluator's in a compiled program: see
/// [`bounds`](super::bounds). Nothing where its bits must be the same, infinitely far where it may be
/// anything.
pub(super) type Bounds = Elements<f64>;

impl Bounds {
    /// Bits must be the same.
    pub(super) const EXACT: Bounds = Elements::Same(0.0);

    /// Whether the bits of every element must be the same.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self, Elements::Same(0.0))
    }

    /// One by one, held as briefly as may be.
    pub(super) fn held(count: usize, bound: impl FnMut(usize) -> f64) -> Self {
        let bounds: Rc<[f64]> = (0..count).map(bound).collect();
        if bounds.iter().all(|&bound| bound == 0.0) {
            return Bounds::EXACT;
        }
        Elements::each(bounds)
    }
}

/// A value: its elements, and how far each may be off.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    /// The raw bits of each element.
    pub(super) bits: Elements,
    /// How far off they may be.
    pub(super) bounds: Bounds,
}

impl Bounded {
    /// A value that must be the same bit for bit.
    pub(super) fn exact(bits: Elements) -> Self {
        Self { bits, bounds: Bounds::EXACT }
    }

    /// Whether these can be the elements of a value that has `count` of them.
    pub(super) fn fits(&self, count: usize) -> bool {
        self.bits.fits(count) && self.bounds.fits(count)
    }

    /// The bytes that its elements take, those that it shares with other values among them.
    pub(super) fn bytes(&self) -> usize {
        self.bits.bytes() + self.bounds.bytes()
    }

    /// The bits of the element at `index`.
    pub(super) fn get(&self, index: usize) -> u64 {
        self.bits.get(index)
    }
}

/// Equal bit for bit: how far values may be off decides nothing that an instance does.
impl PartialEq for Bounded {
    fn eq(&self, other: &Bounded) -> bool {
        self.bits == other.bits
    }
}

/// How far apart in row-major order neighbours along each axis of `shape` are.
pub(super) fn strides(shape: &[u64]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as usize;
    }
    strides
}
