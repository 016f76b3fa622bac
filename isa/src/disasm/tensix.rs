//! Text of Tensix words.

use crate::names;
use crate::op::{Arg, Opcode};

/// Text of a Tensix word: mnemonic, then fields from the highest bit down, then what masks mean.
///
/// Example: `SEMWAIT stall_res=0x40 sem_sel=0x2 wait_sem_cond=1 ; block MATH while MATH_PACK ON_ZERO`.
/// Bits that belong to no field are shown as `unused=` when set. An unknown opcode prints as
/// `.ttword`.
#[must_use]
pub fn tensix(word: u32) -> String {
    let Some(opcode) = Opcode::from_word(word) else {
        return format!(".ttword {word:#010x}");
    };
    let row = opcode.row();
    let mut text = row.name.to_owned();
    for arg in row.args.iter().rev() {
        text += &format!(" {}={}", arg.name.trim_end_matches('_'), value(arg, arg.get(word)));
    }
    let unused = word & row.unused_bits();
    if unused != 0 {
        text += &format!(" unused={unused:#x}");
    }
    if let Some(meaning) = meaning(opcode, word) {
        text += " ; ";
        text += &meaning;
    }
    text
}

/// One-digit values of narrow fields read best in decimal; everything else in hexadecimal.
fn value(arg: &Arg, value: u32) -> String {
    let is_mask = ["stall_res", "wait_res", "sem_sel"].contains(&arg.name);
    if is_mask || value > 9 { format!("{value:#x}") } else { value.to_string() }
}

/// What the masks of the sync instructions mean, in names.
fn meaning(opcode: Opcode, word: u32) -> Option<String> {
    use crate::operands;
    let block = |mask: u32| {
        // A block mask of 0 means B6 [isa-bh: TensixCoprocessor/STALLWAIT.md].
        let mask = if mask == 0 { 1 << 6 } else { mask };
        if mask == 0x1FF { "everything".to_owned() } else { names::bits(names::BLOCK_BITS, mask) }
    };
    let semaphores = |mask: u32| names::bits(names::SEMAPHORES, mask);
    Some(match opcode {
        Opcode::Stallwait => {
            let f = operands::Stallwait::of(word);
            // A condition mask of 0 means 0x0F [isa-bh: TensixCoprocessor/STALLWAIT.md].
            let mask = if f.wait_res == 0 { 0x0F } else { f.wait_res };
            let wait = names::bits(names::STALL_CONDITIONS, mask);
            format!("block {} until {wait}", block(f.stall_res))
        }
        Opcode::Semwait => {
            let f = operands::Semwait::of(word);
            let wait = names::bits(names::SEMAPHORE_CONDITIONS, f.wait_sem_cond);
            format!("block {} while {} {wait}", block(f.stall_res), semaphores(f.sem_sel))
        }
        Opcode::Streamwait => {
            let f = operands::Streamwait::of(word);
            let condition = names::find(names::STREAM_CONDITIONS, f.target_sel.into())?;
            format!("block {} while {} below target", block(f.stall_res), condition.name)
        }
        Opcode::Seminit => semaphores(operands::Seminit::of(word).sem_sel),
        Opcode::Sempost => semaphores(operands::Sempost::of(word).sem_sel),
        Opcode::Semget => semaphores(operands::Semget::of(word).sem_sel),
        Opcode::Atgetm => mutex(operands::Atgetm::of(word).mutex_index),
        Opcode::Atrelm => mutex(operands::Atrelm::of(word).mutex_index),
        Opcode::Setc16 => {
            config(crate::config::Scope::Thread, operands::Setc16::of(word).setc16_reg)?
        }
        Opcode::Wrcfg => config(crate::config::Scope::Config, operands::Wrcfg::of(word).cfg_reg)?,
        Opcode::Rdcfg => config(crate::config::Scope::Config, operands::Rdcfg::of(word).cfg_reg)?,
        Opcode::Rmwcib0 | Opcode::Rmwcib1 | Opcode::Rmwcib2 | Opcode::Rmwcib3 => {
            config(crate::config::Scope::Config, operands::Rmwcib0::of(word).cfg_reg_addr)?
        }
        _ => return None,
    })
}

fn mutex(index: u32) -> String {
    names::mutex(index).map_or_else(|| format!("mutex {index} does not exist"), str::to_owned)
}

/// Names of the fields in a configuration word; the first few when there are many.
fn config(scope: crate::config::Scope, addr32: u32) -> Option<String> {
    let fields: Vec<&str> = crate::config::in_word(scope, addr32).map(|f| f.name).collect();
    let first = fields.first()?;
    let more = fields.len() - 1;
    Some(if more == 0 { (*first).to_owned() } else { format!("{first} and {more} more") })
}
