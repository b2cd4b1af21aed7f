//! What the drawers make of a scene: everything that is in it, and nothing else.

use super::{GAPS, ROWS, attribute, cells, drawn};
use crate::random;
use arbtest::arbitrary::{Result, Unstructured};
use roxmltree::{Document, Node};
use std::collections::BTreeSet;
use weft_api::request::Picture;
use weft_api::view::{Colours, Fill, Scene, svg, terminal};
use weft_layout::interop::parse_layout;
use weft_layout::space::OFFSET;

/// A random picture of a random layout.
fn any_scene(u: &mut Unstructured<'_>) -> Result<Scene> {
    let layout = random::layout(u)?;
    let memory = layout.ins().contains(OFFSET);
    let picture = match u.int_in_range(0..=3)? {
        0 if memory => Picture::Banks,
        1 => Picture::Hardware,
        2 => Picture::Matrix,
        _ => Picture::Grid,
    };
    Ok(drawn(&layout, picture))
}

/// A text without its escape sequences, and with spaces for the characters of bars.
fn stripped(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap().to_owned();
    let rest = parts.map(|part| part.split_once('m').unwrap().1);
    let text = first + &rest.collect::<String>();
    text.replace(['▘', '▖', '▌', '▝', '▀', '▞', '▛'], " ")
}

#[test]
fn colours_change_nothing_else() {
    arbtest::arbtest(|u| {
        let scene = any_scene(u)?;
        let (plain, coloured) = (terminal(&scene, Colours::Off), terminal(&scene, Colours::On));
        assert!(!plain.contains('\u{1b}'));
        let stripped = stripped(&coloured);
        let mut lines = stripped.lines();
        for line in plain.lines() {
            assert_eq!(lines.next().unwrap().trim_end(), line.trim_end());
        }
        let legend: String = lines.collect();
        assert!(scene.legend.iter().all(|key| legend.contains(&key.text)), "{legend}");
        Ok(())
    })
    .budget_ms(500);
}

#[test]
fn terminals_show_every_cell() {
    arbtest::arbtest(|u| {
        let scene = any_scene(u)?;
        let text = terminal(&scene, Colours::Off);
        let mut lines = text.lines();
        for panel in &scene.panels {
            for row in 0..panel.height() {
                let wanted: Vec<&str> = panel.row(row).iter().map(|cell| &*cell.text).collect();
                let name = &panel.row_names()[row];
                // The next line that begins so: headings and gaps are passed over.
                let found = lines.by_ref().find(|line| {
                    let words: Vec<&str> = line.split_whitespace().collect();
                    line.starts_with(&**name) && words.ends_with(&wanted)
                });
                assert!(found.is_some(), "{name} {wanted:?} in\n{text}");
            }
        }
        Ok(())
    })
    .budget_ms(500);
}

fn has_class(node: Node<'_, '_>, class: &str) -> bool {
    node.attribute("class") == Some(class)
}

/// The texts of cells as sets: in a large file they stand by their ink.
fn sorted<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut texts: Vec<&str> = texts.collect();
    texts.sort_unstable();
    texts
}

/// What a file must hold, whatever its size.
fn check_file(scene: &Scene, file: &str) {
    let document = Document::parse(file).unwrap();
    let root = document.root_element();
    assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
    let foreign = ["script", "image", "foreignObject", "a", "use"];
    assert!(document.descendants().all(|node| !foreign.contains(&node.tag_name().name())));
    assert!(!file.contains("http://www.w3.org/1999/xlink") && !file.contains("url("));
    let child = |name| root.children().find(|node| node.has_tag_name(name)).unwrap();
    assert_eq!(child("title").text(), Some(&*scene.title));
    assert!(child("desc").text().unwrap().starts_with(&scene.caption));
    assert!(child("style").text().unwrap().contains("prefers-color-scheme:dark"));

    let groups: Vec<Node<'_, '_>> =
        document.descendants().filter(|node| has_class(*node, "cells")).collect();
    assert_eq!(groups.len(), scene.panels.len());
    for (group, panel) in groups.iter().zip(&scene.panels) {
        let texts = group.descendants().filter(|node| node.has_tag_name("text"));
        let texts = sorted(texts.filter_map(|node| node.text()));
        assert_eq!(texts, sorted(panel.cells.iter().map(|cell| &*cell.text)));
        // A rectangle for each cell that is filled, whatever the number of paths.
        let fills = group.descendants().filter(|node| {
            let class = node.attribute("class").unwrap_or_default();
            node.has_tag_name("path") && (class == "dead" || class.starts_with('h'))
        });
        let rectangles = fills.map(|path| path.attribute("d").unwrap().matches('M').count());
        let filled = panel.cells.iter().filter(|cell| cell.fill != Fill::Empty).count();
        assert_eq!(rectangles.sum::<usize>(), filled);
    }
    let texts: BTreeSet<&str> = document.descendants().filter_map(|node| node.text()).collect();
    let headings = |name: &str| texts.contains(name);
    for panel in &scene.panels {
        assert!(panel.row_names().iter().all(|name| name.is_empty() || headings(name)));
    }
    assert!(scene.legend.iter().all(|key| headings(&key.text)));
}

#[test]
fn files_are_well_formed_and_hold_every_cell() {
    arbtest::arbtest(|u| {
        let scene = any_scene(u)?;
        let file = svg(&scene);
        check_file(&scene, &file);
        // Each cell has its label, in order.
        let document = Document::parse(&file).unwrap();
        let groups = document.descendants().filter(|node| has_class(*node, "cells"));
        let titles: Vec<&str> = groups
            .flat_map(|group| group.descendants().filter(|node| node.has_tag_name("title")))
            .filter_map(|title| title.text())
            .collect();
        assert!(titles.into_iter().eq(cells(&scene).map(|cell| &*cell.label)));
        Ok(())
    })
    .budget_ms(1000);
}

#[test]
fn a_large_file_stays_small() {
    let layout = attribute(ROWS, &[128, 256]);
    for picture in [Picture::Grid, Picture::Hardware] {
        let scene = drawn(&layout, picture);
        assert_eq!(cells(&scene).count(), 128 * 256);
        let file = svg(&scene);
        check_file(&scene, &file);
        assert!(file.len() < 3 << 20, "{} bytes", file.len());
        // The title of the whole; cells have none.
        assert_eq!(file.matches("<title>").count(), 1);
    }
}

/// What is written goes through the escaping of the writer: no text breaks the file.
#[test]
fn texts_are_escaped() {
    let mut scene = drawn(&parse_layout(GAPS).unwrap(), Picture::Grid);
    let hostile = "</title><script>alert(\"&amp;\")</script>".to_owned();
    scene.title.clone_from(&hostile);
    scene.notes.push(hostile.clone());
    scene.panels[0].heading.clone_from(&hostile);
    scene.panels[0].cells[0].text.clone_from(&hostile);
    scene.panels[0].cells[0].label.clone_from(&hostile);
    scene.legend[0].text.clone_from(&hostile);
    let file = svg(&scene);
    check_file(&scene, &file);
    assert_eq!(file.matches("<script").count(), 0);
}
