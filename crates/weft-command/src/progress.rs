//! What is being waited for, told on standard error where that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// What takes no longer is not spoken of.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the line changes.
const TICK: Duration = Duration::from_millis(100);
/// What is shown of work whose steps are counted.
const BAR: &str = "{msg} {bar:40} {pos}/{len} {prefix}  {eta}";

/// Does something; if that takes long, says so with the time that has passed.
pub(crate) fn waiting<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    counting(what, "", |_| work())
}

/// As [`waiting`]; once the work says how many of its steps are done, and of how many, a bar shows that.
pub(crate) fn counting<T>(
    what: &'static str,
    steps: &'static str,
    work: impl FnOnce(&dyn Fn(u64, u64)) -> T,
) -> T {
    if !io::stderr().is_terminal() {
        return work(&|_, _| ());
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    bar.set_style(style("{spinner} {msg}  {elapsed}"));
    bar.set_message(what);
    bar.set_prefix(steps);
    let so_far = |done, all| {
        if done > 0 && bar.length().is_none() {
            bar.set_style(style(BAR));
            bar.set_length(all);
        }
        bar.set_position(done);
    };
    thread::scope(|scope| {
        let (done, waits) = mpsc::channel::<()>();
        let bar = &bar;
        scope.spawn(move || {
            if waits.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
            // An error: whoever works has dropped the other end.
            let _ = waits.recv();
            bar.finish_and_clear();
        });
        let result = work(&so_far);
        drop(done);
        result
    })
}

/// A bar for work whose steps are counted; it goes when it is dropped.
pub(crate) fn steps(what: &'static str, count: usize) -> ProgressBar {
    let bar = ProgressBar::new(count as u64).with_message(what);
    bar.with_style(style(BAR)).with_finish(indicatif::ProgressFinish::AndClear)
}

/// The style of a template, which is well formed.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
