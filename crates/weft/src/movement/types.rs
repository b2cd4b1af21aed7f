//! The element types of a plan's files, which a plan knows only by their widths.

use crate::dtype::DType;
use weft_layout::step::{File, FileType, Plan, Step};

/// The integer type of this width.
pub(super) fn integer(bits: u32) -> DType {
    match bits {
        8 => DType::I8,
        16 => DType::I16,
        64 => DType::I64,
        _ => DType::I32,
    }
}

/// The element type of each file: an operand's component keeps its type through every step; what is
/// packed of several is an integer.
pub(super) fn file_dtypes(plan: &Plan, inputs: &[DType]) -> Vec<DType> {
    let mut dtypes: Vec<Option<DType>> = vec![None; plan.files.len()];
    for (file, &dtype) in plan.inputs.iter().zip(inputs) {
        dtypes[file.index()] = Some(dtype);
    }
    for ((file, input), &dtype) in plan.outputs.iter().zip(&plan.inputs).zip(inputs) {
        // Counts of narrow numbers are words.
        if plan.file(*file).element_bits == plan.file(*input).element_bits {
            dtypes[file.index()] = Some(dtype);
        }
    }
    // What a load defines is known from the combination or the output that takes it, so facts flow
    // both ways until nothing is new.
    loop {
        let mut changed = false;
        let mut unify = |files: &[File]| {
            if let Some(dtype) = files.iter().find_map(|file| dtypes[file.index()]) {
                for file in files {
                    changed |= dtypes[file.index()].replace(dtype).is_none();
                }
            }
        };
        for step in &plan.steps {
            match step {
                Step::Permute { from, to, .. }
                | Step::Exchange { from, to, .. }
                | Step::Shift { from, to, .. }
                | Step::Fetch { from, to, .. } => {
                    unify(&[*from, *to]);
                }
                Step::Concat { from, to } => {
                    let all: Vec<File> = from.iter().chain([to]).copied().collect();
                    unify(&all);
                }
                Step::Select { even: a, odd: b, to, .. }
                | Step::Where { inside: a, outside: b, to, .. }
                | Step::Pick { even: a, odd: b, to, .. }
                | Step::Add { a, b, to } => unify(&[*a, *b, *to]),
                Step::Combine { a, b, to, .. } => {
                    for ((a, b), to) in a.iter().zip(b).zip(to) {
                        unify(&[*a, *b, *to]);
                    }
                }
                // A file of bytes may hold several elements, or parts of one; numbers and counts are
                // integers.
                Step::Affine { .. }
                | Step::Zero { .. }
                | Step::Count(_)
                | Step::Lookup { .. }
                | Step::Bytes { .. }
                | Step::Access(_)
                | Step::Barrier(_) => {}
            }
        }
        if !changed {
            break;
        }
    }
    let width = |file: &FileType| integer(file.element_bits);
    let known = dtypes.into_iter().zip(&plan.files);
    known.map(|(dtype, file)| dtype.unwrap_or(width(file))).collect()
}
