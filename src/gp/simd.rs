//! The choice of the instruction set for this crate's own loops. Results are the same with every instruction set.
//!
//! Each loop is written once, elementwise or with a fixed number of partial sums. On x86-64 it is compiled once for
//! each [`Level`]. Rust never contracts a * b + c into a fused multiply-add, so wider registers change the
//! speed but not the results.

use std::sync::atomic::{AtomicU8, Ordering};

/// An instruction set of x86-64; on other targets there is only the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// The instructions that every CPU of the target has (SSE2 on x86-64).
    Baseline = 1,
    /// AVX2.
    Avx2 = 2,
    /// AVX-512 F, VL, DQ and BW.
    Avx512 = 3,
}

/// Environment variable that sets the highest level to use: `baseline`, `avx2` or `avx512`.
pub const VARIABLE: &str = "SUBROSA_SIMD";

/// The level in use as a number; 0 until a level is first used or forced.
static LEVEL: AtomicU8 = AtomicU8::new(0);

/// The level in use: the best level of this CPU, or a lower level that [`force`] or the environment variable [`VARIABLE`]
/// sets.
#[inline]
#[must_use]
pub fn level() -> Level {
    match LEVEL.load(Ordering::Relaxed) {
        1 => Level::Baseline,
        2 => Level::Avx2,
        3 => Level::Avx512,
        _ => choose(),
    }
}

/// Sets the level of the whole process from now on to `wanted` or, if this CPU does not support it, to the best level of
/// this CPU; returns the level in use.
pub fn force(wanted: Level) -> Level {
    let level = wanted.min(best());
    LEVEL.store(level as u8, Ordering::Relaxed);
    level
}

/// A value of [`VARIABLE`] that names no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{VARIABLE}: expected baseline, avx2 or avx512, found {0:?}")]
pub struct UnknownLevel(String);

/// The level that [`VARIABLE`] names; `None` where it is not set.
///
/// # Errors
/// [`UnknownLevel`] if its value names no level.
pub fn wanted() -> Result<Option<Level>, UnknownLevel> {
    let Some(word) = std::env::var_os(VARIABLE) else { return Ok(None) };
    match word.to_str() {
        Some("baseline") => Ok(Some(Level::Baseline)),
        Some("avx2") => Ok(Some(Level::Avx2)),
        Some("avx512") => Ok(Some(Level::Avx512)),
        _ => Err(UnknownLevel(word.to_string_lossy().into_owned())),
    }
}

/// Chooses the level when it is first needed. A value of [`VARIABLE`] that names no level is ignored here, since no result
/// depends on the level. The command line refuses such a value before any computation.
#[cold]
fn choose() -> Level {
    force(wanted().ok().flatten().unwrap_or(Level::Avx512))
}

/// The best level of this CPU.
#[must_use]
pub fn best() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        let wide = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw");
        if wide {
            return Level::Avx512;
        }
        if is_x86_feature_detected!("avx2") {
            return Level::Avx2;
        }
    }
    Level::Baseline
}

/// Declares functions that are compiled once per [`Level`]. A function that a declared function calls is compiled for the
/// level only if it is inlined into the caller.
/// Functions declared after `up to Avx2:` do not use the 512-bit registers, since loops limited by memory access are slower
/// with such registers.
macro_rules! multiversion {
    (up to $most:ident: $($functions:tt)+) => { $crate::gp::simd::multiversion! { @ $most $($functions)+ } };
    (@ $most:ident $($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block)+) => {
        $(
            $(#[$meta])*
            $vis fn $name($($arg: $ty),*) $(-> $ret)? {
                #[inline(always)]
                fn body($($arg: $ty),*) $(-> $ret)? $body
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx2")]
                    fn avx2($($arg: $ty),*) $(-> $ret)? {
                        body($($arg),*)
                    }
                    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
                    fn avx512($($arg: $ty),*) $(-> $ret)? {
                        body($($arg),*)
                    }
                    match $crate::gp::simd::level().min($crate::gp::simd::Level::$most) {
                        // SAFETY: `level` never exceeds what this CPU supports.
                        $crate::gp::simd::Level::Avx512 => return unsafe { avx512($($arg),*) },
                        // SAFETY: `level` never exceeds what this CPU supports.
                        $crate::gp::simd::Level::Avx2 => return unsafe { avx2($($arg),*) },
                        $crate::gp::simd::Level::Baseline => {}
                    }
                }
                body($($arg),*)
            }
        )+
    };
    ($($functions:tt)+) => { $crate::gp::simd::multiversion! { @ Avx512 $($functions)+ } };
}

pub(crate) use multiversion;
