//! Devices, modules, functions and buffers: owners of the driver's handles.
//!
//! Every owner keeps the device's context alive, makes it current before it calls the driver, and
//! gives its handle back when it is dropped.
#![allow(unsafe_code, reason = "every call of the driver is a call of foreign code")]

use std::ffi::{CStr, CString, c_void};
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr;
use std::rc::Rc;

use cudarc::driver::{result, sys};

use crate::parameters;
use crate::{Arg, DriverError, Properties};

/// Dynamic shared memory that a kernel may use without asking for it.
const SHARED_WITHOUT_OPT_IN: u32 = 48 * 1024;

/// Room for what the driver's PTX compiler says about a text.
const LOG_BYTES: usize = 16 * 1024;

/// One GPU, opened through its primary context. Clones share it.
#[derive(Clone)]
pub struct Device {
    context: Rc<Context>,
}

struct Context {
    device: sys::CUdevice,
    handle: sys::CUcontext,
    name: String,
    compute_capability: (u32, u32),
    shared_limit: u32,
}

impl Device {
    /// Opens the device of that number; the first is 0.
    pub fn open(ordinal: u32) -> Result<Device, DriverError> {
        // SAFETY: loading the driver's library runs its initialisers, which have no preconditions.
        if !unsafe { sys::is_culib_present() } {
            return Err(DriverError::NoDriver);
        }
        match result::init() {
            Err(result::DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => {
                return Err(DriverError::NoDevice { ordinal, count: 0 });
            }
            outcome => called("cuInit", outcome)?,
        }
        let count = called("cuDeviceGetCount", result::device::get_count())? as u32;
        if ordinal >= count {
            return Err(DriverError::NoDevice { ordinal, count });
        }
        let device = called("cuDeviceGet", result::device::get(ordinal as i32))?;
        let attribute = |which| {
            // SAFETY: `device` was returned by `cuDeviceGet`.
            let value = unsafe { result::device::get_attribute(device, which) };
            called("cuDeviceGetAttribute", value).map(|value| value as u32)
        };
        use sys::CUdevice_attribute as Attribute;
        let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let shared_limit =
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let name = called("cuDeviceGetName", result::device::get_name(device))?;
        // SAFETY: `device` is valid; the context is released once, by `Context::drop`.
        let handle =
            called("cuDevicePrimaryCtxRetain", unsafe { result::primary_ctx::retain(device) })?;
        let compute_capability = (major, minor);
        let context = Context { device, handle, name, compute_capability, shared_limit };
        Ok(Device { context: Rc::new(context) })
    }

    /// What its vendor calls it: `NVIDIA H200`.
    pub fn name(&self) -> &str {
        &self.context.name
    }

    /// The major and minor number of its instruction set: `(9, 0)` runs `sm_90`.
    pub fn compute_capability(&self) -> (u32, u32) {
        self.context.compute_capability
    }

    /// What the driver says about it.
    pub fn properties(&self) -> Result<Properties, DriverError> {
        let mut version = 0;
        // SAFETY: the driver writes one number to where the pointer says.
        let outcome = unsafe { sys::cuDriverGetVersion(&raw mut version) };
        called("cuDriverGetVersion", outcome.result())?;
        let attribute = |which| {
            // SAFETY: the device is valid for as long as the context lives.
            let value = unsafe { result::device::get_attribute(self.context.device, which) };
            value.ok().and_then(|value| u32::try_from(value).ok())
        };
        Ok(Properties::ask(version, attribute))
    }

    /// Compiles and loads a PTX text.
    ///
    /// A text that the driver's compiler refuses gives [`DriverError::Ptx`] with its log.
    pub fn load_ptx(&self, ptx: &str) -> Result<Module, DriverError> {
        let text = terminated("the PTX text", ptx)?;
        self.context.make_current()?;
        let mut log = vec![0_u8; LOG_BYTES];
        let mut options = [
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        // The driver takes the size by value, in the place of a pointer.
        let mut values = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
        let mut handle = MaybeUninit::uninit();
        // SAFETY: `text` ends in NUL, `log` has the size given, and there are as many options as
        // values; all of them outlive the call.
        let outcome = unsafe {
            sys::cuModuleLoadDataEx(
                handle.as_mut_ptr(),
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if let Err(error) = outcome.result() {
            let log = CStr::from_bytes_until_nul(&log).unwrap_or_default();
            let log = log.to_string_lossy().trim().to_owned();
            return Err(DriverError::Ptx { reason: reason(error), log });
        }
        // SAFETY: the call succeeded and wrote the handle.
        let handle = unsafe { handle.assume_init() };
        let (context, ptx) = (Rc::clone(&self.context), ptx.to_owned());
        Ok(Module { owner: Rc::new(ModuleOwner { context, handle, ptx }) })
    }

    /// A buffer of that many bytes, with whatever they hold.
    pub fn alloc(&self, bytes: usize) -> Result<Buffer, DriverError> {
        self.context.make_current()?;
        // SAFETY: the context is current; the memory is freed once, by `Buffer::drop`.
        // The driver refuses an allocation of nothing.
        let address = called("cuMemAlloc", unsafe { result::malloc_sync(bytes.max(1)) })?;
        Ok(Buffer { context: Rc::clone(&self.context), address, length: bytes })
    }

    /// Waits until all launches have run, and reports the failure of any.
    pub fn synchronize(&self) -> Result<(), DriverError> {
        self.context.make_current()?;
        called("cuCtxSynchronize", result::ctx::synchronize())
    }

    /// The mean time of one of `repetitions` launches back to back, in microseconds, by the
    /// device's own clock. The caller launches once beforehand where the first is not to count.
    pub fn time(
        &self,
        repetitions: u32,
        mut launch: impl FnMut() -> Result<(), DriverError>,
    ) -> Result<f64, DriverError> {
        if repetitions == 0 {
            return Err(DriverError::NoRepetitions);
        }
        let (start, end) = (Event::new(self)?, Event::new(self)?);
        start.record()?;
        for _ in 0..repetitions {
            launch()?;
        }
        end.record()?;
        Ok(end.milliseconds_since(&start)? * 1000.0 / f64::from(repetitions))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.context.name).finish()
    }
}

impl Context {
    /// The driver works on the context that is current to the calling thread.
    fn make_current(&self) -> Result<(), DriverError> {
        // SAFETY: the handle is retained for as long as `self` lives.
        called("cuCtxSetCurrent", unsafe { result::ctx::set_current(self.handle) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: `Device::open` retained it. A failure can only mean that the process is ending.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// The kernels of one PTX text.
#[derive(Clone)]
pub struct Module {
    owner: Rc<ModuleOwner>,
}

struct ModuleOwner {
    context: Rc<Context>,
    handle: sys::CUmodule,
    /// What it was compiled from.
    ptx: String,
}

impl Module {
    /// The kernel of that name; it keeps the module loaded.
    pub fn function(&self, name: &str) -> Result<Function, DriverError> {
        let text = terminated("the kernel's name", name)?;
        self.owner.context.make_current()?;
        // SAFETY: the module is loaded for as long as `self.owner` lives.
        match unsafe { result::module::get_function(self.owner.handle, text) } {
            Err(result::DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND)) => {
                Err(DriverError::NoKernel { name: name.to_owned() })
            }
            outcome => {
                let handle = called("cuModuleGetFunction", outcome)?;
                let declared = parameters::declared(&self.owner.ptx, name);
                Ok(Function { module: Rc::clone(&self.owner), handle, declared })
            }
        }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Module").field(&self.owner.handle).finish()
    }
}

impl Drop for ModuleOwner {
    fn drop(&mut self) {
        if self.context.make_current().is_ok() {
            // SAFETY: the module was loaded in this context and is unloaded nowhere else.
            let _ = unsafe { result::module::unload(self.handle) };
        }
    }
}

/// A kernel that can be launched.
#[derive(Clone)]
pub struct Function {
    module: Rc<ModuleOwner>,
    handle: sys::CUfunction,
    /// The bytes that its parameters take, as far as its text says.
    declared: Option<usize>,
}

impl Function {
    /// Starts `grid` blocks of `threads` threads, each block with `shared_bytes` of dynamic shared
    /// memory, and does not wait for them.
    ///
    /// The arguments travel as one buffer of known length, so that the driver reads no further than
    /// what was given. It does not notice fewer bytes than the kernel declares: arguments of other bytes than
    /// the PTX declares are refused here ([`DriverError::Arguments`]).
    pub fn launch(
        &self,
        grid: [u32; 3],
        threads: u32,
        shared_bytes: u32,
        arguments: &[Arg<'_>],
    ) -> Result<(), DriverError> {
        self.module.context.make_current()?;
        self.allow_shared(shared_bytes)?;
        let mut packed = parameters::packed(arguments, self.declared)?;
        let mut length = packed.len();
        let mut extra: [*mut c_void; 5] = [
            ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT as usize),
            packed.as_mut_ptr().cast(),
            ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT as usize),
            (&raw mut length).cast(),
            ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_END_AS_INT as usize),
        ];
        let [x, y, z] = grid;
        let stream = result::stream::null();
        // SAFETY: the function is loaded; `extra` is the list that the driver expects, over a
        // buffer and a length that outlive the call, which copies them.
        let outcome = unsafe {
            sys::cuLaunchKernel(
                self.handle,
                x,
                y,
                z,
                threads,
                1,
                1,
                shared_bytes,
                stream,
                ptr::null_mut(),
                extra.as_mut_ptr(),
            )
        };
        called("cuLaunchKernel", outcome.result())
    }

    /// More than 48 KiB of dynamic shared memory must be asked for, kernel by kernel.
    fn allow_shared(&self, bytes: u32) -> Result<(), DriverError> {
        let limit = self.module.context.shared_limit;
        if bytes > limit {
            return Err(DriverError::SharedMemory { given: bytes, limit });
        }
        if bytes <= SHARED_WITHOUT_OPT_IN {
            return Ok(());
        }
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is loaded for as long as `self.module` lives.
        called("cuFuncSetAttribute", unsafe {
            result::function::set_function_attribute(self.handle, attribute, bytes as i32)
        })
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Function").field(&self.handle).finish()
    }
}

/// Bytes in the device's memory.
pub struct Buffer {
    context: Rc<Context>,
    address: sys::CUdeviceptr,
    length: usize,
}

#[expect(clippy::len_without_is_empty, reason = "a buffer is not a collection")]
impl Buffer {
    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Where it lies in the device's memory.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Overwrites the whole buffer; `bytes` is as long as it is.
    pub fn copy_in(&mut self, bytes: &[u8]) -> Result<(), DriverError> {
        if bytes.len() != self.length {
            return Err(DriverError::Length { given: bytes.len(), length: self.length });
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.context.make_current()?;
        // SAFETY: the buffer has `self.length` bytes, which is as many as are copied.
        called("cuMemcpyHtoD", unsafe { result::memcpy_htod_sync(self.address, bytes) })
    }

    /// Waits for the launches before it and returns the buffer's bytes.
    pub fn copy_out(&self) -> Result<Vec<u8>, DriverError> {
        let mut bytes = vec![0; self.length];
        if bytes.is_empty() {
            return Ok(bytes);
        }
        self.context.make_current()?;
        // SAFETY: the buffer has `self.length` bytes, which is as many as are copied.
        called("cuMemcpyDtoH", unsafe { result::memcpy_dtoh_sync(&mut bytes, self.address) })?;
        Ok(bytes)
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes at {:#x})", self.length, self.address)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.context.make_current().is_ok() {
            // SAFETY: the memory was allocated in this context and is freed nowhere else. The
            // driver waits for kernels that still use it.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// A point in the default stream whose time the device notes.
struct Event<'a> {
    device: &'a Device,
    handle: sys::CUevent,
}

impl<'a> Event<'a> {
    fn new(device: &'a Device) -> Result<Event<'a>, DriverError> {
        device.context.make_current()?;
        let handle = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT);
        Ok(Event { device, handle: called("cuEventCreate", handle)? })
    }

    fn record(&self) -> Result<(), DriverError> {
        self.device.context.make_current()?;
        // SAFETY: the event lives as long as `self`; the default stream always exists.
        called("cuEventRecord", unsafe {
            result::event::record(self.handle, result::stream::null())
        })
    }

    fn milliseconds_since(&self, start: &Event<'_>) -> Result<f64, DriverError> {
        // SAFETY: both events live; both were recorded before this is called.
        called("cuEventSynchronize", unsafe { result::event::synchronize(self.handle) })?;
        // SAFETY: as above, and this event has happened, so that `start` has too.
        let elapsed = unsafe { result::event::elapsed(start.handle, self.handle) };
        called("cuEventElapsedTime", elapsed).map(f64::from)
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: the event was created in a context that is alive and is destroyed nowhere else.
        let _ = unsafe { result::event::destroy(self.handle) };
    }
}

/// Names the driver's function in its failure.
fn called<T>(
    call: &'static str,
    outcome: Result<T, result::DriverError>,
) -> Result<T, DriverError> {
    outcome.map_err(|error| DriverError::Call { call, reason: reason(error) })
}

/// The driver's name for a failure and its sentence about it.
fn reason(error: result::DriverError) -> String {
    let text = |text: Result<&CStr, _>| text.unwrap_or_default().to_string_lossy().into_owned();
    match error.error_name() {
        Ok(_) => format!("{} ({})", text(error.error_string()), text(error.error_name())),
        Err(_) => format!("{:?}", error.0),
    }
}

/// The text as the driver reads it, up to a NUL.
fn terminated(what: &'static str, text: &str) -> Result<CString, DriverError> {
    CString::new(text).map_err(|error| DriverError::Nul { what, position: error.nul_position() })
}
