//! Weft's requests and answers as data.
//!
//! Everything that Weft can be asked is a *request*, and every request has one *answer*. The command,
//! the Python package and the page are shells around this crate: the same request gives the same bytes
//! from each of them.
//!
//! # A worked example
//!
//! A shell that only passes texts on needs one function, [`invoke()`]: JSON in, JSON out.
//!
//! ```
//! let request = r##"{
//!     "request": "layout",
//!     "attribute": "[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]",
//!     "shape": [2, 4],
//!     "element": "f16"
//! }"##;
//! assert_eq!(
//!     weft_api::invoke(request),
//!     r#"{"bases":{"register":[[0,1]],"lane":[[0,2],[1,0]]},"shape":[2,4],"element_bits":16,"#
//!         .to_owned()
//!         + r#""text":"[register: (0,1), lane: (0,2) (1,0)] -> [dim0: 2, dim1: 4]"}"#,
//! );
//! ```
//!
//! Register bit 0 walks along the row, lane bit 0 two elements further, lane bit 1 down to the second
//! row: exclusive-or gives every other place. [`view`] draws it.
//!
//! A shell in Rust asks the typed functions beneath and keeps what they return:
//!
//! ```
//! use weft_api::request::{Arguments, Grid, RunRequest};
//! use weft_api::{report, run};
//!
//! let ttir = r"
//! tt.func public @double(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
//!   %two = arith.constant dense<2.0> : tensor<128xf32>
//!   %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
//!   %base = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
//!   %at = tt.addptr %base, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
//!   %old = tt.load %at : tensor<128x!tt.ptr<f32>>
//!   %new = arith.mulf %old, %two : tensor<128xf32>
//!   tt.store %at, %new : tensor<128x!tt.ptr<f32>>
//!   tt.return
//! }";
//! let answer = run::run(&RunRequest {
//!     ttir: ttir.into(),
//!     kernel: None,
//!     grid: Grid([1, 1, 1]),
//!     args: Arguments(vec![("x".into(), "range:f32[128]".into())]),
//!     target: "sm_90".into(),
//!     warps: None,
//!     stages: None,
//!     fp_fusion: None,
//!     pins: Vec::new(),
//!     seed: 0,
//!     verify: true,
//!     text_places: false,
//!     equal_stores: Default::default(),
//! })?;
//! assert!(answer.passed);
//! assert_eq!(answer.counts.global_sectors, answer.counts.ideal_global_sectors);
//! assert!(report::run(&answer).contains("x                  f32[128] bit for bit"));
//! # Ok::<(), weft_api::ApiError>(())
//! ```
//!
//! # The requests
//!
//! | request | asked with | answered with |
//! |---|---|---|
//! | `machines` | [`request::MachinesRequest`] | [`answer::MachinesAnswer`] |
//! | `layout` | [`request::LayoutRequest`] | [`answer::LayoutAnswer`] |
//! | `operate` | [`request::OperateRequest`] | [`answer::LayoutAnswer`] |
//! | `convert` | [`request::ConvertRequest`] | [`answer::ConvertAnswer`] |
//! | `conflicts` | [`request::ConflictsRequest`] | [`answer::ConflictsAnswer`] |
//! | `wavefronts` | [`request::WavefrontsRequest`] | [`answer::WavefrontsAnswer`] |
//! | `sweep` | [`request::SweepRequest`] | [`answer::SweepAnswer`] |
//! | `swizzle` | [`request::SwizzleRequest`] | [`answer::SwizzleAnswer`] |
//! | `port` | [`request::PortRequest`] | [`answer::PortAnswer`] |
//! | `compile` | [`request::CompileRequest`] | [`answer::CompileAnswer`] |
//! | `run` | [`request::RunRequest`] | [`answer::RunAnswer`] |
//! | `explain` | [`request::ExplainRequest`] | [`answer::ExplainAnswer`] |
//! | `paper` | [`request::PaperRequest`] | [`answer::PaperAnswer`] |
//!
//! Every request in JSON may have `limits`, an object of names and numbers, for the work that its answer
//! may take ([`budget::NAMES`]), and has a limit of time where nobody gives one
//! ([`budget::REQUEST_MILLISECONDS`]); a shell answers it within a [`budget`] and may stop it.
//!
//! A request that cannot be answered gives an [`ApiError`]; in JSON
//! `{"error": {"kind": …, "message": …, "hint": …, "line": …, "column": …}}`.
//! No input makes a function of this crate panic. None of them reads a file or the environment, and a
//! clock is read for limits of time alone.
#![forbid(unsafe_code)]

pub mod error;
pub mod suggest;
pub mod budget;
pub mod bases;
pub mod machines;
pub mod request;
pub mod answer;
mod reading;
pub mod layouts;
pub mod operators;
pub mod conflicts;
pub mod swizzles;
pub mod sweep;
pub mod kernels;
mod occupancy;
pub mod explain;
pub mod run;
pub mod probe;
pub mod paper;
pub mod port;
pub mod view;
pub mod wavefronts;
pub mod report;
pub mod conversions;
pub mod invoke;
#[cfg(feature = "agent")]
pub mod agent;

pub use error::ApiError;
pub use invoke::invoke;
