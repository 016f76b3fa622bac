//! The table of shortcuts in the documents is the table.

#[test]
fn table_in_the_documents_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/shortcuts.md");
    let page = std::fs::read_to_string(path).expect("docs/shortcuts.md");
    let wanted = sim_core::shortcuts::markdown();
    let (introduction, table) = page.split_at(page.find("| name |").unwrap_or(page.len()));
    if std::env::var_os("TILESCOPE_WRITE_SHORTCUTS").is_some() {
        std::fs::write(path, format!("{introduction}{wanted}")).expect("written");
    } else {
        let command = "TILESCOPE_WRITE_SHORTCUTS=1 cargo test -p sim-core --test shortcuts";
        assert_eq!(table, wanted, "{command}");
    }
}
