//! How a memory access treats the caches.

/// How a load or store treats the caches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum CacheModifier {
    /// As the machine likes.
    #[default]
    None,
    /// `ca`: at all levels.
    All,
    /// `cg`: at the global level.
    Global,
    /// `cs`: likely touched once.
    Streaming,
    /// `cv`: not cached, fetched again.
    Volatile,
    /// `wb`: a store is written back, as stores without a modifier are.
    WriteBack,
    /// `wt`: a store is written through the caches to memory.
    WriteThrough,
}

/// What to do with a cache line afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Eviction {
    /// As the machine likes.
    #[default]
    Normal,
    /// The line is the first to make room for others.
    First,
    /// The line is the last to make room for others.
    Last,
}

/// Cache behaviour of an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Cache {
    /// At which levels the line is kept.
    pub modifier: CacheModifier,
    /// What to drop first.
    pub eviction: Eviction,
}
