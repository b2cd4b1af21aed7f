//! The paper's tables, made anew.

use weft_api::answer::{PaperAnswer, PaperRows};
use weft_api::paper::paper;
use weft_api::request::{PaperRequest, Table};

fn table(table: Table, every: u32) -> PaperAnswer {
    paper(&PaperRequest { table, target: "sm_90".into(), every }).unwrap()
}

#[test]
fn s1_25_accesses_have_as_many_bits_as_in_table_2() {
    let answer = table(Table::Table2, 1);
    let PaperRows::Vectors(rows) = &answer.rows else { panic!("other rows") };
    let bits: Vec<u32> = rows.iter().map(|row| row.bits).collect();
    assert_eq!(bits, [32, 64, 128, 128, 128, 64, 128, 128, 128, 128]);
    let paper: Vec<u32> = rows.iter().map(|row| row.paper_bits).collect();
    assert_eq!(paper, [32, 128, 128, 128, 128, 64, 128, 128, 128, 128]);
    assert!(answer.passed && rows.iter().all(|row| row.warps == 4));
}

#[test]
fn s1_26_reductions_in_110_layouts_are_right() {
    let answer = table(Table::Table3, 1);
    let PaperRows::Reductions(rows) = &answer.rows else { panic!("other rows") };
    assert_eq!(rows.len(), 110);
    let mut families: Vec<(&str, u32, u32)> = Vec::new();
    for row in rows {
        assert!(row.equal, "{row:?}");
        if families.last().is_none_or(|(family, ..)| *family != row.family) {
            families.push((&row.family, 0, 0));
        }
        let last = families.last_mut().unwrap();
        last.1 += row.shared;
        last.2 += row.triton_shared.unwrap();
    }
    assert!(answer.passed);
    // No kind of layout asks more of shared memory than in Triton, and all together less.
    assert_eq!(families.len(), 7);
    for (family, here, triton) in &families {
        assert!(here <= triton, "{family}: {here} instructions, {triton} in Triton");
    }
    let sum = |count: fn(&(&str, u32, u32)) -> u32| families.iter().map(count).sum::<u32>();
    assert!(sum(|row| row.1) < sum(|row| row.2));
}

/// Every product where `WEFT_LONG` is set, else every 29th.
#[test]
fn s1_27_mixed_products_are_right() {
    let every = if std::env::var_os("WEFT_LONG").is_some() { 1 } else { 29 };
    let answer = table(Table::Table4, every);
    let PaperRows::Products(rows) = &answer.rows else { panic!("other rows") };
    assert_eq!(rows.len(), 784_usize.div_ceil(every as usize));
    for row in rows {
        assert!(row.equal, "{row:?}");
        // Matrix instructions add products of f16 and bf16 in an order of their own; those of the
        // other classes are exact, as are these sums, or have no such instruction.
        assert!(row.exact || row.class == "f16", "{row:?}");
    }
    assert!(answer.passed);
}
