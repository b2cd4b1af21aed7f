//! The style sheet: colours and fonts, light and dark.

use crate::view::palette::{Colour, HUES, Ink};
use std::fmt::Write as _;

/// The class of each hue.
const HUE_CLASSES: [&str; 8] = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"];

/// The class of what nobody holds.
pub(super) const DEAD: &str = "dead";

/// The page, its ink and what is dead, in a light and in a dark surrounding.
const PAGES: [[&str; 3]; 2] =
    [["#ffffff", "#1f2328", "#d1d9e0"], ["#0d1117", "#f0f6fc", "#3d444d"]];

/// The colours and fonts.
pub(super) fn style() -> String {
    let mut style = String::from(
        ".weft{color-scheme:light dark}\
         .weft text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;\
         font-size:12px;text-anchor:middle}\
         .weft text.title{font-size:14px;font-weight:bold}\
         .weft text.title,.weft text.start{text-anchor:start}\
         .weft text.end{text-anchor:end}\
         .weft .block{fill:none}\
         .weft .ring{fill:none;stroke-width:3}\
         .weft .served text{font-weight:bold}",
    );
    for (class, [r, g, b]) in HUE_CLASSES.iter().zip(HUES) {
        let _ = write!(style, ".weft .{class}{{fill:#{r:02x}{g:02x}{b:02x}}}");
    }
    let page = |[page, ink, dead]: [&str; 3]| {
        format!(
            ".weft .page{{fill:{page}}}.weft text{{fill:{ink}}}.weft .block,.weft .ring{{stroke:{ink}}}\
             .weft .{DEAD}{{fill:{dead}}}"
        )
    };
    let [light, dark] = PAGES.map(page);
    // Black, the last hue, would be lost on the dark page.
    let _ = write!(
        style,
        "{light}@media (prefers-color-scheme:dark){{{dark}.weft .h7{{stroke:#9198a1}}}}"
    );
    for ink in [Ink::Black, Ink::White] {
        let (class, [r, g, b]) = (ink_class(ink), ink.rgb());
        let _ =
            write!(style, ".weft path.{class},.weft .{class} text{{fill:#{r:02x}{g:02x}{b:02x}}}");
    }
    style
}

/// The class of what is filled with a colour.
pub(super) fn hue_class(colour: Colour) -> &'static str {
    HUE_CLASSES.get(colour.hue()).copied().unwrap_or(DEAD)
}

/// The class of text and bars of an ink.
pub(super) fn ink_class(ink: Ink) -> &'static str {
    match ink {
        Ink::Black => "black",
        Ink::White => "white",
    }
}

#[cfg(test)]
mod tests {
    use super::PAGES;
    use crate::view::contrast;

    /// Reads `#rrggbb` as sRGB.
    fn rgb(text: &str) -> [u8; 3] {
        let channel = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
        [channel(1), channel(3), channel(5)]
    }

    #[test]
    fn text_stands_out_on_the_page_and_on_what_is_dead() {
        for [page, ink, dead] in PAGES {
            for fill in [page, dead] {
                let contrast = contrast(rgb(ink), rgb(fill));
                assert!(contrast >= 4.5, "{contrast:.2} of {ink} on {fill}");
            }
        }
    }
}
