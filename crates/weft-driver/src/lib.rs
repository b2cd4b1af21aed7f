//! A CUDA GPU through its driver alone: load PTX, launch kernels, time them.
//!
//! The driver's library is looked for when a [`Device`] is opened, not when a program is built or
//! started. No toolkit is needed, and a program that holds this crate runs on machines without a
//! GPU; there, [`Device::open`] says that there is no driver.
//!
//! # A worked example
//!
//! ```no_run
//! use weft_driver::{Arg, Device};
//!
//! // Each of 128 threads doubles one number.
//! const PTX: &str = "
//!     .version 7.0
//!     .target sm_75
//!     .address_size 64
//!     .visible .entry double(.param .u64 values) {
//!         .reg .b32 %r<3>;
//!         .reg .b64 %d<3>;
//!         ld.param.u64 %d0, [values];
//!         mov.u32 %r0, %tid.x;
//!         mul.wide.u32 %d1, %r0, 4;
//!         add.u64 %d2, %d0, %d1;
//!         ld.global.u32 %r1, [%d2];
//!         add.u32 %r2, %r1, %r1;
//!         st.global.u32 [%d2], %r2;
//!         ret;
//!     }";
//!
//! let device = Device::open(0)?;
//! println!("{}, sm_{}{}", device.name(), device.compute_capability().0, device.compute_capability().1);
//!
//! let double = device.load_ptx(PTX)?.function("double")?;
//! let mut values = device.alloc(128 * 4)?;
//! values.copy_in(&[1, 0, 0, 0].repeat(128))?;
//! double.launch([1, 1, 1], 128, 0, &[Arg::Pointer(&values)])?;
//! assert_eq!(values.copy_out()?, [2, 0, 0, 0].repeat(128));
//!
//! let arguments = [Arg::Pointer(&values)];
//! let microseconds = device.time(100, || double.launch([1, 1, 1], 128, 0, &arguments))?;
//! println!("{microseconds:.2} microseconds a launch");
//! # Ok::<(), weft_driver::DriverError>(())
//! ```
//!
//! # What the caller knows
//!
//! A kernel's parameters are the caller's business: the driver does not know their types. Kernels
//! that follow Triton's calling convention end in two further pointers, to scratch memory; for
//! kernels that use none, [`Arg::I64`]`(0)` stands for each.
//!
//! All work goes to the default stream, in order. A launch returns before its kernel has run, so a
//! kernel's failure (an access outside every buffer, say) comes from the next
//! [`copy_out`](Buffer::copy_out) or [`synchronize`](Device::synchronize), and after one the
//! driver refuses all further work of the process on that device.

mod argument;
mod device;
mod error;
mod parameters;
mod properties;

pub use argument::Arg;
pub use device::{Buffer, Device, Function, Module};
pub use error::DriverError;
pub use properties::Properties;
