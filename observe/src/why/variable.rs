//! What a variable of a kernel holds where its core waits.

use serde::Serialize;

/// An argument or a local of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value where the core waits.
    pub value: i64,
}
