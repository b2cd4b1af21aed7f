//! Sixty-four fills that eyes of every kind can tell apart: eight hues, each with three bars.
//!
//! Colours alone cannot tell 32 lanes apart, let alone for the colour-blind.
//! The lowest three bits of a number choose the hue, and each of the next three draws a bar at one
//! edge of the cell; what is written in the cell says the number too.
//!
//! The hues are those of Okabe and Ito, *Color Universal Design: How to make figures and
//! presentations that are friendly to colorblind people* (2002, revised 2008), which stay apart under
//! each of the three dichromacies; a test holds the least distance above a bound.

use super::scene::{Fill, Key};

/// The hues as sRGB, in the order of the numbers 0 to 7.
pub const HUES: [[u8; 3]; 8] = [
    [0xE6, 0x9F, 0x00],
    [0x56, 0xB4, 0xE9],
    [0x00, 0x9E, 0x73],
    [0xF0, 0xE4, 0x42],
    [0x00, 0x72, 0xB2],
    [0xD5, 0x5E, 0x00],
    [0xCC, 0x79, 0xA7],
    [0x00, 0x00, 0x00],
];

/// The bits of a number that the hue shows.
const HUE_BITS: u32 = 3;
/// The bits of a number that bars show.
const BAR_BITS: u32 = 3;
/// Where the bar of each bit stands.
const EDGES: [&str; BAR_BITS as usize] = ["left", "bottom", "right"];

/// One of the sixty-four fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Colour(u8);

impl Colour {
    /// The fill of a number; the same for numbers that are equal modulo 64.
    pub fn of(number: u64) -> Self {
        Self((number & 63) as u8)
    }

    /// The number of its hue in [`HUES`].
    pub fn hue(self) -> usize {
        usize::from(self.0 & 7)
    }

    /// Its bars as bits: 1 at the left edge, 2 at the bottom, 4 at the right.
    pub fn bars(self) -> u8 {
        self.0 >> HUE_BITS
    }

    /// The colour beneath text and bars.
    pub fn fill(self) -> [u8; 3] {
        HUES[self.hue()]
    }

    /// The colour of text and bars: black or white, whichever stands out more.
    pub fn ink(self) -> Ink {
        let [light, dark] = [[255; 3], [0; 3]].map(|ink| contrast(ink, self.fill()));
        if dark >= light { Ink::Black } else { Ink::White }
    }
}

/// What is written with on a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ink {
    /// Black, on light colours.
    Black,
    /// White, on dark colours.
    White,
}

impl Ink {
    /// The colour as sRGB.
    pub fn rgb(self) -> [u8; 3] {
        match self {
            Ink::Black => [0; 3],
            Ink::White => [255; 3],
        }
    }
}

/// The contrast of two colours by the Web Content Accessibility Guidelines 2.2: from 1 to 21; text
/// that is easy to read has 4.5.
pub fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The relative luminance of a colour, from 0 to 1.
fn luminance(rgb: [u8; 3]) -> f64 {
    let [r, g, b] = rgb.map(linear);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// A channel of sRGB (IEC 61966-2-1) in linear light.
fn linear(channel: u8) -> f64 {
    let value = f64::from(channel) / 255.0;
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

/// The lines of a legend for colours that stand for numbers of `bits` bits.
pub(super) fn legend(name: &str, bits: u32) -> Vec<Key> {
    let shown = bits.min(HUE_BITS);
    let hues = (0..1 << shown).map(|number| {
        let text = if bits > shown {
            format!("{name} modulo {} is {number}", 1 << shown)
        } else {
            format!("{name} {number}")
        };
        Key { fill: Fill::Colour(Colour::of(number)), text }
    });
    let bars = (HUE_BITS..bits.min(HUE_BITS + BAR_BITS)).zip(EDGES).map(|(bit, edge)| Key {
        fill: Fill::Colour(Colour::of(1 << bit)),
        text: format!("bar {edge}: bit {bit} of the {name}"),
    });
    hues.chain(bars).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unreadable_literal, reason = "the digits are those of the publications")]

    use super::*;
    use std::collections::BTreeSet;

    type Transform = [[f64; 3]; 3];

    /// Simulations of the dichromacies on linear light: Machado, Oliveira and Fernandes, *A
    /// Physiologically-based Model for Simulation of Color Vision Deficiency* (2009), severity 1.
    const EYES: [(&str, Transform); 4] = [
        ("trichromat", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanope",
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
        ),
        (
            "deuteranope",
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
        ),
        (
            "tritanope",
            [
                [1.255528, -0.076749, -0.178779],
                [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900],
            ],
        ),
    ];

    /// The least distance of two hues, as a difference in CIELAB (1976). About 2.3 is just noticed
    /// side by side; this is six times as much.
    const APART: f64 = 15.0;

    fn times(matrix: &Transform, vector: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
    }

    /// CIELAB under the white point D65, from linear sRGB.
    fn lab(rgb: [f64; 3]) -> [f64; 3] {
        let xyz = times(
            &[
                [0.4124564, 0.3575761, 0.1804375],
                [0.2126729, 0.7151522, 0.0721750],
                [0.0193339, 0.1191920, 0.9503041],
            ],
            rgb.map(|channel| channel.clamp(0.0, 1.0)),
        );
        let root = |t: f64| {
            if t > 216.0 / 24389.0 { t.cbrt() } else { (24389.0 / 27.0 * t + 16.0) / 116.0 }
        };
        let [x, y, z] = [root(xyz[0] / 0.95047), root(xyz[1]), root(xyz[2] / 1.08883)];
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    #[test]
    fn hues_stay_apart_for_every_eye() {
        for (eye, transform) in EYES {
            let seen = HUES.map(|hue| lab(times(&transform, hue.map(linear))));
            for (i, &a) in seen.iter().enumerate() {
                for (j, &b) in seen.iter().enumerate().skip(i + 1) {
                    let apart = distance(a, b);
                    assert!(apart >= APART, "a {eye} sees {apart:.1} between hues {i} and {j}");
                }
            }
        }
    }

    #[test]
    fn the_measure_of_distance_is_the_published_one() {
        // sRGB red, green and blue in CIELAB under D65.
        let tabulated = [
            ([255, 0, 0], [53.24, 80.09, 67.20]),
            ([0, 255, 0], [87.73, -86.18, 83.18]),
            ([0, 0, 255], [32.30, 79.19, -107.86]),
        ];
        for (rgb, expected) in tabulated {
            assert!(distance(lab(rgb.map(linear)), expected) < 0.1, "{rgb:?}");
        }
        // A protanope does not tell these apart; the test above would say so.
        let seen = [[255, 0, 0], [95, 75, 0]].map(|rgb: [u8; 3]| {
            let (_, protanope) = EYES[1];
            lab(times(&protanope, rgb.map(linear)))
        });
        assert!(distance(seen[0], seen[1]) < APART, "{seen:?}");
    }

    #[test]
    fn sixty_four_fills_differ() {
        let fills = (0..64).map(|number| (Colour::of(number).fill(), Colour::of(number).bars()));
        assert_eq!(fills.collect::<BTreeSet<_>>().len(), 64);
        assert_eq!(Colour::of(64), Colour::of(0));
        assert_eq!(Colour::of(u64::MAX), Colour::of(63));
    }

    #[test]
    fn text_stands_out_on_every_fill() {
        for number in 0..64 {
            let colour = Colour::of(number);
            let contrast = contrast(colour.ink().rgb(), colour.fill());
            assert!(contrast >= 4.5, "{contrast:.2} on hue {}", colour.hue());
        }
        // Known pairs: the extremes, and the grey that is the lightest to pass on white.
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
        assert!((contrast([0x76; 3], [255; 3]) - 4.54).abs() < 0.01);
        assert!((contrast([0x77; 3], [255; 3]) - 4.48).abs() < 0.01);
    }

    #[test]
    fn legends_say_as_much_as_there_is() {
        let texts = |bits| legend("lane", bits).into_iter().map(|key| key.text).collect::<Vec<_>>();
        assert_eq!(texts(0), ["lane 0"]);
        assert_eq!(texts(1), ["lane 0", "lane 1"]);
        assert_eq!(texts(5).len(), 10);
        assert_eq!(texts(5)[7..9], ["lane modulo 8 is 7", "bar left: bit 3 of the lane"]);
        assert_eq!(texts(64).len(), 11);
    }
}
