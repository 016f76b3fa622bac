//! Names out of files: ELF images and what their debug information says.
//!
//! * [`image`] reads ELF and flat images and checks them before a byte is used.
//! * [`code`] turns a pc into function, file and line, with the frames it was inlined into, and a data
//!   address into a variable.
//! * [`mailbox_names`] names the words of the firmware's mailbox block.
//!
//! Not here: machines. What runs where is said by whoever asks.

pub mod code;
pub mod image;
pub mod mailbox_names;
