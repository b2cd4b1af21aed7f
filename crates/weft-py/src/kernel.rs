//! A kernel that is compiled once and launched on the simulator as often as somebody asks.

use super::error::of_request;
use super::interrupt::heard;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use weft::compile::{Scratch, TensorMaps};
use weft::dtype::DType;
use weft::lane::TensorMap;
use weft::memory::{Buffer, Memory};
use weft::scalar::from_f64;
use weft::sim::{Progress, SimError};
use weft_api::ApiError;
use weft_api::budget::Limits;
use weft_api::invoke::text_of;
use weft_api::kernels::CompiledKernel;
use weft_api::request::{CompileRequest, EqualStores};
use weft_api::run::Launch;

/// What Python is told of a tensor map: the type of its elements and the bytes of one, the sides of a box, the bytes of
/// its swizzle, and whether blocks are stored through it.
type ToldMap = (&'static str, u32, Vec<u32>, u32, bool);

/// A compiled kernel, as Python sees it.
#[pyclass(frozen)]
pub(super) struct Kernel(CompiledKernel);

/// The value of an argument.
#[derive(FromPyObject)]
pub(super) enum Argument {
    /// A pointer: which of the launch's buffers, and the byte in it.
    Pointer(usize, u64),
    /// A whole number, a truth value among them.
    Integer(i128),
    /// A number with a point.
    Float(f64),
}

/// A buffer of a launch: its name in reports, and its bytes.
#[derive(FromPyObject)]
pub(super) struct Named(String, PyBuffer<u8>);

#[pymethods]
impl Kernel {
    /// Compiles a kernel of a text in Triton IR.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "all but the text have names in Python")]
    #[pyo3(signature = (ttir, *, target, kernel=None, warps=None, stages=None, fp_fusion=None, max_registers=None, line_info=false, tensor_maps=None, scratch=false))]
    fn new(
        py: Python<'_>,
        ttir: String,
        target: &str,
        kernel: Option<String>,
        warps: Option<u32>,
        stages: Option<u32>,
        fp_fusion: Option<bool>,
        max_registers: Option<u32>,
        line_info: bool,
        tensor_maps: Option<&str>,
        scratch: bool,
    ) -> PyResult<Self> {
        let tensor_maps = match tensor_maps {
            None => TensorMaps::None,
            Some("all") => TensorMaps::All,
            Some("each") => TensorMaps::Each,
            Some(other) => {
                let message = format!("`tensor_maps` is all or each, not {other}");
                return Err(PyValueError::new_err(message));
            }
        };
        let scratch = if scratch { Scratch::Maps } else { Scratch::None };
        let request = CompileRequest {
            ttir,
            kernel,
            target: target.into(),
            warps,
            emit: Vec::new(),
            stages,
            fp_fusion,
            pins: Vec::new(),
            dump_after: None,
            max_registers,
            line_info,
            text_places: false,
        };
        let compile = || CompiledKernel::for_launcher(&request, tensor_maps, scratch);
        let compiled = heard(py, Limits::default(), compile)?;
        compiled.map(Self).map_err(|error| of_request(&error))
    }

    /// The name under which a driver finds the kernel in its PTX.
    #[getter]
    fn symbol(&self) -> String {
        self.0.symbol()
    }

    /// Warps in a block.
    #[getter]
    fn warps(&self) -> u32 {
        self.0.program().warps
    }

    /// Bytes of dynamic shared memory that a launch must give.
    #[getter]
    fn shared_bytes(&self) -> u32 {
        self.0.program().shared_bytes
    }

    /// Bytes of global memory that a launch must give each block, at a multiple of 128, for tensor maps that it makes.
    #[getter]
    fn scratch_bytes(&self) -> u32 {
        weft::emit::ptx::scratch_bytes(self.0.program())
    }

    /// The name of each parameter, and its type as Triton writes it.
    #[getter]
    fn parameters(&self) -> Vec<(String, String)> {
        let kernel = self.0.kernel();
        let spelled = |(param, value): (&weft::tile::Param, _)| {
            (param.name.clone(), kernel.ty(value).to_string())
        };
        kernel.arguments().map(spelled).collect()
    }

    /// For each descriptor that the kernel is given the tensor map that its program takes in the place of the
    /// descriptor's parts: the type of its elements and the bytes of one, the sides of a box, outermost first, the
    /// bytes within which a swizzle moves pieces of 16 bytes, and whether blocks are stored through it.
    #[getter]
    fn tensor_maps(&self) -> Vec<Option<ToldMap>> {
        let told = |(map, stores): (&TensorMap, bool)| {
            let sides = map.sides.iter().rev().copied().collect();
            (map.element.name(), map.element.bytes(), sides, map.span, stores)
        };
        self.0.maps().into_iter().map(|map| map.map(told)).collect()
    }

    /// The text in PTX.
    fn ptx(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.ptx()).map_err(|error| of_request(&error))
    }

    /// The PTX text for so many blocks on a multiprocessor, in the order that needs fewer registers or not.
    fn second_ptx(&self, py: Python<'_>, blocks: u32, sparing: bool) -> PyResult<String> {
        py.detach(|| self.0.second_ptx(blocks, sparing)).map_err(|error| of_request(&error))
    }

    /// The PTX text in the order that needs fewer registers, if that may help.
    fn sparing_ptx(
        &self,
        py: Python<'_>,
        registers: u32,
        stack_bytes: u32,
    ) -> PyResult<Option<String>> {
        let text = || self.0.sparing_ptx(registers, stack_bytes);
        py.detach(text).map_err(|error| of_request(&error))
    }

    /// The PTX text that parks in shared memory what has no register, if that may help, the bytes of shared memory that a
    /// block of it takes, and those that a thread parks.
    #[pyo3(signature = (registers, stack_bytes, blocks, sparing))]
    fn parked_ptx(
        &self,
        py: Python<'_>,
        registers: u32,
        stack_bytes: u32,
        blocks: Option<u32>,
        sparing: bool,
    ) -> PyResult<Option<(String, u32, u32)>> {
        let text = || self.0.parked_ptx(registers, stack_bytes, blocks, sparing);
        py.detach(text).map_err(|error| of_request(&error))
    }

    /// Whether more blocks run on a multiprocessor where each thread has `found` registers than where it has
    /// `before`, and no less of what they load is under way at once.
    fn has_more(&self, found: u32, before: u32) -> bool {
        self.0.has_more(found, before)
    }

    /// Whether more of what is loaded is under way at once on a multiprocessor where each thread has `found` registers
    /// than where it has `before`.
    fn loads_more(&self, found: u32, before: u32) -> bool {
        self.0.loads_more(found, before)
    }

    /// For how many blocks on a multiprocessor the PTX had better be assembled again.
    fn second_assembly(&self, registers: u32, stack_bytes: u32) -> Option<u32> {
        self.0.second_assembly(registers, stack_bytes)
    }

    /// Runs the kernel on the simulator, and returns the answer as a JSON text.
    ///
    /// The buffers are read before the run and written after it, where the run changed them. The
    /// watcher is called now and then with the blocks that have ended, all blocks, and the warp
    /// instructions until then; Ctrl-C and whatever it raises end the run, and then the buffers are
    /// left as they were.
    #[pyo3(signature = (grid, arguments, buffers, watcher=None, *, equal_stores="note"))]
    fn launch(
        &self,
        py: Python<'_>,
        grid: [u32; 3],
        arguments: Vec<Argument>,
        buffers: Vec<Named>,
        watcher: Option<Py<PyAny>>,
        equal_stores: &str,
    ) -> PyResult<String> {
        let equal_stores = match equal_stores {
            "note" => EqualStores::Note,
            "race" => EqualStores::Race,
            other => {
                let message = format!("`equal_stores` is note or race, not {other}");
                return Err(PyValueError::new_err(message));
            }
        };
        let mut memory = self.memory(py, &arguments, &buffers)?;
        let bits = self.bits(&arguments, buffers.len())?;
        let mut raised = None;
        let launch = Launch { kernel: &self.0, grid, arguments: &bits, equal_stores };
        // The arrays are the caller's, however large.
        let limits = Limits { memory_bytes: u64::MAX, ..Limits::default() };
        let answer = heard(py, limits, || {
            let mut watch = |progress: Progress| {
                let Some(watcher) = &watcher else { return ControlFlow::Continue(()) };
                let Progress { ended, blocks, instructions } = progress;
                match Python::attach(|py| watcher.call1(py, (ended, blocks, instructions))) {
                    Ok(_) => ControlFlow::Continue(()),
                    Err(error) => {
                        raised = Some(error);
                        ControlFlow::Break(())
                    }
                }
            };
            launch.run(&mut memory, &mut watch)
        })?;
        let answer = match (answer, raised) {
            (Err(ApiError::Simulate(SimError::Stopped { .. })), Some(error)) => return Err(error),
            (answer, _) => answer.map_err(|error| of_request(&error))?,
        };
        for (Named(_, place), buffer) in buffers.iter().zip(memory.buffers()) {
            let before = place.to_vec(py)?;
            if before == buffer.bytes {
                continue;
            }
            place.copy_from_slice(py, &buffer.bytes)?;
        }
        Ok(text_of(&answer))
    }
}

impl Kernel {
    /// The memory of a launch. Each buffer is read as the first parameter that points into it says.
    fn memory(
        &self,
        py: Python<'_>,
        arguments: &[Argument],
        buffers: &[Named],
    ) -> PyResult<Memory> {
        let mut memory = Memory::default();
        for (index, Named(name, place)) in buffers.iter().enumerate() {
            let kernel = self.0.kernel();
            let here =
                |argument: &Argument| matches!(argument, Argument::Pointer(at, _) if *at == index);
            let mut here = kernel.arguments().zip(arguments).filter(|(_, argument)| here(argument));
            let dtype = here.find_map(|((_, value), _)| kernel.ty(value).element.pointee());
            let dtype = dtype.unwrap_or(DType::I8);
            let bytes = place.to_vec(py)?;
            memory.push(Buffer { name: name.clone(), bytes, dtype, initialised: true });
            if place.readonly() {
                memory.protect(index);
            }
        }
        Ok(memory)
    }

    /// The raw bits of each argument, as its parameter's type holds them.
    fn bits(&self, arguments: &[Argument], buffers: usize) -> PyResult<Vec<u64>> {
        let kernel = self.0.kernel();
        let (expected, found) = (kernel.params.len(), arguments.len());
        if expected != found {
            let name = &kernel.name;
            let message = format!("`{name}` takes {expected} arguments, and {found} were given");
            return Err(PyTypeError::new_err(message));
        }
        let bits = |((param, value), argument): ((&weft::tile::Param, _), &Argument)| {
            let ty = kernel.ty(value);
            let pointer = ty.element.pointee().is_some();
            let misfit = |found: &str| {
                let message = format!("`{}` is an argument of type {ty}, not {found}", param.name);
                PyTypeError::new_err(message)
            };
            match argument {
                Argument::Pointer(buffer, offset) if pointer && *buffer < buffers => {
                    Ok(Memory::base(*buffer).wrapping_add(*offset))
                }
                Argument::Pointer(..) => Err(misfit("a tensor")),
                Argument::Float(_) if pointer => Err(misfit("a number")),
                Argument::Integer(value) if !pointer && ty.dtype().is_float() => {
                    Ok(from_f64(ty.dtype(), *value as f64))
                }
                Argument::Integer(value) => {
                    // Either sign's reading of the bits will do; an address and a truth value have none.
                    let bits = if pointer { 64 } else { ty.dtype().bits() };
                    let is_signed = !pointer && bits > 1;
                    let low = if is_signed { -(1_i128 << (bits - 1)) } else { 0 };
                    let high = (1_i128 << bits) - 1;
                    if (low..=high).contains(value) {
                        return Ok(*value as u64 & (high as u64));
                    }
                    let name = &param.name;
                    let message =
                        format!("{value} does not fit `{name}`, which takes {low} to {high}");
                    Err(PyOverflowError::new_err(message))
                }
                Argument::Float(value) if ty.dtype().is_float() => Ok(from_f64(ty.dtype(), *value)),
                Argument::Float(_) => Err(misfit("a float")),
            }
        };
        kernel.arguments().zip(arguments).map(bits).collect()
    }
}
