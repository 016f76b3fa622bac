//! Reads, validates and expands the fact tables into Rust and Markdown.
