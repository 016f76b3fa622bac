//! What gdb needs to know of a session: its ELF files, each where it lies, as a script.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use goblin::elf::Elf;
use goblin::elf::section_header::SHF_ALLOC;
use loader::firmware::FirmwareSet;
use loader::plan::Launch;
use memory_map::layout::L1_BYTES;
use sim_core::CoreId;
use symbols::image::Image;

use crate::recording::{Code, Stage};

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
    let name = |core: CoreId| core.name().to_lowercase();
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

/// The ELF files of what runs in a part of a session that was read, each once.
#[must_use]
pub fn programs_of(stage: &Stage) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    let Code::Names(names) = &stage.code else { return programs };
    for core in CoreId::ALL {
        let own = names.core(core);
        let firmware = own.firmware().map(|module| (module, 0));
        let kernel = own.kernel().map(|module| {
            let linked = module.image().loadable().map(|segment| segment.addr).min();
            let at = names.launch().map(|launch| launch.core(core).text);
            (module, at.zip(linked).map_or(0, |(at, linked)| at.wrapping_sub(linked)))
        });
        let firmware = firmware.map(|(module, bias)| ("firmware", module, bias));
        let kernel = kernel.map(|(module, bias)| (module.title(), module, bias));
        for (title, module, bias) in firmware.into_iter().chain(kernel) {
            let core = core.name().to_lowercase();
            let stem = if title == "firmware" {
                format!("{title}-{core}")
            } else {
                format!("{core}-{title}")
            };
            let stem: String = stem
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
                .collect();
            let Some(found) = program(&stem, module.image(), bias) else { continue };
            if programs.iter().all(|known| known.bias != bias || known.bytes != found.bytes) {
                programs.push(found);
            }
        }
    }
    programs
}

/// Where a program's code lies in L1, from the first byte to behind the last.
fn span(program: &Program) -> Option<(u32, u32)> {
    let elf = Elf::parse(&program.bytes).ok()?;
    let code = elf
        .section_headers
        .iter()
        .filter(|section| section.is_executable() && section.is_alloc() && section.sh_size > 0);
    let spans = code.filter_map(|section| {
        let at = u32::try_from(section.sh_addr).ok()?.wrapping_add(program.bias);
        Some((at, at.saturating_add(u32::try_from(section.sh_size).ok()?)))
    });
    spans.reduce(|all, next| (all.0.min(next.0), all.1.max(next.1)))
}

/// The programs that gdb can know at the same time: of several at the same place the first. Gives them, and the
/// others.
#[must_use]
pub fn beside_each_other(programs: Vec<Program>) -> (Vec<Program>, Vec<Program>) {
    let mut taken: Vec<(u32, u32)> = Vec::new();
    programs.into_iter().partition(|program| {
        let Some((from, to)) = span(program) else { return false };
        let is_free = taken.iter().all(|&(start, end)| to <= start || end <= from);
        if is_free {
            taken.push((from, to));
        }
        is_free
    })
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

/// Functions that give values of the coprocessor as values of gdb.
const FUNCTIONS: &str = include_str!("tilescope.py");

/// Writes the files and a script for gdb into a directory; gives the script's path. `target` is what
/// gdb's `target remote` takes. Programs that lie where others do are in scripts of their own, which take the
/// place of those before: what they are called is in [`others`].
///
/// # Errors
/// A file cannot be written.
pub fn write(dir: &Path, programs: &[Program], target: &str) -> std::io::Result<PathBuf> {
    let mut script = String::from(
        // Of an operating system gdb would do single steps itself, by what it takes pushes of Tensix instructions for.
        "set confirm off\nset pagination off\nset architecture riscv:rv32\nset osabi none\n\
         set remote hardware-watchpoint-limit -1\n",
    );
    let symbols = dir.join("symbols.gdb");
    std::fs::write(&symbols, add_all(dir, programs)?)?;
    let _ = writeln!(script, "source {}", symbols.display());
    // A step backwards names its core only if no other is to move (gdb's `Hc`); others move all the
    // same. gdb takes this only of a target that it knows.
    script += &format!("target remote {target}\nset scheduler-locking step\nset confirm on\n");
    let functions = dir.join("tilescope.py");
    std::fs::write(&functions, FUNCTIONS)?;
    // Last, because a gdb without Python goes no further.
    let _ = writeln!(script, "source {}", functions.display());
    let path = dir.join("tilescope.gdb");
    std::fs::write(&path, script)?;
    Ok(path)
}

fn add_all(dir: &Path, programs: &[Program]) -> std::io::Result<String> {
    let mut script = String::new();
    for program in programs {
        let path = dir.join(&program.file);
        std::fs::write(&path, &program.bytes)?;
        script += &add_symbols(&path, program);
        script.push('\n');
    }
    Ok(script)
}

/// Writes scripts for the programs that lie where others do, each as many as can be known at the same time; gives
/// the paths with the names of the programs.
///
/// # Errors
/// A file cannot be written.
pub fn others(
    dir: &Path,
    mut programs: Vec<Program>,
) -> std::io::Result<Vec<(PathBuf, Vec<String>)>> {
    let mut scripts = Vec::new();
    while !programs.is_empty() {
        let (now, rest) = beside_each_other(programs);
        // What has no code lies nowhere.
        if now.is_empty() {
            break;
        }
        let path = dir.join(format!("tilescope-{}.gdb", scripts.len() + 2));
        let script =
            format!("set confirm off\nsymbol-file\n{}set confirm on\n", add_all(dir, &now)?);
        std::fs::write(&path, script)?;
        scripts.push((path, now.into_iter().map(|program| program.file).collect()));
        programs = rest;
    }
    Ok(scripts)
}
