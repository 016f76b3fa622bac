//! `tilescope completions` and `tilescope man`: what shells and `man` want to know of the command line,
//! from its own description.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, CommandFactory as _};

use super::Cli;
use crate::exit::Exit;
use crate::output::write_whole;

/// Name of the program.
const NAME: &str = "tilescope";

/// Print completions for a shell
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "\
Examples:
  tilescope completions bash > ~/.local/share/bash-completion/completions/tilescope
  tilescope completions fish > ~/.config/fish/completions/tilescope.fish
")]
pub struct CompletionsArgs {
    /// Which
    pub shell: clap_complete::Shell,
}

/// Write man pages into a directory
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "\
Examples:
  tilescope man ~/.local/share/man/man1
")]
pub struct ManArgs {
    /// Directory; it is made if need be
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

/// Prints completions.
///
/// # Errors
/// The output cannot be written.
pub fn completions(args: &CompletionsArgs, out: &mut dyn Write) -> Result<Exit> {
    // The generator takes no for an answer from nobody: what it writes goes through memory.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut text);
    out.write_all(&text)?;
    Ok(Exit::Ok)
}

/// Writes a page for the program and one for each command.
///
/// # Errors
/// The directory or a page cannot be written.
pub fn man(args: &ManArgs, out: &mut dyn Write) -> Result<Exit> {
    let dir = &args.dir;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mut cli = Cli::command();
    cli.build();
    let commands = cli.get_subcommands().filter(|command| command.get_name() != "help");
    let mut count = 0;
    for command in std::iter::once(&cli).chain(commands) {
        // Built, a command knows what it is called with: tilescope-boot.
        let name = command.get_display_name().unwrap_or(NAME);
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        write_whole(&dir.join(format!("{name}.1")), &page)?;
        count += 1;
    }
    writeln!(out, "{}: {count} pages", dir.display())?;
    Ok(Exit::Ok)
}
