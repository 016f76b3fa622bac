//! How far the rounds of a repeated launch have come: a line on a terminal, nothing in a pipe.
//!
//! Not here: what a run writes; with that on the same terminal there is no line.

use indicatif::{ProgressBar, ProgressStyle};
use loader::plan::Launch;

/// The line, as long as a launch is repeated.
#[derive(Debug)]
pub struct Rounds {
    quiet: bool,
    line: ProgressBar,
}

impl Rounds {
    /// No line yet; `quiet` when the terminal is used for something else.
    #[must_use]
    pub fn new(quiet: bool) -> Self {
        Self { quiet, line: ProgressBar::hidden() }
    }

    /// Round `round` of a launch begins, counted from 0.
    pub fn begin(&mut self, launch: &Launch, round: u32) {
        if self.quiet || launch.repeat == 1 {
            return;
        }
        if round == 0 {
            // On standard error, and only if that is a terminal.
            self.line = ProgressBar::new(launch.repeat.into());
            let template = "{msg} {wide_bar} {pos}/{len} rounds [{elapsed}, {eta} left]";
            if let Ok(style) = ProgressStyle::with_template(template) {
                self.line.set_style(style);
            }
            self.line.set_message(launch.name.clone());
        }
        self.line.set_position(round.into());
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        self.line.finish_and_clear();
        self.line = ProgressBar::hidden();
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        self.clear();
    }
}
