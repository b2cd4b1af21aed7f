//! A program that also stores one of its values, to be looked at.

use super::{Element, Kernel, Op, OpId, OpKind, Param, Region, Type, Value, ValueData};
use crate::cache::Cache;
use crate::dtype::DType;
use crate::scalar::Binary;

/// The values that [`tap`] can store, with the operations that define them, in the program's order.
///
/// Not among them are addresses and memory, which differ from run to run, and what stands in the region
/// of a reduction or scan, where an operation is many.
pub fn tappable(kernel: &Kernel) -> Vec<(OpId, Value)> {
    let mut found = Vec::new();
    collect(kernel, &kernel.body, &mut found);
    found
}

fn collect(kernel: &Kernel, region: &Region, found: &mut Vec<(OpId, Value)>) {
    for &id in &region.ops {
        let op = &kernel.ops[id];
        if matches!(op.kind, OpKind::For(_) | OpKind::While | OpKind::If) {
            op.regions.iter().for_each(|inner| collect(kernel, inner, found));
        }
        let seen = |&&value: &&Value| {
            let ty = kernel.ty(value);
            matches!(ty.element, Element::Scalar(_)) && ty.memory().is_none()
        };
        found.extend(op.results.iter().filter(seen).map(|&value| (id, value)));
    }
}

/// The program with one more argument, a pointer, behind which each instance leaves the elements of a
/// value in row-major order: those of the instance at `(x, y, z)` begin at
/// `(x + grid.x * (y + grid.y * z)) * elements`. Of a value in a loop the last round's stay.
///
/// Operations and values keep their numbers; nothing where the value is not [`tappable`], or its type says
/// how it lies.
pub fn tap(kernel: &Kernel, value: Value, grid: [u32; 3]) -> Option<Kernel> {
    let (definition, _) = tappable(kernel).into_iter().find(|&(_, other)| other == value)?;
    let ty = kernel.ty(value).clone();
    if ty.encoding.is_some() {
        return None;
    }
    let mut kernel = kernel.clone();
    let pointer = kernel.values.push(ValueData::new(Type::pointer(ty.dtype()), None));
    kernel.params.push(Param { name: "tap".into(), divisibility: 16, pointer_range: 0 });
    kernel.body.params.push(pointer);
    let mut writer = Tail { behind: definition, ops: Vec::new(), kernel: &mut kernel };
    let place = writer.place(grid, ty.elements());
    let base = writer.value(OpKind::AddPtr, &[pointer, place], Type::pointer(ty.dtype()));
    let places = match ty.shape.len() {
        0 => base,
        _ => {
            let addresses = Type { element: Element::Pointer(ty.dtype()), ..ty.clone() };
            let offsets = writer.range(&ty);
            let bases = writer.value(OpKind::Splat, &[base], addresses.clone());
            writer.value(OpKind::AddPtr, &[bases, offsets], addresses)
        }
    };
    writer.push(OpKind::Store(Cache::default()), &[places, value], Vec::new());
    let ops = writer.ops;
    insert(&mut kernel, definition, &ops);
    Some(kernel)
}

/// Operations that will stand behind another one.
struct Tail<'k> {
    behind: OpId,
    ops: Vec<OpId>,
    kernel: &'k mut Kernel,
}

impl Tail<'_> {
    fn push(&mut self, kind: OpKind, operands: &[Value], results: Vec<Value>) {
        let Op { loc, span, .. } = self.kernel.ops[self.behind];
        let (operands, regions) = (operands.to_vec(), Vec::new());
        let op = Op { kind, operands, results, regions, loc, span, spelled: false };
        self.ops.push(self.kernel.ops.push(op));
    }

    fn value(&mut self, kind: OpKind, operands: &[Value], ty: Type) -> Value {
        let result = self.kernel.values.push(ValueData::new(ty, None));
        self.push(kind, operands, vec![result]);
        result
    }

    /// Where an instance's elements begin.
    fn place(&mut self, grid: [u32; 3], elements: u64) -> Value {
        let word = || Type::scalar(DType::I32);
        let [x, y, z] = [0, 1, 2].map(|axis| self.value(OpKind::ProgramId(axis), &[], word()));
        let [columns, rows, each] = [u64::from(grid[0]), u64::from(grid[1]), elements]
            .map(|count| self.value(OpKind::Constant(count), &[], word()));
        let mut binary = |op, x, y| self.value(OpKind::Binary(op), &[x, y], word());
        let mut row = binary(Binary::Mul, z, rows);
        row = binary(Binary::Add, row, y);
        row = binary(Binary::Mul, row, columns);
        row = binary(Binary::Add, row, x);
        binary(Binary::Mul, row, each)
    }

    /// The numbers of a tensor's elements.
    fn range(&mut self, ty: &Type) -> Value {
        let element = Element::Scalar(DType::I32);
        let count = ty.elements();
        let kind = OpKind::MakeRange { start: 0, end: count as i32 };
        let flat = self.value(kind, &[], Type::tensor(element, &[count]));
        match ty.shape.len() {
            1 => flat,
            _ => {
                let kind = OpKind::Reshape { allow_reorder: false };
                self.value(kind, &[flat], Type::tensor(element, &ty.shape))
            }
        }
    }
}

/// Puts operations behind another one, in its region.
fn insert(kernel: &mut Kernel, behind: OpId, ops: &[OpId]) {
    fn into(region: &mut Region, behind: OpId, ops: &[OpId]) {
        if let Some(at) = region.ops.iter().position(|&id| id == behind) {
            let rest = region.ops.split_off(at + 1);
            region.ops.extend(ops);
            region.ops.extend(rest);
        }
    }
    into(&mut kernel.body, behind, ops);
    for id in kernel.ops.keys().collect::<Vec<_>>() {
        kernel.ops[id].regions.iter_mut().for_each(|region| into(region, behind, ops));
    }
}
