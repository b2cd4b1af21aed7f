//! Layouts as data: the bases of a layout as a JSON object, in both directions.
//!
//! ```
//! use weft_api::bases::LayoutSource;
//!
//! let text = r#"{"bases": {"register": [[0, 1]], "lane": [[0, 2], [1, 0]]}, "shape": [2, 4]}"#;
//! let source: LayoutSource = serde_json::from_str(text)?;
//! let LayoutSource::Bases { bases, shape } = &source else { panic!("an object holds bases") };
//! assert_eq!(serde_json::to_string(bases)?, r#"{"register":[[0,1]],"lane":[[0,2],[1,0]]}"#);
//! assert_eq!(shape.as_deref(), Some(&[2, 4][..]));
//! # Ok::<(), serde_json::Error>(())
//! ```

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt;
use weft_layout::Layout;

/// The bases of a layout: an object with a list for each hardware axis, in the layout's order.
///
/// The image of each bit is a list of coordinates of the tensor, `dim0` first. The order of the keys
/// is the order of the axes, the first one least significant, so that it is kept when an object is
/// read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bases(pub Vec<(String, Vec<Vec<u64>>)>);

impl Bases {
    /// The bases of a layout.
    pub fn of(layout: &Layout) -> Self {
        let axes = layout.bases().into_iter();
        Self(axes.map(|(label, images)| (label.to_string(), images)).collect())
    }
}

impl Serialize for Bases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (label, images) in &self.0 {
            map.serialize_entry(label, images)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Bases {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Axes;
        impl<'de> Visitor<'de> for Axes {
            type Value = Bases;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a list of bases for each hardware axis")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut axes: Vec<(String, Vec<Vec<u64>>)> = Vec::new();
                while let Some((label, images)) = map.next_entry::<String, Vec<Vec<u64>>>()? {
                    if axes.iter().any(|(other, _)| *other == label) {
                        return Err(de::Error::custom(format_args!("axis `{label}` occurs twice")));
                    }
                    axes.push((label, images));
                }
                Ok(Bases(axes))
            }
        }
        deserializer.deserialize_map(Axes)
    }
}

/// A layout as a request gives it: a text, or in JSON the object `{"bases": …, "shape": …}` too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutSource {
    /// A Triton attribute, or a layout written as its bases.
    Text(String),
    /// The bases as data.
    Bases {
        /// The image of each bit of each hardware axis.
        bases: Bases,
        /// The tensor's extents; those of the request if it is not given.
        shape: Option<Vec<u64>>,
    },
}

impl Default for LayoutSource {
    fn default() -> Self {
        LayoutSource::Text(String::new())
    }
}

impl<T: Into<String>> From<T> for LayoutSource {
    fn from(text: T) -> Self {
        LayoutSource::Text(text.into())
    }
}

impl<'de> Deserialize<'de> for LayoutSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Source;
        impl<'de> Visitor<'de> for Source {
            type Value = LayoutSource;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the text of a layout, or an object with its `bases`")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(text.into())
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                #[derive(serde::Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Object {
                    bases: Bases,
                    shape: Option<Vec<u64>>,
                }
                let map = de::value::MapAccessDeserializer::new(map);
                let Object { bases, shape } = Object::deserialize(map)?;
                Ok(LayoutSource::Bases { bases, shape })
            }
        }
        deserializer.deserialize_any(Source)
    }
}
