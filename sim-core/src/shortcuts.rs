//! Shortcuts: second executions of the same semantics, each with a name and a switch.
//!
//! Most work of a run is done by code that gives what the plainest code would give, sooner. Each such
//! way is a row below and can be switched off ([`Shortcuts`]); no switch ever changes a result. Who
//! watches is none of them: an observer may keep a shortcut from being taken, never the reverse.
//! `docs/shortcuts.md` is this table.

use std::fmt;

/// One way of getting to the same result sooner. Where one needs another, it stands below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShortcutRow {
    /// Which one.
    pub shortcut: Shortcut,
    /// Its name, as `--shortcuts` and `TILESCOPE_SHORTCUTS` take it.
    pub name: &'static str,
    /// The crate that takes it.
    pub room: &'static str,
    /// What is done, in a sentence without its full stop.
    pub what: &'static str,
    /// What is done without it.
    pub without: &'static str,
}

macro_rules! shortcuts {
    ($($shortcut:ident $name:literal $room:literal $what:literal without $without:literal;)*) => {
        /// A shortcut of the table.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Shortcut {
            $(#[doc = $what] $shortcut,)*
        }

        /// Every shortcut, in the order of [`Shortcut`].
        pub const SHORTCUTS: &[ShortcutRow] = &[$(ShortcutRow {
            shortcut: Shortcut::$shortcut,
            name: $name,
            room: $room,
            what: $what,
            without: $without,
        },)*];
    };
}

shortcuts! {
    FastLoop "fast-loop" "riscv"
        "Instructions that only compute, load and store run in a loop that borrows nothing else of the core"
        without "the careful loop executes all of them";
    FastDoors "fast-doors" "riscv"
        "Stores to devices and pushed instructions are posted in the fast loop, and what needs an answer or room leaves it as that"
        without "the careful loop executes them";
    Stretches "stretches" "riscv"
        "What a stretch of code words means is remembered per host thread, and so is the page of them that comes of it"
        without "it is decoded each time, and no core takes over the pages of another";
    Parking "parking" "riscv"
        "A core that goes round an unchanging loop is taken out of the schedule until a word it reads changes"
        without "each round is executed";
    Polls "polls" "riscv"
        "The backward jump of a polling loop is marked when it is decoded, and parks the core by trying the next round out"
        without "only probes from time to time find the loop";
    ClockWaits "clock-waits" "riscv"
        "A core in a loop that waits by the wall clock is parked until the clock may end it"
        without "each round is executed";
    ClockNests "clock-nests" "riscv"
        "A core in a polling loop with one wait by the wall clock in each round is parked for many rounds"
        without "it is parked for each wait on its own";
    DeviceWatchers "device-watchers" "tile"
        "A core parked on registers stays parked through changes of others, if it would read the same again"
        without "it goes on when any device may have changed";
    IdleEpochs "idle-epochs" "tile"
        "Epochs in which no core runs pass in one step"
        without "each is run and committed";
    Alone "alone" "tile"
        "A core that runs alone goes on over many epochs, with stores straight to L1"
        without "it runs epoch by epoch, or on trial";
    LoneAnswers "lone-answers" "tile"
        "A core that runs alone gets its answers from registers without a commit"
        without "an epoch is committed for each";
    ClockInPlace "clock-in-place" "tile"
        "A core that runs alone reads the wall clock in the middle of a slice"
        without "the slice ends at each read";
    StoresInPlace "stores-in-place" "tile"
        "A core that runs alone sets up devices in the middle of a slice"
        without "its slice ends with the epoch, which is committed";
    Trials "trials" "tile"
        "Cores that seem undisturbed go many epochs ahead on trial, and back if they were not"
        without "they run epoch by epoch";
    Unattended "unattended" "tile"
        "Epochs in which one core at most does nothing but push are not committed"
        without "each is committed";
    QuietCommits "quiet-commits" "tile"
        "The commit of an epoch that concerns no device applies its stores to L1 and nothing else"
        without "all its cycles are gone through";
    QuietPackets "quiet-packets" "tile"
        "Packets that no agent notices arrive without a commit in epochs in which no core runs"
        without "each such epoch is committed";
    MergedStores "merged-stores" "tile"
        "Stores to L1 that cannot meet are applied core by core, others by a 64-bit word of their order"
        without "they are applied cycle by cycle";
    BusySpans "busy-spans" "tile"
        "In a commit the coprocessor advances up to the next deed of another agent"
        without "every agent is asked in each cycle";
    PatientRequests "patient-requests" "tile"
        "In a commit a request that waits for others, or for a thread to have nothing in flight, is tried again when they have done something"
        without "it is tried again in every cycle";
    FedPushes "fed-pushes" "tile"
        "In a commit the coprocessor takes in what TRISCs push while it advances, each instruction in its cycle"
        without "it stops for each push";
    Dozing "dozing" "tile"
        "A core parked on registers that only cores, packets and register stores of the coprocessor change stays parked while the coprocessor works, if there is no observer"
        without "it goes round its loop in every epoch in which the coprocessor works";
    Playback "playback" "tensix"
        "A thread that plays its replay buffer alone issues instruction after instruction without its queues"
        without "each is a cycle of the coprocessor like any other";
    Runs "runs" "tensix"
        "Alike instructions of a playback execute in one go, if there is no observer"
        without "they are issued one by one";
    LoneThread "lone-thread" "tensix"
        "A cycle in which a single thread has instructions skips the arbitration"
        without "it is arbitrated among one";
    StillThreads "still-threads" "tensix"
        "A thread that waits for a semaphore or a bank is not looked at until one of them changes"
        without "its wait is evaluated in each cycle";
    WholeRows "whole-rows" "tensix"
        "The common packs and unpacks move whole rows"
        without "they move datum by datum like all others";
    WholeRegisters "whole-registers" "tensix"
        "The common vector loads, stores and multiplications take registers as the word names them"
        without "they go the way of all vector instructions";
    StraightPushes "straight-pushes" "tensix"
        "Instructions that are pushed while no other thread moves pass the queues of theirs without questions, and issue at once where these are empty"
        without "each cycle of the queues is one of the coprocessor like any other";
    LoneTile "lone-tile" "chip"
        "The only tile in which anything happens goes on until it sends something"
        without "it goes round by round";
    Ventures "ventures" "chip"
        "Tiles that seem undisturbed go beyond a round on trial, and back if a message reaches them"
        without "all advance round by round";
    LateMessages "late-messages" "chip"
        "A tile in which nothing goes on is left alone with messages that nothing in it notices, if it has no observer"
        without "it is visited for each message";
}

/// A set of shortcuts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shortcuts(u32);

const _: () = assert!(SHORTCUTS.len() <= 32, "a set has 32 bits");

impl Shortcuts {
    /// None of them: everything is done the plainest way.
    pub const NONE: Self = Self(0);
    /// All of them.
    pub const ALL: Self = Self(u32::MAX >> (32 - SHORTCUTS.len()));

    /// The set with bit *i* for the *i*th row of [`SHORTCUTS`]; other bits are nothing.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Whether it may be taken.
    #[inline]
    #[must_use]
    pub const fn has(self, shortcut: Shortcut) -> bool {
        self.0 >> shortcut as u8 & 1 != 0
    }

    /// This set with one more.
    #[must_use]
    pub const fn with(self, shortcut: Shortcut) -> Self {
        Self(self.0 | 1 << shortcut as u8)
    }

    /// This set without one.
    #[must_use]
    pub const fn without(self, shortcut: Shortcut) -> Self {
        Self(self.0 & !(1 << shortcut as u8))
    }

    /// This set with or without one.
    #[must_use]
    pub const fn set(self, shortcut: Shortcut, on: bool) -> Self {
        if on { self.with(shortcut) } else { self.without(shortcut) }
    }

    /// Those in the set, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = Shortcut> {
        SHORTCUTS.iter().map(|row| row.shortcut).filter(move |&shortcut| self.has(shortcut))
    }

    /// A list as people write it: names, `-name` for all but that one, `all`, `none`; commas between,
    /// each changes what stands before it. A list that begins by taking something away begins with all.
    ///
    /// # Errors
    /// A name that is none.
    pub fn parse(list: &str) -> Result<Self, UnknownShortcut> {
        let items = || list.split(',').map(str::trim).filter(|item| !item.is_empty());
        let takes_away = items().next().is_some_and(|item| item.starts_with('-'));
        let mut set = if takes_away { Self::ALL } else { Self::NONE };
        for item in items() {
            set = match (item, item.strip_prefix('-')) {
                ("all", _) => Self::ALL,
                ("none", _) => Self::NONE,
                (_, Some(name)) => set.without(Shortcut::by_name(name)?),
                (name, None) => set.with(Shortcut::by_name(name)?),
            };
        }
        Ok(set)
    }
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self::ALL
    }
}

/// As [`Shortcuts::parse`] takes it.
impl fmt::Display for Shortcuts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (most, sign, named) = match self.0 {
            0 => return f.write_str("none"),
            bits if bits == Self::ALL.0 => return f.write_str("all"),
            bits if 2 * bits.count_ones() > Self::ALL.0.count_ones() => {
                ("all,", "-", Self(!bits & Self::ALL.0))
            }
            bits => ("", "", Self(bits)),
        };
        f.write_str(most)?;
        for (place, shortcut) in named.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{sign}{shortcut}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Shortcuts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shortcuts({self})")
    }
}

impl Shortcut {
    /// Its row.
    #[must_use]
    pub const fn row(self) -> &'static ShortcutRow {
        &SHORTCUTS[self as usize]
    }

    /// The shortcut of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn by_name(name: &str) -> Result<Self, UnknownShortcut> {
        let row = SHORTCUTS.iter().find(|row| row.name == name);
        row.map(|row| row.shortcut).ok_or_else(|| UnknownShortcut(name.to_owned()))
    }
}

impl fmt::Display for Shortcut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().name)
    }
}

/// The table as Markdown, which `docs/shortcuts.md` shows.
#[must_use]
pub fn markdown() -> String {
    let mut page =
        String::from("| name | where | what is done | without it |\n|---|---|---|---|\n");
    for ShortcutRow { name, room, what, without, .. } in SHORTCUTS {
        page += &format!("| `{name}` | {room} | {what} | {without} |\n");
    }
    page
}

/// A smallest set that has to be taken away from all shortcuts for a difference to go away: without
/// all of it there is none, and none of it can be put back. `None` if there is a difference without any
/// shortcut too, or none with all. Few questions are asked if few shortcuts are to blame. Where one
/// needs another and either would do, it is the one further down in the table.
pub fn blame(mut differs: impl FnMut(Shortcuts) -> bool) -> Option<Shortcuts> {
    if !differs(Shortcuts::ALL) || differs(Shortcuts::NONE) {
        return None;
    }
    let mut agrees_without = |set: Shortcuts| !differs(Shortcuts(Shortcuts::ALL.0 & !set.0));
    // Delta debugging: ever smaller parts, or all but one of them.
    let (mut blamed, mut parts) = (Shortcuts::ALL, 2);
    loop {
        let members: Vec<Shortcut> = blamed.iter().collect();
        if members.len() == 1 {
            return Some(blamed);
        }
        let part = |some: &[Shortcut]| some.iter().fold(Shortcuts::NONE, |set, &one| set.with(one));
        let pieces: Vec<_> = members.chunks(members.len().div_ceil(parts)).map(part).collect();
        let rests = pieces.iter().map(|piece| Shortcuts(blamed.0 & !piece.0));
        if let Some(&piece) = pieces.iter().rev().find(|&&piece| agrees_without(piece)) {
            (blamed, parts) = (piece, 2);
        } else if let Some(rest) = rests.into_iter().find(|&rest| agrees_without(rest)) {
            (blamed, parts) = (rest, (parts - 1).max(2));
        } else if parts >= members.len() {
            return Some(blamed);
        } else {
            parts = (2 * parts).min(members.len());
        }
    }
}

/// A name that no shortcut has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownShortcut(String);

impl fmt::Display for UnknownShortcut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no shortcut {:?}; there are all, none", self.0)?;
        SHORTCUTS.iter().try_for_each(|row| write!(f, ", {}", row.name))
    }
}

impl std::error::Error for UnknownShortcut {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_numbers_and_names_are_unique() {
        for (number, row) in SHORTCUTS.iter().enumerate() {
            assert_eq!(row.shortcut as usize, number);
            assert_eq!(Shortcut::by_name(row.name), Ok(row.shortcut));
            assert!(row.name.chars().all(|c| c == '-' || c.is_ascii_lowercase()), "{}", row.name);
        }
        assert_eq!(Shortcuts::ALL.iter().count(), SHORTCUTS.len());
        assert_eq!(Shortcuts::NONE.iter().count(), 0);
    }

    #[test]
    fn lists_mean_what_they_say() {
        let parse = |list| Shortcuts::parse(list).expect("the names exist");
        assert_eq!(parse("all"), Shortcuts::ALL);
        assert_eq!(parse("none"), Shortcuts::NONE);
        assert_eq!(parse("-parking"), Shortcuts::ALL.without(Shortcut::Parking));
        assert_eq!(parse("all, -parking ,-trials,"), parse("-trials,-parking"));
        let two = Shortcuts::NONE.with(Shortcut::FastLoop).with(Shortcut::Alone);
        assert_eq!(parse("fast-loop,alone"), two);
        assert_eq!(parse("-parking,none,alone,fast-loop"), two);
        assert_eq!(parse("fast-loop,trials,alone,-trials"), two);
        let error = Shortcuts::parse("alone,parkin").expect_err("no such name").to_string();
        assert!(error.contains("\"parkin\"") && error.contains("parking"), "{error}");
    }

    /// Whoever is to blame is found, whether alone or with others, and nobody else.
    #[test]
    fn blame_falls_on_those_whose_removal_ends_the_difference() {
        let mut most = 0;
        let all = |numbers: &[usize]| {
            numbers
                .iter()
                .fold(Shortcuts::NONE, |set, &number| set.with(SHORTCUTS[number].shortcut))
        };
        let count = SHORTCUTS.len();
        for (first, second, third) in (0..count * count * count)
            .map(|n| (n % count, n / count % count, n / count / count))
            .filter(|(first, second, third)| first <= second && second <= third)
        {
            // Each of the three makes a difference by itself.
            let guilty = all(&[first, second, third]);
            let mut asked = 0;
            let blamed = blame(|set| {
                asked += 1;
                set.iter().any(|one| guilty.has(one))
            });
            assert_eq!(blamed, Some(guilty));
            if first == third {
                most = most.max(asked);
            }
            // Only together they do: one of them suffices, and it is the last.
            let blamed = blame(|set| guilty.iter().all(|one| set.has(one)));
            assert_eq!(blamed, Some(all(&[third])));
        }
        assert!(most <= 14, "{most} questions to find one of {count}");
        assert_eq!(blame(|_| true), None);
        assert_eq!(blame(|_| false), None);
    }

    /// Where one hides what another does, what is blamed ends the difference, and no less does.
    #[test]
    fn blame_is_enough_and_not_too_much() {
        let mut bits = 7_u32;
        for _ in 0..300 {
            bits = bits.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let pair = |at: u32| {
                let one = SHORTCUTS[(bits >> at) as usize % SHORTCUTS.len()].shortcut;
                let other = SHORTCUTS[(bits >> (at + 5)) as usize % SHORTCUTS.len()].shortcut;
                Shortcuts::NONE.with(one).with(other)
            };
            let causes = [pair(1), pair(11), pair(21)];
            let differs =
                |set: Shortcuts| causes.iter().any(|cause| cause.iter().all(|one| set.has(one)));
            let blamed = blame(differs).expect("there is a difference");
            let left = |away: Shortcuts| Shortcuts(Shortcuts::ALL.0 & !away.0);
            assert!(!differs(left(blamed)), "{blamed}");
            for one in blamed.iter() {
                assert!(differs(left(blamed.without(one))), "{blamed} without {one}");
            }
        }
    }

    #[test]
    fn sets_are_written_as_they_are_read() {
        assert_eq!(Shortcuts::ALL.to_string(), "all");
        assert_eq!(Shortcuts::NONE.to_string(), "none");
        let mut bits = 1_u32;
        for _ in 0..200 {
            bits = bits.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let set = Shortcuts::from_bits(bits >> 5);
            assert_eq!(Shortcuts::parse(&set.to_string()), Ok(set));
        }
        for shortcut in Shortcuts::ALL.iter() {
            for set in [Shortcuts::ALL.without(shortcut), Shortcuts::NONE.with(shortcut)] {
                assert_eq!(Shortcuts::parse(&set.to_string()), Ok(set), "{set}");
            }
        }
    }
}
