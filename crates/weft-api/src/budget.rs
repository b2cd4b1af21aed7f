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
pub use weft::budget::{Budget, Limits, Stop};

thread_local! {
    static CURRENT: RefCell<Budget> = RefCell::default();
}

/// Does something within a budget; calls may be nested, and the innermost budget counts.
pub fn within<T>(budget: &Budget, work: impl FnOnce() -> T) -> T {
    /// Puts the budget back that was there, whether the work ends or panics.
    struct Outer(Option<Budget>);
    impl Drop for Outer {
        fn drop(&mut self) {
            if let Some(outer) = self.0.take() {
                CURRENT.set(outer);
            }
        }
    }
    let _outer = Outer(Some(CURRENT.replace(budget.clone())));
    work()
}

/// The budget of what is done now on this thread.
pub fn current() -> Budget {
    CURRENT.with_borrow(Clone::clone)
}

/// An error where what is done now shall end.
pub(crate) fn check() -> Result<(), ApiError> {
    let is_stopped = CURRENT.with_borrow(|budget| budget.stop.is_set());
    if is_stopped { Err(ApiError::Stopped) } else { Ok(()) }
}

/// The names of the limits, as requests and the command spell them.
pub const NAMES: [&str; 4] = ["elements", "operations", "text_bytes", "instructions"];

/// Sets one limit by its name; false where there is none of that name.
pub fn set(limits: &mut Limits, name: &str, most: u64) -> bool {
    let limit = match name {
        "elements" => &mut limits.elements,
        "operations" => &mut limits.operations,
        "text_bytes" => &mut limits.text_bytes,
        "instructions" => &mut limits.instructions,
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
