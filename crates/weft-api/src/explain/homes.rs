//! Where values live, and why.

use super::Explained;
use crate::answer::{BuffersAnswer, HomeAnswer};
use weft::assign::{Buffers, Home, Judged, LayoutId, Reason};
use weft::id::IdMap;
use weft::tile::{Kernel, LocalOp, OpId, OpKind, Value};
use weft_layout::family::Family;

impl Explained<'_> {
    /// The home of each value that an operation defines; of memory, that of each allocation.
    pub(super) fn homes(&self) -> Vec<HomeAnswer> {
        let kernel = self.compiled.lowered();
        let assignment = &self.compiled.compiled.assignment;
        let mut makers = kernel.definitions();
        kernel.walk(&kernel.body, &mut |id, op| {
            for &param in op.regions.iter().flat_map(|region| &region.params) {
                makers.set(param, Some(id));
            }
        });
        let mut answers = Vec::new();
        for value in kernel.values.keys() {
            // What a pass has replaced is defined nowhere.
            let Some(maker) = makers[value] else { continue };
            match assignment.home(value) {
                Some(Home::Registers(layout)) => {
                    answers.push(self.in_registers(value, *layout, maker));
                }
                Some(Home::Shared(buffers))
                    if kernel.ops[maker].kind == OpKind::Local(LocalOp::Alloc) =>
                {
                    answers.push(self.in_shared(value, buffers, maker, &makers));
                }
                Some(Home::Shared(_)) | None => {}
            }
        }
        answers
    }

    fn in_registers(&self, value: Value, layout: LayoutId, maker: OpId) -> HomeAnswer {
        let kernel = self.compiled.lowered();
        let judged = self.review.and_then(|review| review.homes[value].as_ref());
        HomeAnswer {
            value: kernel.value_name(value),
            ty: kernel.ty(value).bare().to_string(),
            memory: "registers",
            layout: self.compiled.layout(layout),
            buffers: None,
            reason: self.reason(value, judged),
            next: judged.and_then(|judged| self.next(judged)),
            place: self.compiled.place(kernel.ops[maker].loc),
        }
    }

    fn in_shared(
        &self,
        value: Value,
        buffers: &Buffers,
        maker: OpId,
        makers: &IdMap<Value, Option<OpId>>,
    ) -> HomeAnswer {
        let kernel = self.compiled.lowered();
        let mut ty = kernel.ty(value).bare();
        let buffer = kernel.ty(value).tensor_extents();
        ty.shape = buffer.into();
        let Buffers { memory, layout, count, bytes, .. } = buffers;
        let swizzle_bytes = match &memory.family {
            Family::NvmmaShared(shared) => Some(shared.swizzling_byte_width),
            _ => None,
        };
        let attribute = memory.family.to_string();
        HomeAnswer {
            value: kernel.value_name(value),
            ty: ty.to_string(),
            memory: "shared memory",
            layout: layout.layout().to_string(),
            buffers: Some(BuffersAnswer { count: *count, bytes: *bytes, attribute, swizzle_bytes }),
            reason: self.use_of(value, makers),
            next: None,
            place: self.compiled.place(kernel.ops[maker].loc),
        }
    }

    fn reason(&self, value: Value, judged: Option<&Judged>) -> String {
        if self.compiled.pins.iter().any(|pin| pin.value == value) {
            return "pinned".into();
        }
        let Some(judged) = judged else { return "given by the text".into() };
        match &*self.told(&judged.agree) {
            [] => "everything together costs least so".into(),
            [one] => format!("as {one} runs"),
            [some @ .., last] => format!("as {} and {last} run", some.join(", ")),
        }
    }

    /// Who fills memory and who reads it; that the text says how it lies, where it does.
    fn use_of(&self, memory: Value, makers: &IdMap<Value, Option<OpId>>) -> String {
        if self.compiled.compiled.assignment.reason() == Reason::Given {
            return "given by the text".into();
        }
        let kernel = self.compiled.lowered();
        let (mut fill, mut read) = (Vec::new(), Vec::new());
        kernel.walk(&kernel.body, &mut |id, op| {
            let own = op.results.contains(&memory) && !op.operands.is_empty();
            let touches = |&value: &Value| is_view_of(kernel, makers, value, memory);
            if !own && !op.operands.iter().any(touches) {
                return;
            }
            let local = op.kind.effects().local;
            if local.writes || own {
                fill.push(id);
            } else if local.reads {
                read.push(id);
            }
        });
        let all = |operations: &[OpId]| {
            let told = self.told(operations);
            match &told[..] {
                [some @ .., last] if !some.is_empty() => format!("{} and {last}", some.join(", ")),
                told => told.concat(),
            }
        };
        match (all(&fill), all(&read)) {
            (fill, read) if read.is_empty() => format!("filled by {fill}"),
            (fill, read) => format!("filled by {fill}, read by {read}"),
        }
    }

    /// Operations as sentences name them, equal ones once.
    fn told(&self, operations: &[OpId]) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        for &id in operations {
            let op = &self.compiled.lowered().ops[id];
            let name = op.kind.name();
            let text = match self.compiled.place(op.loc) {
                Some(place) => format!("the {name} at {place}"),
                None => format!("the {name}"),
            };
            if !told.contains(&text) {
                told.push(text);
            }
        }
        told
    }
}

/// Whether a value is some memory, or made from it by operations that only describe it anew.
fn is_view_of(
    kernel: &Kernel,
    makers: &IdMap<Value, Option<OpId>>,
    value: Value,
    memory: Value,
) -> bool {
    let mut at = value;
    loop {
        if at == memory {
            return true;
        }
        let Some(op) = makers[at].map(|id| &kernel.ops[id]) else { return false };
        let is_view = kernel.ty(at).memory().is_some() && op.regions.is_empty();
        match op.operands.first().filter(|_| is_view) {
            Some(&whole) => at = whole,
            None => return false,
        }
    }
}
