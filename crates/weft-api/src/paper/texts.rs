//! Kernels of the tables, as Triton IR.

use std::fmt::Write as _;
use weft::dtype::DType;

/// A function with pointers to arrays at multiples of 16 bytes.
pub(super) fn function(pointers: &[(&str, DType)], body: &str) -> String {
    let pointer = |&(name, dtype): &(&str, DType)| {
        format!("%{name}: !tt.ptr<{dtype}> {{tt.divisibility = 16 : i32}}")
    };
    let pointers: Vec<String> = pointers.iter().map(pointer).collect();
    format!("tt.func public @kernel({}) {{\n{body}  tt.return\n}}\n", pointers.join(", "))
}

/// The type of a tile.
pub(super) fn tile([rows, columns]: [u64; 2], element: &str) -> String {
    format!("tensor<{rows}x{columns}x{element}>")
}

/// Pointers `%{array}_at` to a row-major matrix that starts at `%{array}`.
pub(super) fn pointers(array: &str, shape: [u64; 2], dtype: DType) -> String {
    let [rows, columns] = shape;
    let (whole, at) = (tile(shape, "i32"), tile(shape, &format!("!tt.ptr<{dtype}>")));
    let mut text = String::new();
    for line in [
        format!("r0 = tt.make_range {{start = 0 : i32, end = {rows} : i32}} : tensor<{rows}xi32>"),
        format!(
            "r1 = tt.expand_dims %{array}_r0 {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>"
        ),
        format!("w = arith.constant dense<{columns}> : tensor<{rows}x1xi32>"),
        format!("r2 = arith.muli %{array}_r1, %{array}_w : tensor<{rows}x1xi32>"),
        format!("r = tt.broadcast %{array}_r2 : tensor<{rows}x1xi32> -> {whole}"),
        format!(
            "c0 = tt.make_range {{start = 0 : i32, end = {columns} : i32}} : tensor<{columns}xi32>"
        ),
        format!(
            "c1 = tt.expand_dims %{array}_c0 {{axis = 0 : i32}} : tensor<{columns}xi32> -> tensor<1x{columns}xi32>"
        ),
        format!("c = tt.broadcast %{array}_c1 : tensor<1x{columns}xi32> -> {whole}"),
        format!("o = arith.addi %{array}_r, %{array}_c : {whole}"),
        format!("p = tt.splat %{array} : !tt.ptr<{dtype}> -> {at}"),
        format!("at = tt.addptr %{array}_p, %{array}_o : {at}, {whole}"),
    ] {
        let _ = writeln!(text, "  %{array}_{line}");
    }
    text
}

/// A load of the matrix behind [`pointers`], as `%{array}_tile`.
pub(super) fn load(array: &str, shape: [u64; 2], dtype: DType) -> String {
    let at = tile(shape, &format!("!tt.ptr<{dtype}>"));
    format!("{}  %{array}_tile = tt.load %{array}_at : {at}\n", pointers(array, shape, dtype))
}

/// A store of `value` to the matrix that starts at `%{array}`.
pub(super) fn store(array: &str, value: &str, shape: [u64; 2], dtype: DType) -> String {
    let at = tile(shape, &format!("!tt.ptr<{dtype}>"));
    format!("{}  tt.store %{array}_at, %{value} : {at}\n", pointers(array, shape, dtype))
}
