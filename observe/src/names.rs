//! Where names come from: code and L1 words. Injected, because debug information is read
//! elsewhere; [`BuiltInNames`] knows only the tables.

use std::ops::{Deref, Range};

use memory_map::mailbox::Place;
use serde::Serialize;
use sim_core::CoreId;

/// Where a pc is in the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CodeName {
    /// Function, demangled.
    pub function: String,
    /// Source file, as short as the caller likes it.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
}

impl std::fmt::Display for CodeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.function)?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " {file}:{line}"),
            (Some(file), None) => write!(f, " {file}"),
            _ => Ok(()),
        }
    }
}

/// A function that an instruction is part of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FrameName {
    /// Its name, and the line within it.
    pub code: CodeName,
    /// Template arguments as the demangler writes them, with commas between; empty where there are none.
    pub arguments: String,
}

/// A line of source text, with the column at which the instruction belongs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Excerpt {
    /// Line, from 1.
    pub line: u32,
    /// The line as it is written, without spaces at its end.
    pub text: String,
    /// Column, from 1 and in bytes, if debug information has it.
    pub column: Option<u32>,
}

impl Excerpt {
    /// The characters that a caret marks, counted in characters of [`Excerpt::text`]: the name at the
    /// column with what is called on it, else the whole line without the spaces in front.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        let indent = self.text.chars().take_while(|c| c.is_whitespace()).count();
        let whole = indent..self.text.chars().count().max(indent + 1);
        let Some(byte) = self.column.and_then(|column| usize::try_from(column - 1).ok()) else {
            return whole;
        };
        let Some((before, behind)) = self.text.split_at_checked(byte) else { return whole };
        let named = |c: &char| c.is_alphanumeric() || matches!(c, '_' | ':');
        let length = behind.chars().take_while(named).count();
        let from = before.chars().count();
        if behind.is_empty() { whole } else { from..from + length.max(1) }
    }
}

/// What a core holds where the values of variables are asked for.
#[derive(Clone, Copy)]
pub struct Held<'a> {
    /// An integer register by its number, 0 to 31.
    pub register: &'a dyn Fn(u8) -> u32,
    /// A word of memory by its byte address, a multiple of four, as the core sees it; `None` where that cannot be
    /// looked at.
    pub word: &'a dyn Fn(u32) -> Option<u32>,
}

impl std::fmt::Debug for Held<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}

/// Names for what events mention. Asked once per line that is printed, so answers are best
/// cached.
pub trait Names {
    /// The source of the instruction at `pc` of `core`.
    fn code(&self, core: CoreId, pc: u32) -> Option<CodeName> {
        let _ = (core, pc);
        None
    }

    /// The function of the symbol table that holds the instruction: not what was inlined into it.
    fn function(&self, core: CoreId, pc: u32) -> Option<String> {
        self.code(core, pc).map(|code| code.function)
    }

    /// Like [`Names::code`], but of what was inlined the first frame outside a header: the line that
    /// its author knows.
    fn site(&self, core: CoreId, pc: u32) -> Option<CodeName> {
        self.code(core, pc)
    }

    /// The text of the line that [`Names::site`] names, if its file can be read.
    fn excerpt(&self, core: CoreId, pc: u32) -> Option<Excerpt> {
        let _ = (core, pc);
        None
    }

    /// The author's own functions that the line of [`Names::site`] was inlined into, from the inside
    /// out.
    fn callers(&self, core: CoreId, pc: u32) -> Vec<CodeName> {
        let _ = (core, pc);
        Vec::new()
    }

    /// All functions of the instruction at `pc`, those of libraries too, from the inside out: what was inlined there, and
    /// last what it was inlined into.
    fn frames(&self, core: CoreId, pc: u32) -> Vec<FrameName> {
        let named = |code| FrameName { code, arguments: String::new() };
        self.code(core, pc).into_iter().map(named).collect()
    }

    /// Arguments and locals with their values that are in force at a pc, of the function of [`Names::site`], if
    /// it is a kernel's, when the core holds that there.
    fn variables(&self, core: CoreId, pc: u32, held: Held<'_>) -> Vec<(String, i64)> {
        let _ = (core, pc, held);
        Vec::new()
    }

    /// The page of a circular buffer that a byte of L1 lies in: `page 2 of CB 1 (0x20810)`.
    fn page(&self, addr: u32) -> Option<String> {
        let _ = addr;
        None
    }

    /// What a word of L1 is to the kernel of a core: `argument 2`.
    fn argument(&self, core: CoreId, addr: u32) -> Option<String> {
        let _ = (core, addr);
        None
    }

    /// File and line of the statements of a kernel that begin in a range of its code, in order and
    /// without those of headers; also of those that the compiler left without code of their own.
    fn statements(&self, core: CoreId, range: Range<u32>) -> Vec<(String, u32)> {
        let _ = (core, range);
        Vec::new()
    }

    /// The text of a line of a file that [`Names::statements`] names, and that belongs to the code
    /// at `pc`.
    fn line_text(&self, core: CoreId, pc: u32, line: u32) -> Option<Excerpt> {
        let _ = (core, pc, line);
        None
    }

    /// Whether the instruction belongs to a kernel rather than to firmware.
    fn is_kernel(&self, core: CoreId, pc: u32) -> bool {
        let _ = (core, pc);
        false
    }

    /// Where the code of a core's kernel lies in L1, if that is known.
    fn kernel_code(&self, core: CoreId) -> Option<Range<u32>> {
        let _ = core;
        None
    }

    /// The named field that covers byte `addr` of L1: its path with indices, the byte inside the
    /// field and the field's size. Built in: the vendor firmware's mailbox block.
    fn l1(&self, addr: u32) -> Option<Place> {
        memory_map::mailbox::place(addr)
    }

    /// L1 address of a field of the vendor firmware's mailbox block, a path as [`Names::l1`] gives it. Built in: the
    /// table's.
    fn mailbox_address(&self, field: &str) -> Option<u32> {
        memory_map::mailbox::address(field)
    }

    /// How much further up the vendor's firmware lies in L1 than the table says, with all behind its mailbox block; less
    /// than 0 if it lies lower. Built in: 0.
    fn firmware_offset(&self) -> i32 {
        0
    }

    /// What `value` in the whole field `field` (a path as [`Names::l1`] gives it) means.
    /// Built in: [`signal_name`], enables, waypoints.
    fn l1_value(&self, field: &str, value: u32) -> Option<String> {
        built_in_value(field, value)
    }

    /// What a NoC endpoint of that number is called: `tile (0, 1)`.
    fn endpoint(&self, number: u16) -> Option<String> {
        let _ = number;
        None
    }

    /// Another number whenever an answer may be another one: other code was loaded. Whoever
    /// remembers answers does so together with this.
    fn generation(&self) -> u32 {
        0
    }
}

/// References and shared pointers to names are names.
impl<P> Names for P
where
    P: Deref<Target: Names>,
{
    fn code(&self, core: CoreId, pc: u32) -> Option<CodeName> {
        (**self).code(core, pc)
    }

    fn function(&self, core: CoreId, pc: u32) -> Option<String> {
        (**self).function(core, pc)
    }

    fn site(&self, core: CoreId, pc: u32) -> Option<CodeName> {
        (**self).site(core, pc)
    }

    fn excerpt(&self, core: CoreId, pc: u32) -> Option<Excerpt> {
        (**self).excerpt(core, pc)
    }

    fn callers(&self, core: CoreId, pc: u32) -> Vec<CodeName> {
        (**self).callers(core, pc)
    }

    fn frames(&self, core: CoreId, pc: u32) -> Vec<FrameName> {
        (**self).frames(core, pc)
    }

    fn variables(&self, core: CoreId, pc: u32, held: Held<'_>) -> Vec<(String, i64)> {
        (**self).variables(core, pc, held)
    }

    fn page(&self, addr: u32) -> Option<String> {
        (**self).page(addr)
    }

    fn argument(&self, core: CoreId, addr: u32) -> Option<String> {
        (**self).argument(core, addr)
    }

    fn statements(&self, core: CoreId, range: Range<u32>) -> Vec<(String, u32)> {
        (**self).statements(core, range)
    }

    fn line_text(&self, core: CoreId, pc: u32, line: u32) -> Option<Excerpt> {
        (**self).line_text(core, pc, line)
    }

    fn is_kernel(&self, core: CoreId, pc: u32) -> bool {
        (**self).is_kernel(core, pc)
    }

    fn kernel_code(&self, core: CoreId) -> Option<Range<u32>> {
        (**self).kernel_code(core)
    }

    fn l1(&self, addr: u32) -> Option<Place> {
        (**self).l1(addr)
    }

    fn mailbox_address(&self, field: &str) -> Option<u32> {
        (**self).mailbox_address(field)
    }

    fn firmware_offset(&self) -> i32 {
        (**self).firmware_offset()
    }

    fn l1_value(&self, field: &str, value: u32) -> Option<String> {
        (**self).l1_value(field, value)
    }

    fn endpoint(&self, number: u16) -> Option<String> {
        (**self).endpoint(number)
    }

    fn generation(&self) -> u32 {
        (**self).generation()
    }
}

/// Names from the built-in tables only: mailbox fields, no code.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltInNames;

impl Names for BuiltInNames {}

/// Whether a field is the signal byte of a go message.
pub(crate) fn is_go_signal(field: &str) -> bool {
    field.starts_with("go_messages[") && field.ends_with("].signal")
}

/// The core whose byte of `subordinate_sync` a field is.
pub(crate) fn subordinate(field: &str) -> Option<CoreId> {
    match field.strip_prefix("subordinate_sync.")? {
        "dm1" => Some(CoreId::Ncrisc),
        "trisc0" => Some(CoreId::Trisc0),
        "trisc1" => Some(CoreId::Trisc1),
        "trisc2" => Some(CoreId::Trisc2),
        _ => None,
    }
}

/// The firmware's name of a value of `go_messages[..].signal` or of a byte of
/// `subordinate_sync`; `None` for other fields and unknown values
/// `[spec: boot-and-sync 1.5]`, `[hdr: hw/inc/hostdev/dev_msgs.h]`.
#[must_use]
pub fn signal_name(field: &str, value: u32) -> Option<&'static str> {
    if is_go_signal(field) {
        return Some(match value {
            0x00 => "RUN_MSG_DONE",
            0x40 => "RUN_MSG_INIT",
            0x80 => "RUN_MSG_GO",
            0xC0 => "RUN_MSG_RESET_READ_PTR",
            0xE0 => "RUN_MSG_RESET_READ_PTR_FROM_HOST",
            0xF0 => "RUN_MSG_REPLAY_TRACE",
            _ => return None,
        });
    }
    if !field.starts_with("subordinate_sync") {
        return None;
    }
    Some(match value {
        0x00 => "RUN_SYNC_MSG_DONE",
        0x01 => "RUN_SYNC_MSG_LOAD",
        0x02 => "RUN_SYNC_MSG_WAITING_FOR_RESET",
        0x03 => "RUN_SYNC_MSG_INIT_SYNC_REGISTERS",
        0x40 => "RUN_SYNC_MSG_INIT",
        0x80 => "RUN_SYNC_MSG_GO",
        _ => return None,
    })
}

fn built_in_value(field: &str, value: u32) -> Option<String> {
    if let Some(name) = signal_name(field, value) {
        return Some(name.to_owned());
    }
    if field.ends_with(".enables") && value & !7 == 0 && value != 0 {
        // Bit 2 stands for all three TRISCs [spec: boot-and-sync 1.4].
        let names = ["BRISC", "NCRISC", "TRISCs"];
        let set: Vec<_> =
            (0..3).filter(|bit| value >> bit & 1 == 1).map(|bit| names[bit]).collect();
        return Some(set.join("|"));
    }
    if field.starts_with("watcher.debug_waypoint[") {
        // Up to four characters, the first in the lowest byte [hdr: hw/inc/api/debug/waypoint.h].
        let bytes = value.to_le_bytes();
        let text = bytes.split(|&byte| byte == 0).next()?;
        let printable = !text.is_empty() && text.iter().all(u8::is_ascii_graphic);
        return printable.then(|| String::from_utf8_lossy(text).into_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_span_is_the_name_at_the_column_or_the_whole_line() {
        let text = "    cb_wait_front(CB, 2);".to_owned();
        let excerpt = |column| Excerpt { line: 3, text: text.clone(), column };
        assert_eq!(excerpt(Some(5)).span(), 4..17);
        assert_eq!(excerpt(None).span(), 4..25);
        // Debug information of another version of the file.
        assert_eq!(excerpt(Some(99)).span(), 4..25);
        assert_eq!(excerpt(Some(18)).span(), 17..18);
    }

    #[test]
    fn waypoint_value_reads_as_characters() {
        let value = u32::from_le_bytes(*b"NTW\0");
        assert_eq!(built_in_value("watcher.debug_waypoint[0]", value).as_deref(), Some("NTW"));
        assert_eq!(built_in_value("watcher.debug_waypoint[0]", 0), None);
    }

    #[test]
    fn enables_value_names_cores() {
        let text = |value| built_in_value("launch[0].enables", value);
        assert_eq!(text(7).as_deref(), Some("BRISC|NCRISC|TRISCs"));
        assert_eq!(text(2).as_deref(), Some("NCRISC"));
        assert_eq!(text(8), None);
    }

    #[test]
    fn signal_value_depends_on_field() {
        assert_eq!(signal_name("go_messages[0].signal", 0x80), Some("RUN_MSG_GO"));
        assert_eq!(signal_name("subordinate_sync.dm1", 0x80), Some("RUN_SYNC_MSG_GO"));
        assert_eq!(signal_name("go_messages[0].master_x", 0x80), None);
    }
}
