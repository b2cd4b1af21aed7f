//! The driver as it is on the machine at hand: a GPU computes, and its absence is said in a sentence.

use weft_driver::{Arg, Device, DriverError};

/// `out[i] = x[i] + shift` for one block of threads.
const PTX: &str = "
.version 7.0
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 global_smem[];
.visible .entry shift(.param .u64 x, .param .u64 out, .param .u8 ignored, .param .f32 shift)
{
    .reg .b32 %r<2>;
    .reg .f32 %f<3>;
    .reg .b64 %d<5>;
    ld.param.u64 %d0, [x];
    ld.param.u64 %d1, [out];
    ld.param.f32 %f0, [shift];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d2, %r0, 4;
    add.u64 %d3, %d0, %d2;
    add.u64 %d4, %d1, %d2;
    ld.global.f32 %f1, [%d3];
    add.rn.f32 %f2, %f1, %f0;
    st.global.f32 [%d4], %f2;
    ret;
}";

#[test]
fn a_kernel_runs_where_there_is_a_device() -> Result<(), DriverError> {
    let device = match Device::open(0) {
        Ok(device) => device,
        Err(error @ (DriverError::NoDriver | DriverError::NoDevice { .. })) => {
            let message = error.to_string();
            println!("skipped: {message}");
            let beginnings = [
                "no CUDA driver on this machine: libcuda.so.1 was not found; ",
                "no CUDA device 0: the driver sees none",
            ];
            assert!(beginnings.iter().any(|beginning| message.starts_with(beginning)));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    println!("{} {:?}", device.name(), device.compute_capability());

    let floats: Vec<f32> = (0..128).map(|index| index as f32).collect();
    let mut x = device.alloc(512)?;
    let out = device.alloc(512)?;
    x.copy_in(&floats.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<_>>())?;
    let function = device.load_ptx(PTX)?.function("shift")?;
    let arguments = [Arg::Pointer(&x), Arg::Pointer(&out), Arg::I8(1), Arg::F32(0.5)];
    // A pointer is missing.
    let refused = function.launch([1, 1, 1], 128, 0, &arguments[1..]);
    assert_eq!(refused, Err(DriverError::Arguments { given: 16, declared: 24 }));
    // 64 KiB must be opted in to.
    for shared_bytes in [0, 64 * 1024] {
        function.launch([1, 1, 1], 128, shared_bytes, &arguments)?;
        let bytes = out.copy_out()?;
        let read = bytes.chunks_exact(4).map(|word| f32::from_ne_bytes(word.try_into().unwrap()));
        assert_eq!(
            read.collect::<Vec<_>>(),
            floats.iter().map(|value| value + 0.5).collect::<Vec<_>>()
        );
    }
    let microseconds = device.time(100, || function.launch([1, 1, 1], 128, 0, &arguments))?;
    println!("{microseconds:.2} microseconds a launch");
    assert!(microseconds > 0.0 && microseconds < 1e4);
    device.synchronize()?;

    let error = device.load_ptx(&PTX.replace("add.rn.f32", "add.rn.f23")).unwrap_err();
    println!("{error}");
    assert!(matches!(&error, DriverError::Ptx { log, .. } if log.contains("f23")));
    let error = device.load_ptx(PTX)?.function("drift").unwrap_err();
    assert_eq!(error.to_string(), "the module has no kernel `drift`");
    let error = function.launch([1, 1, 1], 128, 1 << 30, &arguments).unwrap_err();
    assert!(matches!(error, DriverError::SharedMemory { .. }));
    let error = function.launch([1, 1, 1], 128, 0, &[arguments[0]; 9]).unwrap_err();
    assert!(matches!(error, DriverError::Call { call: "cuLaunchKernel", .. }));
    Ok(())
}
