//! Who called the code that a core stands in, by the return address in its register.

use observe::{CodeName, Names};
use sim_core::CoreId;

/// The register of the return address, and the bytes of the call before it `[riscv: calling convention]`.
pub(crate) const RETURN_ADDRESS: u8 = 1;
const CALL_BYTES: u32 = 4;
/// The author's function that the vendor's wrapper of a kernel calls.
const ENTRY: &str = "kernel_main";

/// Where a core that stands in no code that is known was called from.
pub(crate) fn caller(names: &dyn Names, core: CoreId, link: u32) -> Option<CodeName> {
    names.code(core, link.checked_sub(CALL_BYTES)?)
}

/// The call from another file that led into the function at a pc, if that is a function of its own and its return
/// address still stands in the register: of a library that was really called the author knows the call.
pub(crate) fn call(names: &dyn Names, core: CoreId, pc: u32, link: u32) -> Option<CodeName> {
    let call = link.checked_sub(CALL_BYTES)?;
    let is_other = names.function(core, pc)? != names.function(core, call)?;
    let (own, caller) = (names.site(core, pc)?, names.site(core, call)?);
    let is_library = own.function != ENTRY && caller.file != own.file;
    (is_other && is_library && names.is_kernel(core, call)).then_some(caller)
}

#[cfg(test)]
mod tests {
    use observe::{CodeName, Names};
    use sim_core::CoreId;

    use super::call;

    /// A kernel from 0x1000 with a helper at 0x1100, a function of a library at 0x2000, firmware from 0x8000.
    struct Code;

    impl Names for Code {
        fn site(&self, _: CoreId, pc: u32) -> Option<CodeName> {
            let (function, file) = match pc {
                0x1000..0x1100 => ("kernel_main", "kernel.cpp"),
                0x1100..0x1200 => ("helper", "kernel.cpp"),
                0x1200..0x1300 => ("_start", "brisck.cc"),
                0x2000..0x3000 => ("read", "noc.h"),
                0x8000.. => ("main", "brisc.cc"),
                _ => return None,
            };
            let file = Some(file.to_owned());
            Some(CodeName { function: function.to_owned(), file, line: Some(pc & 0xff) })
        }

        fn code(&self, core: CoreId, pc: u32) -> Option<CodeName> {
            self.site(core, pc)
        }

        fn is_kernel(&self, _: CoreId, pc: u32) -> bool {
            (0x1000..0x3000).contains(&pc)
        }
    }

    #[test]
    fn mistake_within_a_library_has_the_line_that_called_it() {
        let told = |pc, link| call(&Code, CoreId::Brisc, pc, link).map(|call| call.to_string());
        assert_eq!(told(0x2010, 0x1014).as_deref(), Some("kernel_main kernel.cpp:16"));
        assert_eq!(told(0x2010, 0x2024), None, "the register has been used since");
        assert_eq!(told(0x2010, 0x8014), None, "firmware calls no library of a kernel");
        assert_eq!(told(0x1110, 0x1014), None, "the author's own function has a line of its own");
        assert_eq!(told(0x1010, 0x1214), None, "the wrapper is not the author's");
        assert_eq!(told(0x2010, 0), None);
    }
}
