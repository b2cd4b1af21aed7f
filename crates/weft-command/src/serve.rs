//! `weft serve`: the page and the engine behind it, for programs on this machine.
//!
//! The server listens on loopback only, hands out the page that is built into the command and answers
//! requests as [`weft_api::invoke()`] does. It opens no file. A page of somebody else cannot ask it
//! anything: a request must name this address as its host, and where it says which page it comes from,
//! that page must be this one.

use crate::Outcome;
use crate::arguments::Serve;
use crate::failure::Failure;
use crate::output::Output;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::thread;
use tiny_http::{HTTPVersion, Header, Method, Request, Response, Server};

/// The longest request: a kernel of the length that a file may have, and what JSON adds to it.
const MAX_BODY: u64 = 64 << 20;
/// Requests that are answered at the same time.
const WORKERS: usize = 4;
/// The stack of each, as that of a process: readers of nested texts recurse.
const STACK: usize = 8 << 20;

/// A file of the page.
struct File {
    path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

macro_rules! page {
    ($($path:literal $kind:literal;)*) => {
        &[$(File { path: $path, kind: $kind, bytes: include_bytes!(concat!("../page/", $path)) }),*]
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

/// Tells the page how its engine is reached.
const ENGINE: &str = "{\"transport\":\"http\"}";

/// What the page may do: nothing that leads elsewhere. Pictures carry their style sheets with them.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
                      style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; \
                      connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// `weft serve`: answers until it is stopped.
pub(crate) fn run(arguments: &Serve, output: &mut Output) -> Result<Outcome, Failure> {
    let wanted = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), arguments.port);
    let listening = |error: Box<dyn std::error::Error + Send + Sync>| Failure::Listen {
        address: wanted,
        error: error.to_string(),
    };
    let server = Server::http(wanted).map_err(listening)?;
    let port = server.server_addr().to_ip().map_or(arguments.port, |address| address.port());
    output.line(&format!("http://127.0.0.1:{port}/"))?;
    Output::note("the workbench is served to this machine alone; stop it with Ctrl-C");
    let answer = || {
        while let Ok(request) = server.recv() {
            respond(request, port);
        }
    };
    thread::scope(|scope| {
        let started = (0..WORKERS)
            .map(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, answer));
        if started.filter_map(Result::ok).count() == 0 {
            answer();
        }
    });
    Ok(Outcome::Good)
}

/// Answers one request; whoever has gone is not told.
fn respond(mut request: Request, port: u16) {
    let (status, kind, body) = match answer(&mut request, port) {
        Ok((kind, body)) => (200, kind, body),
        Err((status, sentence)) => (status, "text/plain; charset=utf-8", sentence.into()),
    };
    let mut response =
        Response::from_data(body).with_status_code(status).with_chunked_threshold(usize::MAX);
    let headers = [
        ("Content-Type", kind),
        ("Cache-Control", "no-cache"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Content-Security-Policy", POLICY),
    ];
    for (name, value) in headers {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    let head = *request.method() == Method::Head;
    let mut text = Vec::new();
    if response.raw_print(&mut text, HTTPVersion(1, 1), &[], head, None).is_err() {
        return;
    }
    // A connection holds one of the server's threads for as long as it is kept, and a burst of them gets
    // no more threads than were idle: the others would wait for the browser to let go. So each connection
    // serves one request, which a response of this library cannot say by itself.
    let first = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |end| end + 1);
    let mut writer = request.into_writer();
    let parts = [&text[..first], b"Connection: close\r\n", &text[first..]];
    let _ = parts.iter().try_for_each(|part| writer.write_all(part)).and_then(|()| writer.flush());
}

/// The type and the bytes of what is asked for, or the status and why not.
type Answered = Result<(&'static str, Vec<u8>), (u16, &'static str)>;

fn answer(request: &mut Request, port: u16) -> Answered {
    if !is_local(request, port) {
        return Err((403, "only the page that `weft serve` shows may ask it"));
    }
    let path = request.url().split(['?', '#']).next().unwrap_or_default().to_owned();
    match (request.method(), &*path) {
        (Method::Post, "/invoke") => invoke(request),
        (_, "/invoke") => Err((405, "a request to the engine is posted, as JSON")),
        (Method::Get | Method::Head, "/engine.json") => Ok(("application/json", ENGINE.into())),
        (Method::Get | Method::Head, path) => {
            let name = if path == "/" { "index.html" } else { path.trim_start_matches('/') };
            let file = PAGE.iter().find(|file| file.path == name);
            let file = file.ok_or((404, "there is no such file; the page is at /"))?;
            Ok((file.kind, file.bytes.into()))
        }
        _ => Err((405, "files are read; requests to the engine are posted to /invoke")),
    }
}

fn invoke(request: &mut Request) -> Answered {
    let mut body = Vec::new();
    let read = request.as_reader().take(MAX_BODY + 1).read_to_end(&mut body);
    if read.is_err() {
        return Err((400, "the request ended too early"));
    }
    if body.len() as u64 > MAX_BODY {
        return Err((413, "the request is longer than 64 MiB"));
    }
    let Ok(text) = std::str::from_utf8(&body) else {
        return Err((400, "the request is no text: it is not UTF-8"));
    };
    Ok(("application/json", weft_api::invoke(text).into_bytes()))
}

/// Whether a request names this server as its host, and comes from this page or from no page.
fn is_local(request: &Request, port: u16) -> bool {
    let all = |name: &'static str| {
        request.headers().iter().filter(move |header| header.field.equiv(name))
    };
    let here = |host: &str| {
        let names = ["127.0.0.1", "localhost"];
        names.iter().any(|name| host == format!("{name}:{port}"))
    };
    let origin = |origin: &str| origin.strip_prefix("http://").is_some_and(here);
    let mut hosts = all("Host");
    let host = hosts.next().is_some_and(|header| here(header.value.as_str()));
    host && hosts.next().is_none() && all("Origin").all(|header| origin(header.value.as_str()))
}
