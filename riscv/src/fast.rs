//! The fast loop: registers, local RAM and L1, and nothing that needs care.
//!
//! A leaf that only borrows what it changes. Whatever is not in here (devices, decoding, faults,
//! stores to watched words, rarer instructions) makes it return to [`crate::run`], whose
//! careful loop executes that one instruction.
//!
//! One counter serves as clock and program counter: `index` walks the page, and `end` is where it
//! would be when the time is up. A jump moves both. The loop looks up at `stop`, the end of the page or
//! of the time, whichever comes first.

use std::marker::PhantomData;

use sim_core::agent::RunView;
use sim_core::l1::L1_BYTES;
use sim_core::{Batch, Cycle, Jump, JumpKind, L1, Shared, Store, Width};

use crate::ahead::{TrialStore, Undo, block_bit};
use crate::config::LOCAL_BASE;
use crate::dispatch::dispatch;
use crate::doors::{Admission, Doors, OwnDoors, PUSH_BASE, Pushed};
use crate::exec::{bits, extend, is_taken, muldiv};
use crate::hart::{Hart, forward, local_holds};
use crate::mark;
use crate::op::Kind;
use crate::pages::{CODE_PAGE_BYTES, PAGE_OPS};
use crate::park::Watch;

/// What becomes of stores to L1, and whether anything can be taken back.
pub(crate) trait Reach {
    /// Stores are posted for the commit phase; else they go to L1 if the word is not watched.
    const POSTED: bool = false;
    /// What is overwritten is kept, and the words loaded and stored are noted.
    const UNDONE: bool = false;
    /// Jumps are recorded.
    const LOGGED: bool = false;
    /// A probe for polling loops is under way, which hears of loads from L1. What it has to decide about is not for
    /// this loop.
    const PROBED: bool = false;
}

/// One epoch among others that run.
pub(crate) struct Posted;
/// No other core runs. There must be no posted store.
pub(crate) struct Alone;
/// On trial, see [`crate::ahead`]. There must be no posted store.
pub(crate) struct Ahead;
/// One epoch among others, on trial: with at most [`crate::ahead::TRIAL_CYCLES`] left. What applies the stores can take
/// them back.
pub(crate) struct PostedAhead;

/// One of the others, with a log of its jumps.
struct Logged<R>(PhantomData<R>);
/// One of the others, with a probe under way.
pub(crate) struct Probed<R>(PhantomData<R>);

impl<R: Reach> Reach for Logged<R> {
    const POSTED: bool = R::POSTED;
    const UNDONE: bool = R::UNDONE;
    const LOGGED: bool = true;
    const PROBED: bool = R::PROBED;
}

impl<R: Reach> Reach for Probed<R> {
    const POSTED: bool = R::POSTED;
    const UNDONE: bool = R::UNDONE;
    const PROBED: bool = true;
}

impl Reach for Posted {
    const POSTED: bool = true;
}
impl Reach for Alone {}
impl Reach for Ahead {
    const UNDONE: bool = true;
}
impl Reach for PostedAhead {
    const POSTED: bool = true;
    const UNDONE: bool = true;
}

/// Why the fast loop returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// The time is up.
    Done,
    /// The next instruction is not for this loop.
    Careful,
    /// The next instruction waits for something.
    Waits(Want),
    /// No page of decoded instructions holds the pc.
    NoPage,
}

/// What an instruction waits for that has met a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Want {
    /// A value of so many bytes at an address for a register, its sign extended or not.
    Value(u32, Width, u8, bool),
    /// That a value of so many bytes is taken at an address.
    Taken(u32, Width, u32),
    /// Room behind a push window.
    Room(u8),
}

/// What of a core the loop reaches beside the hart.
pub(crate) struct Outside<'a> {
    /// Where stores are posted.
    pub(crate) batch: &'a mut Batch,
    /// For stores to devices, if they may be posted, and for loads from them.
    pub(crate) doors: Option<Doors<'a>>,
    /// Devices that a lone core may set up itself.
    pub(crate) own: Option<OwnDoors<'a>>,
    /// What a probe hears, for [`Probed`].
    pub(crate) watch: Watch<'a>,
    /// Before this cycle the jump of a polling loop is nothing but a jump.
    pub(crate) polls_from: u64,
}

impl<'a> Outside<'a> {
    /// No devices, and no probe.
    #[inline]
    pub(crate) fn new(batch: &'a mut Batch) -> Self {
        Self { batch, doors: None, own: None, watch: Watch::NONE, polls_from: 0 }
    }
}

impl Hart {
    /// Executes plain instructions to `until`, with whatever log is wanted.
    #[inline]
    pub(crate) fn fast_slice<R: Reach>(
        &mut self,
        outside: Outside<'_>,
        shared: &Shared,
        until: u64,
    ) -> Exit {
        if self.logs_jumps {
            self.fast::<Logged<R>>(outside, shared, until)
        } else {
            self.fast::<R>(outside, shared, until)
        }
    }

    /// Executes plain instructions to `until`.
    ///
    /// Not inlined, so that it has the host's registers for itself.
    #[inline(never)]
    #[allow(clippy::too_many_lines, reason = "one arm per instruction, each a line or two")]
    pub(crate) fn fast<R: Reach>(
        &mut self,
        Outside { batch, mut doors, mut own, mut watch, polls_from }: Outside<'_>,
        shared: &Shared,
        until: u64,
    ) -> Exit {
        let Self { x, icache, local, stored_words, stored_blocks, undo, .. } = self;
        let view = shared.run_view();
        let Some(mut page) = icache.page(self.pc) else { return Exit::NoPage };
        let mut base = self.pc & !(CODE_PAGE_BYTES - 1);
        let mut index = (self.pc.wrapping_sub(base) >> 2) as usize;
        let mut end = index + (until - self.cycle) as usize;
        let mut stop = end.min(PAGE_OPS);

        macro_rules! x {
            ($index:expr) => {
                x[usize::from($index)]
            };
        }
        macro_rules! pc {
            () => {
                base.wrapping_add((index as u32) << 2)
            };
        }
        macro_rules! go_to {
            ($target:expr, $left:expr) => {{
                let (target, left): (u32, usize) = ($target, $left);
                let offset = target.wrapping_sub(base);
                if offset & !(CODE_PAGE_BYTES - 4) == 0 {
                    index = (offset >> 2) as usize;
                    end = index + left;
                    stop = end.min(PAGE_OPS);
                } else if let Some(next) = icache.page(target) {
                    page = next;
                    base = target & !(CODE_PAGE_BYTES - 1);
                    index = (target.wrapping_sub(base) >> 2) as usize;
                    end = index + left;
                    stop = end.min(PAGE_OPS);
                } else {
                    (base, index, end) = (target, 0, left);
                    break Exit::NoPage;
                }
                continue;
            }};
        }
        macro_rules! jump {
            ($target:expr) => {
                go_to!($target, end - index - 1)
            };
        }
        // A jump that the probe decides about is left to the careful loop before it has done anything.
        macro_rules! heed {
            ($target:expr) => {
                if R::PROBED && !watch.passes($target) {
                    break Exit::Careful;
                }
            };
        }
        macro_rules! log {
            ($kind:expr, $to:expr) => {
                if R::LOGGED {
                    let cycle = Cycle(until - (end - index) as u64);
                    batch.jumps.push(Jump { cycle, pc: pc!(), to: $to, kind: $kind });
                }
            };
        }
        macro_rules! branch {
            ($op:ident, $taken:expr) => {
                if $taken {
                    heed!($op.imm);
                    jump!($op.imm);
                }
            };
        }
        macro_rules! load {
            ($op:ident, $width:expr, $signed:expr) => {{
                let addr = x!($op.rs1).wrapping_add($op.imm);
                let posted = (batch.stores.as_slice(), *stored_words);
                let Some(value) = read::<R>(&view, undo, posted, &local[..], (addr, $width)) else {
                    let asks = R::POSTED && doors.is_some() && addr >= L1_BYTES;
                    if asks && addr & ($width.bytes() - 1) == 0 {
                        break Exit::Waits(Want::Value(addr, $width, $op.rd, $signed));
                    }
                    break Exit::Careful;
                };
                if R::PROBED && addr < L1_BYTES && !watch.note(addr, value, $width, pc!()) {
                    break Exit::Careful;
                }
                x!($op.rd) = if $signed { extend(value, $width) } else { value };
            }};
        }
        macro_rules! store {
            ($addr:expr, $value:expr, $width:expr) => {{
                let cycle = Cycle(until - (end - index) as u64);
                Store { cycle, addr: $addr, value: $value, pc: pc!(), width: $width }
            }};
            ($op:ident, $width:expr) => {{
                let addr = x!($op.rs1).wrapping_add($op.imm);
                let value = x!($op.rs2) & $width.mask();
                if R::PROBED {
                    if !local_holds(local, addr, value, $width) {
                        break Exit::Careful;
                    }
                } else if R::POSTED && L1::holds_aligned(addr, $width) {
                    *stored_words |= Shared::watch_bit(addr);
                    if R::UNDONE {
                        let store = TrialStore { addr, value, width: $width };
                        undo.posted.add(end - index, store);
                    } else {
                        *stored_blocks |= block_bit(addr);
                        batch.stores.push(store!(addr, value, $width));
                    }
                } else if (R::POSTED || !write::<R>(&view, undo, addr, value, $width))
                    && !write_local::<R>(local, undo, addr, value, $width)
                {
                    let store = store!(addr, value, $width);
                    if R::POSTED {
                        let Some(doors) = &mut doors else { break Exit::Careful };
                        match doors.post(batch, store) {
                            Some(Admission::Posted) => {}
                            Some(Admission::Full(window)) => {
                                break Exit::Waits(Want::Room(window));
                            }
                            Some(Admission::Asked) => {
                                break Exit::Waits(Want::Taken(addr, $width, value));
                            }
                            None => break Exit::Careful,
                        }
                    } else if R::UNDONE || !own.as_mut().is_some_and(|own| own.store(batch, store))
                    {
                        break Exit::Careful;
                    }
                }
            }};
        }

        let exit = loop {
            if index >= stop {
                if index >= end {
                    break Exit::Done;
                }
                // The next page.
                go_to!(pc!(), end - index);
            }
            let op = page.op(index);
            macro_rules! taken {
                ($taken:expr) => {
                    branch!(op, $taken)
                };
            }
            dispatch!(op, x, taken, {
                Kind::Jal => {
                    heed!(op.imm);
                    log!(JumpKind::of(op.rd, None), op.imm);
                    x!(op.rd) = pc!().wrapping_add(4);
                    jump!(op.imm);
                }
                Kind::Jalr => {
                    let target = x!(op.rs1).wrapping_add(op.imm) & !1;
                    heed!(target);
                    log!(JumpKind::of(op.rd, Some(op.rs1)), target);
                    x!(op.rd) = pc!().wrapping_add(4);
                    jump!(target);
                }
                Kind::Lb => load!(op, Width::Byte, true),
                Kind::Lh => load!(op, Width::Half, true),
                Kind::Lw => load!(op, Width::Word, false),
                Kind::Lbu => load!(op, Width::Byte, false),
                Kind::Lhu => load!(op, Width::Half, false),
                Kind::Sb => store!(op, Width::Byte),
                Kind::Sh => store!(op, Width::Half),
                Kind::Sw => store!(op, Width::Word),
                Kind::Ttinsn if R::POSTED && !R::UNDONE && !R::PROBED => {
                    let Some(doors) = &mut doors else { break Exit::Careful };
                    let first = store!(PUSH_BASE, op.imm, Width::Word);
                    match doors.push(batch, (page, index), first, stop - index) {
                        Pushed::Each(count) => index += count - 1,
                        // They take one cycle.
                        Pushed::Fused(count) => {
                            index += count - 1;
                            end += count - 1;
                            stop = end.min(PAGE_OPS);
                        }
                        Pushed::Full(window) => break Exit::Waits(Want::Room(window)),
                        Pushed::Unknown => break Exit::Careful,
                    }
                }
                Kind::Poll if !R::PROBED => {
                    let jump = mark::original(op);
                    if is_taken(jump.kind, x!(op.rs1), x!(op.rs2)) {
                        if until - (end - index) as u64 >= polls_from {
                            break Exit::Careful;
                        }
                        if jump.kind == Kind::Jal {
                            log!(JumpKind::of(jump.rd, None), op.imm);
                        }
                        jump!(op.imm);
                    }
                }
                Kind::Undecoded
                | Kind::Poll
                | Kind::Illegal
                | Kind::Ttinsn
                | Kind::Csr
                | Kind::Amo
                | Kind::Float
                | Kind::Flw
                | Kind::Flh
                | Kind::Fsw
                | Kind::Fsh
                | Kind::Ebreak
                | Kind::Trap => break Exit::Careful,
            });
            index += 1;
        };
        self.pc = pc!();
        let cycle = until - (end - index) as u64;
        self.instructions += cycle - self.cycle;
        self.cycle = cycle;
        exit
    }
}

/// Reads L1, with what the core has stored in this epoch (`own`: that, and the union of its words), or local RAM.
/// `None`: not for this loop.
#[inline(always)]
fn read<R: Reach>(
    view: &RunView<'_>,
    undo: &mut Undo,
    own: (&[Store], u64),
    local: &[u32],
    (addr, width): (u32, Width),
) -> Option<u32> {
    if let Some(value) = view.read(addr, width) {
        if R::UNDONE && !R::POSTED {
            undo.loaded.add(addr);
        }
        if R::POSTED && own.1 & Shared::watch_bit(addr) != 0 {
            let word_addr = addr & !3;
            let word = view.read(word_addr, Width::Word).unwrap_or(0);
            let word = if R::UNDONE {
                undo.posted.forward(word_addr, word)
            } else {
                forward(own.0, word_addr, word)
            };
            return Some(word >> ((addr & 3) * 8) & width.mask());
        }
        return Some(value);
    }
    let offset = addr.wrapping_sub(LOCAL_BASE);
    let word = local.get(L1::word_index(offset, width))?;
    Some(word >> ((offset & 3) * 8) & width.mask())
}

/// Writes to local RAM, keeping what was there if need be. `false`: the address is not there.
#[inline(always)]
fn write_local<R: Reach>(
    local: &mut [u32],
    undo: &mut Undo,
    addr: u32,
    value: u32,
    width: Width,
) -> bool {
    let offset = addr.wrapping_sub(LOCAL_BASE);
    let index = L1::word_index(offset, width);
    let Some(word) = local.get_mut(index) else { return false };
    if R::UNDONE {
        undo.local.push((index as u32, *word));
    }
    *word = width.put(*word, offset, value);
    true
}

/// Writes to L1, keeping what was there if need be. `false`: not for this loop.
#[inline(always)]
fn write<R: Reach>(
    view: &RunView<'_>,
    undo: &mut Undo,
    addr: u32,
    value: u32,
    width: Width,
) -> bool {
    if !R::UNDONE {
        return view.write_quiet(addr, value, width);
    }
    let Some(old) = view.replace_quiet(addr, value, width) else { return false };
    undo.stored.add(addr);
    undo.l1.push((addr & !3, old));
    true
}
