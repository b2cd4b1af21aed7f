use alloc::vec::Vec;
use core::{fmt, slice};

use super::CuteError;

/// How deeply tuples may be nested.
pub(super) const MAX_DEPTH: u32 = 32;

/// The most leaves and tuples that a tree may have.
pub(super) const MAX_NODES: usize = 256;

/// A nested tuple, as CuTe's shapes and strides are: a leaf, or a tuple of trees.
///
/// At most 32 levels deep and of at most 256 leaves and tuples.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tree<T> {
    node: Node<T>,
    /// Invariant: the levels of tuples, at most [`MAX_DEPTH`].
    depth: u32,
    /// Invariant: leaves and tuples, at most [`MAX_NODES`].
    nodes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node<T> {
    Leaf(T),
    Tuple(Vec<Tree<T>>),
}

impl<T> Tree<T> {
    /// A tree that is one leaf: not the same as a tuple of one leaf.
    pub fn leaf(value: T) -> Tree<T> {
        Tree { node: Node::Leaf(value), depth: 0, nodes: 1 }
    }

    /// The tuple of these trees; `()` when there are none.
    ///
    /// Fails when it is nested too deeply or has too many parts.
    pub fn tuple(children: Vec<Tree<T>>) -> Result<Tree<T>, CuteError> {
        let depth = 1 + children.iter().map(|child| child.depth).max().unwrap_or(0);
        // Each child has at most 256 nodes, so that this does not overflow.
        let nodes = 1 + children.iter().map(|child| child.nodes).sum::<usize>();
        if depth > MAX_DEPTH {
            return Err(CuteError::TooDeep);
        }
        if nodes > MAX_NODES {
            return Err(CuteError::TooManyModes);
        }
        Ok(Tree { node: Node::Tuple(children), depth, nodes })
    }

    /// The value of a leaf.
    pub fn value(&self) -> Option<&T> {
        match &self.node {
            Node::Leaf(value) => Some(value),
            Node::Tuple(_) => None,
        }
    }

    /// The parts of a tuple.
    pub fn children(&self) -> Option<&[Tree<T>]> {
        match &self.node {
            Node::Leaf(_) => None,
            Node::Tuple(children) => Some(children),
        }
    }

    /// The top-level modes: the parts of a tuple, or the one leaf.
    pub fn modes(&self) -> &[Tree<T>] {
        self.children().unwrap_or(slice::from_ref(self))
    }

    /// Folds the leaves, first to last.
    pub fn fold<A>(&self, start: A, step: &mut impl FnMut(A, &T) -> A) -> A {
        match &self.node {
            Node::Leaf(value) => step(start, value),
            Node::Tuple(children) => children.iter().fold(start, |sum, tree| tree.fold(sum, step)),
        }
    }

    /// The tree as CuTe writes it: `(2,(4,8))`, each leaf by `leaf`.
    pub(super) fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        leaf: &impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
    ) -> fmt::Result {
        let children = match &self.node {
            Node::Leaf(value) => return leaf(f, value),
            Node::Tuple(children) => children,
        };
        f.write_str("(")?;
        for (index, child) in children.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "," })?;
            child.write(f, leaf)?;
        }
        f.write_str(")")
    }
}
