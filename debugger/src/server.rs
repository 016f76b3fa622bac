//! A gdb remote server: one client at a time, on a socket or on standard input and output.
//!
//! While the machine travels it looks now and then whether the client has something to say: Ctrl-C
//! stops it where it is, a client that is gone ends the session and not the server.

use std::io::{self, Read, Write};
use std::net::TcpListener;

use gdbstub::common::Signal;
use gdbstub::conn::{Connection, ConnectionExt};
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{BaseStopReason, GdbStub, MultiThreadStopReason};
use gdbstub::target::ext::base::reverse_exec::ReplayLogPosition;
use gdbstub::target::ext::breakpoints::WatchKind;
use sim_core::{AgentId, Category, CoreId, GuestError};

use crate::monitor::Monitor;
use crate::party::{Party, Seat};
use crate::recording::End;
use crate::target::{Debugged, Resume, tid};
use crate::travel::{Hit, Watch};

/// Where a client is.
pub trait Client: Connection<Error = io::Error> + ConnectionExt {}

impl<C: Connection<Error = io::Error> + ConnectionExt> Client for C {}

/// Standard input and output as a connection, for gdb's `target remote | COMMAND`. What the client
/// says is read by a thread of its own, because standard input cannot be looked at.
#[derive(Debug)]
pub struct Pipe {
    said: sim_core::sync::Receiver<u8>,
    next: Option<u8>,
    _reader: sim_core::sync::Worker,
}

impl Pipe {
    /// Takes standard input.
    ///
    /// # Errors
    /// The host gives no thread.
    pub fn open() -> io::Result<Self> {
        let (sender, said) = sim_core::sync::unbounded();
        let reader = sim_core::sync::Worker::start("gdb", move || {
            for byte in io::stdin().lock().bytes() {
                let Ok(byte) = byte else { return };
                if sender.send(byte).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { said, next: None, _reader: reader })
    }
}

impl Connection for Pipe {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        io::stdout().write_all(&[byte])
    }
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        io::stdout().write_all(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

impl ConnectionExt for Pipe {
    fn read(&mut self) -> io::Result<u8> {
        match self.next.take() {
            Some(byte) => Ok(byte),
            None => self.said.recv().map_err(|_| io::ErrorKind::UnexpectedEof.into()),
        }
    }
    fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.next.is_none() {
            match self.said.try_recv() {
                Ok(byte) => self.next = Some(byte),
                Err(error) if error.is_disconnected() => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Err(_) => {}
            }
        }
        Ok(self.next)
    }
}

/// A packet that has gdb print a text while the machine runs.
fn console(text: &str) -> Vec<u8> {
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let body = format!("O{hex}");
    let sum = body.bytes().fold(0, u8::wrapping_add);
    format!("${body}#{sum:02x}").into_bytes()
}

/// The core whose code made a mistake.
fn culprit(mistake: &GuestError) -> CoreId {
    match mistake.at.agent {
        AgentId::Core(core) => core,
        AgentId::Thread(thread) => thread.core(),
        _ => CoreId::Brisc,
    }
}

const fn signal_of(category: Category) -> Signal {
    match category {
        Category::Unsupported | Category::Unimplemented => Signal::SIGSYS,
        _ => Signal::SIGILL,
    }
}

/// Why the machine stands at the end, for the client: a text, and the signal of a thread if it is
/// news.
fn ended(end: &End) -> (String, Option<(CoreId, Signal)>) {
    match end {
        End::Mistake(mistake) => {
            let stop = (culprit(mistake), signal_of(mistake.category));
            (format!("tilescope: {end}\n"), Some(stop))
        }
        End::Quiescent(quiescence) => {
            let stuck = quiescence.waits.iter().find(|wait| wait.stuck);
            let core = stuck.map_or(CoreId::Brisc, |wait| match wait.agent {
                AgentId::Core(core) => core,
                AgentId::Thread(thread) => thread.core(),
                _ => CoreId::Brisc,
            });
            let waits: String = quiescence.waits.iter().map(|wait| format!("  {wait}\n")).collect();
            let text = format!("tilescope: {end}\n{waits}(`monitor why` explains it)\n");
            (text, Some((core, Signal::SIGSTOP)))
        }
        End::Session(_, Some(core)) => (
            format!("tilescope: {end}\n(`monitor why` explains it)\n"),
            Some((*core, Signal::SIGSTOP)),
        ),
        End::Done | End::Limit | End::Session(_, None) => {
            (format!("tilescope: the session ends here: {end}\n"), None)
        }
    }
}

const fn kind(watch: Watch) -> WatchKind {
    match (watch.reads, watch.writes) {
        (true, true) => WatchKind::ReadWrite,
        (true, false) => WatchKind::Read,
        _ => WatchKind::Write,
    }
}

/// What the client is told of a stop.
fn reason(debugged: &Debugged, hit: Hit, was_at_end: bool) -> (MultiThreadStopReason<u32>, String) {
    let none = String::new();
    let focus = debugged.party.focus();
    let of = |core: CoreId| tid(Seat { turn: core.into(), ..focus });
    match hit {
        Hit::Break(core) => (BaseStopReason::SwBreak(of(core)), none),
        Hit::Watch(core, watch) => {
            let (tid, kind, addr) = (of(core), kind(watch), watch.addr);
            (BaseStopReason::Watch { tid, kind, addr }, none)
        }
        Hit::Changed(watch) => {
            let text = debugged.monitor.who_changed(&debugged.party, watch);
            let (tid, kind, addr) = (tid(focus), kind(watch), watch.addr);
            (BaseStopReason::Watch { tid, kind, addr }, text)
        }
        Hit::Step(core) => {
            (BaseStopReason::SignalWithThread { tid: of(core), signal: Signal::SIGTRAP }, none)
        }
        Hit::Passes(thread, _) => {
            let (tid, signal) = (tid(Seat { turn: thread.into(), ..focus }), Signal::SIGTRAP);
            let text = debugged.monitor.passes(&debugged.party, thread);
            (BaseStopReason::SignalWithThread { tid, signal }, text)
        }
        Hit::Interrupted => {
            (BaseStopReason::SignalWithThread { tid: tid(focus), signal: Signal::SIGINT }, none)
        }
        Hit::Begin => {
            let pos = ReplayLogPosition::Begin;
            (BaseStopReason::ReplayLog { tid: Some(tid(focus)), pos }, none)
        }
        Hit::End => {
            let (text, stop) = ended(&debugged.party.here().machine().recording().end);
            match stop.filter(|_| !was_at_end) {
                Some((core, signal)) => {
                    (BaseStopReason::SignalWithThread { tid: of(core), signal }, text)
                }
                None => {
                    let pos = ReplayLogPosition::End;
                    (BaseStopReason::ReplayLog { tid: Some(tid(focus)), pos }, text)
                }
            }
        }
    }
}

impl Debugged {
    /// Does what the client asked for, as long as there is patience.
    fn travel(&mut self, patience: &mut dyn FnMut() -> bool) -> Hit {
        let party = &mut self.party;
        match self.resume {
            Resume::Continue => party.forward(patience),
            Resume::Step(seat) => party.step(seat, patience),
            Resume::Back => party.backward(patience),
            Resume::StepBack(seat) => party.step_back(seat, patience),
            Resume::Range(seat, start, end) if seat.turn.is_gate() => {
                party.step_out_of(seat, start..end, patience)
            }
            Resume::Range(seat, start, end) => loop {
                let hit = party.step(seat, patience);
                let stays = hit == Hit::Step(seat.turn.core())
                    && party.focus() == seat
                    && (start..end).contains(&party.tile(seat.tile).pc(seat.turn));
                if !stays {
                    return hit;
                }
                if !patience() {
                    return Hit::Interrupted;
                }
            },
        }
    }
}

/// How a client is served.
struct Loop<C>(std::marker::PhantomData<C>);

impl<C: Client> BlockingEventLoop for Loop<C> {
    type Target = Debugged;
    type Connection = C;
    type StopReason = MultiThreadStopReason<u32>;

    fn wait_for_stop_reason(
        target: &mut Debugged,
        conn: &mut C,
    ) -> Result<Event<Self::StopReason>, WaitForStopReasonError<&'static str, io::Error>> {
        let lost = WaitForStopReasonError::Connection;
        if conn.peek().map_err(lost)?.is_some() {
            return Ok(Event::IncomingData(conn.read().map_err(lost)?));
        }
        let was_at_end = target.party.is_at_end();
        let mut heard = Ok(None);
        let hit = target.travel(&mut || {
            heard = conn.peek();
            matches!(heard, Ok(None))
        });
        heard.map_err(lost)?;
        if hit == Hit::Interrupted {
            // The machine stands; what was said decides whether it goes on.
            return Ok(Event::IncomingData(conn.read().map_err(lost)?));
        }
        let (reason, text) = reason(target, hit, was_at_end);
        if let Hit::Passes(_, Some(number)) = hit {
            target.party.retain_gate_stops(|stop| stop.number != number || !stop.once);
        }
        target.first = match reason {
            BaseStopReason::SignalWithThread { tid, .. } => crate::target::seat(tid, &target.party),
            _ => target.party.focus(),
        };
        target.asked = target.first;
        if !text.is_empty() {
            conn.write_all(&console(&text)).map_err(lost)?;
        }
        Ok(Event::TargetStopped(reason))
    }

    fn on_interrupt(target: &mut Debugged) -> Result<Option<Self::StopReason>, &'static str> {
        Ok(Some(reason(target, Hit::Interrupted, false).0))
    }
}

/// Serves one client until it leaves.
///
/// # Errors
/// What became of the connection, in a line; the machine stands where it stood.
pub fn serve(
    party: Party,
    monitor: Monitor,
    client: impl Client,
) -> (Party, Monitor, Result<(), String>) {
    let mut debugged = Debugged::new(party, monitor);
    let outcome = run(&mut debugged, client);
    let Debugged { mut party, monitor, .. } = debugged;
    party.clear_stops();
    (party, monitor, outcome)
}

fn run<C: Client>(debugged: &mut Debugged, client: C) -> Result<(), String> {
    let outcome = GdbStub::new(client).run_blocking::<Loop<C>>(debugged);
    outcome.map(drop).map_err(|error| error.to_string())
}

/// Serves clients one after the other, each from where the one before left the machine. A second one
/// at a time waits for the first to leave.
///
/// # Errors
/// The host refuses connections.
pub fn listen(
    listener: &TcpListener,
    mut party: Party,
    mut monitor: Monitor,
    mut once: impl FnMut(Result<(), String>) -> bool,
) -> io::Result<()> {
    loop {
        let (client, _) = listener.accept()?;
        let outcome;
        (party, monitor, outcome) = serve(party, monitor, client);
        if !once(outcome) {
            return Ok(());
        }
    }
}
