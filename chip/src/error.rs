//! What a host did wrong, in one line that says what to do.

/// A host's mistake. The chip is as before, or the write was done in part.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HostError {
    /// A setting has a value that means nothing.
    #[error("{name}={value}: expected {wanted}")]
    Setting {
        /// Its name.
        name: String,
        /// What it was set to.
        value: String,
        /// What it may be.
        wanted: String,
    },
    /// A physical address no BAR covers.
    #[error(
        "physical address {paddr:#x} (+{bytes}) is in no BAR of the device: BAR0 is \
         0x100000000 (512 MiB), BAR2 0x120000000 (1 MiB), BAR4 0x800000000 (32 GiB)"
    )]
    OutsideBars {
        /// The address.
        paddr: u64,
        /// The length of the access.
        bytes: usize,
    },
    /// An access that leaves its window.
    #[error(
        "access of {bytes} bytes at {paddr:#x} leaves TLB window {window}: split it at the \
         window's end"
    )]
    LeavesWindow {
        /// The address.
        paddr: u64,
        /// The length of the access.
        bytes: usize,
        /// Number of the window.
        window: usize,
    },
    /// Part of a BAR where nothing is.
    #[error("{what} at BAR{bar} offset {offset:#x}: nothing is there")]
    Unmapped {
        /// BAR number.
        bar: u8,
        /// Byte offset.
        offset: u64,
        /// Read or write, and how much.
        what: String,
    },
    /// A register accessed other than as an aligned word.
    #[error("{bytes} bytes at BAR{bar} offset {offset:#x}: this register takes aligned words")]
    NotAWord {
        /// BAR number.
        bar: u8,
        /// Byte offset.
        offset: u64,
        /// The length of the access.
        bytes: usize,
    },
    /// A coordinate without a tile.
    #[error("NoC {noc} coordinate ({x}, {y}): no tile is there (address {addr:#x})")]
    NoTile {
        /// NoC 0 or 1.
        noc: u8,
        /// Column as written.
        x: u8,
        /// Row as written.
        y: u8,
        /// Address in the tile.
        addr: u64,
    },
    /// A read from several tiles at once.
    #[error("read at {paddr:#x} through a multicast window: only writes can be multicast")]
    MulticastRead {
        /// The address.
        paddr: u64,
    },
    /// A DMA transfer of a device that cannot reach the host's memory.
    #[error(
        "DMA at host address {paddr:#x}: the device has no functions for the host's memory; hand \
         them over before"
    )]
    NoHostMemory {
        /// The address.
        paddr: u64,
    },
    /// The tile or endpoint refuses.
    #[error("({x}, {y}): {message}")]
    Refused {
        /// Column.
        x: u8,
        /// Row.
        y: u8,
        /// Why.
        message: String,
    },
}
