//! Kernels as C headers that launch them.

use crate::{weft, weft_with};
use expect_test::expect;

/// A header without the part that all have in common and without its PTX.
fn own_part(header: &str) -> String {
    let (head, rest) = header.split_once("// The CUDA driver: ").unwrap();
    let (_, rest) = rest.split_once("#endif  // WEFT_DRIVER\n\n").unwrap();
    let (before, text) = rest.split_once("_ptx[] =\n").unwrap();
    let (_, after) = text.split_once(";\n#if").unwrap();
    format!("{head}…\n{before}_ptx[] = …;\n#if{after}")
}

/// The string that the lines of a header's PTX are in C.
fn string(header: &str) -> String {
    let (_, text) = header.split_once("_ptx[] =\n").unwrap();
    let (text, _) = text.split_once(";\n#if").unwrap();
    let mut bytes = Vec::new();
    for line in text.lines() {
        let line = line.strip_prefix("    \"").and_then(|line| line.strip_suffix('"')).unwrap();
        let mut rest = line.bytes();
        while let Some(byte) = rest.next() {
            assert!((b' '..=b'~').contains(&byte) && byte != b'"', "{line}");
            bytes.push(match byte {
                b'\\' => match rest.next().unwrap() {
                    b'n' => b'\n',
                    high @ b'0'..=b'3' => {
                        let digits = [high, rest.next().unwrap(), rest.next().unwrap()];
                        digits.iter().fold(0, |sum, digit| sum * 8 + (digit - b'0'))
                    }
                    quoted => quoted,
                },
                byte => byte,
            });
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn header(ttir: &str, rest: &[&str]) -> String {
    let head = ["compile", "-", "--emit", "c-launcher"];
    let finished = weft_with(&[&head[..], rest].concat(), ttir);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    finished.stdout
}

#[test]
fn a_header_says_what_a_launch_takes() {
    let finished = weft("compile examples/vector_add.ttir --emit c-launcher --target sm_80");
    assert_eq!((finished.status, &*finished.stderr), (0, ""));
    expect![[r#"
        // vector_add for sm_80, compiled by Weft: its PTX, and what launches it through the CUDA driver.
        //
        //   grid     a block for each program instance; it asks for its place along x
        //   block    128 threads along x: 4 warps
        //   shared   0 bytes, dynamic
        //   cluster  one block
        //   x        an address of f32, a multiple of 16 bytes
        //   y        an address of f32, a multiple of 16 bytes
        //   out      an address of f32, a multiple of 16 bytes
        //   n        i32, a multiple of 16
        //
        // C11 or C++17, for Linux. A context must be current where a function is called; each gives a
        // CUresult, 0 for success. A launch returns before the kernel has run.
        #ifndef WEFT_VECTOR_ADD_SM_80_H
        #define WEFT_VECTOR_ADD_SM_80_H

        …
        // Threads of a block, along x, and the bytes of dynamic shared memory that it has.
        enum { vector_add_threads = 128, vector_add_shared_bytes = 0 };
        // Blocks of a cluster, and axes of the grid that the kernel looks at.
        enum { vector_add_cluster_blocks = 1, vector_add_grid_axes = 1 };

        // Longer than the strings that C promises to take.
        #if defined(__GNUC__)
        #pragma GCC diagnostic push
        #pragma GCC diagnostic ignored "-Woverlength-strings"
        #endif
        static const char vector_add_ptx[] = …;
        #if defined(__GNUC__)
        #pragma GCC diagnostic pop
        #endif

        // The kernel in a context.
        typedef struct vector_add_kernel {
          void *module;
          void *function;
        } vector_add_kernel;

        // Compiles the text for the GPU of the current context.
        static inline int vector_add_load(const weft_driver *driver, vector_add_kernel *kernel) {
          return weft_load(driver, &kernel->module, &kernel->function, vector_add_ptx, "vector_add", 0);
        }

        static inline int vector_add_unload(const weft_driver *driver, vector_add_kernel *kernel) {
          return driver->module_unload(kernel->module);
        }

        // Launches so many blocks on a stream; null is the default one.
        static inline int vector_add_launch(const weft_driver *driver, const vector_add_kernel *kernel,
            unsigned grid_x, unsigned grid_y, unsigned grid_z, void *stream,
            uint64_t x,
            uint64_t y,
            uint64_t out,
            int32_t n) {
          if (x % 16 != 0 || y % 16 != 0 || out % 16 != 0 || n % 16 != 0) return WEFT_INVALID_VALUE;
          uint64_t global_scratch = 0, profile_scratch = 0;
          void *arguments[] = {&x, &y, &out, &n, &global_scratch, &profile_scratch};
          return driver->launch(kernel->function, grid_x, grid_y, grid_z, vector_add_threads, 1, 1,
              vector_add_shared_bytes, stream, arguments, NULL);
        }

        #endif  // WEFT_VECTOR_ADD_SM_80_H
    "#]].assert_eq(&own_part(&finished.stdout));
}

#[test]
fn the_string_is_the_text_of_emit_ptx() {
    for file in [
        "examples/row_softmax.ttir",
        "examples/matmul.ttir --target sm_80",
        "kernels/print_values.ttir",
        "kernels/assert_in_range.ttir",
        "kernels/assembly_words.ttir --max-registers 64",
    ] {
        let ptx = weft(&format!("compile {file} --emit ptx")).stdout;
        let header = weft(&format!("compile {file} --emit c-launcher")).stdout;
        assert_eq!(string(&header), ptx, "{file}");
    }
}

#[test]
fn more_than_48_kib_of_shared_memory_is_asked_for() {
    // A block of 32 KiB is turned through memory, one of 64 KiB too.
    let turned = |rows: u32| {
        format!(
            "tt.func public @turn(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{\n  \
             %r = tt.make_range {{start = 0 : i32, end = {rows} : i32}} : tensor<{rows}xi32>\n  \
             %a = tt.expand_dims %r {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>\n  \
             %b = tt.expand_dims %r {{axis = 0 : i32}} : tensor<{rows}xi32> -> tensor<1x{rows}xi32>\n  \
             %n = arith.constant dense<{rows}> : tensor<{rows}x1xi32>\n  \
             %s = arith.muli %a, %n : tensor<{rows}x1xi32>\n  \
             %t = tt.broadcast %s : tensor<{rows}x1xi32> -> tensor<{rows}x{rows}xi32>\n  \
             %u = tt.broadcast %b : tensor<1x{rows}xi32> -> tensor<{rows}x{rows}xi32>\n  \
             %o = arith.addi %t, %u : tensor<{rows}x{rows}xi32>\n  \
             %p = tt.splat %x : !tt.ptr<f32> -> tensor<{rows}x{rows}x!tt.ptr<f32>>\n  \
             %q = tt.addptr %p, %o : tensor<{rows}x{rows}x!tt.ptr<f32>>, tensor<{rows}x{rows}xi32>\n  \
             %v = tt.load %q : tensor<{rows}x{rows}x!tt.ptr<f32>>\n  \
             %w = tt.trans %v {{order = array<i32: 1, 0>}} : tensor<{rows}x{rows}xf32> -> tensor<{rows}x{rows}xf32>\n  \
             tt.store %q, %w : tensor<{rows}x{rows}x!tt.ptr<f32>>\n  tt.return\n}}"
        )
    };
    let asked = |rows| {
        let header = header(&turned(rows), &[]);
        let (_, call) = header.split_once("\"turn\", ").unwrap();
        let bytes = header.split_once("turn_shared_bytes = ").unwrap().1;
        let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse();
        (number(bytes).unwrap(), number(call).unwrap())
    };
    let (small, nothing): (u32, u32) = asked(64);
    assert!((1..=48 << 10).contains(&small) && nothing == 0, "{small} {nothing}");
    let (large, all): (u32, u32) = asked(128);
    assert!(large > 48 << 10 && all == large, "{large} {all}");
}

#[test]
fn names_that_c_has_are_no_names_of_parameters() {
    let ttir = "tt.func public @weft(%while: i32, %driver: !tt.ptr<f16>, %driver_: f16, \
                %grid_x: i1, %weft__threads: f64, %while_: i64, %b: bf16) {\n  tt.return\n}";
    let header = header(ttir, &[]);
    let (_, launch) = header.split_once("void *stream,\n").unwrap();
    let (parameters, _) = launch.split_once(") {").unwrap();
    expect![[r#"
                        void **arguments, void **extra);
          int (*error_string)(int error, const char **text);
        } weft_driver;

        // Puts a function of the driver where a pointer to one lies; whether it is there.
        static inline int weft_driver_find(const weft_driver *driver, const char *name, void *place"#]].assert_eq(parameters);
    assert!(header.contains("static inline int weft__launch("), "{header}");
}
