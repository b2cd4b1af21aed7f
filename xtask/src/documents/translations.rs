//! Whether chapters in another language are in step with what they translate: the same headings in the
//! same order, and in each section the same listings, tables and pictures, and every number. A
//! translation may have more numbers, since one language writes in words what another writes in digits.

use super::Document;
use crate::root;
use anyhow::Context as _;
use std::path::Path;

/// The folder of the chapters in Chinese.
const FOLDER: &str = "docs/src/zh";
/// What the chapter `tour.md` translates: the tour of the workbench.
const TOUR: &str = "workbench/src/views/tour/steps.ts";

/// What a translation must have in common with its original, section by section.
struct Section<'a> {
    /// How deep its heading is: 1 for that of the chapter.
    depth: usize,
    heading: &'a str,
    numbers: Vec<String>,
    markers: Vec<&'a str>,
}

/// Where chapters are out of step.
pub(super) fn check(documents: &[Document]) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    let folder = root().join(FOLDER);
    for chapter in documents.iter().filter(|document| document.path.starts_with(&folder)) {
        let name = chapter.path.strip_prefix(&folder)?;
        let tour = name == Path::new("tour.md");
        let original = root().join(if tour {
            Path::new(TOUR).into()
        } else {
            Path::new("docs/src").join(name)
        });
        let text = std::fs::read_to_string(&original)
            .with_context(|| format!("what {} translates", chapter.name()))?;
        let before = if tour { steps(&text) } else { sections(&text) };
        let mut after = sections(&chapter.text);
        if tour {
            // The chapter's own heading and what stands before the first step have no original.
            after.retain(|section| section.depth == 2);
        }
        faults.extend(compare(&chapter.name(), &before, &after));
    }
    Ok(faults)
}

fn compare(name: &str, before: &[Section<'_>], after: &[Section<'_>]) -> Vec<String> {
    let mut faults = Vec::new();
    let depths = |sections: &[Section<'_>]| -> Vec<usize> {
        sections.iter().map(|section| section.depth).collect()
    };
    if depths(before) != depths(after) {
        let headings = |sections: &[Section<'_>]| -> Vec<String> {
            sections.iter().map(|section| section.heading.to_owned()).collect()
        };
        let (before, after) = (headings(before).join(" / "), headings(after).join(" / "));
        return vec![format!("{name}: other headings than its original\n  {before}\n  {after}")];
    }
    for (before, after) in before.iter().zip(after) {
        let place = format!("{name}, \"{}\" (\"{}\")", after.heading, before.heading);
        let mut there = after.numbers.clone();
        let missing = before.numbers.iter().filter(|number| {
            let found = there.iter().position(|other| other == *number);
            found.map(|index| there.swap_remove(index)).is_none()
        });
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        if !missing.is_empty() {
            faults.push(format!("{place}: lacks the numbers {}", missing.join(", ")));
        }
        if before.markers != after.markers {
            faults.push(format!("{place}: other listings, tables or pictures"));
        }
    }
    faults
}

/// The sections of a chapter.
fn sections(text: &str) -> Vec<Section<'_>> {
    let (mut sections, mut words): (Vec<Section<'_>>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut code, mut made) = (false, false);
    let settle = |sections: &mut Vec<Section<'_>>, words: &mut Vec<String>| {
        let words = std::mem::take(words).join("\n");
        if let Some(section) = sections.last_mut() {
            section.numbers = numbers(&words);
        }
    };
    for line in text.lines() {
        code ^= line.starts_with("```");
        let depth = line.chars().take_while(|&c| c == '#').count();
        if !code && depth > 0 {
            settle(&mut sections, &mut words);
            let heading = line.trim_start_matches('#').trim();
            sections.push(Section { depth, heading, numbers: vec![], markers: vec![] });
        }
        if line.starts_with("<!-- ") {
            made = !line.starts_with("<!-- /") && !line.starts_with("<!-- picture ");
            if let Some(section) = sections.last_mut() {
                section.markers.push(line.split("-->").next().unwrap_or(line));
            }
        } else if !made {
            words.push(without_targets(line));
        }
    }
    settle(&mut sections, &mut words);
    sections
}

/// The steps of the tour as sections: each title with the words beneath it.
fn steps(text: &str) -> Vec<Section<'_>> {
    let parts = text.split("    title: \"").skip(1);
    let step = |part| {
        let (heading, rest) = str::split_once(part, '"').unwrap_or((part, ""));
        let words = rest.split("figures: [").next().unwrap_or_default();
        let numbers = numbers(&format!("{heading}\n{words}"));
        Section { depth: 2, heading, numbers, markers: vec![] }
    };
    parts.map(step).collect()
}

/// A line without the addresses of its links.
fn without_targets(line: &str) -> String {
    let mut parts = line.split("](");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    kept
}

/// The numbers of a text, without the commas within them.
fn numbers(text: &str) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    let digit = |index: usize| text.get(index).is_some_and(char::is_ascii_digit);
    let mut numbers = vec![String::new()];
    for (index, &c) in text.iter().enumerate() {
        let comma = c == ',' && index > 0 && digit(index - 1) && digit(index + 1);
        if c.is_ascii_digit() {
            numbers.last_mut().expect("one is begun").push(c);
        } else if !comma {
            numbers.push(String::new());
        }
    }
    numbers.retain(|number| !number.is_empty());
    numbers
}

#[cfg(test)]
mod tests {
    use super::{compare, sections, steps};

    const CHAPTER: &str = "# Banks\n\nThere are 32, see [4](x.md#9).\n\n## One\n\n\
        <!-- listing: weft machines -->\n```text\n7\n```\n<!-- /listing -->\n\n1,048,576 of them.\n";

    fn faults(translation: &str) -> Vec<String> {
        compare("it", &sections(CHAPTER), &sections(translation))
    }

    #[test]
    fn a_translation_has_the_headings_numbers_and_listings_of_its_original() {
        assert_eq!(
            faults(&CHAPTER.replace("There are", "有").replace("x.md#9", "../y.md")),
            [""; 0]
        );
        assert_eq!(faults(&CHAPTER.replace("\n7\n", "\n8\n")), [""; 0], "listings are made anew");
        let told = |from: &str, to: &str| faults(&CHAPTER.replace(from, to)).join("\n");
        assert!(told("## One", "### One").contains("other headings"));
        assert!(told("32", "64").contains("\"Banks\" (\"Banks\"): lacks the numbers 32"));
        assert!(
            told("1,048,576", "1048577").contains("\"One\" (\"One\"): lacks the numbers 1048576")
        );
        assert_eq!(
            faults(&CHAPTER.replace("[4]", "16 of [4]")),
            [""; 0],
            "words may become digits"
        );
        assert!(told("weft machines", "weft machines sm_90").contains("other listings"));
    }

    #[test]
    fn the_tour_is_read_step_by_step() {
        let tour = "  {\n    title: \"Two\",\n    words: [\n      \"A tile of 16.\",\n    ],\n    \
                    figures: [{ caption: \"8\" }],\n  },\n  {\n    title: \"Almost\",\n  },\n";
        let steps = steps(tour);
        assert_eq!(steps.iter().map(|step| step.heading).collect::<Vec<_>>(), ["Two", "Almost"]);
        assert_eq!(steps[0].numbers, ["16"]);
        assert!(compare("it", &steps, &sections("## 二\n\n16\n\n## 三\n")).is_empty());
    }
}
