//! The closure itself: which agents are live, round by round, until no other turns out to be.

use sim_core::{AgentId, CoreId, WaitReason};
use tile::AgentWait;

use super::{Ender, Mailbox, Role, Scene, Stance};

/// The closure over all tiles.
pub(super) struct Closure<'a> {
    scenes: &'a [Scene],
    /// Who could end it, by scene, by wait.
    enders: Vec<Vec<Vec<Ender>>>,
    stance: Stance,
    /// By scene, by wait.
    live: Vec<Vec<bool>>,
}

impl<'a> Closure<'a> {
    pub(super) fn new(scenes: &'a [Scene], mailbox: &Mailbox, stance: Stance) -> Self {
        // What a thread waits for ends by itself while a unit is busy with it, and in the cycle in which its wait
        // gate lets go: no other agent does that. A coprocessor in which nothing of the kind is left sleeps.
        let moves = |scene: &Scene, wait: &AgentWait| {
            scene.computes && matches!(wait.agent, AgentId::Thread(_))
        };
        // Who has paused a core will let it go on.
        let goes_on = |scene: &Scene, wait: &AgentWait| {
            wait.reason == WaitReason::Paused || moves(scene, wait)
        };
        let of = |scene: &Scene| scene.waits.iter().map(|wait| goes_on(scene, wait)).collect();
        let live = scenes.iter().map(of).collect();
        let enders =
            |scene: &Scene| scene.waits.iter().map(|wait| scene.enders(wait, mailbox)).collect();
        let enders = scenes.iter().map(enders).collect();
        let mut closure = Self { scenes, enders, stance, live };
        while closure.round() {}
        closure
    }

    /// One look at every agent; whether another one turned out to be live.
    fn round(&mut self) -> bool {
        let senders: Vec<bool> = (0..self.scenes.len()).map(|at| self.can_send(at)).collect();
        let mut changed = false;
        for at in 0..self.scenes.len() {
            for index in 0..self.scenes[at].waits.len() {
                if self.live[at][index] {
                    continue;
                }
                let mut enders = self.enders[at][index].iter();
                if enders.any(|&ender| self.can_act(at, ender, &senders)) {
                    self.live[at][index] = true;
                    changed = true;
                }
            }
        }
        changed
    }

    /// Whether a core of that tile may yet send something on a NoC.
    fn can_send(&self, at: usize) -> bool {
        CoreId::ALL.into_iter().any(|core| self.is_live(at, AgentId::Core(core)))
    }

    fn is_live(&self, at: usize, agent: AgentId) -> bool {
        let scene = &self.scenes[at];
        match scene.waits.iter().position(|wait| wait.agent == agent) {
            Some(index) => self.live[at][index],
            None => match agent {
                AgentId::Core(core) => {
                    let at_work = scene.moves || scene.clocked[core.index()];
                    at_work && !scene.dead[core.index()]
                }
                _ => scene.moves,
            },
        }
    }

    fn can_act(&self, at: usize, ender: Ender, senders: &[bool]) -> bool {
        match ender {
            Ender::Here(agent) => self.is_live(at, agent),
            Ender::Packet => self.scenes[at].awaits,
            Ender::Elsewhere => senders.iter().zip(self.scenes).enumerate().any(|(other, pair)| {
                // A dispatcher sends launches when the host has it do so, and nothing that a kernel of
                // somebody else waits for.
                let stranger = pair.1.role == Role::Dispatcher
                    && self.scenes[at].role != Role::Dispatcher
                    && self.stance > Stance::Free;
                other != at && *pair.0 && !stranger
            }),
            Ender::Launch => self.stance == Stance::Free,
            Ender::Write => self.stance < Stance::Polls,
        }
    }

    pub(super) fn is_stuck(&self, at: usize, index: usize) -> bool {
        !self.live[at][index] && self.scenes[at].waits[index].reason != WaitReason::Ended
    }
}
