//! The catalogue of hazards: ids, names, one sentence each, what to look at.
//!
//! Ids and names `[spec: hazards]`; those with D are of several tiles. Only classes that something here can name are listed.

use serde::Serialize;

/// A class of hangs or contract violations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Hazard {
    /// Id in the catalogue: `A6`.
    pub id: &'static str,
    /// Name that reports print.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// What to look at next.
    pub next: &'static str,
}

macro_rules! hazards {
    ($($id:ident = $name:literal, $doc:literal, $next:literal;)*) => {
        $(
            #[doc = $doc]
            pub const $id: Hazard =
                Hazard { id: stringify!($id), name: $name, doc: $doc, next: $next };
        )*

        /// All of them, by id.
        pub const ALL: &[Hazard] = &[$($id),*];
    };
}

hazards! {
    A1 = "cb-starved",
        "a consumer waits for pages that its producer never pushes",
        "compare the producer's loop count with the consumer's: pages pushed and popped must agree";
    A2 = "cb-full",
        "a producer waits for room that its consumer never frees, or one of both asks for more than the buffer has",
        "look for a missing cb_pop_front, and compare the pages that are reserved or waited for with num_pages of the buffer";
    A3 = "cb-self-cycle",
        "circular buffers wait for each other in a circle, or one kernel both fills and drains one",
        "break the circle: give the buffer room for everything that is pushed before the first pop";
    A4 = "semaphore-decrement-lost",
        "a get found the semaphore at 0 and did nothing; whoever waits for it to fall waits for ever",
        "post before the peer may get: the get overtook the post it was meant for";
    A5 = "semaphore-post-saturated",
        "a post found the semaphore at its limit and did nothing; the get that needs it waits for ever",
        "wait while the semaphore is at its maximum before posting";
    A6 = "semwait-never-satisfied",
        "a semaphore never gets the post or the get that a wait needs",
        "count acquire/commit/wait/release on each thread; STALL_ON_ZERO waits while the value is zero";
    A7 = "dvalid-leak",
        "the unpacker waits for a bank that the matrix unit never gives back",
        "every fill needs exactly one clear: look for a SETDVALID or UNPACR without its CLEARDVALID";
    A8 = "dvalid-never-set",
        "the matrix unit waits for a bank that nobody fills",
        "check that the unpack thread runs as many UNPACRs as math consumes, and that they set dvalid";
    A9 = "src-bank-parity-drift",
        "the two sides of SrcA or SrcB disagree about which bank is next",
        "look for a clear without a fill: it turns the matrix unit to the other bank all the same";
    A10 = "mutex-leak",
        "a mutex is waited for whose holder never releases it, or a release came from a thread that does not hold it",
        "every ATGETM needs an ATRELM on the same thread, on every path";
    A11 = "mailbox-desync",
        "the two sides of a mailbox or PCBuf disagree about how many words there are",
        "count pushes and pops on both sides; a condition or a compile-time switch may guard only one";
    A12 = "go-done-handshake",
        "a core waits for a run message that the other side never writes",
        "look at who writes the sync byte; a kernel or a stale message may have overwritten it";
    A13 = "noc-barrier-never-met",
        "a NoC barrier compares the interface's counter with a software count that it never reaches",
        "compare the kind of request (posted or not), and how many tiles a multicast goes to, with what the barrier counts on";
    A14 = "noc-in-flight-at-exit",
        "a kernel ended while requests of its own were still under way",
        "end the kernel with the barrier of each kind of request it issues";
    A15 = "l1-semaphore-overshoot",
        "a word in L1 was passed by or an update of it was lost",
        "wait with >= instead of ==, and update shared words with atomics only";
    A16 = "stale-l1-cache-poll",
        "a core read a word of L1 that its data cache holds and another one has changed since",
        "put invalidate_l1_cache() (a fence) in front of each such read, or leave the cache off as firmware does unless told otherwise";
    A17 = "dprint-buffer-full",
        "a core waits for the host to drain the print buffer",
        "nobody reads the print buffer here; take the prints out or drain it";
    A18 = "soft-hang-by-tool",
        "a core stopped itself, by an assertion, a sanitizer or an ebreak, or made a mistake and stays where it is",
        "this is not a deadlock: look at the check that stopped it";
    A19 = "tensix-sync-blocked",
        "a core waits for its own Tensix thread, which waits for that core",
        "the store that lets the thread go on stands behind the wait: move it in front";
    B1 = "cfg-word-overlap",
        "a thread wrote the whole of a word of configuration, and over bits that another thread had set there",
        "write only the own field (cfg_reg_rmw_tensix, RMWCIB), or set all fields of the word in one thread before the others begin";
    B5 = "gpr-to-cfg-latency",
        "an instruction used configuration or a GPR before the instruction that sets it was done",
        "put TTI_NOP behind WRCFG, or TTI_STALLWAIT(p_stall::STALL_CFG, p_stall::THCON) behind a load into a GPR";
    B6 = "mov-d2-without-wait",
        "a move from Dst to Src used a bank without waiting for it on both sides",
        "put TTI_STALLWAIT(p_stall::STALL_MATH, p_stall::MATH | p_stall::SRCA_VLD), or SRCB_VLD, in front of the first of these moves, and let unpack hand the bank over for it";
    B8 = "dst-without-wait",
        "math wrote to a section of Dst, or pack read from one, without having waited for the other side to be done with it",
        "put tile_regs_acquire in front of the first result and tile_regs_wait in front of the first pack of each section";
    B10 = "read-before-barrier",
        "data was used, or a circular buffer pushed, while it was still under way",
        "put noc_async_read_barrier between the read and the first load of its data, or cb_push_back";
    B11 = "source-reused-before-flush",
        "what a NoC write takes its data from was given away or changed before the request had left",
        "put noc_async_writes_flushed, or the barrier, between the write and cb_pop_front or the next store";
    B12 = "signal-before-data",
        "a flag or a count was sent on another way than the data that it is for, and may come first",
        "put noc_async_write_barrier between the data and the signal, or send both over the same NoC and channel";
    B14 = "sfpu-latency",
        "an instruction of the vector unit read a register before the result of the one in front of it was there",
        "put TTI_SFPNOP between the two: the hardware does not wait here";
    B15 = "mop-replay-slot",
        "the configuration of the MOP expander was changed while a MOP that was pushed before goes by it",
        "wait until the expander is done before it is set anew: mop_sync()";
    C1 = "stack-overflow",
        "the stack left the local memory of the core",
        "make large locals static or smaller; 8 KiB on BRISC and NCRISC, 4 KiB on the TRISCs";
    C2 = "cb-transfer-out-of-bounds",
        "a transfer reaches beyond the circular buffer it begins in",
        "compare the transfer's size with page_size and the pages left before the wrap";
    C3 = "cb-wrap",
        "the pages pushed or popped at once do not divide the buffer, so one block wraps in the middle",
        "push and pop in steps that divide num_pages";
    C4 = "l1-overlap",
        "two things claim the same bytes of L1",
        "move or shrink one of them";
    C5 = "uninitialised-read",
        "a kernel read L1 that nobody has written since power-on, or a section of Dst into which nothing was written since it was taken",
        "write it before it is read: hardware does not clear L1, and a section of Dst has what was left there";
    C6 = "noc-command",
        "a NoC command that the hardware does not carry out: alignment, length, coordinate or transaction id",
        "fix the command; the registers as written stand above";
    C7 = "code-overwritten",
        "a store hit the code of a kernel",
        "look at the pointer of that store";
    C8 = "firmware-overwritten",
        "a kernel stored to address 0 of L1, the mailbox or firmware",
        "look at the pointer of that store; kernels may write only what belongs to them";
    C9 = "argument-out-of-bounds",
        "a kernel read a runtime argument that it was not given",
        "compare the index with the arguments that the host sets for this core";
    C10 = "row-out-of-range",
        "a row of SrcA, SrcB or Dst that does not exist",
        "look at the counters (RWC, ADC) and the base that make up the row";
    C11 = "undefined-instruction",
        "an instruction or a field of it that the documents leave undefined",
        "compare the fields with the instruction's page";
    C12 = "ebreak-without-nops",
        "an ebreak that is not followed by eight NOPs",
        "put eight NOPs behind the ebreak: the core fetches ahead";
    C13 = "float-cast",
        "a conversion to an integer asks for a rounding mode, which the cores ignore: they round to nearest",
        "convert, convert back, and take one away where the result is above the value";
    C14 = "cb-overrun",
        "more pages were pushed into a circular buffer than it has room for",
        "reserve before the push: cb_reserve_back of as many pages as cb_push_back";
    C15 = "cb-underrun",
        "more pages were popped from a circular buffer than it holds",
        "wait before the pop: cb_wait_front of as many pages as cb_pop_front";
    C16 = "cb-second-owner",
        "two cores push into one circular buffer, or two pop from it, each by a position of its own",
        "give each producer a buffer of its own: the position in a buffer is kept by each core, only the counters are shared";
    C17 = "cb-page-overwritten",
        "a page of a circular buffer was written between its push and its pop",
        "write before cb_push_back, into the page that cb_reserve_back gave; compare the pointer with get_write_ptr";
    C18 = "cb-page-without-data",
        "data were taken from a page of a circular buffer that its producer has not pushed, or its consumer has popped",
        "wait with cb_wait_front for as many pages as are read, and pop them behind the last read; a tile's index counts from the front";
    C19 = "dst-index-beyond-half",
        "a tile of Dst has an index that a half of it does not have, and lies in the half that the other side may be at",
        "a half of Dst has 8 tiles, 4 of 32 bits: keep the index of each tile below, or set dst_full_sync_en";
    C20 = "cb-format-mismatch",
        "data of a circular buffer are unpacked, or packed, in another format than the host has given it",
        "put reconfig_data_format, or pack_reconfig_data_format, in front of the first use of a buffer of another format";
    C21 = "cb-without-wait",
        "pages of a circular buffer were popped, or room in it was taken, and the core has not waited for them: they were there, or free, by luck",
        "wait with cb_wait_front for all pages in front of the pop, with cb_reserve_back for room in front of what fills it";
    C22 = "cb-page-not-filled",
        "pages of a circular buffer are pushed and read again and again, and nobody writes to them",
        "look for the read, the pack or the multicast that should fill the page in front of its push";
    C23 = "mop-of-another-operation",
        "an operation ran the MOP that another operation had set up",
        "call the init of the operation in front of it, behind the last call of another one's: matmul_init, add_init, tilize_init and so on";
    C24 = "operation-not-ended",
        "an operation was set up while what another one leaves behind was still in force",
        "call the uninit of the operation behind its last call: tilize_uninit, untilize_uninit, pack_untilize_uninit and so on";
    C25 = "cb-pages-left",
        "pages were pushed into a circular buffer, and of these not all were popped when the kernels were done",
        "compare the pages that are pushed and popped in a round: cb_pop_front of as many as cb_wait_front";
    C26 = "dst-section-lost",
        "pack gave back a section of Dst of which it had packed nothing, or did not give it back; or nobody took anything of a tile in it",
        "look for the pack_tile of that section and for tile_regs_release behind it, or for the operation on that tile, and what led past them";
    C27 = "setting-of-another-program",
        "a kernel went by a format, a GPR or recorded instructions that it had not set: by what another program had left there, or zero",
        "call hw_configure, or the init of the operation, in front of it: compute_kernel_hw_startup, pack_dest_init, transpose_dest_init and so on";
    C28 = "cb-page-not-read",
        "pages of a circular buffer were filled and popped, and nobody has read anything of any of them, or of the same ones each time",
        "look for what should take the data in front of the pop, noc_async_write, an unpack, a load; for a loop that ends too early, or an index that is not counted on";
    D1 = "signal-astray",
        "a count or a flag for one tile went to another one",
        "compare the coordinate of the sender with the waiting tile's; on NoC 1 the corners of a rectangle change places";
    D2 = "multicast-misses-tile",
        "a tile waits for a multicast whose rectangle leaves it out",
        "compare the corners of the rectangle with the tiles that wait, and the count of receivers with both";
    D3 = "multicast-without-itself",
        "a tile waits for its own multicast, which leaves out its sender",
        "send with loopback (NOC_CMD_BRCST_SRC_INCLUDE), or set the own flag by a store";
    D4 = "peer-finished",
        "a tile waits for a signal of another one whose kernel has finished",
        "compare the rounds of both kernels: one side goes round more often than the other";
    D5 = "peer-not-launched",
        "a tile waits for an answer of another one on which no kernel was launched",
        "compare the tiles that are launched with the coordinates that kernels are given";
    D6 = "signals-too-few",
        "more signals are waited for than all who send any send in a round",
        "compare the count that is waited for with the number of tiles that signal: is the own tile among them?";
    D7 = "credit-left-out",
        "a tile waits for another answer and has not given the credit for which it would come",
        "give a credit for each answer that is waited for: what stands around its line is true in some rounds only";
}

/// The hazard with that id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static Hazard> {
    ALL.iter().find(|hazard| hazard.id.eq_ignore_ascii_case(id))
}

/// The class of a diagnosed guest mistake, by the id of the check that found it.
#[must_use]
pub fn of_check(check: &str, message: &str) -> Option<Hazard> {
    Some(match check {
        "unmapped-access" | "local-overflow" if message.contains("0xffaf") => C1,
        "fetch-outside-l1" | "misaligned-fetch" => return None,
        "ebreak-without-debugger" => A18,
        _ if check.starts_with("noc-") => C6,
        _ if check.contains("row") => C10,
        _ if check.starts_with("tensix-") => C11,
        "illegal-instruction" => C11,
        _ => return None,
    })
}
