//! Tests of the whole compiler on recorded and on random kernels.

#![allow(clippy::unwrap_used, reason = "a test may end where it is surprised")]

mod accuracy;
mod anew;
mod assembly;
mod atomics;
mod barriers;
mod behind;
mod checked;
mod corpus;
mod crowded;
mod deep;
mod external;
mod facts;
mod flat;
mod fusion;
mod grids;
mod guards;
mod homes;
mod inputs;
mod maps;
mod masks;
mod mutated;
mod natural;
mod offsets;
mod order;
mod packed;
mod paged;
mod pinned;
mod pipelines;
mod preshuffle;
mod products;
mod random;
mod regressions;
mod relieved;
mod reports;
mod rows;
mod scaled;
mod sends;
mod spoilt;
mod stops;
mod timeline;
mod truths;
mod warpgroups;
