//! The frame that the author of the code knows: in real ELF files, and by the paths in them.

mod common;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{CORES, image, programs};
use symbols::code::{Frame, Location};
use symbols::files::{Role, is_file, normal, role};
use symbols::module::Module;

/// All places in the code of an ELF file.
fn places(path: &Path) -> Vec<Arc<Location>> {
    let module = Module::new(image(path));
    let segments = module.image().segments.iter().filter(|segment| segment.executable);
    let words = segments.flat_map(|s| (s.run_addr..s.run_addr + s.memory_bytes).step_by(4));
    words.filter_map(|address| module.locate(address)).collect()
}

/// Whatever was inlined into a line of `file`, that line is its own frame.
fn all_own(places: &[Arc<Location>], file: &str) -> usize {
    let mut inlined = 0;
    for place in places {
        let Some(own) = place.frames().find(|frame| frame.short_file() == Some(file)) else {
            continue;
        };
        assert_eq!(place.own_frame(), own, "{place}");
        inlined += usize::from(own != &place.frame);
    }
    inlined
}

#[test]
fn own_frame_of_a_kernel_is_in_its_source_file() {
    for (_, name) in CORES {
        let places = places(&programs().join(format!("kernels/five-core/{name}.elf")));
        // Each role takes arguments by a function of a header.
        assert!(all_own(&places, "five-core.c") > 0, "{name}");
    }
}

#[test]
fn own_frame_of_vendor_firmware_is_in_its_source_file() {
    let Some(root) = std::env::var_os("TILESCOPE_TEST_FIRMWARE") else {
        // Not through the harness, which keeps what a test that passes says: it is counted.
        let _ = std::io::stderr()
            .write_all(b"skipped: TILESCOPE_TEST_FIRMWARE names no directory of firmware sets\n");
        return;
    };
    let set = PathBuf::from(root).join("18372378255250710900");
    for (core, file) in [("brisc", "brisc.cc"), ("ncrisc", "ncrisc.cc"), ("trisc1", "trisc.cc")] {
        let places = places(&set.join(format!("{core}/{core}.elf")));
        assert!(all_own(&places, file) > 0, "{core}");
    }
}

#[test]
fn role_follows_from_where_vendor_builds_have_their_files() {
    let site = "/opt/v/lib/python3/site-packages/ttnn";
    let of = |path: &str| role(&format!("{site}/{path}"));
    assert_eq!(of("tt_metal/hw/inc/api/dataflow/dataflow_api.h"), Role::Library);
    assert_eq!(of("tt_metal/hw/ckernels/blackhole/metal/llk_api/llk_pack_api.h"), Role::Library);
    assert_eq!(of("tt_metal/tt-llk/tt_llk_blackhole/llk_lib/llk_pack.h"), Role::Library);
    assert_eq!(of("tt_metal/hw/toolchain/substitutes.cpp"), Role::Library);
    assert_eq!(of("tt_metal/hw/firmware/src/tt-1xx/trisck.cc"), Role::Wrapper);
    assert_eq!(of("tt_metal/hw/firmware/src/tt-1xx/brisc.cc"), Role::Source);
    assert_eq!(of("tt_metal/hw/firmware/src/tt-1xx/blackhole/noc.c"), Role::Library);
    assert_eq!(of("tt_metal/impl/dispatch/kernels/cq_dispatch.cpp"), Role::Source);
    assert_eq!(of("tt_metal/impl/dispatch/kernels/cq_common.hpp"), Role::Header);
    assert_eq!(of("ttnn/cpp/ttnn/operations/a/device/kernels/reader.cpp"), Role::Source);
    assert_eq!(of("ttnn/cpp/ttnn/kernel_lib/tilize_helpers.inl"), Role::Library);
    // LLK tests are built in a directory beside what they include.
    assert_eq!(role("/llk/tests/../tt_llk_blackhole/common/inc/ckernel.h"), Role::Library);
    assert_eq!(role("/llk/tests/../common/tensor_shape.h"), Role::Header);
    assert_eq!(role("/llk/tests/helpers/src/trisc.cpp"), Role::Wrapper);
    assert_eq!(role("/llk/tests/helpers/include/boot.h"), Role::Library);
    assert_eq!(role("/llk/tests/sources/matmul_test.cpp"), Role::Source);
    assert_eq!(role("/usr/include/c++/12/bits/stl_algobase.h"), Role::Library);
    assert_eq!(role("<stdin>"), Role::Library);
    assert_eq!(role("/build/<artificial>"), Role::Library);
}

fn place(source: Option<&str>, files: &[&str]) -> Location {
    let frame = |file: &&str| Frame {
        function: "f".to_owned(),
        arguments: String::new(),
        file: Some((*file).to_owned()),
        line: Some(1),
        column: None,
    };
    let mut frames: Vec<_> = files.iter().map(frame).collect();
    let innermost = frames.remove(0);
    Location::new("x.elf".into(), source.map(Into::into), innermost, frames)
}

#[test]
fn own_frame_prefers_source_then_helpers_then_wrapper() {
    const LIBRARY: &str = "/v/tt_metal/hw/inc/api/dataflow/dataflow_api.h";
    const LOWER: &str = "/v/tt_metal/hw/inc/internal/noc.h";
    const WRAPPER: &str = "/v/tt_metal/hw/firmware/src/tt-1xx/brisck.cc";
    let own =
        |source, files: &[&str]| place(source, files).own_frame().file.clone().unwrap_or_default();
    assert_eq!(own(None, &[LIBRARY, "/u/help.hpp", "/u/k.cpp", WRAPPER]), "/u/k.cpp");
    assert_eq!(own(None, &[LIBRARY, "/u/help.hpp", WRAPPER]), "/u/help.hpp");
    assert_eq!(own(None, &[LIBRARY, WRAPPER]), WRAPPER);
    // A function of the library that was not inlined: what was called, not its insides.
    assert_eq!(own(None, &[LOWER, LIBRARY]), LIBRARY);
    // The host's name of the source, by less of its path, wins over other sources.
    assert_eq!(own(Some("ops/k.cpp"), &["/u/other.cpp", "/u/ops/k.cpp"]), "/u/ops/k.cpp");
    assert_eq!(own(Some("ops/k.cpp"), &["/u/other.cpp", "/u/k.cpp"]), "/u/other.cpp");
}

#[test]
fn path_is_normal_without_detours() {
    assert_eq!(normal("/a//b/./c/../d"), "/a/b/d");
    assert_eq!(normal("../a/../../b"), "../../b");
    assert!(is_file("/v/x/ops/../ops//k.cpp", "ops/k.cpp"));
    assert!(!is_file("/v/myops/k.cpp", "ops/k.cpp"));
    assert!(is_file("/v/k.cpp", "/v/k.cpp") && !is_file("/w/v/k.cpp", "/v/k.cpp"));
    assert!(!is_file("/v/k.cpp", ""));
}
