//! Values between the lanes of a warp.
//!
//! A shuffle moves 32 bits. A narrower value is widened on the way, a truth value becomes 0 or 1, and
//! 64 bits go as two halves:
//!
//! ```text
//! %2: i64 = shuffle.xor 1 %1        mov.b64 {%rt0, %rt1}, %rd1;
//!                                   shfl.sync.bfly.b32 %rt2, %rt0, 1, 0x1f, 0xffffffff;
//!                                   shfl.sync.bfly.b32 %rt3, %rt1, 1, 0x1f, 0xffffffff;
//!                                   mov.b64 %rd2, {%rt2, %rt3};
//! ```

use super::writer::{Class, Reg, Writer, put};
use core::fmt::Display;

/// The value of lane `id ^ mask`.
pub(super) fn shuffle_xor(w: &mut Writer<'_>, mask: u32, d: Reg, x: Reg) {
    shuffle(w, "bfly", &mask, d, x);
}

/// The value of a lane; the instruction takes its index modulo 32.
pub(super) fn shuffle_index(w: &mut Writer<'_>, d: Reg, x: Reg, lane: Reg) {
    shuffle(w, "idx", &lane, d, x);
}

fn shuffle(w: &mut Writer<'_>, mode: &str, from: &dyn Display, d: Reg, x: Reg) {
    let word = |w: &mut Writer<'_>, d: Reg, x: Reg| {
        put!(w, "shfl.sync.{mode}.b32 {d}, {x}, {from}, 0x1f, 0xffffffff");
    };
    if d.class == Class::B32 {
        return word(w, d, x);
    }
    let (sent, got) = (w.temp(Class::B32), w.temp(Class::B32));
    match d.class {
        Class::Predicate => {
            put!(w, "selp.b32 {sent}, 1, 0, {x}");
            word(w, got, sent);
            put!(w, "setp.ne.u32 {d}, {got}, 0");
        }
        Class::B16 => {
            put!(w, "cvt.u32.u16 {sent}, {x}");
            word(w, got, sent);
            put!(w, "cvt.u16.u32 {d}, {got}");
        }
        Class::B32 | Class::B64 => {
            let (sent_high, got_high) = (w.temp(Class::B32), w.temp(Class::B32));
            put!(w, "mov.b64 {{{sent}, {sent_high}}}, {x}");
            word(w, got, sent);
            word(w, got_high, sent_high);
            put!(w, "mov.b64 {d}, {{{got}, {got_high}}}");
        }
    }
}
