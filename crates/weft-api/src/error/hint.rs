//! What would be right, for every error that somebody who asks can do something about.

use super::ApiError;
use crate::suggest::{did_you_mean, nearest};
use weft::budget::{Limit, Overrun};
use weft::compile::CompileError;
use weft::emit::{Target, Unsupported};
use weft_layout::access::ConflictsError;
use weft_layout::interop::ParseErrorKind;
use weft_layout::plan::PlanError;
use weft_layout::plan::swizzle::SwizzleError;
use weft_layout::{Label, Machine};

/// The three ways to write a layout.
const LAYOUTS: &str = "a layout is an attribute of Triton's (`#ttg.blocked<{…}>`), bases \
                       (`[register: (0,1), lane: (1,0)] -> [dim0: 2, dim1: 2]`) or CuTe's (`(8,64):(64,1)`)";

impl ApiError {
    /// What would be right, where that is known.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            ApiError::Json { path: Some(path), .. } => of_json(path)?.into(),
            ApiError::Json { path: None, .. } => {
                "a request is an object of JSON, its keys and texts in double quotes".into()
            }
            ApiError::NoRequest { known } => format!("`request` is one of {}", known.join(", ")),
            ApiError::UnknownRequest { name, known } => {
                let there_is = format!("`request` is one of {}", known.join(", "));
                did_you_mean(name, known.iter().copied(), &there_is)
            }
            ApiError::UnknownKey { key, known, .. } => {
                let takes = format!("it takes {}", known.join(", "));
                did_you_mean(key, known.iter().copied(), &takes)
            }
            ApiError::Target { name } => target(name),
            ApiError::NoPrinter { .. } => {
                let printed = |machine: &&Machine| Target::by_name(&machine.name).is_some();
                let known = Machine::ALL.into_iter().filter(printed);
                let known: Vec<&str> = known.map(|machine| &*machine.name).collect();
                let known = known.join(", ");
                format!(
                    "code is printed for {known}; for the others layouts and conversions are planned"
                )
            }
            ApiError::NoProbe { .. } => "give one of NVIDIA's, such as sm_90".into(),
            ApiError::ShapeMissing { .. } => {
                "give the tensor's extents, such as 128x64; an attribute fits many".into()
            }
            ApiError::OtherShape { found, expected, .. } => {
                let [found, expected] = [found, expected].map(|extents| spelled(extents));
                format!("give the extents {found}, or a layout of a tensor of {expected}")
            }
            ApiError::Element { name, known } => {
                did_you_mean(name, known.split(", "), &format!("known are {known}"))
            }
            ApiError::ElementCount(_) => {
                "give the elements' type, `--element f16`, in a request `\"element\": \"f16\"`; or there \
                 their width, `\"element_bits\": 16`"
                    .into()
            }
            ApiError::Attribute { error, .. } => match &error.kind {
                // These say themselves what there is.
                ParseErrorKind::Layout(_) | ParseErrorKind::UnknownAttribute(_) => return None,
                _ => LAYOUTS.into(),
            },
            ApiError::Text(text) => return text.diagnostics.0.first()?.hint.clone(),
            ApiError::NoKernel { known, .. } | ApiError::Kernels { known } if !known.is_empty() => {
                let choose = format!("choose one of {}", known.join(", "));
                let asked = match self {
                    ApiError::NoKernel { name, .. } => name.as_deref().unwrap_or_default(),
                    _ => "",
                };
                did_you_mean(asked, known.iter().map(String::as_str), &choose)
            }
            ApiError::NoKernel { .. } => {
                "a kernel is a `tt.func public` that no other function calls".into()
            }
            ApiError::Grid { .. } => {
                "a grid is one to three counts of blocks, such as 8 or 4,2".into()
            }
            ApiError::Limit { error: Overrun::Limit { limit, most, .. }, .. } => {
                let raised = raised(limit.name(), *most);
                match limit {
                    Limit::MemoryBytes => format!(
                        "give smaller buffers; what a run holds is each of them eight times, and what \
                         evaluator and simulator keep; or {raised}"
                    ),
                    Limit::Instructions => raised,
                    Limit::Elements | Limit::Operations | Limit::TextBytes => format!(
                        "give each thread less, by smaller tensors or more warps; or {raised}"
                    ),
                }
            }
            ApiError::Late { milliseconds, .. } => raised("milliseconds", *milliseconds),
            ApiError::Together { .. } => "ask in several arrays".into(),
            ApiError::Cute { grown: Some(grown), .. } => format!("`{grown}` holds all of it"),
            ApiError::NoLoads => "give the layouts that it is loaded into".into(),
            ApiError::Weights { .. } => {
                "give the weight of the store, then one for each load; none for `tma`".into()
            }
            ApiError::Weight { .. } => {
                "weights say how often one access happens for each of another".into()
            }
            ApiError::Threads { .. } => {
                "give layouts of more warps, or ask about that machine alone".into()
            }
            ApiError::Plan(error) => plan(error)?.into(),
            ApiError::Conflicts(error) => conflicts(error)?.into(),
            ApiError::Swizzle(error) => swizzle(error)?,
            ApiError::Compile(error) => compile(error)?,
            ApiError::Emit { error, .. } => language(error)?.into(),
            ApiError::Shape { hint, .. }
            | ApiError::Argument { hint, .. }
            | ApiError::Picture { hint, .. } => hint.clone(),
            _ => return None,
        })
    }
}

/// What JSON has in the place of what had another type.
fn of_json(path: &str) -> Option<&'static str> {
    let key = path.split(['[', '.']).next().unwrap_or(path);
    Some(match key {
        "shape" | "other_shape" | "slice" | "to" => {
            "extents are a list of numbers, such as [128, 64]"
        }
        "emit" => "`emit` is a list of texts, such as [\"cuda\"]; for `convert` one text",
        "grid" => "a grid is a number, or a list of up to three, such as [4, 2]",
        "args" => "arguments are an object, such as {\"x\": \"random:f32[4096]\", \"n\": 4096}",
        "pins" => "pins are a list of texts, such as [\"%tile=#ttg.blocked<{…}>\"]",
        "loads" => "loads are a list of layouts",
        _ => return None,
    })
}

fn target(name: &str) -> String {
    let names = Machine::ALL.map(|machine| &*machine.name);
    let known = format!(
        "known are {}, products such as h100 or mi300x, and files such as mine.json",
        names.join(", ")
    );
    let products = Machine::ALL.into_iter().flat_map(Machine::products);
    did_you_mean(name, names.into_iter().chain(products), &known)
}

fn plan(error: &PlanError) -> Option<&'static str> {
    Some(match error {
        PlanError::Tensors => "give two layouts of one tensor: the same elements, in another place",
        PlanError::Lanes { .. } => {
            "give layouts with the lanes of the machine's warps, or another target"
        }
        PlanError::Warps(..) => "give both layouts the same number of warps",
        PlanError::UnknownAxis(_) => "registers have the axes register, lane, warp and block",
        PlanError::TooLarge | PlanError::Scratch { .. } => {
            "give a smaller tensor, or layouts of more warps"
        }
        _ => return None,
    })
}

fn conflicts(error: &ConflictsError) -> Option<&'static str> {
    Some(match error {
        ConflictsError::NoOffset => {
            "a memory is `#ttg.swizzled_shared<{…}>`, `#ttg.padded_shared<{…}>`, CuTe's `(16,32):(32,1)` \
             or bases with the axis `offset`"
        }
        ConflictsError::Lanes { .. } => {
            "give a layout with the lanes of the machine's warps, or another target"
        }
        ConflictsError::TooManyPlaces { .. } => "give a smaller tensor",
        _ => return None,
    })
}

fn swizzle(error: &SwizzleError) -> Option<String> {
    Some(match error {
        SwizzleError::Scratch { needed, .. } => {
            format!("allow {needed} bytes, or leave the limit out")
        }
        SwizzleError::Lanes { .. } => {
            "give layouts with the lanes of the machine's warps, or another target".into()
        }
        SwizzleError::Tensor { .. } => "give layouts of one tensor".into(),
        SwizzleError::TooMany { .. } => {
            "give fewer loads or fewer machines: an access counts once for each machine".into()
        }
        SwizzleError::UnknownAxis { label, .. } if *label == Label::new("offset").ok()? => {
            "give the layouts of registers; where the tensor lies in memory is what is looked for"
                .into()
        }
        SwizzleError::UnknownAxis { .. } => {
            "registers have the axes register, lane, warp and block".into()
        }
        SwizzleError::NotAPair { .. } => "leave the trace out, or give one load".into(),
        _ => return None,
    })
}

fn compile(error: &CompileError) -> Option<String> {
    Some(match error {
        CompileError::Warps { warps, most, .. } => {
            let near = warps.checked_next_power_of_two().unwrap_or(*most).clamp(1, *most);
            format!("ask for {near}")
        }
        CompileError::Stages(_) => "ask for 3, or leave it out".into(),
        CompileError::GivenWarps { given, .. } => format!("ask for {given}, or leave it out"),
        CompileError::GivenLanes { .. } => {
            "compile the Triton IR (*.ttir), which is for warps of any width".into()
        }
        CompileError::SharedMemory { .. } => {
            "make the tiles smaller, or ask for fewer stages".into()
        }
        CompileError::NoSuchPass { name, known } => {
            format!("did you mean `{}`?", nearest(name, known.split(", "))?)
        }
        _ => return None,
    })
}

/// What to ask for where a machine has not the language.
fn language(error: &Unsupported) -> Option<&'static str> {
    let is_language = ["ptx", "cuda", "hip"].contains(&&*error.operation);
    Some(match Target::by_name(error.target).filter(|_| is_language)? {
        Target::Nvidia(_) => "add an AMD target, such as gfx942 (MI300X), or ask for ptx or cuda",
        Target::Amd(_) => "ask for hip, or add an NVIDIA target, such as sm_90 (H100)",
    })
}

/// Extents as people write them.
fn spelled(extents: &[u64]) -> String {
    let extents: Vec<String> = extents.iter().map(u64::to_string).collect();
    extents.join("x")
}

/// How a limit is raised.
pub(crate) fn raised(name: &str, most: u64) -> String {
    let more = most.saturating_mul(2);
    format!(
        "raise the limit: `--limit {name}={more}`, in a request `\"limits\": {{\"{name}\": {more}}}`"
    )
}
