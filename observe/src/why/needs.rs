//! What exactly ends a wait, and who has ever done that.

use memory_map::{Target, lookup};
use sim_core::{AgentId, CoreId, ThreadId, WaitReason, Width};
use tile::AgentWait;

use super::ahead;
use super::compared::{Count, compared, counted};
use super::scene::Scene;
use crate::describe::{reason_text, view_of};
use crate::names::{is_go_signal, subordinate};
use crate::resource::{ACKED, CREDIT_MASK, RECEIVED, Resource, Way, awaited};

/// First byte of `subordinate_sync`, and the cores its bytes belong to `[spec: boot-and-sync 1.4]`.
const SYNC: u32 = 0x68;
const SYNC_ORDER: [CoreId; 4] = [CoreId::Ncrisc, CoreId::Trisc0, CoreId::Trisc1, CoreId::Trisc2];

/// Semaphore of the destination registers `[llk: common/inc/ckernel_structs.h]`.
const MATH_PACK: u8 = 1;

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
            text,
            target: None,
            beyond: None,
        }
    }
}

/// The core that does what an agent does: a thread's instructions are pushed by its core.
pub(super) fn core_behind(agent: AgentId) -> Option<CoreId> {
    crate::describe::core_of(agent)
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
            Need::new(kind, "has ended in an endless loop".to_owned(), Vec::new())
        }
        WaitReason::Reset | WaitReason::Halted => {
            Need::new(Kind::Stopped, reason_text(&wait.reason), wait.enders.clone())
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
    (need.known, need.own) = (actors.known, actors.own);
    need
}

/// `a post of semaphore MATH_PACK`.
pub(super) fn action(resource: Resource, way: Way) -> String {
    let verb = if way == Way::Take { resource.take() } else { resource.give() };
    let article = if verb.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {verb} of {resource}")
}

/// The state of a resource in brackets; nothing without books.
fn remark(scene: &Scene<'_>, resource: Resource) -> String {
    if scene.ledger.is_blank() { String::new() } else { format!(" ({})", state(scene, resource)) }
}

/// What is known about the state of a resource.
pub(super) fn state(scene: &Scene<'_>, resource: Resource) -> String {
    let history = scene.ledger.history(resource);
    match (resource, history) {
        (Resource::Semaphore(_), Some(history)) => format!("value {}", history.value),
        (Resource::Semaphore(_), None) => "never touched".to_owned(),
        (Resource::Mutex(_), Some(history)) => match history.last(Way::Take) {
            Some(entry) if history.value == 0 => {
                let place = scene.place(entry.agent, entry.pc);
                format!("held by {}, taken in {place}", entry.agent)
            }
            _ => "free".to_owned(),
        },
        (Resource::Mutex(_), None) => "never taken".to_owned(),
        (Resource::Src(_), history) => banks(history.map_or(0, |history| history.value)),
        (Resource::Circular(index), Some(history)) => {
            let pages = scene.buffer(index).map(|buffer| format!(" of {}", buffer.pages));
            let held = history.given.wrapping_sub(history.taken);
            format!(
                "{} pushed, {} popped, {held}{} pages in it",
                history.given,
                history.taken,
                pages.unwrap_or_default()
            )
        }
        (Resource::Circular(_), None) => "never touched".to_owned(),
        (_, Some(history)) => format!(
            "{} {}, {} {}",
            history.given,
            plural(resource.give(), history.given),
            history.taken,
            plural(resource.take(), history.taken)
        ),
        (_, None) => "never used".to_owned(),
    }
}

fn plural(word: &str, count: u64) -> String {
    match (count, word.ends_with("sh")) {
        (1, _) => word.to_owned(),
        (_, true) => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

fn banks(bits: u32) -> String {
    let owner = |bank: u32| if bits >> bank & 1 == 1 { "matrix unit" } else { "unpacker" };
    format!(
        "bank 0 {}'s, bank 1 {}'s; unpacker is at bank {}, matrix unit at bank {}",
        owner(0),
        owner(1),
        bits >> 2 & 1,
        bits >> 3 & 1
    )
}

/// Who could end a wait.
struct Actors {
    agents: Vec<AgentId>,
    known: bool,
    own: Option<u32>,
}

/// Who would have to do that: who has done it before, who holds it back behind a wait of its own,
/// else who could.
fn who(scene: &Scene<'_>, wait: &AgentWait, resource: Resource, way: Way) -> Actors {
    let known = |agents| Actors { agents, known: true, own: None };
    let history = scene.ledger.history(resource);
    if let (Resource::Mutex(_), Some(history)) = (resource, history)
        && let Some(holder) = history.last(Way::Take)
        && history.value == 0
    {
        return known(vec![holder.agent]);
    }
    let mut agents = history.map(|history| history.agents_since_setup(way)).unwrap_or_default();
    // A blocked thread cannot have meant itself.
    agents.retain(|agent| *agent != wait.agent);
    if !agents.is_empty() {
        return known(agents);
    }
    match (resource, way) {
        (Resource::Src(_), Way::Give) => known(vec![AgentId::Thread(ThreadId::T0)]),
        (Resource::Src(_), _) => known(vec![AgentId::Thread(ThreadId::T1)]),
        (Resource::Mailbox { .. } | Resource::PcBuf(_), _) => known(wait.enders.clone()),
        (Resource::Circular(_), _) if let Some(other) = other_side(scene, wait, resource, way) => {
            known(vec![other])
        }
        (Resource::Circular(_), _) => {
            // The unpacker's core pops and the packer's pushes `[hdr: hw/inc/api/compute/cb_api.h]`.
            let compute = if way == Way::Take { CoreId::Trisc0 } else { CoreId::Trisc2 };
            let others = [compute, CoreId::Brisc, CoreId::Ncrisc].map(AgentId::Core);
            let agents = others.into_iter().filter(|agent| *agent != wait.agent).collect();
            Actors { agents, known: false, own: None }
        }
        (Resource::Semaphore(index), _) => semaphore(scene, wait, index, way),
        _ => Actors { agents: wait.enders.clone(), known: false, own: None },
    }
}

/// Who is at the other side of a circular buffer: the core that waits there, or its thread, if that
/// holds back what the core has pushed.
fn other_side(
    scene: &Scene<'_>,
    wait: &AgentWait,
    resource: Resource,
    way: Way,
) -> Option<AgentId> {
    let Resource::Circular(index) = resource else { return None };
    let waits_so = |other: &&AgentWait| {
        other.agent != wait.agent
            && other.reason == WaitReason::Spin
            && credit(scene, other, index).is_some_and(|other| other != way)
    };
    let mut others = scene.waits.iter().filter(waits_so);
    let only = others.next()?;
    if others.next().is_some() {
        return None;
    }
    let thread = core_behind(only.agent)?.thread().map(AgentId::Thread);
    let blocked = thread.filter(|thread| scene.waits.iter().any(|wait| wait.agent == *thread));
    Some(blocked.unwrap_or(only.agent))
}

/// Who could post or get a semaphore that nobody has posted or got yet.
fn semaphore(scene: &Scene<'_>, wait: &AgentWait, index: u8, way: Way) -> Actors {
    let holds = |wait: &&AgentWait| wait.word.is_some_and(|word| ahead::operates(word, index, way));
    if holds(&wait) {
        return Actors { agents: Vec::new(), known: true, own: wait.pc };
    }
    let holders = scene.waits.iter().filter(holds).map(|wait| wait.agent);
    let holders: Vec<_> = holders.collect();
    if !holders.is_empty() {
        return Actors { agents: holders, known: true, own: None };
    }
    let mut agents = match (index, way, wait.agent) {
        // The math thread posts MATH_PACK, the pack thread gets it
        // `[llk: llk_lib/llk_math_common.h]`, `[llk: llk_lib/llk_pack_common.h]`.
        (MATH_PACK, Way::Give, AgentId::Thread(ThreadId::T2)) => by(ThreadId::T1),
        (MATH_PACK, Way::Take, AgentId::Thread(ThreadId::T1)) => by(ThreadId::T2),
        _ => wait.enders.clone(),
    };
    if let AgentId::Thread(thread) = wait.agent {
        let core = AgentId::Core(thread.core());
        if let Some(pc) = ahead::operation(scene, thread, index, way) {
            return Actors { agents: vec![core], known: true, own: Some(pc) };
        }
        agents.retain(|agent| *agent != core);
    }
    Actors { agents, known: false, own: None }
}

fn by(thread: ThreadId) -> Vec<AgentId> {
    vec![AgentId::Thread(thread)]
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
    let words = || wait.reads.iter().filter(|load| !load.device);
    let named = words().find(|load| scene.names.l1(load.addr).is_some());
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
    exceed(scene, core, load.pc, &mut need);
    if let (Some(target), Kind::Word | Kind::Counter { .. }) = (need.target, need.kind) {
        need.text = format!("{}, compared with {target:#x}", need.text);
    }
    need
}

/// Says of a wait for a circular buffer if it asks for more than the buffer can ever hold.
fn exceed(scene: &Scene<'_>, core: CoreId, pc: u32, need: &mut Need) {
    let Some(Resource::Circular(index)) = need.resource else { return };
    let Some(buffer) = scene.buffer(index) else { return };
    let Some(Count { is, wanted }) = counted(scene, core, pc) else { return };
    // A count that a buffer cannot have has not been read right.
    if is > buffer.pages || wanted <= buffer.pages || wanted > CREDIT_MASK {
        return;
    }
    let (pages, has) = (plural("page", wanted.into()), buffer.pages);
    let state = remark(scene, Resource::Circular(index));
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
    let name = scene.names.l1(addr).map(|place| place.name);
    let field = name.as_deref().unwrap_or_default();
    if is_go_signal(field) || field.starts_with("go_messages") {
        let text = "waits for a run message".to_owned();
        let host = vec![AgentId::Host];
        let idle = !wait.pc.is_some_and(|pc| scene.names.is_kernel(core, pc));
        return Need::new(if idle { Kind::Idle } else { Kind::Word }, text, host);
    }
    if subordinate(field).is_some() {
        return sync(scene, wait, core, addr);
    }
    let resource = Resource::Word(addr);
    let text = format!("polls {} = {value:#x}", scene.word_name(addr));
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

/// A polled byte or word of `subordinate_sync`.
fn sync(scene: &Scene<'_>, wait: &AgentWait, core: CoreId, addr: u32) -> Need {
    let byte = |index: u32| scene.machine.l1(SYNC + index, Width::Byte);
    let own = SYNC_ORDER.iter().position(|other| *other == core);
    if own == Some((addr - SYNC) as usize) {
        let value = byte(addr - SYNC);
        let text = format!("waits for GO in {} (is {value:#x})", scene.word_name(addr));
        let in_kernel = wait.pc.is_some_and(|pc| scene.names.is_kernel(core, pc));
        let kind = if in_kernel { Kind::Word } else { Kind::Idle };
        let mut need = Need::new(kind, text, vec![AgentId::Core(CoreId::Brisc)]);
        need.resource = Some(Resource::Word(addr));
        return need;
    }
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
    let hit = lookup(view_of(core), addr);
    let name = memory_map::register_name(view_of(core), addr);
    let name = name.unwrap_or_else(|| format!("{addr:#010x}"));
    let (resource, way) = match hit.map(|hit| (hit.target, hit.offset)) {
        Some((Target::Semaphores, offset)) => {
            let way = if value == 0 { Way::Give } else { Way::Take };
            (Resource::Semaphore(((offset / 4) & 7) as u8), way)
        }
        Some((Target::Overlay, offset)) => {
            let stream = (offset >> 12) as u8;
            match credit(scene, wait, stream) {
                Some(way) => (Resource::Circular(stream), way),
                None => return other_register(&name, value, wait),
            }
        }
        Some((Target::Mailbox, _)) => {
            let from = CoreId::from_index((addr >> 12 & 3) as usize).unwrap_or(CoreId::Brisc);
            (Resource::Mailbox { from, to: core }, Way::Give)
        }
        Some((target @ (Target::Noc0 | Target::Noc1), _)) => {
            let noc = u8::from(target == Target::Noc1);
            let text = format!("polls {name} = {value:#x}");
            return Need::new(Kind::Counter { noc, value }, text, vec![AgentId::Noc(noc)]);
        }
        _ => return other_register(&name, value, wait),
    };
    let known = match resource {
        // The registers themselves say how it stands.
        Resource::Circular(_) if scene.ledger.is_blank() => credits(scene, wait, resource),
        _ => remark(scene, resource),
    };
    let text = format!("polls for {}{known}", action(resource, way));
    on(scene, wait, text, resource, way)
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

fn other_register(name: &str, value: u32, wait: &AgentWait) -> Need {
    Need::new(Kind::Unit, format!("polls {name} = {value:#x}"), wait.enders.clone())
}

/// Which way a loop on the credits of a circular buffer waits: one that reads only the received
/// count waits for pages, one that reads only the acknowledged count for room. Of one that reads
/// both, what the core has done before says it, else the difference.
fn credit(scene: &Scene<'_>, wait: &AgentWait, stream: u8) -> Option<Way> {
    let read = |register: u16| {
        let offset = u32::from(stream) * 0x1000 + u32::from(register) * 4;
        wait.reads.iter().find(|load| load.device && load.addr & 0x3_FFFF == offset)
    };
    let (received, acked) = match (read(RECEIVED), read(ACKED)) {
        (Some(received), Some(acked)) => (received, acked),
        (Some(_), None) => return Some(Way::Give),
        (None, Some(_)) => return Some(Way::Take),
        (None, None) => return None,
    };
    let history = scene.ledger.history(Resource::Circular(stream));
    let agents = |way| history.map(|history| history.agents(way)).unwrap_or_default();
    let own = core_behind(wait.agent);
    let is_own = |agent: &AgentId| core_behind(*agent) == own;
    let (givers, takers) = (agents(Way::Give), agents(Way::Take));
    Some(match (givers.iter().any(is_own), takers.iter().any(is_own)) {
        (true, false) => Way::Take,
        (false, true) => Way::Give,
        // Both sides have begun, and this core is neither: nothing to go by.
        (false, false) if !givers.is_empty() && takers.is_empty() => Way::Give,
        _ if received.value.wrapping_sub(acked.value) & CREDIT_MASK == 0 => Way::Give,
        _ => Way::Take,
    })
}
