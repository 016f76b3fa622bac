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

/// What `of` gives for so many parts of `items`, one after another. Each part has a thread of its own, or this one where
/// the host cannot start another.
///
/// # Panics
/// Where `of` does.
pub fn in_parts<T: Sync, R: Send>(
    items: &[T],
    parts: usize,
    of: impl Fn(&[T]) -> Vec<R> + Sync,
) -> Vec<R> {
    let length = items.len().div_ceil(parts.max(1)).max(1);
    if items.len() <= length {
        return of(items);
    }
    std::thread::scope(|scope| {
        let start = |part| {
            let of = &of;
            std::thread::Builder::new().spawn_scoped(scope, move || of(part)).map_err(|_| part)
        };
        let started: Vec<_> = items.chunks(length).map(start).collect();
        let finish = |started: Result<std::thread::ScopedJoinHandle<'_, _>, _>| match started {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(part) => of(part),
        };
        started.into_iter().flat_map(finish).collect()
    })
}

/// How many host CPUs this process may use.
#[must_use]
pub fn host_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::in_parts;

    #[test]
    fn parts_come_one_after_another() {
        let items: Vec<u32> = (0..103).collect();
        let twice = |items: &[u32]| items.iter().flat_map(|&item| [item, item]).collect::<Vec<_>>();
        for parts in [0, 1, 2, 8, 103, 1000] {
            assert_eq!(in_parts(&items, parts, twice), twice(&items), "{parts} parts");
        }
        assert!(in_parts(&[], 8, twice).is_empty());
    }
}
