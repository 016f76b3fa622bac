//! `tilescope regs`: what the tables know about an address or a name.

use std::io::Write;

use anyhow::{Result, bail};
use clap::Args;
use isa::config::{ConfigField, Scope, in_word};
use isa::csr::{Csr, CsrField};
use isa::op::Opcode;
use memory_map::{
    Access, BLOCKS, Block, Instance, REGIONS, RegionRow, Register, RegisterField, View,
};

use super::{looks_numeric, parse_u32};
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  tilescope regs                     the address map
  tilescope regs 0xFFB121B0          what is at an address, for each core
  tilescope regs SOFT_RESET_0        a register (or the start of its name), with its bits
  tilescope regs NOC_CTRL=0x2092     what a value means, bit by bit: of a register, a CSR, or by address
  tilescope regs Config[1]=0x880000  the same of a word of the backend configuration
  tilescope regs go_messages         mailbox fields
  tilescope regs PRNG_SEED           backend configuration fields
  tilescope regs STALLWAIT           a Tensix instruction
  tilescope regs cfg0                a CSR
";

/// Explain addresses, registers, configuration fields, CSRs and instructions
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct RegsArgs {
    /// A name, the start of one, or an address, each with `=VALUE` if one is to be taken apart; without it the
    /// address map is printed
    pub name: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// One line when nothing has that name.
pub fn run(args: &RegsArgs, out: &mut dyn Write) -> Result<Exit> {
    let Some(name) = &args.name else {
        for row in REGIONS {
            region(row, out)?;
        }
        return Ok(Exit::Ok);
    };
    let (name, value) = match name.split_once('=') {
        Some((name, value)) => (name, Some(parse_u32(value).map_err(anyhow::Error::msg)?)),
        None => (&**name, None),
    };
    if let Some(value) = value {
        if !taken_apart(name, value, out)? {
            bail!(
                "{name}: no register, word of configuration, address of one, or CSR with named bits"
            );
        }
        return Ok(Exit::Ok);
    }
    if looks_numeric(name) {
        at_address(parse_u32(name).map_err(anyhow::Error::msg)?, out)?;
        return Ok(Exit::Ok);
    }
    let mut found = registers(name, out)?;
    found |= mailbox_fields(name, out)?;
    for field in isa::config::with_prefix(name) {
        config_field(field, out)?;
        found = true;
    }
    for field in config_word(name).into_iter().flat_map(|(scope, word)| in_word(scope, word)) {
        config_field(field, out)?;
        found = true;
    }
    if let Some(op) = Opcode::from_mnemonic(&name.to_ascii_uppercase()) {
        instruction(op, out)?;
        found = true;
    }
    if let Some(csr) = csr(name) {
        writeln!(out, "CSR {:#05x} {}  [{}]", csr.address, csr.name, csr.specification)?;
        writeln!(out, "    {}", csr.doc)?;
        for bits in csr.fields.iter().map(Bits::of_csr) {
            bits.explain(out)?;
        }
        found = true;
    }
    if !found {
        bail!("{name}: no register, mailbox field, configuration field, instruction or CSR");
    }
    Ok(Exit::Ok)
}

/// The CSR of a name, whose vendor spells it in lower case.
fn csr(name: &str) -> Option<&'static Csr> {
    isa::csr::by_name(name).or_else(|| isa::csr::by_name(&name.to_ascii_lowercase()))
}

/// The word of the backend configuration of a name such as `Config[1]`, `Config[0][1]` with its bank,
/// `ConfigDualWrite[1]`, `ThreadConfig[5]` or, with its thread, `ThreadConfig[2][5]`.
fn config_word(name: &str) -> Option<(Scope, u32)> {
    let lower = name.to_ascii_lowercase();
    let (array, rest) = lower.split_at(lower.find('[')?);
    let (scope, copies): (_, &[&str]) = match array {
        "config" => (Scope::Config, &["0", "1"]),
        "configdualwrite" => (Scope::Config, &[]),
        "threadconfig" => (Scope::Thread, &["0", "1", "2"]),
        _ => return None,
    };
    let indices = rest.strip_prefix('[')?.strip_suffix(']')?;
    let word = match indices.split_once("][") {
        Some((copy, word)) if copies.contains(&copy) => word,
        Some(_) => return None,
        None => indices,
    };
    Some((scope, parse_u32(word).ok()?))
}

/// The word of the backend configuration that cores see at an address.
fn config_at(address: u32) -> Option<(Scope, u32)> {
    config_word(&memory_map::register_name(View::T0, address)?)
}

/// Named bits of a word.
struct Bits {
    name: &'static str,
    lo: u8,
    width: u8,
    doc: String,
}

impl Bits {
    fn of_register(field: &RegisterField) -> Self {
        Self { name: field.name, lo: field.lo, width: field.width, doc: field.doc.to_owned() }
    }

    fn of_csr(field: &CsrField) -> Self {
        Self { name: field.name, lo: field.lo, width: field.width, doc: field.doc.to_owned() }
    }

    /// A part of a word; a field of several words has all of it.
    fn of_config(field: &ConfigField) -> Self {
        let doc = readers(field).unwrap_or_default();
        Self { name: field.name, lo: field.lo, width: field.width.min(32), doc }
    }

    fn explain(&self, out: &mut dyn Write) -> Result<()> {
        let bits = bits(self.lo, self.width);
        let text = format!("    {bits:>7}  {:<24} {}", self.name, self.doc);
        Ok(writeln!(out, "{}", text.trim_end())?)
    }

    const fn mask(&self) -> u32 {
        (if self.width >= 32 { u32::MAX } else { (1 << self.width) - 1 }) << self.lo
    }
}

/// What a value means: those of its named bits that are not 0, and which others are set.
fn meaning(value: u32, fields: impl Iterator<Item = Bits>, out: &mut dyn Write) -> Result<()> {
    let mut rest = value;
    for field in fields {
        let own = (value & field.mask()) >> field.lo;
        rest &= !field.mask();
        if own != 0 {
            let bits = bits(field.lo, field.width);
            let text = format!("    {bits:>7}  {:<24} {own:#x}  {}", field.name, field.doc);
            writeln!(out, "{}", text.trim_end())?;
        }
    }
    match rest {
        _ if value == 0 => writeln!(out, "    all of its bits are 0")?,
        0 => {}
        _ => writeln!(out, "    no name has what else is set: {rest:#x}")?,
    }
    Ok(())
}

/// Takes a value apart that is in a register, by its name or address, or in a CSR. `false`: none has named bits.
fn taken_apart(name: &str, value: u32, out: &mut dyn Write) -> Result<bool> {
    let address =
        if looks_numeric(name) { Some(parse_u32(name).map_err(anyhow::Error::msg)?) } else { None };
    let mut found = false;
    for block in BLOCKS {
        for row in block.registers.iter().filter(|row| !row.fields.is_empty()) {
            let is_it = |instance: &Instance| match address {
                Some(address) => {
                    let offset = address.checked_sub(instance.base);
                    offset.is_some_and(|offset| row.element(offset).is_some())
                }
                None => {
                    row.name.eq_ignore_ascii_case(name)
                        || format!("{}.{}", instance.prefix, row.name).eq_ignore_ascii_case(name)
                }
            };
            let mut instances = block.instances.iter().filter(|instance| is_it(instance));
            let Some(first) = instances.next() else { continue };
            let prefixes = instances.fold(first.prefix.to_owned(), |all, i| all + ", " + i.prefix);
            writeln!(out, "{prefixes}.{} = {value:#x}", row.name)?;
            meaning(value, row.fields.iter().map(Bits::of_register), out)?;
            found = true;
        }
    }
    if let Some((scope, word)) = address.map_or_else(|| config_word(name), config_at) {
        let array = match scope {
            Scope::Thread => "ThreadConfig",
            Scope::Config => "Config",
        };
        let mut fields = in_word(scope, word).map(Bits::of_config).peekable();
        if fields.peek().is_some() {
            writeln!(out, "{array}[{word}] = {value:#x}")?;
            meaning(value, fields, out)?;
            found = true;
        }
    }
    if let Some(csr) = csr(name).filter(|csr| !csr.fields.is_empty()) {
        writeln!(out, "CSR {} = {value:#x}", csr.name)?;
        meaning(value, csr.fields.iter().map(Bits::of_csr), out)?;
        found = true;
    }
    Ok(found)
}

fn bits(lo: u8, width: u8) -> String {
    let high = u32::from(lo) + u32::from(width).max(1) - 1;
    if width == 1 { lo.to_string() } else { format!("{high}:{lo}") }
}

/// Who sees something there, and what: `all`, or names grouped by target.
fn views(row: &RegionRow) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for view in View::ALL {
        let Some(target) = row.views[view.index()] else { continue };
        let target = format!("{target:?}");
        match groups.iter_mut().find(|group| group.0 == target) {
            Some(group) => group.1.push(view.name()),
            None => groups.push((target, vec![view.name()])),
        }
    }
    let text: Vec<_> =
        groups.iter().map(|(target, who)| format!("{target}: {}", who.join(" "))).collect();
    if text.is_empty() { "nobody".to_owned() } else { text.join("; ") }
}

fn region(row: &RegionRow, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{:08x}..{:08x}  {}", row.base, row.limit, row.name)?;
    if !row.doc.is_empty() {
        writeln!(out, "    {}", row.doc)?;
    }
    writeln!(out, "    seen by  {}", views(row))?;
    notes(row.sources, row.note, out)
}

fn notes(sources: &[&str], note: &str, out: &mut dyn Write) -> Result<()> {
    if !note.is_empty() {
        writeln!(out, "    note     {note}")?;
    }
    if !sources.is_empty() {
        writeln!(out, "    sources  {}", sources.join(", "))?;
    }
    Ok(())
}

fn at_address(address: u32, out: &mut dyn Write) -> Result<()> {
    for view in View::ALL {
        let text = match memory_map::lookup(view, address) {
            None => "not mapped".to_owned(),
            Some(hit) => {
                let name = memory_map::register_name(view, address);
                let region = hit.region.row().name;
                format!("{}  ({region}+{:#x})", name.unwrap_or_else(|| "-".to_owned()), hit.offset)
            }
        };
        writeln!(out, "{:<7} {address:08x}  {text}", view.name())?;
    }
    let hit = View::ALL.iter().find_map(|&view| memory_map::lookup(view, address));
    if let Some(hit) = hit {
        writeln!(out)?;
        region(hit.region.row(), out)?;
    }
    for (block, register) in BLOCKS.iter().flat_map(|b| b.registers.iter().map(move |r| (b, r))) {
        let covers = |base: u32| {
            address.checked_sub(base).is_some_and(|offset| register.element(offset).is_some())
        };
        if block.instances.iter().any(|instance| covers(instance.base)) {
            self::register(block, register, out)?;
        }
    }
    Ok(())
}

fn registers(name: &str, out: &mut dyn Write) -> Result<bool> {
    let wanted = name.to_ascii_lowercase();
    let mut found = false;
    for block in BLOCKS {
        for row in block.registers {
            let full = |prefix: &str| format!("{prefix}.{}", row.name).to_ascii_lowercase();
            let by_block = block.instances.iter().any(|i| full(i.prefix).starts_with(&wanted));
            if by_block || row.name.to_ascii_lowercase().starts_with(&wanted) {
                register(block, row, out)?;
                found = true;
            }
        }
    }
    Ok(found)
}

fn register(block: &Block, row: &Register, out: &mut dyn Write) -> Result<()> {
    let access = match row.access {
        Access::Read => "read only",
        Access::Write => "write only",
        Access::ReadWrite => "read/write",
    };
    for instance in block.instances {
        let address = instance.base.wrapping_add(row.offset);
        write!(out, "{address:08x}  {}.{}", instance.prefix, row.name)?;
        if row.count > 1 {
            write!(out, "[{}], {:#x} apart", row.count, row.stride)?;
        }
        writeln!(out)?;
    }
    let reset = row.reset.map(|value| format!(", reset {value:#x}")).unwrap_or_default();
    writeln!(out, "    {access}, {} bits{reset}", row.width)?;
    if !row.doc.is_empty() {
        writeln!(out, "    {}", row.doc)?;
    }
    for bits in row.fields.iter().map(Bits::of_register) {
        bits.explain(out)?;
    }
    let first = block.instances.first().map(|instance| instance.base.wrapping_add(row.offset));
    let hit = first.and_then(|at| View::ALL.iter().find_map(|&v| memory_map::lookup(v, at)));
    if let Some(hit) = hit {
        writeln!(out, "    seen by  {}", views(hit.region.row()))?;
    }
    notes(row.sources, "", out)
}

fn mailbox_fields(name: &str, out: &mut dyn Write) -> Result<bool> {
    use memory_map::mailbox::{FIELDS, MAILBOX_BASE};
    let wanted = name.to_ascii_lowercase().replace("[0]", "[]");
    let mut found = false;
    for field in FIELDS.iter().filter(|f| f.name.to_ascii_lowercase().starts_with(&wanted)) {
        write!(out, "{:08x}  {}  {} bytes", MAILBOX_BASE + field.offset, field.name, field.bytes)?;
        for dim in &*field.dims {
            write!(out, ", {} x {:#x}", dim.count, dim.stride)?;
        }
        writeln!(out, "{}{}", if field.doc.is_empty() { "" } else { "  " }, field.doc)?;
        found = true;
    }
    Ok(found)
}

/// `read by packer`; none where no unit is known to go by a field.
fn readers(field: &ConfigField) -> Option<String> {
    let units: Vec<_> = field.users.names().collect();
    (!units.is_empty()).then(|| format!("read by {}", units.join(", ")))
}

fn config_field(field: &ConfigField, out: &mut dyn Write) -> Result<()> {
    let scope = match field.scope {
        Scope::Thread => "ThreadConfig",
        Scope::Config => "Config",
    };
    let banks = if field.is_global() { ", writes go to both banks" } else { "" };
    let readers = readers(field).map_or_else(String::new, |readers| format!("; {readers}"));
    let bits = bits(field.lo, field.width);
    writeln!(
        out,
        "{scope}[{}] bits {bits}  {}  ({}{banks}{readers})",
        field.addr32, field.name, field.section
    )?;
    Ok(())
}

fn instruction(op: Opcode, out: &mut dyn Write) -> Result<()> {
    let row = op.row();
    writeln!(out, "{:#04x}  {}  executed by {}", row.opcode as u8, row.name, row.unit)?;
    for arg in row.args {
        writeln!(out, "    {:>7}  {:<24} {}", bits(arg.lo, arg.width), arg.name, arg.doc)?;
    }
    let blocked: Vec<_> =
        (0..9).filter(|bit| row.blocked_by >> bit & 1 != 0).map(|bit| format!("B{bit}")).collect();
    writeln!(
        out,
        "    held by  {}",
        if blocked.is_empty() { "-".to_owned() } else { blocked.join(" ") }
    )?;
    notes(row.sources, row.note, out)
}
