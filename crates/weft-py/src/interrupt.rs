//! Ctrl-C while something is computed.

use super::error::of_panic;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;
use std::{io, thread};
use weft_api::budget::{self, Budget, Limits};

/// How often it is asked whether somebody pressed Ctrl-C.
const PERIOD: Duration = Duration::from_millis(20);
/// The stack of a thread that computes, as that of a process: readers of nested texts recurse.
const STACK: usize = 8 << 20;

/// Computes something on a thread of its own, while other Python threads run and this one listens: signals
/// are heard on the main thread alone. What a signal's handler raises ends the work, and is raised; a panic is raised as
/// a defect, which callers survive: `torch.compile` has Triton compile that kernel.
pub(super) fn heard<T: Send>(
    py: Python<'_>,
    limits: Limits,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let budget = Budget { limits, ..Budget::default() };
    py.detach(|| {
        thread::scope(|scope| {
            let (done, result) = sync_channel(1);
            let budget = &budget;
            let compute = move || {
                // Whoever waits may have gone for an exception's sake.
                let _ = done.send(budget::within(budget, work));
            };
            let started = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, compute);
            let thread = started.map_err(|error: io::Error| PyErr::from(error))?;
            loop {
                match result.recv_timeout(PERIOD) {
                    Ok(value) => return Ok(value),
                    Err(RecvTimeoutError::Timeout) => {
                        let heard = Python::attach(|py: Python<'_>| -> PyResult<()> {
                            py.check_signals()?;
                            Ok(())
                        });
                        heard.inspect_err(|_| budget.stop.set())?;
                    }
                    Err(RecvTimeoutError::Disconnected) => match thread.join() {
                        Err(panicked) => return Err(of_panic(&*panicked)),
                        Ok(()) => unreachable!("a thread that ends without a result panics"),
                    },
                }
            }
        })
    })
}
