//! One host thread per core.
//!
//! A core travels to its thread and back inside its box, so no state is ever shared mutably and
//! no lock is held while a core runs.

use std::sync::Arc;

use zero_pages::PageBox;

use crate::agent::{Agent, Shared};
use crate::ids::{CoreId, CoreSet};
use crate::sync::{CycleBarrier, Receiver, Sender, Worker, unbounded};
use crate::time::Cycle;

struct Job<A> {
    agent: PageBox<A>,
    until: Cycle,
}

/// Five worker threads and the way to them.
pub struct Pool<A: Agent> {
    // Dropped before the workers: a closed job channel ends a worker.
    jobs: Vec<Sender<Job<A>>>,
    home: Receiver<(CoreId, PageBox<A>)>,
    barrier: Arc<CycleBarrier>,
    _workers: Vec<Worker>,
}

impl<A: Agent> std::fmt::Debug for Pool<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({} workers)", self.jobs.len())
    }
}

/// Reaches the barrier even when the core's code panics, so that the coordinator never hangs.
struct Arrival(Arc<CycleBarrier>);

impl Drop for Arrival {
    fn drop(&mut self) {
        self.0.arrive();
    }
}

fn work<A: Agent>(
    core: CoreId,
    jobs: &Receiver<Job<A>>,
    home: &Sender<(CoreId, PageBox<A>)>,
    shared: &Shared,
    barrier: &Arc<CycleBarrier>,
) {
    while let Ok(Job { mut agent, until }) = jobs.recv() {
        let arrival = Arrival(Arc::clone(barrier));
        agent.run(shared, until);
        // The coordinator is gone only when the tile is being dropped.
        let _ = home.send((core, agent));
        drop(arrival);
    }
}

impl<A: Agent> Pool<A> {
    pub(super) fn start(shared: &Arc<Shared>) -> std::io::Result<Self> {
        let (home_sender, home) = unbounded();
        let barrier = CycleBarrier::new();
        let mut jobs = Vec::new();
        let mut workers = Vec::new();
        for core in CoreId::ALL {
            let (sender, receiver) = unbounded();
            let (home, shared, barrier) =
                (home_sender.clone(), Arc::clone(shared), Arc::clone(&barrier));
            workers.push(Worker::start(core.name(), move || {
                work(core, &receiver, &home, &shared, &barrier);
            })?);
            jobs.push(sender);
        }
        Ok(Self { jobs, home, barrier, _workers: workers })
    }

    pub(super) fn run_phase(
        &mut self,
        cores: &mut [Option<PageBox<A>>; CoreId::COUNT],
        set: CoreSet,
        until: Cycle,
    ) {
        let mut away = 0;
        for core in set.iter() {
            let agent = cores[core.index()].take().expect("cores are home outside run phases");
            self.jobs[core.index()]
                .send(Job { agent, until })
                .unwrap_or_else(|_| unreachable!("a worker ends after its job channel closes"));
            away += 1;
        }
        self.barrier.wait_for(away);
        for _ in 0..away {
            let (core, agent) = self
                .home
                .try_recv()
                .expect("every worker sends its core home before it reaches the barrier");
            cores[core.index()] = Some(agent);
        }
    }
}
