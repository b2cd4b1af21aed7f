//! Words that somebody may have meant.

/// The known word that is most like this one, if any is like it; case and signs do not count.
///
/// ```
/// use weft_api::suggest::nearest;
///
/// assert_eq!(nearest("row_sofmax", ["row_softmax", "vector_add"]), Some("row_softmax"));
/// assert_eq!(nearest("sm91", ["sm_80", "sm_90"]), Some("sm_90"));
/// assert_eq!(nearest("weave", ["row_softmax", "vector_add"]), None);
/// ```
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// As like as a word must be, of one.
    const LIKE: f64 = 0.7;
    let word = plain(word);
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(&word, &plain(known));
    let scored = known.into_iter().map(|known| (likeness(known), known));
    // The first of several that are equally near.
    let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.filter(|(score, _)| *score >= LIKE).map(|(_, known)| known)
}

fn plain(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A hint that names what may have been meant before what there is.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    there_is: &str,
) -> String {
    match nearest(word, known) {
        Some(near) => format!("did you mean `{near}`? {there_is}"),
        None => there_is.to_owned(),
    }
}
