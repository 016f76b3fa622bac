//! `tilescope disasm`: code as text, with symbols and source lines.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use super::{looks_numeric, parse_u32};
use crate::exit::Exit;
use symbols::code::Symbols;
use symbols::image::{Image, Segment, SymbolKind};

const EXAMPLES: &str = "\
Examples:
  tilescope disasm kernel.elf
  tilescope disasm kernel.elf --function main --source
  tilescope disasm kernel.bin --flat --address 0xB000
  tilescope disasm 0xa2000001          one word: as a Tensix word and as RISC-V code
";

/// Disassemble an ELF file, a flat image or single words
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct DisasmArgs {
    /// A file, or 32-bit words
    #[arg(value_name = "FILE|WORD", required = true)]
    pub what: Vec<OsString>,
    /// The file is a flat image
    #[arg(long)]
    pub flat: bool,
    /// Address of a flat image's first byte
    #[arg(long, value_name = "ADDRESS", default_value = "0", value_parser = parse_u32)]
    pub address: u32,
    /// Only this function
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Show source lines
    #[arg(long)]
    pub source: bool,
}

/// Runs the command.
///
/// # Errors
/// One line when a file is not usable or a word is not a number.
pub fn run(args: &DisasmArgs, out: &mut dyn Write) -> Result<Exit> {
    if let [one] = args.what.as_slice()
        && (args.flat || Path::new(one).exists() || !one.to_str().is_some_and(looks_numeric))
    {
        file(Path::new(one), args, out)?;
        return Ok(Exit::Ok);
    }
    for text in &args.what {
        let word = parse_u32(&text.to_string_lossy()).map_err(anyhow::Error::msg)?;
        writeln!(out, "{word:08x}  as a Tensix word:  {}", isa::disasm::tensix(word))?;
        writeln!(out, "{word:08x}  as RISC-V code:    {}", isa::disasm::rv32(word, 0))?;
    }
    Ok(Exit::Ok)
}

fn file(path: &Path, args: &DisasmArgs, out: &mut dyn Write) -> Result<()> {
    if !args.address.is_multiple_of(4) {
        bail!("--address {:#x}: code lies at multiples of 4", args.address);
    }
    let image =
        if args.flat { Image::read_flat(path, args.address)? } else { Image::read_elf(path)? };
    let image = Arc::new(image);
    let symbols = Symbols::for_core(Some(Arc::clone(&image)));
    let wanted = match &args.function {
        None => 0..u32::MAX,
        Some(name) => function_range(&image, name)?,
    };
    for segment in image.loadable().filter(|segment| segment.executable) {
        lines(&image, segment, &symbols, &wanted, args.source, out)?;
    }
    Ok(())
}

fn function_range(image: &Image, name: &str) -> Result<std::ops::Range<u32>> {
    let symbol = image.symbol(name);
    let symbol = symbol.with_context(|| format!("{}: no function {name}", image.name))?;
    if symbol.kind == SymbolKind::Object {
        bail!("{}: {name} is data", image.name);
    }
    Ok(symbol.value..symbol.value.saturating_add(symbol.size.max(4)))
}

fn lines(
    image: &Image,
    segment: &Segment,
    symbols: &Symbols,
    wanted: &std::ops::Range<u32>,
    source: bool,
    out: &mut dyn Write,
) -> Result<()> {
    let mut labels: Vec<_> =
        image.symbols.iter().filter(|s| s.kind != SymbolKind::Object).collect();
    labels.sort_by_key(|symbol| symbol.value);
    let mut last_source = String::new();
    let words = segment.bytes.chunks_exact(4);
    for (pc, word) in (segment.run_addr..).step_by(4).zip(words) {
        if !wanted.contains(&pc) {
            continue;
        }
        let first = labels.partition_point(|symbol| symbol.value < pc);
        for label in labels[first..].iter().take_while(|symbol| symbol.value == pc) {
            writeln!(out, "\n{pc:08x} <{}>:", label.name)?;
        }
        if source {
            let now = symbols.locate(pc).map(|at| at.to_string()).unwrap_or_default();
            if now != last_source {
                writeln!(out, "; {now}")?;
                last_source = now;
            }
        }
        let word = u32::from_le_bytes(word.try_into().unwrap_or_default());
        writeln!(out, "{pc:8x}:  {word:08x}  {}", isa::disasm::rv32(word, pc))?;
    }
    Ok(())
}
