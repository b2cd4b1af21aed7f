//! The budget of the request that is being answered.
//!
//! A shell answers a request [`within`] a budget, and keeps the [`Stop`] to end it from another thread.
//! What is called meanwhile on this thread asks for the [`current`] one and hands it down: the crates
//! below know of no thread and no clock.
//!
//! ```
//! use weft_api::budget::{self, Budget};
//!
//! let budget = Budget::default();
//! budget.stop.set();
//! let request = r#"{"request": "compile", "ttir": "module { tt.func public @k() { tt.return } }"}"#;
//! let answer = budget::within(&budget, || weft_api::invoke(request));
//! assert_eq!(answer, r#"{"error":{"kind":"stopped","message":"the request was stopped"}}"#);
//! assert!(weft_api::invoke(request).contains("k"));
//! ```

use crate::error::ApiError;
use serde::Deserialize;
use serde_json::Value;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;
pub use weft::budget::{Budget, Limits, Stop};

/// What is done now on a thread.
#[derive(Clone, Default)]
struct Current {
    budget: Budget,
    /// Whether it was stopped because its time was over.
    is_late: Arc<AtomicBool>,
}

thread_local! {
    static CURRENT: RefCell<Current> = RefCell::default();
}

/// Does something within a budget; calls may be nested, and the innermost budget counts.
///
/// A limit of milliseconds is kept by a thread that sleeps until then, and not at all where there are no
/// threads: a page ends its worker.
pub fn within<T>(budget: &Budget, work: impl FnOnce() -> T) -> T {
    /// Puts back what was there, whether the work ends or panics.
    struct Outer(Option<Current>);
    impl Drop for Outer {
        fn drop(&mut self) {
            if let Some(outer) = self.0.take() {
                CURRENT.set(outer);
            }
        }
    }
    let mut current = Current { budget: budget.clone(), is_late: Arc::default() };
    let is_timed = budget.limits.milliseconds < u64::MAX;
    let _watch = is_timed.then(|| {
        current.budget.stop = budget.stop.inner();
        watch(&current)
    });
    let _outer = Outer(Some(CURRENT.replace(current)));
    work()
}

/// Stops something when its time is over, unless what is given back is dropped before.
fn watch(current: &Current) -> Option<Sender<()>> {
    let Current { budget: Budget { limits, stop }, is_late } = current.clone();
    let (done, over) = channel();
    let sleep = move || {
        let time = Duration::from_millis(limits.milliseconds);
        if over.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            is_late.store(true, Ordering::Relaxed);
            stop.set();
        }
    };
    thread::Builder::new().spawn(sleep).ok().map(|_| done)
}

/// The budget of what is done now on this thread.
pub fn current() -> Budget {
    CURRENT.with_borrow(|current| current.budget.clone())
}

/// An error where what is done now shall end.
pub(crate) fn check() -> Result<(), ApiError> {
    let is_stopped = CURRENT.with_borrow(|current| current.budget.stop.is_set());
    if is_stopped { Err(ApiError::Stopped) } else { Ok(()) }
}

/// Why something ended, asked before [`within`] is left: what was stopped because its time was over is told
/// so.
pub fn reason(error: ApiError) -> ApiError {
    CURRENT.with_borrow(|Current { budget, is_late }| match error {
        ApiError::Stopped if is_late.load(Ordering::Relaxed) => {
            ApiError::Late { milliseconds: budget.limits.milliseconds }
        }
        error => error,
    })
}

/// The names of the limits, as requests and the command spell them.
pub const NAMES: [&str; 5] =
    ["elements", "operations", "text_bytes", "instructions", "milliseconds"];

/// Sets one limit by its name; false where there is none of that name.
pub fn set(limits: &mut Limits, name: &str, most: u64) -> bool {
    let limit = match name {
        "elements" => &mut limits.elements,
        "operations" => &mut limits.operations,
        "text_bytes" => &mut limits.text_bytes,
        "instructions" => &mut limits.instructions,
        "milliseconds" => &mut limits.milliseconds,
        _ => return false,
    };
    *limit = most;
    true
}

/// The current budget with the limits that a request gives, as an object of names and numbers.
pub(crate) fn read(given: &Value) -> Result<Budget, ApiError> {
    let refused = |reason: String| ApiError::Argument {
        reason,
        hint: format!("`limits` is an object with numbers for any of {}", NAMES.join(", ")),
    };
    let given = std::collections::BTreeMap::<String, u64>::deserialize(given)
        .map_err(|error| refused(format!("`limits`: {error}")))?;
    let mut budget = current();
    for (name, most) in given {
        if !set(&mut budget.limits, &name, most) {
            return Err(refused(format!("there is no limit `{name}`")));
        }
    }
    Ok(budget)
}
