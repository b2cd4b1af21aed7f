//! Dense typed ids and the tables they index.
//!
//! An id's `Display` is its spelling in the texts, so that a value printed in one dump can be looked
//! up in another. The owner of a table allocates ids with [`IdVec::push`]; everybody else keeps facts
//! of their own in an [`IdMap`], where an absent entry means the default.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

/// An index into one table.
pub trait Id: Copy + Eq + Ord + fmt::Display {
    /// The id of entry `index`.
    fn new(index: usize) -> Self;
    /// The index of the entry.
    fn index(self) -> usize;
}

/// Defines a 32-bit id type whose `Display` is `prefix` followed by the index.
macro_rules! define_id {
    ($(#[$meta:meta])* $name:ident, $prefix:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $crate::id::Id for $name {
            fn new(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize, "id tables hold fewer than 2^32 entries");
                Self(index as u32)
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{self}")
            }
        }
    };
}
pub(crate) use define_id;

/// The table that owns entries of type `V` and hands out their ids.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdVec<K, V> {
    entries: Vec<V>,
    key: PhantomData<K>,
}

impl<K: Id, V> IdVec<K, V> {
    /// A table without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entry and returns its id.
    pub fn push(&mut self, entry: V) -> K {
        let id = K::new(self.entries.len());
        self.entries.push(entry);
        id
    }

    /// Makes room for so many entries more.
    pub fn reserve(&mut self, more: usize) {
        self.entries.reserve(more);
    }

    /// Takes away the entries from the one of this number on.
    pub fn split_off(&mut self, first: usize) -> Vec<V> {
        self.entries.split_off(first.min(self.entries.len()))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the table has no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry of `id`, if the table has it.
    pub fn get(&self, id: K) -> Option<&V> {
        self.entries.get(id.index())
    }

    /// All ids, in order of creation.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + use<K, V> {
        (0..self.entries.len()).map(K::new)
    }

    /// All entries with their ids, in order of creation.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> {
        self.entries.iter().enumerate().map(|(index, entry)| (K::new(index), entry))
    }

    /// All entries, in order of creation.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.entries.iter()
    }
}

impl<K, V> Default for IdVec<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new(), key: PhantomData }
    }
}

impl<K: Id, V> Index<K> for IdVec<K, V> {
    type Output = V;
    fn index(&self, id: K) -> &V {
        &self.entries[id.index()]
    }
}

impl<K: Id, V> IndexMut<K> for IdVec<K, V> {
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.entries[id.index()]
    }
}

/// A side table: a fact about each entry of somebody else's table, the default where none was set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdMap<K, V> {
    entries: Vec<V>,
    default: V,
    key: PhantomData<K>,
}

impl<K: Id, V: Clone> IdMap<K, V> {
    /// A side table in which every id has `default`.
    pub fn with_default(default: V) -> Self {
        Self { entries: Vec::new(), default, key: PhantomData }
    }

    /// Sets the fact of `id`.
    pub fn set(&mut self, id: K, fact: V) {
        *self.entry(id) = fact;
    }

    /// The fact of `id`, to be changed in place.
    pub fn entry(&mut self, id: K) -> &mut V {
        if self.entries.len() <= id.index() {
            self.entries.resize(id.index() + 1, self.default.clone());
        }
        &mut self.entries[id.index()]
    }

    /// Forgets every fact, so that each entry has the default again.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

impl<K: Id, V: Clone + Default> Default for IdMap<K, V> {
    fn default() -> Self {
        Self::with_default(V::default())
    }
}

impl<K: Id, V> Index<K> for IdMap<K, V> {
    type Output = V;
    fn index(&self, id: K) -> &V {
        self.entries.get(id.index()).unwrap_or(&self.default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    define_id! {
        #[allow(unreachable_pub, reason = "the macro makes public ids")]
        Thing, "thing"
    }

    #[test]
    fn ids_spell_themselves_and_side_tables_have_defaults() {
        let mut things: IdVec<Thing, &str> = IdVec::new();
        let a = things.push("a");
        let b = things.push("b");
        assert_eq!((a.to_string(), things[b]), ("thing0".into(), "b"));
        let mut weight: IdMap<Thing, u32> = IdMap::default();
        weight.set(b, 7);
        assert_eq!((weight[a], weight[b]), (0, 7));
        assert_eq!(things.keys().rev().collect::<Vec<_>>(), [b, a]);
    }
}
