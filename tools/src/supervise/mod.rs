//! A program in a process group of its own, which does not outlive its supervisor.
//!
//! Signals that ask this process to end are passed on to the whole group; what is left of the group
//! when the program has ended, or when the supervisor is dropped, is ended too: first asked, after
//! a grace time killed. The terminal stays here, so that Ctrl-C comes here first ([`Watch`] sees
//! it), until the program wants to read from it. SIGKILL of this process is the one end that the
//! program does not learn of.
//!
//! Not here: what the program is for.

mod signals;
mod terminal;

use std::fmt;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use signals::Inbox;
use terminal::Terminal;

/// How often [`Watch::tick`] is called.
pub const TICK: Duration = Duration::from_millis(100);
/// How long a group that is told to end may take, unless told otherwise.
pub const GRACE: Duration = Duration::from_secs(5);
/// How often it is looked whether a group is gone.
const GLANCE: Duration = Duration::from_millis(5);

/// What becomes of a signal that came here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The group gets it.
    Forward,
    /// Nobody else learns of it.
    Keep,
    /// The group is ended.
    End,
}

/// What a command does while its program runs.
pub trait Watch {
    /// Called every [`TICK`]; `Break` ends the group.
    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// SIGINT, SIGQUIT, SIGTERM or SIGHUP came here, for the `time`th time, counted from 1.
    fn signal(&mut self, _signal: Signal, _time: u32) -> Answer {
        Answer::Forward
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// By itself, with this exit status.
    Code(u8),
    /// By a signal.
    Signal(Signal),
}

impl Ended {
    /// Whether it ended as programs do that have nothing to complain about.
    #[must_use]
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }

    /// The exit status by which a shell passes it on: 128 and the signal's number.
    #[must_use]
    pub fn shell_status(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => u8::try_from(128 + signal as i32).unwrap_or(u8::MAX),
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => write!(f, "ended by {signal}"),
        }
    }
}

/// A program under way.
#[derive(Debug)]
pub struct Program {
    /// Process id of the program and id of its group.
    group: Pid,
    ended: Option<Ended>,
    inbox: Inbox,
    terminal: Terminal,
    grace: Duration,
    /// When the group is killed.
    deadline: Option<Instant>,
}

impl Program {
    /// Starts a program in a group of its own. From now on the signals that ask this process to end
    /// are answered by [`Program::wait`] alone.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn spawn(command: &mut Command, grace: Duration) -> io::Result<Self> {
        let inbox = Inbox::open()?;
        // Whoever the program leaves behind becomes a child of this process, which so learns of its
        // end at once; the system's first process may take its time, and in a container for ever.
        set_child_subreaper(true)?;
        let child = command.process_group(0).spawn()?;
        let group = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
        let terminal = Terminal::of_this_process();
        Ok(Self { group, ended: None, inbox, terminal, grace, deadline: None })
    }

    /// Waits until the program has ended, and ends what it leaves behind in its group.
    ///
    /// # Errors
    /// The operating system does not tell of the program.
    pub fn wait(&mut self, watch: &mut dyn Watch) -> io::Result<Ended> {
        let mut tick = Instant::now() + TICK;
        let mut times = 0;
        let ended = loop {
            if let Some(ended) = self.look()? {
                break ended;
            }
            for signal in self.inbox.take() {
                if signal == Signal::SIGTSTP {
                    self.pause(signal);
                    continue;
                }
                times += 1;
                match watch.signal(signal, times) {
                    Answer::Keep => {}
                    Answer::End => self.end(),
                    Answer::Forward => self.forward(signal),
                }
            }
            let now = Instant::now();
            if self.deadline.is_some_and(|deadline| deadline <= now) {
                self.deadline = None;
                self.tell(Signal::SIGKILL);
            }
            if tick <= now {
                tick = now + TICK;
                if watch.tick().is_break() {
                    self.end();
                }
            }
            self.inbox.sleep(tick.saturating_duration_since(now));
        };
        self.clear_up();
        Ok(ended)
    }

    /// Asks the whole group to end; what has not ended after the grace time is killed by
    /// [`Program::wait`].
    pub fn end(&mut self) {
        if self.deadline.is_none() {
            self.tell(Signal::SIGTERM);
            self.deadline = Some(Instant::now() + self.grace);
        }
    }

    /// SIGINT and SIGQUIT mean what the program says they mean; a debugger lives on. The others end.
    fn forward(&mut self, signal: Signal) {
        self.tell(signal);
        if matches!(signal, Signal::SIGTERM | Signal::SIGHUP) && self.deadline.is_none() {
            self.deadline = Some(Instant::now() + self.grace);
        }
    }

    /// Sends a signal to the group, stopped or not.
    fn tell(&self, signal: Signal) {
        // A group that is gone needs no signal.
        let _ = killpg(self.group, signal);
        let _ = killpg(self.group, Signal::SIGCONT);
    }

    /// Whether the program has ended; one that has stopped for the terminal's sake gets it.
    fn look(&mut self) -> io::Result<Option<Ended>> {
        if self.ended.is_some() {
            return Ok(self.ended);
        }
        let flags = WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED;
        match waitpid(self.group, Some(flags)) {
            Ok(WaitStatus::Exited(_, code)) => {
                self.ended = Some(Ended::Code(u8::try_from(code & 0xFF).unwrap_or(u8::MAX)));
            }
            Ok(WaitStatus::Signaled(_, signal, _)) => self.ended = Some(Ended::Signal(signal)),
            Ok(WaitStatus::Stopped(_, Signal::SIGTTIN | Signal::SIGTTOU)) => {
                self.terminal.lend(self.group);
                self.resume();
            }
            // Ctrl-Z while the program has the terminal: this process stops with it.
            Ok(WaitStatus::Stopped(_, _)) if self.terminal.is_lent() => {
                self.terminal.take_back();
                terminal::stop_this_process();
                self.terminal.lend(self.group);
                self.resume();
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.ended)
    }

    /// Ctrl-Z while this process has the terminal: the program stops with it.
    fn pause(&self, signal: Signal) {
        let _ = killpg(self.group, signal);
        terminal::stop_this_process();
        self.resume();
    }

    fn resume(&self) {
        // As in `tell`.
        let _ = killpg(self.group, Signal::SIGCONT);
    }

    /// Whether nobody is left of the group. One that has ended counts until it is asked for.
    fn is_gone(&self) -> bool {
        let any = Pid::from_raw(-self.group.as_raw());
        while matches!(waitpid(any, Some(WaitPidFlag::WNOHANG)), Ok(status) if status.pid().is_some())
        {
        }
        killpg(self.group, None).is_err()
    }

    /// Ends what is left of the group.
    fn clear_up(&mut self) {
        self.terminal.take_back();
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            if self.is_gone() {
                return;
            }
            self.tell(signal);
            let deadline = Instant::now() + self.grace;
            while !self.is_gone() && Instant::now() < deadline {
                self.inbox.sleep(GLANCE);
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.ended.is_some() {
            return;
        }
        self.end();
        let deadline = Instant::now() + self.grace;
        while matches!(self.look(), Ok(None)) && Instant::now() < deadline {
            self.inbox.sleep(GLANCE);
        }
        if self.ended.is_none() {
            self.tell(Signal::SIGKILL);
            while matches!(self.look(), Ok(None)) {
                self.inbox.sleep(GLANCE);
            }
        }
        self.clear_up();
    }
}

/// Runs a program to its end, and says when it cannot be found.
///
/// # Errors
/// It cannot be started, or the operating system does not tell of it.
pub fn run(command: &mut Command, watch: &mut dyn Watch) -> io::Result<Ended> {
    let program = Program::spawn(command, GRACE);
    let mut program = program.map_err(|error| match error.kind() {
        ErrorKind::NotFound => io::Error::new(ErrorKind::NotFound, "no such program"),
        _ => error,
    })?;
    program.wait(watch)
}
