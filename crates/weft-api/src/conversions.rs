//! How a tensor moves from one layout to another: the plan, and code that does it.

use crate::answer::ConvertAnswer;
use crate::budget;
use crate::error::ApiError;
use crate::kernels::printed;
use crate::reading::read_linear;
use crate::report;
use crate::request::{ConvertRequest, EmitConversion, machine, needed_bits, register_dtype};
use crate::view::{self, Colours, Movement, View, Window};
use weft::budget::{Limit, Overrun};
use weft::conversion;
use weft::emit::{self, Language, Target};
use weft::location::Locations;
use weft_layout::space::REGISTER;
use weft_layout::step::Plan;
use weft_layout::{Layout, plan, witness};

/// How a tensor moves from one layout to another, and how else it could; the plan has been replayed by
/// the witness.
///
/// ```
/// use weft_api::{conversions, request::{ConvertRequest, EmitConversion}};
///
/// let layout = |first, second| -> weft_api::bases::LayoutSource {
///     format!("[register: {first}, lane: {second} (0,2) (0,4) (0,8) (0,16)] -> [dim0: 2, dim1: 32]")
///         .as_str()
///         .into()
/// };
/// let request = ConvertRequest {
///     from: layout("(0,1)", "(1,0)"),
///     to: layout("(1,0)", "(0,1)"),
///     shape: vec![2, 32],
///     element: Some("f32".into()),
///     target: "gfx942".into(),
///     emit: Some(EmitConversion::Hip),
///     ..Default::default()
/// };
/// let refused = conversions::convert(&request).unwrap_err().to_string();
/// assert_eq!(refused, "the layout has 5 lane bits, the machine has 6");
/// let request = ConvertRequest {
///     target: "sm_90".into(),
///     emit: Some(EmitConversion::Cuda),
///     ..request
/// };
/// let text = conversions::convert(&request)?.text.unwrap_or_default();
/// assert!(text.contains("void convert_2x32_f32(const float (&from)[2], float (&to)[2])"));
/// # Ok::<(), weft_api::ApiError>(())
/// ```
pub fn convert(request: &ConvertRequest) -> Result<ConvertAnswer, ApiError> {
    convert_for(request, Colours::Off)
}

/// The same for a terminal: a picture as text may have colours.
pub fn convert_for(request: &ConvertRequest, colours: Colours) -> Result<ConvertAnswer, ApiError> {
    let ConvertRequest { from, to, shape, element, element_bits, target, emit } = request;
    let bits = needed_bits(element.as_deref(), *element_bits)?;
    let machine = machine(target)?;
    let (from, to) = (read_linear("from", from, shape)?, read_linear("to", to, shape)?);
    for (name, layout) in [("from", &from), ("to", &to)] {
        held(name, layout)?;
    }
    budget::begin("while a plan was looked for")?;
    let found = plan::conversions(&from, &to, bits, &machine)?;
    let plan = &found.best;
    witness::conversion(plan, &from, &to)
        .map_err(|error| ApiError::Refused { what: "the plan".into(), error })?;
    let mut answer = ConvertAnswer::of_all(&found);
    budget::begin("while the plan was written")?;
    let shown = |plan| Movement { plan, from: &from, to: &to, machine: &machine };
    let language = match emit {
        None => return Ok(answer),
        Some(EmitConversion::Plan) => {
            answer.text = Some(report::convert(&answer));
            return Ok(answer);
        }
        Some(EmitConversion::Picture) => {
            let scene = view::movement(&shown(plan), &View::default())?;
            answer.text = Some(view::terminal(&scene, colours));
            return Ok(answer);
        }
        Some(EmitConversion::Svg) => {
            let full = View { window: Window::Full, ..View::default() };
            answer.text = Some(view::svg(&view::movement(&shown(plan), &full)?));
            return Ok(answer);
        }
        Some(EmitConversion::Ptx) => Language::Ptx,
        Some(EmitConversion::Cuda) => Language::Cuda,
        Some(EmitConversion::Hip) => Language::Hip,
    };
    let target = printed(&machine)?;
    let dtype = register_dtype(element.as_deref(), bits);
    let named = element.clone().unwrap_or_else(|| format!("{bits} bits"));
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    let extents = extents.join("x");
    let name = format!("convert_{extents}_{dtype}");
    let program = conversion::function(&name, plan, dtype)?;
    let moved = format!("a tensor of {extents} elements of {named}");
    let about = about(&moved, target, [&from, &to], plan);
    let text = emit::function(&program, language, target, &about)
        .map_err(|error| ApiError::Emit { error, place: None })?;
    answer.text = Some(text);
    Ok(answer)
}

/// An error where a thread holds more of a tensor than is allowed: a plan names every register.
fn held(name: &str, layout: &Layout) -> Result<(), ApiError> {
    let most = budget::current().limits.elements;
    let registers = 1_u64.checked_shl(layout.in_bits(REGISTER)).unwrap_or(u64::MAX);
    if registers <= most {
        return Ok(());
    }
    let what = format!("`{name}`");
    let error = Overrun::Limit { limit: Limit::Elements, what, most, loc: Locations::unknown() };
    Err(ApiError::Limit { error, place: None })
}

/// What stands above a function.
fn about(moved: &str, target: Target, [from, to]: [&Layout; 2], plan: &Plan) -> Vec<String> {
    let warps = 1u64.checked_shl(plan.warp_bits).unwrap_or(u64::MAX);
    let plural = if warps == 1 { "" } else { "s" };
    let mut about = vec![
        format!("Moves {moved} between the threads of a block of {warps} warp{plural}, for {}.", target.name()),
        format!("from  {from}"),
        format!("to    {to}"),
        String::new(),
        "Every thread of the block calls it, with the registers that it holds of `from`, and gets those \
         of `to`; i1 as true or false."
            .into(),
    ];
    if plan.scratch_bytes > 0 {
        about.push(format!(
            "`scratch` is {} bytes of shared memory, aligned to {} bytes, that nobody uses meanwhile: wait \
             for the block before and after other uses.",
            plan.scratch_bytes,
            weft::movement::scratch_align(plan.scratch_bytes as u32),
        ));
    }
    let hundredths = |cost: u64| format!("{}.{:02}", cost / 100, cost % 100);
    about.extend([
        String::new(),
        format!("Way: {}. Price for a warp: {}.", plan.strategy, plan.cost),
        format!("Bound without bank conflicts: {} cycles.", hundredths(plan.bound.total)),
        String::new(),
    ]);
    about.extend(conversion::notes(plan));
    about
}
