//! From one machine to another: what maps, what must change, and the code.
//!
//! A kernel is compiled for both machines from one program, so that its values can be held against each
//! other: for the first with the layouts that its text gives, if it gives any, for the second without. The
//! accesses of a buffer are carried over by themselves: threads are cut into waves of the other width,
//! fragments of matrix instructions become those of the other machine's.

mod buffer;
mod fragment;
mod kernel;

use crate::answer::PortAnswer;
use crate::error::ApiError;
use crate::report;
use crate::request::{EmitPort, PortRequest, machine};
use weft_layout::Machine;
use weft_layout::machine::Kind;

/// The machine that is meant where a request names none.
pub const DEFAULT_PORT: &str = "gfx942";

/// What becomes of a kernel, or of the accesses of a buffer, on another machine.
///
/// ```
/// use weft_api::{port, request::PortRequest};
///
/// // A tile of halves that ldmatrix reads on NVIDIA's GPUs, in the swizzle for it.
/// let mma = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>";
/// let answer = port::port(&PortRequest {
///     loads: vec![format!("#ttg.dot_op<{{opIdx = 0, parent = {mma}, kWidth = 2}}>").into()],
///     memory: Some("#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>".into()),
///     shape: vec![64, 64],
///     element: Some("f16".into()),
///     target: Some("gfx942".into()),
///     ..Default::default()
/// })?;
/// let buffer = answer.buffer.unwrap();
/// assert_eq!(buffer.accesses[0].how, "mfma.m16n16k16.f32.f16.f16");
/// assert!(buffer.swizzle.certificate.optimal);
/// # Ok::<(), weft_api::ApiError>(())
/// ```
pub fn port(request: &PortRequest) -> Result<PortAnswer, ApiError> {
    let default = DEFAULT_PORT.into();
    let from = machine(&request.from)?;
    let target = machine(request.target.as_ref().unwrap_or(&default))?;
    let answer = PortAnswer {
        from: from.name.to_string(),
        target: target.name.to_string(),
        lanes: [from.lanes(), target.lanes()],
        banks: [&from, &target].map(|machine| banks(machine)),
        kernel: None,
        buffer: None,
        text: None,
    };
    let of_layouts = !request.loads.is_empty() || request.store.is_some();
    let mut answer = match &request.ttir {
        Some(text) if !of_layouts && request.memory.is_none() => {
            let (ported, code) = kernel::port(request, text, &from, &target)?;
            PortAnswer { kernel: Some(ported), text: code, ..answer }
        }
        None if of_layouts => {
            let buffer = buffer::port(request, &from, &target)?;
            let code = (request.emit == Some(EmitPort::Hip))
                .then(|| buffer::code(&buffer.swizzle, request, &target));
            PortAnswer { buffer: Some(buffer), text: code, ..answer }
        }
        _ => {
            return Err(ApiError::Argument {
                reason: "a port is of a kernel or of the accesses of a buffer".into(),
                hint: "give `ttir`, or `loads` and perhaps `store` and `memory`".into(),
            });
        }
    };
    if request.emit == Some(EmitPort::Report) {
        answer.text = Some(report::port(&answer));
    }
    Ok(answer)
}

fn banks(machine: &Machine) -> u32 {
    1_u32.checked_shl(machine.banks_log2_of(Kind::Load)).unwrap_or(0)
}
