//! `tilescope serve`: a session that another program steps through and looks into.
//!
//! Rooms: `wire` requests and answers on standard input and output; `plan` a tile that carries out a
//! plan, step by step (`stepper`); `tape` a chip that plays what a host did. The Python module is written over it.
//!
//! A process of its own, because nothing that happens here can then harm who asks: it holds no pointer
//! of ours, may be forked or ended at any time, and the library that hosts load stays free of what
//! watches. Record: docs/decisions/0013-python-over-a-process.md.

mod look;
mod plan;
mod stepper;
mod stream;
mod tape;
mod wire;

use std::io::{self, BufReader, BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Parser};
use serde_json::{Value, json};
use tensix::Register;

use super::machine::MachineArgs;
use super::parse_xy;
use super::source::is_tape;
use super::state;
use super::state::args::StateArgs;
use crate::exit::Exit;
use crate::output::{Output, STDOUT};
use wire::{Answer, Ask, Request};

const EXAMPLES: &str = "\
Each request is a line of JSON on standard input, each answer one on standard output; bytes follow the
line that names their number. The session ends with its input. docs/manual/src/reference/serve.md lists
the requests.

Examples:
  echo '{\"do\":\"run\"}' | tilescope serve KERNELS.toml --embedded
  tilescope serve session.tstape --tile 0,0
";

/// Step through a plan or a tape from another program
///
/// What the Python module `tilescope` is written over.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct ServeArgs {
    /// A plan (see `tilescope launch --help`), or the tape of a host program; without it a tile boots
    #[arg(value_name = "SESSION")]
    pub session: Option<PathBuf>,
    /// Of a tape: the tile that is looked at, by the runtime's worker coordinates
    #[arg(long, value_name = "X,Y", default_value = "0,0", value_parser = parse_xy)]
    pub tile: (u8, u8),
    /// Of a tape: directory with ELF files of its kernels; may be repeated
    #[arg(long, value_name = "DIR")]
    pub elf: Vec<PathBuf>,
    /// Keep events until they are asked for
    #[arg(long)]
    pub events: bool,
    /// The tile.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// The options of `tilescope state` that say which registers are meant.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Shown {
    #[command(flatten)]
    state: StateArgs,
}

/// What can be asked of whatever is simulated.
trait Subject {
    /// How it stands: `cycle`, `stage`, `verdict` (null while it can go on), `message`, and more.
    fn status(&mut self) -> Value;
    /// Goes on, at most so far.
    fn run(&mut self, ask: &Ask) -> Result<()>;
    /// Reads L1.
    fn read(&mut self, address: u32, bytes: &mut [u8]) -> Result<()>;
    /// Writes L1.
    fn write(&mut self, address: u32, bytes: &[u8]) -> Result<()>;
    /// Every register by name.
    fn registers(&mut self) -> Register;
    /// Cores, gates, semaphores, buffers and mailboxes.
    fn look(&mut self) -> Value;
    /// The events since they were last asked for, as lines of JSON.
    fn events(&mut self) -> Result<Vec<u8>>;
    /// How it ends and why, in the form asked for.
    fn explain(&mut self, form: &str) -> Result<String>;
}

/// Answers requests until there are no more.
///
/// # Errors
/// The session cannot begin, or its input or output fails.
pub fn run(args: &ServeArgs, text: &mut dyn Write) -> Result<Exit> {
    // What is for text takes away what looks like a colour; answers have bytes.
    let out = &mut BufWriter::new(Output::new(STDOUT, io::stdout()));
    match args.session.as_deref().filter(|path| is_tape(path)) {
        Some(path) => {
            let tape = ::tape::Tape::open(path)?;
            serve(&mut tape::Subject::new(&tape, args)?, out)
        }
        None => serve(&mut plan::Subject::new(args, text)?, out),
    }
}

fn serve(subject: &mut dyn Subject, out: &mut dyn Write) -> Result<Exit> {
    let hello = json!({ "tilescope": env!("CARGO_PKG_VERSION"), "status": subject.status() });
    wire::send(out, &Ok(Answer::Value(hello)))?;
    let mut input = BufReader::new(io::stdin().lock());
    while let Some(request) = wire::receive(&mut input)? {
        let answer = request.and_then(|request| answer(subject, &request));
        wire::send(out, &answer)?;
    }
    Ok(Exit::Ok)
}

fn answer(subject: &mut dyn Subject, request: &Request) -> Result<Answer> {
    let Request { ask, bytes } = request;
    Ok(match ask.what.as_str() {
        "status" => Answer::Value(subject.status()),
        "run" => {
            subject.run(ask)?;
            Answer::Value(subject.status())
        }
        "read" => {
            let mut bytes = vec![0; range(ask)?];
            subject.read(ask.address, &mut bytes)?;
            Answer::Bytes(bytes)
        }
        "write" => {
            subject.write(ask.address, bytes)?;
            Answer::Value(subject.status())
        }
        "registers" => {
            let shown = Shown::try_parse_from(&ask.options);
            let shown = shown.map_err(|error| anyhow::anyhow!("{}", first_line(&error)))?;
            Answer::Value(state::selected(&shown.state, &subject.registers())?)
        }
        "look" => Answer::Value(subject.look()),
        "events" => Answer::Bytes(subject.events()?),
        "explain" => Answer::Bytes(subject.explain(&ask.form)?.into_bytes()),
        other => bail!("no request {other:?}"),
    })
}

/// The bytes asked for, if they lie in L1.
fn range(ask: &Ask) -> Result<usize> {
    if !loader::layout::in_l1(ask.address, ask.size) {
        bail!("{:#x}, {} bytes: not a range of L1 (0..0x180000)", ask.address, ask.size);
    }
    usize::try_from(ask.size).context("more bytes than there are")
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}
