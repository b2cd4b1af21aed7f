//! How the factors of a matrix product may be rounded.

use core::fmt;

/// How factors of f32 may be rounded before they are multiplied; other factors are taken as they are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Precision {
    /// Factors are taken as they are.
    #[default]
    Ieee,
    /// To 11 binary digits, the exponent kept.
    Tf32,
    /// Each as a sum of two such numbers, of which three products are taken.
    Tf32x3,
    /// Each as a sum of two bf16, of which three products are taken.
    Bf16x3,
    /// Each as a sum of three bf16, of which six products are taken.
    Bf16x6,
}

impl Precision {
    /// Each with its word, in the order of the numbers that the generic form has for them.
    pub const TABLE: [(&str, Precision); 5] = [
        ("tf32", Precision::Tf32),
        ("tf32x3", Precision::Tf32x3),
        ("ieee", Precision::Ieee),
        ("bf16x3", Precision::Bf16x3),
        ("bf16x6", Precision::Bf16x6),
    ];

    /// The number that the generic form has for it.
    pub fn number(self) -> usize {
        Precision::TABLE.iter().position(|(_, precision)| *precision == self).unwrap_or(0)
    }

    /// How many binary digits of a factor are sure to count, where it is an f32.
    pub fn digits(self) -> u32 {
        match self {
            Precision::Ieee | Precision::Bf16x6 => 24,
            Precision::Tf32 => 11,
            Precision::Tf32x3 => 21,
            Precision::Bf16x3 => 16,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = Precision::TABLE.iter().find(|(_, precision)| precision == self);
        f.write_str(entry.map_or("ieee", |(word, _)| word))
    }
}
