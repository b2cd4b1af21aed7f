//! What is being waited for, told on standard error where that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// What takes no longer is not spoken of.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the line changes.
const TICK: Duration = Duration::from_millis(100);

/// Does something; if that takes long, says so with the time that has passed.
pub(crate) fn waiting<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    thread::scope(|scope| {
        let (done, waits) = mpsc::channel::<()>();
        scope.spawn(move || {
            if waits.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner().with_style(style("{spinner} {msg}  {elapsed}"));
            let bar = bar.with_message(what).with_elapsed(PATIENCE);
            bar.enable_steady_tick(TICK);
            // An error: whoever works has dropped the other end.
            let _ = waits.recv();
            bar.finish_and_clear();
        });
        let result = work();
        drop(done);
        result
    })
}

/// A bar for work whose steps are counted; it goes when it is dropped.
pub(crate) fn steps(what: &'static str, count: usize) -> ProgressBar {
    let bar = ProgressBar::new(count as u64).with_message(what);
    bar.with_style(style("{msg} {bar:40} {pos}/{len}  {eta}"))
        .with_finish(indicatif::ProgressFinish::AndClear)
}

/// The style of a template, which is well formed.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
