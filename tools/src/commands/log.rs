//! The handshake log on the screen: one aligned line per event.

use std::fmt::{self, Write as _};
use std::io;

use anyhow::{Context as _, Result, bail};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::machine::OutputArgs;

/// Handshakes without the noise of single pushes and configuration writes.
const HANDSHAKES: &str = "tilescope=info";

/// Prints `cycle agent topic message  (pc function file:line)`.
struct Line;

/// The fields of one event.
#[derive(Default)]
struct Fields {
    cycle: u64,
    agent: String,
    pc: String,
    function: String,
    file: String,
    line: String,
    message: String,
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "cycle" => self.cycle = value,
            "line" => self.line = value.to_string(),
            _ => {}
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field.name(), format!("{value:?}"));
    }
}

impl Fields {
    fn put(&mut self, name: &str, value: String) {
        match name {
            "agent" => self.agent = value,
            "pc" => self.pc = value,
            "function" => self.function = value,
            "file" => self.file = value,
            "line" => self.line = value,
            "message" => self.message = value,
            _ => {}
        }
    }
}

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut out: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let target = event.metadata().target();
        let topic = target.strip_prefix("tilescope::").unwrap_or(target);
        let mut line =
            format!("{:>9} {:<9} {topic:<9} {}", fields.cycle, fields.agent, fields.message);
        if !fields.pc.is_empty() {
            let _ = write!(line, "  [{}", fields.pc);
            for part in [&fields.function, &fields.file] {
                if !part.is_empty() {
                    let _ = write!(line, " {part}");
                }
            }
            if !fields.line.is_empty() {
                let _ = write!(line, ":{}", fields.line);
            }
            line.push(']');
        }
        writeln!(out, "{line}")
    }
}

/// `semaphore` and `go,mailbox` are short for the full targets.
///
/// # Errors
/// A topic that does not exist: it would match nothing, without a word.
fn directives(filter: &str) -> Result<String> {
    let mut parts = Vec::new();
    for part in filter.split(',').map(str::trim) {
        let (name, level) = part.split_once('=').map_or((part, None), |(n, l)| (n, Some(l)));
        let topic = name.strip_prefix("tilescope::").unwrap_or(name);
        if observe::Target::ALL.iter().any(|target| target.short_name() == topic) {
            parts.push(format!("tilescope::{topic}={}", level.unwrap_or("trace")));
        } else if name == "tilescope" || level.is_none() && part.parse::<LevelFilter>().is_ok() {
            parts.push(part.to_owned());
        } else {
            let known: Vec<_> = observe::Target::ALL.iter().map(|t| t.short_name()).collect();
            bail!("--log {filter:?}: no topic {name:?}; there are {}", known.join(", "));
        }
    }
    Ok(parts.join(","))
}

/// Installs the log that was asked for. Returns whether there is one.
///
/// # Errors
/// The filter cannot be parsed.
pub fn install(output: &OutputArgs) -> Result<bool> {
    let filter = match (&output.log, output.trace_handshakes) {
        (Some(filter), _) => directives(filter)?,
        (None, true) => HANDSHAKES.to_owned(),
        (None, false) => return Ok(false),
    };
    let filter = EnvFilter::try_new(&filter)
        .with_context(|| format!("--log: {filter:?} is not a filter"))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .log_internal_errors(false)
        .event_format(Line);
    // A second command in the same process keeps the first one's log.
    let _ = if output.json {
        builder.with_writer(io::stderr).try_init()
    } else {
        builder.with_writer(io::stdout).try_init()
    };
    Ok(true)
}
