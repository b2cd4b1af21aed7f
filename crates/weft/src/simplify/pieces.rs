//! Which piece of shared memory an access touches.

use crate::dtype::DType;
use crate::id::IdMap;
use crate::lane::effects::{Extent, Step, Tokens};
use crate::lane::{InstData, Op, Program, Region, Shared, Space, Value};
use crate::scalar::Binary;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The pieces behind addresses, as far as the operations that make them tell.
pub(super) struct Pieces {
    of: IdMap<Value, Option<Shared>>,
    all: Vec<Shared>,
    /// Those that outlive a movement: what an operation without an address may touch.
    allocated: Vec<Shared>,
    /// What asynchronous copies write: a wait may end there.
    copied: Vec<Shared>,
    /// What products read by the descriptors of their factors.
    described: Vec<Shared>,
    /// What each of them reads, by its first result.
    products: IdMap<Value, Option<Vec<Shared>>>,
    /// For each piece with mbarriers itself and what copies write that these count; none where a copy's mbarrier
    /// is not seen.
    landing: Option<BTreeMap<Shared, Vec<Shared>>>,
    /// What copies into a piece that an mbarrier in another counts touch: both.
    filling: FxHashMap<[Shared; 2], [Shared; 2]>,
    /// What bulk copies read: a wait for them may end there. None where it is not seen what one reads.
    emptied: Option<Vec<Shared>>,
}

impl Pieces {
    /// Follows every address from the piece that it starts in.
    pub(super) fn of(program: &Program) -> Self {
        let mut of: IdMap<Value, Option<Shared>> = IdMap::default();
        program.walk(&program.body, &mut |_, inst| {
            let piece = match inst.op {
                Op::SharedBase(shared) => Some(shared),
                Op::Binary(Binary::Add | Binary::Xor | Binary::Or) => {
                    inst.operands.iter().find_map(|&operand| of[operand])
                }
                _ => None,
            };
            if let (Some(piece), &[result]) = (piece, &inst.results[..]) {
                of.set(result, Some(piece));
            }
        });
        let all: Vec<Shared> = program.shared.keys().collect();
        let allocated =
            all.iter().copied().filter(|&piece| !program.shared[piece].scratch).collect();
        let (copied, described, products) = (Vec::new(), Vec::new(), IdMap::default());
        let (landing, filling, emptied) = (None, FxHashMap::default(), None);
        let mut pieces =
            Self { of, all, allocated, copied, described, products, landing, filling, emptied };
        let mut copied = Vec::new();
        program.walk(&program.body, &mut |_, inst| {
            if inst.op.effects().tokens == Tokens::Starts {
                copied.extend_from_slice(pieces.touched(inst));
            }
        });
        copied.sort_unstable();
        copied.dedup();
        pieces.copied = copied;
        pieces.find_filling(program);
        pieces.find_emptied(program);
        pieces.find_described(program);
        pieces
    }

    /// The pieces that asynchronous copies write.
    pub(super) fn copied(&self) -> &[Shared] {
        &self.copied
    }

    /// The pieces that an operation may touch: none where it does not access shared memory, all of
    /// them where its address tells nothing.
    pub(super) fn touched(&self, inst: &InstData) -> &[Shared] {
        let effects = inst.op.effects();
        if !(effects.reads | effects.writes).has(Space::Shared) {
            return &[];
        }
        match effects.extent {
            Extent::InFlight => &self.copied,
            Extent::Described => {
                let own = inst.results.first().and_then(|&result| self.products[result].as_ref());
                own.unwrap_or(&self.described)
            }
            Extent::Anywhere if empties(inst) => {
                match inst.operands.first().map(|&at| &self.of[at]) {
                    Some(Some(piece)) => core::slice::from_ref(piece),
                    Some(None) => &self.allocated,
                    None => self.emptied.as_ref().unwrap_or(&self.allocated),
                }
            }
            Extent::Anywhere => {
                let filling = fills(inst).then(|| self.filling.get(&self.filling(inst)?)).flatten();
                let landing = || self.landing.as_ref()?.get(&self.piece(inst.operands.first())?);
                match filling {
                    Some(both) => both,
                    None => landing().map_or(&self.allocated, Vec::as_slice),
                }
            }
            Extent::Addressed => match inst.operands.first().map(|&address| &self.of[address]) {
                Some(Some(piece)) => core::slice::from_ref(piece),
                _ => &self.all,
            },
        }
    }

    /// The piece that an operand is an address in, if it is seen.
    fn piece(&self, address: Option<&Value>) -> Option<Shared> {
        address.and_then(|&address| self.of[address])
    }

    /// What a copy fills, its first operand, and where the mbarrier is that counts it, its last one.
    fn filling(&self, inst: &InstData) -> Option<[Shared; 2]> {
        self.piece(inst.operands.first()).zip(self.piece(inst.operands.last())).map(<[_; 2]>::from)
    }

    /// Finds what copies fill, and what a wait at an mbarrier may then see written.
    fn find_filling(&mut self, program: &Program) {
        let mut landing: BTreeMap<Shared, Vec<Shared>> = BTreeMap::new();
        for (piece, _) in program.shared.iter().filter(|(_, data)| data.mbarriers) {
            landing.insert(piece, vec![piece]);
        }
        let mut seen = true;
        program.walk(&program.body, &mut |_, inst| {
            if fills(inst) {
                match self.filling(inst) {
                    Some(both @ [filled, mbarrier]) => {
                        self.filling.insert(both, both);
                        landing.entry(mbarrier).or_default().push(filled);
                    }
                    None => seen = false,
                }
            }
        });
        for landed in landing.values_mut() {
            landed.sort_unstable();
            landed.dedup();
        }
        self.landing = seen.then_some(landing);
    }

    /// Finds what bulk copies read.
    fn find_emptied(&mut self, program: &Program) {
        let mut emptied = Some(Vec::new());
        program.walk(&program.body, &mut |_, inst| {
            if empties(inst) && !inst.operands.is_empty() {
                let piece = self.piece(inst.operands.first());
                emptied = emptied.take().and_then(|mut pieces| {
                    pieces.push(piece?);
                    Some(pieces)
                });
            }
        });
        if let Some(emptied) = &mut emptied {
            emptied.sort_unstable();
            emptied.dedup();
        }
        self.emptied = emptied;
    }

    /// The one piece that an operation touches at its address, if it is known to be one.
    pub(super) fn addressed(&self, inst: &InstData) -> Option<Shared> {
        match self.touched(inst) {
            &[piece] if inst.op.effects().addresses_shared() => Some(piece),
            _ => None,
        }
    }

    /// Follows the descriptors of products back to the pieces that they come from; a product with one from
    /// no piece that is seen may read any.
    fn find_described(&mut self, program: &Program) {
        let mut sources = None;
        let mut described = Vec::new();
        program.walk(&program.body, &mut |_, inst| {
            if inst.op.effects().tokens != Tokens::Products(Step::Starts) {
                return;
            }
            let sources = sources.get_or_insert_with(|| Sources::of(program));
            let wide = |value: &&Value| program.dtype(**value) == DType::I64;
            let mut own = Vec::new();
            for &descriptor in inst.operands.iter().filter(wide) {
                let pieces = sources.pieces(descriptor);
                own.extend(if pieces.is_empty() { self.all.clone() } else { pieces });
            }
            own.sort_unstable();
            own.dedup();
            described.extend_from_slice(&own);
            if let Some(&result) = inst.results.first() {
                self.products.set(result, Some(own));
            }
        });
        described.sort_unstable();
        described.dedup();
        self.described = described;
    }
}

/// Whether an operation begins a copy to shared memory that an mbarrier counts.
pub(super) fn fills(inst: &InstData) -> bool {
    let effects = inst.op.effects();
    effects.tokens == Tokens::Bulk(Step::Starts) && effects.writes.has(Space::Shared)
}

/// Whether an operation begins a copy from shared memory, of which it has the address, or waits for such copies.
pub(super) fn empties(inst: &InstData) -> bool {
    let effects = inst.op.effects();
    let is_step = matches!(effects.tokens, Tokens::Bulk(Step::Starts | Step::Awaits { .. }));
    is_step && effects.reads.has(Space::Shared) && !effects.writes.has(Space::Shared)
}

/// What each value is made from, through loops and branches.
struct Sources {
    of: IdMap<Value, Vec<Value>>,
    bases: IdMap<Value, Option<Shared>>,
}

impl Sources {
    fn of(program: &Program) -> Self {
        let mut sources = Self { of: IdMap::default(), bases: IdMap::default() };
        program.walk(&program.body, &mut |_, inst| {
            let handed = |region: &Region| {
                region.insts.last().map_or(&[][..], |&last| &program.insts[last].operands[..])
            };
            match inst.op {
                Op::SharedBase(piece) => sources.bases.set(inst.results[0], Some(piece)),
                Op::If => {
                    for region in &inst.regions {
                        sources.flow(&inst.results, handed(region));
                    }
                }
                Op::Loop => {
                    for region in &inst.regions {
                        sources.flow(&region.params, &inst.operands);
                        sources.flow(&region.params, handed(region));
                    }
                }
                Op::BreakIf { target } => {
                    let values = inst.operands.get(1..).unwrap_or(&[]);
                    sources.flow(&program.insts[target].results, values);
                }
                _ => {
                    for &result in &inst.results {
                        sources.of.entry(result).extend_from_slice(&inst.operands);
                    }
                }
            }
        });
        sources
    }

    fn flow(&mut self, into: &[Value], from: &[Value]) {
        for (&into, &from) in into.iter().zip(from) {
            self.of.entry(into).push(from);
        }
    }

    /// The pieces whose addresses a value is made from.
    fn pieces(&self, value: Value) -> Vec<Shared> {
        let mut seen: IdMap<Value, bool> = IdMap::default();
        let (mut found, mut waiting) = (Vec::new(), vec![value]);
        while let Some(value) = waiting.pop() {
            if core::mem::replace(seen.entry(value), true) {
                continue;
            }
            found.extend(self.bases[value]);
            waiting.extend_from_slice(&self.of[value]);
        }
        found
    }
}
