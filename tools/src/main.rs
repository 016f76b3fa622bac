//! The `tilescope` command line: parses, runs, prints errors, sets the exit status.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
#[cfg(feature = "shell")]
use tools::commands::shell;
#[cfg(feature = "tui")]
use tools::commands::tui;
use tools::commands::{
    Cli, Command, boot, demo, disasm, doctor, env, firmware, launch, live, pack, record, regs,
    replay, serve, sim, stalls, state, why,
};
#[cfg(feature = "debug")]
use tools::commands::{bisect, debug, who};
use tools::exit::Exit;
use tools::{interrupt, output};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = BufWriter::new(output::text());
    let result = run(&cli.command, &mut out);
    let flushed = out.flush().map_err(Into::into);
    // What is still buffered has nowhere to go.
    let (_, _) = out.into_parts();
    match result.and_then(|exit| exit.whatever_became_of(flushed)) {
        Ok(exit) => exit.into(),
        Err(error) if interrupt::told(&error) => Exit::NoProgress.into(),
        Err(error) => {
            output::print_error(&error);
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
        #[cfg(feature = "debug")]
        Command::Debug(args) => debug::run(args, out),
        #[cfg(feature = "debug")]
        Command::Who(args) => who::run(args, out),
        #[cfg(feature = "debug")]
        Command::Bisect(args) => bisect::run(args, out),
        #[cfg(feature = "tui")]
        Command::Tui(args) => tui::run(args, out),
        Command::Demo(args) => demo::run(args, out),
        Command::Firmware(args) => firmware::run(args, out),
        Command::Disasm(args) => disasm::run(args, out),
        Command::Regs(args) => regs::run(args, out),
        Command::Run(args) => live::run(args, out),
        Command::Pack(args) => pack::run(args, out),
        Command::Env(args) => env::run(args, out),
        Command::Doctor(args) => doctor::run(args, out),
        Command::Replay(args) => replay::run(args, out),
        Command::Record(args) => record::run(args, out),
        Command::Sim(args) => sim::run(args, out),
        Command::Serve(args) => serve::run(args, out),
        #[cfg(feature = "shell")]
        Command::Completions(args) => shell::completions(args, out),
        #[cfg(feature = "shell")]
        Command::Man(args) => shell::man(args, out),
    }
}
