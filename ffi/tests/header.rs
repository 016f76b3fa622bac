//! The header is what cbindgen makes of the source today. `TILESCOPE_WRITE_HEADER=1 cargo test -p
//! ffi --test header` writes it.

use std::path::Path;

#[test]
fn header_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join("src/capi.rs"))
        .generate()
        .unwrap();
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).unwrap();
    let path = root.join("include/tilescope.h");
    if std::env::var_os("TILESCOPE_WRITE_HEADER").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap();
    assert!(there == text, "stale; run `TILESCOPE_WRITE_HEADER=1 cargo test -p ffi --test header`");
}
