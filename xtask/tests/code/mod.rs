//! What a file has besides comments and tests.

use std::path::Path;

/// Whether a file holds tests alone, which may see everything.
pub(crate) fn is_test(file: &Path) -> bool {
    // Wherever the project lies.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let file = file.strip_prefix(root).unwrap_or(file);
    file.file_name().is_some_and(|name| name == "tests.rs")
        || file.components().any(|part| part.as_os_str() == "tests")
}

/// The program text without comments and without its unit tests.
pub(crate) fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines = text.lines().map(|line| match line.find("//") {
        Some(comment) => &line[..comment],
        None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}
