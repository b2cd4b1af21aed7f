//! Inverses, and the witnesses where there are none.

use std::string::ToString;

use crate::{
    Layout, LayoutError,
    interop::parse_layout,
    testing::{INPUTS, between, holds, layout, space, tensor},
};

#[test]
fn inverses_undo_and_refusals_name_places() {
    let (mut inverted, mut refused) = (0, [0; 2]);
    holds(400, |u| {
        let ins = space(u, &INPUTS, 2)?;
        let outs = if u.arbitrary()? {
            tensor(u, 3)?
        } else {
            let axes: std::vec::Vec<_> =
                (0..).zip(ins.axes()).map(|(dim, axis)| (crate::Label::dim(dim), axis.1)).collect();
            crate::Space::new(&axes).unwrap()
        };
        let layout = between(u, &ins, &outs)?;
        match layout.invert() {
            Ok(inverse) => {
                inverted += 1;
                assert!(layout.is_invertible());
                assert!(layout.compose(&inverse).unwrap().matrix().is_identity());
                assert!(inverse.compose(&layout).unwrap().matrix().is_identity());
                assert_eq!(layout.right_inverse(), Ok(inverse));
            }
            Err(LayoutError::NotInjective { first, second, image }) => {
                refused[0] += 1;
                assert_ne!(first, second);
                assert_eq!(layout.apply(&first), Ok(image.clone()));
                assert_eq!(layout.apply(&second), Ok(image));
            }
            Err(LayoutError::NotSurjective { output }) => {
                refused[1] += 1;
                assert!(layout.is_injective());
                assert!(!layout.image().contains(outs.pack(&output).unwrap()));
            }
            Err(error) => panic!("{error}"),
        }
        Ok(())
    });
    assert!(inverted > 10 && refused[0] > 10 && refused[1] > 2, "{inverted} {refused:?}");
}

#[test]
fn right_inverses_exist_exactly_for_surjective_layouts() {
    let mut found = 0;
    holds(300, |u| {
        let layout = layout(u)?;
        assert_eq!(layout.is_surjective(), layout.unreached().is_none());
        assert_eq!(layout.is_injective(), layout.collision().is_none());
        assert_eq!(layout.rank() + layout.kernel().dim(), layout.ins().total_bits());
        assert_eq!(layout.rank(), layout.image().dim());
        match layout.right_inverse() {
            Ok(inverse) => {
                found += 1;
                assert!(inverse.compose(&layout).unwrap().matrix().is_identity());
            }
            Err(LayoutError::NotSurjective { output }) => {
                assert!(!layout.image().contains(layout.outs().pack(&output).unwrap()));
            }
            Err(error) => panic!("{error}"),
        }
        Ok(())
    });
    assert!(found > 10, "{found}");
}

#[test]
fn witnesses_read_as_sentences() {
    let copies =
        parse_layout("[register: (0,1) (0,1), lane: (1,0)] -> [dim0: 2, dim1: 2]").unwrap();
    assert_eq!(copies.invert().unwrap_err().to_string(), "0 and register=3 both go to 0");
    let sentence = |layout: &Layout| layout.right_inverse().unwrap_err().to_string();
    let gap = parse_layout("[lane: (0,1)] -> [dim0: 2, dim1: 2]").unwrap();
    assert_eq!(sentence(&gap), "nothing goes to dim0=1");
    assert_eq!(gap.invert().unwrap_err().to_string(), "nothing goes to dim0=1");
}
