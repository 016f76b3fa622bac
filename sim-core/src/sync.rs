//! The only place in the workspace that names a thread, a channel or a lock.

mod crew;

use std::sync::Arc;

use parking_lot::Condvar;

pub use crew::Crew;
pub use crossbeam_channel::{Receiver, Sender, unbounded};
pub use crossbeam_utils::CachePadded;
pub use parking_lot::Mutex;

/// The global cycle barrier: the coordinator passes it when every worker of the epoch arrived.
///
/// Workers do not wait for each other; they wait for their next job on a channel.
#[derive(Debug, Default)]
pub struct CycleBarrier {
    arrived: Mutex<usize>,
    all_here: Condvar,
}

impl CycleBarrier {
    /// A barrier that no thread has reached yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// A worker finished its run phase.
    pub fn arrive(&self) {
        let mut arrived = self.arrived.lock();
        *arrived += 1;
        self.all_here.notify_one();
    }

    /// Waits until `workers` arrivals happened since the last call, and starts over.
    pub fn wait_for(&self, workers: usize) {
        let mut arrived = self.arrived.lock();
        while *arrived < workers {
            self.all_here.wait(&mut arrived);
        }
        *arrived = 0;
    }
}

/// A named worker thread that is joined when dropped.
#[derive(Debug)]
pub struct Worker(Option<std::thread::JoinHandle<()>>);

impl Worker {
    /// Starts `body` on a thread of its own. `body` must end once its job channel closes.
    ///
    /// # Errors
    /// The host cannot start another thread.
    pub fn start(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<Self> {
        let handle = std::thread::Builder::new().name(name.to_owned()).spawn(body)?;
        Ok(Self(Some(handle)))
    }
}

impl Worker {
    /// In a process that was forked off: the thread is not there, and is not waited for.
    fn abandon(mut self) {
        self.0 = None;
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            // A worker that panicked has already been reported by the engine.
            let _ = handle.join();
        }
    }
}

/// How many host CPUs this process may use.
#[must_use]
pub fn host_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
