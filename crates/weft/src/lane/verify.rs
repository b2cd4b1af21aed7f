//! The rules that every lane program keeps.
//!
//! * Every operand is defined before it is used, in the same region or one around it.
//! * Every value is defined once, and every operation stands in one place.
//! * Operand and result types are those of the operation; a type has the operation.
//! * An operation owns the regions that it takes. They end with the operation that it asks for, and hand over
//!   values of the right types; nothing hands values to the program's own.
//! * A `BreakIf` names a loop around it and hands over that loop's results.
//! * Pieces of shared memory are aligned and lie inside what the block asks for.
//! * Memory operations have an i64 address for global and an i32 address for shared memory, at most
//!   16 bytes an access, and a power-of-two number of elements of one type.
//! * Matrices are moved by warps of 32 lanes, in shared memory, as one of the forms of
//!   [`Matrix`](super::Matrix); they are multiplied in the forms of [`MatrixMultiply`], each by warps of its
//!   lanes, and by aligned groups of four warps of 32 lanes in those of [`WarpgroupMultiply`].
//! * Matrices with scales are multiplied in the forms of [`ScaledMultiply`], by warps of 64 lanes.
//! * Roles have warps of their own, in order, and stand in no other role; no barrier of the block stands in one, and
//!   a warpgroup's operations only in one of whole warpgroups. Named barriers are 1 to 15, of warps of the block.
//! * Tensor maps are legal ([`is_legal`](super::TensorMap::is_legal)) arguments that copies alone use, of an i64 each.
//! * What products in flight define is used as they allow ([`flight`]), and none is in flight at the end.

use super::effects::Participants;
use super::family::Family;
use super::flight;
use super::{
    Access, Form, Inst, InstData, Mbarrier, Op, Program, Region, Role, ScaledMultiply, Space,
    Value, WarpgroupMultiply,
};
use crate::dtype::DType;
use crate::id::{Id, IdMap};
use crate::scalar;

/// Checks a program; the error lists every broken rule, each with the operation it belongs to.
pub fn verify(program: &Program) -> Result<(), Vec<String>> {
    let mut verifier = Verifier {
        program,
        sight: IdMap::default(),
        stands: IdMap::default(),
        loops: Vec::new(),
        role: None,
        errors: Vec::new(),
    };
    if !program.body.params.is_empty() {
        verifier.errors.push("the program's region takes values, which nothing hands over".into());
    }
    verifier.region(&program.body, Ending::Return, &[]);
    verifier.pieces();
    verifier.maps();
    if verifier.errors.is_empty() {
        verifier.errors = flight::of(program).errors;
    }
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

/// What a region must end with.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Return,
    Continue,
    Yield,
}

/// Whether a value may be used at a place.
#[derive(Clone, Copy, PartialEq, Default)]
enum Sight {
    /// Its definition has not come yet.
    #[default]
    Ahead,
    /// It is defined in this region, or in one around.
    Here,
    /// It is defined in a region that is over.
    Past,
}

struct Verifier<'a> {
    program: &'a Program,
    sight: IdMap<Value, Sight>,
    /// The operations that the walk has come to.
    stands: IdMap<Inst, bool>,
    loops: Vec<Inst>,
    /// The role that the operations are part of.
    role: Option<Role>,
    errors: Vec<String>,
}

impl Verifier<'_> {
    fn error(&mut self, id: Inst, message: impl core::fmt::Display) {
        self.errors.push(format!("{id}: {message}"));
    }

    fn dtypes(&self, values: &[Value]) -> Vec<DType> {
        values
            .iter()
            .filter_map(|&value| self.program.values.get(value))
            .map(|data| data.dtype)
            .collect()
    }

    fn pieces(&mut self) {
        for (id, piece) in self.program.shared.iter() {
            let end = u64::from(piece.offset) + u64::from(piece.bytes);
            let aligned = piece.offset.is_multiple_of(piece.align.max(1));
            if !aligned || end > u64::from(self.program.shared_bytes) {
                self.errors.push(format!("{id} is misaligned, or ends outside of shared memory"));
            }
            let eight = |count: u32| count.is_multiple_of(Mbarrier::BYTES);
            if piece.mbarriers && !(eight(piece.bytes) && eight(piece.align)) {
                self.errors.push(format!("{id} holds mbarriers, which take eight bytes each"));
            }
        }
    }

    fn maps(&mut self) {
        for (&argument, map) in &self.program.maps {
            let param = self.program.params.get(argument as usize);
            if !map.is_legal() || param.is_none_or(|param| param.dtype != DType::I64) {
                self.errors.push(format!("argument {argument} is no legal tensor map"));
            }
        }
    }

    fn define(&mut self, value: Value) {
        if self.program.values.get(value).is_none() {
            self.errors.push(format!("{value} does not exist"));
        }
        if core::mem::replace(self.sight.entry(value), Sight::Here) != Sight::Ahead {
            self.errors.push(format!("{value} is defined twice"));
        }
    }

    fn region(&mut self, region: &Region, ending: Ending, hands_over: &[DType]) {
        let mut scope: Vec<Value> = region.params.clone();
        for &param in &region.params {
            self.define(param);
        }
        for (index, &id) in region.insts.iter().enumerate() {
            let program = self.program;
            let Some(inst) = program.insts.get(id) else {
                self.errors.push(format!("{id} does not exist"));
                continue;
            };
            if core::mem::replace(self.stands.entry(id), true) {
                self.error(id, "the operation stands in more than one place");
                return;
            }
            let last = index + 1 == region.insts.len();
            if inst.op.effects().is_terminator() != last {
                self.error(id, "a terminator stands last in its region, and only there");
            }
            if last {
                self.ending(id, inst, ending, hands_over);
            }
            for &operand in &inst.operands {
                let wrong = match self.sight[operand] {
                    Sight::Here => continue,
                    Sight::Ahead => "before it is defined",
                    Sight::Past => "outside of the region that defines it",
                };
                self.error(id, format_args!("{operand} is used {wrong}"));
                return;
            }
            self.inst(id, inst);
            for &result in &inst.results {
                self.define(result);
                scope.push(result);
            }
        }
        if region.insts.is_empty() {
            self.errors.push("a region is empty".into());
        }
        // What was defined here is not seen outside.
        for value in scope {
            self.sight.set(value, Sight::Past);
        }
    }

    fn ending(&mut self, id: Inst, inst: &InstData, ending: Ending, hands_over: &[DType]) {
        let right = match ending {
            Ending::Return => matches!(inst.op, Op::Return),
            Ending::Continue => matches!(inst.op, Op::Continue),
            Ending::Yield => matches!(inst.op, Op::Yield),
        };
        if !right {
            self.error(id, "the region ends with the wrong operation");
        } else if ending != Ending::Return && self.dtypes(&inst.operands) != hands_over {
            self.error(id, "the region hands over values of the wrong types");
        }
    }

    fn inst(&mut self, id: Inst, inst: &InstData) {
        let operands = self.dtypes(&inst.operands);
        let results = self.dtypes(&inst.results);
        self.role(id, inst);
        self.owned(id, inst);
        let well_typed = match &inst.op {
            Op::Const(bits) => {
                operands.is_empty() && matches!(results[..], [t] if bits & !t.mask() == 0)
            }
            Op::Param(index) => {
                let param = self.program.params.get(*index as usize);
                operands.is_empty()
                    && param.is_some_and(|param| results == [param.dtype])
                    && !self.program.maps.contains_key(index)
            }
            Op::Id(_) => operands.is_empty() && results == [DType::I32],
            Op::Linear { columns } => {
                operands == [DType::I32] && results == [DType::I32] && columns.len() <= 32
            }
            Op::Unary(op) => {
                matches!((&operands[..], &results[..]), ([x], [r]) if x == r && scalar::unary(*op, *x).is_some())
            }
            Op::Binary(op) => {
                matches!((&operands[..], &results[..]), ([x, y], [r]) if x == y && x == r && scalar::binary(*op, *x).is_some())
            }
            Op::Compare(op) => {
                matches!((&operands[..], &results[..]), ([x, y], [DType::I1]) if x == y && scalar::compare(*op, *x).is_some())
            }
            Op::Select => {
                matches!((&operands[..], &results[..]), ([DType::I1, x, y], [r]) if x == y && x == r)
            }
            Op::Cast(op) => {
                matches!((&operands[..], &results[..]), ([x], [r]) if scalar::cast_applies(*op, *x, *r))
            }
            Op::Fma => {
                matches!((&operands[..], &results[..]), ([x, y, z], [r])
                    if x == y && y == z && z == r && !x.is_f8())
            }
            Op::FmaToward(_) => {
                matches!((&operands[..], &results[..]), ([x @ (DType::F32 | DType::F64), y, z], [r]) if x == y && y == z && z == r)
            }
            Op::RoundPair(to) => {
                let pair = match to {
                    DType::F16 | DType::BF16 => Some(DType::I32),
                    to => to.is_f8().then_some(DType::I16),
                };
                operands == [DType::F32; 2] && pair.is_some_and(|pair| results == [pair])
            }
            Op::WidenPair(from) => {
                from.is_f8() && operands == [DType::I16] && results == [DType::I32]
            }
            Op::Bytes => operands == [DType::I32; 3] && results == [DType::I32],
            Op::Offset => operands == [DType::I64, DType::I32] && results == [DType::I64],
            Op::SharedBase(shared) => {
                operands.is_empty()
                    && results == [DType::I32]
                    && Id::index(*shared) < self.program.shared.len()
            }
            Op::Load { .. } | Op::Store { .. } => self.memory(inst),
            Op::ShuffleXor { mask } => {
                operands == results && operands.len() == 1 && mask >> self.program.lanes_log2 == 0
            }
            Op::ShuffleIndex => {
                matches!((&operands[..], &results[..]), ([x, DType::I32], [r]) if x == r)
            }
            Op::MatrixMultiply(op) => {
                op.is_typed(&operands, &results)
                    && self.program.lanes_log2 == op.fragments.lanes_log2()
            }
            Op::ScaledMultiply(op) => {
                op.is_typed(&operands, &results)
                    && self.program.lanes_log2 == ScaledMultiply::LANES_LOG2
            }
            Op::Warpgroup(op) => op.is_typed(&operands, &results) && op.fits(self.program),
            Op::Sync(op) => op.is_typed(&operands, &results) && op.fits(self.program.warps),
            Op::Atomic(op) => op.is_typed(&operands, &results),
            Op::AsyncCopy(op) => op.is_typed(&operands, &results),
            Op::Mbarrier(op) => op.is_typed(&operands, &results),
            Op::BulkCopy(op) => op.is_typed(&operands, &results),
            Op::TensorCopy(op) => {
                let map = self.program.maps.get(&op.map);
                op.is_typed(&operands, &results)
                    && map.is_some_and(|map| op.fits(map, operands.len()))
            }
            Op::MakeMap(op) => {
                let map = self.program.maps.get(&op.map);
                op.is_typed(&operands, &results) && map.is_some_and(|map| map.is_made_of(&operands))
            }
            Op::Print(format) => {
                let value = |(wide, float): (bool, bool)| match (wide, float) {
                    (_, true) => DType::F64,
                    (true, _) => DType::I64,
                    _ => DType::I32,
                };
                let wanted = [DType::I1].into_iter().chain(format.values().map(value));
                results.is_empty() && operands.iter().copied().eq(wanted)
            }
            Op::InlineAsm { .. } => {
                let word = |dtype: &DType| matches!(dtype, DType::I32 | DType::I64);
                operands.iter().chain(&results).all(word)
            }
            Op::Assert { .. } => operands == [DType::I1] && results.is_empty(),
            Op::If => self.if_(inst, &operands, &results),
            Op::Roles(roles) => self.roles(id, inst, roles) && operands.is_empty(),
            Op::Loop => self.loop_(id, inst, &operands),
            Op::BreakIf { target } => self.break_if(*target, &operands),
            Op::Continue | Op::Yield | Op::Return => results.is_empty(),
        };
        if !well_typed {
            let types = |dtypes: &[DType]| {
                dtypes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            let message = format!(
                "{:?} does not take ({}) and give ({})",
                inst.op,
                types(&operands),
                types(&results)
            );
            self.error(id, message);
        }
    }

    fn memory(&self, inst: &InstData) -> bool {
        let Some(roles) = inst.memory_operands() else { return false };
        let space = roles.space;
        let address = match space {
            Space::Global => DType::I64,
            Space::Shared => DType::I32,
        };
        let values = self.dtypes(roles.values);
        let results = self.dtypes(&inst.results);
        let moved = match inst.op {
            Op::Load { access, .. } => {
                if access.predicated && values != results
                    || !access.predicated && !values.is_empty()
                {
                    return false;
                }
                &results
            }
            _ => &values,
        };
        let bytes = moved.iter().map(|dtype| dtype.bytes()).sum();
        let formed = match inst.op {
            Op::Load { access, .. } => self.form(access, true, space, moved, bytes),
            Op::Store { access, .. } => self.form(access, false, space, moved, bytes),
            _ => true,
        };
        let predicate = roles.predicate.map(|predicate| self.program.dtype(predicate));
        let Some(&first) = moved.first() else { return false };
        self.program.dtype(roles.address) == address
            && predicate.is_none_or(|dtype| dtype == DType::I1)
            && first != DType::I1
            && moved.iter().all(|&dtype| dtype == first)
            && moved.len().is_power_of_two()
            && bytes <= super::MAX_ACCESS_BYTES
            && formed
    }

    fn form(&self, access: Access, loads: bool, space: Space, moved: &[DType], bytes: u32) -> bool {
        let Form::Matrix(matrix) = access.form else { return true };
        space == Space::Shared
            && !access.volatile
            && self.program.lanes_log2 == 5
            && moved.iter().all(|dtype| dtype.bytes() <= 4)
            && matrix.count(loads, bytes).is_some()
    }

    /// Whether an operation owns as many regions as it takes, and hands values over where they take some.
    fn owned(&mut self, id: Inst, inst: &InstData) {
        let (wanted, carries) = match &inst.op {
            Op::If => (2, false),
            Op::Loop => (1, true),
            Op::Roles(roles) => (roles.len(), false),
            _ => (0, false),
        };
        let count = inst.regions.len();
        if count != wanted {
            self.error(id, format_args!("its regions are {count}, and it takes {wanted}"));
        }
        if !carries && inst.regions.iter().any(|region| !region.params.is_empty()) {
            self.error(id, "a region of it takes values, which nothing hands over");
        }
    }

    fn if_(&mut self, inst: &InstData, operands: &[DType], results: &[DType]) -> bool {
        for region in &inst.regions {
            self.region(region, Ending::Yield, results);
        }
        operands == [DType::I1]
    }

    fn roles(&mut self, id: Inst, inst: &InstData, roles: &[Role]) -> bool {
        for error in Role::errors(roles, self.program) {
            self.error(id, error);
        }
        if self.role.is_some() {
            self.error(id, "roles stand in no other role");
        }
        // A loop around belongs to all warps.
        let loops = core::mem::take(&mut self.loops);
        for (&role, body) in roles.iter().zip(&inst.regions) {
            let around = self.role.replace(role);
            self.region(body, Ending::Yield, &[]);
            self.role = around;
        }
        self.loops = loops;
        inst.results.is_empty()
    }

    /// Whether the warps of the role around are those that an operation needs together.
    fn role(&mut self, id: Inst, inst: &InstData) {
        let Some(Role { first, warps, .. }) = self.role else { return };
        let whole = first.is_multiple_of(WarpgroupMultiply::WARPS)
            && warps.is_multiple_of(WarpgroupMultiply::WARPS);
        match inst.op.effects().convergent {
            Some(Participants::Block) => {
                self.error(
                    id,
                    "all warps of the block come to it together, and here is a role of some",
                );
            }
            Some(Participants::Warpgroup) if !whole => {
                self.error(id, "a warpgroup comes to it together, and the role has parts of one");
            }
            _ => {}
        }
    }

    fn loop_(&mut self, id: Inst, inst: &InstData, operands: &[DType]) -> bool {
        let Some(body) = inst.regions.first() else { return true };
        let carried = self.dtypes(&body.params);
        self.loops.push(id);
        self.region(body, Ending::Continue, &carried);
        self.loops.pop();
        carried == operands
    }

    fn break_if(&self, target: Inst, operands: &[DType]) -> bool {
        let Some((DType::I1, values)) = operands.split_first() else { return false };
        self.loops.contains(&target)
            && self
                .program
                .insts
                .get(target)
                .is_some_and(|owner| self.dtypes(&owner.results) == values)
    }
}
