//! Pictures: layouts as grids, maps and matrices; diagnostics in their source.
//!
//! A picture of a layout is made in two steps. [`scene()`] says what is in it, as data; [`terminal()`]
//! draws a scene as text and [`svg()`] as a file, each on its own, so that what one of them shows the
//! other does too.
//!
//! | picture | a cell | its text | its colour |
//! |---|---|---|---|
//! | [`Picture::Grid`] | an element | thread and register, or the offset, that hold it | the lane |
//! | [`Picture::Hardware`] | a register of a lane, or an offset | the element that it holds | as in the grid |
//! | [`Picture::Banks`] | an element | its offset and bank | the bank |
//! | [`served_tile()`] | an element | its bank, or the lane that moves it | the bank |
//! | [`served_banks()`] | a bank in a wavefront | the lane that it serves | the bank |
//! | [`movement()`] | a register of a lane, or a word of memory | its elements | the lane, or the wavefront |
//! | [`Picture::Matrix`] | a bit of the hardware and a bit of the tensor | whether the one sets the other | the axis |

mod scene;
mod palette;
mod holders;
mod tile;
mod grid;
mod banks;
mod hardware;
mod matrix;
mod movement;
mod served;
mod terminal;
mod svg;
mod diagnostics;

pub use banks::{Banks, places};
pub use diagnostics::diagnostics;
pub use movement::{Movement, movement};
pub use palette::{Colour, HUES, Ink, contrast};
pub use scene::{Cell, Fill, Group, Key, MAX_CELLS, Panel, Scene, Served, Window};
pub use served::{Instruction, served_banks, served_tile};
pub use svg::svg;
pub use terminal::{Colours, terminal};

use crate::error::ApiError;
use crate::request::Picture;
use weft_layout::affine::{Affine, Padded};

/// What is to be seen of a layout.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The picture that is drawn.
    pub picture: Picture,
    /// Where the grid and the bank map cut the tensor: coordinates of its leading axes, all but the
    /// last two; those that are not given are 0.
    pub slice: &'a [u64],
    /// How much is shown.
    pub window: Window,
    /// The memory that a bank map is of.
    pub banks: Option<Banks<'a>>,
    /// The gaps of a memory layout, which move what lies behind them.
    pub padded: Option<&'a Padded>,
}

impl View<'_> {
    /// Where an offset really lies.
    fn physical(&self, offset: u64) -> u64 {
        self.padded.map_or(offset, |padded| padded.physical(offset))
    }
}

impl Default for View<'_> {
    /// The grid, as much of it as fits a terminal.
    fn default() -> Self {
        View {
            picture: Picture::Grid,
            slice: &[],
            window: Window::DEFAULT,
            banks: None,
            padded: None,
        }
    }
}

/// A picture of a layout of a tensor.
///
/// Fails when the layout is of something else, the slice does not exist, more is wanted in full than
/// [`MAX_CELLS`], or a bank map is wanted of what is no memory or of elements without a width.
pub fn scene(map: &Affine, view: &View<'_>) -> Result<Scene, ApiError> {
    match view.picture {
        Picture::Grid => grid::scene(map, view),
        Picture::Hardware => hardware::scene(map, view),
        Picture::Banks => banks::scene(map, view),
        Picture::Matrix => Ok(matrix::scene(map)),
    }
}
