//! Signatures of kernels, as Triton's own `triton.tools.compile` takes them: `*fp32:16,i32,1024`.

use serde::Serialize;
use std::convert::Infallible;
use std::str::FromStr;
use weft_api::request::signature_type;

/// What an argument is compiled for: a type, in Triton's spelling, or a constant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Type {
    /// `*fp32`, `i32`; `:16` promises a multiple of 16.
    Type(String),
    /// The value of a constant.
    Constant(Constant),
}

/// The value of a constant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Constant {
    /// Python's `None`.
    None(()),
    /// `true` or `false`, as Python or others write them.
    Truth(bool),
    /// A whole number that 64 bits hold, with a sign.
    Integer(i64),
    /// A number with a point.
    Float(f64),
    /// Anything else, as the text that it is.
    Text(String),
}

impl FromStr for Constant {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match (text, text.parse(), text.parse()) {
            ("None" | "none", ..) => Constant::None(()),
            ("True" | "true", ..) => Constant::Truth(true),
            ("False" | "false", ..) => Constant::Truth(false),
            (_, Ok(integer), _) => Constant::Integer(integer),
            (_, _, Ok(float)) if f64::is_finite(float) => Constant::Float(float),
            _ => Constant::Text(text.into()),
        })
    }
}

impl FromStr for Type {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.parse() {
            Ok(Constant::Text(_)) => {}
            Ok(constant) => return Ok(Type::Constant(constant)),
        }
        let (ty, multiple) = match text.split_once(':') {
            Some((ty, multiple)) => (ty, Some(multiple)),
            None => (text, None),
        };
        let promised = match multiple.map(str::parse::<u32>) {
            None => String::new(),
            Some(Ok(multiple)) if multiple.is_power_of_two() => format!(":{multiple}"),
            Some(_) => {
                return Err(format!("`{text}` promises no power of two; `{ty}:16` does"));
            }
        };
        match signature_type(ty) {
            Ok(ty) => Ok(Type::Type(ty + &promised)),
            Err(error) => Err(match error.hint() {
                Some(hint) => format!("{error}; {hint}"),
                None => error.to_string(),
            }),
        }
    }
}
