//! One whole Tensix tile: the composition root.
