//! Where cargo has put the shared library that belongs to this test.

use std::path::PathBuf;

/// The library, built with the test.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own file");
    let deps = test.parent().expect("in a directory");
    let name = "libtilescope_bh.so";
    let places = [deps.join(name), deps.join("..").join(name)];
    places.into_iter().find(|path| path.is_file()).expect("cargo builds the library for its tests")
}
