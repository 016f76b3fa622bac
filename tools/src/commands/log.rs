//! What the handshake log on the screen shows.

use anyhow::{Result, anyhow};
use observe::Targets;

use super::views::Records;

/// Handshakes without the noise of single pushes and configuration writes.
const HANDSHAKES: &str = "info";

/// The topics that were asked for, if any were.
///
/// # Errors
/// The filter names what does not exist.
pub fn wanted(output: &Records) -> Result<Option<Targets>> {
    let filter = match (&output.log, output.trace_handshakes) {
        (Some(filter), _) => filter.as_str(),
        (None, true) => HANDSHAKES,
        (None, false) => return Ok(None),
    };
    Targets::parse(filter).map(Some).map_err(|error| anyhow!("--log {error}"))
}
