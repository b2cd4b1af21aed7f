//! The forms of a kernel that attempts compile: with its factors where they shall be and its loads ahead.

use super::attempt::{Attempt, Factors, Futile};
use super::{CompileError, Options, Scratch, TensorMaps, facts_of};
use crate::axis::AxisFacts;
use crate::pipeline::Wanted;
use crate::tile::{Kernel, OpId};
use crate::{anew, descriptors, factors, first, natural, once, pipeline, schedule, whole};
use std::borrow::Cow;
use std::rc::Rc;

/// A form of a kernel, with what is known of its values.
pub(super) struct Form<'a> {
    pub(super) kernel: Cow<'a, Kernel>,
    pub(super) facts: AxisFacts,
}

impl<'a> Form<'a> {
    pub(super) fn of(kernel: Cow<'a, Kernel>, options: &Options) -> Result<Self, CompileError> {
        let facts = facts_of(&kernel, options)?;
        Ok(Self { kernel, facts })
    }

    /// The kernel with pointers where it has tensor descriptors, without loops that run once at most, and with first
    /// rounds that differ, and last ones that are cut short, apart from whole ones; and in two versions where dividends
    /// that are not negative make accesses wider.
    pub(super) fn expanded(kernel: &'a Kernel, options: &Options) -> Result<Self, CompileError> {
        let expanded = descriptors::run(kernel, &[]).map_or(Cow::Borrowed(kernel), Cow::Owned);
        let mut form = Self::of(expanded, options)?.without_single_rounds(options)?;
        if let Some(kernel) = first::run(&form.kernel, &form.facts) {
            form = Self::of(Cow::Owned(kernel), options)?.without_single_rounds(options)?;
        }
        form = form.with_whole_rounds(options)?;
        let Some(natural) = natural::run(&form.kernel, &form.facts) else { return Ok(form) };
        let facts = facts_of(&natural.kernel, options)?;
        if !natural.helps(&form.facts, &facts) {
            return Ok(form);
        }
        Ok(Self { kernel: Cow::Owned(natural.kernel), facts })
    }

    /// The form with loops of whole rounds, if a load then has no mask.
    fn with_whole_rounds(self, options: &Options) -> Result<Self, CompileError> {
        let Some(whole) = whole::run(&self.kernel, &self.facts) else { return Ok(self) };
        let facts = facts_of(&whole.kernel, options)?;
        if !whole.helps(&facts) {
            return Ok(self);
        }
        Self { kernel: Cow::Owned(whole.kernel), facts }.without_single_rounds(options)
    }

    /// The form with bodies for loops that run once, and what is taken for branches that are known.
    fn without_single_rounds(self, options: &Options) -> Result<Self, CompileError> {
        match once::run(&self.kernel, &self.facts) {
            Some(kernel) => Self::of(Cow::Owned(kernel), options),
            None => Ok(self),
        }
    }
}

/// The forms of a kernel, each made when an attempt asks for it; those asked for last are kept.
pub(super) struct Forms<'a> {
    kernel: &'a Kernel,
    options: &'a Options,
    /// With pointers for descriptors.
    expanded: Option<Rc<Form<'a>>>,
    /// With the factors of products from there, its loads where they are.
    placed: Option<(Factors, Option<Rc<Form<'a>>>)>,
    /// That one with so many stages, in the order in which it is compiled.
    ahead: Option<((Factors, u32), Rc<Form<'a>>)>,
}

impl<'a> Forms<'a> {
    pub(super) fn new(kernel: &'a Kernel, options: &'a Options) -> Self {
        Self { kernel, options, expanded: None, placed: None, ahead: None }
    }

    /// The form for an attempt, or what is futile because there is none.
    pub(super) fn form(
        &mut self,
        attempt: Attempt,
    ) -> Result<Result<Rc<Form<'a>>, Futile>, CompileError> {
        let Attempt { factors, stages, .. } = attempt;
        let Some(placed) = self.placed(factors)? else { return Ok(Err(Futile::Factors(factors))) };
        if let Some((of, form)) = &self.ahead
            && *of == (factors, stages)
        {
            return Ok(Ok(Rc::clone(form)));
        }
        let Options { machine, warps, .. } = self.options;
        let ahead = if stages == 1 {
            None
        } else {
            let indices = pipeline::indices(&placed.kernel, &placed.facts, machine, *warps);
            let indices = indices.map(|kernel| Form::of(Cow::Owned(kernel), self.options));
            let indices = indices.transpose()?;
            let Form { kernel, facts } = indices.as_ref().unwrap_or(&placed);
            let wanted = Wanted { stages: self.options.stages, most: stages };
            let ahead = pipeline::run(kernel, facts, machine, *warps, wanted);
            let ahead = ahead.or_else(|| indices.map(|form| form.kernel.into_owned()));
            let (ahead, futile) = match factors {
                Factors::Mapped { .. } => {
                    let ahead = ahead.as_ref().unwrap_or(&placed.kernel);
                    (pipeline::direct(ahead), Futile::Factors(factors))
                }
                Factors::Shared | Factors::Registers => (ahead, Futile::Pipelines(factors)),
            };
            if ahead.is_none() {
                return Ok(Err(futile));
            }
            ahead
        };
        let early = schedule::early(ahead.as_ref().unwrap_or(&placed.kernel), machine, *warps);
        let form = match early.or(ahead) {
            Some(kernel) => Rc::new(Form::of(Cow::Owned(kernel), self.options)?),
            None => placed,
        };
        self.ahead = Some(((factors, stages), Rc::clone(&form)));
        Ok(Ok(form))
    }

    /// The kernel with its factors from there; nothing where there are none.
    fn placed(&mut self, factors: Factors) -> Result<Option<Rc<Form<'a>>>, CompileError> {
        if let Some((of, form)) = &self.placed
            && *of == factors
        {
            return Ok(form.clone());
        }
        let form = match factors {
            Factors::Mapped { stores } => self.mapped(stores)?.map(Rc::new),
            Factors::Shared => self.shared()?.map(Rc::new),
            Factors::Registers => Some(self.expanded()?),
        };
        self.placed = Some((factors, form.clone()));
        Ok(form)
    }

    fn expanded(&mut self) -> Result<Rc<Form<'a>>, CompileError> {
        let form = match &self.expanded {
            Some(form) => Rc::clone(form),
            None => Rc::new(Form::expanded(self.kernel, self.options)?),
        };
        self.expanded = Some(Rc::clone(&form));
        Ok(form)
    }

    fn shared(&mut self) -> Result<Option<Form<'a>>, CompileError> {
        let Options { machine, warps, .. } = self.options;
        let plain = self.expanded()?;
        let shared = factors::run(&plain.kernel, &plain.facts, machine, *warps);
        shared.map(|kernel| self.late(kernel)).transpose()
    }

    /// The form of a kernel with products of warpgroups, which begin no sooner than registers allow.
    fn late(&self, mut kernel: Kernel) -> Result<Form<'a>, CompileError> {
        anew::run(&mut kernel);
        schedule::late(&mut kernel, &self.options.machine, self.options.warps);
        Form::of(Cow::Owned(kernel), self.options)
    }

    /// The kernel with those descriptors as tensor maps that may be ones and of which blocks are factors of
    /// products of warpgroups, and, where `stores`, those through which it stores.
    fn mapped(&self, stores: bool) -> Result<Option<Form<'a>>, CompileError> {
        let Options { machine, warps, tensor_maps, scratch, .. } = self.options;
        let all_or_none = *tensor_maps == TensorMaps::All;
        let facts = facts_of(self.kernel, self.options)?;
        let mut maps = descriptors::mappable(self.kernel, &facts, *scratch == Scratch::Maps);
        let given = descriptors::given(self.kernel);
        let stored = descriptors::stored(self.kernel, &maps);
        if stores && stored.is_empty() {
            return Ok(None);
        }
        maps.retain(|id| stores || !stored.contains(id));
        loop {
            let all = given.iter().all(|id| maps.contains(id));
            if maps.iter().all(|id| stored.contains(id)) || all_or_none && !all {
                return Ok(None);
            }
            let Some(form) = descriptors::run(self.kernel, &maps) else { return Ok(None) };
            let facts = facts_of(&form, self.options)?;
            let Some(form) = factors::run(&form, &facts, machine, *warps) else { return Ok(None) };
            let feeding = factors::maps(&form, &maps);
            let kept = |id: &OpId| feeding.contains(id) || stored.contains(id);
            let kept: Vec<OpId> = maps.iter().copied().filter(kept).collect();
            let as_given = given.iter().all(|id| kept.contains(id)) || !all_or_none;
            if kept == maps || !feeding.is_empty() && !as_given {
                let form = if stores { descriptors::sent(&form) } else { form };
                return self.late(form).map(Some);
            }
            maps = kept;
        }
    }
}
