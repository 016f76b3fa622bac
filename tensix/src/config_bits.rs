//! Bits of each `Config` word that carry a field.

use isa::config::{ALL, Scope};

use crate::units::config::STATE_WORDS;

/// Implemented bits by word. The reference keeps only these, and reads the others as zero
/// `[spec: numerics]`.
pub(crate) static CONFIG_BITS: [u32; STATE_WORDS] = {
    let mut bits = [0; STATE_WORDS];
    let mut i = 0;
    while i < ALL.len() {
        let field = &ALL[i];
        if matches!(field.scope, Scope::Config) {
            let mut word = field.addr32;
            while word <= field.last_word() {
                bits[word as usize] |= field.mask();
                word += 1;
            }
        }
        i += 1;
    }
    bits
};
