//! Whatever the text, reading it ends; what is read prints to something that reads as the same.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(module) = weft::ttir::parse(text) {
        let printed = module.to_string();
        let again = weft::ttir::parse(&printed).expect("what is printed can be read");
        assert_eq!(printed, again.to_string());
    }
});
