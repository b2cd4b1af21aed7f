//! The GPUs that PTX is printed for.

/// A version of the PTX language: major and minor.
pub type Version = (u8, u8);

/// A GPU as `.target` names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The name after `.target`. With the suffix `a` the text runs on exactly this architecture and
    /// may use what only this architecture has.
    pub name: &'static str,
    /// The compute capability, ten times: 90 for `sm_90`.
    pub capability: u32,
    /// Whether the name has the suffix `a`.
    pub architecture_specific: bool,
    /// The lowest PTX version that knows the name; the text says a higher one only where it uses
    /// something newer, since drivers and assemblers refuse versions from after their time.
    pub ptx_version: Version,
}

impl Target {
    /// Every target, oldest first.
    pub const ALL: &'static [Target] = &[
        Target::plain("sm_80", 80, (7, 0)),
        Target::plain("sm_86", 86, (7, 1)),
        Target::plain("sm_89", 89, (7, 8)),
        Target::plain("sm_90", 90, (7, 8)),
        Target { architecture_specific: true, ..Target::plain("sm_90a", 90, (8, 0)) },
        Target::plain("sm_100", 100, (8, 6)),
        Target { architecture_specific: true, ..Target::plain("sm_100a", 100, (8, 6)) },
        Target::plain("sm_120", 120, (8, 7)),
    ];

    /// The target with this name, such as `sm_90`.
    pub fn by_name(name: &str) -> Option<&'static Target> {
        Target::ALL.iter().find(|target| target.name == name)
    }

    /// The target of the same capability that may use what only its architecture has, if there is one:
    /// `sm_90a` for `sm_90`.
    pub(in crate::emit) fn specific(&self) -> &Target {
        let same =
            |target: &Target| target.capability == self.capability && target.architecture_specific;
        Target::ALL.iter().find(|target| same(target)).unwrap_or(self)
    }

    /// Whether bf16 has instructions of its own for sum, product, comparison and conversion; before,
    /// it has only a fused multiply-add, minimum, maximum, and conversions from and to f32.
    pub(super) fn has_bf16_arithmetic(&self) -> bool {
        self.capability >= 90
    }

    const fn plain(name: &'static str, capability: u32, ptx_version: Version) -> Target {
        Target { name, capability, architecture_specific: false, ptx_version }
    }
}
