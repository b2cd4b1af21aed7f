//! Work that runs apart from connections: so much at the same time, so much waiting, and no more.

use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task;

/// Requests of one sort, which wait for each other and for no others.
pub(super) struct Lane {
    /// Places for work that runs.
    running: Arc<Semaphore>,
    /// Places for work that runs or waits.
    admitted: Semaphore,
}

/// Why work was not done.
pub(super) enum Undone {
    /// Too much waits already.
    Busy,
    /// It panicked, which is a defect.
    Defect,
}

impl Lane {
    pub(super) fn new(running: usize, waiting: usize) -> Self {
        let admitted = Semaphore::new(running + waiting);
        Self { running: Arc::new(Semaphore::new(running)), admitted }
    }

    /// Does something on a thread of its own. Work that nobody waits for any more keeps its place among
    /// those that run until it ends, so that those who leave do not make room for more than there is.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Undone> {
        let _admitted = self.admitted.try_acquire().map_err(|_| Undone::Busy)?;
        let running = Arc::clone(&self.running).acquire_owned().await.map_err(|_| Undone::Busy)?;
        let done = task::spawn_blocking(move || {
            let _running = running;
            work()
        });
        done.await.map_err(|_| Undone::Defect)
    }
}
