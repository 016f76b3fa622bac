//! Firmware, kernels and whole-tile tests.
