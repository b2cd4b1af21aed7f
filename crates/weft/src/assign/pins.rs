//! Homes that somebody pinned.

use super::layouts::{LayoutId, Layouts};
use super::problem::{Problem, UnitId, What};
use super::{AssignError, Block};
use crate::tile::{Encoding, Launch, Value};
use std::sync::Arc;
use weft_layout::Layout;
use weft_layout::family::Family;
use weft_layout::space::REGISTER;

/// A value that shall live in a layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pin {
    /// The value that is pinned.
    pub value: Value,
    /// The layout in which it shall live.
    pub layout: Layout,
}

/// The units that the pins fix, each once, with their layouts.
pub(super) fn units(
    problem: &Problem<'_>,
    layouts: &mut Layouts,
    block: Block<'_>,
    pins: &[Pin],
) -> Result<Vec<(UnitId, LayoutId)>, AssignError> {
    let kernel = problem.kernel;
    let launch =
        Launch { warps: Some(block.warps), lanes: Some(block.machine.lanes()), target: None };
    let mut fixed: Vec<(UnitId, LayoutId, Value)> = Vec::new();
    for Pin { value, layout } in pins {
        let name = || kernel.value_name(*value);
        let Some(unit) = problem.home(*value) else {
            let mut known: Vec<String> = Vec::new();
            for unit in &problem.units {
                if let What::Home(value) = unit.what {
                    known.push(kernel.value_name(value));
                }
            }
            return Err(AssignError::Homeless { name: name(), known: known.join(", ") });
        };
        let family = Encoding::Registers(Arc::new(Family::of(layout)));
        let placed = kernel.ty(*value).bare().with_encoding(family);
        placed.check_encoding(&launch).map_err(|misplaced| AssignError::Given {
            name: name(),
            ty: placed.to_string(),
            misplaced: Box::new(misplaced),
        })?;
        let layout = layouts.intern(layout.remove_zero_columns(REGISTER)?.0);
        match fixed.iter().find(|(known, ..)| *known == unit) {
            Some(&(_, known, other)) if known != layout => {
                let other = kernel.value_name(other);
                return Err(AssignError::PinnedTwice { name: name(), other });
            }
            Some(_) => {}
            None => fixed.push((unit, layout, *value)),
        }
    }
    Ok(fixed.into_iter().map(|(unit, layout, _)| (unit, layout)).collect())
}
