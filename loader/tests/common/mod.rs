//! A small ELF writer for tests: 32-bit little-endian RISC-V executables with chosen segments and
//! symbols, so that no test needs a compiler or a file that is not in the repository.

#![allow(dead_code, reason = "each test binary uses its own part")]

/// A `PT_LOAD` to write.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) run: u32,
    pub(crate) load: u32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) memory: u32,
    pub(crate) flags: u32,
}

impl Load {
    /// Code that runs where it is loaded.
    pub(crate) fn code(address: u32, words: &[u32]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Self { run: address, load: address, memory: bytes.len() as u32, bytes, flags: 5 }
    }

    /// Data that runs at `run` and is loaded at `load`.
    pub(crate) fn data(run: u32, load: u32, bytes: &[u8], memory: u32) -> Self {
        Self { run, load, bytes: bytes.to_vec(), memory, flags: 6 }
    }
}

/// A symbol to write: name, value, size, type (0 label, 1 object, 2 function).
pub(crate) type Sym<'a> = (&'a str, u32, u32, u8);

/// The bytes of an executable.
pub(crate) fn elf(entry: u32, loads: &[Load], symbols: &[Sym<'_>]) -> Vec<u8> {
    let mut body = vec![0_u8; 52 + 32 * loads.len()];
    let mut headers = Vec::new();
    for load in loads {
        let offset = body.len() as u32;
        body.extend(&load.bytes);
        let size = load.bytes.len() as u32;
        let words = [1, offset, load.run, load.load, size, load.memory, load.flags, 4];
        headers.extend(words.iter().flat_map(|word: &u32| word.to_le_bytes()));
    }
    body[52..52 + headers.len()].copy_from_slice(&headers);
    let mut names = vec![0_u8];
    let mut table = vec![0_u8; 16];
    for &(name, value, size, kind) in symbols {
        table.extend((names.len() as u32).to_le_bytes());
        table.extend(value.to_le_bytes());
        table.extend(size.to_le_bytes());
        table.extend([0x10 | kind, 0, 1, 0]);
        names.extend(name.as_bytes());
        names.push(0);
    }
    let table_at = body.len() as u32;
    body.extend(&table);
    let names_at = body.len() as u32;
    body.extend(&names);
    let sections_at = body.len() as u32;
    let section = |kind: u32, offset: u32, size: usize, link: u32, entry: u32| {
        [0, kind, 0, 0, offset, size as u32, link, 0, 1, entry]
    };
    for row in [
        section(0, 0, 0, 0, 0),
        section(2, table_at, table.len(), 2, 16),
        section(3, names_at, names.len(), 0, 0),
    ] {
        body.extend(row.iter().flat_map(|word| word.to_le_bytes()));
    }
    let mut header = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    header.extend([2, 0, 243, 0]);
    for word in [1, entry, 52, sections_at, 0] {
        header.extend(u32::to_le_bytes(word));
    }
    for half in [52_u16, 32, loads.len() as u16, 40, 3, 2] {
        header.extend(half.to_le_bytes());
    }
    body[..52].copy_from_slice(&header);
    body
}

/// `jalr x0, 0(ra)`.
pub(crate) const RET: u32 = 0x0000_8067;

/// A firmware ELF like the vendor's: code, one data word, a few symbols.
pub(crate) fn firmware_elf(entry: u32, dram: u32, l1: u32) -> Vec<u8> {
    let loads = [
        // lui a0, 0xffb70 (stream 48); ret
        Load::code(entry, &[0xFFB7_0537, RET]),
        Load::data(0xFFB0_0000, 0xFFB0_0000, &[0x68, 0, 0, 0], 0x100),
    ];
    let symbols = [
        ("_start", entry, 8, 2),
        ("__ldm_data_start", 0xFFB0_0000, 0, 0),
        ("__ldm_data_end", 0xFFB0_0004, 0, 0),
        ("dram_bank_to_noc_xy", 0xFFB0_0010, 4 * dram, 1),
        ("bank_to_dram_offset", 0xFFB0_0040, 4 * dram, 1),
        ("l1_bank_to_noc_xy", 0xFFB0_0080, 4 * l1, 1),
        ("bank_to_l1_offset", 0xFFB0_00C0, 4 * l1, 1),
    ];
    elf(entry, &loads, &symbols)
}

/// Cores and entry points of the vendor's layout `[spec: boot-and-sync 1.1]`.
pub(crate) const CORES: [(&str, u32); 5] = [
    ("brisc", 0x3AE0),
    ("ncrisc", 0x5CE0),
    ("trisc0", 0x66E0),
    ("trisc1", 0x70E0),
    ("trisc2", 0x7AE0),
];
