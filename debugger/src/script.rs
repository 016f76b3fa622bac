//! What gdb needs to know of a session: its ELF files, each where it lies, as a script.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use goblin::elf::Elf;
use goblin::elf::section_header::SHF_ALLOC;
use loader::firmware::FirmwareSet;
use loader::plan::Launch;
use memory_map::layout::L1_BYTES;
use symbols::image::Image;

/// An ELF file of a session and by how much its code lies elsewhere than where it was linked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Name of the copy.
    pub file: String,
    /// Content.
    pub bytes: std::sync::Arc<[u8]>,
    /// Run address minus linked address, wrapping.
    pub bias: u32,
}

fn program(stem: &str, image: &Image, bias: u32) -> Option<Program> {
    let bytes = image.file.clone()?;
    Some(Program { file: format!("{stem}.elf"), bytes, bias })
}

/// The ELF files of firmware and kernels, each once.
#[must_use]
pub fn programs(set: &FirmwareSet, launches: &[Launch]) -> Vec<Program> {
    let name = |core: sim_core::CoreId| core.name().to_lowercase();
    let firmware = set
        .images()
        .filter_map(|(core, image)| program(&format!("firmware-{}", name(core)), image, 0));
    let mut programs: Vec<Program> = firmware.collect();
    for (number, launch) in (1..).zip(launches) {
        for kernel in &launch.kernels {
            let linked = kernel.image.loadable().map(|segment| segment.addr).min();
            let bias = kernel.address.wrapping_sub(linked.unwrap_or(kernel.address));
            let stem = format!("launch{number}-{}", name(kernel.core));
            let Some(found) = program(&stem, &kernel.image, bias) else { continue };
            let is_known = |known: &Program| known.bias == bias && known.bytes == found.bytes;
            if !programs.iter().any(is_known) {
                programs.push(found);
            }
        }
    }
    programs
}

/// The command that tells gdb of a file: each section that lies in L1 has moved by the bias, data in
/// local RAM has not.
fn add_symbols(path: &Path, program: &Program) -> String {
    let mut text = format!("add-symbol-file {}", path.display());
    if program.bias != 0
        && let Ok(elf) = Elf::parse(&program.bytes)
    {
        for section in &elf.section_headers {
            let name = elf.shdr_strtab.get_at(section.sh_name).unwrap_or_default();
            let is_loaded = section.sh_flags & u64::from(SHF_ALLOC) != 0 && !name.is_empty();
            let Some(linked) = u32::try_from(section.sh_addr).ok().filter(|_| is_loaded) else {
                continue;
            };
            let at = if linked < L1_BYTES { linked.wrapping_add(program.bias) } else { linked };
            let _ = write!(text, " -s {name} {at:#x}");
        }
    }
    text
}

/// Writes the files and a script for gdb into a directory; gives the script's path. `target` is what
/// gdb's `target remote` takes.
///
/// # Errors
/// A file cannot be written.
pub fn write(dir: &Path, programs: &[Program], target: &str) -> std::io::Result<PathBuf> {
    let mut script = String::from(
        "set confirm off\nset pagination off\nset architecture riscv:rv32\n\
         set remote hardware-watchpoint-limit -1\n",
    );
    for program in programs {
        let path = dir.join(&program.file);
        std::fs::write(&path, &program.bytes)?;
        script += &add_symbols(&path, program);
        script.push('\n');
    }
    // A step backwards names its core only if no other is to move (gdb's `Hc`); others move all the
    // same. gdb takes this only of a target that it knows.
    script += &format!("target remote {target}\nset scheduler-locking step\nset confirm on\n");
    let path = dir.join("tilescope.gdb");
    std::fs::write(&path, script)?;
    Ok(path)
}
