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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;
pub use weft::budget::{Budget, Limits, Stop};

/// Milliseconds of a request, where neither it nor the shell says how many: nobody waits longer for an
/// answer without having asked for it.
pub const REQUEST_MILLISECONDS: u64 = 60_000;

/// The same of a call of an agent's tool: many programs of agents give up after a minute, and an error that
/// says how to go on is worth more than none.
pub const CALL_MILLISECONDS: u64 = 30_000;

/// Tells the milliseconds since some moment.
pub type Clock = fn() -> u64;

/// What is done now on a thread.
#[derive(Clone, Default)]
struct Current {
    budget: Budget,
    /// The stop that the budget came with: it knows of no time.
    untimed: Stop,
    clock: Option<Clock>,
    time: Option<Time>,
    /// What was begun last, as the end of a sentence.
    during: Option<&'static str>,
}

/// The time of a budget.
#[derive(Clone)]
struct Time {
    clock: Clock,
    start: u64,
    milliseconds: u64,
    /// Whether it was over when somebody asked.
    is_late: Arc<AtomicBool>,
}

impl Time {
    fn is_over(&self) -> bool {
        let is_over = (self.clock)().saturating_sub(self.start) >= self.milliseconds;
        self.is_late.fetch_or(is_over, Ordering::Relaxed) || is_over
    }
}

thread_local! {
    static CURRENT: RefCell<Current> = RefCell::default();
}

/// Does something within a budget; calls may be nested, and the innermost budget counts, its time from
/// its own beginning.
///
/// In a browser there is no clock here: [`within_by`] is given one.
pub fn within<T>(budget: &Budget, work: impl FnOnce() -> T) -> T {
    let clock = CURRENT.with_borrow(|current| current.clock).or(OWN_CLOCK);
    limited_by(clock, budget, work)
}

/// As [`within`], by the clock that is given, which what is nested keeps to.
pub fn within_by<T>(clock: Clock, budget: &Budget, work: impl FnOnce() -> T) -> T {
    limited_by(Some(clock), budget, work)
}

fn limited_by<T>(clock: Option<Clock>, budget: &Budget, work: impl FnOnce() -> T) -> T {
    /// Puts back what was there, whether the work ends or panics.
    struct Outer(Option<Current>);
    impl Drop for Outer {
        fn drop(&mut self) {
            if let Some(outer) = self.0.take() {
                CURRENT.set(outer);
            }
        }
    }
    let (mut budget, untimed) = (budget.clone(), budget.stop.clone());
    let milliseconds = budget.limits.milliseconds;
    let time = clock.filter(|_| milliseconds < u64::MAX).map(|clock| {
        let time = Time { clock, start: clock(), milliseconds, is_late: Arc::default() };
        let asked = time.clone();
        budget.stop = untimed.inner_until(move || asked.is_over());
        time
    });
    let current = Current { budget, untimed, clock, time, during: None };
    let _outer = Outer(Some(CURRENT.replace(current)));
    work()
}

/// The clock of this machine, where the standard library has one.
const OWN_CLOCK: Option<Clock> = if cfg!(target_family = "wasm") { None } else { Some(elapsed) };

/// The milliseconds since somebody first asked.
fn elapsed() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_millis() as u64
}

/// The budget of what is done now on this thread.
pub fn current() -> Budget {
    CURRENT.with_borrow(|current| current.budget.clone())
}

/// Notes what is begun now, as the end of a sentence such as `while the kernel was compiled`; an error where
/// what is done now shall end.
pub(crate) fn begin(during: &'static str) -> Result<(), ApiError> {
    CURRENT.with_borrow_mut(|current| current.during = Some(during));
    check()
}

/// An error where what is done now shall end.
pub(crate) fn check() -> Result<(), ApiError> {
    // Between two of these much may be done, so that the clock is looked at every time.
    let is_stopped = CURRENT.with_borrow(|Current { budget, time, .. }| {
        time.as_ref().is_some_and(Time::is_over) || budget.stop.is_set()
    });
    if is_stopped { Err(ApiError::Stopped) } else { Ok(()) }
}

/// Why something ended, asked before [`within`] is left: what was stopped because its time was over is told
/// so.
pub fn reason(error: ApiError) -> ApiError {
    CURRENT.with_borrow(|Current { time, during, .. }| match (error, time) {
        (ApiError::Stopped, Some(time)) if time.is_late.load(Ordering::Relaxed) => {
            ApiError::Late { milliseconds: time.milliseconds, during: *during }
        }
        (error, _) => error,
    })
}

/// Answers a request within the limits that it gives, as an object of names and numbers; the others are those
/// of the shell, whose time is `milliseconds` where it says nothing.
///
/// What comes after the stop was set may lack something, and is no answer.
pub(crate) fn answered<T>(
    given: Option<&Value>,
    milliseconds: u64,
    answer: impl FnOnce() -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    let budget = read(given, milliseconds)?;
    let whole = |answer| check().map(|()| answer);
    within(&budget, || answer().and_then(whole).map_err(reason))
}

/// The names of the limits, as requests and the command spell them.
pub const NAMES: [&str; 6] =
    ["elements", "operations", "text_bytes", "instructions", "memory_bytes", "milliseconds"];

/// Sets one limit by its name; false where there is none of that name.
pub fn set(limits: &mut Limits, name: &str, most: u64) -> bool {
    let limit = match name {
        "elements" => &mut limits.elements,
        "operations" => &mut limits.operations,
        "text_bytes" => &mut limits.text_bytes,
        "instructions" => &mut limits.instructions,
        "memory_bytes" => &mut limits.memory_bytes,
        "milliseconds" => &mut limits.milliseconds,
        _ => return false,
    };
    *limit = most;
    true
}

/// The current budget with the limits that a request gives.
fn read(given: Option<&Value>, milliseconds: u64) -> Result<Budget, ApiError> {
    let refused = |reason: String| ApiError::Argument {
        reason,
        hint: format!("`limits` is an object with numbers for any of {}", NAMES.join(", ")),
    };
    let (mut limits, stop) =
        CURRENT.with_borrow(|current| (current.budget.limits, current.untimed.clone()));
    if limits.milliseconds == u64::MAX {
        limits.milliseconds = milliseconds;
    }
    let given = given.map(std::collections::BTreeMap::<String, u64>::deserialize).transpose();
    let given = given.map_err(|error| refused(format!("`limits`: {error}")))?;
    for (name, most) in given.into_iter().flatten() {
        if !set(&mut limits, &name, most) {
            return Err(refused(format!("there is no limit `{name}`")));
        }
    }
    Ok(Budget { limits, stop })
}
