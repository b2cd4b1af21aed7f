//! A part of what takes long: another one each day, so that some days see everything.

use anyhow::Context as _;
use std::fmt;

/// Which of many things are taken: one in `of`, those whose number leaves `number` when divided by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    number: usize,
    of: usize,
}

impl Share {
    /// Everything.
    pub(crate) const WHOLE: Share = Share { number: 0, of: 1 };

    /// One in `of`: that of the day of the year, or of the number in `WEFT_SHARE`; everything where that
    /// is `all`.
    pub(crate) fn one_in(of: usize) -> anyhow::Result<Self> {
        let asked = std::env::var("WEFT_SHARE").ok().filter(|asked| !asked.is_empty());
        Self::asked(of, asked.as_deref(), &|| crate::measure::said("date", &["-u", "+%j"]))
    }

    fn asked(of: usize, asked: Option<&str>, day: &dyn Fn() -> String) -> anyhow::Result<Self> {
        let number = match asked {
            Some("all") => return Ok(Self::WHOLE),
            Some(number) => number.to_owned(),
            None => day(),
        };
        let number: usize = number
            .parse()
            .with_context(|| format!("`{number}` is no number; WEFT_SHARE is a number or `all`"))?;
        Ok(Self { number: number % of.max(1), of: of.max(1) })
    }

    /// Whether it has the thing of this number.
    pub(crate) fn takes(self, index: usize) -> bool {
        index % self.of == self.number
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            1 => f.write_str("all"),
            of => write!(f, "share {} of {of}", self.number + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    fn asked(of: usize, asked: Option<&str>) -> Share {
        Share::asked(of, asked, &|| "009".to_owned()).unwrap()
    }

    #[test]
    fn days_in_a_row_take_everything_once() {
        for of in 1..9 {
            for index in 0..50 {
                let takes = |day: usize| asked(of, Some(&day.to_string())).takes(index) as usize;
                assert_eq!((100..100 + of).map(takes).sum::<usize>(), 1);
            }
        }
    }

    #[test]
    fn the_environment_may_ask_for_everything_or_for_another_day() {
        assert_eq!(asked(6, Some("all")), Share::WHOLE);
        assert_eq!(asked(6, None), asked(6, Some("3")));
        assert_eq!(asked(6, None).to_string(), "share 4 of 6");
        assert_eq!(Share::WHOLE.to_string(), "all");
        assert!(Share::asked(6, Some("some"), &String::new).is_err());
    }
}
