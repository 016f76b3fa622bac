//! Arguments and locals of a function, with their values, as far as debug information says where they are.
//!
//! Only numbers are told: what a loop counts, and how far. What the compiler has left out, or keeps in parts, has
//! no value.

use std::sync::Arc;

use gimli::{
    AttributeValue, CfaRule, DebugFrame, DebuggingInformationEntry, Dwarf, EntriesTreeNode,
    EvaluationResult, Expression, LittleEndian, Location, Unit, UnitOffset, UnwindContext,
    UnwindSection as _, constants as dw,
};

use crate::dwarf::{Reader, load_dwarf};
use crate::image::section;

type Entry = DebuggingInformationEntry<Reader>;

/// What a core holds where its values are asked for.
#[derive(Clone, Copy)]
pub struct Held<'a> {
    /// A register by its number, 0 to 31.
    pub register: &'a dyn Fn(u8) -> u32,
    /// A word of memory as the core sees it; `None` where that cannot be looked at.
    pub word: &'a dyn Fn(u32) -> Option<u32>,
}

impl std::fmt::Debug for Held<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}

/// An argument or a local.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: i64,
}

/// Nested scopes and types that are followed.
const DEPTH: usize = 32;
/// Steps of an expression.
const STEPS: u32 = 256;

/// Looks for the variables of one function.
struct Search<'a> {
    file: &'a Arc<[u8]>,
    dwarf: &'a Dwarf<Reader>,
    unit: &'a Unit<Reader>,
    address: u32,
    function: &'a str,
    held: Held<'a>,
    /// Of the function that really stands there: others are inlined into it.
    frame: Option<u32>,
    found: Vec<Variable>,
}

/// The variables that are in force at a linked address, of the function of that name that is there, or was inlined
/// there.
pub(crate) fn variables(
    file: &Arc<[u8]>,
    address: u32,
    function: &str,
    held: Held<'_>,
) -> Vec<Variable> {
    let dwarf = load_dwarf(file);
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let (dwarf, unit, found, frame) = (&dwarf, &unit, Vec::new(), None);
        let mut search = Search { file, dwarf, unit, address, function, held, frame, found };
        if let Ok(mut tree) = unit.entries_tree(None)
            && let Ok(root) = tree.root()
        {
            search.below(root, false, DEPTH);
        }
        if !search.found.is_empty() {
            return search.found;
        }
    }
    Vec::new()
}

impl Search<'_> {
    fn below(&mut self, node: EntriesTreeNode<'_, '_, Reader>, is_own: bool, depth: usize) {
        let mut children = node.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            match entry.tag() {
                dw::DW_TAG_variable | dw::DW_TAG_formal_parameter if is_own => self.take(entry),
                dw::DW_TAG_subprogram if depth > 0 && self.covers(entry) => {
                    self.frame = self.frame_base();
                    let is_own = self.is_meant(entry);
                    self.below(child, is_own, depth - 1);
                }
                dw::DW_TAG_inlined_subroutine if depth > 0 && self.covers(entry) => {
                    let is_own = self.is_meant(entry);
                    self.below(child, is_own, depth - 1);
                }
                dw::DW_TAG_lexical_block if depth > 0 && self.covers(entry) => {
                    self.below(child, is_own, depth - 1);
                }
                dw::DW_TAG_namespace if depth > 0 => self.below(child, false, depth - 1),
                _ => {}
            }
        }
    }

    fn covers(&self, entry: &Entry) -> bool {
        let Ok(mut ranges) = self.dwarf.die_ranges(self.unit, entry) else { return false };
        let address = u64::from(self.address);
        while let Ok(Some(range)) = ranges.next() {
            if (range.begin..range.end).contains(&address) {
                return true;
            }
        }
        false
    }

    /// An attribute of an entry, or of what it is an instance of.
    fn attribute(
        &self,
        entry: &Entry,
        name: gimli::DwAt,
        depth: usize,
    ) -> Option<AttributeValue<Reader>> {
        if let Some(value) = entry.attr_value(name) {
            return Some(value);
        }
        let origin = entry.attr_value(dw::DW_AT_abstract_origin);
        let origin = origin.or_else(|| entry.attr_value(dw::DW_AT_specification))?;
        let AttributeValue::UnitRef(at) = origin else { return None };
        let origin = self.unit.entry(at).ok().filter(|_| depth > 0)?;
        self.attribute(&origin, name, depth - 1)
    }

    fn name(&self, entry: &Entry) -> Option<String> {
        let value = self.attribute(entry, dw::DW_AT_name, DEPTH)?;
        let text = self.dwarf.attr_string(self.unit, value).ok()?;
        Some(String::from_utf8_lossy(text.bytes()).into_owned())
    }

    /// Whether a scope is the function that is asked for, by the last part of its name.
    fn is_meant(&self, entry: &Entry) -> bool {
        let wanted = self.function.split(['<', '(']).next().unwrap_or_default();
        let wanted = wanted.rsplit("::").next().unwrap_or_default();
        self.name(entry).is_some_and(|name| name.split('<').next() == Some(wanted))
    }

    fn take(&mut self, entry: &Entry) {
        let Some(name) = self.name(entry) else { return };
        let Some(value) = self.value(entry) else { return };
        // The inner one hides the outer one.
        self.found.retain(|known| known.name != name);
        self.found.push(Variable { name, value });
    }

    fn value(&self, entry: &Entry) -> Option<i64> {
        let AttributeValue::UnitRef(kind) = self.attribute(entry, dw::DW_AT_type, DEPTH)? else {
            return None;
        };
        let (bytes, is_signed) = self.number(kind, DEPTH)?;
        if let Some(value) = entry.attr_value(dw::DW_AT_const_value) {
            return value.sdata_value().or_else(|| value.udata_value().map(u64::cast_signed));
        }
        let raw = self.located(entry.attr_value(dw::DW_AT_location)?, bytes)?;
        let unused = 64 - 8 * u32::from(bytes);
        let shifted = raw << unused;
        Some(if is_signed {
            shifted.cast_signed() >> unused
        } else {
            (shifted >> unused).cast_signed()
        })
    }

    /// Bytes of a number's type, and whether it has a sign; `None` of anything else.
    fn number(&self, at: UnitOffset, depth: usize) -> Option<(u8, bool)> {
        let entry = self.unit.entry(at).ok().filter(|_| depth > 0)?;
        let inner = || match entry.attr_value(dw::DW_AT_type)? {
            AttributeValue::UnitRef(at) => self.number(at, depth - 1),
            _ => None,
        };
        let bytes = || {
            let bytes = entry.attr_value(dw::DW_AT_byte_size)?.udata_value()?;
            u8::try_from(bytes).ok().filter(|bytes| (1..=4).contains(bytes))
        };
        match entry.tag() {
            dw::DW_TAG_typedef | dw::DW_TAG_const_type | dw::DW_TAG_volatile_type => inner(),
            dw::DW_TAG_enumeration_type => Some((bytes()?, false)),
            dw::DW_TAG_base_type => match entry.attr_value(dw::DW_AT_encoding)? {
                AttributeValue::Encoding(dw::DW_ATE_signed | dw::DW_ATE_signed_char) => {
                    Some((bytes()?, true))
                }
                AttributeValue::Encoding(
                    dw::DW_ATE_unsigned | dw::DW_ATE_unsigned_char | dw::DW_ATE_boolean,
                ) => Some((bytes()?, false)),
                _ => None,
            },
            _ => None,
        }
    }

    /// What is at a place that is told as an expression, or as a list of them by address.
    fn located(&self, place: AttributeValue<Reader>, bytes: u8) -> Option<u64> {
        if let AttributeValue::Exprloc(expression) = place {
            return self.evaluated(expression, bytes);
        }
        let mut places = self.dwarf.attr_locations(self.unit, place).ok()??;
        while let Ok(Some(entry)) = places.next() {
            if (entry.range.begin..entry.range.end).contains(&u64::from(self.address)) {
                return self.evaluated(entry.data, bytes);
            }
        }
        None
    }

    fn evaluated(&self, expression: Expression<Reader>, bytes: u8) -> Option<u64> {
        let mut evaluation = expression.evaluation(self.unit.encoding());
        evaluation.set_max_iterations(STEPS);
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = gimli::Value::Generic(self.register(register)?.into());
                    evaluation.resume_with_register(value).ok()?
                }
                EvaluationResult::RequiresFrameBase | EvaluationResult::RequiresCallFrameCfa => {
                    let base = self.frame?.into();
                    match result {
                        EvaluationResult::RequiresFrameBase => {
                            evaluation.resume_with_frame_base(base)
                        }
                        _ => evaluation.resume_with_call_frame_cfa(base),
                    }
                    .ok()?
                }
                EvaluationResult::RequiresMemory { address, size, space: None, .. } => {
                    let value = self.memory(u32::try_from(address).ok()?, size)?;
                    evaluation.resume_with_memory(gimli::Value::Generic(value)).ok()?
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(address).ok()?
                }
                _ => return None,
            };
        }
        let pieces = evaluation.result();
        let [piece] = &pieces[..] else { return None };
        match piece.location {
            Location::Register { register } => self.register(register).map(u64::from),
            Location::Address { address } => self.memory(u32::try_from(address).ok()?, bytes),
            Location::Value { value } => value.to_u64(u64::from(u32::MAX)).ok(),
            _ => None,
        }
    }

    fn register(&self, register: gimli::Register) -> Option<u32> {
        let index = u8::try_from(register.0).ok().filter(|index| *index < 32)?;
        Some((self.held.register)(index))
    }

    fn memory(&self, addr: u32, bytes: u8) -> Option<u64> {
        let (at, shift) = (addr & !3, 8 * (addr & 3));
        let fits = u32::from(bytes) + (addr & 3) <= 4;
        let word = (self.held.word)(at).filter(|_| fits)?;
        Some(u64::from(word >> shift))
    }

    /// The frame of the function at the address, by the rules for unwinding: where its caller's stack ended.
    fn frame_base(&self) -> Option<u32> {
        let bytes: Arc<[u8]> = section(self.file, ".debug_frame").into();
        let mut frames = DebugFrame::from(Reader::new(bytes, LittleEndian));
        frames.set_address_size(self.unit.encoding().address_size);
        let (bases, mut context) = (gimli::BaseAddresses::default(), UnwindContext::new());
        let row = frames.unwind_info_for_address(
            &bases,
            &mut context,
            self.address.into(),
            DebugFrame::cie_from_offset,
        );
        match *row.ok()?.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                let base = self.register(register)?;
                Some(base.wrapping_add_signed(i32::try_from(offset).ok()?))
            }
            CfaRule::Expression(_) => None,
        }
    }
}
