//! The verdict as one thing that happened: for traces, at the cycle from which on nothing else could.

use sim_core::{AgentId, Cycle, Stamp};

use super::hazards::Hazard;
use super::{End, Explanation};

/// What became of a run, in a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judgement {
    /// `DEADLOCK`, `HOST-WAIT`, ...
    pub verdict: String,
    /// The class of the cause, if it is known.
    pub hazard: Option<Hazard>,
    /// The cause in one sentence.
    pub text: String,
    /// Cycle at which it became unavoidable; if that is not known, at which it was found.
    pub closed: u64,
    /// Cycle at which it was found.
    pub found: u64,
    /// Whose wait, or mistake, the cause is.
    pub agent: Option<AgentId>,
    /// Its instruction.
    pub pc: Option<u32>,
    /// The tile of the cause among several, as the vendor's runtime counts workers.
    pub tile: Option<(u8, u8)>,
}

impl Judgement {
    /// `DEADLOCK[A1] cb-starved: NCRISC polls for a push of CB 0`.
    #[must_use]
    pub fn title(&self) -> String {
        let class = self.hazard.map(|hazard| format!("[{}] {}", hazard.id, hazard.name));
        let class = class.unwrap_or_default();
        match self.text.as_str() {
            "" => format!("{}{class}", self.verdict),
            text => format!("{}{class}: {text}", self.verdict),
        }
    }

    /// When, who and from where.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        let agent = self.agent.unwrap_or(AgentId::Host);
        Stamp { cycle: Cycle(self.closed), agent, pc: self.pc.unwrap_or(0) }
    }
}

impl Explanation {
    /// What a trace says of it; nothing of a run that did what it should.
    #[must_use]
    pub fn judgement(&self) -> Option<Judgement> {
        if self.end == End::Done && self.hazard.is_none() {
            return None;
        }
        let finding = self.led_by.and_then(|at| self.findings.get(at));
        let cause = self.chain.last().and_then(|at| self.waits.get(*at));
        let waits = cause.map(|link| (link.agent, link.pc));
        let word = self.wrong.as_ref().and_then(|wrong| wrong.words.first()?.writer.as_ref());
        let wrote = word.map(|writer| (writer.agent, writer.pc));
        let place = finding.map(|finding| (finding.agent, Some(finding.pc)));
        let place = place.or(wrote).or(waits);
        Some(Judgement {
            verdict: self.end.name().to_owned(),
            hazard: self.hazard,
            text: self.headline.clone(),
            closed: self.closed.unwrap_or(self.found),
            found: self.found,
            agent: place.map(|(agent, _)| agent),
            pc: place.and_then(|(_, pc)| pc),
            tile: None,
        })
    }
}
