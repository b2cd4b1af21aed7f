//! The accesses of a swizzle as a request gives them.

use crate::bases::LayoutSource;
use crate::error::ApiError;
use crate::reading::{in_waves_of, read_linear};
use crate::request::SwizzleRequest;
use weft_layout::Machine;
use weft_layout::access::Kind;
use weft_layout::plan::swizzle::Access;

/// Who writes and reads the buffer.
pub(super) struct Accesses {
    /// The threads' part, with the name of each in the answer.
    pub(super) threads: Vec<(String, Access)>,
    /// Whether the tensor memory accelerator does too.
    pub(super) tma: bool,
}

/// The largest weight: with larger ones the sums that are compared would not be exact.
const MAX_WEIGHT: u64 = 1 << 32;

impl Accesses {
    pub(super) fn read(request: &SwizzleRequest) -> Result<Accesses, ApiError> {
        let SwizzleRequest { store, loads, shape, weights, .. } = request;
        if loads.is_empty() {
            return Err(ApiError::NoLoads);
        }
        let mut threads = Vec::new();
        if !is_tma(store) {
            let layout = read_linear("store", store, shape)?;
            threads.push(("store".into(), Access::new(Kind::Store, layout)));
        }
        for (number, load) in (1..).zip(loads).filter(|(_, load)| !is_tma(load)) {
            let name = if loads.len() > 1 { format!("load {number}") } else { "load".into() };
            threads.push((name, Access::new(Kind::Load, read_linear("loads", load, shape)?)));
        }
        if request.matrix_moves == Some(false) {
            let plain = |(name, access): (String, Access)| (name, access.plain());
            threads = threads.into_iter().map(plain).collect();
        }
        let tma = threads.len() <= loads.len();
        if threads.is_empty() {
            let reason = "nothing is left for the threads to store or load".into();
            return Err(ApiError::Tma { reason });
        }
        if !weights.is_empty() {
            if weights.len() != threads.len() {
                let (given, accesses) = (weights.len(), threads.len());
                return Err(ApiError::Weights { given, accesses });
            }
            if let Some(&weight) = weights.iter().find(|&&weight| weight > MAX_WEIGHT) {
                return Err(ApiError::Weight { weight, most: MAX_WEIGHT });
            }
            for ((_, access), &weight) in threads.iter_mut().zip(weights) {
                access.weight = weight;
            }
        }
        Ok(Accesses { threads, tma })
    }

    pub(super) fn list(&self) -> Vec<Access> {
        self.threads.iter().map(|(_, access)| access.clone()).collect()
    }

    /// The same threads in waves of a machine.
    pub(super) fn in_waves_of(&self, machine: &Machine) -> Result<Vec<Access>, ApiError> {
        let each = self.threads.iter().map(|(_, access)| {
            let parameter = if access.kind == Kind::Store { "store" } else { "loads" };
            let layout = in_waves_of(parameter, &access.layout, machine)?;
            Ok(Access { layout, ..access.clone() })
        });
        each.collect()
    }
}

fn is_tma(source: &LayoutSource) -> bool {
    matches!(source, LayoutSource::Text(text) if text.trim() == "tma")
}
