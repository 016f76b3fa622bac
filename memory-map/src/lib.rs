//! Address map and registers of a Blackhole Tensix tile, as tables.
