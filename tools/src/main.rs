//! The `tilescope` command line.

fn main() {}
