//! `weft serve` under attack: how long small requests take meanwhile, what ends it, what it keeps.

use super::sessions::Served;
use crate::measure::Measurement;
use anyhow::ensure;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Connections that say nothing.
const IDLE: usize = 1000;
/// Connections that say a byte a second.
const SLOW: usize = 1000;
/// Connections that attack, one after the other, from so many threads.
const HOSTILE: usize = 100;
/// Small requests whose times are told.
const ASKED: usize = 2000;
/// Requests over which memory is watched.
const MANY: usize = 100_000;

/// A request that is answered within a millisecond.
const SMALL: &str = r#"{"request": "machines", "target": "sm_90"}"#;

/// Attacks, and measures.
pub(crate) fn measure(weft: &Path) -> anyhow::Result<Measurement> {
    let what = format!(
        "`weft serve` and its clients on one machine: {ASKED} small requests, each on a connection of its own, \
         beside {IDLE} idle connections, {SLOW} that send a byte a second and {HOSTILE} that attack; then {MANY} requests"
    );
    let columns = ["measured", "found"];
    let mut measurement = Measurement::new(&what, "server", &columns);
    let mut row = |name: &str, found: String| measurement.rows.push(vec![name.into(), found]);
    let milliseconds = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    let served = Served::start(weft)?;

    let alone = times(&served, ASKED)?;
    row("small requests alone, median", milliseconds(percentile(&alone, 50)));
    row("alone, 99th percentile", milliseconds(percentile(&alone, 99)));
    let beside = besieged(&served)?;
    row("under attack, median", milliseconds(percentile(&beside, 50)));
    row("under attack, 99th percentile", milliseconds(percentile(&beside, 99)));
    row("under attack, longest", milliseconds(percentile(&beside, 100)));

    let attacks = attacks(served.port);
    for (name, bytes) in &attacks {
        served.attack(bytes, false)?;
        let (status, _) = served.post(SMALL)?;
        ensure!(status == 200, "after `{name}` a small request is answered with {status}");
    }
    row("attacks on the protocol, none of which ends it", attacks.len().to_string());

    let mebibytes = |kibibytes: u64| format!("{:.1} MiB", kibibytes as f64 / 1024.0);
    let mut before = 0;
    for count in 1..=MANY {
        let (status, _) = served.post(SMALL)?;
        ensure!(status == 200, "request {count} is answered with {status}");
        if count == MANY / 10 {
            before = served.resident()?;
        }
    }
    row(&format!("memory after {} requests", MANY / 10), mebibytes(before));
    row(&format!("memory after {MANY} requests"), mebibytes(served.resident()?));
    Ok(measurement)
}

/// How long small requests take, one after the other, in order of length.
fn times(served: &Served, count: usize) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        let (status, _) = served.post(SMALL)?;
        ensure!(status == 200, "a small request is answered with {status}");
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

pub(super) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(index).copied().unwrap_or_default()
}

/// How long small requests take while others do all they can to prevent them.
fn besieged(served: &Served) -> anyhow::Result<Vec<Duration>> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let is_over = || over.load(Ordering::Relaxed);
        // Whoever is closed for saying nothing comes again.
        let idle = move || -> anyhow::Result<()> {
            let mut held: Vec<TcpStream> = Vec::new();
            while !is_over() {
                held.retain(is_open);
                while held.len() < IDLE {
                    held.push(quiet(served)?);
                }
                thread::sleep(Duration::from_millis(100));
            }
            Ok(())
        };
        let slow = move || -> anyhow::Result<()> {
            let head = format!(
                "POST /invoke HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 999\r\n\r\n",
                served.port
            );
            let mut held: Vec<(TcpStream, usize)> = Vec::new();
            while !is_over() {
                held.retain_mut(|(stream, said)| {
                    let byte = head.as_bytes().get(*said).unwrap_or(&b' ');
                    *said += 1;
                    is_open(stream) && stream.write_all(&[*byte]).is_ok()
                });
                while held.len() < SLOW {
                    held.push((quiet(served)?, 0));
                }
                thread::sleep(Duration::from_secs(1));
            }
            Ok(())
        };
        let mut threads = vec![scope.spawn(idle), scope.spawn(slow)];
        for index in 0..HOSTILE {
            threads.push(scope.spawn(move || {
                let attacks = attacks(served.port);
                for (_, bytes) in attacks.iter().cycle().skip(index) {
                    if is_over() {
                        break;
                    }
                    // It may be refused, and it may wait for its turn.
                    let _ = served.attack(bytes, false);
                    thread::sleep(Duration::from_millis(50));
                }
                Ok(())
            }));
        }
        thread::sleep(Duration::from_secs(3));
        let found = times(served, ASKED);
        over.store(true, Ordering::Relaxed);
        for thread in threads {
            thread.join().map_err(|_| anyhow::anyhow!("it panicked"))??;
        }
        found
    })
}

/// A connection that is asked whether it is open without waiting.
fn quiet(served: &Served) -> anyhow::Result<TcpStream> {
    let stream = served.connect()?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

fn is_open(mut stream: &TcpStream) -> bool {
    let mut byte = [0];
    matches!(stream.read(&mut byte), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
}

/// Sixty attacks: what is said on a connection, with its name.
pub(super) fn attacks(port: u16) -> Vec<(String, Vec<u8>)> {
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let mut attacks: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>| attacks.push((name.into(), bytes));
    // Request lines.
    for (name, line) in [
        ("no request", ""),
        ("an empty line", "\r\n"),
        ("a thousand empty lines", &*"\r\n".repeat(1000)),
        ("no version", "GET /\r\n\r\n"),
        ("version 0.9", "GET / HTTP/0.9\r\n\r\n"),
        ("version 2.0", "GET / HTTP/2.0\r\n\r\n"),
        ("version 9.9", "GET / HTTP/9.9\r\n\r\n"),
        ("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("TLS", "\u{16}\u{3}\u{1}\u{0}\u{5}\u{1}\u{0}\u{0}\u{1}\u{3}"),
        ("another protocol", "SSH-2.0-OpenSSH_9.9\r\n"),
        ("zeros", &*"\0".repeat(4096)),
        ("no end of the line", &*"G".repeat(100_000)),
        ("a method that is none", "WEAVE / HTTP/1.1\r\n\r\n"),
        ("a long method", &*format!("{} / HTTP/1.1\r\n\r\n", "A".repeat(60_000))),
        ("a space before the method", " GET / HTTP/1.1\r\n\r\n"),
        ("tabs between the words", "GET\t/\tHTTP/1.1\r\n\r\n"),
        ("lines that end with LF", "GET / HTTP/1.1\nHost: x\n\n"),
        ("lines that end with CR", "GET / HTTP/1.1\rHost: x\r\r"),
        ("no head behind the line", "GET / HTTP/1.1\r\n"),
        ("half of a head", "GET / HTTP/1.1\r\nHost: 127."),
    ] {
        add(name, line.as_bytes().to_vec());
    }
    // Paths.
    for (name, path) in [
        ("a folder above", "/../../etc/passwd"),
        ("a folder above in percent", "/%2e%2e/%2e%2e/etc/passwd"),
        ("a percent that is none", "/%zz"),
        ("a zero in the path", "/%00"),
        ("a long path", &*format!("/{}", "a".repeat(60_000))),
        ("many folders", &*"/a".repeat(5_000)),
        ("an absolute address", "http://example.org/"),
        ("a star", "*"),
        ("an authority", "example.org:443"),
        ("a query without end", &*format!("/?{}", "a=b&".repeat(3_000))),
    ] {
        add(name, format!("GET {path} HTTP/1.1\r\n{host}\r\n").into_bytes());
    }
    // Heads.
    for (name, lines) in [
        ("no host", String::new()),
        ("two hosts", format!("{host}Host: example.org\r\n")),
        ("a host of somebody else", "Host: example.org\r\n".into()),
        ("an origin of somebody else", format!("{host}Origin: https://example.org\r\n")),
        ("a thousand lines", host.clone() + &"x-weft: 0\r\n".repeat(1000)),
        ("a long line", format!("{host}x-weft: {}\r\n", "y".repeat(1 << 20))),
        ("a long name", format!("{host}{}: 0\r\n", "x".repeat(1 << 16))),
        ("no name", format!("{host}: 0\r\n")),
        ("no colon", format!("{host}nothing\r\n")),
        ("a space before the colon", format!("{host}x-weft : 0\r\n")),
        ("a folded line", format!("{host}x-weft: 0\r\n 1\r\n")),
        ("a zero in a value", format!("{host}x-weft: \0\r\n")),
        ("an upgrade", format!("{host}Connection: Upgrade\r\nUpgrade: websocket\r\n")),
        ("a range", format!("{host}Range: bytes=0-18446744073709551615\r\n")),
    ] {
        add(name, format!("GET / HTTP/1.1\r\n{lines}\r\n").into_bytes());
    }
    // Bodies.
    for (name, lines, body) in [
        ("a length of 2^63", "Content-Length: 9223372036854775807\r\n", "abc"),
        ("a length of 2^64", "Content-Length: 18446744073709551616\r\n", "abc"),
        ("a length below zero", "Content-Length: -1\r\n", "abc"),
        ("a length that is no number", "Content-Length: 1e3\r\n", "abc"),
        ("two lengths", "Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"),
        ("a length and chunks", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        ("less than the length", "Content-Length: 1000000\r\n", "abc"),
        ("more than the length", "Content-Length: 2\r\n", "{}GET / HTTP/1.1\r\n\r\n"),
        ("a chunk of 2^64", "Transfer-Encoding: chunked\r\n", "10000000000000000\r\nabc"),
        ("a chunk that is no number", "Transfer-Encoding: chunked\r\n", "xyz\r\nabc\r\n"),
        ("a chunk that does not end", "Transfer-Encoding: chunked\r\n", "ffffff\r\nabc"),
        (
            "extensions of a chunk",
            "Transfer-Encoding: chunked\r\n",
            &*format!("3;{}\r\nabc\r\n0\r\n\r\n", "x".repeat(1 << 20)),
        ),
        ("an encoding that is none", "Transfer-Encoding: weft\r\n", "abc"),
        ("what waits to be told to go on", "Content-Length: 3\r\nExpect: 100-continue\r\n", ""),
        ("nothing but brackets", "Content-Length: 1000000\r\n", &*"[".repeat(1_000_000)),
        ("bytes that are no text", "Content-Length: 4\r\n", "\u{80}\u{81}"),
    ] {
        add(name, format!("POST /invoke HTTP/1.1\r\n{host}{lines}\r\n{body}").into_bytes());
    }
    attacks
}
