//! Weft from C: `include/weft.h` says what each function promises its caller.
//!
//! The functions pass texts on to [`weft_api::invoke()`] and keep nothing between calls, so that any
//! number of threads may call them. A panic ends in an answer; it never crosses into C.

#![expect(unsafe_code, reason = "pointers of C are read, and taken back to be freed")]

use std::ffi::{CStr, CString, c_char};
use std::panic::catch_unwind;
use weft_api::invoke::{fault_text, panic_text};

/// Answers a request; see the header.
///
/// # Safety
///
/// The pointer is null, or to bytes that end with zero and are not written meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_invoke(request: *const c_char) -> *mut c_char {
    // SAFETY: what the caller promises.
    let request = (!request.is_null()).then(|| unsafe { CStr::from_ptr(request) });
    given(|| answer(request))
}

/// Frees an answer; see the header.
///
/// # Safety
///
/// The pointer is null, or came from [`weft_invoke`] and was not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_free(answer: *mut c_char) {
    if !answer.is_null() {
        // SAFETY: what the caller promises; `given` made it with `into_raw`.
        drop(unsafe { CString::from_raw(answer) });
    }
}

/// The version of the library, a static text that nobody frees.
#[unsafe(no_mangle)]
pub extern "C" fn weft_version() -> *const c_char {
    VERSION.as_ptr()
}

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no zero byte"),
    };

fn answer(request: Option<&CStr>) -> String {
    let hint = Some("give the address of UTF-8 that ends with a zero byte");
    match request.map(CStr::to_str) {
        Some(Ok(text)) => weft_api::invoke(text),
        Some(Err(error)) => {
            let message = format!("the request is not UTF-8 from byte {} on", error.valid_up_to());
            fault_text("json", &message, hint)
        }
        None => fault_text("json", "the request is a null pointer", hint),
    }
}

/// What a function makes, as a text that C owns.
fn given(make: impl FnOnce() -> String + std::panic::UnwindSafe) -> *mut c_char {
    let text = catch_unwind(make).unwrap_or_else(|panic| panic_text(&*panic));
    // JSON has no zero byte: one in a text is written as an escape.
    CString::new(text).unwrap_or_default().into_raw()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail so")]

    use super::*;
    use serde_json::Value;

    const HEADER: &str = include_str!("../include/weft.h");

    /// What a pointer's text is, freed.
    fn taken(answer: *mut c_char) -> String {
        // SAFETY: it came from `given`.
        let text = unsafe { CStr::from_ptr(answer) }.to_str().unwrap().to_owned();
        // SAFETY: as above, and nobody else has it.
        unsafe { weft_free(answer) };
        text
    }

    fn asked(request: &[u8]) -> String {
        let request = CString::new(request).unwrap();
        // SAFETY: the text lives until the call has ended.
        taken(unsafe { weft_invoke(request.as_ptr()) })
    }

    fn kind_and_message(answer: &str) -> (String, String) {
        let answer: Value = serde_json::from_str(answer).unwrap();
        let part = |name| answer["error"][name].as_str().unwrap().to_owned();
        (part("kind"), part("message"))
    }

    /// One that is answered within the limit of time under miri too, a thousand times slower.
    const SMALL: &str = r#"{"request": "machines", "target": "sm_90"}"#;

    #[test]
    fn a_request_gives_the_bytes_that_every_shell_gives() {
        let long = r#"{"request": "paper", "table": "table2"}"#;
        for request in [SMALL, if cfg!(miri) { "[]" } else { long }, "{", ""] {
            assert_eq!(asked(request.as_bytes()), weft_api::invoke(request));
        }
    }

    #[test]
    fn what_is_no_text_is_told() {
        // SAFETY: null is allowed.
        let answer = taken(unsafe { weft_invoke(std::ptr::null()) });
        assert_eq!(kind_and_message(&answer).1, "the request is a null pointer");
        let (kind, message) = kind_and_message(&asked(b"{\"request\": \"\xff\"}"));
        assert_eq!((&*kind, &*message), ("json", "the request is not UTF-8 from byte 13 on"));
        // SAFETY: null is allowed.
        unsafe { weft_free(std::ptr::null_mut()) };
    }

    #[test]
    fn zero_bytes_of_a_text_are_escaped() {
        let answer = asked(br#"{"request": "a\u0000b"}"#);
        assert_eq!(kind_and_message(&answer).1, "there is no request `a\0b`");
    }

    #[test]
    fn a_panic_becomes_an_answer() {
        let answer = taken(given(|| panic!("a thread {}", "broke")));
        let expected = ("defect".to_owned(), "a thread broke (a defect of weft)".to_owned());
        assert_eq!(kind_and_message(&answer), expected);
    }

    #[test]
    fn threads_do_not_meet() {
        let expected = weft_api::invoke(SMALL);
        let (threads, times) = if cfg!(miri) { (3, 2) } else { (8, 16) };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..times {
                        assert_eq!(asked(SMALL.as_bytes()), expected);
                    }
                });
            }
        });
    }

    #[test]
    fn the_header_is_of_this_version() {
        // SAFETY: the version is a constant of the library.
        let version = unsafe { CStr::from_ptr(weft_version()) }.to_str().unwrap();
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
        assert!(HEADER.contains(&format!("#define WEFT_VERSION \"{version}\"\n")));
    }
}
