//! What the printers' tests share.

pub(super) mod products;
pub(super) mod programs;
