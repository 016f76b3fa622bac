//! State that several units share: plain data and its invariants, no behaviour.

pub(crate) mod adc;
pub(crate) mod dst;
pub(crate) mod gprs;
pub(crate) mod rwc;
pub(crate) mod src;
