//! The page's server, asked over a socket.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// `weft serve` at a free port, stopped when it is dropped.
struct Served {
    child: Child,
    port: u16,
}

impl Served {
    fn start() -> Served {
        Served::start_with(&[])
    }

    fn start_with(options: &[&str]) -> Served {
        let mut child = Command::new(env!("CARGO_BIN_EXE_weft"))
            .args(["serve", "--port", "0"])
            .args(options)
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
    let lines: Vec<&str> =
        include_str!("../../../../workbench/tests/requests.jsonl").lines().collect();
    let together = format!("[{}]", lines[..8].join(","));
    for text in lines.iter().copied().chain([&*together]) {
        let (status, body) = served.post(&host, &own, text.as_bytes());
        assert_eq!(status, 200, "{text}");
        assert!(body == weft_api::invoke(text).as_bytes(), "{text}");
    }
}

/// A server has the limits that it was started with; a request may name others.
#[test]
fn requests_have_limits() {
    let served = Served::start_with(&["--limit", "milliseconds=0"]);
    let host = format!("127.0.0.1:{}", served.port);
    let (status, body) = served.post(&host, "", br#"{"request": "machines"}"#);
    let body = String::from_utf8(body).unwrap();
    assert_eq!(status, 200, "{body}");
    let start =
        r#"{"error":{"kind":"limit","message":"the request takes more than 0 milliseconds","#;
    assert!(body.starts_with(start), "{body}");
    let own = br#"{"request": "machines", "limits": {"milliseconds": 600000}}"#;
    let (_, body) = served.post(&host, "", own);
    assert!(body.starts_with(b"{\"machines\":"), "{}", String::from_utf8_lossy(&body));
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

/// A connection whose reads give up after a while.
fn connect(served: &Served) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Status and body of the next answer on a connection.
fn next_answer(reader: &mut BufReader<&TcpStream>) -> (u16, Vec<u8>) {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line == "\r\n" {
            break;
        }
        lines.push(line.trim_end().to_lowercase());
    }
    let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
    let length = lines.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    (status, body)
}

/// Everything that comes until the server closes the connection.
fn rest(mut stream: &TcpStream) -> String {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        // What was sent and not read may break the connection instead of ending it.
        Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset => panic!("{error}"),
        _ => String::from_utf8(rest).unwrap(),
    }
}

/// A browser opens many connections at once and keeps them; none may wait for another to end.
#[test]
fn connections_are_kept_and_hold_nobody_up() {
    let served = Served::start();
    let head = format!("GET /engine.json HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", served.port);
    let kept: Vec<TcpStream> = (0..64).map(|_| connect(&served)).collect();
    let mut readers: Vec<BufReader<&TcpStream>> = kept.iter().map(BufReader::new).collect();
    for _ in 0..3 {
        for mut stream in &kept {
            stream.write_all(head.as_bytes()).unwrap();
        }
        for reader in &mut readers {
            assert_eq!(next_answer(reader), (200, br#"{"transport":"http"}"#.to_vec()));
        }
    }
}

#[test]
fn a_connection_ends_where_the_client_says_so() {
    let served = Served::start();
    let mut stream = connect(&served);
    let head = format!("GET / HTTP/1.1\r\nHost: localhost:{}\r\n", served.port);
    write!(stream, "{head}Connection: close\r\n\r\n").unwrap();
    assert!(rest(&stream).starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_length_that_is_announced_takes_no_room() {
    let served = Served::start();
    let own = format!("127.0.0.1:{}", served.port);
    for (host, length, status) in [
        (&*own, 3_u64 << 30, 413),
        (&*own, i64::MAX as u64, 413),
        ("example.org", i64::MAX as u64, 403),
        ("example.org", 3 << 30, 403),
    ] {
        let mut stream = connect(&served);
        write!(stream, "POST /invoke HTTP/1.1\r\nHost: {host}\r\n").unwrap();
        write!(stream, "Content-Length: {length}\r\n\r\nabc").unwrap();
        let answer = rest(&stream);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert_eq!(served.get("/").0, 200);
    }
}

/// Neither a body that does not come nor a body that comes by drops takes a worker.
#[test]
fn idle_connections_hold_nobody_up() {
    let served = Served::start();
    let own = format!("127.0.0.1:{}", served.port);
    let mut held = Vec::new();
    for index in 0..300 {
        let mut stream = connect(&served);
        let host = if index % 2 == 0 { &own } else { "example.org" };
        match index % 3 {
            0 => {}
            1 => write!(stream, "POST /invoke HTTP/1.1\r\nHo").unwrap(),
            _ => {
                write!(stream, "POST /invoke HTTP/1.1\r\nHost: {host}\r\n").unwrap();
                write!(stream, "Content-Length: 9\r\n\r\n{{\"").unwrap();
            }
        }
        held.push(stream);
    }
    let start = Instant::now();
    for _ in 0..10 {
        assert_eq!(served.post(&own, "", br#"{"request": "machines"}"#).0, 200);
        assert_eq!(served.get("/").0, 200);
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

/// Two thousand connect before the server comes to let one of them in. Whoever finds no room is dropped by the
/// system, and tries again after a second.
#[test]
#[cfg(target_os = "linux")]
fn whoever_connects_in_a_crowd_does_not_wait() {
    use rustix::process::{Pid, Signal, kill_process};

    let crowd = 2000;
    rlimit::increase_nofile_limit(4096).unwrap();
    let room = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
    assert!(room.trim().parse::<u32>().unwrap() > crowd, "the system itself has no room");
    let served = Served::start();
    let id = Pid::from_child(&served.child);
    kill_process(id, Signal::STOP).unwrap();
    let start = Instant::now();
    let held: Vec<TcpStream> = (0..crowd).map(|_| connect(&served)).collect();
    let time = start.elapsed();
    kill_process(id, Signal::CONT).unwrap();
    assert!(time < Duration::from_millis(900), "{time:?}");
    assert_eq!(served.get("/engine.json").0, 200);
    drop(held);
}

#[test]
fn heads_without_end_are_cut_off() {
    let served = Served::start();
    let lines = "x-weft: 0123456789abcdef\r\n".repeat(1 << 10);
    let one = format!("x-weft: {}", "y".repeat(lines.len()));
    for more in [lines, one] {
        let mut stream = connect(&served);
        write!(stream, "GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", served.port).unwrap();
        let mut sent = 0;
        // It closes the connection, so that writing fails before long.
        while sent < 64 << 20 && stream.write_all(more.as_bytes()).is_ok() {
            sent += more.len();
        }
        assert!(sent < 64 << 20);
    }
    assert_eq!(served.get("/").0, 200);
}

#[test]
fn a_head_that_does_not_come_ends_the_connection() {
    let served = Served::start();
    let begun = connect(&served);
    (&begun).write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
    let silent = connect(&served);
    for stream in [begun, silent] {
        rest(&stream);
    }
}

/// A request of 2^31 rounds, each of which changes something.
fn endless() -> String {
    let ttir = "module { tt.func public @endless(%out: !tt.ptr<i32>, %n: i32) {
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        %sum = scf.for %i = %zero to %n step %one iter_args(%sum = %zero) -> (i32) : i32 {
          %next = arith.addi %sum, %i : i32
          scf.yield %next : i32
        }
        tt.store %out, %sum : !tt.ptr<i32>
        tt.return
    } }";
    let args = json!({"out": "empty:i32[1]", "n": i32::MAX});
    json!({"request": "run", "ttir": ttir, "grid": 1, "args": args}).to_string()
}

/// Work in plenty takes no room from short requests and from the page; it ends when those who asked leave.
#[test]
fn long_requests_are_bounded_hold_nobody_up_and_end_with_their_clients() {
    let served = Served::start();
    let own = format!("127.0.0.1:{}", served.port);
    let endless = endless();
    let ask = |_| {
        let mut stream = connect(&served);
        let head = format!("POST /invoke HTTP/1.1\r\nHost: {own}\r\n");
        write!(stream, "{head}Content-Length: {}\r\n\r\n{endless}", endless.len()).unwrap();
        stream
    };
    // As many as run and wait, and some that find no place.
    let asked: Vec<TcpStream> = (0..80).map(ask).collect();
    let is_refused = |stream: &TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut status = [0; 12];
        let mut stream = stream;
        stream.read_exact(&mut status).is_ok() && &status == b"HTTP/1.1 503"
    };
    assert_eq!(asked.iter().rev().take(20).filter(|stream| is_refused(stream)).count(), 12);
    let start = Instant::now();
    for _ in 0..10 {
        assert_eq!(served.post(&own, "", br#"{"request": "machines"}"#).0, 200);
        assert_eq!(served.get("/").0, 200);
    }
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    drop(asked);
    let kernel =
        json!({"request": "compile", "ttir": "module { tt.func public @k() { tt.return } }"});
    let start = Instant::now();
    while served.post(&own, "", kernel.to_string().as_bytes()).0 != 200 {
        assert!(start.elapsed() < Duration::from_secs(10), "the work goes on");
    }
}
