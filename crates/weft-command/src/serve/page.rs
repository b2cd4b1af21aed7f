//! The files of the page, which are built into the command.

/// A file of the page.
pub(super) struct File {
    path: &'static str,
    pub(super) kind: &'static str,
    pub(super) bytes: &'static [u8],
}

macro_rules! page {
    ($($path:literal $kind:literal;)*) => {
        &[$(File { path: $path, kind: $kind, bytes: include_bytes!(concat!("../../page/", $path)) }),*]
    };
}

/// The page as `workbench/build` writes it, without the engine as WebAssembly.
const PAGE: &[File] = page! {
    "index.html" "text/html; charset=utf-8";
    "index.css" "text/css; charset=utf-8";
    "workbench.js" "text/javascript; charset=utf-8";
    "worker.js" "text/javascript; charset=utf-8";
    "fonts.txt" "text/plain; charset=utf-8";
    "inter-latin-wght-normal.woff2" "font/woff2";
    "jetbrains-mono-latin-wght-normal.woff2" "font/woff2";
};

/// What the page may do: nothing that leads elsewhere. Pictures carry their style sheets with them.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
                                 style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
                                 font-src 'self'; connect-src 'self'; worker-src 'self'; \
                                 base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The file at a path of the address.
pub(super) fn file(path: &str) -> Option<&'static File> {
    let name = if path == "/" { "index.html" } else { path.trim_start_matches('/') };
    PAGE.iter().find(|file| file.path == name)
}
