//! What a mistake does to a thread: it stops, the others go on.

use sim_core::ThreadId;

use crate::coprocessor::{Coprocessor, bit};
use crate::decode::decode;

impl Coprocessor {
    /// The thread made a mistake: it issues and expands nothing more, and what it has scheduled
    /// or still tries is forgotten. Its input FIFO takes instructions until it is full. Returns
    /// whether it was not stopped before.
    #[cold]
    pub fn stop_thread(&mut self, thread: ThreadId) -> bool {
        if self.stopped & bit(thread) != 0 {
            return false;
        }
        self.stopped |= bit(thread);
        self.active &= !bit(thread);
        let frontend = &mut self.threads[thread.index()];
        // Other mistakes are found when the instruction has left the queue.
        if let Some(&front) = frontend.third.front()
            && decode(front.word()).is_none()
        {
            frontend.third.drop_front();
            frontend.untrack(&front);
        }
        self.backend.drop_thread(thread);
        true
    }

    /// Whether the thread has made a mistake since its TRISC was last reset.
    #[must_use]
    pub fn is_stopped(&self, thread: ThreadId) -> bool {
        self.stopped & bit(thread) != 0
    }

    /// The TRISC of a stopped thread is reset: the thread goes on with what its queues hold.
    pub(crate) fn restart_thread(&mut self, thread: ThreadId) {
        if self.is_stopped(thread) {
            self.stopped &= !bit(thread);
            self.active |= bit(thread);
        }
    }
}
