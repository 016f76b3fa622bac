//! What a check has found.

use serde::Serialize;
use sim_core::AgentId;

use super::hazards::Hazard;
use crate::describe::as_text;
use crate::names::{CodeName, Excerpt};

/// A contract violation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// Its class.
    pub hazard: Hazard,
    /// When it happened first.
    pub cycle: u64,
    /// Who.
    #[serde(serialize_with = "as_text")]
    pub agent: AgentId,
    /// From where.
    pub pc: u32,
    /// Where that is in the source, or the bare pc.
    pub place: String,
    /// The same, in parts.
    pub code: Option<CodeName>,
    /// The text of that line.
    pub source: Option<Excerpt>,
    /// Who called the function of that line, the innermost call first.
    pub callers: Vec<CodeName>,
    /// What happened.
    pub text: String,
    /// How often, from the same place.
    pub count: u64,
}
