//! Which units go by a field of the configuration, by the table and by the code of the units.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use isa::config::{Scope, Users, by_name};

/// Fields that a unit's code names and that its instructions do not go by when they begin.
const OTHERWISE: [&str; 4] = [
    // Cores' accesses to Dst.
    "RISC_DEST_ACCESS_CTRL_",
    // What TDMA-RISC and the debug reads show of a packer and of an unpacker.
    "THCON_SEC0_REG10_Packer_Reg_Wr_Addr",
    "THCON_SEC1_REG10_Packer_Reg_Wr_Addr",
    "THCON_SEC0_REG10_Unpacker_Reg_Wr_Addr",
];

/// The text of the files of a room, without its tests.
fn code_of(dir: &Path, text: &mut String) {
    for entry in fs::read_dir(dir).expect("the room is there").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("test") {
            continue;
        }
        if path.is_dir() {
            code_of(&path, text);
        } else {
            text.push_str(&fs::read_to_string(&path).expect("text"));
        }
    }
}

#[test]
fn fields_that_a_unit_reads_have_it_among_their_readers() {
    let [first, second] = Users::UNPACKERS;
    for (room, units) in [
        ("unpacker", first.and(second)),
        ("packer", Users::PACKER),
        ("matrix", Users::MATRIX),
        ("vector", Users::VECTOR),
    ] {
        let mut text = String::new();
        code_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/units").join(room), &mut text);
        let words: BTreeSet<&str> =
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        let fields =
            words.iter().filter(|word| word.contains('_')).filter_map(|word| by_name(word));
        let read: Vec<_> = fields
            .filter(|field| field.scope == Scope::Config && words.contains(field.name))
            .filter(|field| !OTHERWISE.iter().any(|start| field.name.starts_with(start)))
            .collect();
        assert!(read.len() > 3, "{room} reads hardly any field");
        for field in read {
            assert!(
                field.users.meets(units),
                "{room} reads {}, which the table does not know",
                field.name
            );
        }
    }
}
