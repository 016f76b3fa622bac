//! Time, agents, L1, batches, wait reasons, the observation seam and the engines.
