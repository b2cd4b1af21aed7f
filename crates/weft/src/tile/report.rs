//! What a print and an assertion tell.

use super::{Element, Kernel, Value};
use crate::dtype::DType;
use crate::format::{Format, How, Piece};
use crate::scalar::Cast;

/// How the elements of one operand of a print are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The line: three words for the instance, one for each dimension, then the element.
    pub format: Format,
    /// What makes of an element the value that is printed, in order, with the type it gives.
    pub casts: Vec<(Cast, DType)>,
}

/// The line of a print without operands: the instance, and the prefix.
pub fn bare_line(prefix: &str) -> Format {
    let mut pieces = instance();
    pieces.push(Piece::Text(format!("){prefix}\n")));
    Format(pieces)
}

/// The line of each element of operand `index` of a print: the instance, the place in the tensor, the
/// prefix, which operand it is if there are several, and the element.
pub fn line(kernel: &Kernel, operands: &[Value], index: usize, print: Print<'_>) -> Line {
    let ty = operands.get(index).map(|&operand| kernel.ty(operand));
    let shape = ty.map_or(&[][..], |ty| &ty.shape);
    let mut pieces = instance();
    pieces.push(Piece::Text(") idx (".into()));
    for (dim, &extent) in shape.iter().enumerate() {
        if dim > 0 {
            pieces.push(Piece::Text(", ".into()));
        }
        let width = (extent.max(1) - 1).to_string().len() as u8;
        pieces.push(Piece::Value { how: How::Unsigned, wide: false, width });
    }
    let which = if operands.len() > 1 { format!("(operand {index}) ") } else { String::new() };
    pieces.push(Piece::Text(format!("){}{which}", print.prefix)));
    let signed = print.signed.get(index).copied().unwrap_or(false);
    let element = ty.map_or(Element::Scalar(DType::I32), |ty| ty.element);
    let (piece, casts) = value(element, signed, print.hex);
    pieces.push(piece);
    pieces.push(Piece::Text("\n".into()));
    Line { format: Format(pieces), casts }
}

/// The attributes of a print.
#[derive(Clone, Copy, Debug)]
pub struct Print<'a> {
    /// What stands before each value.
    pub prefix: &'a str,
    /// Whether values are printed in hexadecimal.
    pub hex: bool,
    /// For each operand whether it is a signed integer.
    pub signed: &'a [bool],
}

fn instance() -> Vec<Piece> {
    let number = || Piece::Value { how: How::Unsigned, wide: false, width: 0 };
    let text = |text: &str| Piece::Text(text.into());
    vec![text("pid ("), number(), text(", "), number(), text(", "), number()]
}

/// How an element is written, and what makes a value of C's of it.
fn value(element: Element, signed: bool, hex: bool) -> (Piece, Vec<(Cast, DType)>) {
    let piece = |how, wide, width| Piece::Value { how, wide, width };
    let dtype = match element {
        Element::Pointer(_) => {
            return (piece(How::Hexadecimal, true, 16), vec![(Cast::Bits, DType::I64)]);
        }
        Element::Scalar(dtype) => dtype,
        // Which a verified program does not print.
        Element::Token | Element::Descriptor(_) => DType::I32,
    };
    let wide = dtype.bits() == 64;
    let word = if wide { DType::I64 } else { DType::I32 };
    let integer = match dtype.bits() {
        1 => DType::I1,
        8 => DType::I8,
        16 => DType::I16,
        _ => word,
    };
    let mut casts = Vec::new();
    if dtype.is_float() && !hex {
        // Narrow floats go over f32, to which all can be converted.
        if dtype.bits() < 32 {
            casts.push((Cast::Float, DType::F32));
        }
        if !wide {
            casts.push((Cast::Float, DType::F64));
        }
        return (piece(How::Float, true, 0), casts);
    }
    if dtype != integer {
        casts.push((Cast::Bits, integer));
    }
    let signed = signed && !hex && dtype != DType::I1;
    if integer != word {
        casts.push((if signed { Cast::ExtS } else { Cast::ExtU }, word));
    }
    let how = match (hex, signed) {
        (true, _) => How::Hexadecimal,
        (false, true) => How::Signed,
        (false, false) => How::Unsigned,
    };
    let width = if hex { (dtype.bits() as u8).div_ceil(4) } else { 0 };
    (piece(how, wide, width), casts)
}
