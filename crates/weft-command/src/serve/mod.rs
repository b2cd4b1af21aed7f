//! `weft serve`: the page and the engine behind it, for programs on this machine.
//!
//! The server listens on loopback only, hands out the page that is built into the command and answers
//! requests as [`weft_api::invoke()`] does. It opens no file. A page of somebody else cannot ask it
//! anything: a request must name this address as its host, and where it says which page it comes from,
//! that page must be this one.
//!
//! One thread serves all connections and never computes; requests to the engine are answered on threads
//! of their own, in two lanes, so that a short question does not wait behind kernels.

mod body;
mod lane;
mod page;

use crate::Outcome;
use crate::arguments::Serve;
use crate::failure::Failure;
use crate::output::Output;
use body::Room;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use lane::{Lane, Undone};
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;
use weft_api::budget::{self, Budget, Limits, Stop};

/// Connections at the same time; others wait for one to end.
const MAX_CONNECTIONS: usize = 4096;
/// Files that may be open besides connections.
const OTHER_FILES: usize = 64;
/// The most bytes of a request's head.
const MAX_HEAD: usize = 16 << 10;
/// How long a connection may be silent, and how long a head may take to come.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);
/// How long whoever asked may take to read on.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);
/// How long nobody is let in where the machine has no room for another connection.
const REST: Duration = Duration::from_millis(20);
/// How long a request may wait and take together, where no limit says that it may take longer.
const LONGEST: Duration = Duration::from_mins(10);
/// Requests of one lane that are answered at the same time.
const WORKERS: usize = 4;
/// Requests of one lane that wait.
const QUEUE: usize = 64;
/// The stack of each, as that of a process: readers of nested texts recurse.
const STACK: usize = 8 << 20;

/// Tells the page how its engine is reached.
const ENGINE: &str = "{\"transport\":\"http\"}";

/// `weft serve`: answers until it is stopped.
pub(crate) fn run(arguments: &Serve, output: &mut Output) -> Result<Outcome, Failure> {
    let wanted = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), arguments.port);
    let failed = |error: io::Error| Failure::Listen { address: wanted, error: error.to_string() };
    let started = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(2 * WORKERS)
        .thread_stack_size(STACK)
        .build();
    started.map_err(failed)?.block_on(async {
        let listener = listen(wanted).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let address = format!("http://127.0.0.1:{port}/");
        output.line(&address)?;
        Output::note("the workbench is served to this machine alone; stop it with Ctrl-C");
        if arguments.open
            && let Err(error) = open::that_detached(&address)
        {
            Output::note(&format!("no browser can be started: {error}; open the address in one"));
        }
        accept(&listener, Arc::new(Server::new(port, arguments.limited.limits()))).await;
        Ok(Outcome::Good)
    })
}

/// Listens with room for as many connections that nobody has let in yet as there may be. Where they find no
/// room, the system drops their first packets, and whoever connects says it again after one second, two, four.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // Elsewhere it would let two servers listen at one port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(MAX_CONNECTIONS as u32)
}

/// Lets connections in, for ever.
async fn accept(listener: &TcpListener, server: Arc<Server>) {
    // A shell may allow fewer; then that many have to do.
    let files = rlimit::increase_nofile_limit((MAX_CONNECTIONS + OTHER_FILES) as u64);
    let files = files.map_or(usize::MAX, |files| files as usize).max(2 * OTHER_FILES);
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS.min(files - OTHER_FILES)));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(REST).await;
            continue;
        };
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            server.serve(stream).await;
            drop(place);
        });
    }
}

/// What all connections have in common.
struct Server {
    port: u16,
    room: Room,
    /// Requests that are answered soon.
    short: Lane,
    /// Requests about kernels, and tables.
    long: Lane,
    /// Those of a request that names none.
    limits: Limits,
}

/// Why a request is not answered: the status and a sentence.
#[derive(Clone, Copy)]
struct Refusal(StatusCode, &'static str);

impl Refusal {
    const BUSY: Self =
        Self(StatusCode::SERVICE_UNAVAILABLE, "too many requests wait already; ask again");
}

/// The type and the bytes of what is asked for.
type Answered = Result<(&'static str, Bytes), Refusal>;

impl Server {
    fn new(port: u16, limits: Limits) -> Self {
        let lane = || Lane::new(WORKERS, QUEUE);
        Self { port, room: Room::default(), short: lane(), long: lane(), limits }
    }

    /// Serves one connection until it ends; whoever has gone is not told.
    async fn serve(&self, stream: TcpStream) {
        // An answer is written in one piece.
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(WRITE_PATIENCE));
        let respond = |request| async { Ok::<_, Infallible>(self.respond(request).await) };
        let _ = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_PATIENCE)
            .max_buf_size(MAX_HEAD)
            .serve_connection(TokioIo::new(Box::pin(stream)), service_fn(respond))
            .await;
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (status, kind, body) = match self.answer(request).await {
            Ok((kind, body)) => (StatusCode::OK, kind, body),
            Err(Refusal(status, sentence)) => {
                (status, "text/plain; charset=utf-8", Bytes::from_static(sentence.as_bytes()))
            }
        };
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = status;
        let headers: [(HeaderName, &'static str); 5] = [
            (header::CONTENT_TYPE, kind),
            (header::CACHE_CONTROL, "no-cache"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CONTENT_SECURITY_POLICY, page::POLICY),
        ];
        let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
        response.headers_mut().extend(headers);
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }

    async fn answer(&self, request: Request<Incoming>) -> Answered {
        let refuse = |status, sentence| Err(Refusal(status, sentence));
        if !is_local(&request, self.port) {
            let sentence = "only the page that `weft serve` shows may ask it";
            return refuse(StatusCode::FORBIDDEN, sentence);
        }
        match (request.method(), request.uri().path()) {
            (&Method::POST, "/invoke") => self.invoke(request.into_body()).await,
            (_, "/invoke") => {
                let sentence = "a request to the engine is posted, as JSON";
                refuse(StatusCode::METHOD_NOT_ALLOWED, sentence)
            }
            (&Method::GET | &Method::HEAD, "/engine.json") => {
                Ok(("application/json", Bytes::from_static(ENGINE.as_bytes())))
            }
            (&Method::GET | &Method::HEAD, path) => match page::file(path) {
                Some(file) => Ok((file.kind, Bytes::from_static(file.bytes))),
                None => refuse(StatusCode::NOT_FOUND, "there is no such file; the page is at /"),
            },
            _ => {
                let sentence = "files are read; requests to the engine are posted to /invoke";
                refuse(StatusCode::METHOD_NOT_ALLOWED, sentence)
            }
        }
    }

    async fn invoke(&self, body: Incoming) -> Answered {
        let request = self.room.read(body).await?;
        let lane = if is_short(request.as_str()) { &self.short } else { &self.long };
        let budget = Budget { limits: self.limits, stop: Stop::default() };
        // Dropped with this future where the client leaves.
        let _wanted = Wanted(budget.stop.clone());
        let answered =
            lane.run(move || budget::within(&budget, || weft_api::invoke(request.as_str())));
        let late = "the request waited and worked for too long: `weft serve --limit milliseconds=N` \
                    allows more";
        let late = Refusal(StatusCode::GATEWAY_TIMEOUT, late);
        let longest = match self.limits.milliseconds {
            u64::MAX => LONGEST,
            most => LONGEST.max(Duration::from_millis(most)),
        };
        let answered = timeout(longest, answered).await.map_err(|_| late)?;
        let answer = answered.map_err(|undone| match undone {
            Undone::Busy => Refusal::BUSY,
            Undone::Defect => Refusal(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the request was not answered to its end (a defect of weft)",
            ),
        })?;
        Ok(("application/json", answer.into()))
    }
}

/// Somebody waits for an answer: without it the work for the answer ends.
struct Wanted(Stop);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// The longest request that is read to see what it is about.
const MAX_SHORT: usize = 64 << 10;

/// Whether a request is answered soon, as far as can be seen at once.
fn is_short(request: &str) -> bool {
    request.len() <= MAX_SHORT && !weft_api::invoke::may_take_long(request)
}

/// Whether a request names this server as its host, and comes from this page or from no page.
fn is_local<T>(request: &Request<T>, port: u16) -> bool {
    let all = |name| request.headers().get_all(name).iter().map(HeaderValue::as_bytes);
    let here = |host: &[u8]| {
        let names = ["127.0.0.1", "localhost"];
        names.iter().any(|name| host == format!("{name}:{port}").as_bytes())
    };
    let origin = |origin: &[u8]| origin.strip_prefix(b"http://").is_some_and(here);
    let mut hosts = all(header::HOST);
    hosts.next().is_some_and(here) && hosts.next().is_none() && all(header::ORIGIN).all(origin)
}
