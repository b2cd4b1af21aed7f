//! A port as a text.

use super::explain::Layouts;
use super::{coordinates, line, row};
use crate::answer::{
    DirectAnswer, PortAnswer, PortedAccess, PortedBuffer, PortedConversion, PortedInstruction,
    PortedKernel, PortedProduct, PortedShared, PortedValues,
};

/// What maps, what must change, and where tensors lie in shared memory without conflicts.
pub fn port(answer: &PortAnswer) -> String {
    let mut text = String::new();
    let PortAnswer { from, target, lanes, banks, .. } = answer;
    if let Some(kernel) = &answer.kernel {
        line(&mut text, format_args!("{} from {from} to {target}\n", kernel.name));
    } else {
        line(&mut text, format_args!("a buffer from {from} to {target}\n"));
    }
    row(&mut text, "lanes of a warp", format_args!("{} -> {}", lanes[0], lanes[1]));
    row(&mut text, "banks", format_args!("{} -> {}", banks[0], banks[1]));
    if let Some(kernel) = &answer.kernel {
        of_kernel(&mut text, kernel);
    }
    if let Some(buffer) = &answer.buffer {
        of_buffer(&mut text, buffer);
    }
    text
}

fn of_kernel(text: &mut String, kernel: &PortedKernel) {
    let PortedKernel { warps, shared_bytes, occupancy, .. } = kernel;
    row(text, "warps of a block", format_args!("{} -> {}", warps[0], warps[1]));
    row(
        text,
        "shared memory",
        format_args!("{} -> {} bytes a block", shared_bytes[0], shared_bytes[1]),
    );
    let [before, now] = occupancy;
    row(
        text,
        "warps at once",
        format_args!(
            "{} of {} -> {} of {} on a multiprocessor",
            before.warps, before.most_warps, now.warps, now.most_warps
        ),
    );
    let mut layouts = Layouts::default();
    let mut body = String::new();
    line(&mut body, "\nvalues");
    for values in &kernel.values {
        of_values(&mut body, values, &mut layouts);
    }
    if !kernel.products.is_empty() {
        line(&mut body, "\nproducts");
    }
    for product in &kernel.products {
        of_product(&mut body, product);
    }
    if !kernel.shared.is_empty() {
        line(&mut body, "\nallocated shared memory, wavefronts of all warps");
    }
    for shared in &kernel.shared {
        of_shared(&mut body, shared);
    }
    line(&mut body, "\nconversions through shared memory");
    for conversion in &kernel.conversions {
        of_conversion(&mut body, conversion, &mut layouts);
    }
    if kernel.conversions.is_empty() {
        line(&mut body, "  none");
    }
    line(text, "\nlayouts");
    for (index, layout) in layouts.all().iter().enumerate() {
        line(text, format_args!("  L{index} = {layout}"));
    }
    *text += &body;
}

fn of_values<'a>(body: &mut String, values: &'a PortedValues, layouts: &mut Layouts<'a>) {
    let from = values.from.as_deref().map_or("none".into(), |from| layouts.name(from));
    let to = layouts.name(&values.to);
    line(body, format_args!("  {}  {}", values.values.join(", "), values.ty));
    let said = match values.change.as_deref() {
        Some("nothing") => "the same threads, cut into waves".into(),
        Some("registers") => "each thread keeps its elements, in other registers".into(),
        Some(way) => format!("other threads hold them: {way} would bring them there"),
        None if values.from.is_none() => "no registers held them".into(),
        None => "not as many threads".into(),
    };
    line(body, format_args!("    {from} -> {to}  {said}"));
    if let Some(name) = &values.from_name {
        line(body, format_args!("    {from} is {name}"));
    }
    if let Some(name) = values.to_name.as_ref().filter(|_| from != to) {
        line(body, format_args!("    {to} is {name}"));
    }
}

fn of_product(body: &mut String, product: &PortedProduct) {
    let PortedProduct { value, place, ty, from, to } = product;
    let place = place.as_deref().map(|place| format!(", {place}")).unwrap_or_default();
    line(body, format_args!("  {value} {ty}{place}"));
    for (word, PortedInstruction { how, fragments }) in [("from", from), ("to  ", to)] {
        line(body, format_args!("    {word} {how}"));
        for fragment in fragments {
            line(body, format_args!("      {:5} {}", fragment.part, fragment.layout));
        }
    }
}

/// Wavefronts, and what they could be.
fn counted(count: Option<[u64; 2]>) -> String {
    match count {
        Some([wavefronts, ideal]) if wavefronts == ideal => format!("{wavefronts}, no conflict"),
        Some([wavefronts, ideal]) => format!("{wavefronts} where {ideal} would do"),
        None => "not counted".into(),
    }
}

fn of_shared(body: &mut String, shared: &PortedShared) {
    let PortedShared { operation, value, ty, from, to, before, kept, now } = shared;
    line(body, format_args!("  {operation} of {value} {ty}"));
    line(body, format_args!("    before     {}, in {from}", counted(*before)));
    line(body, format_args!("    unchanged  {}", counted(*kept)));
    match to {
        Some(to) => line(body, format_args!("    now        {}, in {to}", counted(*now))),
        None => line(body, "    now        it needs no memory that the program allocates"),
    }
}

fn of_conversion<'a>(
    body: &mut String,
    conversion: &'a PortedConversion,
    layouts: &mut Layouts<'a>,
) {
    let PortedConversion { value, ty, operation, from, to, wavefronts, swizzle } = conversion;
    let (from, to) = (layouts.name(from), layouts.name(to));
    line(body, format_args!("  {value} {ty} from {from} to {to}, for the {operation}"));
    line(body, format_args!("    {} a warp", counted(Some(*wavefronts))));
    let Some(swizzle) = swizzle else { return };
    let bound = if swizzle.certificate.optimal {
        format!("{}, proved the fewest possible ({})", swizzle.wavefronts, swizzle.certificate.kind)
    } else {
        format!("{}, and none takes fewer than {}", swizzle.wavefronts, swizzle.bound)
    };
    line(body, format_args!("    best memory between the two: {bound}"));
    line(body, format_args!("      offset = {}", swizzle.xor));
    for copy in &swizzle.direct {
        line(body, format_args!("      {}", direct(copy)));
    }
}

fn of_buffer(text: &mut String, buffer: &PortedBuffer) {
    line(text, "\naccesses");
    for PortedAccess { access, from, to, name, how, before, kept } in &buffer.accesses {
        let how = match &**how {
            "waves" => "the same threads, cut into waves".into(),
            instruction => format!("the fragment of {instruction}"),
        };
        line(text, format_args!("  {access}: {how}"));
        line(text, format_args!("    from {from}"));
        line(text, format_args!("    to   {to}"));
        if let Some(name) = name {
            line(text, format_args!("    that is {name}"));
        }
        if before.is_some() || kept.is_some() {
            let (before, kept) = (counted(*before), counted(*kept));
            line(
                text,
                format_args!(
                    "    wavefronts of all warps on the memory as it is: before {before}; now {kept}"
                ),
            );
        }
    }
    line(text, "\nthe best memory");
    text.push_str(&super::swizzle(&buffer.swizzle));
}

/// What copies of one width do, in a line.
pub(super) fn direct(copy: &DirectAnswer) -> String {
    let DirectAnswer { bytes, cut, instructions, sectors, ideal_sectors, best, .. } = copy;
    let element = |at: &Option<Vec<u64>>| at.as_deref().map_or("nothing".into(), coordinates);
    let mut said = match (cut, instructions, sectors, ideal_sectors) {
        (Some(cut), ..) => format!(
            "copies of {bytes} bytes a lane do not write it: at offset {} lies {}, not {}",
            1_u64.checked_shl(cut.bit).unwrap_or(0),
            element(&cut.found),
            element(&cut.wanted)
        ),
        (None, Some(instructions), Some(sectors), Some(ideal)) => format!(
            "copies of {bytes} bytes a lane write it: {instructions} by one wave, {sectors} sectors each \
             (ideal {ideal})"
        ),
        _ => format!("nothing is known of copies of {bytes} bytes a lane"),
    };
    if let Some(best) = best {
        let proof = if best.wavefronts == best.bound {
            "the fewest".into()
        } else {
            format!("bound {}", best.bound)
        };
        said += &format!(
            "; the best that they write takes {} wavefronts of loads ({proof}), {} sectors a copy (ideal {}): offset = {}",
            best.wavefronts, best.sectors, best.ideal_sectors, best.xor
        );
    }
    said
}
