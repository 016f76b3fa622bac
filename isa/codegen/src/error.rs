//! The error of this crate: a table that may not be used, with every reason.

use std::fmt;

/// A table was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The text is not TOML of the expected shape.
    #[error("{table}: cannot be read: {reason}")]
    Syntax {
        /// File name of the table.
        table: String,
        /// What the TOML reader said.
        reason: String,
    },
    /// The rows contradict each other or the rules.
    #[error("{table}: {problems}")]
    Rules {
        /// File name of the table.
        table: String,
        /// Everything that is wrong, not only the first.
        problems: Problems,
    },
    /// A file could not be read or written.
    #[error("{path}: {reason}")]
    File {
        /// The path.
        path: String,
        /// What the operating system said.
        reason: String,
    },
}

/// A list of broken rules, one sentence each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl Problems {
    /// Adds one sentence.
    pub fn add(&mut self, sentence: impl Into<String>) {
        self.0.push(sentence.into());
    }

    /// The sentences found so far.
    #[must_use]
    pub fn sentences(&self) -> &[String] {
        &self.0
    }

    /// Ends the check of `table`.
    ///
    /// # Errors
    /// [`TableError::Rules`] when a sentence was added.
    pub fn finish(self, table: &str) -> Result<(), TableError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(TableError::Rules { table: table.to_owned(), problems: self })
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} broken rule(s)", self.0.len())?;
        for sentence in &self.0 {
            write!(f, "\n  - {sentence}")?;
        }
        Ok(())
    }
}
