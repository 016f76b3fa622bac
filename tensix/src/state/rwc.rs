//! Register window counters: which rows of SrcA, SrcB and Dst the matrix unit works on.
//!
//! Source: `[isa-wh: TensixCoprocessor/RWCs.md]`.

/// Register window counters of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Rwc {
    pub(crate) dst: u16,
    pub(crate) dst_cr: u16,
    pub(crate) src_a: u8,
    pub(crate) src_a_cr: u8,
    pub(crate) src_b: u8,
    pub(crate) src_b_cr: u8,
    pub(crate) fidelity: u8,
    /// Moved by `SETIBRWC`, read by nothing [unknown: U-073].
    pub(crate) bias: u8,
    pub(crate) bias_cr: u8,
}

impl Rwc {
    /// The counters after one application of an address modifier, given as its two
    /// configuration words `[isa-wh: TensixCoprocessor/RWCs.md]`.
    pub(crate) fn advanced(mut self, ab: u16, dst: u16) -> Self {
        (self.src_a, self.src_a_cr) = advance_src(self.src_a, self.src_a_cr, ab as u8);
        (self.src_b, self.src_b_cr) = advance_src(self.src_b, self.src_b_cr, (ab >> 8) as u8);
        let increment = dst & 0x3FF;
        if dst & 0x800 != 0 {
            (self.dst, self.dst_cr) = (0, 0);
        } else if dst & 0x1000 != 0 {
            self.dst = (self.dst + increment) & 0x3FF;
            self.dst_cr = self.dst;
        } else if dst & 0x400 != 0 {
            self.dst_cr = (self.dst_cr + increment) & 0x3FF;
            self.dst = self.dst_cr;
        } else {
            self.dst = (self.dst + increment) & 0x3FF;
        }
        self.fidelity =
            if dst & 0x8000 != 0 { 0 } else { (self.fidelity + (dst >> 13 & 3) as u8) & 3 };
        self
    }
}

/// One source counter: bits 5:0 increment, 6 use the carriage-return copy, 7 clear.
const fn advance_src(counter: u8, cr: u8, word: u8) -> (u8, u8) {
    let increment = word & 0x3F;
    if word & 0x80 != 0 {
        (0, 0)
    } else if word & 0x40 != 0 {
        let cr = (cr + increment) & 0x3F;
        (cr, cr)
    } else {
        ((counter + increment) & 0x3F, cr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_modifier_advances_and_clears() {
        // [isa-wh: RWCs.md]: SrcA += 5, SrcB to its CR copy + 3, Dst to both += 8, fidelity + 1.
        let start = Rwc { src_a: 62, src_b: 9, dst: 4, ..Rwc::default() };
        let next = start.advanced(5 | (0x40 | 3) << 8, 8 | 0x1000 | 1 << 13);
        assert_eq!((next.src_a, next.src_b, next.src_b_cr), (3, 3, 3));
        assert_eq!((next.dst, next.dst_cr, next.fidelity), (12, 12, 1));
        assert_eq!(next.advanced(0x8080, 0x8800), Rwc::default());
    }
}
