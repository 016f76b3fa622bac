//! CSR rows.

use std::fmt::Write as _;

use crate::tables::csrs::Csrs;
use crate::text::{GENERATED, doc, str_array};

/// Address constants and the row table.
#[must_use]
pub fn emit(csrs: &Csrs) -> String {
    let mut out = String::from(GENERATED);
    out += "/// Addresses of CSRs.\npub mod address {\n";
    for csr in &csrs.csr {
        let doc = doc(if csr.doc.is_empty() { &csr.name } else { &csr.doc });
        let _ = writeln!(
            out,
            "    /// {doc}.\n    pub const {}: u16 = {:#05x};",
            csr.name.to_ascii_uppercase(),
            csr.address
        );
    }
    out += "}\n/// All CSRs, by address.\npub static CSRS: &[Csr] = &[\n";
    for csr in &csrs.csr {
        let fields: String = csr
            .fields
            .iter()
            .map(|f| {
                format!(
                    "CsrField {{ name: {:?}, lo: {}, width: {}, doc: {:?} }}, ",
                    f.name, f.lo, f.width, f.doc
                )
            })
            .collect();
        let _ = writeln!(
            out,
            "    Csr {{ address: {:#05x}, name: {:?}, writable: {}, specification: {:?}, \
             reset: {:?}, doc: {:?}, fields: &[{fields}] }},",
            csr.address,
            csr.name,
            csr.access == "rw",
            csr.specification,
            csr.reset,
            csr.doc
        );
    }
    let _ = writeln!(
        out,
        "];\n/// Instruction classes of the masks in `tt_cfg_qstatus` and `tt_cfg_bstatus`, bit 0 \
         first.\npub static STATUS_CLASSES: &[&str] = {};\n/// Source keys of all rows.\n\
         pub static SOURCES: &[&str] = {};",
        str_array(&csrs.status_classes),
        str_array(&csrs.source)
    );
    out
}
