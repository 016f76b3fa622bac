//! The opcodes of Tensix instructions: byte, mnemonic, unit, wait-gate block bits.
//!
//! Sources: `[isa-bh: TensixCoprocessor/STALLWAIT.md]` (block table), `[llk: instructions/assembly.yaml]`.

macro_rules! opcodes {
    ($(($variant:ident, $name:literal, $byte:literal, $unit:ident, $blocked:literal))*) => {
        /// A Tensix instruction, by its opcode byte.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub(crate) enum Opcode {
            $(
                #[doc = $name]
                $variant = $byte,
            )*
        }

        impl Opcode {
            /// All opcodes in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The mnemonic as the vendor spells it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Where it executes.
            #[must_use]
            pub const fn unit(self) -> Unit {
                match self { $(Self::$variant => Unit::$unit,)* }
            }

            /// Block-mask bits B0 to B8 that hold it at the wait gate.
            #[must_use]
            pub const fn blocked_by(self) -> u16 {
                match self { $(Self::$variant => $blocked,)* }
            }
        }
    };
}

/// Where an instruction executes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the documentation's own")]
pub(crate) enum Unit {
    Sync, Unpacker, Matrix, Packer, Vector, Scalar, Config, Mover, Misc, Frontend,
}

opcodes! {
    (Mop, "MOP", 0x01, Frontend, 0x000)
    (Nop, "NOP", 0x02, Misc, 0x1ff)
    (MopCfg, "MOP_CFG", 0x03, Frontend, 0x000)
    (Replay, "REPLAY", 0x04, Frontend, 0x000)
    (Resourcedecl, "RESOURCEDECL", 0x05, Frontend, 0x000)
    (Movd2a, "MOVD2A", 0x08, Matrix, 0x040)
    (Movdbga2d, "MOVDBGA2D", 0x09, Matrix, 0x040)
    (Movd2b, "MOVD2B", 0x0a, Matrix, 0x040)
    (Movb2a, "MOVB2A", 0x0b, Matrix, 0x040)
    (Movdbgb2d, "MOVDBGB2D", 0x0c, Matrix, 0x040)
    (Zeroacc, "ZEROACC", 0x10, Matrix, 0x040)
    (Zerosrc, "ZEROSRC", 0x11, Matrix, 0x040)
    (Mova2d, "MOVA2D", 0x12, Matrix, 0x040)
    (Movb2d, "MOVB2D", 0x13, Matrix, 0x040)
    (Trnspsrca, "TRNSPSRCA", 0x14, Matrix, 0x040)
    (Rareb, "RAREB", 0x15, Matrix, 0x040)
    (Trnspsrcb, "TRNSPSRCB", 0x16, Matrix, 0x040)
    (Shiftxa, "SHIFTXA", 0x17, Matrix, 0x040)
    (Shiftxb, "SHIFTXB", 0x18, Matrix, 0x040)
    (Setashrmh0, "SETASHRMH0", 0x1a, Matrix, 0x040)
    (Setashrmh1, "SETASHRMH1", 0x1b, Matrix, 0x040)
    (Setashrmv, "SETASHRMV", 0x1c, Matrix, 0x040)
    (Setpkedgof, "SETPKEDGOF", 0x1d, Matrix, 0x040)
    (Setashrmh, "SETASHRMH", 0x1e, Matrix, 0x040)
    (Clrexphist, "CLREXPHIST", 0x21, Matrix, 0x040)
    (Conv3s1, "CONV3S1", 0x22, Matrix, 0x040)
    (Conv3s2, "CONV3S2", 0x23, Matrix, 0x040)
    (Mpool3s1, "MPOOL3S1", 0x24, Matrix, 0x040)
    (Apool3s1, "APOOL3S1", 0x25, Matrix, 0x040)
    (Mvmul, "MVMUL", 0x26, Matrix, 0x040)
    (Elwmul, "ELWMUL", 0x27, Matrix, 0x040)
    (Elwadd, "ELWADD", 0x28, Matrix, 0x040)
    (Dotpv, "DOTPV", 0x29, Matrix, 0x040)
    (Elwsub, "ELWSUB", 0x30, Matrix, 0x040)
    (Mpool3s2, "MPOOL3S2", 0x31, Matrix, 0x040)
    (Apool3s2, "APOOL3S2", 0x32, Matrix, 0x040)
    (Gmpool, "GMPOOL", 0x33, Matrix, 0x040)
    (Gapool, "GAPOOL", 0x34, Matrix, 0x040)
    (Gatesrcrst, "GATESRCRST", 0x35, Matrix, 0x040)
    (Cleardvalid, "CLEARDVALID", 0x36, Matrix, 0x040)
    (Setrwc, "SETRWC", 0x37, Matrix, 0x040)
    (Incrwc, "INCRWC", 0x38, Matrix, 0x040)
    (Setibrwc, "SETIBRWC", 0x39, Matrix, 0x040)
    (Mfconv3s1, "MFCONV3S1", 0x3a, Matrix, 0x040)
    (Xmov, "XMOV", 0x40, Mover, 0x011)
    (Pacr, "PACR", 0x41, Packer, 0x005)
    (Unpacr, "UNPACR", 0x42, Unpacker, 0x009)
    (UnpacrNop, "UNPACR_NOP", 0x43, Unpacker, 0x009)
    (Rstdma, "RSTDMA", 0x44, Misc, 0x001)
    (Setdmareg, "SETDMAREG", 0x45, Scalar, 0x021)
    (Flushdma, "FLUSHDMA", 0x46, Scalar, 0x021)
    (Reg2flop, "REG2FLOP", 0x48, Scalar, 0x021)
    (Loadind, "LOADIND", 0x49, Scalar, 0x021)
    (PacrSetreg, "PACR_SETREG", 0x4a, Packer, 0x005)
    (Tbufcmd, "TBUFCMD", 0x4b, Packer, 0x005)
    (Setadc, "SETADC", 0x50, Misc, 0x001)
    (Setadcxy, "SETADCXY", 0x51, Misc, 0x001)
    (Incadcxy, "INCADCXY", 0x52, Misc, 0x001)
    (Addrcrxy, "ADDRCRXY", 0x53, Misc, 0x001)
    (Setadczw, "SETADCZW", 0x54, Misc, 0x001)
    (Incadczw, "INCADCZW", 0x55, Misc, 0x001)
    (Addrcrzw, "ADDRCRZW", 0x56, Misc, 0x001)
    (Setdvalid, "SETDVALID", 0x57, Misc, 0x001)
    (Adddmareg, "ADDDMAREG", 0x58, Scalar, 0x021)
    (Subdmareg, "SUBDMAREG", 0x59, Scalar, 0x021)
    (Muldmareg, "MULDMAREG", 0x5a, Scalar, 0x021)
    (Bitwopdmareg, "BITWOPDMAREG", 0x5b, Scalar, 0x021)
    (Shiftdmareg, "SHIFTDMAREG", 0x5c, Scalar, 0x021)
    (Cmpdmareg, "CMPDMAREG", 0x5d, Scalar, 0x021)
    (Setadcxx, "SETADCXX", 0x5e, Misc, 0x001)
    (Dmanop, "DMANOP", 0x60, Scalar, 0x021)
    (Atincget, "ATINCGET", 0x61, Scalar, 0x021)
    (Atincgetptr, "ATINCGETPTR", 0x62, Scalar, 0x021)
    (Atswap, "ATSWAP", 0x63, Scalar, 0x021)
    (Atcas, "ATCAS", 0x64, Scalar, 0x021)
    (Storeind, "STOREIND", 0x66, Scalar, 0x021)
    (Storereg, "STOREREG", 0x67, Scalar, 0x021)
    (Loadreg, "LOADREG", 0x68, Scalar, 0x021)
    (Sfpload, "SFPLOAD", 0x70, Vector, 0x100)
    (Sfploadi, "SFPLOADI", 0x71, Vector, 0x100)
    (Sfpstore, "SFPSTORE", 0x72, Vector, 0x100)
    (Sfplut, "SFPLUT", 0x73, Vector, 0x100)
    (Sfpmuli, "SFPMULI", 0x74, Vector, 0x100)
    (Sfpaddi, "SFPADDI", 0x75, Vector, 0x100)
    (Sfpdivp2, "SFPDIVP2", 0x76, Vector, 0x100)
    (Sfpexexp, "SFPEXEXP", 0x77, Vector, 0x100)
    (Sfpexman, "SFPEXMAN", 0x78, Vector, 0x100)
    (Sfpiadd, "SFPIADD", 0x79, Vector, 0x100)
    (Sfpshft, "SFPSHFT", 0x7a, Vector, 0x100)
    (Sfpsetcc, "SFPSETCC", 0x7b, Vector, 0x100)
    (Sfpmov, "SFPMOV", 0x7c, Vector, 0x100)
    (Sfpabs, "SFPABS", 0x7d, Vector, 0x100)
    (Sfpand, "SFPAND", 0x7e, Vector, 0x100)
    (Sfpor, "SFPOR", 0x7f, Vector, 0x100)
    (Sfpnot, "SFPNOT", 0x80, Vector, 0x100)
    (Sfplz, "SFPLZ", 0x81, Vector, 0x100)
    (Sfpsetexp, "SFPSETEXP", 0x82, Vector, 0x100)
    (Sfpsetman, "SFPSETMAN", 0x83, Vector, 0x100)
    (Sfpmad, "SFPMAD", 0x84, Vector, 0x100)
    (Sfpadd, "SFPADD", 0x85, Vector, 0x100)
    (Sfpmul, "SFPMUL", 0x86, Vector, 0x100)
    (Sfppushc, "SFPPUSHC", 0x87, Vector, 0x100)
    (Sfppopc, "SFPPOPC", 0x88, Vector, 0x100)
    (Sfpsetsgn, "SFPSETSGN", 0x89, Vector, 0x100)
    (Sfpencc, "SFPENCC", 0x8a, Vector, 0x100)
    (Sfpcompc, "SFPCOMPC", 0x8b, Vector, 0x100)
    (Sfptransp, "SFPTRANSP", 0x8c, Vector, 0x100)
    (Sfpxor, "SFPXOR", 0x8d, Vector, 0x100)
    (SfpStochRnd, "SFP_STOCH_RND", 0x8e, Vector, 0x100)
    (Sfpnop, "SFPNOP", 0x8f, Vector, 0x100)
    (Sfpcast, "SFPCAST", 0x90, Vector, 0x100)
    (Sfpconfig, "SFPCONFIG", 0x91, Vector, 0x100)
    (Sfpswap, "SFPSWAP", 0x92, Vector, 0x100)
    (Sfploadmacro, "SFPLOADMACRO", 0x93, Vector, 0x100)
    (Sfpshft2, "SFPSHFT2", 0x94, Vector, 0x100)
    (Sfplutfp32, "SFPLUTFP32", 0x95, Vector, 0x100)
    (Sfple, "SFPLE", 0x96, Vector, 0x100)
    (Sfpgt, "SFPGT", 0x97, Vector, 0x100)
    (Sfpmul24, "SFPMUL24", 0x98, Vector, 0x100)
    (Sfparecip, "SFPARECIP", 0x99, Vector, 0x100)
    (Atgetm, "ATGETM", 0xa0, Sync, 0x002)
    (Atrelm, "ATRELM", 0xa1, Sync, 0x002)
    (Stallwait, "STALLWAIT", 0xa2, Sync, 0x1ff)
    (Seminit, "SEMINIT", 0xa3, Sync, 0x002)
    (Sempost, "SEMPOST", 0xa4, Sync, 0x002)
    (Semget, "SEMGET", 0xa5, Sync, 0x002)
    (Semwait, "SEMWAIT", 0xa6, Sync, 0x1ff)
    (Streamwait, "STREAMWAIT", 0xa7, Sync, 0x1ff)
    (Wrcfg, "WRCFG", 0xb0, Config, 0x080)
    (Rdcfg, "RDCFG", 0xb1, Config, 0x080)
    (Setc16, "SETC16", 0xb2, Config, 0x080)
    (Rmwcib0, "RMWCIB0", 0xb3, Config, 0x080)
    (Rmwcib1, "RMWCIB1", 0xb4, Config, 0x080)
    (Rmwcib2, "RMWCIB2", 0xb5, Config, 0x080)
    (Rmwcib3, "RMWCIB3", 0xb6, Config, 0x080)
    (Streamwrcfg, "STREAMWRCFG", 0xb7, Config, 0x080)
    (Cfgshiftmask, "CFGSHIFTMASK", 0xb8, Config, 0x080)
}
