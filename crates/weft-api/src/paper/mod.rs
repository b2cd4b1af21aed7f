//! The tables 2 to 4 of the paper *Linear Layouts*, measured of this compiler.
//!
//! The paper counts for two versions of Triton: one whose layouts were a case for each family, and one
//! whose layouts are linear. Each row here stands beside those two numbers and comes from programs that
//! are compiled, simulated and held against the evaluator when the table is asked for.

mod products;
mod reductions;
mod texts;
mod vectors;

use crate::answer::{PaperAnswer, PaperRows};
use crate::error::ApiError;
use crate::request::{PaperRequest, Table, machine};

/// A table of the paper, made anew.
pub fn paper(request: &PaperRequest) -> Result<PaperAnswer, ApiError> {
    let rows = match request.table {
        Table::Table2 => PaperRows::Vectors(vectors::rows(request)?),
        Table::Table3 => PaperRows::Reductions(reductions::rows(request)?),
        Table::Table4 => PaperRows::Products(products::rows(request)?),
    };
    let passed = match &rows {
        PaperRows::Vectors(rows) => rows.iter().all(|row| row.bits >= row.expected_bits),
        PaperRows::Reductions(rows) => rows.iter().all(|row| row.equal),
        PaperRows::Products(rows) => rows.iter().all(|row| row.equal),
    };
    let target = machine(&request.target)?.name.to_string();
    Ok(PaperAnswer { table: request.table, target, passed, rows })
}
