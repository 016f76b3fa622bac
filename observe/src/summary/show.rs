//! The report as a table for people.

use std::fmt;

use sim_core::{CoreId, ThreadId};

use super::{AgentWaits, Counters, KernelRun, SummaryReport, Wait};
use crate::describe::mutex_name;

impl fmt::Display for SummaryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} events up to cycle {}", self.counters.events, self.last_cycle)?;
        self.show_milestones(f)?;
        self.show_kernels(f)?;
        self.counters.show(f)?;
        if self.waits.iter().any(|row| row.count != 0 || row.open.is_some()) {
            writeln!(
                f,
                "\nwaits for devices and units (what cores poll for in loops: `tilescope report`)"
            )?;
        }
        self.waits.iter().try_for_each(|row| row.show(f))
    }
}

impl SummaryReport {
    fn show_milestones(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.milestones.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nmilestones")?;
        for milestone in &self.milestones {
            write!(f, "{:>9}  {:<9} {}", milestone.cycle, milestone.agent, milestone.text)?;
            match &milestone.code {
                Some(code) => writeln!(f, "  [{code}]")?,
                None => writeln!(f)?,
            }
        }
        lost(f, self.milestones_lost)
    }

    fn show_kernels(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kernels.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n{:<9} {:>9} {:>9} {:>9}", "kernel", "go", "done", "cycles")?;
        for KernelRun { core, started, finished } in &self.kernels {
            let core = core.map_or("tile", CoreId::name);
            match finished {
                Some(end) => {
                    let cycles = end.saturating_sub(*started);
                    writeln!(f, "{core:<9} {started:>9} {end:>9} {cycles:>9}")?;
                }
                None => writeln!(f, "{core:<9} {started:>9} {:>9} {:>9}", "-", "-")?,
            }
        }
        lost(f, self.kernels_lost)
    }
}

fn lost(f: &mut fmt::Formatter<'_>, count: u64) -> fmt::Result {
    if count == 0 { Ok(()) } else { writeln!(f, "{:>9}  and {count} more", "") }
}

impl Counters {
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<9} {:>9} {:>9} {:>9}", "thread", "pushed", "at boot", "issued")?;
        for thread in ThreadId::ALL {
            let i = thread.index();
            let [pushed, boot, issued] = [self.pushes[i], self.boot_pushes[i], self.issues[i]];
            writeln!(f, "{:<9} {pushed:>9} {boot:>9} {issued:>9}", thread.to_string())?;
        }
        writeln!(f)?;
        let singles = [
            ("host writes", self.host_writes),
            ("configuration words changed", self.config_writes),
            ("overlay stream registers changed", self.stream_changes),
            ("L1 atomics", self.l1_atomics),
            ("mailbox words", self.mailbox_words.iter().sum()),
            ("PCBuf words", self.pcbuf_words.iter().sum()),
        ];
        for (name, count) in singles.into_iter().filter(|(_, count)| *count != 0) {
            writeln!(f, "{count:>9}  {name}")?;
        }
        for (index, count) in (0..).zip(self.mutexes).filter(|(_, count)| *count != 0) {
            writeln!(f, "{count:>9}  times mutex {} acquired", mutex_name(index))?;
        }
        self.show_noc(f)?;
        self.show_semaphores(f)
    }

    fn show_noc(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, noc) in self.noc.iter().enumerate() {
            let commands = noc.reads + noc.writes + noc.inline_writes + noc.atomics;
            if commands != 0 {
                writeln!(
                    f,
                    "{commands:>9}  commands on NoC {index}: {} reads, {} writes, {} inline \
                     writes, {} atomics; {} bytes; {} done",
                    noc.reads, noc.writes, noc.inline_writes, noc.atomics, noc.bytes, noc.done
                )?;
            }
        }
        Ok(())
    }

    fn show_semaphores(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.semaphores.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "\n{:<20} {:>7} {:>7} {:>7} {:>9} {:>7} {:>5} {:>3}",
            "semaphore", "inits", "posts", "gets", "saturated", "highest", "value", "max"
        )?;
        for row in &self.semaphores {
            writeln!(
                f,
                "{:<20} {:>7} {:>7} {:>7} {:>9} {:>7} {:>5} {:>3}",
                row.name,
                row.inits,
                row.posts,
                row.gets,
                row.saturated,
                row.highest,
                row.value,
                row.max
            )?;
        }
        Ok(())
    }
}

impl AgentWaits {
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count == 0 && self.open.is_none() {
            return Ok(());
        }
        writeln!(f, "{:<9} {} waits, {} cycles", self.agent, self.count, self.cycles)?;
        for wait in &self.longest {
            show_wait(f, wait, "")?;
        }
        self.open.as_ref().map_or(Ok(()), |wait| show_wait(f, wait, " (still waits)"))
    }
}

fn show_wait(f: &mut fmt::Formatter<'_>, wait: &Wait, note: &str) -> fmt::Result {
    let Wait { reason, since, cycles, pc, code } = wait;
    write!(f, "{cycles:>9}  from {since}: {reason}{note}, pc {pc:#x}")?;
    match code {
        Some(code) => writeln!(f, "  [{code}]"),
        None => writeln!(f),
    }
}
