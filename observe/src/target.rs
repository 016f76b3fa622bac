//! The `tracing` targets of the handshake log, each with one level.
//!
//! `tracing` wants target and level as constants, so one macro declares the enumeration, its
//! names, and the call sites.

use serde::Serialize;

use crate::describe::Line;

macro_rules! targets {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $level:ident;)*) => {
        /// What a line is about: a `tracing` target `tilescope::NAME`.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Target {
            $($(#[$doc])* $variant),*
        }

        impl Target {
            /// All targets.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Last component of the target: `semaphore`.
            #[must_use]
            pub const fn short_name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),*
                }
            }

            /// The target as a filter spells it: `tilescope::semaphore`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!("tilescope::", $name)),*
                }
            }

            /// Level of its events.
            #[must_use]
            pub const fn level(self) -> tracing::Level {
                match self {
                    $(Self::$variant => tracing::Level::$level),*
                }
            }

            /// Whether any subscriber wants this target now.
            #[must_use]
            pub fn is_enabled(self) -> bool {
                match self {
                    $(Self::$variant => tracing::event_enabled!(
                        target: concat!("tilescope::", $name),
                        tracing::Level::$level
                    )),*
                }
            }

            /// Emits a line as a `tracing` event of its target.
            pub(crate) fn emit(line: &Line) {
                let code = line.code.as_ref();
                let function = code.map(|code| code.function.as_str());
                let file = code.and_then(|code| code.file.as_deref());
                let number = code.and_then(|code| code.line);
                match line.target {
                    $(Self::$variant => tracing::event!(
                        target: concat!("tilescope::", $name),
                        tracing::Level::$level,
                        cycle = line.cycle,
                        agent = %line.agent,
                        pc = line.pc.map(|pc| tracing::field::display(format!("{pc:#x}"))),
                        function,
                        file,
                        line = number,
                        "{}",
                        line.text
                    )),*
                }
            }
        }
    };
}

targets! {
    /// Go message signals and subordinate synchronisation bytes in L1.
    Go = "go", INFO;
    /// Other fields of the mailbox block in L1.
    Mailbox = "mailbox", INFO;
    /// Hardware mailboxes: FIFOs between cores.
    Fifo = "fifo", INFO;
    /// Tensix semaphores.
    Semaphore = "semaphore", INFO;
    /// Banks of SrcA and SrcB that change hands.
    Dvalid = "dvalid", INFO;
    /// Tensix mutexes.
    Mutex = "mutex", INFO;
    /// PCBufs, and blocking reads of PCBuf and TTSync.
    PcBuf = "pcbuf", INFO;
    /// Soft reset and halts.
    Reset = "reset", INFO;
    /// NoC commands.
    Noc = "noc", INFO;
    /// Overlay stream registers: counters of circular buffers.
    Stream = "stream", INFO;
    /// Waits, when they begin and end.
    Wait = "wait", DEBUG;
    /// Backend configuration and instruction cache invalidation.
    Config = "config", DEBUG;
    /// Instructions pushed into the coprocessor.
    Push = "push", DEBUG;
    /// Instructions issued by the wait gates, and what finished later.
    Issue = "issue", TRACE;
    /// Stores to device registers.
    Device = "device", TRACE;
    /// L1 stores outside named fields.
    L1 = "l1", TRACE;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_names_share_one_prefix() {
        for target in Target::ALL {
            assert_eq!(target.name(), format!("tilescope::{}", target.short_name()));
        }
    }
}
