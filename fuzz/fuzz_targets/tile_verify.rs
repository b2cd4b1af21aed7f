//! A random kernel that is then spoilt: verifying ends without a panic, and what is still accepted
//! is a kernel that compiles or is refused, runs, and prints to a text that reads as the same.

#![no_main]

#[path = "../../crates/weft/tests/it/mutated/bear.rs"]
mod bear;
mod random;

use libfuzzer_sys::arbitrary::{self, Arbitrary, Unstructured};
use weft::dtype::DType;
use weft::tile::{self, Element, Kernel, Module, OpId, Region, Value};

/// One way to spoil a kernel; numbers are taken modulo what there is.
#[derive(Arbitrary, Debug)]
enum Edit {
    Operand { op: u16, operand: u8, value: u16 },
    DropOperand { op: u16, operand: u8 },
    AddOperand { op: u16, value: u16 },
    DropResult { op: u16, result: u8 },
    AddResult { op: u16, value: u16 },
    Kind { op: u16, like: u16 },
    Element { value: u16, like: u16 },
    Extent { value: u16, dim: u8, log2: u8 },
    Reshape { value: u16, like: u16 },
    DropExtent { value: u16 },
    Drop { region: u8, index: u8 },
    Repeat { region: u8, index: u8, at: u8 },
    Swap { region: u8, one: u8, other: u8 },
    DropRegion { op: u16 },
    AddRegion { op: u16, like: u16 },
    Parameter { region: u8, value: u16 },
    Argument { value: u16 },
    Pointer { value: u16 },
}

/// The region with a number, in the order of the operations that own them.
fn region(kernel: &mut Kernel, number: u8) -> &mut Region {
    let owners: Vec<(OpId, usize)> = (kernel.ops.iter())
        .flat_map(|(id, op)| (0..op.regions.len()).map(move |index| (id, index)))
        .collect();
    match owners.get(usize::from(number) % (owners.len() + 1)) {
        Some(&(owner, index)) => &mut kernel.ops[owner].regions[index],
        None => &mut kernel.body,
    }
}

fn spoil(kernel: &mut Kernel, edit: &Edit) {
    let ops: Vec<OpId> = kernel.ops.keys().collect();
    let values: Vec<Value> = kernel.values.keys().collect();
    let op = |number: u16| ops[usize::from(number) % ops.len()];
    let value = |number: u16| values[usize::from(number) % values.len()];
    let within = |number: u8, count: usize| usize::from(number) % count.max(1);
    match *edit {
        Edit::Operand { op: at, operand, value: new } => {
            let operands = &mut kernel.ops[op(at)].operands;
            let index = within(operand, operands.len());
            if let Some(operand) = operands.get_mut(index) {
                *operand = value(new);
            }
        }
        Edit::DropOperand { op: at, operand } => {
            let operands = &mut kernel.ops[op(at)].operands;
            if !operands.is_empty() {
                operands.remove(within(operand, operands.len()));
            }
        }
        Edit::AddOperand { op: at, value: new } => kernel.ops[op(at)].operands.push(value(new)),
        Edit::DropResult { op: at, result } => {
            let results = &mut kernel.ops[op(at)].results;
            if !results.is_empty() {
                results.remove(within(result, results.len()));
            }
        }
        Edit::AddResult { op: at, value: new } => kernel.ops[op(at)].results.push(value(new)),
        Edit::Kind { op: at, like } => kernel.ops[op(at)].kind = kernel.ops[op(like)].kind.clone(),
        Edit::Element { value: at, like } => {
            kernel.values[value(at)].ty.element = kernel.values[value(like)].ty.element;
        }
        Edit::Extent { value: at, dim, log2 } => {
            let shape = &mut kernel.values[value(at)].ty.shape;
            let index = within(dim, shape.len());
            if let Some(extent) = shape.get_mut(index) {
                *extent = if log2 < 70 { 1_u64.checked_shl(log2.into()).unwrap_or(0) } else { 3 };
            }
        }
        Edit::Reshape { value: at, like } => {
            kernel.values[value(at)].ty.shape = kernel.values[value(like)].ty.shape.clone();
        }
        Edit::DropExtent { value: at } => drop(kernel.values[value(at)].ty.shape.pop()),
        Edit::Drop { region: at, index } => {
            let ops = &mut region(kernel, at).ops;
            if !ops.is_empty() {
                ops.remove(within(index, ops.len()));
            }
        }
        Edit::Repeat { region: at, index, at: to } => {
            let ops = &mut region(kernel, at).ops;
            if let Some(&again) = ops.get(within(index, ops.len())) {
                ops.insert(within(to, ops.len()), again);
            }
        }
        Edit::Swap { region: at, one, other } => {
            let ops = &mut region(kernel, at).ops;
            if !ops.is_empty() {
                let (one, other) = (within(one, ops.len()), within(other, ops.len()));
                ops.swap(one, other);
            }
        }
        Edit::DropRegion { op: at } => drop(kernel.ops[op(at)].regions.pop()),
        Edit::AddRegion { op: at, like } => {
            let regions = kernel.ops[op(like)].regions.clone();
            kernel.ops[op(at)].regions.extend(regions);
        }
        Edit::Parameter { region: at, value: new } => region(kernel, at).params.push(value(new)),
        Edit::Argument { value: new } => kernel.body.params.push(value(new)),
        Edit::Pointer { value: at } => {
            kernel.values[value(at)].ty.element = Element::Pointer(DType::F16);
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut input = Unstructured::new(bytes);
    let (Ok(choice), Ok(count)) = (u8::arbitrary(&mut input), input.int_in_range(0..=4)) else {
        return;
    };
    let edits: Vec<Edit> = (0..count).map_while(|_| Edit::arbitrary(&mut input).ok()).collect();
    let (mut kernel, args, memory) = random::kernel(input.take_rest());
    for edit in &edits {
        spoil(&mut kernel, edit);
    }
    if tile::verify(&kernel).is_err() {
        return;
    }
    let module = Module { kernels: vec![kernel.clone()], ..Module::default() };
    let text = module.to_string();
    let again = weft::ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    assert_eq!(again.to_string(), text);
    bear::bear(&module, &kernel, choice.into(), Some((args, memory)));
});
