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
    /// `wb`: written back.
    WriteBack,
    /// `wt`: written through.
    WriteThrough,
}

/// What to do with a cache line afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Eviction {
    /// As the machine likes.
    #[default]
    Normal,
    /// Drop it early.
    First,
    /// Keep it.
    Last,
}

/// Cache behaviour of an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Cache {
    /// Which levels.
    pub modifier: CacheModifier,
    /// What to drop first.
    pub eviction: Eviction,
}
