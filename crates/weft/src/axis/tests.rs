//! The facts of every integer and pointer of recorded kernels, checked by hand, and casts and
//! remainders where runs break.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use super::AxisFacts;
use crate::scalar::Binary;
use crate::tile::OpKind;
use crate::ttir;

#[test]
fn a_truth_that_a_loop_carries_settles() {
    let text = "
        tt.func public @carried(%n: i32) {
          %yes = arith.constant true
          %zero = arith.constant 0 : i32
          %one = arith.constant 1 : i32
          %last = scf.for %i = %zero to %n step %one iter_args(%truth = %yes) -> (i1) : i32 {
            %inner = scf.for %j = %zero to %n step %one iter_args(%own = %truth) -> (i1) : i32 {
              %equal = arith.cmpi eq, %i, %j : i32
              scf.yield %equal : i1
            }
            scf.yield %inner : i1
          }
          %word = arith.extui %last : i1 to i32
          tt.return
        }";
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    let word = kernel.values.keys().last().unwrap();
    assert_eq!((facts.get(word).range.low, facts.get(word).range.high), (0, 1));
}

/// How many bits of the index one access of 16 bytes walks at the first load of a kernel.
fn walked(text: &str) -> usize {
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    let mut found = None;
    kernel.walk(&kernel.body, &mut |_, op| {
        if matches!(op.kind, OpKind::Load(_)) && found.is_none() {
            let (pointer, mask) = (op.operands[0], op.operands.get(1).copied());
            let ty = kernel.ty(pointer);
            let element = ty.element.pointee().unwrap();
            found = Some(facts.neighbours(pointer, mask, &ty.shape, element, 16).len());
        }
    });
    found.unwrap()
}

/// A load of 64 rows of `columns` halves, each row `stride` halves after the one before it.
fn rows(columns: u64, stride: u64, divisibility: u64, more: &str, mask: &str) -> String {
    let shape = format!("64x{columns}");
    format!(
        "tt.func public @rows(%x: !tt.ptr<f16> {{tt.divisibility = {divisibility} : i32}}, %n: i32, %m: i32 {{tt.divisibility = 16 : i32}}) {{
          %rows = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
          %columns = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>
          %r = tt.expand_dims %rows {{axis = 1 : i32}} : tensor<64xi32> -> tensor<64x1xi32>
          %c = tt.expand_dims %columns {{axis = 0 : i32}} : tensor<{columns}xi32> -> tensor<1x{columns}xi32>
          %stride = arith.constant dense<{stride}> : tensor<64x1xi32>
          %start = arith.muli %r, %stride : tensor<64x1xi32>
          %starts = tt.broadcast %start : tensor<64x1xi32> -> tensor<{shape}xi32>
          %all_rows = tt.broadcast %r : tensor<64x1xi32> -> tensor<{shape}xi32>
          %across = tt.broadcast %c : tensor<1x{columns}xi32> -> tensor<{shape}xi32>
          %together = arith.addi %starts, %across : tensor<{shape}xi32>
          %ns = tt.splat %n : i32 -> tensor<{shape}xi32>
          %ms = tt.splat %m : i32 -> tensor<{shape}xi32>
          {more}
          %base = tt.splat %x : !tt.ptr<f16> -> tensor<{shape}x!tt.ptr<f16>>
          %from = tt.addptr %base, %offsets : tensor<{shape}x!tt.ptr<f16>>, tensor<{shape}xi32>
          {mask}
          tt.return
        }}"
    )
}

#[test]
fn accesses_walk_over_several_axes() {
    let plain = |columns: u64| {
        format!(
            "%zero = arith.constant dense<0> : tensor<64x{columns}xi32>\n%offsets = arith.addi %together, %zero : tensor<64x{columns}xi32>"
        )
    };
    let load = |columns: u64| format!("%t = tt.load %from : tensor<64x{columns}x!tt.ptr<f16>>");
    // Eight halves are 16 bytes, whatever the rows' length.
    for columns in [1, 2, 4, 8, 16] {
        let text = rows(columns, columns, 16, &plain(columns), &load(columns));
        assert_eq!(walked(&text), 3, "{columns} columns");
    }
    // Between the rows there is room, rows overlap, or the base is known to be even alone.
    assert_eq!(walked(&rows(2, 4, 16, &plain(2), &load(2))), 1);
    assert_eq!(walked(&rows(2, 3, 16, &plain(2), &load(2))), 0);
    assert_eq!(walked(&rows(4, 2, 16, &plain(4), &load(4))), 1);
    assert_eq!(walked(&rows(2, 2, 4, &plain(2), &load(2))), 1);
    // A multiple of 16 leaves all as it is; any number leaves nothing of it.
    let shifted = |by| format!("%offsets = arith.addi %together, {by} : tensor<64x2xi32>");
    assert_eq!(walked(&rows(2, 2, 16, &shifted("%ms"), &load(2))), 3);
    assert_eq!(walked(&rows(2, 2, 16, &shifted("%ns"), &load(2))), 0);
    // The mask of a row may differ from that of the next one, but not within 16 rows.
    let masked = |bound| {
        format!(
            "%mask = arith.cmpi slt, %all_rows, {bound} : tensor<64x2xi32>\n\
             %t = tt.load %from, %mask : tensor<64x2x!tt.ptr<f16>>"
        )
    };
    assert_eq!(walked(&rows(2, 2, 16, &plain(2), &masked("%ns"))), 1);
    assert_eq!(walked(&rows(2, 2, 16, &plain(2), &masked("%ms"))), 3);
    // Some elements come from one array of offsets and some from another.
    let chosen = "%zero = arith.constant dense<0> : tensor<64x2xi32>\n\
                  %odd = arith.cmpi slt, %across, %ns : tensor<64x2xi32>\n\
                  %offsets = arith.select %odd, %together, %zero : tensor<64x2xi1>, tensor<64x2xi32>";
    assert_eq!(walked(&rows(2, 2, 16, chosen, &load(2))), 0);
}

/// The number of a tile that a program finds by dividing its own by what it computes from sizes is that of a
/// block, and what is counted from it goes on to be contiguous behind a remainder.
#[test]
fn tiles_that_are_walked_in_groups_are_counted() {
    let text = r"module {
      tt.func public @k(%out: !tt.ptr<f32>, %m: i32, %n: i32 {tt.divisibility = 16 : i32}) {
        %pid = tt.get_program_id x : i32
        %eight = arith.constant 8 : i32
        %group = arith.muli %n, %eight : i32
        %within = arith.remsi %pid, %group : i32
        %left = arith.subi %m, %eight : i32
        %size = arith.minsi %left, %eight : i32
        %tile = arith.divsi %within, %size : i32
        %which = arith.divsi %pid, %group : i32
        %start = arith.muli %which, %eight : i32
        %rest = arith.remsi %within, %size : i32
        %row = arith.addi %start, %rest : i32
        %width = arith.constant 128 : i32
        %first = arith.muli %tile, %width : i32
        %firsts = tt.splat %first : i32 -> tensor<128xi32>
        %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
        %columns = arith.addi %firsts, %range : tensor<128xi32>
        %ns = tt.splat %n : i32 -> tensor<128xi32>
        %wrapped = arith.remsi %columns, %ns : tensor<128xi32>
        %minus = arith.constant dense<-16> : tensor<128xi32>
        %before = arith.addi %columns, %minus : tensor<128xi32>
        %unknown = arith.remsi %before, %ns : tensor<128xi32>
        tt.return
      }
    }";
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    let of = |name: &str| {
        let named = |value: &crate::tile::Value| kernel.value_name(*value) == name;
        facts.get(kernel.values.keys().find(named).unwrap()).clone()
    };
    assert!(of("%tile").range.is_natural() && of("%row").range.is_natural());
    assert_eq!(of("%wrapped").dims[0].contiguity, 16);
    // Below zero a remainder breaks its runs.
    assert_eq!(of("%unknown").dims[0].contiguity, 1);
}

/// Prices take a divisor that only a run tells for the size of an axis, longer than a tile: neighbours have one
/// quotient, and remainders that follow one another. Of a constant that holds of steps up to its half; multiples of it
/// have no remainder.
#[test]
fn likely_quotients_and_remainders() {
    let text = "
tt.func public @divided(%n: i32) {
  %x = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %unknown = tt.splat %n : i32 -> tensor<64xi32>
  %seven = arith.constant dense<7> : tensor<64xi32>
  %three = arith.constant dense<3> : tensor<64xi32>
  %fold = arith.muli %x, %three : tensor<64xi32>
  %twelve = arith.constant dense<12> : tensor<64xi32>
  %a = arith.divsi %x, %unknown : tensor<64xi32>
  %b = arith.remsi %x, %unknown : tensor<64xi32>
  %c = arith.divsi %x, %seven : tensor<64xi32>
  %d = arith.remsi %x, %seven : tensor<64xi32>
  %e = arith.divsi %fold, %twelve : tensor<64xi32>
  %f = arith.remsi %fold, %twelve : tensor<64xi32>
  tt.return
}
";
    let module = ttir::parse(text).unwrap();
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    let mut found = Vec::new();
    kernel.walk(&kernel.body, &mut |_, op| {
        if let OpKind::Binary(Binary::DivS | Binary::RemS) = op.kind {
            found.push(facts.get(op.results[0]).likely().steps.to_vec());
        }
    });
    assert_eq!(found[0], [Some(0); 6]);
    assert_eq!(found[1], [1, 2, 4, 8, 16, 32].map(Some));
    assert_eq!(found[2], [Some(0), Some(0), None, None, None, None]);
    assert_eq!(found[3], [Some(1), Some(2), None, None, None, None]);
    assert_eq!(found[4], [0, 0, 1, 2, 4, 8].map(Some));
    assert_eq!(found[5], [3, 6, 0, 0, 0, 0].map(Some));
}

/// A clipped interval has integers.
#[test]
fn intervals_are_clipped_to_what_they_have() {
    let ends = |low, high| {
        let clipped = super::Range::new(low, high).clipped(0, 1);
        (clipped.low, clipped.high)
    };
    assert_eq!(ends(-3, 9), (0, 1));
    assert_eq!(ends(1, 4), (1, 1));
    // The counter of the round after the last one.
    assert_eq!(ends(2, 2), (2, 2));
    assert_eq!(ends(-2, -1), (-2, -1));
}
