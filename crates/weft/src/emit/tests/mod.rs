//! What the printers' tests share.

pub(super) mod programs;
