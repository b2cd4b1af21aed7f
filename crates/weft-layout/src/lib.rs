//! Where does each element of a tile live, and how does it get somewhere else?
//!
//! A GPU holds a tile in pieces: each lane (thread) of each warp has some of its elements in
//! registers.
//! A *layout* says who has what: it is a function from a place (which register, which lane, which
//! warp) to an element.
//! Take a row of 16 elements held by 4 lanes with 4 registers each.
//! Say only what places 0 and the powers of two hold, and leave the rest open:
//!
//! |            | lane 0 | lane 1 | lane 2 | lane 3 |
//! |------------|--------|--------|--------|--------|
//! | register 0 | 0      | 4      | 8      | ?      |
//! | register 1 | 5      | ?      | ?      | ?      |
//! | register 2 | 10     | ?      | ?      | ?      |
//! | register 3 | ?      | ?      | ?      | ?      |
//!
//! There is one rule: the element at a combination of bits is the *exclusive-or* of the elements at
//! the single bits.
//! Register 1 of lane 1 holds `5 ^ 4 = 1`; register 3 of lane 0 holds `5 ^ 10 = 15`; lane 3 begins
//! with `4 ^ 8 = 12`; register 3 of lane 3 holds `5 ^ 10 ^ 4 ^ 8 = 3`.
//! That finishes the table:
//!
//! |            | lane 0 | lane 1 | lane 2 | lane 3 |
//! |------------|--------|--------|--------|--------|
//! | register 0 | 0      | 4      | 8      | 12     |
//! | register 1 | 5      | 1      | 13     | 9      |
//! | register 2 | 10     | 14     | 2      | 6      |
//! | register 3 | 15     | 11     | 7      | 3      |
//!
//! Read the elements as a 4 × 4 tile in rows of four: register `r` of lane `l` holds column `r` of
//! tile row `r ^ l`.
//! It is the swizzle that every GPU programmer has written by hand, and it took four numbers.
//! They are its *bases*, two for the registers and two for the lanes, and all that a [`Layout`]
//! holds besides the names of its axes:
//!
//! ```
//! use weft_layout::{Layout, Space, space::{LANE, REGISTER}};
//!
//! let places = Space::new(&[(REGISTER, 2), (LANE, 2)])?;
//! let row = Space::tensor(&[16])?;
//! let swizzled = Layout::new(places.clone(), row.clone(), &[5, 10, 4, 8])?;
//! let place = places.pack(&[(REGISTER, 3), (LANE, 3)])?;
//! assert_eq!(swizzled.apply_flat(place), 3);
//! assert_eq!(swizzled.to_string(), "[register: 5 10, lane: 4 8] -> [dim0: 16]");
//! # Ok::<(), weft_layout::LayoutError>(())
//! ```
//!
//! # What one can do with a layout
//!
//! Since the function is linear, a layout is a matrix of zeros and ones, and questions about data
//! are questions of linear algebra:
//!
//! - *Does each element have exactly one place?* Is the matrix invertible?
//! - *Which places hold the same?* Those that differ by an element of its kernel.
//! - *Where is element `x`?* Apply the inverse.
//! - *How do I turn layout `A` into layout `B`?* Solve `B · X = A`; `X` says which place of `B`
//!   every place of `A` is, and the shape of `X` says whether registers, lanes or warps must move.
//! - *Does this access of shared memory have bank conflicts?* Compare two ranks ([`access`]).
//!
//! The bases are the columns of the matrix; a tile of a million elements has twenty.
//!
//! # Six examples
//!
//! ```
//! use weft_layout::{Layout, Space, interop::parse_layout, space::{LANE, REGISTER}};
//!
//! // 1. Lane i holds element i.
//! let lanes = parse_layout("[lane: 1 2 4] -> [dim0: 8]")?;
//! // 2. Two neighbours in each lane: the registers walk first.
//! let pairs = parse_layout("[register: 1, lane: 2 4] -> [dim0: 8]")?;
//! // 3. The same elements strided: the lanes walk first.
//! let strided = parse_layout("[register: 4, lane: 1 2] -> [dim0: 8]")?;
//! // 4. Two axes; each basis is a pair of coordinates.
//! let tile = parse_layout("[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]")?;
//! // 5. Copies: lane bit 1 moves nothing, so lanes 2 and 3 repeat lanes 0 and 1.
//! let copies = parse_layout("[lane: 1 0] -> [dim0: 2]")?;
//! assert_eq!(copies.free_mask(LANE), 0b10);
//! // 6. The swizzle above, turned into the plain layout of the same tile.
//! let swizzled = parse_layout("[register: 5 10, lane: 4 8] -> [dim0: 16]")?;
//! let plain = parse_layout("[register: 1 2, lane: 4 8] -> [dim0: 16]")?;
//! let moves = swizzled.solve(&plain)?;
//! assert_eq!(moves.compose(&plain)?, swizzled);
//! // Register bit 0 of the swizzle is register bit 0 *and* lane bit 0 of the plain layout.
//! assert_eq!(moves.apply(&[(REGISTER, 1)])?, [(REGISTER, 1), (LANE, 1)]);
//! # let _ = (lanes, pairs, strided, tile);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Names
//!
//! The layouts that compilers have names for are constructors in [`family`], and their texts are
//! read by [`interop`]; what comes out is a layout like any other, and [`family::names`] goes back:
//!
//! ```
//! use weft_layout::{family, interop::parse_attribute};
//!
//! // What a tensor core leaves behind: a lane has two neighbours in a row, and two eight rows down.
//! let text = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], \
//!             instrShape = [16, 8]}>";
//! let fragment = parse_attribute(text)?.layout(&[16, 8])?;
//! assert_eq!(
//!     fragment.to_string(),
//!     "[register: (0,1) (8,0), lane: (0,2) (0,4) (1,0) (2,0) (4,0), warp:, block:] -> \
//!      [dim0: 16, dim1: 8]"
//! );
//! // Several names may mean the same; each that is told is right.
//! for name in family::names(&fragment) {
//!     assert_eq!(name.layout(&[16, 8])?, fragment);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Moving data
//!
//! [`plan::convert`] writes the cheapest list of [`step`]s between two layouts, and [`witness`]
//! checks it before anyone sees it:
//!
//! ```
//! use weft_layout::{Machine, family::Blocked, plan};
//!
//! let machine = Machine::by_name("sm_90").ok_or("no such machine")?;
//! let rows = Blocked::new(&[1, 4], &[8, 4], &[1, 1], &[1, 0]).layout(&[8, 16])?;
//! let columns = Blocked::new(&[4, 1], &[2, 16], &[1, 1], &[1, 0]).layout(&[8, 16])?;
//! let plan = plan::convert(&rows, &columns, 32, machine)?;
//! println!("{plan}");
//! assert_eq!(plan.cost.wavefronts, plan.cost.ideal_wavefronts);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a matrix cannot say
//!
//! Place 0 always holds element 0, all sizes are powers of two, and memory has no gaps.
//! [`affine`] lifts each of these limits and keeps the algebra exact: a constant that is added
//! ([`affine::Affine`]), gaps after every so many offsets ([`affine::Padded`]), and a box of any
//! size that is cut out ([`affine::Boxed`]).
//!
//! # Why from places to elements, and not the other way around?
//!
//! Because copies are common and gaps are not: one element may live in many places, so only this
//! direction is a function.
//!
//! # The mathematics (not needed to use the crate)
//!
//! Bits with exclusive-or and and form the field F₂; a place is a vector over it, and a layout a
//! linear map.
//! [`f2`] has matrices and subspaces of up to 64 bits.
//! Composition, direct sum, division and inverses of layouts are those of linear maps, block by
//! block.
//!
//! # Beside CuTe and Triton
//!
//! A CuTe layout `shape:stride` adds where a matrix flips bits.
//! It is a matrix exactly when all sizes are powers of two and no two of the columns `stride · 2^t`
//! share a bit, so that nothing carries; its `Swizzle` always is.
//! It can also say what carries, and sizes that only the program knows, which a matrix cannot.
//! [`interop::cute`] goes both ways and shows a carry where there is one.
//! Triton's `LinearLayout` is the same idea as this crate; layouts read from its text have the same
//! bases in the same order.
//!
//! # Finding your way
//!
//! Each module uses only those before it, and opens with its own idea:
//!
//! | module | what it is about |
//! |---|---|
//! | [`stop`] | whether work is still wanted |
//! | [`f2`] | matrices and subspaces of bits |
//! | [`space`] | axes with labels: `register`, `lane`, `warp`, `dim0`, … |
//! | [`layout`] | layouts and every operator on them |
//! | [`affine`] | constants, gaps, and sizes that are no powers of two |
//! | [`family`] | the layouts that have names |
//! | [`machine`] | GPUs as data: lanes, banks, prices |
//! | [`access`] | what one memory instruction costs |
//! | [`step`] | movements as data, and their price |
//! | [`witness`] | what a list of steps really does |
//! | [`plan`] | the cheapest movement, chosen |
//! | [`interop`] | texts: Triton's attributes, CuTe's layouts, and our own |
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

extern crate alloc;
#[cfg(test)]
extern crate std;

// In reading order: a module may use those above it.
pub mod stop;
pub mod f2;
pub mod space;
pub mod layout;
pub mod affine;
pub mod family;
pub mod machine;
pub mod access;
pub mod step;
pub mod witness;
pub mod plan;
pub mod interop;

pub use layout::{Layout, LayoutError};
pub use machine::Machine;
pub use space::{Label, Space, SpaceError};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
