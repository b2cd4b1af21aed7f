//! A tile compiler whose layouts are matrices over F₂.
//!
//! A Triton kernel says what one program does with whole tiles. It does not say which thread holds
//! which element, and that is what makes it fast or slow. Weft decides it by linear algebra: a layout
//! is a matrix that sends the bits of (register, lane, warp) to the bits of the element's index, and
//! moving a tile from layout A to layout B is solving `B · X = A`.
//!
//! # One kernel, all the way
//!
//! Here a tile of 8 rows of 32 numbers is summed along its rows. What one thread loads is a piece of a
//! row, so the threads of a row must exchange what they have.
//!
//! ```
//! use weft::compile::{self, Options};
//! use weft::dtype::DType;
//! use weft::memory::{Buffer, Memory};
//! use weft::{emit::ptx, sim, tile::eval, ttir};
//! use weft_layout::Machine;
//!
//! // What Triton's front end prints (`ttir` reads it into a `tile` program).
//! let text = r#"
//! module {
//!   tt.func public @row_sums(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32>) {
//!     %rows = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//!     %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
//!     %r = tt.expand_dims %rows {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
//!     %c = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
//!     %width = arith.constant dense<32> : tensor<8x1xi32>
//!     %start = arith.muli %r, %width : tensor<8x1xi32>
//!     %starts = tt.broadcast %start : tensor<8x1xi32> -> tensor<8x32xi32>
//!     %across = tt.broadcast %c : tensor<1x32xi32> -> tensor<8x32xi32>
//!     %offsets = arith.addi %starts, %across : tensor<8x32xi32>
//!     %base = tt.splat %x : !tt.ptr<i32> -> tensor<8x32x!tt.ptr<i32>>
//!     %from = tt.addptr %base, %offsets : tensor<8x32x!tt.ptr<i32>>, tensor<8x32xi32>
//!     %tile = tt.load %from : tensor<8x32x!tt.ptr<i32>>
//!     %sums = "tt.reduce"(%tile) <{axis = 1 : i32}> ({
//!     ^bb0(%a: i32, %b: i32):
//!       %s = arith.addi %a, %b : i32
//!       tt.reduce.return %s : i32
//!     }) : (tensor<8x32xi32>) -> tensor<8xi32>
//!     %to = tt.splat %out : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
//!     %place = tt.addptr %to, %rows : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
//!     tt.store %place, %sums : tensor<8x!tt.ptr<i32>>
//!     tt.return
//!   }
//! }"#;
//! let module = ttir::parse(text)?;
//! let kernel = &module.kernels[0];
//!
//! // Homes for the values, planned movements between them, and what one thread runs.
//! let machine = Machine::by_name("sm_90").expect("a machine that Weft knows");
//! let options = Options { warps: 1, ..Options::for_machine(machine) };
//! let compiled = compile::compile(&module, kernel, &options)?;
//!
//! // Eight neighbours in each thread, which two loads of 16 bytes move, and four lanes share a row. So each
//! // thread adds its own eight, and two exchanges between lanes do the rest. With four neighbours and
//! // eight lanes there would be three exchanges for each of two rows.
//! let exchanges: Vec<u64> =
//!     compiled.movements.iter().map(|movement| movement.plan.cost.shuffles).collect();
//! assert_eq!(exchanges, [2]);
//!
//! // The simulator runs every lane; the evaluator knows no lanes. They must agree.
//! let mut memory = Memory::default();
//! let numbers: Vec<u8> = (0..256i32).flat_map(i32::to_le_bytes).collect();
//! let buffer = |name: &str, bytes: Vec<u8>, initialised| {
//!     Buffer { name: name.into(), bytes, dtype: DType::I32, initialised }
//! };
//! let x = memory.push(buffer("x", numbers, true));
//! let out = memory.push(buffer("out", vec![0; 32], false));
//! let mut expected = memory.clone();
//! let launch = sim::Launch {
//!     program: &compiled.program,
//!     grid: [1, 1, 1],
//!     args: &[x, out],
//!     machine: &compile::simulated(machine, 1),
//!     options: sim::Options::default(),
//! };
//! let report = sim::run(&launch, &mut memory)?;
//! assert!(report.is_clean());
//! eval::run(kernel, [1, 1, 1], &[x, out], &mut expected, eval::Options::default())?;
//! assert_eq!(memory, expected);
//! assert_eq!(memory.read(out, 4), Ok((0..32).sum()));
//!
//! // The same lane program, printed for the GPU.
//! let target = ptx::Target::by_name("sm_90").expect("a target that Weft prints for");
//! assert!(ptx::print(&compiled.program, target)?.contains("shfl.sync.bfly.b32"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The modules
//!
//! In reading order; each module uses only some of those above it, which a test enforces:
//!
//! | module | what it is |
//! | --- | --- |
//! | [`id`], [`diagnostic`], [`location`], [`budget`], [`dtype`], [`scalar`], [`atomic`], [`cache`], [`memory`], [`mod@format`] | vocabulary that all share |
//! | [`tile`] | the program on tiles: types, verifier, text, and [`tile::eval`], what it means |
//! | [`ttir`] | Triton's text to `tile` |
//! | [`lane`] | the program of one thread: types, builder, verifier, text |
//! | [`math`] | functions without an instruction, as operations of `lane` |
//! | [`movement`] | plans of movements, lowered to `lane` |
//! | [`axis`] | what is known of integers and pointers along each axis |
//! | [`scaled`] | products of numbers with scales as products of widened factors |
//! | [`fuse`] | multiplications and additions as fused multiply-adds |
//! | [`descriptors`] | tensor descriptors as pointers or tensor maps |
//! | [`once`] | loops that run once at most, as their bodies; branches that are known, as what is taken; those that only choose, as selections |
//! | `split` | loops in two, one after the other |
//! | [`first`] | loops without what only their first round does |
//! | [`natural`] | kernels in two versions, by whether what they divide is below zero |
//! | [`whole`] | loops of whole rounds, apart from a last one that is cut short |
//! | [`unplace`] | programs with layouts, without them, for another machine |
//! | [`pipeline`] | software pipelines: loads of later iterations as asynchronous copies, or into registers |
//! | [`assign`] | in which layout each value lives: its home |
//! | [`factors`] | products whose factors a warpgroup reads from shared memory |
//! | `anew` | sums of such products that begin anew within a loop |
//! | [`lower`] | `tile` and homes, lowered to `lane` with `movement` |
//! | [`simplify`] | small passes over `lane` |
//! | [`schedule`] | the order of a tile program: loads begun early, products begun late where registers are scarce |
//! | [`conversion`] | one movement as a device function |
//! | [`sim`] | runs `lane`, counts, and finds races, faults and deadlocks |
//! | [`timeline`] | `lane` on a clock: what a round of a loop waits for |
//! | [`emit`] | prints `lane` as PTX, CUDA and HIP |
//! | [`compile`] | the stages in order |
//!
//! # Why an evaluator, a simulator and a GPU?
//!
//! Because they are independent. The evaluator follows the definitions of the operations and knows no
//! layout. The simulator runs what the GPU will run and counts from addresses; it sees neither the planner
//! nor its cost law. Where they agree, a mistake would have to have been made twice.

#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod id;
pub mod location;
pub mod budget;
pub mod diagnostic;
pub mod dtype;
pub mod scalar;
mod instruction;
pub mod atomic;
pub mod cache;
pub mod memory;
pub mod format;
pub mod tile;
pub mod ttir;
pub mod lane;
pub mod math;
pub mod movement;
pub mod natural;
pub mod axis;
pub mod fuse;
pub mod descriptors;
pub mod first;
mod flat;
pub mod once;
mod split;
mod prune;
pub mod unplace;
pub mod whole;
pub mod pipeline;
pub mod assign;
pub mod factors;
mod anew;
pub mod lower;
pub mod simplify;
pub mod scaled;
pub mod schedule;
pub mod conversion;
pub mod sim;
pub mod timeline;
pub mod emit;
pub mod compile;
