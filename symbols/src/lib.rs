//! Names out of files: ELF images and what their debug information says.
//!
//! * [`image`] reads ELF and flat images and checks them before a byte is used.
//! * [`module`] is an image with its debug information, read once and shared.
//! * [`code`] turns a pc into function, file and line, with the frames it was inlined into, and a data
//!   address into a variable.
//! * [`files`] tells the author's source files from the library's, and has their text.
//! * [`formats`] tells what formats a compute kernel was compiled for.
//! * [`variables`] tells arguments and locals with their values.
//! * [`mailbox_layout`] tells where a firmware keeps what in its mailbox block.
//! * [`launch`] reads from L1 what is launched on a tile.
//! * [`catalog`] finds the files that a live session or a recording needs.
//! * [`tile_names`] joins the last two: names for one tile.
//!
//! Not here: machines. What runs where is said by whoever asks, or stands in L1.

pub mod catalog;
pub mod code;
mod dwarf;
pub mod files;
pub mod formats;
pub mod image;
pub mod launch;
pub mod mailbox_layout;
pub mod module;
pub mod tile_names;
pub mod variables;
