//! Random problems against every choice of labels.

use super::{Memory, NEVER, Node, Problem, Solution};
use arbitrary::{Result, Unstructured};

/// A random problem: up to seven nodes with up to four labels, from a forest to every edge.
fn problem(u: &mut Unstructured<'_>) -> Result<Problem> {
    let mut problem = Problem::default();
    let price = |u: &mut Unstructured<'_>| -> Result<u64> {
        Ok(match u.int_in_range(0..=9)? {
            0 => NEVER,
            1..=3 => 0,
            _ => u.int_in_range(1..=20)?,
        })
    };
    let mut nodes = Vec::new();
    let mut counts = Vec::new();
    for _ in 0..u.int_in_range(1..=7)? {
        let labels = u.int_in_range(1..=4)?;
        let mut prices = Vec::new();
        for _ in 0..labels {
            prices.push(price(u)?);
        }
        counts.push(labels);
        nodes.push(problem.node(prices));
    }
    let density = u.int_in_range(1..=6)?;
    for a in 0..nodes.len() {
        for b in 0..nodes.len() {
            if a != b && u.ratio(density, 8_u32)? {
                let mut prices = Vec::new();
                for _ in 0..counts[a] * counts[b] {
                    prices.push(price(u)?);
                }
                problem.edge(nodes[a], nodes[b], |x, y| prices[x * counts[b] + y]);
            }
        }
    }
    Ok(problem)
}

/// The least price of any choice.
fn optimum(problem: &Problem) -> u64 {
    let counts: Vec<usize> = problem.nodes.iter().map(Vec::len).collect();
    let mut labels = vec![0; counts.len()];
    let mut best = NEVER;
    loop {
        best = best.min(problem.cost(&labels));
        let Some(at) = (0..counts.len()).find(|&at| labels[at] + 1 < counts[at]) else {
            return best;
        };
        labels[at] += 1;
        labels[..at].fill(0);
    }
}

fn check(problem: &Problem, solution: &Solution, optimum: u64) {
    assert_eq!(solution.cost, problem.cost(&solution.labels));
    assert!(solution.bound <= optimum, "{solution:?} of {problem:?}, which takes {optimum}");
    assert!(optimum <= solution.cost);
    if solution.is_exact() {
        assert_eq!(solution.cost, optimum, "{solution:?} of {problem:?}");
    }
}

#[test]
fn what_is_called_exact_is_the_cheapest_and_no_bound_is_above_it() {
    let mut open = 0;
    for seed in 0..4_000_u64 {
        // The generator of Knuth's MMIX.
        let mut state = seed;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let bytes: Vec<u8> = (0..4096).map(|_| byte()).collect();
        let problem = problem(&mut Unstructured::new(&bytes)).unwrap();
        let optimum = optimum(&problem);
        let all = problem.solve(u64::MAX);
        check(&problem, &all, optimum);
        assert!(all.is_exact(), "{all:?} of {problem:?}");
        // What is known before changes nothing: neither the cheapest choice nor any other.
        let other: Vec<usize> =
            problem.nodes.iter().map(|prices| usize::from(byte()) % prices.len()).collect();
        for known in [&all.labels, &other] {
            let again = problem.solve_again(u64::MAX, &mut Memory::default(), Some(known));
            assert_eq!(again.cost, optimum);
            assert!(optimum == NEVER || again == all, "{again:?}, not {all:?} of {problem:?}");
        }
        // Where the steps run out, the bound stays below.
        let hurried = problem.solve(0);
        check(&problem, &hurried, optimum);
        open += u32::from(!hurried.is_exact());
    }
    assert!(open > 0, "the search was never cut short");
}

#[test]
fn what_is_remembered_of_other_prices_changes_no_solution() {
    // A ladder, of which one rung and one end change from solution to solution.
    let mut problem = Problem::default();
    let rails: Vec<[Node; 2]> = (0..20_u64)
        .map(|at| [at % 3, at % 5].map(|first| problem.node(vec![first, 2, 3])))
        .collect();
    for (at, rung) in rails.iter().enumerate() {
        problem.edge(rung[0], rung[1], |a, b| (a * 2 + b + at) as u64 % 4);
        if let Some(next) = rails.get(at + 1) {
            problem.edge(rung[0], next[0], |a, b| u64::from(a != b));
            problem.edge(rung[1], next[1], |a, b| 2 * u64::from(a != b));
        }
    }
    let mut memory = Memory::default();
    let mut costs = Vec::new();
    for round in 0..40_usize {
        let rung = rails[round * 7 % rails.len()];
        problem.set_edge(rung[1], rung[0], |b, a| ((a + 3 * b + round) * 5 % 7) as u64);
        problem.set_node(rails[round % 2 * 19][0], vec![round as u64 % 4, 1, 2]);
        let solution = problem.solve_again(0, &mut memory, None);
        assert_eq!(solution, problem.solve(0), "round {round}");
        costs.push(solution.cost);
    }
    costs.sort_unstable();
    costs.dedup();
    assert!(costs.len() > 3, "the prices decided nothing: {costs:?}");
}

#[test]
fn a_long_chain_with_rungs_needs_no_search() {
    // Rungs of a ladder between two rails: every node falls to R1 and R2 in turn.
    let mut problem = Problem::default();
    let rails: Vec<[_; 2]> = (0..200_u64)
        .map(|at| [at % 3, at % 5].map(|first| problem.node(vec![first, 2, 3])))
        .collect();
    for (at, rung) in rails.iter().enumerate() {
        problem.edge(rung[0], rung[1], |a, b| (a * 2 + b + at) as u64 % 4);
        if let Some(next) = rails.get(at + 1) {
            problem.edge(rung[0], next[0], |a, b| u64::from(a != b));
            problem.edge(rung[1], next[1], |a, b| 2 * u64::from(a != b));
        }
    }
    let solution = problem.solve(0);
    assert!(solution.is_exact());
    assert_eq!(solution.cost, problem.cost(&solution.labels));
}

#[test]
fn a_node_that_is_its_own_neighbour_pays_for_its_own_label() {
    let mut problem = Problem::default();
    let node = problem.node(vec![0, 1]);
    problem.edge(node, node, |a, b| if (a, b) == (0, 0) { 5 } else { 0 });
    assert_eq!(problem.solve(0), Solution { labels: vec![1], cost: 1, bound: 1 });
}
