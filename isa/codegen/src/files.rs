//! Reading tables and writing results, with errors that name the path.

use std::fs;
use std::path::Path;

use crate::error::TableError;

fn failed(path: &Path, error: &std::io::Error) -> TableError {
    TableError::File { path: path.display().to_string(), reason: error.to_string() }
}

/// Reads a text file.
///
/// # Errors
/// [`TableError::File`] when the file cannot be read.
pub fn read(path: &Path) -> Result<String, TableError> {
    fs::read_to_string(path).map_err(|e| failed(path, &e))
}

/// Writes a text file, unless it already has exactly this text.
///
/// # Errors
/// [`TableError::File`] when the file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), TableError> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|e| failed(parent, &e))?;
    }
    fs::write(path, text).map_err(|e| failed(path, &e))
}

/// Names of the `.toml` files of a directory, sorted.
///
/// # Errors
/// [`TableError::File`] when the directory cannot be listed.
pub fn toml_files(dir: &Path) -> Result<Vec<String>, TableError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(|e| failed(dir, &e))? {
        let name = entry.map_err(|e| failed(dir, &e))?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".toml") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
