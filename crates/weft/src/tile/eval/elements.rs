//! The elements of one value, and loops over them.

use std::rc::Rc;

/// The elements of a value: raw bits in row-major order.
#[derive(Clone, Debug)]
pub(super) enum Elements {
    /// Every element has these bits. A single element is always held like this.
    Same(u64),
    /// Two or more elements, one by one.
    Each(Rc<[u64]>),
}

impl Elements {
    /// Elements one by one, or the only one.
    pub(super) fn each(elements: Rc<[u64]>) -> Self {
        match *elements {
            [only] => Elements::Same(only),
            _ => Elements::Each(elements),
        }
    }

    /// `count` elements, each from its index.
    pub(super) fn from_fn(count: usize, element: impl FnMut(usize) -> u64) -> Self {
        Self::each((0..count).map(element).collect())
    }

    /// Whether these can be the elements of a value that has `count` of them.
    pub(super) fn fits(&self, count: usize) -> bool {
        match self {
            Elements::Same(_) => true,
            Elements::Each(elements) => elements.len() == count,
        }
    }

    /// The element at `index`, which must be one of a value that it [`fits`](Elements::fits).
    pub(super) fn get(&self, index: usize) -> u64 {
        match self {
            Elements::Same(bits) => *bits,
            Elements::Each(elements) => elements[index],
        }
    }

    /// The only element, if there is one for all.
    pub(super) fn only(&self) -> Option<u64> {
        match self {
            Elements::Same(bits) => Some(*bits),
            Elements::Each(_) => None,
        }
    }

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

/// Equal element by element, however they are held.
impl PartialEq for Elements {
    fn eq(&self, other: &Elements) -> bool {
        match (self, other) {
            (Elements::Same(x), Elements::Same(y)) => x == y,
            (Elements::Each(x), Elements::Each(y)) => Rc::ptr_eq(x, y) || x == y,
            (Elements::Same(same), Elements::Each(each))
            | (Elements::Each(each), Elements::Same(same)) => each.iter().all(|bits| bits == same),
        }
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
