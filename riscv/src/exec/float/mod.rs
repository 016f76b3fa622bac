//! placeholder until merge
#![allow(missing_docs)]
#[derive(Clone, Copy, Debug)]
pub enum FloatOp {}
impl FloatOp {
    pub const fn writes_integer(self) -> bool {
        false
    }
    pub const fn reads_integer(self) -> bool {
        false
    }
}
pub struct FloatResult {
    pub value: u32,
    pub flags: u8,
}
pub struct FloatMode {
    pub bfloat: bool,
    pub bfloat_rne: bool,
    pub rm: u8,
}
pub fn decode(_w: u32) -> Option<FloatOp> {
    None
}
pub fn execute(_o: FloatOp, _a: u32, _b: u32, _c: u32, _m: FloatMode) -> FloatResult {
    FloatResult { value: 0, flags: 0 }
}
