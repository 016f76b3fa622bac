//! Loops compiled for the vector registers that the host has.
//!
//! [`run`] calls a closure inside a function that may use AVX-512, inside one that may use AVX2, or
//! as it is: whichever is the best that this host can do. The closure is a plain loop over
//! arrays without branches, which the compiler vectorises with what it may use; to be compiled
//! there, it and everything it calls has to be `#[inline(always)]`. It is the same source on
//! integers each time, so the result is the same on every host.
//!
//! Not an abstraction of vector instructions, and nothing in here knows what is computed. The one
//! thing the compiler cannot check, that a host has the features of a function that is called, is
//! in `run_within` and nowhere else. Record: `docs/decisions/0006-loops-for-wider-hosts.md`.
//!
//! Source of the feature sets: levels x86-64-v3 and x86-64-v4 of the System V ABI
//! `[x86-64-psABI 1.0, 3.1.1]`.

use std::sync::atomic::{AtomicU8, Ordering};

/// Instruction sets that closures are compiled for, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Level {
    /// What the program as a whole is compiled for.
    Baseline = 1,
    /// AVX2 and what comes with it: x86-64-v3.
    Avx2 = 2,
    /// AVX-512 with byte, word and conflict instructions on all vector lengths: x86-64-v4.
    Avx512 = 3,
}

impl Level {
    /// All levels, the least first.
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// The best level of this host.
    #[inline]
    #[must_use]
    pub fn best() -> Self {
        match BEST.load(Ordering::Relaxed) {
            3 => Self::Avx512,
            2 => Self::Avx2,
            1 => Self::Baseline,
            _ => detect(),
        }
    }
}

/// [`Level::best`] as a number; 0 before it is known.
static BEST: AtomicU8 = AtomicU8::new(0);

#[cold]
fn detect() -> Level {
    let level = detected();
    BEST.store(level as u8, Ordering::Relaxed);
    level
}

#[cfg(target_arch = "x86_64")]
fn detected() -> Level {
    use std::arch::is_x86_feature_detected as has;
    let wide = has!("avx2")
        && has!("bmi1")
        && has!("bmi2")
        && has!("fma")
        && has!("lzcnt")
        && has!("movbe")
        && has!("popcnt");
    let widest = has!("avx512f")
        && has!("avx512bw")
        && has!("avx512cd")
        && has!("avx512dq")
        && has!("avx512vl");
    match (wide, widest) {
        (true, true) => Level::Avx512,
        (true, false) => Level::Avx2,
        (false, _) => Level::Baseline,
    }
}

#[cfg(not(target_arch = "x86_64"))]
const fn detected() -> Level {
    Level::Baseline
}

/// Calls `work` compiled for the best level of this host.
#[expect(unsafe_code, reason = "functions with target features, called where the host has them")]
#[inline(always)]
pub fn run<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: the level is the best.
    unsafe { run_within(Level::best(), work) }
}

/// Calls `work` compiled for `level`, or for the best level of this host if that is less. For
/// tests, which compare levels.
#[expect(unsafe_code, reason = "functions with target features, called where the host has them")]
#[inline(always)]
pub fn run_at<R>(level: Level, work: impl FnOnce() -> R) -> R {
    // SAFETY: the level is not above the best.
    unsafe { run_within(level.min(Level::best()), work) }
}

/// Calls `work` compiled for `level`.
///
/// # Safety
/// `level` is not above [`Level::best`], which has found all features that it needs on this host.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "functions with target features, called where the host has them")]
#[inline(always)]
unsafe fn run_within<R>(level: Level, work: impl FnOnce() -> R) -> R {
    match level {
        // SAFETY: the caller names no level above the host's.
        Level::Avx512 => unsafe { with_avx512(work) },
        // SAFETY: as above; they are a part of those of `Level::Avx512`.
        Level::Avx2 => unsafe { with_avx2(work) },
        Level::Baseline => work(),
    }
}

/// Calls `work`: other architectures have one level.
///
/// # Safety
/// Nothing to heed here.
#[cfg(not(target_arch = "x86_64"))]
#[expect(unsafe_code, reason = "functions with target features, called where the host has them")]
#[inline(always)]
unsafe fn run_within<R>(_level: Level, work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,movbe,popcnt")]
#[inline]
fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,movbe,popcnt")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
#[inline]
fn with_avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_calls_the_closure_once_with_its_captures() {
        for level in Level::ALL {
            let mut calls = 0;
            let sum = run_at(level, || {
                calls += 1;
                (1..=100u32).sum::<u32>()
            });
            assert_eq!((calls, sum), (1, 5050), "{level:?}");
        }
        assert_eq!(run(|| 7), 7);
    }

    #[test]
    fn best_level_is_the_same_each_time() {
        assert_eq!(Level::best(), Level::best());
        assert!(Level::ALL.contains(&Level::best()));
    }
}
