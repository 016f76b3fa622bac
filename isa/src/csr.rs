//! Control and status registers of the baby cores. Table: `tables/csrs.toml`.

/// One CSR.
#[derive(Debug)]
pub struct Csr {
    /// 12-bit address.
    pub address: u16,
    /// Name.
    pub name: &'static str,
    /// True when a write changes it.
    pub writable: bool,
    /// Specification that defines it, or `custom`.
    pub specification: &'static str,
    /// Value after reset, when known.
    pub reset: Option<u32>,
    /// One line of explanation.
    pub doc: &'static str,
    /// Named bits.
    pub fields: &'static [CsrField],
}

/// Named bits of a CSR.
#[derive(Debug)]
pub struct CsrField {
    /// Name as documented.
    pub name: &'static str,
    /// Lowest bit.
    pub lo: u8,
    /// Bits.
    pub width: u8,
    /// One line of explanation.
    pub doc: &'static str,
}

impl CsrField {
    /// Value of these bits in `value`.
    #[inline]
    #[must_use]
    pub const fn get(&self, value: u32) -> u32 {
        let mask = if self.width >= 32 { u32::MAX } else { (1 << self.width) - 1 };
        value >> self.lo & mask
    }
}

include!(concat!(env!("OUT_DIR"), "/csrs.rs"));

/// The CSR at `address`.
#[must_use]
pub fn find(address: u16) -> Option<&'static Csr> {
    CSRS.binary_search_by_key(&address, |c| c.address).ok().map(|i| &CSRS[i])
}

/// The CSR called `name`.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Csr> {
    CSRS.iter().find(|c| c.name == name)
}
