//! The built-in examples: famous bugs as kernels, with their files.

/// What an example has to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shows {
    /// It hangs: the explanation.
    Verdict,
    /// It only comes out wrong: what happened, by topics of the log, for these ranges of L1.
    Timeline(&'static [&'static str], &'static [(u32, u32)]),
}

/// An example.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Name on the command line.
    pub name: &'static str,
    /// Where it was seen, and what it is.
    pub about: &'static str,
    /// What to look at.
    pub shows: Shows,
    /// File names and contents: `case.toml` and what it names, and the source.
    pub files: &'static [(&'static str, &'static [u8])],
}

macro_rules! files {
    ($dir:literal: $($name:literal)*) => {
        &[$(($name, include_bytes!(concat!($dir, "/", $name)) as &[u8])),*]
    };
}

const LOST_GET: &[(&str, &[u8])] = files!("../hazards/A4-semaphore-decrement-lost":
    "case.toml" "clean.toml" "semaphore-decrement-lost.c" "buggy-trisc0.elf" "buggy-trisc1.elf"
    "buggy-trisc2.elf" "clean-trisc0.elf" "clean-trisc1.elf" "clean-trisc2.elf");

/// All of them.
pub const EXAMPLES: &[Example] = &[
    Example {
        name: "hang",
        about: "a kernel that hangs: a semaphore get overtakes its post",
        shows: Shows::Verdict,
        files: LOST_GET,
    },
    Example {
        name: "lost-semget",
        about: "tt-llk #181: the same; a get at zero is ignored, and the peer waits for it",
        shows: Shows::Verdict,
        files: LOST_GET,
    },
    Example {
        name: "dvalid-leak",
        about: "tt-metal #53413: unpack fills SrcA more often than math clears it",
        shows: Shows::Verdict,
        files: files!("../hazards/A7-dvalid-leak": "case.toml" "clean.toml" "dvalid-leak.c"
            "buggy-trisc0.elf" "buggy-trisc1.elf" "buggy-trisc2.elf" "clean-trisc0.elf"
            "clean-trisc1.elf" "clean-trisc2.elf"),
    },
    Example {
        name: "mailbox-desync",
        about: "tt-metal #57066: one side of a mailbox pops more often than the other pushes",
        shows: Shows::Verdict,
        files: files!("../hazards/A11-mailbox-desync": "case.toml" "clean.toml" "mailbox-desync.c"
            "buggy-trisc0.elf" "buggy-trisc1.elf" "buggy-trisc2.elf" "clean-trisc0.elf"
            "clean-trisc1.elf" "clean-trisc2.elf"),
    },
    Example {
        name: "config-word-overlap",
        about: "tt-llk #1655: a whole-word write takes back a field that another thread has set",
        shows: Shows::Timeline(&["config"], &[]),
        files: files!("../demos/config-word-overlap": "case.toml" "config-word-overlap.c"
            "trisc0.elf" "trisc1.elf" "trisc2.elf"),
    },
    Example {
        name: "signal-before-data",
        about: "tt-metal #48478: a flag is raised before the NoC has written what it announces",
        shows: Shows::Timeline(&["noc", "l1"], &[(0x3_1000, 0x3_2080)]),
        files: files!("../demos/signal-before-data": "case.toml" "signal-before-data.c"
            "brisc.elf" "ncrisc.elf"),
    },
    Example {
        name: "in-place-cb",
        about: "tt-metal #20880: a page is given back before it has been used, and overwritten",
        shows: Shows::Timeline(&["stream", "l1"], &[(0x2_0000, 0x2_0040), (0x3_0000, 0x3_0010)]),
        files: files!("../demos/in-place-cb": "case.toml" "in-place-cb.c" "brisc.elf" "ncrisc.elf"),
    },
    Example {
        name: "ungated-movd2b",
        about: "tt-metal #53412: MOVD2B into a SrcB bank that unpack has filled",
        shows: Shows::Timeline(&["dvalid", "issue"], &[]),
        files: files!("../demos/ungated-movd2b": "case.toml" "ungated-movd2b.c" "trisc0.elf"
            "trisc1.elf" "trisc2.elf"),
    },
];

/// The example with that name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|example| example.name == name)
}
