//! Any bytes as an ELF file: refused in one line or usable for names, never a panic.

use std::sync::Arc;

use symbols::code::Symbols;
use symbols::image::Image;
use symbols::launch::Mailbox;
use symbols::mailbox_layout;

/// One input.
pub(crate) fn feed(data: &[u8]) {
    match Image::parse_elf("fuzz.elf", data.into()) {
        Ok(image) => {
            let entry = image.entry;
            let layout = mailbox_layout::of_firmware(&image);
            let _ = layout.and_then(|layout| Mailbox::new(layout, entry));
            let symbols = Symbols::for_core(Some(Arc::new(image)));
            for step in 0..64 {
                let _ = symbols.locate(entry.wrapping_add(step * 4));
                let _ = symbols.data_symbol(entry.wrapping_add(step * 4));
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
}
