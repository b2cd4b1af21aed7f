//! All memories of a family, each held against the rank law and counted.

use crate::answer::{SweepAnswer, SweptAnswer, TakenAnswer};
use crate::budget;
use crate::error::ApiError;
use crate::reading::{in_waves_of, read_linear};
use crate::request::{SweepRequest, machine, needed_bits};
use std::collections::BTreeMap;
use weft_layout::Space;
use weft_layout::access::{Counted, Counter, Folds, Kind};

/// The most memories of one request: a shell that shows progress asks for the next ones after that.
const MAX_MEMORIES: u64 = 1 << 20;
/// The most elements of a tensor that is counted on one memory after the other.
const MAX_ELEMENTS: u64 = 1 << 16;

/// What accesses take on the memories that fold bits of the row into bits of the column, from one
/// number to another.
///
/// ```
/// use weft_api::{request::SweepRequest, sweep};
///
/// let answer = sweep::sweep(&SweepRequest {
///     store: "[register: (1,0) (2,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 4, dim1: 32]"
///         .into(),
///     loads: vec![
///         "[register: (0,8) (0,16), lane: (1,0) (2,0) (0,1) (0,2) (0,4)] -> [dim0: 4, dim1: 32]"
///             .into(),
///     ],
///     shape: vec![4, 32],
///     element: Some("f32".into()),
///     count: 1 << 10,
///     ..Default::default()
/// })?;
/// assert_eq!((answer.toggles, answer.disagreements), (10, 0));
/// let [store, load] = &answer.accesses[..] else { panic!("one store and one load") };
/// assert_eq!(store.taken.len(), 1);
/// assert_eq!(load.taken.iter().map(|taken| taken.memories).sum::<u64>(), 1 << 10);
/// # Ok::<(), weft_api::ApiError>(())
/// ```
pub fn sweep(request: &SweepRequest) -> Result<SweepAnswer, ApiError> {
    let SweepRequest { store, loads, shape, element, element_bits, target, from, count } = request;
    let bits = needed_bits(element.as_deref(), *element_bits)?;
    let machine = machine(target)?;
    if loads.is_empty() {
        return Err(ApiError::NoLoads);
    }
    let refuse = |reason: String| Err(ApiError::Sweep { reason });
    let mut named = vec![("store".to_owned(), Kind::Store, read_linear("store", store, shape)?)];
    for (number, load) in (1..).zip(loads) {
        let name = if loads.len() > 1 { format!("load {number}") } else { "load".into() };
        named.push((name, Kind::Load, read_linear("loads", load, shape)?));
    }
    if shape.iter().product::<u64>() > MAX_ELEMENTS {
        return refuse(format!("a tensor of more than {MAX_ELEMENTS} elements takes too long"));
    }
    let outs = Space::tensor(shape).map_err(|error| ApiError::Layout {
        parameter: "shape",
        basis: None,
        error: Box::new(error.into()),
    })?;
    let Some(folds) = Folds::of(&outs) else {
        return refuse("rows and columns of this tensor have too many bits to fold".into());
    };
    let toggles = folds.toggles();
    let all = 1_u64.checked_shl(toggles).unwrap_or(u64::MAX);
    let inside = from.checked_add(*count).is_some_and(|end| end <= all);
    if *count > MAX_MEMORIES || !inside {
        return refuse(format!(
            "memories {from} to {} are asked for; there are {all}, and one request takes at most \
             {MAX_MEMORIES}",
            from.saturating_add(*count)
        ));
    }
    let mut counters = Vec::new();
    for (name, kind, layout) in named {
        let parameter = if kind == Kind::Store { "store" } else { "loads" };
        let layout = in_waves_of(parameter, &layout, &machine)?;
        counters.push((
            name,
            Counter::new(&machine, kind, &layout, &folds, bits)?,
            BTreeMap::new(),
        ));
    }
    let mut disagreements = 0;
    budget::begin("while memories were counted")?;
    for number in *from..from + count {
        budget::check()?;
        for (_, counter, taken) in &mut counters {
            let counted = counter.count(number)?;
            disagreements += u64::from(counted.law != counted.counted);
            *taken.entry(counted).or_insert(0_u64) += 1;
        }
    }
    let taken = |(counted, memories): (Counted, u64)| TakenAnswer {
        instructions: counted.instructions,
        wavefronts: counted.counted,
        memories,
    };
    let accesses = counters.into_iter().map(|(access, _, counts)| SweptAnswer {
        access,
        taken: counts.into_iter().map(taken).collect(),
    });
    Ok(SweepAnswer {
        toggles,
        from: *from,
        count: *count,
        accesses: accesses.collect(),
        disagreements,
    })
}
