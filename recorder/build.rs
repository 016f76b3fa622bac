//! Links the recorder so that it stays in the process once loaded: hosts load, probe and unload a
//! device library before they use it, and all of it belongs into one recording.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
