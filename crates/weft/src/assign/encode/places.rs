//! Layouts under their names.

use super::super::{AssignError, LayoutId, Layouts};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use weft_layout::Layout;
use weft_layout::family::{self, Family};
use weft_layout::space::REGISTER;

/// A layout under a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct NamedLayout(usize);

/// The layouts with their names, without copies in registers.
#[derive(Default)]
pub(super) struct NamedLayouts {
    all: Vec<(LayoutId, Arc<Family>)>,
    ids: FxHashMap<(LayoutId, Arc<Family>), NamedLayout>,
    /// What each layout is called where nobody asks for a name.
    shortest: FxHashMap<LayoutId, NamedLayout>,
}

impl NamedLayouts {
    /// The layout and the name.
    pub(super) fn get(&self, place: NamedLayout) -> &(LayoutId, Arc<Family>) {
        &self.all[place.0]
    }

    /// A layout by its shortest name.
    pub(super) fn shortest(
        &mut self,
        layouts: &mut Layouts,
        layout: LayoutId,
    ) -> Result<NamedLayout, AssignError> {
        let layout = without_copies(layouts, layout)?;
        if let Some(&known) = self.shortest.get(&layout) {
            return Ok(known);
        }
        let itself = layouts.get(layout);
        let named = family::names(itself).into_iter().next();
        let place = self.intern(layout, named.unwrap_or_else(|| Family::of(itself)));
        self.shortest.insert(layout, place);
        Ok(place)
    }

    /// A layout by a name, if that is one of its names, else by its shortest.
    pub(super) fn named(
        &mut self,
        layouts: &mut Layouts,
        layout: LayoutId,
        family: Family,
    ) -> Result<NamedLayout, AssignError> {
        let layout = without_copies(layouts, layout)?;
        let itself = layouts.get(layout);
        let unique = |layout: Layout| Some(layout.remove_zero_columns(REGISTER).ok()?.0);
        let meant = family.layout(&itself.shape()).ok().and_then(unique);
        if meant.as_ref() == Some(itself) {
            return Ok(self.intern(layout, family));
        }
        self.shortest(layouts, layout)
    }

    fn intern(&mut self, layout: LayoutId, family: Family) -> NamedLayout {
        let key = (layout, Arc::new(family));
        let all = &mut self.all;
        *self.ids.entry(key.clone()).or_insert_with(|| {
            all.push(key);
            NamedLayout(all.len() - 1)
        })
    }
}

/// A layout without the registers that only hold copies.
fn without_copies(layouts: &mut Layouts, layout: LayoutId) -> Result<LayoutId, AssignError> {
    let unique = layouts.get(layout).remove_zero_columns(REGISTER)?.0;
    Ok(layouts.intern(unique))
}
