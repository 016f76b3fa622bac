//! Memory-mapped devices of the tile outside the coprocessor.
