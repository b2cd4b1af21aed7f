//! Kernels that apply every scalar operation to every type it has, written as Triton IR.
//!
//! The operands are hashed indices under the type, so they take all kinds of bits: every exponent,
//! NaN, infinities, subnormals, divisors that are zero. Each result goes to a buffer of its own. A run
//! of them on a GPU holds the printed code against the meaning that the simulator and the evaluator
//! share.

use std::fmt::Write as _;

/// Elements of each tensor.
const ELEMENTS: u32 = 2048;

const INTEGERS: [(&str, u32); 4] = [("i8", 8), ("i16", 16), ("i32", 32), ("i64", 64)];
const FLOATS: [(&str, u32); 4] = [("f16", 16), ("bf16", 16), ("f32", 32), ("f64", 64)];

/// A kernel, and the types of its outputs.
pub(crate) struct Sweep {
    /// The kernel's name.
    pub(crate) name: String,
    body: String,
    values: u32,
    outputs: Vec<&'static str>,
}

/// Every sweep: integers, floats and conversions of each type.
pub(crate) fn all() -> Vec<Sweep> {
    let mut sweeps = Vec::new();
    for (dtype, bits) in INTEGERS {
        sweeps.push(integers(dtype, bits));
    }
    for (dtype, bits) in FLOATS {
        sweeps.push(floats(dtype, bits));
        sweeps.push(casts(dtype, bits));
    }
    sweeps.push(precise());
    sweeps
}

fn integers(dtype: &'static str, bits: u32) -> Sweep {
    let mut sweep = Sweep::new(format!("integers_{dtype}"));
    let (x, y) = (sweep.bits_of(dtype, bits, 1), sweep.bits_of(dtype, bits, 99_999));
    let arithmetic = [
        "addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "andi", "ori", "xori", "shli",
        "shrsi", "shrui", "minsi", "maxsi", "minui", "maxui",
    ];
    for operation in arithmetic {
        sweep.keep(&format!("arith.{operation} {x}, {y}"), dtype);
    }
    // Counts within the width, beside those beyond it above.
    let most = sweep.value(&format!("arith.constant dense<{}>", bits - 1), dtype);
    let count = sweep.value(&format!("arith.andi {y}, {most}"), dtype);
    for operation in ["shli", "shrsi", "shrui"] {
        sweep.keep(&format!("arith.{operation} {x}, {count}"), dtype);
    }
    for predicate in ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"] {
        sweep.keep_truth(&format!("arith.cmpi {predicate}, {x}, {y}"), dtype);
    }
    sweep.keep(&format!("math.absi {x}"), dtype);
    if bits >= 32 {
        sweep.keep(&format!("tt.mulhiui {x}, {y}"), dtype);
    }
    sweep
}

fn floats(dtype: &'static str, bits: u32) -> Sweep {
    let mut sweep = Sweep::new(format!("floats_{dtype}"));
    let [x, y, z] = [1, 99_999, 777].map(|salt| sweep.bits_of(dtype, bits, salt));
    for operation in ["addf", "subf", "mulf", "maxnumf", "minnumf", "maximumf", "minimumf"] {
        sweep.keep(&format!("arith.{operation} {x}, {y}"), dtype);
    }
    let predicates = [
        "oeq", "one", "olt", "ole", "ogt", "oge", "ueq", "une", "ult", "ule", "ugt", "uge", "ord",
        "uno",
    ];
    for predicate in predicates {
        sweep.keep_truth(&format!("arith.cmpf {predicate}, {x}, {y}"), dtype);
    }
    sweep.keep(&format!("math.fma {x}, {y}, {z}"), dtype);
    for operation in ["arith.negf", "math.absf", "math.floor", "math.ceil"] {
        sweep.keep(&format!("{operation} {x}"), dtype);
    }
    sweep
}

fn casts(dtype: &'static str, bits: u32) -> Sweep {
    let mut sweep = Sweep::new(format!("casts_{dtype}"));
    let x = sweep.bits_of(dtype, bits, 5);
    for (integer, width) in INTEGERS {
        sweep.keep_cast("arith.fptosi", &x, dtype, integer);
        sweep.keep_cast("arith.fptoui", &x, dtype, integer);
        let y = sweep.bits_of(integer, width, 6);
        sweep.keep_cast("arith.sitofp", &y, integer, dtype);
        sweep.keep_cast("arith.uitofp", &y, integer, dtype);
    }
    for (other, width) in FLOATS {
        match width.cmp(&bits) {
            std::cmp::Ordering::Greater => sweep.keep_cast("arith.extf", &x, dtype, other),
            std::cmp::Ordering::Less => sweep.keep_cast("arith.truncf", &x, dtype, other),
            std::cmp::Ordering::Equal => {}
        }
    }
    sweep
}

fn precise() -> Sweep {
    let mut sweep = Sweep::new("precise_f32".into());
    let (x, y) = (sweep.bits_of("f32", 32, 5), sweep.bits_of("f32", 32, 6));
    sweep.keep(&format!("tt.precise_sqrt {x}"), "f32");
    sweep.keep(&format!("tt.precise_divf {x}, {y}"), "f32");
    sweep
}

fn tensor(element: &str) -> String {
    format!("tensor<{ELEMENTS}x{element}>")
}

impl Sweep {
    fn new(name: String) -> Self {
        Self { name, body: String::new(), values: 0, outputs: Vec::new() }
    }

    /// How many results are compared.
    pub(crate) fn results(&self) -> usize {
        self.outputs.len()
    }

    /// The arguments that the command takes.
    pub(crate) fn arguments(&self) -> String {
        let outputs = self.outputs.iter().enumerate();
        let argument = |(index, dtype)| format!("o{index}=empty:{dtype}[{ELEMENTS}]");
        outputs.map(argument).collect::<Vec<_>>().join(" ")
    }

    /// The Triton IR.
    pub(crate) fn text(&self) -> String {
        let outputs = self.outputs.iter().enumerate();
        let param = |(index, dtype): (usize, &&str)| {
            format!("%o{index}: !tt.ptr<{dtype}> {{tt.divisibility = 16 : i32}}")
        };
        let params = outputs.map(param).collect::<Vec<_>>().join(", ");
        let Self { name, body, .. } = self;
        format!("module {{\n  tt.func public @{name}({params}) {{\n{body}    tt.return\n  }}\n}}\n")
    }

    fn define(&mut self, definition: &str) -> String {
        let value = format!("%v{}", self.values);
        self.values += 1;
        let _ = writeln!(self.body, "    {value} = {definition}");
        value
    }

    /// An operation with one tensor type.
    fn value(&mut self, operation: &str, dtype: &str) -> String {
        self.define(&format!("{operation} : {}", tensor(dtype)))
    }

    /// Hashed indices, as bits of a type.
    fn bits_of(&mut self, dtype: &'static str, bits: u32, salt: u32) -> String {
        let (narrow, wide) = (tensor("i32"), tensor("i64"));
        let range = self.range();
        let mut hash = self.define(&format!("arith.extsi {range} : {narrow} to {wide}"));
        let salt = self.value(&format!("arith.constant dense<{salt}>"), "i64");
        hash = self.value(&format!("arith.addi {hash}, {salt}"), "i64");
        // Two rounds of a multiplicative hash.
        for (factor, distance) in
            [(-4_658_895_280_553_007_687_i64, 31), (-7_723_592_293_110_705_685, 29)]
        {
            let factor = self.value(&format!("arith.constant dense<{factor}>"), "i64");
            let product = self.value(&format!("arith.muli {hash}, {factor}"), "i64");
            let distance = self.value(&format!("arith.constant dense<{distance}>"), "i64");
            let high = self.value(&format!("arith.shrui {product}, {distance}"), "i64");
            hash = self.value(&format!("arith.xori {product}, {high}"), "i64");
        }
        let integer = format!("i{bits}");
        if bits < 64 {
            hash = self.define(&format!("arith.trunci {hash} : {wide} to {}", tensor(&integer)));
        }
        if dtype == integer {
            return hash;
        }
        self.define(&format!("tt.bitcast {hash} : {} -> {}", tensor(&integer), tensor(dtype)))
    }

    fn range(&mut self) -> String {
        let range = format!("tt.make_range {{end = {ELEMENTS} : i32, start = 0 : i32}}");
        self.value(&range, "i32")
    }

    fn keep(&mut self, operation: &str, dtype: &'static str) {
        let value = self.value(operation, dtype);
        self.store(&value, dtype);
    }

    fn keep_truth(&mut self, operation: &str, dtype: &str) {
        let truth = self.value(operation, dtype);
        let byte =
            self.define(&format!("arith.extui {truth} : {} to {}", tensor("i1"), tensor("i8")));
        self.store(&byte, "i8");
    }

    fn keep_cast(&mut self, operation: &str, value: &str, from: &str, to: &'static str) {
        let cast =
            self.define(&format!("{operation} {value} : {} to {}", tensor(from), tensor(to)));
        self.store(&cast, to);
    }

    fn store(&mut self, value: &str, dtype: &'static str) {
        let output = self.outputs.len();
        self.outputs.push(dtype);
        let pointers = tensor(&format!("!tt.ptr<{dtype}>"));
        let range = self.range();
        let base = self.define(&format!("tt.splat %o{output} : !tt.ptr<{dtype}> -> {pointers}"));
        let place =
            self.define(&format!("tt.addptr {base}, {range} : {pointers}, {}", tensor("i32")));
        let _ = writeln!(self.body, "    tt.store {place}, {value} : {pointers}");
    }
}
