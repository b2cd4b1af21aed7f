//! What is measured: each operator of the algebra, and a conversion's plan with its check, on the
//! layouts of a 128 x 128 tile over 8 warps.
//!
//! `cargo bench --package weft-bench --bench time` measures nanoseconds with criterion,
//! `--bench instructions` counts instructions with callgrind (it needs `valgrind` and
//! `gungraun-runner`), `--bench conversions` prints quantiles of planning and checking over the pairs of
//! layouts that Triton's tests convert between (`WEFT_ORACLE_DIR` names their folder).

use weft_layout::{
    Layout, LayoutError, Machine,
    family::Family,
    interop::parse_attribute,
    plan::{self, PlanError},
    step::Plan,
};

/// The tile.
pub const SHAPE: [u64; 2] = [128, 128];

/// Rows of four elements in a thread.
pub const ROWS: &str = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], \
                        warpsPerCTA = [8, 1], order = [1, 0]}>";

/// Columns of four elements in a thread.
pub const COLUMNS: &str = "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], \
                           warpsPerCTA = [1, 8], order = [0, 1]}>";

/// The layouts that the operators are applied to.
#[derive(Clone, Debug)]
pub struct Operands {
    /// [`ROWS`], read.
    pub family: Family,
    /// The layout of [`ROWS`].
    pub rows: Layout,
    /// The layout of [`COLUMNS`].
    pub columns: Layout,
    /// From elements to places: the inverse of `columns`.
    pub columns_inverse: Layout,
    /// A part of a product: the elements of a warp.
    pub inner: Layout,
    /// The other part: the warps.
    pub outer: Layout,
    /// `inner` times `outer`.
    pub product: Layout,
}

impl Operands {
    /// Reads and builds all of them.
    pub fn new() -> Result<Operands, Box<dyn std::error::Error>> {
        let family = parse_attribute(ROWS)?;
        let rows = family.layout(&SHAPE)?;
        let columns = parse_attribute(COLUMNS)?.layout(&SHAPE)?;
        let warp = ROWS.replace("[8, 1]", "[1, 1]");
        let inner = parse_attribute(&warp)?.layout(&[16, 128])?;
        let outer =
            "#ttg.linear<{register = [], lane = [], warp = [[1, 0], [2, 0], [4, 0]], block = []}>";
        let outer = parse_attribute(outer)?.layout(&[8, 1])?;
        let product = inner.product(&outer)?;
        let columns_inverse = columns.invert()?;
        Ok(Operands { family, rows, columns, columns_inverse, inner, outer, product })
    }

    /// Where one place goes.
    pub fn apply(&self, place: u64) -> u64 {
        self.rows.apply_flat(place)
    }

    /// From places of one layout to places of the other.
    pub fn compose(&self) -> Result<Layout, LayoutError> {
        self.rows.compose(&self.columns_inverse)
    }

    /// The direct sum.
    pub fn product(&self) -> Result<Layout, LayoutError> {
        self.inner.product(&self.outer)
    }

    /// The direct sum taken apart.
    pub fn divide(&self) -> Result<Layout, LayoutError> {
        self.product.divide_left(&self.inner)
    }

    /// From elements to places.
    pub fn invert(&self) -> Result<Layout, LayoutError> {
        self.rows.invert()
    }

    /// The movement from one layout to the other.
    pub fn solve(&self) -> Result<Layout, LayoutError> {
        self.rows.solve(&self.columns)
    }

    /// The cheapest checked plan from one layout to the other, for 32-bit elements.
    pub fn convert(&self) -> Result<Plan, PlanError> {
        let machine = Machine::by_name("sm_90").ok_or(PlanError::TooLarge)?;
        plan::convert(&self.rows, &self.columns, 32, machine)
    }
}
