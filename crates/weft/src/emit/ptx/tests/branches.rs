//! Branches in branches, of which many end where others end.

use super::interpret::Kernel;
use super::print;
use crate::dtype::DType;
use crate::emit::tests::programs::{argument, elementwise, pointer};
use crate::lane::{Access, Builder, Op, Region, Space, Value};
use crate::scalar::{Binary, Cast, Compare};
use arbitrary::{Result, Unstructured};

/// A branch by one bit of the input, with two results.
struct Branch {
    bit: u32,
    sides: [Side; 2],
}

/// A region: a sum, perhaps a branch, perhaps something behind it, and which of all values it gives.
struct Side {
    addend: i32,
    inner: Option<Box<Branch>>,
    is_last: bool,
    given: [usize; 2],
}

impl Branch {
    fn any(u: &mut Unstructured<'_>, depth: u32) -> Result<Branch> {
        Ok(Branch {
            bit: u.int_in_range(0..=4)?,
            sides: [Side::any(u, depth)?, Side::any(u, depth)?],
        })
    }

    fn write(&self, build: &mut Builder, input: Value, known: &[Value]) -> Vec<Value> {
        let bit = build.i32(self.bit as i32);
        let bit = build.binary(Binary::ShrU, input, bit);
        let condition = build.cast(Cast::Trunc, bit, DType::I1);
        let [then, otherwise] = self.sides.each_ref().map(|side| side.write(build, input, known));
        build.if_(condition, then, otherwise, &[DType::I32; 2]).to_vec()
    }

    fn value(&self, input: u32, known: &[u32]) -> [u32; 2] {
        self.sides[usize::from(input >> self.bit & 1 == 0)].value(input, known)
    }
}

impl Side {
    fn any(u: &mut Unstructured<'_>, depth: u32) -> Result<Side> {
        let has_inner = depth > 0 && u.ratio(3, 4)?;
        Ok(Side {
            addend: u.int_in_range(1..=100)?,
            inner: if has_inner { Some(Box::new(Branch::any(u, depth - 1)?)) } else { None },
            is_last: u.ratio(3, 4)?,
            given: [u.int_in_range(0..=9)?, u.int_in_range(0..=9)?],
        })
    }

    fn write(&self, build: &mut Builder, input: Value, known: &[Value]) -> Region {
        build.open_region(&[]);
        let mut known = known.to_vec();
        let addend = build.i32(self.addend);
        known.push(build.binary(Binary::Add, known[0], addend));
        if let Some(inner) = &self.inner {
            let results = inner.write(build, input, &known);
            known.extend(results);
        }
        if !self.is_last {
            known.push(build.binary(Binary::Xor, known[known.len() - 1], known[0]));
        }
        let given = self.given.map(|place| known[known.len() - 1 - place % known.len()]);
        build.close_region(Op::Yield, &given)
    }

    fn value(&self, input: u32, known: &[u32]) -> [u32; 2] {
        let mut known = known.to_vec();
        known.push(known[0].wrapping_add(self.addend as u32));
        if let Some(inner) = &self.inner {
            let results = inner.value(input, &known);
            known.extend(results);
        }
        if !self.is_last {
            known.push(known[known.len() - 1] ^ known[0]);
        }
        self.given.map(|place| known[known.len() - 1 - place % known.len()])
    }
}

#[test]
fn branches_that_end_together_give_what_each_gives() {
    let mut ends = [0, 0];
    for seed in 0..400u64 {
        let bytes: Vec<u8> = (0..4096u64)
            .map(|at| ((seed * 4096 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
            .collect();
        let branch = Branch::any(&mut Unstructured::new(&bytes), 4).unwrap();
        let program = elementwise("branches", &[DType::I32], |build, x| {
            let results = branch.write(build, x[0], &[x[0]]);
            let seven = build.i32(7);
            let second = build.binary(Binary::Mul, results[1], seven);
            build.binary(Binary::Add, results[0], second)
        });
        let text = print(&program, super::target("sm_90")).unwrap();
        let kernel = Kernel::read(&text);
        for input in 0..32 {
            let [first, second] = branch.value(input, &[input]);
            let want = first.wrapping_add(second.wrapping_mul(7));
            assert_eq!(kernel.run(&[input.into()]), want.into(), "seed {seed}, {input}\n{text}");
        }
        ends[0] += text.matches("$L_end_").count() - text.matches("bra.uni $L_end_").count();
        program.walk(&program.body, &mut |_, inst| ends[1] += usize::from(inst.op == Op::If));
    }
    // Three of four branches stand last.
    assert!(2 * ends[0] < ends[1], "{ends:?}");
}

/// A loop over numbers in memory, which ends behind so many rounds, or at the first one that is zero.
#[test]
fn what_lanes_leave_together_is_said_to_be_uniform_where_data_decides() {
    for (shuffles, by_data, is_told) in
        [(true, true, true), (true, false, false), (false, true, false), (false, false, false)]
    {
        let mut build = Builder::new("rounds", 1, 5);
        let [x, out] = ["x", "out"].map(|name| build.param(pointer(name, DType::I32)));
        let count = build.param(argument("count", DType::I32));
        let zero = build.i32(0);
        let target = build.new_loop(&[zero, zero], &[DType::I32]);
        let [round, sum] = build.open_region(&[DType::I32; 2])[..] else { unreachable!() };
        let wide = build.cast(Cast::ExtS, round, DType::I64);
        let place = build.binary(Binary::Add, x, wide);
        let loaded = build.load(Space::Global, Access::default(), DType::I32, 1, place, None)[0];
        let ends = if by_data {
            build.compare(Compare::Eq, loaded, zero)
        } else {
            build.compare(Compare::Sge, round, count)
        };
        build.break_if(target, ends, &[sum]);
        let other = if shuffles { build.shuffle_xor(loaded, 1) } else { loaded };
        let next_sum = build.binary(Binary::Add, sum, other);
        let one = build.i32(1);
        let next = build.binary(Binary::Add, round, one);
        let body = build.close_region(Op::Continue, &[next, next_sum]);
        let result = build.place_loop(target, body)[0];
        build.store(Space::Global, Access::default(), out, None, &[result]);
        let text = print(&build.finish(), super::target("sm_90")).unwrap();
        let is_uniform = text.lines().any(|line| line.contains('@') && line.contains("bra.uni"));
        assert_eq!(is_uniform, is_told, "{shuffles} {by_data}\n{text}");
    }
}
