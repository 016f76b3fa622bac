//! The `tracing` targets of the handshake log, each with one level.
//!
//! `tracing` wants target and level as constants, so one macro declares the enumeration, its
//! names, and the call sites.

use serde::Serialize;
use tracing::level_filters::LevelFilter;

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

/// A set of targets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Targets(u32);

impl Targets {
    /// Whether that one is in it.
    #[must_use]
    pub const fn contains(self, target: Target) -> bool {
        self.0 >> target as u32 & 1 == 1
    }

    fn set(&mut self, target: Target, wanted: bool) {
        let bit = 1 << target as u32;
        self.0 = if wanted { self.0 | bit } else { self.0 & !bit };
    }

    /// The set that a filter of the log names: parts with commas between, the later ones win. A part
    /// is a topic (`semaphore`, `tilescope::semaphore`), all of them (`tilescope`) or a level, which
    /// also means all; a topic may be followed by `=` and the least severe level that is wanted.
    ///
    /// # Errors
    /// A topic or level that does not exist, in words: it would match nothing, without a word.
    pub fn parse(filter: &str) -> Result<Self, String> {
        let mut wanted = Self::default();
        for part in filter.split(',').map(str::trim) {
            let (name, level) = part.split_once('=').map_or((part, None), |(n, l)| (n, Some(l)));
            let topic = name.strip_prefix("tilescope::").unwrap_or(name);
            let one = Target::ALL.iter().find(|target| target.short_name() == topic);
            let (targets, level) = match (one, level) {
                (Some(one), level) => (std::slice::from_ref(one), level.unwrap_or("trace")),
                (None, level) if name == "tilescope" => (Target::ALL, level.unwrap_or("trace")),
                (None, None) => (Target::ALL, part),
                (None, Some(_)) => return Err(unknown(filter, name)),
            };
            let known = level.parse::<LevelFilter>().ok().filter(|_| !level.is_empty());
            let level = known.ok_or_else(|| unknown(filter, level))?;
            targets.iter().for_each(|&target| wanted.set(target, target.level() <= level));
        }
        Ok(wanted)
    }
}

fn unknown(filter: &str, name: &str) -> String {
    let known: Vec<_> = Target::ALL.iter().map(|target| target.short_name()).collect();
    format!("{filter:?}: no topic or level {name:?}; there are {}", known.join(", "))
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

    fn names(filter: &str) -> Vec<&'static str> {
        let wanted = Targets::parse(filter).expect("a filter");
        let all = Target::ALL.iter().filter(|&&target| wanted.contains(target));
        all.map(|target| target.short_name()).collect()
    }

    /// Levels as the table above states them.
    #[test]
    fn filter_chooses_topics_and_levels() {
        assert_eq!(names("semaphore"), ["semaphore"]);
        assert_eq!(names("tilescope::noc=debug, go"), ["go", "noc"]);
        assert_eq!(names("tilescope::push=info"), [""; 0]);
        assert_eq!(names("off"), [""; 0]);
        assert_eq!(names("tilescope").len(), Target::ALL.len());
        assert!(!names("info").contains(&"wait") && names("debug").contains(&"wait"));
        assert_eq!(names("off,wait"), ["wait"]);
        assert!(!names("info,noc=off").contains(&"noc"));
    }

    #[test]
    fn filter_with_an_unknown_topic_is_refused() {
        for filter in ["semaphores", "go=loud", "tilescope::x", "x=info", ""] {
            assert!(Targets::parse(filter).is_err(), "{filter:?}");
        }
    }
}
