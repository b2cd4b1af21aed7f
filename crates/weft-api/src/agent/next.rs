//! The questions that follow from an answer, ready to be asked.

use crate::answer::{
    CompileAnswer, ConflictsAnswer, ConvertAnswer, ExplainAnswer, LayoutAnswer, MachinesAnswer,
    PortAnswer, RunAnswer, SharedAnswer, SwizzleAnswer,
};
use crate::request::{
    AccessKind, CompileRequest, ConflictsRequest, ConvertRequest, ExplainRequest, LayoutRequest,
    MachinesRequest, PortRequest, RunRequest, SwizzleRequest,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use weft_layout::space::OFFSET;

/// A question that follows.
#[derive(Serialize, JsonSchema)]
pub(super) struct Next {
    tool: &'static str,
    why: String,
    /// What is known of its arguments.
    arguments: Map<String, Value>,
    /// What is not: what has to stand under these keys.
    #[serde(skip_serializing_if = "Map::is_empty")]
    fill: Map<String, Value>,
}

impl Next {
    fn new(tool: &'static str, why: impl Into<String>) -> Self {
        Self { tool, why: why.into(), arguments: Map::new(), fill: Map::new() }
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.arguments.insert(key.into(), value.into());
        self
    }

    /// What the question before had under these keys.
    fn same(mut self, asked: &Map<String, Value>, keys: &[&str]) -> Self {
        for &key in keys {
            if let Some(value) = asked.get(key) {
                self.arguments.insert(key.into(), value.clone());
            }
        }
        self
    }

    fn fill(mut self, key: &str, what: &str) -> Self {
        self.fill.insert(key.into(), what.into());
        self
    }
}

/// What says which tensor, and on which machine.
const TENSOR: &[&str] = &["shape", "element", "element_bits", "target"];
/// What says how a kernel is compiled, but not which.
const KERNEL: &[&str] = &["kernel", "target", "warps", "stages", "fp_fusion", "pins"];
const SAME_TEXT: &str = "the same text";

fn of(asked: &Map<String, Value>, key: &str) -> Value {
    asked.get(key).cloned().unwrap_or_default()
}

pub(super) fn machines(
    _: &Map<String, Value>,
    request: &MachinesRequest,
    answer: &MachinesAnswer,
) -> Vec<Next> {
    if request.target.is_some() {
        return Vec::new();
    }
    let first = answer.machines.first().map_or_else(String::new, |one| one.name.clone());
    vec![
        Next::new("machines", "everything that is known of one, and from where")
            .with("target", first),
    ]
}

pub(super) fn layout(
    asked: &Map<String, Value>,
    request: &LayoutRequest,
    answer: &LayoutAnswer,
) -> Vec<Next> {
    let mut next = Vec::new();
    let shape = json!(answer.shape);
    let known = |next: Next| {
        next.with("shape", shape.clone()).same(asked, &["element", "element_bits", "target"])
    };
    let this = of(asked, "attribute");
    if answer.map.ins().contains(OFFSET) {
        let why = "how many wavefronts a load or store of this memory takes";
        let registers = "the layout of the registers that are loaded or stored";
        let question = Next::new("conflicts", why).with("memory", this);
        next.push(known(question).fill("registers", registers));
    } else if answer.map.outs().is_tensor() {
        let why = "how a tensor gets from this layout into another, and at what cost";
        let question = Next::new("convert", why).with("from", this);
        next.push(known(question).fill("to", "the layout that it is wanted in"));
    }
    if !request.names {
        let why = "what Triton and CuTe call it";
        let question = Next::new("layout", why);
        let keys = &["attribute", "shape", "element", "element_bits"];
        next.push(question.same(asked, keys).with("names", true));
    }
    next
}

pub(super) fn conflicts(
    asked: &Map<String, Value>,
    request: &ConflictsRequest,
    answer: &ConflictsAnswer,
) -> Vec<Next> {
    let why = match &answer.witness {
        Some(conflict) => format!(
            "a memory layout in which elements that differ by {} lie in different banks, with a proof \
             that none takes fewer wavefronts",
            conflict.difference
        ),
        // A vector of 16 bytes is the widest of every machine.
        None if answer.vector_bytes < 16 => {
            "whether another memory layout is reached by wider vectors, in fewer instructions"
                .into()
        }
        None => return Vec::new(),
    };
    let question = Next::new("swizzle", why);
    let this = of(asked, "registers");
    let question = match request.kind {
        AccessKind::Load => question
            .with("loads", vec![this])
            .fill("store", "the layout from which the buffer is written, or \"tma\"; and add to `loads` its other readers"),
        AccessKind::Store => question
            .with("store", this)
            .fill("loads", "the layouts into which the buffer is read, a list; \"tma\" may be one"),
    };
    vec![question.same(asked, TENSOR)]
}

pub(super) fn swizzle(
    asked: &Map<String, Value>,
    request: &SwizzleRequest,
    answer: &SwizzleAnswer,
) -> Vec<Next> {
    let mut next = Vec::new();
    let memory = json!({"bases": answer.bases, "shape": answer.shape});
    let loads = of(asked, "loads");
    let sides = std::iter::once((of(asked, "store"), "store"))
        .chain(loads.as_array().into_iter().flatten().map(|load| (load.clone(), "load")))
        .filter(|(side, _)| side != "tma");
    let rounds = !answer.rounds.is_empty();
    for ((registers, kind), taken) in sides.zip(&answer.accesses) {
        if taken.matrix.is_none() && !rounds {
            let why = format!("count the wavefronts of the {} on this memory again", taken.access);
            let question = Next::new("conflicts", why).with("registers", registers);
            next.push(
                question.with("memory", memory.clone()).with("kind", kind).same(asked, TENSOR),
            );
        }
    }
    if answer.accesses.iter().any(|taken| taken.matrix.is_some())
        && request.matrix_moves != Some(false)
    {
        let why = "if the code has plain loads and stores only: the best memory for those";
        let mut question = Next::new("swizzle", why);
        question.arguments.clone_from(asked);
        next.push(question.with("matrix_moves", false));
    }
    if !rounds {
        let why = "this memory as an attribute for Triton's IR, and as CuTe's layout";
        let question = Next::new("layout", why).with("attribute", memory);
        let keys = &["shape", "element", "element_bits"];
        next.push(question.same(asked, keys).with("names", true));
    }
    next
}

pub(super) fn convert(
    asked: &Map<String, Value>,
    request: &ConvertRequest,
    answer: &ConvertAnswer,
) -> Vec<Next> {
    let mut next = Vec::new();
    if request.emit.is_none() {
        let why = "the code: a device function to paste (or emit ptx, hip, picture)";
        let question = Next::new("convert", why);
        next.push(question.same(asked, &["from", "to"]).same(asked, TENSOR).with("emit", "cuda"));
    }
    if answer.strategy == "shared memory" {
        let why =
            "where the tensor lies in between, and why no memory layout takes fewer wavefronts";
        let question = Next::new("swizzle", why).with("store", of(asked, "from"));
        next.push(question.with("loads", vec![of(asked, "to")]).same(asked, TENSOR));
    }
    next
}

pub(super) fn port(
    asked: &Map<String, Value>,
    request: &PortRequest,
    answer: &PortAnswer,
) -> Vec<Next> {
    let mut next = Vec::new();
    if request.emit.is_none() {
        let why = "the code for the new machine";
        let keys = &["kernel", "warps", "store", "loads", "memory", "shape", "element", "from"];
        let question = Next::new("port", why).same(asked, keys).same(asked, &["target"]);
        let question = question.with("emit", "hip");
        let of_kernel = answer.kernel.is_some();
        next.push(if of_kernel { question.fill("ttir", SAME_TEXT) } else { question });
    }
    if answer.kernel.is_some() {
        let why = "whether it computes what it should on the new machine, and what a run costs";
        let question = Next::new("simulate", why).with("target", answer.target.as_str());
        next.push(
            question
                .fill("ttir", "the text of a port with `emit` tile")
                .fill("grid", "blocks along x, y and z")
                .fill("args", "a value for each argument"),
        );
    }
    next
}

pub(super) fn compile(
    asked: &Map<String, Value>,
    _: &CompileRequest,
    _: &CompileAnswer,
) -> Vec<Next> {
    vec![
        Next::new("explain", "where each value lives, and what movements and accesses cost")
            .same(asked, KERNEL)
            .fill("ttir", SAME_TEXT),
        Next::new("simulate", "whether it computes what it should, and what a run costs")
            .same(asked, KERNEL)
            .fill("ttir", SAME_TEXT)
            .fill("grid", "blocks along x, y and z")
            .fill(
                "args",
                "a value for each argument, such as {\"x\": \"random:f32[4096]\", \"n\": 4096}",
            ),
    ]
}

pub(super) fn explain(
    asked: &Map<String, Value>,
    _: &ExplainRequest,
    answer: &ExplainAnswer,
) -> Vec<Next> {
    let mut next = Vec::new();
    let conversions = (answer.movements.iter()).filter(|one| one.movement.strategy != "reduction");
    let most = conversions.rev().max_by_key(|one| one.movement.cost.saturating_mul(one.times));
    if let Some(most) = most {
        let why = format!("the costliest conversion, that of {}, by itself", most.value);
        let question = Next::new("convert", why)
            .with("from", most.from.as_str())
            .with("to", most.to.as_str())
            .same(asked, &["target"]);
        next.push(of_tensor(question, &most.ty));
    }
    let lost = |one: &&SharedAnswer| {
        let lost = one.counted.map(|counted| counted.wavefronts.saturating_sub(counted.ideal));
        lost.unwrap_or(0).saturating_mul(one.times)
    };
    if let Some(worst) = answer.shared.iter().rev().max_by_key(lost).filter(|one| lost(one) > 0) {
        let why = format!(
            "the {} of {} that meets most bank conflicts: who collides with whom",
            worst.operation, worst.value
        );
        let question = Next::new("conflicts", why)
            .with("registers", worst.layout.as_str())
            .with("memory", worst.memory.as_str())
            .with("kind", worst.kind)
            .same(asked, &["target"]);
        next.push(of_tensor(question, &worst.ty));
    }
    if let Some(home) = answer.homes.iter().find(|home| home.next.is_some()) {
        let why = "what everything costs where a value lives in a layout of your choice";
        let pin = format!("a list of VALUE=LAYOUT, such as {}=…", home.value);
        let question = Next::new("explain", why).same(asked, KERNEL);
        next.push(question.fill("ttir", SAME_TEXT).fill("pins", &pin));
    }
    next
}

/// A question about the tensor of this type.
fn of_tensor(question: Next, ty: &str) -> Next {
    match tensor(ty) {
        Some((shape, element)) => question.with("shape", shape).with("element", element),
        None => question.fill("shape", "the tensor's extents").fill("element", "its type"),
    }
}

/// Shape and element of a type such as `tensor<64x32xf16>`.
fn tensor(ty: &str) -> Option<(Vec<u64>, &str)> {
    let (extents, element) = ty.strip_prefix("tensor<")?.strip_suffix('>')?.rsplit_once('x')?;
    let shape = extents.split('x').map(|extent| extent.parse().ok()).collect::<Option<_>>()?;
    Some((shape, element))
}

pub(super) fn simulate(
    asked: &Map<String, Value>,
    _: &RunRequest,
    answer: &RunAnswer,
) -> Vec<Next> {
    let counts = &answer.counts;
    let why = if counts.shared_wavefronts > counts.ideal_shared_wavefronts {
        "which layouts meet in shared memory; ask `conflicts` about each pair"
    } else if counts.global_sectors > counts.ideal_global_sectors {
        "which access to global memory takes more sectors than its bytes need"
    } else {
        return Vec::new();
    };
    vec![Next::new("explain", why).same(asked, KERNEL).fill("ttir", SAME_TEXT)]
}
