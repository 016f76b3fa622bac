//! What exactly ends a wait, and who has ever done that.

use memory_map::{Target, lookup};
use sim_core::observer::Look;
use sim_core::{AgentId, CoreId, WaitReason, Width};
use tile::{AgentWait, WatchedLoad};

pub(super) use super::actors::core_behind;
use super::actors::who;
use super::actors::{by_deeds, looks};
use super::compared::{Count, compared, counted};
use super::remark::{self, plural, remark};
use super::scene::Scene;
use super::users::Site;
use crate::describe::{reason_text, view_of};
pub(super) use crate::polls::action;
use crate::polls::{self, Role, SYNC, SYNC_ORDER, is_signal, on_register, role, told};
use crate::resource::{ACKED, CREDIT_MASK, RECEIVED, Resource, Way, awaited};

/// What kind of wait it is, beyond its resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// For a resource.
    Resource,
    /// For the core's own Tensix thread.
    OwnThread,
    /// For other cores to report done.
    Done,
    /// For a run message: the core has nothing to do.
    Idle,
    /// For a counter of a NoC interface.
    Counter {
        /// NoC 0 or 1.
        noc: u8,
        /// What the counter shows.
        value: u32,
    },
    /// For a word of L1 without a meaning of its own.
    Word,
    /// For time or a unit.
    Unit,
    /// Its program is over.
    Ended,
    /// Halted, in reset, or in a loop of a kernel that nothing ends.
    Stopped,
}

/// What would end a wait.
#[derive(Clone, Debug)]
pub(super) struct Need {
    pub(super) kind: Kind,
    pub(super) resource: Option<Resource>,
    pub(super) way: Way,
    /// Who would have to act, most likely first.
    pub(super) who: Vec<AgentId>,
    /// Whether that is known, and not only everybody who could.
    pub(super) known: bool,
    /// Where the waiting agent, or its core, would act itself, behind the wait.
    pub(super) own: Option<u32>,
    /// The wait in words: `waits for a post of semaphore MATH_PACK (0, max 1)`.
    pub(super) text: String,
    /// Where in the code of the launch it would be done, if nobody has done it so far.
    pub(super) sites: Vec<Site>,
    /// The value a polling loop compares with.
    pub(super) target: Option<u32>,
    /// Pages or room for pages that is asked for, if there can never be as much.
    pub(super) beyond: Option<u32>,
}

impl Need {
    fn new(kind: Kind, text: String, who: Vec<AgentId>) -> Self {
        Self {
            kind,
            resource: None,
            way: Way::Give,
            who,
            known: true,
            own: None,
            sites: Vec::new(),
            text,
            target: None,
            beyond: None,
        }
    }
}

/// What would end that wait.
pub(super) fn need(scene: &Scene<'_>, wait: &AgentWait) -> Need {
    match wait.reason {
        WaitReason::Spin => spin(scene, wait),
        WaitReason::Ended => {
            let core = core_behind(wait.agent).unwrap_or(CoreId::Brisc);
            // Behind `main` start-up code goes round for ever: that is how a bare program ends.
            let kernel = wait.pc.is_some_and(|pc| {
                let function = scene.names.function(core, pc);
                scene.names.is_kernel(core, pc) && function.as_deref() != Some("_start")
            });
            let kind = if kernel { Kind::Stopped } else { Kind::Ended };
            Need::new(kind, remark::ended(scene, wait), Vec::new())
        }
        WaitReason::Reset | WaitReason::Halted | WaitReason::Paused => {
            let text = remark::stopped(scene, wait);
            Need::new(Kind::Stopped, text, wait.enders.clone())
        }
        WaitReason::CoprocessorBusy { thread }
        | WaitReason::MopBusy { thread }
        | WaitReason::InstructionFifoFull { thread } => {
            let text = match wait.reason {
                WaitReason::CoprocessorBusy { .. } => {
                    format!("waits for Tensix {thread} to finish what was pushed (tensix_sync)")
                }
                WaitReason::MopBusy { .. } => format!("waits for the MOP expander of {thread}"),
                _ => format!("waits for room in the instruction FIFO of Tensix {thread}"),
            };
            Need::new(Kind::OwnThread, text, vec![AgentId::Thread(thread)])
        }
        _ => resource_need(scene, wait),
    }
}

fn resource_need(scene: &Scene<'_>, wait: &AgentWait) -> Need {
    let wanted = awaited(&wait.reason);
    let Some(&(resource, way)) = wanted.first() else {
        let text = format!("waits: {}", reason_text(&wait.reason));
        return Need::new(Kind::Unit, text, wait.enders.clone());
    };
    let text = format!("waits for {}{}", action(resource, way), remark(scene, resource));
    on(scene, wait, text, resource, way)
}

/// A wait for an operation on a resource.
fn on(scene: &Scene<'_>, wait: &AgentWait, text: String, resource: Resource, way: Way) -> Need {
    let actors = who(scene, wait, resource, way);
    let mut need = Need::new(Kind::Resource, text, actors.agents);
    (need.resource, need.way) = (Some(resource), way);
    (need.known, need.own, need.sites) = (actors.known, actors.own, actors.sites);
    need
}

fn spin(scene: &Scene<'_>, wait: &AgentWait) -> Need {
    let AgentId::Core(core) = wait.agent else {
        return Need::new(Kind::Unit, "polls".to_owned(), Vec::new());
    };
    let device = wait.reads.iter().find(|load| load.device);
    // Arguments and pointers are read in a loop too; what somebody else has written comes first.
    let shared = |addr: u32| {
        let history = scene.ledger.history(Resource::Word(addr));
        history.is_some_and(|history| !history.agents(Way::Give).is_empty())
    };
    // What says where another load of the loop reads is no signal, whoever gave it a name.
    let is_pointer = |at: &WatchedLoad| {
        wait.reads.iter().any(|load| polls::is_base(at.value, at.addr, load.addr))
    };
    let all = || wait.reads.iter().filter(|load| !load.device);
    let is_all = all().all(is_pointer);
    let words = || all().filter(|load| is_all || !is_pointer(load));
    let named = words().find(|load| is_signal(load.addr));
    let named = named.or_else(|| words().find(|load| scene.names.l1(load.addr).is_some()));
    let written = words().find(|load| shared(load.addr));
    let Some(load) = device.or(named).or(written).or_else(|| words().next_back()) else {
        return Need::new(Kind::Ended, "spins without reading anything".to_owned(), Vec::new());
    };
    let mut need = if load.device {
        register(scene, wait, core, load.addr, load.value)
    } else {
        word(scene, wait, core, load.addr, load.value)
    };
    need.target = compared(scene, core, load.pc);
    exceed(scene, wait, (core, load.pc), &mut need);
    if let (Some(target), Kind::Word | Kind::Counter { .. }) = (need.target, need.kind) {
        need.text = match target == load.value {
            // `< n` is compiled to a comparison with n - 1.
            true => format!("{}, until that changes", need.text),
            false => format!("{}, compared with {target:#x}", need.text),
        };
    }
    need
}

/// Says of a wait for a circular buffer if it asks for more than the buffer can ever hold.
fn exceed(scene: &Scene<'_>, wait: &AgentWait, (core, pc): (CoreId, u32), need: &mut Need) {
    let Some(resource @ Resource::Circular(index)) = need.resource else { return };
    if scene.lacks(index) {
        // There never is room in it; data may come all the same.
        need.beyond = (need.way == Way::Take).then_some(1);
        return;
    }
    let Some(buffer) = scene.buffer(index) else { return };
    let Some(Count { is, wanted }) = counted(scene, core, pc) else { return };
    // A count that a buffer cannot have has not been read right.
    if is > buffer.pages || wanted > CREDIT_MASK {
        return;
    }
    if wanted <= buffer.pages {
        if wanted > 1 && need.way == Way::Give {
            let state = standing(scene, wait, resource);
            need.text = format!("polls for {wanted} pages of CB {index}{state}");
        }
        return;
    }
    let (pages, has) = (plural("page", wanted.into()), buffer.pages);
    let state = standing(scene, wait, resource);
    need.text = match need.way {
        Way::Take => {
            format!("waits for room for {wanted} {pages} in CB {index}, which has {has}{state}")
        }
        _ => format!("waits for {wanted} {pages} of CB {index}, which has {has}{state}"),
    };
    need.beyond = Some(wanted);
}

/// A polled word of L1.
fn word(scene: &Scene<'_>, wait: &AgentWait, core: CoreId, addr: u32, value: u32) -> Need {
    let look = Look { pc: wait.pc.unwrap_or(0), addr, value };
    let text = told(scene.names, core, Some(&look), None);
    match role(scene.names, core, addr) {
        Role::Run => {
            let idle = !wait.pc.is_some_and(|pc| scene.names.is_kernel(core, pc));
            let kind = if idle { Kind::Idle } else { Kind::Word };
            return Need::new(kind, text, vec![AgentId::Host]);
        }
        Role::Own(_) => return go(scene, wait, core, addr, &text),
        Role::Others => return reports(scene),
        Role::Word(_) => {}
    }
    let resource = Resource::Word(addr);
    let text = format!("{text} = {value:#x}");
    let history = scene.ledger.history(resource);
    let mut writers = history.map(|history| history.agents(Way::Give)).unwrap_or_default();
    writers.retain(|agent| *agent != wait.agent);
    let known = !writers.is_empty();
    if !known {
        writers.clone_from(&wait.enders);
    }
    let mut need = Need::new(Kind::Word, text, writers);
    (need.resource, need.known) = (Some(resource), known);
    need
}

/// A core's own byte of `subordinate_sync`.
fn go(scene: &Scene<'_>, wait: &AgentWait, core: CoreId, addr: u32, text: &str) -> Need {
    let value = scene.machine.l1(addr, Width::Byte);
    let in_kernel = wait.pc.is_some_and(|pc| scene.names.is_kernel(core, pc));
    let waits = format!("{text} (is {value:#x})");
    let text = match scene.names.kernel_code(core) {
        Some(_) if !in_kernel => format!("is done with its kernel and {waits}"),
        _ => waits,
    };
    let kind = if in_kernel { Kind::Word } else { Kind::Idle };
    let mut need = Need::new(kind, text, vec![AgentId::Core(CoreId::Brisc)]);
    need.resource = Some(Resource::Word(addr));
    need
}

/// The other bytes of `subordinate_sync`.
fn reports(scene: &Scene<'_>) -> Need {
    let byte = |index: u32| scene.machine.l1(SYNC + index, Width::Byte);
    let busy: Vec<_> =
        (0..4).filter(|index| byte(*index) != 0).map(|index| SYNC_ORDER[index as usize]).collect();
    let names: Vec<_> = busy.iter().map(|core| core.name()).collect();
    let text = format!("waits for {} to report done", names.join(", "));
    let mut need = Need::new(Kind::Done, text, busy.into_iter().map(AgentId::Core).collect());
    need.resource = Some(Resource::Word(SYNC));
    need
}

/// A polled register of a device.
fn register(scene: &Scene<'_>, wait: &AgentWait, core: CoreId, addr: u32, value: u32) -> Need {
    let looks = looks(wait);
    let look = Look { pc: wait.pc.unwrap_or(0), addr, value };
    let deeds = |stream| by_deeds(scene, wait, stream);
    let Some((resource, way)) = on_register(core, &looks, &look, deeds) else {
        let text = format!("{} = {value:#x}", told(scene.names, core, Some(&look), None));
        let hit = lookup(view_of(core), addr);
        let Some(target @ (Target::Noc0 | Target::Noc1)) = hit.map(|hit| hit.target) else {
            return Need::new(Kind::Unit, text, wait.enders.clone());
        };
        let noc = u8::from(target == Target::Noc1);
        return Need::new(Kind::Counter { noc, value }, text, vec![AgentId::Noc(noc)]);
    };
    let known = standing(scene, wait, resource);
    let text = format!("{}{known}", told(scene.names, core, Some(&look), Some((resource, way))));
    on(scene, wait, text, resource, way)
}

/// How a resource stands, in brackets.
fn standing(scene: &Scene<'_>, wait: &AgentWait, resource: Resource) -> String {
    match resource {
        // The registers themselves say how it stands.
        Resource::Circular(_) if scene.ledger.is_blank() => credits(scene, wait, resource),
        _ => remark(scene, resource),
    }
}

/// How a circular buffer stands by the counters that a loop reads.
fn credits(scene: &Scene<'_>, wait: &AgentWait, resource: Resource) -> String {
    let value = |register: u16| {
        let matches =
            |addr: u32| addr % memory_map::layout::STREAM_STRIDE == u32::from(register) * 4;
        let load = wait.reads.iter().find(|load| load.device && matches(load.addr));
        load.map(|load| load.value & CREDIT_MASK)
    };
    let pages = match resource {
        Resource::Circular(index) => scene.buffer(index).map(|buffer| buffer.pages),
        _ => None,
    };
    let of = pages.map_or_else(String::new, |pages| format!(" of {pages}"));
    match (value(RECEIVED), value(ACKED)) {
        (Some(received), Some(acked)) => {
            format!(" ({}{of} pages in it)", received.wrapping_sub(acked) & CREDIT_MASK)
        }
        (Some(received), None) => format!(" ({received} pushed so far)"),
        (None, Some(acked)) => format!(" ({acked} popped so far)"),
        (None, None) => String::new(),
    }
}
