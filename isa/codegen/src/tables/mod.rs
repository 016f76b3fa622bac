//! The tables: shape of the rows and the rules they must keep.
//!
//! Each module has a `parse(file_name, text)` that returns checked rows or every broken rule.

pub mod config;
pub mod csrs;
pub mod fields;
pub mod l1;
pub mod names;
pub mod ops;
pub mod regions;
pub mod registers;
pub mod rv32;

use serde::de::DeserializeOwned;

use crate::error::TableError;

/// Reads TOML into rows.
fn read<T: DeserializeOwned>(table: &str, text: &str) -> Result<T, TableError> {
    toml::from_str(text)
        .map_err(|e| TableError::Syntax { table: table.to_owned(), reason: e.to_string() })
}
