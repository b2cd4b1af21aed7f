//! What a kernel's PTX says of its parameters: the driver refuses more bytes than these, and does not notice
//! fewer.

use crate::argument::pack;
use crate::{Arg, DriverError};

/// The bytes that the parameters of a kernel take, each at a multiple of its alignment; nothing where the
/// text has no such kernel, or declares a parameter in a way that is not known here.
pub(crate) fn declared(ptx: &str, kernel: &str) -> Option<usize> {
    let text = without_comments(ptx);
    let list = text.split(".entry").skip(1).find_map(|rest| {
        let rest = rest.trim_start().strip_prefix(kernel)?;
        let rest = rest.trim_start();
        // Without a list a kernel takes nothing; a longer name is another kernel.
        match rest.strip_prefix('(') {
            Some(list) => list.split_once(')').map(|(list, _)| list.to_owned()),
            None => rest.starts_with(['{', '.']).then(String::new),
        }
    })?;
    let mut bytes = 0_usize;
    for parameter in list.split(',').filter(|parameter| !parameter.trim().is_empty()) {
        let (size, align) = size(parameter)?;
        bytes = bytes.next_multiple_of(align).checked_add(size)?;
    }
    Some(bytes)
}

/// Bytes and alignment of a parameter: `.param .u64 x`, `.param .align 8 .b8 x[16]`.
fn size(parameter: &str) -> Option<(usize, usize)> {
    let rest = parameter.trim().strip_prefix(".param")?.trim_start();
    let (align, rest) = match rest.strip_prefix(".align") {
        Some(rest) => {
            let (align, rest) = rest.trim_start().split_once(char::is_whitespace)?;
            (Some(align.parse::<usize>().ok().filter(|align| align.is_power_of_two())?), rest)
        }
        None => (None, rest),
    };
    let (ty, name) = rest.trim_start().split_once(char::is_whitespace)?;
    let bits = ty.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let one = bits.parse::<usize>().ok().filter(|bits| [8, 16, 32, 64, 128].contains(bits))? / 8;
    let count = match name.split_once('[') {
        Some((_, count)) => count.trim_end().strip_suffix(']')?.trim().parse::<usize>().ok()?,
        None => 1,
    };
    Some((one.checked_mul(count)?, align.unwrap_or(one)))
}

/// A text with a blank in the place of each comment.
fn without_comments(text: &str) -> String {
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        left.push_str(&rest[..at]);
        let after = &rest[at..];
        let end = if after.starts_with("//") {
            after.find('\n')
        } else if after.starts_with("/*") {
            after.find("*/").map(|end| end + 2)
        } else {
            left.push('/');
            Some(1)
        };
        left.push(' ');
        rest = end.map_or("", |end| &after[end..]);
    }
    left + rest
}

/// The buffer in which arguments travel, where it is as long as the kernel declares.
pub(crate) fn packed(
    arguments: &[Arg<'_>],
    declared: Option<usize>,
) -> Result<Vec<u8>, DriverError> {
    let packed = pack(arguments);
    match declared {
        Some(declared) if declared != packed.len() => {
            Err(DriverError::Arguments { given: packed.len(), declared })
        }
        _ => Ok(packed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_take_the_bytes_that_the_text_declares() {
        let text = "
            .visible .entry none() { ret; }
            .entry bare { ret; }
            // .visible .entry shift(.param .u64 hidden)
            .visible .entry shifted(.param .u8 x) { ret; }
            .visible .entry shift /* .entry shift( */ (
                .param .u64 .ptr .global .align 16 x, // a pointer
                .param .u8 ignored,
                .param .align 8 .b8 pair[12],
                .param .f32 shift
            )
            .maxntid 128, 1, 1
            { div.rn.f32 %f0, %f1, %f2; ret; }
            .visible .entry odd(.param .texref t) { ret; }";
        assert_eq!(declared(text, "none"), Some(0));
        assert_eq!(declared(text, "bare"), Some(0));
        assert_eq!(declared(text, "shifted"), Some(1));
        // 8, then one at 8, twelve at 16, four at 28.
        assert_eq!(declared(text, "shift"), Some(32));
        assert_eq!(declared(text, "odd"), None);
        assert_eq!(declared(text, "shif"), None);
        assert_eq!(declared("", "shift"), None);
    }

    #[test]
    fn arguments_have_as_many_bytes_as_the_kernel_declares() {
        let arguments = [Arg::I64(1), Arg::I32(2)];
        assert_eq!(packed(&arguments, Some(12)).map(|bytes| bytes.len()), Ok(12));
        assert_eq!(packed(&arguments, None).map(|bytes| bytes.len()), Ok(12));
        for declared in [0, 8, 16] {
            let error = packed(&arguments, Some(declared)).unwrap_err();
            assert_eq!(error, DriverError::Arguments { given: 12, declared });
            let text =
                format!("arguments of 12 bytes, for a kernel whose parameters take {declared}");
            assert_eq!(error.to_string(), text);
        }
    }
}
