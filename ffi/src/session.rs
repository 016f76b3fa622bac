//! The one chip behind the libttsim ABI, and the rules every call keeps.
//!
//! Everything lives behind one lock, is made by `libttsim_init` and dropped by `libttsim_exit`, so
//! that hosts may load, probe, unload and load again. Only the memory functions outlive a session:
//! hosts hand them over before `init`.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chip::{Chip, ChipConfig, HostError, TensixTile};
use session::names::{learn_mailbox, read_names};
use session::{Hint, TileView, mistakes};
use symbols::catalog::{Catalog, Places};
use tape::Call;

use crate::fork;
use crate::memory::TtsimMemory;
use crate::report::{Culprit, Reporter, say_plainly};
use crate::rounds::Rounds;
use crate::standby::{Absence, Answers, ClockCost, KeptRead, Standby};
use crate::taping::Taping;
use crate::vigil::{Found, Vigil};
use crate::windows::Windows;

struct State {
    memory: TtsimMemory,
    device: Device,
    reporter: Reporter,
    /// What the calls that a host repeats come to while the chip is at rest.
    answers: Answers,
    /// What the host has done since it last changed anything.
    vigil: Vigil,
    /// What is seen of a chip at work meanwhile.
    rounds: Rounds,
    /// What goes on the tape, if one is kept.
    taping: Taping,
}

enum Device {
    /// Before `init`, after `exit`.
    Absent,
    Present(Box<Chip>),
    /// It could not be made, or panicked: absent for the host until `exit`.
    Broken,
}

/// A lock of the standard library: it consists of itself alone, so that it can be given back in a forked
/// child whatever other threads were about to do with it.
static STATE: Mutex<State> = Mutex::new(State {
    memory: TtsimMemory { read: None, write: None },
    device: Device::Absent,
    reporter: Reporter::new(),
    answers: Answers { read: None, clock: None, rest: 0, reads: 0 },
    vigil: Vigil::new(),
    rounds: Rounds::new(),
    taping: Taping::none(),
});

/// The answers of a chip at rest, for those who do not hold the lock.
static STANDBY: Standby = Standby::new();

/// The windows of a chip that is present.
static WINDOWS: Windows = Windows::new();

thread_local! {
    /// Whether this thread is within one of our calls: then the host's own memory function calls
    /// us, and would wait for itself.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

impl State {
    /// Another device takes the place of what there was: nothing is known of its windows.
    fn put(&mut self, device: Device) {
        WINDOWS.forget();
        self.device = device;
    }

    /// The chip goes on from where it was left, so many cycles ago.
    fn take_over(&mut self, Absence { passed, used_up }: Absence) {
        self.vigil.was_left(used_up);
        if let Device::Present(chip) = &mut self.device {
            chip.rest(passed);
            if passed != 0 {
                self.taping.call(&Call::Rest { cycles: passed });
            }
        }
    }

    /// [`Reporter::say`]
    fn say(&mut self, culprit: Culprit, text: &str) {
        self.reporter.say(culprit, text, &mut self.taping);
    }

    /// In a forked child: its tape is another one, of which others have to hear.
    fn go_on_alone(&mut self) {
        if let Some(complaint) = self.taping.go_on_alone() {
            self.reporter.note(&complaint);
        }
        self.reporter.bell.begins(self.taping.path());
    }

    /// What may be answered without the chip from now on.
    fn answers_at_rest(&self) -> Answers {
        match &self.device {
            Device::Present(chip) => chip.rests_until().map_or_else(Answers::default, |until| {
                // So that the vigil gets its visits.
                let cycles = self.answers.clock.map_or(0, |cost| u64::from(cost.cycles));
                let reads = self.vigil.budget();
                let visit = cycles.saturating_mul(reads);
                Answers { rest: (until - chip.now()).min(visit), reads, ..self.answers }
            }),
            _ => Answers::default(),
        }
    }
}

/// Why a call on the chip comes to nothing.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The chip says so.
    Chip(HostError),
    /// The host gave no buffer.
    NullBuffer,
}

impl From<HostError> for Refusal {
    fn from(error: HostError) -> Self {
        Self::Chip(error)
    }
}

impl From<crate::buffer::NullBuffer> for Refusal {
    fn from(_: crate::buffer::NullBuffer) -> Self {
        Self::NullBuffer
    }
}

/// What a panic says.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}; please report this", text.unwrap_or("without a message"))
}

/// The state, whoever panicked with it: what is broken then is marked as such.
fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The chip while nobody else can have it, without threads of its own. Others wait until this is dropped.
pub(crate) struct Held(#[expect(dead_code, reason = "held, not used")] MutexGuard<'static, State>);

/// Takes the chip away from everybody; `None` within a call of this thread, which has it.
pub(crate) fn hold() -> Option<Held> {
    if WITHIN.get() {
        return None;
    }
    let mut state = lock();
    if let Device::Present(chip) = &mut state.device {
        chip.dismiss_threads();
    }
    Some(Held(state))
}

/// Runs `body` with the state, unless this thread is in there already.
fn enter<T>(name: &str, absent: T, body: impl FnOnce(&mut State) -> T) -> T {
    if WITHIN.replace(true) {
        say_plainly(&format!("tilescope: host error: {name} called from a memory callback"));
        return absent;
    }
    let mut state = lock();
    state.take_over(STANDBY.interrupt());
    if fork::has_happened() {
        state.go_on_alone();
    }
    let result = catch_unwind(AssertUnwindSafe(|| body(&mut state)));
    let result = result.unwrap_or_else(|payload| {
        state.put(Device::Broken);
        let text =
            format!("{name}: {}; the device is gone until libttsim_exit", panic_text(&*payload));
        state.say(Culprit::Simulator, &text);
        absent
    });
    STANDBY.resume(state.answers_at_rest());
    drop(state);
    WITHIN.set(false);
    result
}

/// Begins a session with a fresh chip.
pub(crate) fn init() {
    enter("libttsim_init", (), |state| {
        if !matches!(state.device, Device::Absent) {
            let text = "libttsim_init called twice: the first session ends here";
            state.say(Culprit::Host, text);
        }
        fork::look_after();
        state.put(Device::Broken);
        state.answers = Answers::default();
        state.vigil = Vigil::new();
        let (reporter, complaint) = Reporter::from_env();
        state.reporter = reporter;
        let (rounds, other) = Rounds::from_env();
        state.rounds = rounds;
        for complaint in [complaint, other].into_iter().flatten() {
            state.say(Culprit::Host, &complaint);
        }
        if let Some(complaint) = state.taping.start() {
            state.say(Culprit::Host, &complaint);
        }
        state.reporter.bell.begins(state.taping.path());
        // Hosts hand over their memory before there is a tape.
        let (read, write) = (state.memory.read.is_some(), state.memory.write.is_some());
        state.taping.call(&Call::SetMemory { read, write });
        state.taping.call(&Call::Init);
        match ChipConfig::from_env() {
            Ok(config) => {
                let mut chip = Chip::new(config);
                // Without one the chip itself says what reaching for it means.
                if state.memory.is_some() {
                    chip.set_host_memory(state.taping.memory(state.memory));
                }
                state.put(Device::Present(Box::new(chip)));
            }
            Err(error) => {
                let text = format!("no device: {error}");
                state.say(Culprit::Host, &text);
            }
        }
    });
}

/// Ends the session.
pub(crate) fn exit() {
    enter("libttsim_exit", (), |state| {
        if matches!(state.device, Device::Absent) {
            state.say(Culprit::Host, "libttsim_exit without libttsim_init");
        }
        let State { device, reporter, vigil, rounds, .. } = state;
        if let Device::Present(chip) = device {
            let hint = rounds.disturbed(chip, vigil.words());
            if let Some(hint) = hint.filter(|_| !vigil.has_told()) {
                goes_round(chip, reporter, &hint);
            }
            for warning in chip.warnings() {
                reporter.warn(&warning);
            }
        }
        state.put(Device::Absent);
        state.taping.call(&Call::Exit);
        if let Some(complaint) = state.taping.let_go() {
            state.reporter.note(&complaint);
        }
        state.reporter.bell.ends();
        state.reporter.finish();
    });
}

/// Takes the host's memory functions, before a session or within one.
pub(crate) fn set_memory(memory: TtsimMemory) {
    enter("libttsim_set_pci_dma_mem_callbacks", (), |state| {
        state.memory = memory;
        let (read, write) = (memory.read.is_some(), memory.write.is_some());
        state.taping.call(&Call::SetMemory { read, write });
        if let Device::Present(chip) = &mut state.device {
            chip.set_host_memory(state.taping.memory(memory));
        }
    });
}

/// Reads through a BAR; all ones if that cannot be done.
pub(crate) fn mem_read(name: &str, paddr: u64, bytes: &mut [u8]) {
    if !STANDBY.read(paddr, bytes) {
        read_through(name, paddr, bytes);
    }
}

/// A read that reaches the chip.
#[inline(never)]
fn read_through(name: &str, paddr: u64, bytes: &mut [u8]) {
    let done = with_desk(name, false, |chip, mut desk| {
        let result = chip.mem_read(paddr, bytes);
        desk.taping.call(&Call::MemRead { paddr, bytes });
        result?;
        desk.vigil.has_read(chip.polled(paddr, bytes.len()));
        desk.answers.read =
            KeptRead::new(paddr, bytes).filter(|_| chip.is_memory(paddr, bytes.len()));
        watch_over(chip, &mut desk);
        Ok(true)
    });
    if !done {
        bytes.fill(0xFF);
    }
}

/// Writes through a BAR.
pub(crate) fn mem_write(name: &str, paddr: u64, bytes: &[u8]) {
    let window = chip::window_register(paddr);
    // Whoever writes, be it a memory function of the host: nothing happens.
    if window.is_some_and(|window| WINDOWS.holds(window, bytes)) {
        return;
    }
    write_through(name, paddr, bytes, window);
}

/// A write that reaches the chip; with the number of the window register that it is of.
#[inline(never)]
fn write_through(name: &str, paddr: u64, bytes: &[u8], window: Option<usize>) {
    with_desk(name, (), |chip, mut desk| {
        desk.answers.read = None;
        if window.is_none() {
            written(chip, &mut desk, |chip| chip.is_debugging(paddr, bytes.len()));
        }
        let result = chip.mem_write(paddr, bytes);
        desk.taping.call(&Call::MemWrite { paddr, bytes });
        result?;
        if let Some(window) = window {
            WINDOWS.wrote(window, bytes);
        }
        Ok(())
    });
}

/// Reads a word of configuration space; all ones without a device.
pub(crate) fn config_read(name: &str, bdf: u32, offset: u32) -> u32 {
    with_desk(name, u32::MAX, |chip, Desk { answers, taping, .. }| {
        answers.read = None;
        let value = chip.config_read(bdf, offset);
        taping.call(&Call::ConfigRead { bdf, offset, value });
        Ok(value)
    })
}

/// Writes a word of configuration space.
pub(crate) fn config_write(name: &str, bdf: u32, offset: u32, value: u32) {
    with_desk(name, (), |chip, mut desk| {
        desk.answers.read = None;
        disturbed(chip, &mut desk);
        chip.config_write(bdf, offset, value);
        desk.taping.call(&Call::ConfigWrite { bdf, offset, value });
        Ok(())
    });
}

/// Writes to a tile.
pub(crate) fn tile_write(name: &str, (x, y): (u32, u32), addr: u64, bytes: &[u8]) {
    with_desk(name, (), |chip, mut desk| {
        desk.answers.read = None;
        written(chip, &mut desk, |chip| chip.is_debugging_at((x, y), addr));
        let result = chip.tile_write(x, y, addr, bytes);
        desk.taping.call(&Call::TileWrite { x, y, addr, bytes });
        Ok(result?)
    });
}

/// Reads from a tile; all ones if that cannot be done.
pub(crate) fn tile_read(name: &str, (x, y): (u32, u32), address: u64, bytes: &mut [u8]) {
    let done = with_desk(name, false, |chip, mut desk| {
        desk.answers.read = None;
        let result = chip.tile_read(x, y, address, bytes);
        desk.taping.call(&Call::TileRead { x, y, addr: address, bytes });
        result?;
        desk.vigil.has_read(chip.polled_at((x, y), address, bytes.len()));
        watch_over(chip, &mut desk);
        Ok(true)
    });
    if !done {
        bytes.fill(0xFF);
    }
}

/// Reports a call that comes to nothing.
pub(crate) fn refuse(name: &str, why: Refusal) {
    with_chip(name, (), |_| Err(why));
}

/// Lets host clocks pass.
pub(crate) fn clock(name: &str, clocks: u32) {
    if !STANDBY.clock(clocks) {
        pass_clocks(name, clocks);
    }
}

/// Clocks that reach the chip.
#[inline(never)]
fn pass_clocks(name: &str, clocks: u32) {
    with_desk(name, (), |chip, mut desk| {
        let (before, rests_until) = (chip.now(), chip.rests_until());
        chip.clock(clocks);
        desk.taping.call(&Call::Clock { clocks });
        if rests_until.is_some_and(|until| chip.now() <= until) {
            let cycles = u32::try_from(chip.now() - before).ok();
            desk.answers.clock = cycles.map(|cycles| ClockCost { clocks, cycles });
        } else {
            desk.answers.read = None;
        }
        watch_over(chip, &mut desk);
        Ok(())
    });
}

/// The host waits: does the chip hang? Called from each call that a waiting host repeats, because the others
/// may be answered without the chip.
fn watch_over(chip: &mut Chip, desk: &mut Desk<'_>) {
    let Desk { vigil, rounds, reporter, taping, .. } = desk;
    if reporter.bell.is_asked() {
        let catalog = Catalog::gather(&places());
        learn_mailbox(chip, || &catalog);
        let view = |tile: &_, _: &_| TileView::new(&read_names(tile, &catalog));
        let positions = session::positions(chip, view).to_string();
        // Who asks may be about to end the process.
        if let Some(complaint) = taping.flush() {
            reporter.note(&complaint);
        }
        reporter.bell.tell(&positions);
    }
    match vigil.has_waited(chip, learn) {
        Some(Found::Hang(hang)) => {
            let catalog = Catalog::gather(&places());
            let view = |tile: &_, _: &_| TileView::new(&read_names(tile, &catalog));
            let report = session::report(chip, &hang, view);
            if let Some(complaint) = taping.flush() {
                reporter.note(&complaint);
            }
            reporter.hang(&report, taping.path());
        }
        Some(Found::Held(cores)) => reporter.note(&held(&cores)),
        None => {}
    }
    if let Some(hint) = rounds.has_waited(chip, vigil.words()) {
        goes_round(chip, reporter, &hint);
    }
    if let Some(complaint) = taping.visit() {
        reporter.note(&complaint);
    }
}

/// Which cores a debugger has paused while the host waits.
fn held(cores: &[(TensixTile, sim_core::CoreId)]) -> String {
    let [(tile, core), others @ ..] = cores else { return String::new() };
    let more = match others.len() {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    format!(
        "the host waits while a debugger has paused {core} of {tile}{more}: who waits for that is not taken to hang"
    )
}

/// The host writes: it does more than to wait, unless a debugger beside it looks at what hangs.
fn written(chip: &mut Chip, desk: &mut Desk<'_>, is_debugging: impl FnOnce(&Chip) -> bool) {
    if !(desk.vigil.has_told() && is_debugging(chip)) {
        disturbed(chip, desk);
    }
}

/// The host does more than to wait, of which it may have had enough.
fn disturbed(chip: &mut Chip, desk: &mut Desk<'_>) {
    let Desk { vigil, rounds, reporter, .. } = desk;
    let hint = rounds.disturbed(chip, vigil.words());
    if let Some(hint) = hint.filter(|_| !vigil.has_told()) {
        goes_round(chip, reporter, &hint);
    }
    vigil.disturbed();
}

/// Finds out which version's firmware runs.
fn learn(chip: &mut Chip) {
    learn_mailbox(chip, || Catalog::gather(&places()));
}

/// Says who is at work and gets nowhere.
#[cold]
fn goes_round(chip: &mut Chip, reporter: &mut Reporter, hint: &Hint) {
    let catalog = Catalog::gather(&places());
    learn_mailbox(chip, || &catalog);
    let view = |tile: &_, _: &_| TileView::new(&read_names(tile, &catalog));
    reporter.goes_round(&session::progress(chip, hint, view));
}

/// Where this process leaves what names its kernels.
fn places() -> Places {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Places {
        directory: std::env::current_dir().unwrap_or_default(),
        environment: environment.collect(),
        extra: Vec::new(),
    }
}

/// Runs `body` on the chip and reports what went wrong; `absent` is the answer without a chip.
pub(crate) fn with_chip<T: Clone>(
    name: &str,
    absent: T,
    body: impl FnOnce(&mut Chip) -> Result<T, Refusal>,
) -> T {
    with_desk(name, absent, |chip, _| body(chip))
}

/// What lies beside the chip and has to be kept right with every call.
struct Desk<'a> {
    answers: &'a mut Answers,
    vigil: &'a mut Vigil,
    rounds: &'a mut Rounds,
    reporter: &'a mut Reporter,
    taping: &'a mut Taping,
}

/// Says what has happened that the host has not been told yet.
#[cold]
fn pass_on(chip: &mut Chip, reporter: &mut Reporter, taping: &mut Taping) {
    for note in mistakes::notes(chip, || Box::new(Catalog::gather(&places()))) {
        reporter.note(&note);
    }
    for mistake in mistakes::take(chip, || Box::new(Catalog::gather(&places()))) {
        reporter.say(Culprit::Guest, &mistake, taping);
    }
}

/// As [`with_chip`], for who keeps right what lies beside the chip.
fn with_desk<T: Clone>(
    name: &str,
    absent: T,
    body: impl FnOnce(&mut Chip, Desk<'_>) -> Result<T, Refusal>,
) -> T {
    enter(name, absent.clone(), |state| {
        let State { device, reporter, answers, vigil, rounds, taping, .. } = state;
        let chip = match device {
            Device::Present(chip) => chip,
            Device::Absent => {
                let text = format!("{name} called without a session: libttsim_init comes first");
                reporter.say(Culprit::Host, &text, taping);
                return absent;
            }
            // Why it is broken was said when it broke.
            Device::Broken => return absent,
        };
        let desk = Desk { answers, vigil, rounds, reporter: &mut *reporter, taping: &mut *taping };
        let result = body(chip, desk);
        if chip.has_news() {
            pass_on(chip, reporter, taping);
        }
        result.unwrap_or_else(|refusal| {
            let text = match refusal {
                Refusal::Chip(error) => format!("{name}: {error}"),
                Refusal::NullBuffer => format!("{name}: the buffer is a null pointer"),
            };
            reporter.say(Culprit::Host, &text, taping);
            absent
        })
    })
}
