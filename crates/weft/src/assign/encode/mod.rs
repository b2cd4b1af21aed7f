//! Homes as encodings: a tile program in which every tensor's type says where it lives.
//!
//! What the assignment decided is written into the program itself: values get their homes, what has none
//! is computed anew wherever somebody needs it in some layout, and what somebody needs in another
//! layout than its home is converted, once a region. The result is TTGIR in meaning and, printed, in
//! text; read back and compiled, it has the same homes.
//!
//! A layout has a name (a family), and one layout may have several. Triton infers the names of operands
//! and results of some operations from one another: what `expand_dims` takes is a slice of what it gives,
//! what a reduction leaves a slice of what it took, what is broadcast keeps its name, and the factors of a
//! product are operands of its result. Such names are given where the layouts agree; a value that is
//! asked for under another name of its layout is converted, which moves nothing.

mod places;

use self::places::{NamedLayout, NamedLayouts};
use super::{AssignError, Assignment, Block, LayoutId, Product};
use super::{is_elementwise, is_shape_op, operand_layout};
use crate::id::{IdMap, IdVec};
use crate::tile::{
    Encoding, Kernel, Launch, Op, OpId, OpKind, Region, ScaledDot, Type, Value, ValueData,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use weft_layout::Layout;
use weft_layout::family::{DotOperand, Family, Slice};
use weft_layout::machine::Isa;

/// The kernel with its homes as encodings, and what it says of its launch.
pub fn encode(
    kernel: &Kernel,
    assignment: &mut Assignment,
    block: Block<'_>,
) -> Result<(Kernel, Launch), AssignError> {
    let machine = block.machine;
    let target = match machine.isa {
        Isa::Ptx { capability } => format!("cuda:{capability}"),
        _ => format!("hip:{}", machine.name),
    };
    let launch =
        Launch { warps: Some(block.warps), lanes: Some(machine.lanes()), target: Some(target) };
    let result = Kernel {
        name: kernel.name.clone(),
        params: kernel.params.clone(),
        values: IdVec::new(),
        ops: IdVec::new(),
        body: Region::default(),
        loc: kernel.loc,
    };
    let mut encoder = Encoder {
        kernel,
        assignment,
        block,
        definitions: kernel.definitions(),
        places: NamedLayouts::default(),
        result,
        scopes: Vec::new(),
        lists: Vec::new(),
    };
    let body = encoder.region(&kernel.body, &[])?;
    encoder.result.body = body;
    Ok((encoder.result, launch))
}

/// What is known inside one open region.
#[derive(Default)]
struct Scope {
    /// Scalars, tokens and memory.
    plain: FxHashMap<Value, Value>,
    tensors: FxHashMap<(Value, NamedLayout), Value>,
}

struct Encoder<'a> {
    kernel: &'a Kernel,
    assignment: &'a mut Assignment,
    block: Block<'a>,
    definitions: IdMap<Value, Option<OpId>>,
    places: NamedLayouts,
    result: Kernel,
    scopes: Vec<Scope>,
    /// The operations of the open regions.
    lists: Vec<Vec<OpId>>,
}

impl Encoder<'_> {
    fn is_tensor(&self, value: Value) -> bool {
        self.kernel.ty(value).is_tensor()
    }

    // Types.

    /// A layout by its shortest name.
    fn place(&mut self, layout: LayoutId) -> Result<NamedLayout, AssignError> {
        self.places.shortest(&mut self.assignment.layouts, layout)
    }

    /// A layout by a name, if that is one of its names, else by its shortest.
    fn named(&mut self, layout: LayoutId, family: Family) -> Result<NamedLayout, AssignError> {
        self.places.named(&mut self.assignment.layouts, layout, family)
    }

    fn layout(&self, place: NamedLayout) -> &Layout {
        self.assignment.layouts.get(self.places.get(place).0)
    }

    fn family(&self, place: NamedLayout) -> Family {
        Family::clone(&self.places.get(place).1)
    }

    /// Where a value lives.
    fn home(&mut self, value: Value) -> Result<Option<NamedLayout>, AssignError> {
        self.assignment.registers(value).map(|home| self.place(home)).transpose()
    }

    fn typed(&self, ty: &Type, place: NamedLayout) -> Type {
        ty.bare().with_encoding(Encoding::Registers(Arc::clone(&self.places.get(place).1)))
    }

    // Operations.

    fn new_value(&mut self, like: Value, ty: Type) -> Value {
        let like = self.kernel.values[like].clone();
        self.result.values.push(ValueData { ty, ..like })
    }

    fn push(&mut self, like: &Op, kind: OpKind, operands: Vec<Value>, results: Vec<Value>) -> OpId {
        let (loc, span) = (like.loc, like.span);
        let id = self.result.ops.push(Op {
            kind,
            operands,
            results,
            regions: Vec::new(),
            loc,
            span,
            spelled: false,
        });
        if let Some(list) = self.lists.last_mut() {
            list.push(id);
        }
        id
    }

    /// An operation with one tensor as its result, in a layout.
    fn one(&mut self, like: &Op, operands: Vec<Value>, result: Value, place: NamedLayout) -> Value {
        let ty = self.typed(self.kernel.ty(result), place);
        let value = self.new_value(result, ty);
        self.push(like, like.kind.clone(), operands, vec![value]);
        value
    }

    // Values.

    fn bind(&mut self, value: Value, place: NamedLayout, new: Value) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.tensors.insert((value, place), new);
        }
    }

    fn bind_plain(&mut self, value: Value, new: Value) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.plain.insert(value, new);
        }
    }

    fn plain(&self, value: Value) -> Result<Value, AssignError> {
        let known = self.scopes.iter().rev().find_map(|scope| scope.plain.get(&value).copied());
        known.ok_or_else(|| AssignError::NotGiven { name: self.kernel.value_name(value) })
    }

    /// A tensor in a place: computed there if it has no home, converted if that is another one.
    fn get(&mut self, value: Value, place: NamedLayout) -> Result<Value, AssignError> {
        let known = |scope: &Scope| scope.tensors.get(&(value, place)).copied();
        if let Some(known) = self.scopes.iter().rev().find_map(known) {
            return Ok(known);
        }
        let new = match (self.home(value)?, self.definitions[value]) {
            (None, Some(id)) => {
                let op = &self.kernel.ops[id];
                self.compute(op, value, place)?
            }
            (Some(home), _) if home != place => {
                let source = self.get(value, home)?;
                let convert = self.conversion(value);
                self.one(&convert, vec![source], value, place)
            }
            // Every other value is known from where it is defined.
            _ => return Err(AssignError::NotGiven { name: self.kernel.value_name(value) }),
        };
        self.bind(value, place, new);
        Ok(new)
    }

    /// A conversion at the place of a value's definition.
    fn conversion(&self, value: Value) -> Op {
        let (loc, span) = match self.definitions[value] {
            Some(id) => (self.kernel.ops[id].loc, self.kernel.ops[id].span),
            None => (self.kernel.loc, crate::diagnostic::Span::default()),
        };
        Op {
            kind: OpKind::ConvertLayout,
            operands: Vec::new(),
            results: Vec::new(),
            regions: Vec::new(),
            loc,
            span,
            spelled: false,
        }
    }

    /// Operands: tensors in a place, others as they are.
    fn operands(
        &mut self,
        values: &[Value],
        place: NamedLayout,
    ) -> Result<Vec<Value>, AssignError> {
        values
            .iter()
            .map(
                |&value| {
                    if self.is_tensor(value) { self.get(value, place) } else { self.plain(value) }
                },
            )
            .collect()
    }

    /// The result of a pure operation in a place.
    fn compute(
        &mut self,
        op: &Op,
        result: Value,
        place: NamedLayout,
    ) -> Result<Value, AssignError> {
        match &op.kind {
            OpKind::ConvertLayout => self.get(op.operands[0], place),
            OpKind::Join => {
                let rank = self.kernel.ty(op.operands[0]).shape.len();
                let half = self.layout(place).slice(rank)?;
                let half = self.assignment.layouts.intern(half);
                let half = self.place(half)?;
                let operands = self.operands(&op.operands, half)?;
                Ok(self.one(op, operands, result, place))
            }
            OpKind::Split => {
                let joined = self.layout(place).join()?;
                let joined = self.assignment.layouts.intern(joined);
                let joined = self.place(joined)?;
                let operands = self.operands(&op.operands, joined)?;
                let mut halves = Vec::new();
                for &half in &op.results {
                    let ty = self.typed(self.kernel.ty(half), place);
                    halves.push(self.new_value(half, ty));
                }
                self.push(op, OpKind::Split, operands, halves.clone());
                let which = usize::from(op.results.first() != Some(&result));
                for (&half, &new) in op.results.iter().zip(&halves) {
                    self.bind(half, place, new);
                }
                Ok(halves[which])
            }
            kind if is_shape_op(kind) => {
                let operand = op.operands[0];
                let shape = self.kernel.ty(operand).shape.clone();
                let below = operand_layout(kind, self.layout(place), &shape)?;
                let below = self.assignment.layouts.intern(below);
                let below = match kind {
                    OpKind::ExpandDims { axis } => {
                        let parent = Box::new(self.family(place));
                        let slice = Slice { dim: usize::from(*axis), parent };
                        self.named(below, Family::Slice(slice))?
                    }
                    OpKind::Broadcast => self.named(below, self.family(place))?,
                    _ => self.place(below)?,
                };
                let operand = self.get(operand, below)?;
                Ok(self.one(op, vec![operand], result, place))
            }
            _ => {
                let operands = self.operands(&op.operands, place)?;
                Ok(self.one(op, operands, result, place))
            }
        }
    }

    /// A value where it lives, if it is a tensor, and as it is if not.
    fn at_home(&mut self, value: Value, place: Value) -> Result<Value, AssignError> {
        match self.home(place)? {
            Some(home) => self.get(value, home),
            None => self.plain(value),
        }
    }

    fn all_at_home(
        &mut self,
        values: &[Value],
        places: &[Value],
    ) -> Result<Vec<Value>, AssignError> {
        values.iter().zip(places).map(|(&value, &place)| self.at_home(value, place)).collect()
    }

    /// New values for what a region or an operation with regions defines, in their homes.
    fn define(&mut self, values: &[Value]) -> Result<Vec<Value>, AssignError> {
        let mut new = Vec::new();
        for &value in values {
            let ty = self.assignment.placed(self.kernel, value);
            new.push(match self.home(value)? {
                Some(home) => {
                    let ty = self.typed(&ty, home);
                    let new = self.new_value(value, ty);
                    self.bind(value, home, new);
                    new
                }
                None => {
                    let new = self.new_value(value, ty);
                    self.bind_plain(value, new);
                    new
                }
            });
        }
        Ok(new)
    }

    // Regions.

    /// A region; what its last operation hands over goes to the homes of `places`.
    fn region(&mut self, region: &Region, places: &[Value]) -> Result<Region, AssignError> {
        self.scopes.push(Scope::default());
        self.lists.push(Vec::new());
        let params = self.define(&region.params)?;
        for &id in &region.ops {
            let op = &self.kernel.ops[id];
            self.op(id, op, places)?;
        }
        self.scopes.pop();
        Ok(Region { params, ops: self.lists.pop().unwrap_or_default() })
    }

    fn op(&mut self, id: OpId, op: &Op, places: &[Value]) -> Result<(), AssignError> {
        for (value, layout) in self.assignment.ahead(id).to_vec() {
            let place = self.place(layout)?;
            self.get(value, place)?;
        }
        match &op.kind {
            OpKind::For(_) => {
                let carried = &op.regions[0].params[1..];
                let mut operands = Vec::new();
                for &bound in &op.operands[..3] {
                    operands.push(self.plain(bound)?);
                }
                operands.extend(self.all_at_home(&op.operands[3..], carried)?);
                self.nested(op, operands, &[carried])
            }
            OpKind::While => {
                let before = &op.regions[0].params;
                let operands = self.all_at_home(&op.operands, before)?;
                self.nested(op, operands, &[&op.results, before])
            }
            OpKind::If => {
                let operands = vec![self.plain(op.operands[0])?];
                self.nested(op, operands, &[&op.results, &op.results])
            }
            OpKind::Yield => {
                let operands = self.all_at_home(&op.operands, places)?;
                self.push(op, op.kind.clone(), operands, Vec::new());
                Ok(())
            }
            OpKind::Condition => {
                let mut operands = vec![self.plain(op.operands[0])?];
                operands.extend(self.all_at_home(&op.operands[1..], places)?);
                self.push(op, op.kind.clone(), operands, Vec::new());
                Ok(())
            }
            OpKind::Reduce { .. } => self.reduce(id, op),
            OpKind::Dot(_) => self.dot(id, op),
            OpKind::DotScaled(scaled) => self.dot_scaled(id, op, *scaled),
            OpKind::WarpgroupDot(_) => self.warpgroup_dot(id, op),
            OpKind::Scan { .. } | OpKind::Gather { .. } | OpKind::Histogram => self.indexed(id, op),
            kind if kind.by_pointers().is_some() => self.access(id, op),
            _ => self.simple(op),
        }
    }

    /// An operation with regions, each with the places of what it hands over.
    fn nested(
        &mut self,
        op: &Op,
        operands: Vec<Value>,
        places: &[&[Value]],
    ) -> Result<(), AssignError> {
        // Its values are numbered before those of its regions, as a reader does.
        let results = self.define(&op.results)?;
        let new = self.push(op, op.kind.clone(), operands, results);
        for (region, places) in op.regions.iter().zip(places) {
            let region = self.region(region, places)?;
            self.result.ops[new].regions.push(region);
        }
        Ok(())
    }

    /// Memory operations run in one layout.
    fn access(&mut self, id: OpId, op: &Op) -> Result<(), AssignError> {
        if !self.is_tensor(op.operands[0]) {
            return self.simple(op);
        }
        let place = self.runs_in(id, op.operands[0])?;
        let operands = self.operands(&op.operands, place)?;
        let results = self.folded(op, place);
        self.push(op, op.kind.clone(), operands, results);
        self.settle(op, place)
    }

    /// Moves results from where they were computed to their homes, where what comes after looks for
    /// them.
    fn settle(&mut self, op: &Op, place: NamedLayout) -> Result<(), AssignError> {
        for &result in op.results.iter().filter(|&&result| self.kernel.ty(result).is_tensor()) {
            let Some(home) = self.home(result)? else { continue };
            if home != place {
                let source = self.get(result, place)?;
                let convert = self.conversion(result);
                let new = self.one(&convert, vec![source], result, home);
                self.bind(result, home, new);
            }
        }
        Ok(())
    }

    fn reduce(&mut self, id: OpId, op: &Op) -> Result<(), AssignError> {
        let OpKind::Reduce { axis, .. } = op.kind else { return Ok(()) };
        let from = self.runs_in(id, op.operands[0])?;
        let operands = self.operands(&op.operands, from)?;
        let axis = usize::from(axis);
        let sliced = self.layout(from).slice(axis)?;
        let sliced = self.assignment.layouts.intern(sliced);
        // A scalar has no place; any name will do.
        let scalar = self.kernel.ty(op.operands[0]).shape.len() == 1;
        let parent = Box::new(self.family(from));
        let sliced = if scalar {
            from
        } else {
            self.named(sliced, Family::Slice(Slice { dim: axis, parent }))?
        };
        let results = self.folded(op, sliced);
        let new = self.push(op, op.kind.clone(), operands, results);
        self.folding(op, new)?;
        self.settle(op, sliced)
    }

    /// The regions of an operation that folds: on scalars.
    fn folding(&mut self, op: &Op, new: OpId) -> Result<(), AssignError> {
        for region in &op.regions {
            let last = region.ops.last();
            let handed = last.map_or(&[][..], |&last| &self.kernel.ops[last].operands);
            let region = self.region(region, handed)?;
            self.result.ops[new].regions.push(region);
        }
        Ok(())
    }

    /// New results of an operation: tensors in a place.
    fn folded(&mut self, op: &Op, place: NamedLayout) -> Vec<Value> {
        let mut results = Vec::new();
        for &result in &op.results {
            let ty = self.assignment.placed(self.kernel, result);
            let new = if ty.is_tensor() {
                let ty = self.typed(&ty, place);
                let new = self.new_value(result, ty);
                self.bind(result, place, new);
                new
            } else {
                let new = self.new_value(result, ty);
                self.bind_plain(result, new);
                new
            };
            results.push(new);
        }
        results
    }

    /// The factors of a product lie where its instruction takes them, or follow from the layout that it
    /// runs in: each lies where it is summed.
    fn dot(&mut self, id: OpId, op: &Op) -> Result<(), AssignError> {
        let [a, b, c] = [0, 1, 2].map(|index| op.operands[index]);
        let result = op.results[0];
        let matrix = match self.assignment.product(id) {
            Product::Matrix(matrix) => Some(matrix.clone()),
            Product::Multiply | Product::Warpgroup(_) => None,
        };
        let home = match &matrix {
            Some(matrix) => self.place(matrix.accumulator)?,
            None => self.runs_in(id, result)?,
        };
        let rank = self.kernel.ty(result).shape.len();
        let mut operands = Vec::new();
        for (side, (value, other)) in [(a, rank - 1), (b, rank - 2)].into_iter().enumerate() {
            let shape = self.kernel.ty(value).shape.clone();
            let parent = self.family(home);
            let k_width = matrix.as_ref().map_or(0, |matrix| matrix.together());
            let factor =
                DotOperand { operand: side as u32, parent: Box::new(parent.clone()), k_width };
            let place = match (&matrix, parent, factor.layout(&shape)) {
                (Some(matrix), _, _) => {
                    let layout = if side == 0 { matrix.left } else { matrix.right };
                    self.named(layout, Family::DotOperand(factor))?
                }
                (None, Family::Blocked(_), Ok(layout)) => {
                    let layout = self.assignment.layouts.intern(layout);
                    self.named(layout, Family::DotOperand(factor))?
                }
                _ => {
                    let layout = self.layout(home).slice(other)?;
                    let wanted = layout.expand_dims(other)?.broadcast(&shape)?;
                    let wanted = self.assignment.layouts.intern(wanted);
                    self.place(wanted)?
                }
            };
            operands.push(self.get(value, place)?);
        }
        operands.push(self.get(c, home)?);
        let results = self.folded(op, home);
        self.push(op, op.kind.clone(), operands, results);
        self.settle(op, home)
    }

    /// The factors of a product with scales lie where its instruction takes them, and so do the scales.
    fn dot_scaled(&mut self, id: OpId, op: &Op, scaled: ScaledDot) -> Result<(), AssignError> {
        /// How many bytes of a factor a thread has together.
        const TOGETHER: u32 = 16;
        let Product::Matrix(matrix) = self.assignment.product(id).clone() else {
            return self.simple(op);
        };
        let Some(parts) = scaled.operands(&op.operands) else { return self.simple(op) };
        let home = self.place(matrix.accumulator)?;
        let mut operands = Vec::new();
        for (side, layout) in [matrix.left, matrix.right].into_iter().enumerate() {
            let parent = Box::new(self.family(home));
            let factor = DotOperand { operand: side as u32, parent, k_width: TOGETHER };
            let place = self.named(layout, Family::DotOperand(factor))?;
            operands.push(self.get(parts.factors[side], place)?);
            if let Some((scale, layout)) = parts.scales[side].zip(matrix.scales[side]) {
                let place = self.place(layout)?;
                operands.push(self.get(scale, place)?);
            }
        }
        operands.push(self.get(parts.sum, home)?);
        let results = self.folded(op, home);
        self.push(op, op.kind.clone(), operands, results);
        self.settle(op, home)
    }

    /// A product of warpgroups takes its factors in memory, the left one maybe in the registers of its
    /// instruction.
    fn warpgroup_dot(&mut self, id: OpId, op: &Op) -> Result<(), AssignError> {
        let [a, b, c] = [0, 1, 2].map(|index| op.operands[index]);
        let home = self.runs_in(id, op.results[0])?;
        let left = match self.assignment.product(id).factor(0) {
            Some(left) => {
                let parent = Box::new(self.family(home));
                let k_width = 4 / self.kernel.ty(a).dtype().bytes().max(1);
                let place = self
                    .named(left, Family::DotOperand(DotOperand { operand: 0, parent, k_width }))?;
                self.get(a, place)?
            }
            None => self.plain(a)?,
        };
        let mut operands = vec![left, self.plain(b)?, self.get(c, home)?];
        for &keep in &op.operands[3..] {
            operands.push(self.plain(keep)?);
        }
        let results = self.folded(op, home);
        self.push(op, op.kind.clone(), operands, results);
        self.settle(op, home)
    }

    /// A scan keeps its layout. A gather takes its indices where it leaves what it finds; a histogram leaves
    /// its counts at home.
    fn indexed(&mut self, id: OpId, op: &Op) -> Result<(), AssignError> {
        let result = op.results[0];
        let (home, source) = match op.kind {
            OpKind::Histogram => (self.anywhere(result)?, self.runs_in(id, op.operands[0])?),
            _ => {
                let source = match self.assignment.source_in(id) {
                    Some(source) => self.place(source)?,
                    None => self.anywhere(op.operands[0])?,
                };
                (self.runs_in(id, result)?, source)
            }
        };
        let mut operands = Vec::new();
        for (index, &operand) in op.operands.iter().enumerate() {
            let place = match op.kind {
                OpKind::Scan { .. } => home,
                OpKind::Gather { .. } if index > 0 => home,
                _ => source,
            };
            operands.push(self.get(operand, place)?);
        }
        let results = self.folded(op, home);
        let new = self.push(op, op.kind.clone(), operands, results);
        self.folding(op, new)?;
        self.settle(op, home)
    }

    /// What has no regions, and is no access to global memory.
    fn simple(&mut self, op: &Op) -> Result<(), AssignError> {
        let made = is_elementwise(&op.kind)
            || is_shape_op(&op.kind)
            || matches!(
                op.kind,
                OpKind::Constant(_)
                    | OpKind::Poison
                    | OpKind::MakeRange { .. }
                    | OpKind::Splat
                    | OpKind::Join
                    | OpKind::Split
                    | OpKind::ConvertLayout
            );
        let tensors = op.results.iter().any(|&result| self.is_tensor(result));
        if made && tensors {
            // What has no home waits until somebody asks.
            for &result in &op.results {
                if let Some(home) = self.home(result)? {
                    let known = |scope: &Scope| scope.tensors.contains_key(&(result, home));
                    if !self.scopes.iter().any(known) {
                        let new = self.compute(op, result, home)?;
                        self.bind(result, home, new);
                    }
                }
            }
            return Ok(());
        }
        // What gives tensors takes others of their shape where it leaves them.
        let first = op.results.iter().copied().find(|&result| self.is_tensor(result));
        let place = first.map(|result| self.anywhere(result)).transpose()?;
        let shape = first.map(|result| self.kernel.ty(result).shape.clone());
        let mut operands = Vec::new();
        for &operand in &op.operands {
            if !self.is_tensor(operand) {
                operands.push(self.plain(operand)?);
                continue;
            }
            let with_result = shape.as_ref() == Some(&self.kernel.ty(operand).shape);
            let own = match place.filter(|_| with_result) {
                Some(place) => place,
                None => self.anywhere(operand)?,
            };
            operands.push(self.get(operand, own)?);
        }
        let Some(place) = place else {
            let mut results = Vec::new();
            for &result in &op.results {
                let ty = self.assignment.placed(self.kernel, result);
                let new = self.new_value(result, ty);
                self.bind_plain(result, new);
                results.push(new);
            }
            self.push(op, op.kind.clone(), operands, results);
            return Ok(());
        };
        let results = self.folded(op, place);
        self.push(op, op.kind.clone(), operands, results);
        self.settle(op, place)
    }

    /// The place in which an operation runs: the one that was chosen, else where a tensor of it lives.
    fn runs_in(&mut self, op: OpId, value: Value) -> Result<NamedLayout, AssignError> {
        match self.assignment.runs_in(op) {
            Some(place) => self.place(place),
            None => self.anywhere(value),
        }
    }

    fn anywhere(&mut self, value: Value) -> Result<NamedLayout, AssignError> {
        let (kernel, definitions) = (self.kernel, &self.definitions);
        let layout = self.assignment.anywhere(kernel, definitions, self.block, value)?;
        self.place(layout)
    }
}
