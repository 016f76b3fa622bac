//! The Tensix coprocessor.
