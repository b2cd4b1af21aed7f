//! Which values have a home of their own, and which share one.
//!
//! Three kinds of tensor have none: free ones ([`find_free`](super::classes::find_free)), results of shape
//! operations, and values with several users that are cheaper to recompute than to move: a few cheap
//! operations on tensors that are smaller in bytes. Each user computes these from their operands in the layout
//! that it needs, and users in one layout share them.
//!
//! Of those with a home, values that element-wise operations of one width tie together share it where
//! that excludes nothing that could be cheaper: where the operand is used nowhere else (moving it costs
//! as much as moving the result), and inside a *knot*, a biconnected component of the graph of values and
//! operations. Two knots have one value in common, and that value is what moves from one to the other.

use super::classes::{Classes, is_cheap};
use super::shape::{is_elementwise, is_shape_op};
use crate::id::{Id, IdMap};
use crate::tile::{Kernel, Op, OpKind, Value};

/// The most operations that are made again for whoever needs what they give.
const MOST_MADE_AGAIN: u32 = 4;

/// What is known of homes before they are chosen.
pub(super) struct Regions {
    /// Whether a value has a home.
    pub(super) has_home: IdMap<Value, bool>,
    /// The values that share one.
    pub(super) classes: Classes,
}

impl Regions {
    /// Regions of a kernel; what is pinned has a home wherever it can have one.
    pub(super) fn of(kernel: &Kernel, free: &IdMap<Value, bool>, pinned: &[Value]) -> Self {
        let mut has_home = IdMap::default();
        for (value, data) in kernel.values.iter() {
            has_home.set(value, data.ty.is_tensor() && !free[value]);
        }
        let asked = times_asked(kernel, &has_home);
        let definitions = kernel.definitions();
        // How many operations make a value from those with a home, and the bytes of these.
        let mut made: IdMap<Value, (u32, u64)> = IdMap::default();
        for (value, data) in kernel.values.iter() {
            if has_home[value] {
                made.set(value, (0, data.ty.elements() * u64::from(data.ty.dtype().bytes())));
            }
        }
        let mut uses: IdMap<Value, u32> = IdMap::default();
        kernel.walk(&kernel.body, &mut |_, op| {
            for &operand in &op.operands {
                *uses.entry(operand) += 1;
            }
            let [result] = op.results[..] else { return };
            if !has_home[result] {
                return;
            }
            let shape_op = is_shape_op(&op.kind) || op.kind == OpKind::ConvertLayout;
            if !shape_op && !is_cheap(kernel, &definitions, op) {
                return;
            }
            let from = op.operands.iter().fold((0, 0), |sum: (u32, u64), &operand| {
                let own = made[operand];
                (sum.0 + own.0, sum.1 + own.1)
            });
            let again = (from.0 + u32::from(!shape_op), from.1);
            let cheap = !pinned.contains(&result)
                && asked[result] > 1
                && again.0 <= MOST_MADE_AGAIN
                && again.1 < made[result].1;
            if shape_op || cheap {
                has_home.set(result, false);
                made.set(result, again);
            }
        });
        let mut regions = Self { has_home, classes: Classes::default() };
        regions.tie_control(kernel);
        regions.tie_single_uses(kernel, &uses);
        regions.tie_knots(kernel);
        regions
    }

    fn tie(&mut self, value: Value, others: impl IntoIterator<Item = Value>) {
        if self.has_home[value] {
            for other in others {
                if self.has_home[other] {
                    self.classes.join(value, other);
                }
            }
        }
    }

    /// What enters a region's rounds is what leaves them.
    fn tie_control(&mut self, kernel: &Kernel) {
        kernel.walk(&kernel.body, &mut |_, op| match op.kind {
            OpKind::For(_) => {
                for (&result, &param) in op.results.iter().zip(&op.regions[0].params[1..]) {
                    self.tie(result, [param]);
                }
            }
            OpKind::While => {
                for (&result, &param) in op.results.iter().zip(&op.regions[1].params) {
                    self.tie(result, [param]);
                }
            }
            OpKind::Scan { .. } => {
                self.tie(op.results[0], op.results[1..].iter().copied());
            }
            OpKind::InlineAsm(_) => {
                let others = op.operands.iter().chain(&op.results[1..]).copied();
                self.tie(op.results[0], others.collect::<Vec<_>>());
            }
            _ => {}
        });
    }

    /// The operands that an element-wise operation could share its result's home with.
    fn alike(&self, kernel: &Kernel, op: &Op) -> Option<(Value, Vec<Value>)> {
        let [result] = op.results[..] else { return None };
        if !is_elementwise(&op.kind) || !self.has_home[result] {
            return None;
        }
        let width = |value: Value| kernel.ty(value).dtype().bytes();
        let alike = |&value: &Value| self.has_home[value] && width(value) == width(result);
        Some((result, op.operands.iter().copied().filter(alike).collect()))
    }

    fn tie_single_uses(&mut self, kernel: &Kernel, uses: &IdMap<Value, u32>) {
        kernel.walk(&kernel.body, &mut |_, op| {
            if let Some((result, operands)) = self.alike(kernel, op) {
                self.tie(result, operands.into_iter().filter(|&operand| uses[operand] == 1));
            }
        });
    }

    fn tie_knots(&mut self, kernel: &Kernel) {
        let values = kernel.values.len();
        let mut graph = vec![Vec::new(); values + kernel.ops.len()];
        kernel.walk(&kernel.body, &mut |id, op| {
            if let Some((result, operands)) = self.alike(kernel, op) {
                let mut ends: Vec<usize> =
                    operands.iter().chain([&result]).map(|value| value.index()).collect();
                ends.sort_unstable();
                ends.dedup();
                for end in ends {
                    graph[end].push(values + id.index());
                    graph[values + id.index()].push(end);
                }
            }
        });
        for knot in knots(&graph) {
            let mut inside = knot.into_iter().filter(|&vertex| vertex < values).map(Value::new);
            if let Some(first) = inside.next() {
                self.tie(first, inside);
            }
        }
    }
}

/// How many operations ask for each value, through shape operations.
fn times_asked(kernel: &Kernel, is_held: &IdMap<Value, bool>) -> IdMap<Value, u32> {
    let mut ops = Vec::new();
    kernel.walk(&kernel.body, &mut |_, op| ops.push(op));
    let mut asked: IdMap<Value, u32> = IdMap::default();
    for op in ops.into_iter().rev() {
        let times = match op.results[..] {
            [result] if is_held[result] && is_shape_op(&op.kind) => asked[result],
            _ => 1,
        };
        for &operand in &op.operands {
            *asked.entry(operand) += times;
        }
    }
    asked
}

/// The vertices of each biconnected component of more than one edge (Hopcroft and Tarjan, 1973).
fn knots(graph: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    // When each vertex was met; the earliest that its subtree reaches.
    let mut met = vec![0_usize; graph.len()];
    let mut reaches = vec![0_usize; graph.len()];
    let mut clock = 0;
    for root in 0..graph.len() {
        if met[root] != 0 || graph[root].is_empty() {
            continue;
        }
        clock += 1;
        (met[root], reaches[root]) = (clock, clock);
        // The open vertices with their parents and the next neighbour to look at; the edges since.
        let mut path = vec![(root, root, 0_usize)];
        let mut edges: Vec<(usize, usize)> = Vec::new();
        while let Some(&mut (at, parent, ref mut next)) = path.last_mut() {
            if let Some(&to) = graph[at].get(*next) {
                *next += 1;
                if met[to] == 0 {
                    clock += 1;
                    (met[to], reaches[to]) = (clock, clock);
                    edges.push((at, to));
                    path.push((to, at, 0));
                } else if to != parent && met[to] < met[at] {
                    edges.push((at, to));
                    reaches[at] = reaches[at].min(met[to]);
                }
                continue;
            }
            path.pop();
            let Some(&(above, ..)) = path.last() else { continue };
            reaches[above] = reaches[above].min(reaches[at]);
            if reaches[at] >= met[above] {
                let start = edges.iter().rposition(|&edge| edge == (above, at)).unwrap_or(0);
                let part = edges.split_off(start);
                if part.len() > 1 {
                    let mut knot: Vec<usize> = part.into_iter().flat_map(|(a, b)| [a, b]).collect();
                    knot.sort_unstable();
                    knot.dedup();
                    found.push(knot);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::knots;

    #[test]
    fn knots_are_the_parts_that_no_single_vertex_separates() {
        // Two squares that share vertex 3, and a tail.
        let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (5, 6), (6, 3), (6, 7)];
        let mut graph = vec![Vec::new(); 9];
        for (a, b) in edges {
            graph[a].push(b);
            graph[b].push(a);
        }
        let mut found = knots(&graph);
        found.sort();
        assert_eq!(found, [vec![0, 1, 2, 3], vec![3, 4, 5, 6]]);
    }
}
