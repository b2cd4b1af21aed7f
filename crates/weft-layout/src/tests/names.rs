//! Recognising families.

use std::{mem::discriminant, println, string::ToString, vec::Vec};

use super::oracle::sample;
use crate::{
    family::{Blocked, Family, names},
    interop::parse_attribute,
    testing::repeat,
};

/// Every layout of the recorded sample is known again: by its own family where it is not written
/// out, and every name that is given is right.
#[test]
fn recorded_layouts_have_their_names() {
    let (mut named, mut known) = (0, 0);
    for (attribute, shape, layout) in sample() {
        let family = parse_attribute(&attribute).unwrap();
        let names = names(&layout);
        for name in &names {
            assert_eq!(name.layout(&shape).as_ref(), Ok(&layout), "{attribute} {shape:?}: {name}");
        }
        let unnamed = matches!(
            family,
            Family::TensorMemory(_)
                | Family::TensorMemoryScales(_)
                | Family::PaddedShared(_)
                | Family::PartitionedShared(_)
        );
        assert_eq!(names.is_empty(), unnamed, "{attribute} {shape:?}");
        let shorter = names.first().is_some_and(|name| name.to_string().len() <= attribute.len());
        named += u32::from(shorter);
        let own = discriminant(&family);
        let own = names.iter().any(|name| discriminant(name) == own);
        let sliced =
            matches!(family, Family::Slice(_) | Family::Linear(_) | Family::GenericLinear(_));
        // Copies in registers, and what has no name but its bases, may go by another one.
        known += u32::from(own);
        let simple = matches!(
            family,
            Family::Blocked(_)
                | Family::NvidiaMma(_)
                | Family::SwizzledShared(_)
                | Family::RotatingShared(_)
                | Family::NvmmaShared(_)
                | Family::SharedLinear(_)
        );
        assert!(own || sliced || !simple, "{attribute} {shape:?}: {names:?}");
    }
    println!("{named} have a name at least as short, {known} one of their own family");
    assert!(known > 200, "{known}");
    assert!(named > 150, "{named}");
}

/// Any box of boxes is known again, however its lanes and warps exceed the tensor.
#[test]
fn blocked_layouts_are_known_again() {
    repeat(500, |u| {
        let rank = u.int_in_range(1..=3)?;
        let mut order: Vec<usize> = (0..rank).collect();
        order.rotate_left(u.choose_index(rank)?);
        if u.arbitrary()? {
            order.reverse();
        }
        let mut sizes = |most: u32| -> arbitrary::Result<Vec<u64>> {
            (0..rank).map(|_| Ok(1 << u.int_in_range(0..=most)?)).collect()
        };
        let (registers, lanes, warps) = (sizes(2)?, sizes(3)?, sizes(1)?);
        let shape = sizes(5)?;
        let layout = Blocked::new(&registers, &lanes, &warps, &order).layout(&shape).unwrap();
        let names = names(&layout);
        let blocked = |name: &Family| matches!(name, Family::Blocked(_));
        assert!(names.iter().any(blocked), "{layout}: {names:?}");
        assert!(names.iter().all(|name| name.layout(&shape).as_ref() == Ok(&layout)));
        Ok(())
    });
}

/// What the same data is called in other terms.
#[test]
fn layouts_have_several_names() {
    let names_of = |attribute: &str, shape: &[u64]| -> Vec<_> {
        let layout = parse_attribute(attribute).unwrap().layout(shape).unwrap();
        names(&layout).iter().map(ToString::to_string).collect()
    };
    // A swizzle of 128 bytes is one of vectors, phases and rows.
    let names = names_of(
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>",
        &[64, 64],
    );
    assert!(names.contains(
        &"#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>".into()
    ));
    // The left operand of one multiplication is the result of another, in 16 bits.
    let names = names_of(
        "#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, \
         warpsPerCTA = [4, 1], instrShape = [16, 8]}>, kWidth = 2}>",
        &[64, 64],
    );
    assert!(
        names.contains(
            &"#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], \
          instrShape = [16, 8]}>"
                .into()
        )
    );
}
