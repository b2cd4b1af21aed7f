//! Machines as data: written whole, and read back with the path of what is wrong.
//!
//! Counts are written as counts, not as logarithms; prices are hundredths of a cycle. The lanes that
//! shared memory serves together are a basis of their differences, for each width of an access in
//! bytes a lane:
//!
//! ```
//! use weft_api::machines::{self, MachineAnswer};
//! use weft_layout::Machine;
//!
//! let gfx942 = Machine::by_name("gfx942").ok_or("no such machine")?;
//! let text = weft_api::invoke::text_of(&MachineAnswer::of(gfx942));
//! assert!(text.contains(r#""load":{"1":[1,2,4,8,16],"2":[1,2,4,8,16],"4":[1,2,4,8,16],"#));
//! assert!(text.contains(r#""16":[1,2,20]},"store":"#));
//! assert_eq!(&machines::read(&serde_json::from_str(&text)?)?, gfx942);
//!
//! let text = text.replace("[1,2,20]", "[1,2,3]");
//! let error = machines::read(&serde_json::from_str(&text)?).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "`target.phases.load.16[2]`: 3 is an exclusive-or of the others, and a basis has none such",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod at;
mod read;
mod write;

pub use at::MachineError;
pub use read::read;
pub use write::{
    ColumnsAnswer, IsaAnswer, MachineAnswer, MatrixMoveAnswer, MatrixMultiplyAnswer, MergingAnswer,
    PhasesAnswer, PricesAnswer, ReachAnswer, ShuffleAnswer, SourceAnswer, WidthsAnswer,
};

/// The key under which a probed machine keeps what was measured; it says nothing about the machine.
pub const MEASURED: &str = "measured";
