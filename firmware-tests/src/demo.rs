//! Files of the built-in examples, as they lie in `hazards/`.

/// `tilescope demo hang`: a semaphore get that overtakes its post.
pub const HANG: &[(&str, &[u8])] = &[
    ("case.toml", include_bytes!("../hazards/A4-semaphore-decrement-lost/case.toml")),
    ("clean.toml", include_bytes!("../hazards/A4-semaphore-decrement-lost/clean.toml")),
    (
        "semaphore-decrement-lost.c",
        include_bytes!("../hazards/A4-semaphore-decrement-lost/semaphore-decrement-lost.c"),
    ),
    ("buggy-trisc0.elf", include_bytes!("../hazards/A4-semaphore-decrement-lost/buggy-trisc0.elf")),
    ("buggy-trisc1.elf", include_bytes!("../hazards/A4-semaphore-decrement-lost/buggy-trisc1.elf")),
    ("buggy-trisc2.elf", include_bytes!("../hazards/A4-semaphore-decrement-lost/buggy-trisc2.elf")),
    ("clean-trisc0.elf", include_bytes!("../hazards/A4-semaphore-decrement-lost/clean-trisc0.elf")),
    ("clean-trisc1.elf", include_bytes!("../hazards/A4-semaphore-decrement-lost/clean-trisc1.elf")),
    ("clean-trisc2.elf", include_bytes!("../hazards/A4-semaphore-decrement-lost/clean-trisc2.elf")),
];
