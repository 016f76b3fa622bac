//! Which version of the runtime a firmware set is of, as far as staging it differs.
//!
//! Sources: `[hdr: hw/inc/internal/tt-1xx/blackhole/dev_mem_map.h]`, `[hdr: hw/inc/hostdev/dev_msgs.h]` and the compiled
//! firmware of ttnn 0.67.4 to 0.81.1.

use isa::asm;
use memory_map::mailbox::Layout;
use sim_core::CoreId;
use symbols::image::Image;
use symbols::mailbox_layout;

use crate::layout::data_image;

/// Bytes by which 0.79 and 0.80 have all that a host stages behind the routing table lower: that has 2,576 bytes there,
/// and 2,704 in 0.81.
const LOWER: u32 = 0x80;
/// Instructions between the two that make a constant.
const APART: usize = 16;

/// How much lower than in ttnn 0.81 a set expects what is staged behind its code; 0 of firmware that does not say.
///
/// # Errors
/// Why not, of a version whose mailbox block is another one, or of another chip.
pub(super) fn lowered(brisc: &Image) -> Result<u32, String> {
    let built_in = Layout::built_in();
    if let Some(layout) = mailbox_layout::of_firmware(brisc).filter(|layout| layout != built_in) {
        return Err(format!(
            "firmware of another version of the runtime or of another chip (a mailbox block of {} bytes, not of {}): \
             take that of ttnn 0.79 to 0.81 for Blackhole; host programs of other versions run under `tilescope run`",
            layout.bytes(),
            built_in.bytes()
        ));
    }
    let image = data_image(CoreId::Brisc);
    let is_lower = !makes(brisc, image) && makes(brisc, image - LOWER);
    Ok(if is_lower { LOWER } else { 0 })
}

/// Whether code of an image makes that constant: by `lui`, and by `addi` on the same register soon after it.
fn makes(image: &Image, constant: u32) -> bool {
    // What `addi` adds is signed and has 12 bits.
    let low = (constant as i32) << 20 >> 20;
    let high = constant.wrapping_add_signed(-low);
    image.loadable().filter(|segment| segment.executable).any(|segment| {
        let words: Vec<u32> = segment
            .bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        words.iter().enumerate().any(|(at, word)| {
            (1..32).any(|register| {
                let end = words.len().min(at + APART);
                let add = asm::addi(register, register, low);
                *word == asm::lui(register, high) && (low == 0 || words[at..end].contains(&add))
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn image(words: &[u32]) -> Image {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Image::from_flat("brisc.bin", bytes, 0x3AE0).expect("it lies in L1")
    }

    #[test]
    fn firmware_says_by_its_code_where_it_expects_its_data() {
        let lowered = |words: &[u32]| lowered(&image(words)).expect("a version that is known");
        let (upper, nop) = (asm::lui(11, 0xA000), asm::addi(0, 0, 0));
        assert_eq!(lowered(&[nop, upper, nop, asm::addi(11, 11, 0x80)]), 0);
        assert_eq!(lowered(&[nop, upper, nop, asm::addi(11, 12, 0x80)]), LOWER);
        assert_eq!(lowered(&[nop]), 0, "it does not say");
    }

    #[test]
    fn firmware_with_another_mailbox_block_is_refused_in_a_line() {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-tests/programs");
        let older = Image::read_elf(&programs.join("versions/older.elf")).expect("a good file");
        let error = lowered(&older).expect_err("another mailbox block");
        assert!(error.contains("another version") && !error.contains('\n'), "{error}");
        assert!(error.contains("ttnn 0.79 to 0.81"), "{error}");
    }
}
