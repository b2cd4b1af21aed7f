//! Pictures against the definition of a layout, place by place.

use super::{at, banks, cells, drawn, full};
use crate::random;
use std::collections::BTreeMap;
use weft_api::request::Picture;
use weft_api::view::{Colour, Colours, Fill, View, scene, terminal};
use weft_layout::space::{BLOCK, LANE, OFFSET, REGISTER, WARP};
use weft_layout::{Label, Layout, Space};

/// Sixty-four bits on one side of a layout: what shifts and multiplies must not overflow.
#[test]
fn layouts_of_sixty_four_bits() {
    let outs = Space::tensor(&[2, 2]).unwrap();
    for label in [REGISTER, LANE, WARP, OFFSET, Label::new("x").unwrap()] {
        let ins = Space::new(&[(label, 64)]).unwrap();
        let mut images = [0; 64];
        (images[62], images[63]) = (1, 2);
        let layout = Layout::new(ins, outs.clone(), &images).unwrap();
        for picture in [Picture::Grid, Picture::Hardware, Picture::Matrix] {
            let view = View { picture, ..View::default() };
            let scene = scene(&layout.clone().into(), &view).unwrap();
            assert!(!terminal(&scene, Colours::On).is_empty());
        }
        let scene = drawn(&layout, Picture::Grid);
        let number = 1_u64 << 62;
        let place = match label {
            LANE => format!("T{number}:0*"),
            REGISTER => format!("T0:{number}*"),
            _ => format!("{number}*"),
        };
        assert_eq!(scene.panels[0].cells[1].text, place);
    }
    let wide = Space::new(&[(Label::dim(0), 64)]).unwrap();
    let layout = Layout::new(Space::new(&[(LANE, 1)]).unwrap(), wide, &[1]).unwrap();
    let scene = scene(&layout.clone().into(), &View::default()).unwrap();
    assert_eq!(scene.panels[0].cells[2].fill, Fill::Dead);
}

/// For each element its places in increasing order, by walking through all places.
fn holders(layout: &Layout) -> BTreeMap<u64, Vec<u64>> {
    let mut holders: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for place in 0..1_u64 << layout.ins().total_bits() {
        let coordinates = layout.ins().unpack(place);
        let element = layout.outs().pack(&layout.apply(&coordinates).unwrap()).unwrap();
        holders.entry(element).or_default().push(place);
    }
    holders
}

/// A place as the grid names it, spelled from its coordinates.
fn named(layout: &Layout, place: u64) -> String {
    let at = |label| layout.ins().coordinate(label, place);
    let block = match layout.in_bits(BLOCK) {
        0 => String::new(),
        _ => format!("B{}.", at(BLOCK)),
    };
    if layout.ins().contains(OFFSET) {
        return format!("{block}{}", at(OFFSET));
    }
    let lanes = 1 << layout.in_bits(LANE);
    format!("{block}T{}:{}", at(WARP) * lanes + at(LANE), at(REGISTER))
}

#[test]
fn grids_agree_with_the_definition() {
    arbtest::arbtest(|u| {
        let layout = random::layout(u)?;
        let holders = holders(&layout);
        let shape = layout.shape();
        let leading = shape.len().saturating_sub(2);
        let slice: Vec<u64> = (shape.iter().take(leading))
            .map(|&extent| u.int_in_range(0..=extent - 1))
            .collect::<Result<_, _>>()?;
        let bits = [4, 8, 16, 24, 32, 64][u.choose_index(6)?];
        let mut pictures = vec![Picture::Grid];
        pictures.extend(layout.ins().contains(OFFSET).then_some(Picture::Banks));
        for picture in pictures {
            let view = View { slice: &slice, banks: Some(banks(bits)), ..full(picture) };
            let scene = scene(&layout.clone().into(), &view).unwrap();
            let (rows, columns) = match shape.as_slice() {
                [columns] => (1, *columns),
                [.., rows, columns] => (*rows, *columns),
                [] => unreachable!("a random tensor has axes"),
            };
            assert_eq!(cells(&scene).count() as u64, rows * columns);
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |c| (row, c))) {
                let index = slice.iter().copied().chain([row, column]);
                // A tensor of one axis has no rows.
                let index = index.skip(usize::from(shape.len() == 1));
                let element = index.zip(&shape).fold(0, |flat, (at, extent)| flat * extent + at);
                let cell = at(&scene, row, column);
                let Some(places) = holders.get(&element) else {
                    assert_eq!((&*cell.text, cell.fill), ("-", Fill::Dead));
                    continue;
                };
                let place = places[0];
                let star = if places.len() > 1 { "*" } else { "" };
                let (text, number) = if picture == Picture::Banks {
                    let offset = layout.ins().coordinate(OFFSET, place);
                    let bank = offset * u64::from(bits) / 32 % 32;
                    (format!("{}:b{bank}{star}", named(&layout, place)), bank)
                } else {
                    let axis = if layout.ins().contains(LANE) { LANE } else { OFFSET };
                    let text = format!("{}{star}", named(&layout, place));
                    (text, layout.ins().coordinate(axis, place))
                };
                assert_eq!(cell.text, text);
                assert_eq!(cell.fill, Fill::Colour(Colour::of(number)));
            }
        }
        Ok(())
    })
    .budget_ms(700);
}

#[test]
fn the_hardware_agrees_with_the_definition_and_with_the_grid() {
    arbtest::arbtest(|u| {
        let layout = random::layout(u)?;
        let holders = holders(&layout);
        let scene = drawn(&layout, Picture::Hardware);
        let (ins, outs) = (layout.ins(), layout.outs());
        assert_eq!(cells(&scene).count() as u64, 1 << ins.total_bits());
        let order = outs.coordinate_order();
        let columns = scene.panels[0].width() as u64;
        let rows = scene.panels[0].height() as u64;
        for place in 0..1_u64 << ins.total_bits() {
            let value = |label| ins.coordinate(label, place);
            let (panel, row, column) = if ins.contains(OFFSET) {
                (value(BLOCK), value(OFFSET) / columns, value(OFFSET) % columns)
            } else {
                let warps = 1 << ins.bits(WARP);
                (value(BLOCK) * warps + value(WARP), value(REGISTER), value(LANE))
            };
            assert!(row < rows);
            let cell = &scene.panels[panel as usize].row(row as usize)[column as usize];
            let element = layout.apply_flat(place);
            let coordinates: Vec<String> =
                order.iter().map(|&dim| outs.coordinate(dim, element).to_string()).collect();
            let lowest = holders[&element][0];
            let star = if lowest == place { "" } else { "*" };
            assert_eq!(cell.text, coordinates.join(",") + star);
            let axis = if ins.contains(LANE) { LANE } else { OFFSET };
            // The grid's colour of the element.
            let colour = Colour::of(ins.coordinate(axis, lowest));
            assert_eq!(cell.fill, Fill::Colour(colour));
        }
        Ok(())
    })
    .budget_ms(700);
}

#[test]
fn matrices_agree_with_the_definition() {
    arbtest::arbtest(|u| {
        let layout = random::layout(u)?;
        let scene = drawn(&layout, Picture::Matrix);
        let bits = layout.ins().total_bits();
        assert_eq!(cells(&scene).count() as u32, bits * layout.outs().total_bits());
        for column in 0..bits {
            let image = layout.apply_flat(1 << column);
            for row in 0..layout.outs().total_bits() {
                let one = image >> row & 1 == 1;
                let cell = at(&scene, row.into(), column.into());
                assert_eq!(cell.text, if one { "1" } else { "." });
                assert_eq!(cell.fill != Fill::Empty, one);
            }
        }
        Ok(())
    })
    .budget_ms(300);
}
