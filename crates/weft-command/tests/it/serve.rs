//! The page's server, asked over a socket.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// `weft serve` at a free port, stopped when it is dropped.
struct Served {
    child: Child,
    port: u16,
}

impl Served {
    fn start() -> Served {
        let mut child = Command::new(env!("CARGO_BIN_EXE_weft"))
            .args(["serve", "--port", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("http://127.0.0.1:").unwrap().trim_end_matches('/');
        Served { port: port.parse().unwrap(), child }
    }

    /// The status, the headers and the body of the answer to a request.
    fn ask(&self, head: &str, body: &[u8]) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!("{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).unwrap();
        // A refusal may come before everything is sent.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let headers = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
        (status, headers, answer[end + 4..].to_vec())
    }

    fn get(&self, path: &str) -> (u16, String, Vec<u8>) {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}", self.port), b"")
    }

    fn post(&self, host: &str, more: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let (status, _, body) =
            self.ask(&format!("POST /invoke HTTP/1.1\r\nHost: {host}{more}"), body);
        (status, body)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_page_is_served() {
    let served = Served::start();
    let (status, headers, body) = served.get("/");
    assert_eq!(status, 200);
    assert!(headers.contains("text/html"), "{headers}");
    assert!(headers.contains("default-src 'none'"), "{headers}");
    let page = String::from_utf8(body).unwrap();
    // Everything that the page names is there.
    let names = page.split("=\"./").skip(1).map(|rest| rest.split('"').next().unwrap());
    let names: Vec<&str> = names.collect();
    assert!(names.contains(&"workbench.js"), "{names:?}");
    for name in names {
        assert_eq!(served.get(&format!("/{name}")).0, 200, "{name}");
    }
    let engine: Value = serde_json::from_slice(&served.get("/engine.json").2).unwrap();
    assert_eq!(engine, json!({"transport": "http"}));
}

#[test]
fn nothing_else_is_served() {
    let served = Served::start();
    for path in ["/../Cargo.toml", "/etc/passwd", "//etc/passwd", "/%2e%2e/Cargo.toml", "/invoke/"]
    {
        assert_eq!(served.get(path).0, 404, "{path}");
    }
    assert_eq!(served.get("/invoke").0, 405);
    let put = format!("PUT / HTTP/1.1\r\nHost: localhost:{}", served.port);
    assert_eq!(served.ask(&put, b"").0, 405);
}

#[test]
fn the_engine_gives_the_bytes_of_the_library() {
    let served = Served::start();
    let host = format!("127.0.0.1:{}", served.port);
    let own = format!("\r\nOrigin: http://{host}");
    for line in include_str!("../../../../workbench/tests/requests.jsonl").lines() {
        let (status, body) = served.post(&host, &own, line.as_bytes());
        assert_eq!(status, 200, "{line}");
        assert!(body == weft_api::invoke(line).as_bytes(), "{line}");
    }
}

#[test]
fn pages_of_others_may_not_ask() {
    let served = Served::start();
    let request = br#"{"request": "machines", "target": "sm_90"}"#;
    let port = served.port;
    let local = format!("localhost:{port}");
    assert_eq!(served.post(&local, "", request).0, 200);
    for host in ["example.org", "127.0.0.1", &format!("127.0.0.1.example.org:{port}")] {
        assert_eq!(served.post(host, "", request).0, 403, "{host}");
    }
    for origin in ["https://example.org", "null", &format!("http://example.org:{port}")] {
        let origin = format!("\r\nOrigin: {origin}");
        assert_eq!(served.post(&local, &origin, request).0, 403, "{origin}");
    }
    assert_eq!(served.post(&local, "\r\nHost: example.org", request).0, 403);
}

#[test]
fn what_is_no_text_is_refused() {
    let served = Served::start();
    let host = format!("localhost:{}", served.port);
    assert_eq!(served.post(&host, "", b"\xff").0, 400);
    let (status, body) = served.post(&host, "", b"{");
    assert_eq!(status, 200);
    let error: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(error["error"]["kind"], "json");
}

#[test]
fn a_port_that_is_taken_is_told() {
    let served = Served::start();
    let finished = super::weft(&format!("serve --port {}", served.port));
    assert_eq!(finished.status, 2);
    assert!(finished.stderr.contains("cannot listen at 127.0.0.1:"), "{}", finished.stderr);
    assert!(finished.stderr.contains("--port 0"), "{}", finished.stderr);
}

/// A browser opens many connections at once and keeps them; none may wait for another to end.
#[test]
fn kept_connections_hold_nobody_up() {
    let served = Served::start();
    let head = format!("GET /engine.json HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", served.port);
    let mut kept = Vec::new();
    for _ in 0..32 {
        let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(50))).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        kept.push(stream);
    }
    for stream in &kept {
        let lines = BufReader::new(stream).lines();
        let head: Vec<String> =
            lines.map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
        assert_eq!(head[0], "HTTP/1.1 200 OK");
        // The client lets go, which gives the server its thread back.
        assert!(head.contains(&"Connection: close".to_owned()), "{head:?}");
        stream.shutdown(std::net::Shutdown::Both).unwrap();
    }
}
