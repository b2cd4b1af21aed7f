//! Tables of the paper for people.

use super::line;
use crate::answer::{PaperAnswer, PaperRows, ProductRow, ReductionRow, VectorRow};

/// A table of the paper, with the paper's numbers beside those of this compiler.
pub fn paper(answer: &PaperAnswer) -> String {
    let mut text = String::new();
    match &answer.rows {
        PaperRows::Vectors(rows) => vectors(&mut text, &answer.target, rows),
        PaperRows::Reductions(rows) => reductions(&mut text, &answer.target, rows),
        PaperRows::Products(rows) => products(&mut text, &answer.target, rows),
    }
    text
}

fn vectors(text: &mut String, target: &str, rows: &[VectorRow]) {
    let warps = rows.first().map_or(0, |row| row.warps);
    line(text, format_args!("bits of an access for {target}, {warps} warps a block\n"));
    line(text, "element  tensor     paper: base  linear  here  instruction");
    for row in rows {
        let [rows, columns] = row.shape;
        let tensor = format!("{rows}x{columns}");
        let VectorRow { element, base_bits, paper_bits, bits, instruction, .. } = row;
        let note = if row.expected_bits < *paper_bits {
            format!("  a thread has {} bits", row.expected_bits)
        } else {
            String::new()
        };
        line(
            text,
            format_args!(
                "{element:7}  {tensor:9}  {base_bits:11}  {paper_bits:6}  {bits:4}  {instruction}{note}"
            ),
        );
    }
}

/// Rows with one key each, in the order of the first of each.
fn groups<'a, R>(rows: &'a [R], key: impl Fn(&'a R) -> String) -> Vec<(String, Vec<&'a R>)> {
    let mut groups: Vec<(String, Vec<&R>)> = Vec::new();
    for row in rows {
        let key = key(row);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    groups
}

fn reductions(text: &mut String, target: &str, rows: &[ReductionRow]) {
    line(text, format_args!("sums along an axis for {target}\n"));
    line(text, "                              loads and stores of shared memory");
    line(text, "layout             right      here  Triton 3.9.0");
    let sum = |rows: &[&ReductionRow]| {
        let right = rows.iter().filter(|row| row.equal).count();
        let right = format!("{right}/{}", rows.len());
        let here: u32 = rows.iter().map(|row| row.shared).sum();
        let triton: u32 = rows.iter().filter_map(|row| row.triton_shared).sum();
        format!("{right:7}  {here:6}  {triton:12}")
    };
    for (family, group) in groups(rows, |row| row.family.clone()) {
        line(text, format_args!("{family:17}  {}", sum(&group)));
    }
    line(text, format_args!("{:17}  {}", "all", sum(&rows.iter().collect::<Vec<_>>())));
}

fn products(text: &mut String, target: &str, rows: &[ProductRow]) {
    line(text, format_args!("products of integers with floats for {target}\n"));
    line(text, "pair     paper: base     linear       here  bit for bit");
    let mut totals = [0; 5];
    for (pair, group) in groups(rows, |row| format!("{}/{}", row.integer, row.class)) {
        let Some(first) = group.first() else { continue };
        let ProductRow { base_right, paper_cases, .. } = first;
        let count =
            |right: fn(&ProductRow) -> bool| group.iter().filter(|row| right(row)).count() as u32;
        let (equal, exact, all) =
            (count(|row| row.equal), count(|row| row.exact), group.len() as u32);
        let numbers = [*base_right, *paper_cases, equal, all, exact];
        for (total, number) in totals.iter_mut().zip(numbers) {
            *total += number;
        }
        line(text, format_args!("{pair:7}  {}", shares(numbers)));
    }
    line(text, format_args!("{:7}  {}", "all", shares(totals)));
}

fn shares([base, cases, equal, all, exact]: [u32; 5]) -> String {
    let share = |right: u32, all: u32| format!("{right}/{all}");
    format!(
        "{:>11}  {:>9}  {:>9}  {exact:>11}",
        share(base, cases),
        share(cases, cases),
        share(equal, all)
    )
}
