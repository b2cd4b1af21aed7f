//! A kernel on another machine.

use crate::answer::{
    FragmentAnswer, MovementAnswer, PortedConversion, PortedInstruction, PortedKernel,
    PortedProduct, PortedShared, PortedValues, SharedAnswer, SwizzleAnswer,
};
use crate::budget;
use crate::error::ApiError;
use crate::explain;
use crate::kernels::{self, CompiledKernel};
use crate::occupancy;
use crate::reading::{in_waves_of, read};
use crate::request::{CompileRequest, EmitPort, PortRequest, Target};
use crate::swizzles;
use weft::assign::Product;
use weft::compile::{Scratch, TensorMaps};
use weft::emit::Language;
use weft::tile::Value;
use weft::ttir::Places;
use weft::unplace;
use weft_layout::access::{self, Kind, Memory};
use weft_layout::machine::{MatrixMultiply, Part};
use weft_layout::plan::swizzle::Access;
use weft_layout::step::Strategy;
use weft_layout::{Layout, Machine, family, interop, plan};

/// What a kernel becomes, and the text that was asked for.
pub(super) fn port(
    request: &PortRequest,
    text: &str,
    from: &Machine,
    target: &Machine,
) -> Result<(PortedKernel, Option<String>), ApiError> {
    let mut module = kernels::read(text, Places::Source)?;
    let index = kernels::choose(&module, request.kernel.as_deref())?;
    module.kernels = vec![module.kernels[index].clone()];
    let mut free = unplace::run(&module, &module.kernels[0]).unwrap_or_else(|| module.clone());
    let before = CompiledKernel::of(
        module,
        Places::Source,
        &asked(request.from.clone(), None),
        (TensorMaps::None, Scratch::None),
    )?;
    // As many threads, in waves of the other width.
    let threads = u64::from(before.warps) << from.lanes_log2;
    let warps = u32::try_from(threads >> target.lanes_log2).unwrap_or(1).max(1);
    free.launch.warps = Some(request.warps.unwrap_or(warps));
    let wanted = request.target.clone().unwrap_or_else(|| super::DEFAULT_PORT.into());
    let asked = asked(wanted, free.launch.warps);
    let now = CompiledKernel::of(free, Places::Source, &asked, (TensorMaps::None, Scratch::None))?;
    let code = match request.emit {
        Some(EmitPort::Hip) => Some(now.text(Language::Hip)?),
        Some(EmitPort::Tile) => Some(now.module.to_string()),
        Some(EmitPort::Ttgir) => Some(now.ttgir()?),
        Some(EmitPort::Report) | None => None,
    };
    let both = Both { before: &before, now: &now, target };
    let ported = PortedKernel {
        name: now.kernel().name.clone(),
        warps: [before.warps, now.warps],
        shared_bytes: [&before, &now].map(|one| one.program().shared_bytes),
        occupancy: [&before, &now].map(|one| occupancy::occupancy(&one.machine, one.program())),
        values: both.values()?,
        products: both.products(),
        shared: both.shared(),
        conversions: both.conversions()?,
    };
    Ok((ported, code))
}

/// The question that compiles a kernel which has been read.
fn asked(target: Target, warps: Option<u32>) -> CompileRequest {
    CompileRequest {
        ttir: String::new(),
        kernel: None,
        target,
        warps,
        emit: Vec::new(),
        stages: None,
        fp_fusion: None,
        pins: Vec::new(),
        dump_after: None,
        max_registers: None,
        line_info: false,
        text_places: false,
    }
}

/// A kernel as it is compiled for both machines, from one program.
struct Both<'a> {
    before: &'a CompiledKernel,
    now: &'a CompiledKernel,
    target: &'a Machine,
}

/// The layout of a value in a compiled kernel, where registers hold it.
fn home(compiled: &CompiledKernel, value: Value) -> Option<&Layout> {
    let assignment = &compiled.compiled.assignment;
    let home = assignment.registers(value).or_else(|| assignment.given(value))?;
    Some(assignment.layouts.get(home))
}

/// The shortest of Triton's names that is no list of bases.
fn name(layout: &Layout) -> Option<String> {
    let names = family::names(layout).into_iter().map(|family| family.to_string());
    let is_list = |name: &String| name.contains("linear<{register");
    names.into_iter().find(|name| !is_list(name))
}

impl Both<'_> {
    /// The same value before. The passes that make ready for a machine only add values.
    fn same(&self, value: Value) -> bool {
        let [before, now] = [self.before, self.now].map(CompiledKernel::lowered);
        let other = before.values.keys().any(|other| other == value);
        other
            && before.value_name(value) == now.value_name(value)
            && before.ty(value).bare() == now.ty(value).bare()
    }

    fn values(&self) -> Result<Vec<PortedValues>, ApiError> {
        let kernel = self.now.lowered();
        let mut groups: Vec<PortedValues> = Vec::new();
        for value in kernel.values.keys().filter(|&value| kernel.ty(value).is_tensor()) {
            let Some(to) = home(self.now, value) else { continue };
            let from = if self.same(value) { home(self.before, value) } else { None };
            let ty = kernel.ty(value).bare().to_string();
            let texts = (from.map(ToString::to_string), to.to_string());
            let known = groups
                .iter_mut()
                .find(|group| group.ty == ty && group.from == texts.0 && group.to == texts.1);
            if let Some(group) = known {
                group.values.push(kernel.value_name(value));
                continue;
            }
            let bits = kernel.ty(value).dtype().bits().next_power_of_two().max(8);
            groups.push(PortedValues {
                values: vec![kernel.value_name(value)],
                ty,
                from_name: from.and_then(name),
                to_name: name(to),
                change: from.and_then(|from| self.change(from, to, bits)),
                from: texts.0,
                to: texts.1,
            });
            budget::check()?;
        }
        Ok(groups)
    }

    /// How one gets from a layout, its threads cut into waves, to another.
    fn change(&self, from: &Layout, to: &Layout, bits: u32) -> Option<String> {
        let from = in_waves_of("ttir", from, self.target).ok()?;
        let plan = plan::conversions(&from, to, bits, self.target).ok()?;
        Some(plan.best.strategy.to_string())
    }

    fn products(&self) -> Vec<PortedProduct> {
        let kernel = self.now.lowered();
        let mut answers = Vec::new();
        kernel.walk(&kernel.body, &mut |id, op| {
            if !op.kind.is_product() {
                return;
            }
            let Some(&sum) = op.results.first() else { return };
            let mut before = None;
            let other = self.before.lowered();
            other.walk(&other.body, &mut |id, op| {
                if op.results.first() == Some(&sum) && self.same(sum) {
                    before = Some(instruction(self.before.compiled.assignment.product(id)));
                }
            });
            let unknown = || PortedInstruction { how: "unknown".into(), fragments: Vec::new() };
            answers.push(PortedProduct {
                value: kernel.value_name(sum),
                place: self.now.place(op.loc),
                ty: kernel.ty(sum).bare().to_string(),
                from: before.unwrap_or_else(unknown),
                to: instruction(self.now.compiled.assignment.product(id)),
            });
        });
        answers
    }

    /// Every access of memory that the program allocates, before and now.
    fn shared(&self) -> Vec<PortedShared> {
        let counts = |answer: &SharedAnswer| {
            answer.counted.map(|counted| [counted.wavefronts, counted.ideal])
        };
        let now = explain::shared::accesses(self.now);
        let before = explain::shared::accesses(self.before);
        let answer = |before: &SharedAnswer| {
            let same = |now: &&SharedAnswer| {
                now.value == before.value && now.operation == before.operation
            };
            let now = now.iter().find(same);
            PortedShared {
                operation: before.operation.clone(),
                value: before.value.clone(),
                ty: before.ty.clone(),
                from: before.memory.clone(),
                to: now.map(|now| now.memory.clone()),
                before: counts(before),
                kept: self.kept(before),
                now: now.and_then(counts),
            }
        };
        before.iter().map(answer).collect()
    }

    /// What an access takes on the new machine with its threads cut into waves and its memory as it was.
    fn kept(&self, access: &SharedAnswer) -> Option<[u64; 2]> {
        let layout = interop::parse_layout(&access.layout).ok()?;
        let layout = in_waves_of("ttir", &layout, self.target).ok()?;
        let kind = if access.kind == "load" { Kind::Load } else { Kind::Store };
        let memory = read("ttir", &access.memory.as_str().into(), Some(&layout.shape())).ok()?;
        let (_, element) = access.ty.strip_suffix('>')?.rsplit_once('x')?;
        let bits = crate::request::element_bits(element).ok()?.next_power_of_two().max(8);
        let places = memory.padded.as_ref().map_or(Memory::Affine(&memory.map), Memory::Padded);
        let found = access::conflicts(self.target, kind, &layout, places, bits).ok()?;
        Some([found.wavefronts, found.ideal])
    }

    /// Every conversion through shared memory, each with the best memory between its sides.
    fn conversions(&self) -> Result<Vec<PortedConversion>, ApiError> {
        let (kernel, compiled) = (self.now.lowered(), &self.now.compiled);
        let mut answers: Vec<PortedConversion> = Vec::new();
        let through = compiled.movements.iter().zip(self.now.movements());
        let through =
            through.filter(|(movement, _)| movement.plan.strategy == Strategy::SharedMemory);
        for (movement, told) in through {
            let MovementAnswer { value, ty, operation, from, to, movement: cost, .. } = told;
            let known = |other: &&PortedConversion| {
                (&other.ty, &other.from, &other.to) == (&ty, &from, &to)
            };
            let swizzle = match answers.iter().find(known) {
                Some(other) => other.swizzle.clone(),
                None => self.between(movement, kernel.ty(movement.value).dtype().bits()),
            };
            let wavefronts = [cost.wavefronts, cost.ideal_wavefronts];
            answers.push(PortedConversion { value, ty, operation, from, to, wavefronts, swizzle });
            budget::check()?;
        }
        Ok(answers)
    }

    fn between(&self, movement: &weft::lower::Movement, bits: u32) -> Option<SwizzleAnswer> {
        let layouts = &self.now.compiled.assignment.layouts;
        let (from, to) = (layouts.get(movement.from), layouts.get(movement.to));
        let threads = vec![
            ("store".to_owned(), Access::new(Kind::Store, from.clone())),
            ("load".to_owned(), Access::new(Kind::Load, to.clone())),
        ];
        let bits = bits.next_power_of_two().max(8);
        swizzles::between(self.target, bits, threads, &from.shape()).ok()
    }
}

fn instruction(product: &Product) -> PortedInstruction {
    let of = |multiply: &MatrixMultiply| {
        let parts = [("left", Part::Left), ("right", Part::Right), ("sum", Part::Sum)];
        let fragment = |(name, part): (&'static str, Part)| {
            let layout = multiply.fragment(part).ok()?.to_string();
            Some(FragmentAnswer { part: name, layout })
        };
        PortedInstruction {
            how: multiply.name.to_string(),
            fragments: parts.into_iter().filter_map(fragment).collect(),
        }
    };
    match product {
        Product::Multiply => {
            PortedInstruction { how: "multiply-adds of each thread".into(), fragments: Vec::new() }
        }
        Product::Matrix(matrix) => of(&matrix.instruction),
        Product::Warpgroup(product) => of(&product.instruction),
    }
}
