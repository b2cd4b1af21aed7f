//! Short names for the layouts of a module, as MLIR prints them: `#blocked`, `#blocked1`, `#shared`.

use super::{Encoding, Kernel, Launch};
use core::fmt;
use weft_layout::family::Family;

/// The layouts that get a name, in the order of their first use.
pub(super) struct Aliases {
    /// The name with `#`, and the text that it stands for.
    names: Vec<(String, String)>,
}

impl Aliases {
    /// Names for every layout that a type of these kernels has; slices and operands of products are
    /// written out around the name of their parent.
    pub(super) fn of(kernels: &[Kernel]) -> Self {
        let mut aliases = Self { names: Vec::new() };
        let mut shares = false;
        for value in kernels.iter().flat_map(|kernel| kernel.values.values()) {
            match &value.ty.encoding {
                None => {}
                Some(Encoding::Registers(family)) => aliases.add(family),
                Some(Encoding::Shared(memory)) => {
                    shares = true;
                    aliases.add(&memory.family);
                }
            }
        }
        if shares {
            aliases.names.push(("#smem".into(), "#ttg.shared_memory".into()));
        }
        aliases
    }

    fn add(&mut self, family: &Family) {
        let name = match family {
            Family::Slice(slice) => return self.add(&slice.parent),
            Family::DotOperand(operand) => return self.add(&operand.parent),
            Family::Blocked(_) => "blocked",
            Family::Linear(_) => "linear",
            Family::GenericLinear(_) => "generic_linear",
            Family::NvidiaMma(_) | Family::AmdMfma(_) | Family::AmdWmma(_) => "mma",
            _ => "shared",
        };
        let text = family.to_string();
        if self.names.iter().any(|(_, known)| *known == text) {
            return;
        }
        let numbered = |(known, _): &&(String, String)| {
            known[1..].trim_end_matches(|c: char| c.is_ascii_digit()) == name
        };
        let name = match self.names.iter().filter(numbered).count() {
            0 => format!("#{name}"),
            number => format!("#{name}{number}"),
        };
        self.names.push((name, text));
    }

    /// The lines that define the names.
    pub(super) fn define(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.names.iter().try_for_each(|(name, text)| writeln!(f, "{name} = {text}"))
    }

    /// A text with the names in place of what they stand for.
    pub(super) fn shorten(&self, text: String) -> String {
        self.names.iter().fold(text, |text, (name, long)| text.replace(long, name))
    }
}

impl Launch {
    /// Whether nothing is said.
    pub(super) fn is_empty(&self) -> bool {
        *self == Launch::default()
    }
}

impl fmt::Display for Launch {
    /// The attributes of a module.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { warps, lanes, target } = self;
        f.write_str("{\"ttg.num-ctas\" = 1 : i32")?;
        if let Some(warps) = warps {
            write!(f, ", \"ttg.num-warps\" = {warps} : i32")?;
        }
        if let Some(target) = target {
            write!(f, ", ttg.target = \"{target}\"")?;
        }
        if let Some(lanes) = lanes {
            write!(f, ", \"ttg.threads-per-warp\" = {lanes} : i32")?;
        }
        f.write_str("}")
    }
}
