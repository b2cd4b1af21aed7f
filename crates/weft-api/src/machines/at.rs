//! A place in a JSON value, and what is wrong there.

use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// Why a JSON value is no machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {reason}")]
pub struct MachineError {
    /// Where: keys with dots between them, indices in brackets; `target` is the machine itself.
    pub path: String,
    /// What is wrong with it, and what would be right.
    pub reason: String,
}

/// A value and its path.
#[derive(Clone)]
pub(super) struct At<'a> {
    pub(super) value: &'a Value,
    path: String,
}

/// An object whose keys are known.
pub(super) struct Object<'a> {
    map: &'a Map<String, Value>,
    path: String,
}

impl<'a> At<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, path: "target".into() }
    }

    pub(super) fn refuse<T>(&self, reason: impl Into<String>) -> Result<T, MachineError> {
        Err(MachineError { path: self.path.clone(), reason: reason.into() })
    }

    /// The object with no keys but these.
    pub(super) fn object(&self, known: &[&str]) -> Result<Object<'a>, MachineError> {
        let Value::Object(map) = self.value else {
            return self.refuse(format!("{} stands where an object should", kind(self.value)));
        };
        match map.keys().filter(|key| !known.contains(&key.as_str())).min() {
            Some(key) => {
                self.refuse(format!("there is no key `{key}`; there are {}", known.join(", ")))
            }
            None => Ok(Object { map, path: self.path.clone() }),
        }
    }

    pub(super) fn list(&self) -> Result<Vec<At<'a>>, MachineError> {
        let Value::Array(list) = self.value else {
            return self.refuse(format!("{} stands where a list should", kind(self.value)));
        };
        let at = |(index, value)| At { value, path: format!("{}[{index}]", self.path) };
        Ok(list.iter().enumerate().map(at).collect())
    }

    pub(super) fn text(&self) -> Result<&'a str, MachineError> {
        match self.value {
            Value::String(text) => Ok(text),
            other => self.refuse(format!("{} stands where a text should", kind(other))),
        }
    }

    pub(super) fn truth(&self) -> Result<bool, MachineError> {
        match self.value {
            Value::Bool(truth) => Ok(*truth),
            other => self.refuse(format!("{} stands where true or false should", kind(other))),
        }
    }

    /// A whole number within bounds.
    pub(super) fn number(&self, bounds: RangeInclusive<u64>) -> Result<u64, MachineError> {
        let (low, high) = (bounds.start(), bounds.end());
        match self.value.as_u64() {
            Some(number) if bounds.contains(&number) => Ok(number),
            _ if self.value.is_number() => self.refuse(format!(
                "{} is not possible: a whole number from {low} to {high} is",
                self.value
            )),
            _ => self.refuse(format!("{} stands where a number should", kind(self.value))),
        }
    }

    /// The same, in 32 bits.
    pub(super) fn count(&self, bounds: RangeInclusive<u32>) -> Result<u32, MachineError> {
        let bounds = u64::from(*bounds.start())..=u64::from(*bounds.end());
        self.number(bounds).map(|number| number as u32)
    }

    /// A power of two.
    pub(super) fn power(&self, bounds: RangeInclusive<u32>) -> Result<u32, MachineError> {
        let number = self.count(bounds)?;
        if number.is_power_of_two() {
            Ok(number)
        } else {
            self.refuse(format!("{number} is no power of two"))
        }
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(&self, known: &[(&str, T)]) -> Result<T, MachineError> {
        let text = self.text()?;
        match known.iter().find(|(word, _)| *word == text) {
            Some((_, meaning)) => Ok(*meaning),
            None => {
                let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
                self.refuse(format!("there is no `{text}`; there are {}", words.join(", ")))
            }
        }
    }
}

impl<'a> Object<'a> {
    /// What a key holds.
    pub(super) fn get(&self, key: &str) -> Result<At<'a>, MachineError> {
        self.find(key).ok_or_else(|| MachineError {
            path: self.path.clone(),
            reason: format!("the key `{key}` is missing"),
        })
    }

    /// What a key holds, if it is there.
    pub(super) fn find(&self, key: &str) -> Option<At<'a>> {
        let value = self.map.get(key)?;
        Some(At { value, path: format!("{}.{key}", self.path) })
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
