//! Homes and their reasons, and the width of accesses, for recorded kernels.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use super::AccessShape;
use super::Block;
use super::access::{Masks, Reach};
use super::near::Near;
use crate::axis::AxisFacts;
use crate::budget::Budget;
use crate::dtype::DType;
use crate::tile::OpKind;
use crate::ttir;
use std::collections::BTreeSet;
use weft_layout::access::Kind;
use weft_layout::family::{Blocked, Family, NvmmaShared, SwizzledShared};
use weft_layout::machine::Machine;
use weft_layout::plan;
use weft_layout::plan::swizzle::{Access, Problem, solve};
use weft_layout::space::{LANE, REGISTER};
use weft_layout::{Layout, Space};

/// A load of rows that lie so far apart in memory, without a mask.
fn rows(shape: [u64; 2], steps: [u64; 2], element: &str) -> String {
    let [m, n] = shape;
    let [row, column] = steps;
    format!(
        r#"
tt.func public @rows(%x: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}) {{
  %i = tt.make_range {{end = {m} : i32, start = 0 : i32}} : tensor<{m}xi32>
  %j = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>
  %down = tt.expand_dims %i {{axis = 1 : i32}} : tensor<{m}xi32> -> tensor<{m}x1xi32>
  %across = tt.expand_dims %j {{axis = 0 : i32}} : tensor<{n}xi32> -> tensor<1x{n}xi32>
  %row = arith.constant dense<{row}> : tensor<{m}x1xi32>
  %column = arith.constant dense<{column}> : tensor<1x{n}xi32>
  %a = arith.muli %down, %row : tensor<{m}x1xi32>
  %b = arith.muli %across, %column : tensor<1x{n}xi32>
  %c = tt.broadcast %a : tensor<{m}x1xi32> -> tensor<{m}x{n}xi32>
  %d = tt.broadcast %b : tensor<1x{n}xi32> -> tensor<{m}x{n}xi32>
  %e = arith.addi %c, %d : tensor<{m}x{n}xi32>
  %base = tt.splat %x : !tt.ptr<{element}> -> tensor<{m}x{n}x!tt.ptr<{element}>>
  %at = tt.addptr %base, %e : tensor<{m}x{n}x!tt.ptr<{element}>>, tensor<{m}x{n}xi32>
  %loaded = tt.load %at : tensor<{m}x{n}x!tt.ptr<{element}>>
  tt.return
}}"#
    )
}

/// A layout of 64 x 64 numbers in four warps.
fn square(registers: &[u64], lanes: [u64; 5], warps: [u64; 2]) -> Layout {
    let ins = Space::hardware(registers.len() as u32, 5, 2, 0).unwrap();
    let bases = [registers, &lanes, &warps].concat();
    Layout::new(ins, Space::tensor(&[64, 64]).unwrap(), &bases).unwrap()
}

/// What it is said to cost to load what a copy brought is what the load costs in the swizzle that suits it best: by
/// whole vectors, by matrix moves of rows and of columns, and one by one.
#[test]
fn what_copies_brought_is_loaded_at_the_stated_price() {
    let machine = Machine::by_name("sm_90").unwrap();
    let budget = Budget::default();
    let block = Block { machine, warps: 4, shared_byte: 0, budget: &budget };
    let [c0, c1, c2, c3, c4, c5] = [0, 1, 2, 3, 4, 5].map(|bit| 1_u64 << bit);
    let [r0, r1, r2, r3, r4, r5] = [0, 1, 2, 3, 4, 5].map(|bit| 64_u64 << bit);
    let layouts = [
        square(&[c0, c1, c2, r4, r5], [c3, c4, c5, r0, r1], [r2, r3]),
        square(&[c0, c1, r3, r4, r5], [c2, c3, c4, c5, r0], [r1, r2]),
        square(&[c2, c3, c4, c5, r3], [c0, c1, r0, r1, r2], [r4, r5]),
        square(&[c0, c3, c4, c5, r3], [c1, c2, r0, r1, r2], [r4, r5]),
        square(&[c0, c1, c4, c5, r3], [c2, c3, r0, r1, r2], [r4, r5]),
        square(&[r0, r3, c3, c4, c5], [r1, r2, c0, c1, c2], [r4, r5]),
        square(&[r0, r1, r2, r3, r4], [c0, c1, c2, c3, c4], [c5, r5]),
    ];
    let mut seen = 0;
    // Of every second element none has a neighbour, so that the buffer may have them in any order.
    for (name, bits, step) in [("i8", 8, 1), ("f16", 16, 1), ("f32", 32, 1), ("f32", 32, 2)] {
        let module = ttir::parse(&rows([64, 64], [64 * step, step], name)).unwrap();
        let kernel = &module.kernels[0];
        let facts = AxisFacts::of(kernel);
        kernel.walk(&kernel.body, &mut |_, op| {
            if !matches!(op.kind, OpKind::Load(_)) {
                return;
            }
            let copied = Near::of(kernel, &facts, block, op);
            for layout in &layouts {
                let memories = [(1, 8), (2, 4), (4, 2), (8, 1)].map(|(rows, phases)| {
                    let memory = SwizzledShared::new(128 / bits, rows, phases, &[1, 0]);
                    Family::SwizzledShared(memory).padded(&[64, 64]).unwrap().layout().clone()
                });
                let load = Access::new(Kind::Load, layout.clone());
                let mut problem = Problem::new(machine, bits as u32, vec![load]);
                if step == 1 {
                    problem.fixed.vector = (0..(128 / bits).ilog2()).map(|bit| 1 << bit).collect();
                }
                let best = solve(&problem).unwrap().memory;
                let prices = memories.iter().chain([&best]).map(|memory| {
                    plan::load(memory, layout, bits as u32, machine).unwrap().cost.total
                });
                assert_eq!(
                    Some(copied.price(Kind::Load, layout, block).0),
                    prices.min(),
                    "{name} {layout}"
                );
                seen += 1;
            }
        });
    }
    assert_eq!(seen, 4 * layouts.len());
}

/// What it is said to cost to put a factor into memory for matrix units is at most what the store costs in each of
/// their swizzles along the axis, and just that of the cheapest where threads have whole vectors or matrices.
#[test]
fn factors_are_put_into_memory_at_the_stated_price() {
    let machine = Machine::by_name("sm_90").unwrap();
    let budget = Budget::default();
    let block = Block { machine, warps: 4, shared_byte: 0, budget: &budget };
    let [c0, c1, c2, c3, c4, c5] = [0, 1, 2, 3, 4, 5].map(|bit| 1_u64 << bit);
    let [r0, r1, r2, r3, r4, r5] = [0, 1, 2, 3, 4, 5].map(|bit| 64_u64 << bit);
    // Vectors of eight and of four, a product's sums, single elements along the row and across.
    let layouts = [
        (square(&[c0, c1, c2, r4, r5], [c3, c4, c5, r0, r1], [r2, r3]), true),
        (square(&[c0, c1, r3, r4, r5], [c2, c3, c4, c5, r0], [r1, r2]), true),
        (square(&[c0, r3, c3, c4, c5], [c1, c2, r0, r1, r2], [r4, r5]), true),
        (square(&[r3, r4, r5, c5, r2], [c0, c1, c2, c3, c4], [r0, r1]), false),
        (square(&[r0, r1, r2, r3, r4], [c0, c1, c2, c3, c4], [c5, r5]), false),
    ];
    for (layout, is_exact) in &layouts {
        let near = Near::along(&[64, 64], 1, DType::BF16);
        let (price, instructions) = near.price(Kind::Store, layout, block);
        let costs = [32, 64, 128].map(|span| {
            let memory = Family::NvmmaShared(NvmmaShared::new(span, 16)).layout(&[64, 64]);
            plan::store(layout, &memory.unwrap(), 16, machine).unwrap().cost.total
        });
        let least = *costs.iter().min().unwrap();
        assert!(price <= least && (price == least || !is_exact), "{layout}: {price}, {costs:?}");
        assert!(instructions > 0);
    }
}

/// What an access is said to touch is what its addresses touch, whatever the rows: one vector long, of no
/// power of two, over one another, or all the same.
#[test]
fn sectors_are_those_that_the_addresses_touch() {
    let machine = Machine::by_name("sm_90").unwrap();
    let mut state = 1_u64;
    let mut below = |count: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % count
    };
    for _ in 0..300 {
        let [log_rows, log_columns] = [below(10), below(8)];
        let (m, n) = (1 << log_rows, 1 << log_columns);
        let (name, bytes) = [("i8", 1), ("f16", 2), ("f32", 4), ("f64", 8)][below(4) as usize];
        let apart = [n, n, 0, 1, 3 * n, n + 1, 12, 1000][below(8) as usize];
        let steps = if below(4) == 0 { [1, apart.max(m)] } else { [apart, 1] };
        let text = rows([m, n], steps, name);
        let module = ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        let kernel = &module.kernels[0];
        let facts = AxisFacts::of(kernel);
        let mut sizes = |log2: u32| {
            let first = below(u64::from(log2) + 1) as u32;
            [1_u64 << first, 1 << (log2 - first)]
        };
        let (threads, warps, own) = (sizes(5), sizes(2), sizes(3));
        let order = if own[0] > 1 { [0, 1] } else { [1, 0] };
        let blocked = Blocked::new(&own, &threads, &warps, &order);
        let layout = blocked.layout(&[m, n]).unwrap();
        kernel.walk(&kernel.body, &mut |_, op| {
            if !matches!(op.kind, OpKind::Load(_)) {
                return;
            }
            let shape = AccessShape::of(kernel, &facts, machine, op, &layout).unwrap();
            let found = shape.sectors(machine).unwrap().actual;
            let mut touched = BTreeSet::new();
            for lane in 0..32 {
                for &register in &shape.vectors.groups[0] {
                    let place = [(REGISTER, register.into()), (LANE, lane)];
                    let place = shape.layout.ins().pack(&place).unwrap();
                    let element = shape.layout.apply_flat(place);
                    let address = (element / n * steps[0] + element % n * steps[1]) * bytes;
                    touched.extend((address..address + bytes).map(|byte| byte / 32));
                }
            }
            assert_eq!(found, touched.len() as u64, "{layout}\n{text}");
        });
    }
}

/// Rows of so many floats in tensors of 512 columns, from a row that is known where the program runs: the
/// offsets may wrap, as far as is proved.
fn rows_that_may_wrap(columns: u64, mask: &str) -> String {
    format!(
        "tt.func public @rows(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %first: i32) {{
          %r = tt.make_range {{end = 4 : i32, start = 0 : i32}} : tensor<4xi32>
          %rows = tt.expand_dims %r {{axis = 1 : i32}} : tensor<4xi32> -> tensor<4x1xi32>
          %firsts = tt.splat %first : i32 -> tensor<4x1xi32>
          %place = arith.addi %firsts, %rows : tensor<4x1xi32>
          %step = arith.constant dense<{columns}> : tensor<4x1xi32>
          %start = arith.muli %place, %step : tensor<4x1xi32>
          %c = tt.make_range {{end = 512 : i32, start = 0 : i32}} : tensor<512xi32>
          %columns = tt.expand_dims %c {{axis = 0 : i32}} : tensor<512xi32> -> tensor<1x512xi32>
          %starts = tt.broadcast %start : tensor<4x1xi32> -> tensor<4x512xi32>
          %across = tt.broadcast %columns : tensor<1x512xi32> -> tensor<4x512xi32>
          %offsets = arith.addi %starts, %across : tensor<4x512xi32>
          %base = tt.splat %x : !tt.ptr<f32> -> tensor<4x512x!tt.ptr<f32>>
          %from = tt.addptr %base, %offsets : tensor<4x512x!tt.ptr<f32>>, tensor<4x512xi32>
          %end = arith.constant dense<{columns}> : tensor<4x512xi32>
          %mask = arith.cmpi slt, %across, %end : tensor<4x512xi32>
          %t = tt.load %from{mask} : tensor<4x512x!tt.ptr<f32>>
          tt.return
        }}"
    )
}

/// The bits that memory walks, the sectors that a warp brings with four neighbours a lane and further rows
/// in registers, and how many neighbours one instruction moves.
fn reach(text: &str) -> (Vec<u32>, u64, u32) {
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    let machine = Machine::by_name("sm_90").unwrap();
    let layout = Blocked::new(&[4, 4], &[1, 32], &[1, 4], &[1, 0]).layout(&[4, 512]).unwrap();
    let mut found = None;
    kernel.walk(&kernel.body, &mut |_, op| {
        if matches!(op.kind, OpKind::Load(_)) {
            let order = Reach::of(kernel, &facts, machine, op, Masks::Same).unwrap().order;
            let shape = AccessShape::of(kernel, &facts, machine, op, &layout).unwrap();
            found = Some((order, shape.brought_sectors(machine), shape.vectors.vector_log2));
        }
    });
    found.unwrap()
}

/// Prices follow what rows add if nothing wraps; how much moves at once follows what is proved.
#[test]
fn likely_steps_are_prices_and_no_accesses() {
    let in_order: Vec<u32> = (0..11).collect();
    // Four floats are 16 bytes in either case, but a row of 511 floats begins anywhere.
    assert_eq!(reach(&rows_that_may_wrap(512, "")), (in_order, 64, 2));
    assert_eq!(reach(&rows_that_may_wrap(511, "")).2, 0);
    // Rows that overlap are brought once, but not where a mask cuts them at their ends.
    let rows_first = vec![0, 1, 2, 9, 3, 10, 4, 5, 6, 7, 8];
    let (order, brought, neighbours) = reach(&rows_that_may_wrap(4, ""));
    assert_eq!((order, neighbours), (rows_first, 2));
    assert!(brought < 64, "{brought} sectors");
    assert_eq!(reach(&rows_that_may_wrap(384, ", %mask")).1, 64);
}

/// Words 64 bytes apart, loaded and stored by one warp of two registers a lane: what the load and the store cost it
/// in the layout with these columns, the register's first.
fn scattered(columns: &[u64; 6]) -> [u64; 2] {
    let text = "tt.func public @column(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
      %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %step = arith.constant dense<16> : tensor<64xi32>
      %offsets = arith.muli %r, %step : tensor<64xi32>
      %base = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %at = tt.addptr %base, %offsets : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %t = tt.load %at : tensor<64x!tt.ptr<f32>>
      tt.store %at, %t : tensor<64x!tt.ptr<f32>>
      tt.return
    }";
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    let machine = Machine::by_name("sm_90").unwrap();
    let ins = Space::hardware(1, 5, 0, 0).unwrap();
    let layout = Layout::new(ins, Space::tensor(&[64]).unwrap(), columns).unwrap();
    let mut costs = Vec::new();
    kernel.walk(&kernel.body, &mut |_, op| {
        if matches!(op.kind, OpKind::Load(_) | OpKind::Store(_)) {
            let shape = AccessShape::of(kernel, &facts, machine, op, &layout).unwrap();
            costs.push(shape.cost(machine, op).unwrap());
        }
    });
    costs.try_into().unwrap()
}

/// Each line that a store reaches leaves the multiprocessor by itself; loads bring sectors, wherever they are.
#[test]
fn stores_of_parts_of_sectors_cost_less_with_lanes_side_by_side() {
    let [load, store] = scattered(&[32, 1, 2, 4, 8, 16]);
    let [apart_load, apart_store] = scattered(&[1, 2, 4, 8, 16, 32]);
    assert_eq!(load, apart_load);
    assert!(store < apart_store, "{store}, {apart_store}");
}

/// Of a tile of which a mask leaves 24 of 32 columns, threads load nothing for registers behind the end; where lanes or
/// warps are behind it, others still issue as much.
#[test]
fn what_is_behind_the_end_of_a_mask_costs_nothing() {
    let text = "tt.func public @cut(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
      %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %column = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %end = arith.constant dense<24> : tensor<1x32xi32>
      %some = arith.cmpi slt, %column, %end : tensor<1x32xi32>
      %mask = tt.broadcast %some : tensor<1x32xi1> -> tensor<32x32xi1>
      %row = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %step = arith.constant dense<32> : tensor<32x1xi32>
      %start = arith.muli %row, %step : tensor<32x1xi32>
      %starts = tt.broadcast %start : tensor<32x1xi32> -> tensor<32x32xi32>
      %columns = tt.broadcast %column : tensor<1x32xi32> -> tensor<32x32xi32>
      %offsets = arith.addi %starts, %columns : tensor<32x32xi32>
      %base = tt.splat %x : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
      %at = tt.addptr %base, %offsets : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
      %t = tt.load %at, %mask : tensor<32x32x!tt.ptr<f32>>
      tt.return
    }";
    let module = ttir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernel = &module.kernels[0];
    let facts = AxisFacts::of(kernel);
    let machine = Machine::by_name("sm_90").unwrap();
    // Eight registers, 32 lanes and four warps hold the bits of the place in this order.
    let issued = |bits: [u32; 10]| {
        let columns = bits.map(|bit| 1 << bit);
        let ins = Space::hardware(3, 5, 2, 0).unwrap();
        let layout = Layout::new(ins, Space::tensor(&[32, 32]).unwrap(), &columns).unwrap();
        let mut found = None;
        kernel.walk(&kernel.body, &mut |_, op| {
            if matches!(op.kind, OpKind::Load(_)) {
                let shape = AccessShape::of(kernel, &facts, machine, op, &layout).unwrap();
                assert!(shape.bound(machine) <= 4 * shape.cost(machine, op).unwrap());
                found = Some(shape.instructions());
            }
        });
        found.unwrap()
    };
    // Columns are bits 0 to 4: the last two of them in registers, in lanes, and in warps, and one of them in registers.
    assert_eq!(issued([3, 4, 9, 0, 1, 2, 5, 6, 7, 8]), 6);
    assert_eq!(issued([7, 8, 9, 0, 1, 2, 3, 4, 5, 6]), 8);
    assert_eq!(issued([7, 8, 9, 0, 1, 2, 5, 6, 3, 4]), 8);
    assert_eq!(issued([4, 8, 9, 0, 1, 2, 3, 5, 6, 7]), 8);
}

/// Of two axes along which nothing is proved, memory is taken to walk the one whose places are remainders by a size, or
/// whose factor is no multiple of many elements, or is passed last.
#[test]
fn memory_likely_walks_along_remainders() {
    let order = |first: &str, second: &str| {
        let text = format!(
            "tt.func public @turned(%x: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %n: i64,
                %a: i64 {{tt.divisibility = 16 : i32}}, %b: i64 {{tt.divisibility = 16 : i32}}, %c: i64) {{
              %pid = tt.get_program_id x : i32
              %block = arith.constant 32 : i32
              %begin = arith.muli %pid, %block : i32
              %begins = tt.splat %begin : i32 -> tensor<32xi32>
              %range = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32>
              %r = arith.addi %begins, %range : tensor<32xi32>
              %wide = arith.extsi %r : tensor<32xi32> to tensor<32xi64>
              %size = tt.splat %n : i64 -> tensor<32xi64>
              %rest = arith.remsi %wide, %size : tensor<32xi64>
              %far = arith.muli %wide, %size : tensor<32xi64>
              %two = arith.constant dense<2> : tensor<32xi64>
              %every_second = arith.muli %rest, %two : tensor<32xi64>
              %outer = tt.splat %a : i64 -> tensor<32xi64>
              %inner = tt.splat %b : i64 -> tensor<32xi64>
              %odd = tt.splat %c : i64 -> tensor<32xi64>
              %area = arith.muli %a, %b : i64
              %areas = tt.splat %area : i64 -> tensor<32xi64>
              %by_outer = arith.muli %wide, %outer : tensor<32xi64>
              %by_inner = arith.muli %inner, %wide : tensor<32xi64>
              %by_odd = arith.muli %wide, %odd : tensor<32xi64>
              %by_area = arith.muli %wide, %areas : tensor<32xi64>
              %down = tt.expand_dims %{first} {{axis = 1 : i32}} : tensor<32xi64> -> tensor<32x1xi64>
              %over = tt.expand_dims %{second} {{axis = 0 : i32}} : tensor<32xi64> -> tensor<1x32xi64>
              %at_rows = tt.broadcast %down : tensor<32x1xi64> -> tensor<32x32xi64>
              %at_columns = tt.broadcast %over : tensor<1x32xi64> -> tensor<32x32xi64>
              %offsets = arith.addi %at_rows, %at_columns : tensor<32x32xi64>
              %base = tt.splat %x : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
              %at = tt.addptr %base, %offsets : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi64>
              %t = tt.load %at : tensor<32x32x!tt.ptr<f32>>
              tt.return
            }}"
        );
        let module = ttir::parse(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let kernel = &module.kernels[0];
        let facts = AxisFacts::of(kernel);
        let mut found = None;
        kernel.walk(&kernel.body, &mut |_, op| {
            if matches!(op.kind, OpKind::Load(_)) {
                found = Some(super::access::memory_order(kernel, &facts, op.operands[0]));
            }
        });
        found.unwrap()
    };
    assert_eq!(order("rest", "far"), [0, 1]);
    assert_eq!(order("far", "rest"), [1, 0]);
    assert_eq!(order("far", "far"), [1, 0]);
    assert_eq!(order("every_second", "far"), [0, 1]);
    assert_eq!(order("far", "every_second"), [1, 0]);
    for (nearer, farther) in [
        ("by_inner", "by_outer"),
        ("by_odd", "by_outer"),
        ("by_odd", "by_inner"),
        ("by_odd", "far"),
        ("by_outer", "by_area"),
        ("far", "by_outer"),
    ] {
        assert_eq!(order(nearer, farther), [0, 1], "{nearer} {farther}");
        assert_eq!(order(farther, nearer), [1, 0], "{farther} {nearer}");
    }
}
