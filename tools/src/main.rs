//! The `tilescope` command line: parses, runs, prints errors, sets the exit status.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use clap::builder::styling::{AnsiColor, Style};
use tools::commands::{
    Cli, Command, boot, demo, disasm, firmware, launch, record, regs, replay, sim, stalls, state,
    tui, why,
};
use tools::exit::Exit;

fn main() -> ExitCode {
    let cli = Cli::parse();
    // Colours only on a terminal, and never with NO_COLOR: the stream strips them.
    let mut out = BufWriter::new(anstream::stdout());
    let result = run(&cli.command, &mut out);
    let result = result.and_then(|exit| Ok(out.flush().map(|()| exit)?));
    // What is still buffered has nowhere to go once the reader has left.
    let (_, _) = out.into_parts();
    match result {
        Ok(exit) => exit.into(),
        Err(error) if is_closed_pipe(&error) => Exit::Ok.into(),
        Err(error) => {
            let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
            let text = format!("{error:#}").lines().collect::<Vec<_>>().join(" ");
            // There is nobody left to tell when standard error is gone too.
            let _ = writeln!(anstream::stderr(), "{red}error{red:#}: {text}");
            Exit::Host.into()
        }
    }
}

fn run(command: &Command, out: &mut dyn Write) -> Result<Exit> {
    match command {
        Command::Boot(args) => boot::run(args, out),
        Command::Launch(args) => launch::run(args, out),
        Command::State(args) => state::run(args, out),
        Command::Why(args) => why::run(args, out),
        Command::Report(args) => stalls::run(args, out),
        Command::Tui(args) => tui::run(args, out),
        Command::Demo(args) => demo::run(args, out),
        Command::Firmware(args) => firmware::run(args, out),
        Command::Disasm(args) => disasm::run(args, out),
        Command::Regs(args) => regs::run(args, out),
        Command::Replay(args) => replay::run(args, out),
        Command::Record(args) => record::run(args, out),
        Command::Sim(args) => sim::run(args, out),
    }
}

/// `tilescope regs | head` is not an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json =
            cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.or(json) == Some(io::ErrorKind::BrokenPipe)
    })
}
