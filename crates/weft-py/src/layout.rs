//! Layouts as Python objects: every operator of the engine under its own name.

use super::error::{of_layout, of_request};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use weft_api::bases::{Bases, LayoutSource};
use weft_api::request::{Format, LayoutRequest, Picture};
use weft_api::{invoke, layouts};
use weft_layout::layout::Surplus;
use weft_layout::{Label, LayoutError, Space};

/// A linear layout: an F2-linear map between labelled spaces, such as from the registers, lanes and
/// warps of a block to the places of a tensor.
#[pyclass(frozen, module = "weft")]
#[derive(Clone)]
pub(super) struct Layout(weft_layout::Layout);

/// Where a layout is read from.
#[derive(FromPyObject)]
pub(super) enum Source {
    /// Any text of a layout.
    Text(String),
    /// The image of each bit of each axis.
    Bases(Vec<(String, Vec<Vec<u64>>)>),
}

/// A place along an axis: a number, or an array of them.
type Place<'py> = Bound<'py, PyAny>;

#[pymethods]
impl Layout {
    #[new]
    #[pyo3(signature = (source, shape=None))]
    fn new(source: Source, shape: Option<Vec<u64>>) -> PyResult<Self> {
        let attribute = match source {
            Source::Text(text) => LayoutSource::Text(text),
            Source::Bases(bases) => LayoutSource::Bases { bases: Bases(bases), shape: None },
        };
        let shape = shape.unwrap_or_default();
        let request = LayoutRequest { attribute, shape, ..LayoutRequest::default() };
        let answer = layouts::layout(&request).map_err(|error| of_request(&error))?;
        answer.map.linear().map(Self).map_err(|error| of_layout(&error))
    }

    /// The map that leaves every bit as it is, from one axis to another.
    #[staticmethod]
    fn identity(bits: u32, input: &str, output: &str) -> PyResult<Self> {
        made(weft_layout::Layout::identity(bits, label(input)?, label(output)?))
    }

    /// The map that takes everything to 0.
    #[staticmethod]
    fn zeros(ins: Axes, outs: Axes) -> PyResult<Self> {
        made(weft_layout::Layout::zeros(space(&ins)?, space(&outs)?))
    }

    /// The axes that it maps from, with the bits of each, the least significant first.
    #[getter]
    fn ins<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        axes(py, self.0.ins())
    }

    /// The axes that it maps to, with the bits of each, the least significant first.
    #[getter]
    fn outs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        axes(py, self.0.outs())
    }

    /// The sizes of what it maps to; of a tensor, its extents.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.shape())
    }

    /// The image of each bit of each axis: a list of coordinates, those of a tensor `dim0` first.
    #[getter]
    fn bases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bases = PyDict::new(py);
        for (label, images) in self.0.bases() {
            bases.set_item(label.as_str(), images)?;
        }
        Ok(bases)
    }

    /// The matrix, least significant bits first: an array of `numpy`'s of zeros and ones with a column for
    /// each bit of the input.
    fn matrix<'py>(&self, py: Python<'py>) -> PyResult<Place<'py>> {
        let matrix = self.0.matrix();
        let row = |row: u32| -> Vec<u16> {
            matrix.columns().iter().map(|column| (column >> row & 1) as u16).collect()
        };
        let rows: Vec<Vec<u16>> = (0..matrix.rows()).map(row).collect();
        let numpy = py.import("numpy")?;
        let array = numpy.call_method1("array", (rows, "uint8"))?;
        array.call_method1("reshape", ((matrix.rows(), matrix.columns().len()),))
    }

    /// Where a place goes: the coordinates along each output axis, by name. Coordinates are numbers or
    /// arrays of them; an axis that is not given is at 0.
    #[pyo3(signature = (**coordinates))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        coordinates: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let ins = self.0.ins();
        let order = self.0.outs().coordinate_order();
        let zero = 0_u64.into_pyobject(py)?.into_any();
        let mut images: Vec<Place<'py>> = vec![zero; order.len()];
        for (name, place) in coordinates.iter().flatten() {
            let axis = label(&name.extract::<String>()?)?;
            if !ins.labels().any(|known| known == axis) {
                return Err(of_layout(&weft_layout::SpaceError::UnknownLabel(axis).into()));
            }
            in_range(&place, axis, ins.bits(axis))?;
            for (bit, &column) in self.0.columns(axis).iter().enumerate() {
                let chosen = place.rshift(bit)?.bitand(1)?;
                for (image, &out) in images.iter_mut().zip(&order) {
                    let part = self.0.outs().coordinate(out, column);
                    *image = image.bitxor(chosen.mul(part)?)?;
                }
            }
        }
        let answer = PyDict::new(py);
        for (out, image) in order.into_iter().zip(images) {
            answer.set_item(out.as_str(), image)?;
        }
        Ok(answer)
    }

    /// Where a place goes, both as one number, first axes least significant; a tensor's is the
    /// row-major index. Numbers or arrays of them.
    fn apply_flat<'py>(&self, py: Python<'py>, place: Place<'py>) -> PyResult<Place<'py>> {
        let mut image = 0_u64.into_pyobject(py)?.into_any();
        for (bit, &column) in self.0.matrix().columns().iter().enumerate() {
            image = image.bitxor(place.rshift(bit)?.bitand(1)?.mul(column)?)?;
        }
        Ok(image)
    }

    /// The dimension of what it reaches.
    #[getter]
    fn rank(&self) -> u32 {
        self.0.rank()
    }

    /// Whether it reaches every place.
    fn is_surjective(&self) -> bool {
        self.0.is_surjective()
    }

    /// Whether no two places go to one.
    fn is_injective(&self) -> bool {
        self.0.is_injective()
    }

    /// Whether it has an inverse.
    fn is_invertible(&self) -> bool {
        self.0.is_invertible()
    }

    /// Whether registers, lanes, warps and blocks hold a tensor: surjective, every basis a power of two
    /// or zero, none but zero twice.
    fn is_distributed(&self) -> bool {
        self.0.is_distributed()
    }

    /// Whether it is a memory layout: invertible, each basis of one bit or two.
    fn is_memory_layout(&self) -> bool {
        self.0.is_memory_layout()
    }

    /// Whether the axis of this name goes to the axis of the same name, bit by bit.
    fn is_identity_on(&self, axis: &str) -> PyResult<bool> {
        Ok(self.0.is_identity_on(label(axis)?))
    }

    /// The bits of an input axis that make only copies.
    fn free_mask(&self, axis: &str) -> PyResult<u64> {
        Ok(self.0.free_mask(label(axis)?))
    }

    /// How many neighbours along the output axis neighbours along the input axis are.
    fn contiguous_run(&self, input: &str, output: &str) -> PyResult<u64> {
        Ok(self.0.contiguous_run(label(input)?, label(output)?))
    }

    /// This one first, then `outer`.
    fn compose(&self, outer: &Self) -> PyResult<Self> {
        made(self.0.compose(&outer.0))
    }

    /// Both side by side: the bits of `other` above those of this one.
    fn product(&self, other: &Self) -> PyResult<Self> {
        made(self.0.product(&other.0))
    }

    fn __mul__(&self, other: &Self) -> PyResult<Self> {
        self.product(other)
    }

    /// The layout whose product with `divisor` on the left is this one.
    fn divide_left(&self, divisor: &Self) -> PyResult<Self> {
        made(self.0.divide_left(&divisor.0))
    }

    /// The layout whose product with `divisor` on the right is this one.
    fn divide_right(&self, divisor: &Self) -> PyResult<Self> {
        made(self.0.divide_right(&divisor.0))
    }

    /// The inverse of the layout.
    fn invert(&self) -> PyResult<Self> {
        made(self.0.invert())
    }

    /// A map back from every place that it reaches all of, with the fewest bits.
    fn right_inverse(&self) -> PyResult<Self> {
        made(self.0.right_inverse())
    }

    /// The map `x` with `x.compose(to) == self`, as local as there is one.
    fn solve(&self, to: &Self) -> PyResult<Self> {
        made(self.0.solve(&to.0))
    }

    /// What is left without axes that are the identity.
    fn quotient(&self, axes: Vec<String>) -> PyResult<Self> {
        made(self.0.quotient(&labels(&axes)?))
    }

    /// The part from some input axes to some output axes.
    fn sublayout(&self, ins: Vec<String>, outs: Vec<String>) -> PyResult<Self> {
        made(self.0.sublayout(&labels(&ins)?, &labels(&outs)?))
    }

    /// The layout on some of its input axes.
    fn restrict_ins(&self, ins: Vec<String>) -> PyResult<Self> {
        made(self.0.restrict_ins(&labels(&ins)?))
    }

    /// The input axes of both, side by side.
    fn concat_ins(&self, other: &Self) -> PyResult<Self> {
        made(self.0.concat_ins(&other.0))
    }

    /// The output axes of both, side by side.
    fn concat_outs(&self, other: &Self) -> PyResult<Self> {
        made(self.0.concat_outs(&other.0))
    }

    /// Its input axes in another order.
    fn transpose_ins(&self, order: Vec<String>) -> PyResult<Self> {
        made(self.0.transpose_ins(&labels(&order)?))
    }

    /// Its output axes in another order.
    fn transpose_outs(&self, order: Vec<String>) -> PyResult<Self> {
        made(self.0.transpose_outs(&labels(&order)?))
    }

    /// The same bits under other input axes.
    fn reshape_ins(&self, ins: Axes) -> PyResult<Self> {
        made(self.0.reshape_ins(space(&ins)?))
    }

    /// The same bits under other output axes.
    fn reshape_outs(&self, outs: Axes) -> PyResult<Self> {
        made(self.0.reshape_outs(space(&outs)?))
    }

    /// An input axis under another name.
    fn rename_in(&self, old: &str, new: &str) -> PyResult<Self> {
        made(self.0.rename_in(label(old)?, label(new)?))
    }

    /// An output axis under another name.
    fn rename_out(&self, old: &str, new: &str) -> PyResult<Self> {
        made(self.0.rename_out(label(old)?, label(new)?))
    }

    /// An input axis with more or fewer bits; new ones make copies.
    fn resize_in(&self, axis: &str, bits: u32) -> PyResult<Self> {
        made(self.0.resize_in(label(axis)?, bits))
    }

    /// An output axis with more or fewer bits.
    fn resize_out(&self, axis: &str, bits: u32) -> PyResult<Self> {
        made(self.0.resize_out(label(axis)?, bits))
    }

    /// Without the bits of an input axis that only make copies along it.
    fn without_copies(&self, axis: &str) -> PyResult<Self> {
        made(self.0.without_copies(label(axis)?).map(|narrow| narrow.layout))
    }

    /// The layout of the tensor with its axes in another order.
    fn transpose(&self, order: Vec<usize>) -> PyResult<Self> {
        made(self.0.transpose(&order))
    }

    /// The layout of the tensor under another shape, its elements in row-major order.
    fn reshape(&self, shape: Vec<u64>) -> PyResult<Self> {
        made(self.0.reshape(&shape))
    }

    /// The layout of the tensor with a new axis of one element.
    fn expand_dims(&self, axis: usize) -> PyResult<Self> {
        made(self.0.expand_dims(axis))
    }

    /// The layout of the tensor without an axis: what a reduction along it leaves.
    fn slice(&self, axis: usize) -> PyResult<Self> {
        made(self.0.slice(axis))
    }

    /// The layout of the tensor with axes of one element repeated.
    fn broadcast(&self, shape: Vec<u64>) -> PyResult<Self> {
        made(self.0.broadcast(&shape))
    }

    /// The layout of two such tensors joined along a new last axis.
    fn join(&self) -> PyResult<Self> {
        made(self.0.join())
    }

    /// The layout of each half of a tensor split along its last axis of two.
    fn split(&self) -> PyResult<Self> {
        made(self.0.split().map(|(half, _)| half))
    }

    /// The layout of a tensor that is nowhere larger: what lies beyond it becomes copies.
    fn cut_to(&self, shape: Vec<u64>) -> PyResult<Self> {
        made(self.0.cut_to(&shape, Surplus::Copies))
    }

    /// What it is called in the terms of others: `triton`, `cute`, `tma swizzle`, …
    #[pyo3(signature = (element_bits=None))]
    fn names(&self, element_bits: Option<u32>) -> PyResult<Vec<(String, String)>> {
        let request = LayoutRequest { element_bits, names: true, ..self.request() };
        let answer = layouts::layout(&request).map_err(|error| of_request(&error))?;
        Ok(answer.names.into_iter().flatten().map(|name| (name.by, name.text)).collect())
    }

    /// A picture of it, as the text of an SVG file or for a terminal: `kind` is `grid`, `hardware`,
    /// `banks` or `matrix`.
    #[pyo3(signature = (kind="grid", *, svg=false, element=None, target=None, all=false))]
    fn picture(
        &self,
        kind: &str,
        svg: bool,
        element: Option<String>,
        target: Option<&str>,
        all: bool,
    ) -> PyResult<String> {
        let (picture, text) = match kind {
            "grid" => (Picture::Grid, Format::Grid),
            "hardware" => (Picture::Hardware, Format::Hardware),
            "banks" => (Picture::Banks, Format::Banks),
            "matrix" => (Picture::Matrix, Format::Matrix),
            _ => {
                let message = format!("`{kind}` is no picture: grid, hardware, banks or matrix");
                return Err(PyValueError::new_err(message));
            }
        };
        let request = LayoutRequest {
            element,
            target: target.map(Into::into).unwrap_or_default(),
            picture: svg.then_some(picture),
            format: Some(if svg { Format::Svg } else { text }),
            all,
            ..self.request()
        };
        let answer = invoke::layout(&request).map_err(|error| of_request(&error))?;
        Ok(answer.picture.unwrap_or_default())
    }

    /// The picture that a notebook shows.
    fn _repr_svg_(&self) -> Option<String> {
        // A map between other things than threads or memory and a tensor is shown as text.
        self.picture("grid", true, None, None, false).ok()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Layout({:?})", self.0.to_string())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Place<'py>, (String,)) {
        (slf.get_type().into_any(), (slf.get().0.to_string(),))
    }
}

impl Layout {
    /// A request about it.
    fn request(&self) -> LayoutRequest {
        LayoutRequest { attribute: self.0.to_string().into(), ..LayoutRequest::default() }
    }
}

/// Axes with their bits, the least significant first.
type Axes = Vec<(String, u32)>;

fn axes<'py>(py: Python<'py>, space: &Space) -> PyResult<Bound<'py, PyDict>> {
    let axes = PyDict::new(py);
    for &(label, bits) in space.axes() {
        axes.set_item(label.as_str(), bits)?;
    }
    Ok(axes)
}

fn label(name: &str) -> PyResult<Label> {
    Label::new(name).map_err(|error| of_layout(&error.into()))
}

fn labels(names: &[String]) -> PyResult<Vec<Label>> {
    names.iter().map(|name| label(name)).collect()
}

fn space(axes: &Axes) -> PyResult<Space> {
    let axes = axes.iter().map(|(name, bits)| Ok((label(name)?, *bits)));
    let axes = axes.collect::<PyResult<Vec<_>>>()?;
    Space::new(&axes).map_err(|error| of_layout(&error.into()))
}

/// Whether a place, or every place of an array, is one of an axis.
fn in_range(place: &Place<'_>, axis: Label, bits: u32) -> PyResult<()> {
    let array = place.hasattr("shape")? && place.getattr("size")?.extract::<u64>()? > 0;
    let ends = if array {
        [place.call_method0("min")?, place.call_method0("max")?]
    } else {
        [place.clone(), place.clone()]
    };
    for end in ends {
        let value: i128 = match end.call_method0("__index__").and_then(|end| end.extract()) {
            Ok(value) => value,
            Err(_) if place.hasattr("shape")? => return Ok(()),
            Err(error) => return Err(error),
        };
        if value < 0 || value >> bits != 0 {
            let message = format!("{value} is no place of `{axis}`, which has {bits} bits");
            return Err(PyValueError::new_err(message));
        }
    }
    Ok(())
}

fn made(layout: Result<weft_layout::Layout, LayoutError>) -> PyResult<Layout> {
    layout.map(Layout).map_err(|error| of_layout(&error))
}
