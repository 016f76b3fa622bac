//! Nothing goes on any more, seen from the whole chip: who can never move again, and is it a hang?
//!
//! The closure of a tile ([`tile::Quiescence`]) knows one tile. Here the agents of all tiles and the host
//! stand in one graph: an agent is *live* if it moves, or if a live agent could end its wait. An agent that is
//! not live never moves again. Who may end a wait is typed:
//!
//! * a go signal and the other words of the mailbox block: the host, and whoever sends on a NoC;
//!   Watcher's pause is of the words that also a host writes that waits;
//! * `subordinate_sync`: the cores of the tile;
//! * a semaphore of the launch in force: cores of this tile and of others, never the host;
//! * a counter of a circular buffer: the cores of the tile, never the host;
//! * another word of L1: cores of this tile and of others, and the host;
//! * a counter of a NoC interface: packets under way.
//!
//! What the host may do is a [`Stance`]. A device at rest between two operations, a dispatcher that
//! waits for commands and a persistent kernel are no hang: a verdict names at least one core that is
//! within a kernel and stuck.

mod closure;
mod pulse;

use std::sync::Arc;

use devices::niu::{Coordinate, Target};
use memory_map::mailbox::Layout;
use sim_core::{AgentId, CoreId, Cycle, Observer, WaitReason, Width};
use tile::{AgentWait, Tile, Verdict};

use crate::chip::Chip;
use crate::grid::{Grid, Place, TensixTile};
use closure::Closure;
pub use pulse::{Likeness, Moving, Pulse};

/// What the host may still do, by what it has done since nothing moves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stance {
    /// Anything.
    Free,
    /// It has been reading and letting clocks pass for long: it launches nothing before what it waits
    /// for has come, but might write a word that a kernel polls.
    Waits,
    /// As before, and it writes nothing at all.
    Polls,
}

/// A word of a tile that the host reads over and over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostPoll {
    /// Number of the tile.
    pub tile: u16,
    /// Byte address in L1.
    pub addr: u32,
    /// How many bytes.
    pub bytes: u32,
}

/// What stood on tiles with cores that wait by the clock, at an earlier moment of the same wait.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Witness(Vec<(u16, u64)>);

impl Witness {
    /// Whether no core waited by the clock then.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// How a tile is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Firmware of the vendor's runtime, between two launches.
    Resting,
    /// A kernel that the host launched.
    HostLaunched,
    /// A kernel that a dispatcher on another tile launched.
    DeviceLaunched,
    /// A kernel of the dispatcher itself: launched by the host, while others are launched by the device.
    Dispatcher,
    /// No firmware of that runtime: an LLK test, a program of somebody's own.
    Bare,
}

/// A tile of a chip that hangs.
#[derive(Clone, Debug)]
pub struct HungTile {
    /// Its number, as [`crate::Grid::tensix`] counts.
    pub number: u16,
    /// Its coordinates.
    pub place: TensixTile,
    /// How it is used.
    pub role: Role,
    /// Everybody on it who waits; [`AgentWait::stuck`] is over the whole chip.
    pub waits: Vec<AgentWait>,
}

impl HungTile {
    /// Whether a core of it is within a kernel and can never move again.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.role != Role::Resting
            && self.waits.iter().any(|wait| wait.stuck && matches!(wait.agent, AgentId::Core(_)))
    }
}

/// A chip, or a part of it, that will never move again.
#[derive(Clone, Debug)]
pub struct Hang {
    /// Whether the host could still end it.
    pub verdict: Verdict,
    /// What had to be known of the host to say so.
    pub stance: Stance,
    /// When it was found.
    pub found: Cycle,
    /// When the last of the waits began that hold it.
    pub closed: Cycle,
    /// All tiles that have been touched, with their waits.
    pub tiles: Vec<HungTile>,
    /// What the host reads meanwhile.
    pub polls: Vec<HostPoll>,
}

impl Hang {
    /// Tiles with a core that is stuck in a kernel.
    pub fn stuck(&self) -> impl Iterator<Item = &HungTile> {
        self.tiles.iter().filter(|tile| tile.is_stuck())
    }

    /// The cores that a debugger has paused.
    pub fn paused(&self) -> impl Iterator<Item = (TensixTile, CoreId)> {
        let waits =
            self.tiles.iter().flat_map(|tile| tile.waits.iter().map(|wait| (tile.place, wait)));
        waits.filter_map(|(place, wait)| match (wait.reason, wait.agent) {
            (WaitReason::Paused, AgentId::Core(core)) => Some((place, core)),
            _ => None,
        })
    }

    /// Who is stuck where: equal for a hang that is looked at again.
    #[must_use]
    pub fn key(&self) -> Vec<(u16, u8, u32)> {
        let of = |tile: &HungTile| {
            let stuck = tile.waits.iter().filter(|wait| wait.stuck);
            let key = stuck.map(|wait| (tile.number, wait.agent.code(), wait.pc.unwrap_or(0)));
            key.collect::<Vec<_>>()
        };
        self.stuck().flat_map(of).collect()
    }
}

/// Where the vendor's firmware keeps what this needs.
#[derive(Debug)]
struct Mailbox {
    layout: Arc<Layout>,
    magic: u32,
    go: u32,
    go_index: u32,
    read_pointer: u32,
    first_sync: u32,
}

/// A worker's `core_magic_number` `[hdr: hw/inc/hostdev/dev_msgs.h]`.
const WORKER: u32 = 0x50EC_09A3;
/// `go_messages[].signal` while a kernel is on, or about to be `[spec: boot-and-sync 1.5]`.
const GO: u32 = 0x80;
/// Bytes of `subordinate_sync`.
const SYNC_BYTES: u32 = 4;
/// Launch messages in the ring.
const SLOTS: u32 = 8;

impl Mailbox {
    /// [`None`] of a layout that lacks one of them.
    fn of(layout: Arc<Layout>) -> Option<Self> {
        Some(Self {
            magic: layout.address("core_info.core_magic_number")?,
            go: layout.address("go_messages[0].signal")?,
            go_index: layout.address("go_message_index")?,
            read_pointer: layout.address("launch_msg_rd_ptr")?,
            first_sync: layout.address("subordinate_sync.dm1")?,
            layout,
        })
    }

    /// Whether a word is a flag of Watcher's pause, which its thread of the host sets back when the user says so,
    /// whatever the program waits for `[hdr: hw/inc/api/debug/pause.h]`.
    fn is_pause(&self, addr: u32) -> bool {
        let place = self.layout.place(addr);
        place.is_some_and(|place| place.name.starts_with("watcher.pause_status."))
    }
}

/// A tile with what its L1 says about its launch.
struct Scene {
    number: u16,
    role: Role,
    waits: Vec<AgentWait>,
    /// Agents that are not waiting are at work now.
    moves: bool,
    /// The coprocessor is at work now.
    computes: bool,
    /// Cores that wait by the clock: they go on later.
    clocked: [bool; CoreId::COUNT],
    /// Packets of its own or of others are on their way to it.
    awaits: bool,
    /// L1 addresses of the semaphores of the launch in force.
    semaphores: std::ops::Range<u32>,
    /// Core is held in reset, has made a mistake, or waits by the clock over and over and does nothing: by
    /// [`CoreId::index`].
    dead: [bool; CoreId::COUNT],
}

/// Who could end a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ender {
    /// An agent of the tile.
    Here(AgentId),
    /// A core of any other tile.
    Elsewhere,
    /// A packet that is under way to the tile.
    Packet,
    /// The host, by a launch or a command.
    Launch,
    /// The host, by writing a word.
    Write,
}

impl Scene {
    fn of<O: Observer>(
        number: u16,
        tile: &Tile<O>,
        grid: &Grid,
        mailbox: &Mailbox,
        idle: bool,
    ) -> Self {
        let word = |addr| tile.l1_value(addr, Width::Word);
        let mut semaphores = 0..0;
        let role = if word(mailbox.magic) == WORKER {
            let slot = word(mailbox.read_pointer) % SLOTS;
            let field = |name: &str, width: Width| {
                let addr = mailbox.layout.address(&format!("launch[{slot}].{name}"));
                addr.map_or(0, |addr| tile.l1_value(addr, width))
            };
            let base = field("kernel_config_base[0]", Width::Word);
            let (first, end) =
                (field("sem_offset[0]", Width::Half), field("local_cb_offset", Width::Half));
            let go = mailbox.go + 4 * (word(mailbox.go_index) % (SLOTS + 1));
            if tile.l1_value(go, Width::Byte) == GO {
                semaphores = base.wrapping_add(first)..base.wrapping_add(end);
                match field("mode", Width::Byte) {
                    0 => Role::DeviceLaunched,
                    _ => Role::HostLaunched,
                }
            } else {
                Role::Resting
            }
        } else {
            Role::Bare
        };
        let mut waits = tile.waits();
        if idle {
            waits.extend(Self::clocked_polls(tile, role));
            waits.sort_by_key(|wait| wait.agent.code());
        }
        Self {
            number,
            role,
            waits,
            moves: tile.is_moving(),
            computes: tile.coprocessor_moves(),
            clocked: CoreId::ALL.map(|core| tile.waits_by_clock(core)),
            awaits: tile.has_packets(|packet, translated| match packet.target() {
                // A request to no tile is a mistake that has been told; nobody answers it.
                Target::Unicast { tile, .. } => grid.locate(packet.noc, tile, translated).is_some(),
                Target::Broadcast { .. } => true,
            }),
            semaphores,
            dead: CoreId::ALL.map(|core| tile.is_dead(core) || idle && tile.waits_by_clock(core)),
        }
    }

    /// What cores poll that wait by the clock in each round of a loop, and have done nothing else for a while. BRISC of
    /// LLK's tests waits so for its next command, which is no hang.
    fn clocked_polls<O: Observer>(tile: &Tile<O>, role: Role) -> impl Iterator<Item = AgentWait> {
        let polls = CoreId::ALL.into_iter().filter_map(|core| tile.clocked_poll(core));
        polls.filter(move |wait| !is_commanded(role, wait.agent))
    }

    /// Whether a debugger has paused a core.
    fn is_debugged(&self) -> bool {
        self.waits.iter().any(|wait| wait.reason == WaitReason::Paused)
    }

    /// Who could end that wait.
    fn enders(&self, wait: &AgentWait, mailbox: &Mailbox) -> Vec<Ender> {
        match wait.reason {
            // A debugger is somebody at the host.
            WaitReason::Halted | WaitReason::Reset => vec![Ender::Launch],
            WaitReason::Spin => {
                let mut enders = Vec::new();
                for load in wait.reads.iter().filter(|load| !load.device) {
                    enders.extend(self.word(wait.agent, load.addr, mailbox));
                }
                // The tile knows who serves a register.
                let has_word = wait.reads.iter().any(|load| !load.device);
                if wait.reads.iter().any(|load| load.device) {
                    let own = wait.enders.iter().filter(|ender| {
                        !has_word || !matches!(ender, AgentId::Noc(_) | AgentId::Host)
                    });
                    enders.extend(own.flat_map(|&ender| self.agent(ender)));
                }
                enders
            }
            _ => wait.enders.iter().flat_map(|&ender| self.agent(ender)).collect(),
        }
    }

    fn agent(&self, agent: AgentId) -> Vec<Ender> {
        match agent {
            AgentId::Noc(_) => vec![Ender::Packet],
            AgentId::Host => vec![Ender::Write, Ender::Elsewhere],
            other => vec![Ender::Here(other)],
        }
    }

    /// Who could write a word that an agent polls.
    fn word(&self, agent: AgentId, addr: u32, mailbox: &Mailbox) -> Vec<Ender> {
        let others = CoreId::ALL.map(AgentId::Core).into_iter().filter(|other| *other != agent);
        let mut enders: Vec<Ender> = others.map(Ender::Here).collect();
        let is_sync = (mailbox.first_sync..mailbox.first_sync + SYNC_BYTES).contains(&addr);
        if self.role != Role::Bare && is_sync {
            return enders;
        }
        enders.push(Ender::Elsewhere);
        enders.push(Ender::Packet);
        if self.semaphores.contains(&addr) {
            return enders;
        }
        let is_mailbox =
            self.role != Role::Bare && mailbox.layout.covers(addr) && !mailbox.is_pause(addr);
        enders.push(if is_mailbox || is_commanded(self.role, agent) {
            Ender::Launch
        } else {
            Ender::Write
        });
        enders
    }
}

impl<O: Observer + Send + 'static> Chip<O> {
    /// The word of a tile that a read through a BAR shows; `None` for anything else, and for what a debugger reads.
    #[must_use]
    pub fn polled(&self, paddr: u64, bytes: usize) -> Option<HostPoll> {
        let (noc, at, addr) = self.pci.target(paddr, bytes)?;
        self.word_of(noc, at, addr, bytes)
    }

    /// The word of a tile's L1 that a read past the windows shows; `at` is a translated coordinate.
    #[must_use]
    pub fn polled_at(&self, at: (u32, u32), addr: u64, bytes: usize) -> Option<HostPoll> {
        let at = Coordinate { x: u8::try_from(at.0).ok()?, y: u8::try_from(at.1).ok()? };
        self.word_of(0, at, addr, bytes)
    }

    fn word_of(&self, noc: u8, at: Coordinate, addr: u64, bytes: usize) -> Option<HostPoll> {
        match self.grid.locate(noc, at, true)? {
            Place::Tensix(tile) => {
                let (addr, bytes) = (u32::try_from(addr).ok()?, u32::try_from(bytes).ok()?);
                (!tile::is_debug_hardware(addr)).then_some(HostPoll { tile, addr, bytes })
            }
            Place::Endpoint(_) => None,
        }
    }

    /// Whether an access through a BAR is one to the debug hardware of a tile.
    #[must_use]
    pub fn is_debugging(&self, paddr: u64, bytes: usize) -> bool {
        let target = self.pci.target(paddr, bytes);
        target.is_some_and(|(noc, at, addr)| self.is_debug_register(noc, at, addr))
    }

    /// The same of one past the windows; `at` is a translated coordinate.
    #[must_use]
    pub fn is_debugging_at(&self, at: (u32, u32), addr: u64) -> bool {
        let at = u8::try_from(at.0).ok().zip(u8::try_from(at.1).ok());
        at.is_some_and(|(x, y)| self.is_debug_register(0, Coordinate { x, y }, addr))
    }

    fn is_debug_register(&self, noc: u8, at: Coordinate, addr: u64) -> bool {
        matches!(self.grid.locate(noc, at, true), Some(Place::Tensix(_)))
            && u32::try_from(addr).is_ok_and(tile::is_debug_hardware)
    }

    /// Looks at a tile as of now.
    pub fn inspect<R>(&mut self, number: u16, look: impl FnOnce(&Tile<O>) -> R) -> R {
        self.field.with(number, self.now, |tile| look(tile))
    }

    /// Every register of a tile by name, as of now.
    pub fn registers(&mut self, number: u16) -> tensix::Register {
        self.field.with(number, self.now, Tile::registers)
    }

    /// Looks at a tile as of now, where a look needs it exact: at registers of parked cores, at what its
    /// observer has gathered. What is done to it is the caller's affair.
    pub fn examine<R>(&mut self, number: u16, look: impl FnOnce(&mut Tile<O>) -> R) -> R {
        self.field.with(number, self.now, look)
    }

    /// Which tiles there are.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Whether some part of the chip hangs, if the host does no more than `stance` says; `polls` are the
    /// words it reads over and over. Parts that still move, and whoever these could help, are live; but not
    /// cores that wait by the clock on a tile where nothing has been done since an earlier `witness`. A core that a
    /// debugger has paused is live: who does that will let it go on.
    /// Changes nothing.
    pub fn hang(&mut self, stance: Stance, polls: &[HostPoll], witness: &Witness) -> Option<Hang> {
        let mailbox = self.mailbox()?;
        if !self.post.is_empty() {
            return None;
        }
        let scenes = self.scenes(&mailbox, witness);
        let closure = Closure::new(&scenes, &mailbox, stance);
        let tiles: Vec<HungTile> = scenes
            .iter()
            .enumerate()
            .map(|(at, scene)| {
                let mut waits = scene.waits.clone();
                for (index, wait) in waits.iter_mut().enumerate() {
                    wait.stuck = closure.is_stuck(at, index);
                }
                let place = self.grid.tile(scene.number);
                HungTile { number: scene.number, place, role: scene.role, waits }
            })
            .collect();
        let hang = Hang {
            verdict: if stance == Stance::Polls { Verdict::HostWait } else { Verdict::Deadlock },
            stance,
            found: self.now,
            closed: closed(&tiles).unwrap_or(self.now),
            tiles,
            polls: polls.to_vec(),
        };
        hang.is_due(&mailbox).then_some(hang)
    }

    /// As [`Chip::hang`], with everybody who is stuck: of a chip that hangs whatever the host does also those
    /// whom only something could help that a waiting host does not do, such as a launch of a tile at rest.
    pub fn full_hang(
        &mut self,
        stance: Stance,
        polls: &[HostPoll],
        witness: &Witness,
    ) -> Option<Hang> {
        let hang = self.hang(stance, polls, witness)?;
        let more = match stance {
            Stance::Free => self.hang(Stance::Waits, polls, witness),
            _ => None,
        };
        Some(more.unwrap_or(hang))
    }

    /// How everybody stands right now, whether or not that is a hang.
    pub fn standing(&mut self) -> Hang {
        let mailbox = self.mailbox();
        let scenes =
            mailbox.map_or_else(Vec::new, |mailbox| self.scenes(&mailbox, &Witness::default()));
        let tiles: Vec<HungTile> = scenes
            .into_iter()
            .map(|scene| HungTile {
                number: scene.number,
                place: self.grid.tile(scene.number),
                role: scene.role,
                waits: scene.waits,
            })
            .collect();
        Hang {
            verdict: Verdict::HostWait,
            stance: Stance::Free,
            found: self.now,
            closed: self.now,
            tiles,
            polls: Vec::new(),
        }
    }

    /// A witness of this moment: what cores that wait by the clock could have changed for others.
    pub fn witness(&mut self) -> Witness {
        let (now, mut tiles) = (self.now, Vec::new());
        self.field.for_each(now, |number, tile| {
            if CoreId::ALL.into_iter().any(|core| tile.waits_by_clock(core)) {
                tiles.push((number, tile.effects_hash()));
            }
        });
        Witness(tiles)
    }

    /// A pulse of this moment, if a core has moved since `before` on a tile that the host waits for; `polls`
    /// are the words that the host reads. Cores that wait by the clock move in no loop of their own making and
    /// count as waiting. Changes nothing.
    pub fn pulse(&mut self, polls: &[HostPoll], before: Cycle) -> Option<(Pulse, Vec<Moving>)> {
        let mailbox = self.mailbox()?;
        let scenes = self.scenes(&mailbox, &Witness::default());
        if scenes.iter().any(Scene::is_debugged) {
            return None;
        }
        Pulse::take(&mut self.field, (before, self.now), &scenes, polls, &mailbox)
    }

    /// Says where the firmware of this session keeps what in its mailbox block. Until then it is taken to do so as that
    /// of the built-in table does. It changes what is said of the chip and nothing else.
    pub fn set_mailbox(&mut self, layout: Arc<Layout>) {
        self.mailbox = Some(layout);
    }

    /// Whether that has been said.
    #[must_use]
    pub const fn knows_mailbox(&self) -> bool {
        self.mailbox.is_some()
    }

    /// Where the firmware of this session keeps what in its mailbox block, as far as is known.
    #[must_use]
    pub fn mailbox_layout(&self) -> &Layout {
        self.mailbox.as_deref().unwrap_or_else(|| Layout::built_in())
    }

    fn mailbox(&self) -> Option<Mailbox> {
        let built_in = || Arc::new(Layout::built_in().clone());
        Mailbox::of(self.mailbox.clone().unwrap_or_else(built_in))
    }

    fn scenes(&mut self, mailbox: &Mailbox, witness: &Witness) -> Vec<Scene> {
        let (now, grid) = (self.now, &self.grid);
        let mut scenes = Vec::new();
        self.field.for_each(now, |number, tile| {
            let known = witness.0.iter().find(|(other, _)| *other == number);
            let idle = known.is_some_and(|(_, hash)| *hash == tile.effects_hash());
            scenes.push(Scene::of(number, tile, grid, mailbox, idle));
        });
        if scenes.iter().any(|scene| scene.role == Role::DeviceLaunched) {
            for scene in &mut scenes {
                if scene.role == Role::HostLaunched {
                    scene.role = Role::Dispatcher;
                }
            }
        }
        scenes
    }
}

fn closed(tiles: &[HungTile]) -> Option<Cycle> {
    let stuck = tiles.iter().flat_map(|tile| &tile.waits).filter(|wait| wait.stuck);
    stuck.filter_map(|wait| wait.since).max()
}

/// Whether the host commands an agent by words of its own choice: BRISC, without the vendor's runtime.
fn is_commanded(role: Role, agent: AgentId) -> bool {
    role == Role::Bare && agent == AgentId::Core(CoreId::Brisc)
}

/// Whether a host that reads those words waits for a tile that is used so.
fn is_awaited(role: Role, number: u16, polls: &[HostPoll], mailbox: &Mailbox) -> bool {
    let mut polls = polls.iter().filter(|poll| poll.tile == number);
    match role {
        Role::Resting | Role::Dispatcher => false,
        Role::HostLaunched => {
            let signal = mailbox.go & !3;
            polls.any(|poll| (signal..signal + 4 * (SLOTS + 1)).contains(&poll.addr))
        }
        Role::DeviceLaunched => true,
        Role::Bare => polls.next().is_some(),
    }
}

impl Hang {
    /// Whether anybody would call it a hang.
    fn is_due(&self, mailbox: &Mailbox) -> bool {
        let is_awaited = |tile: &HungTile| is_awaited(tile.role, tile.number, &self.polls, mailbox);
        match self.stance {
            // With a host that may do anything a kernel of the vendor's runtime must be stuck for good.
            Stance::Free => self
                .stuck()
                .any(|tile| matches!(tile.role, Role::HostLaunched | Role::DeviceLaunched)),
            Stance::Waits | Stance::Polls => self.stuck().any(is_awaited),
        }
    }
}
