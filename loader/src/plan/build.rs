//! From keys to bytes: lays out the kernel-config block and checks every address.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use observe::why::CircularBuffer;
use sim_core::CoreId;

use super::args::{RawArg, Scope};
use super::file::{RawBlock, RawCb, RawDispatch, RawEnable, RawKernel, RawLaunch, RawMode};
use super::launch::{Expect, Kernel, Launch};
use super::message::{Fields, Mode, encode};
use crate::layout::{L1_BYTES, MAP_END, MESSAGE_ORDER, in_l1, key, message_index};
use symbols::image::{Image, read};

/// Go signal "go" in the top byte of the go word `[spec: boot-and-sync 1.5]`.
const GO: u32 = 0x80 << 24;
/// Circular buffers a launch can have `[spec: boot-and-sync 7.1]`.
const CB_COUNT: u8 = 64;
/// Bytes of one circular buffer's configuration, and from one semaphore to the next
/// `[hdr: hw/inc/api/dataflow/dataflow_api.h]`.
const ENTRY_BYTES: usize = 16;

/// Runtime arguments in L1 and the cores they belong to.
type ArgumentRanges = Vec<(CoreId, Range<u32>)>;

/// A write and what it is, for overlap messages.
struct Claim {
    what: String,
    address: u32,
    bytes: Vec<u8>,
}

/// Images that have been read, by path and load address: tiles mostly run the same.
#[derive(Default)]
pub(super) struct Images(BTreeMap<(PathBuf, Option<u32>), Arc<Image>>);

impl Images {
    /// An ELF, or with an address a flat image.
    fn read(&mut self, path: PathBuf, address: Option<u32>) -> Result<Arc<Image>, String> {
        if let Some(known) = self.0.get(&(path.clone(), address)) {
            return Ok(Arc::clone(known));
        }
        let image = match address {
            None => Image::read_elf(&path),
            Some(address) => Image::read_flat(&path, address),
        };
        let image = Arc::new(image.map_err(|error| error.to_string())?);
        self.0.insert((path, address), Arc::clone(&image));
        Ok(image)
    }
}

/// Builds one launch. The semaphores of `scope` are those of the launch itself.
pub(super) fn launch(
    raw: RawLaunch,
    index: usize,
    dir: &Path,
    images: &mut Images,
    mut scope: Scope<'_>,
) -> Result<Launch, String> {
    let base = check_numbers(&raw)?;
    let ids = 0..u32::try_from(raw.semaphores.len()).unwrap_or(u32::MAX);
    scope.semaphores = ids.map(|id| base.saturating_add(id.saturating_mul(16))).collect();
    let kernels = kernels(&raw, dir, images)?;
    let enables = enables(&raw, &kernels)?;
    let mode = if raw.mode == RawMode::Dev { Mode::Dev } else { Mode::Host };
    let mut fields = Fields {
        config_base: base,
        noc: raw.noc,
        id: u32::try_from(index).unwrap_or(u32::MAX),
        enables,
        preload: raw.preload,
        ..Fields::default()
    };
    let (block, arguments) = config_block(&raw, &mut fields, &scope)?;
    let mut claims = Vec::new();
    if !block.is_empty() {
        let what = "the kernel-config block".to_owned();
        claims.push(Claim { what, address: base, bytes: block });
    }
    for kernel in &kernels {
        kernel_claims(kernel, base, &mut fields, &mut claims)?;
    }
    check_cbs(&raw.cb, &claims)?;
    for (number, input) in raw.input.iter().enumerate() {
        let what = format!("input {}", number + 1);
        let bytes = block_bytes(input, &what, dir)?;
        claims.push(Claim { what, address: input.address, bytes });
    }
    check_disjoint(&mut claims)?;
    let mut expects = Vec::with_capacity(raw.expect.len());
    for (number, expect) in raw.expect.iter().enumerate() {
        let bytes = block_bytes(expect, &format!("expect {}", number + 1), dir)?;
        expects.push(Expect { address: expect.address, bytes });
    }
    Ok(Launch {
        mode,
        repeat: raw.repeat,
        preload: raw.preload,
        writes: claims.into_iter().map(|claim| (claim.address, claim.bytes)).collect(),
        message: encode(&fields, mode),
        go_word: go_word(raw.dispatch.unwrap_or_default()),
        kernels,
        arguments,
        semaphores: scope.semaphores,
        circular: raw.cb.iter().map(circular).collect(),
        expects,
        name: raw.name,
    })
}

fn circular(cb: &RawCb) -> CircularBuffer {
    CircularBuffer {
        index: cb.index,
        address: cb.address,
        size: cb.size,
        pages: cb.num_pages,
        page_bytes: cb.page_size,
    }
}

/// Single values; returns the kernel-config base.
fn check_numbers(raw: &RawLaunch) -> Result<u32, String> {
    if raw.repeat == 0 {
        return Err("repeat: must be at least 1".to_owned());
    }
    if raw.noc > 1 {
        return Err(format!("noc: must be 0 or 1, is {}", raw.noc));
    }
    if raw.dispatch.is_some() && raw.mode == RawMode::Host {
        return Err("dispatch: has no meaning with mode = \"host\"".to_owned());
    }
    let base = raw.kernel_config_base.unwrap_or(MAP_END);
    if !base.is_multiple_of(16) || base >= L1_BYTES {
        return Err(format!("kernel_config_base: {base:#x} must be a multiple of 16 inside L1"));
    }
    Ok(base)
}

fn go_word(to: RawDispatch) -> u32 {
    GO | u32::from(to.y) << 16 | u32::from(to.x) << 8 | u32::from(to.message_offset)
}

fn core_of(name: &str) -> Result<CoreId, String> {
    MESSAGE_ORDER.into_iter().find(|&core| key(core) == name).ok_or_else(|| {
        format!("kernel.{name}: no such core; there are brisc, ncrisc, trisc0, trisc1, trisc2")
    })
}

fn kernels(raw: &RawLaunch, dir: &Path, images: &mut Images) -> Result<Vec<Kernel>, String> {
    let mut found = Vec::new();
    for (name, kernel) in &raw.kernel {
        let core = core_of(name)?;
        let image = match (&kernel.elf, &kernel.image, kernel.address) {
            (Some(elf), None, None) => images.read(dir.join(elf), None),
            (None, Some(image), Some(address)) => images.read(dir.join(image), Some(address)),
            (Some(_), None, Some(_)) => {
                return Err(format!("kernel.{name}.address: an ELF says itself where it belongs"));
            }
            (None, Some(_), None) => {
                return Err(format!("kernel.{name}.address: missing; a flat image needs one"));
            }
            _ => return Err(format!("kernel.{name}: needs either elf or image")),
        };
        let image = image.map_err(|error| format!("kernel.{name}: {error}"))?;
        let address = image.loadable().map(|segment| segment.addr).min();
        let address = address.ok_or_else(|| format!("kernel.{name}: nothing to load"))?;
        found.push(Kernel { core, entry: image.entry, image, address });
    }
    found.sort_by_key(|kernel| message_index(kernel.core));
    Ok(found)
}

/// The `enables` word: bit 0 BRISC, bit 1 NCRISC, bits 2 to 4 the TRISCs. Firmware looks at bit 2
/// only and then starts all three `[spec: boot-and-sync 7.1]`.
fn enables(raw: &RawLaunch, kernels: &[Kernel]) -> Result<u32, String> {
    let has = |core| kernels.iter().any(|kernel| kernel.core == core);
    let triscs = [CoreId::Trisc0, CoreId::Trisc1, CoreId::Trisc2];
    let enabled = |which: RawEnable, default: bool| {
        raw.enables.as_ref().map_or(default, |list| list.contains(&which))
    };
    let need = |core: CoreId| {
        let trisc = core.thread().is_some();
        let why = if trisc { "firmware starts all three TRISCs together" } else { "it is enabled" };
        if has(core) { Ok(()) } else { Err(format!("kernel.{}: missing; {why}", key(core))) }
    };
    let mut word = 0;
    if enabled(RawEnable::Brisc, has(CoreId::Brisc)) {
        need(CoreId::Brisc)?;
        word |= 1;
    }
    if enabled(RawEnable::Ncrisc, has(CoreId::Ncrisc)) {
        need(CoreId::Ncrisc)?;
        word |= 2;
    }
    if enabled(RawEnable::Trisc, triscs.into_iter().any(has)) {
        triscs.into_iter().try_for_each(need)?;
        word |= 0b1_1100;
    }
    Ok(word)
}

/// Semaphores, circular buffers, then the arguments of each core; 16-byte aligned parts.
fn config_block(
    raw: &RawLaunch,
    fields: &mut Fields,
    scope: &Scope<'_>,
) -> Result<(Vec<u8>, ArgumentRanges), String> {
    let (mut block, mut arguments) = (Vec::new(), ArgumentRanges::new());
    let base = fields.config_base;
    let range = |start: u16, block: &[u8]| {
        base + u32::from(start)..base + u32::try_from(block.len()).unwrap_or(u32::MAX)
    };
    fields.sem_offset = offset(&block, "semaphores")?;
    for &value in &raw.semaphores {
        block.extend(value.to_le_bytes());
        pad(&mut block);
    }
    fields.cb_offset = offset(&block, "cb")?;
    let start = block.len();
    for cb in &raw.cb {
        if cb.index >= CB_COUNT {
            return Err(format!("cb: index {} must be below {CB_COUNT}", cb.index));
        }
        if fields.cb_mask >> cb.index & 1 != 0 {
            return Err(format!("cb: index {} is used twice", cb.index));
        }
        fields.cb_mask |= 1 << cb.index;
        let at = start + usize::from(cb.index) * ENTRY_BYTES;
        block.resize(block.len().max(at + ENTRY_BYTES), 0);
        let words = [cb.address, cb.size, cb.num_pages, cb.page_size];
        let bytes = words.into_iter().flat_map(u32::to_le_bytes);
        for (slot, byte) in block[at..at + ENTRY_BYTES].iter_mut().zip(bytes) {
            *slot = byte;
        }
    }
    for core in MESSAGE_ORDER {
        let none = RawKernel::default();
        let kernel = raw.kernel.get(key(core)).unwrap_or(&none);
        let what = format!("kernel.{}.args", key(core));
        let args = offset(&block, &what)?;
        block.extend(arguments_of(kernel.args.as_deref(), &what, scope)?);
        arguments.push((core, range(args, &block)));
        pad(&mut block);
        let what = format!("kernel.{}.common_args", key(core));
        let common = offset(&block, &what)?;
        block.extend(arguments_of(kernel.common_args.as_deref(), &what, scope)?);
        arguments.push((core, range(common, &block)));
        pad(&mut block);
        fields.rta_offset[message_index(core)] = (args, common);
    }
    let size = u32::try_from(block.len()).unwrap_or(u32::MAX);
    if !in_l1(fields.config_base, size) {
        return Err(format!("kernel_config_base: {size} bytes at it reach beyond the end of L1"));
    }
    Ok((block, arguments))
}

fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(ENTRY_BYTES), 0);
}

/// The message has 16 bits for offsets into the block.
fn offset(block: &[u8], what: &str) -> Result<u16, String> {
    u16::try_from(block.len())
        .map_err(|_| format!("{what}: starts {} bytes into the block, limit 65535", block.len()))
}

/// A 32-bit value, given signed or unsigned.
fn word(value: i64, what: &str) -> Result<u32, String> {
    let word = u32::try_from(value).or_else(|_| i32::try_from(value).map(i32::cast_unsigned));
    word.map_err(|_| format!("{what}: {value} does not fit 32 bits"))
}

fn words(values: &[i64], what: &str) -> Result<Vec<u8>, String> {
    let words = values.iter().map(|&value| word(value, what)).collect::<Result<Vec<_>, _>>()?;
    Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
}

/// Runtime arguments, worked out for one tile.
fn arguments_of(args: Option<&[RawArg]>, what: &str, of: &Scope<'_>) -> Result<Vec<u8>, String> {
    let value = |arg: &RawArg| match arg {
        RawArg::Number(value) => word(*value, what),
        RawArg::Text(text) => of.word(text).map_err(|why| format!("{what}: {why}")),
    };
    let words = args.unwrap_or_default().iter().map(value).collect::<Result<Vec<_>, _>>()?;
    Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
}

/// Claims L1 for the segments of a kernel and fills its part of the message.
fn kernel_claims(
    kernel: &Kernel,
    base: u32,
    fields: &mut Fields,
    claims: &mut Vec<Claim>,
) -> Result<(), String> {
    let what = format!("kernel.{}", key(kernel.core));
    let file = &kernel.image.name;
    let mut end = kernel.address;
    let mut entry_loaded = false;
    for segment in kernel.image.loadable() {
        let size = u32::try_from(segment.bytes.len()).unwrap_or(u32::MAX);
        if !in_l1(segment.addr, size) {
            return Err(format!(
                "{what}: {file}: loads at {:#x}, outside L1; give .data a load address (AT) in L1 \
                 and copy it at start",
                segment.addr
            ));
        }
        if segment.addr < base {
            return Err(format!(
                "{what}: {file}: linked at {:#x}, below kernel_config_base {base:#x}; offsets in \
                 the launch message are unsigned",
                segment.addr
            ));
        }
        end = end.max(segment.addr + size);
        entry_loaded |= kernel.entry.wrapping_sub(segment.addr) < size;
        let bytes = segment.bytes.clone();
        claims.push(Claim { what: what.clone(), address: segment.addr, bytes });
    }
    if !entry_loaded || !kernel.entry.is_multiple_of(4) {
        return Err(format!("{what}: {file}: entry point {:#x} is not in its code", kernel.entry));
    }
    let index = message_index(kernel.core);
    fields.text_offset[index] = kernel.entry - base;
    fields.text_size[index] = end - kernel.address;
    Ok(())
}

/// A circular buffer must lie in L1, hold its pages, and leave code and configuration alone.
fn check_cbs(cbs: &[RawCb], claims: &[Claim]) -> Result<(), String> {
    for cb in cbs {
        let what = format!("cb {}", cb.index);
        if !in_l1(cb.address, cb.size) {
            return Err(format!("{what}: {:#x} bytes at {:#x} exceed L1", cb.size, cb.address));
        }
        if cb.num_pages.checked_mul(cb.page_size) != Some(cb.size) {
            return Err(format!(
                "{what}: size {:#x} is not num_pages {} x page_size {:#x}",
                cb.size, cb.num_pages, cb.page_size
            ));
        }
        // TRISC0 and TRISC2 count in units of 16 bytes [spec: boot-and-sync 7.1].
        if !cb.address.is_multiple_of(16) || !cb.page_size.is_multiple_of(16) {
            return Err(format!("{what}: address and page_size must be multiples of 16"));
        }
        let end = cb.address + cb.size;
        for claim in claims {
            let claimed = claim.address..claim.address.saturating_add(length(claim));
            if cb.address < claimed.end && claimed.start < end {
                return Err(format!(
                    "{what}: {:#x}..{end:#x} overlaps {} at {:#x}..{:#x}",
                    cb.address, claim.what, claimed.start, claimed.end
                ));
            }
        }
    }
    Ok(())
}

fn length(claim: &Claim) -> u32 {
    u32::try_from(claim.bytes.len()).unwrap_or(u32::MAX)
}

pub(super) fn block_bytes(raw: &RawBlock, what: &str, dir: &Path) -> Result<Vec<u8>, String> {
    let bytes = match (&raw.words, &raw.bytes_hex, &raw.file) {
        (Some(values), None, None) => words(values, &format!("{what}.words"))?,
        (None, Some(hex), None) => unhex(hex)
            .ok_or_else(|| format!("{what}.bytes_hex: must be pairs of hexadecimal digits"))?,
        (None, None, Some(file)) => {
            let path = dir.join(file);
            read(&path, &path.display().to_string())
                .map_err(|error| format!("{what}.file: {error}"))?
        }
        _ => return Err(format!("{what}: needs exactly one of words, bytes_hex, file")),
    };
    let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let at = raw.address;
    if raw.dram.is_some() {
        // A channel is as large as addresses go.
        let fits = !bytes.is_empty() && at.checked_add(size - 1).is_some();
        let why = || format!("{what}: {size} bytes at {at:#x} are not a range of a DRAM channel");
        return if fits { Ok(bytes) } else { Err(why()) };
    }
    if bytes.is_empty() || !in_l1(raw.address, size) {
        return Err(format!("{what}: {size} bytes at {at:#x} are not a range of L1"));
    }
    Ok(bytes)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let nibble = |digit: u8| char::from(digit).to_digit(16).and_then(|v| u8::try_from(v).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(nibble(*high)? << 4 | nibble(*low)?),
        _ => None,
    };
    digits.chunks(2).map(pair).collect()
}

/// Sorts by address; two claims must not share a byte.
fn check_disjoint(claims: &mut [Claim]) -> Result<(), String> {
    claims.sort_by_key(|claim| claim.address);
    for pair in claims.windows(2) {
        let end = pair[0].address.saturating_add(length(&pair[0]));
        if pair[1].address < end {
            return Err(format!(
                "{} at {:#x} overlaps {}, which reaches from {:#x} to {end:#x}",
                pair[1].what, pair[1].address, pair[0].what, pair[0].address
            ));
        }
    }
    Ok(())
}
