//! How long after it was cancelled a request goes on: Ctrl-C, a cancelled call, a connection that is closed.
//!
//! Seen from outside: from the cancellation to the last moment at which a thread of the process computed, and how
//! long its threads computed until then, which is what it takes where nobody else wants the machine.

use super::TIME;
use super::inputs::words;
use super::server::percentile;
use super::sessions::{Lines, Served, mcp, unlimited};
use super::shells::Shells;
use crate::measure::Measurement;
use crate::{root, say};
use anyhow::{Context as _, ensure};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use weft_api::budget::{self, Budget, Limits, Stop};

/// At how many moments each request is cancelled.
const MOMENTS: u32 = 8;
/// How long nothing computes before a request counts as ended.
const QUIET: Duration = Duration::from_millis(250);
/// Computing of a thread between two looks at it that is more than waking up.
const NOISE: u64 = 300_000;
/// Computing after a cancellation that is told with its request.
const LONG: Duration = Duration::from_millis(50);
/// The longest that is waited for an end.
const PATIENCE: Duration = Duration::from_secs(20);

/// Cancels, and measures.
pub(crate) fn measure(weft: &Path) -> anyhow::Result<Measurement> {
    let what = format!(
        "requests that take long, each cancelled at {MOMENTS} moments of its work: how long threads of the \
         process go on to compute, and the most that they compute meanwhile"
    );
    let columns = [
        "cancelled by",
        "requests",
        "median, ms",
        "90th percentile, ms",
        "longest, ms",
        "most computing, ms",
    ];
    let mut measurement = Measurement::new(&what, "cancellation", &columns);
    let requests = requests()?;
    let most = requests.iter().map(|(request, _)| gap(request)).max().unwrap_or_default();
    let folder = root().join("target/hostile");
    fs::create_dir_all(&folder)?;
    Shells::build_python(&folder)?;
    type Way<'a> = &'a dyn Fn(&Value, Duration) -> anyhow::Result<After>;
    let ways: [(&str, Way<'_>); 4] = [
        ("Ctrl-C, the command", &|request, moment| command(weft, request, moment)),
        ("Ctrl-C, Python", &|request, moment| python(&folder, request, moment)),
        ("`notifications/cancelled`", &|request, moment| call(weft, request, moment)),
        ("a connection that is closed", &|request, moment| connection(weft, request, moment)),
    ];
    for (name, way) in ways {
        let (mut times, mut most) = (Vec::new(), Duration::ZERO);
        for (number, (request, whole)) in requests.iter().enumerate() {
            for moment in 1..=MOMENTS {
                let After { time, computing } = way(request, *whole * moment / (MOMENTS + 1))?;
                if computing > LONG {
                    say(&format!(
                        "{name}: request {number} computed for {computing:.0?} in {time:.0?} after it was \
                         cancelled at {moment}/{} of {whole:.0?}",
                        MOMENTS + 1
                    ));
                }
                times.push(time);
                most = most.max(computing);
            }
        }
        times.sort_unstable();
        let shown = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
        let mut row = vec![name.into(), times.len().to_string()];
        row.extend([50, 90, 100].map(|percent| shown(percentile(&times, percent))));
        row.push(shown(most));
        measurement.rows.push(row);
    }
    let mut row = vec!["nothing: computing between two looks".into(), requests.len().to_string()];
    row.extend(["", "", ""].map(str::to_owned));
    row.push(format!("{:.1}", most.as_secs_f64() * 1e3));
    measurement.rows.push(row);
    Ok(measurement)
}

/// What takes long in different places, and how long here, two seconds at most: the reader, homes, lowering,
/// passes, printers, the simulator, the evaluator, and searches.
fn requests() -> anyhow::Result<Vec<(Value, Duration)>> {
    let kernel = |name: &str| fs::read_to_string(root().join("kernels").join(name));
    let chain = |count: usize, op: &str, elements: u64| {
        let tensor = |element: &str| format!("tensor<{elements}x{element}>");
        let (floats, pointers, integers) = (tensor("f32"), tensor("!tt.ptr<f32>"), tensor("i32"));
        let ops: Vec<String> =
            (0..count).map(|i| format!("%v{} = {op} %v{i} : {floats}", i + 1)).collect();
        let ops = ops.join("\n");
        format!(
            "module {{ tt.func public @chain(%x: !tt.ptr<f32>) {{
             %r = tt.make_range {{end = {elements} : i32, start = 0 : i32}} : {integers}
             %p = tt.splat %x : !tt.ptr<f32> -> {pointers}
             %a = tt.addptr %p, %r : {pointers}, {integers}
             %v0 = tt.load %a : {pointers}
             {ops}
             tt.store %a, %v{count} : {pointers}
             tt.return }} }}"
        )
    };
    let compile = |ttir: String| json!({"request": "compile", "ttir": ttir, "emit": ["ptx"]});
    let endless = "module { tt.func public @endless(%out: !tt.ptr<i32>, %n: i32) {
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        %sum = scf.for %i = %zero to %n step %one iter_args(%sum = %zero) -> (i32) : i32 {
          %next = arith.OP %sum, %i : i32
          scf.yield %next : i32
        }
        tt.store %out, %sum : !tt.ptr<i32>
        tt.return } }";
    let run = |op: &str| {
        let args = json!({"out": "empty:i32[1]", "n": i32::MAX});
        json!({"request": "run", "ttir": endless.replace("OP", op), "grid": 1, "args": args})
    };
    let requests = [
        compile(chain(40, "math.absf", 1 << 19)),
        compile(chain(4, "math.sin", 1 << 16)),
        compile(chain(4000, "math.absf", 128)),
        compile(kernel("sort_rows.ttir")?),
        compile(kernel("linear_bf16.ttir")?),
        json!({"request": "explain", "ttir": kernel("flash_forward.ttir")?}),
        run("addi"),
        run("divsi"),
    ];
    let timed = requests.map(|request| {
        let mut limited = request.clone();
        limited["limits"] = json!({"milliseconds": 2000});
        let start = Instant::now();
        let answer = weft_api::invoke(&limited.to_string());
        ensure!(!answer.contains("\"kind\":\"ttir\""), "{answer}");
        Ok((request, start.elapsed()))
    });
    timed.into_iter().collect()
}

fn command(weft: &Path, request: &Value, moment: Duration) -> anyhow::Result<After> {
    let (words, input) = words(request);
    let mut command = Command::new(weft);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    child.stdin.take().context("no input")?.write_all(input.as_bytes())?;
    let id = child.id();
    thread::sleep(moment);
    let waited = thread::spawn(move || child.wait());
    let after = after(id, || interrupt(id));
    waited.join().map_err(|_| anyhow::anyhow!("it panicked"))??;
    after
}

fn python(folder: &Path, request: &Value, moment: Duration) -> anyhow::Result<After> {
    let program = "import signal, sys, _weft\n\
                   signal.signal(signal.SIGINT, signal.default_int_handler)\n\
                   for line in sys.stdin:\n\
                   \x20   try:\n\
                   \x20       print('begun', flush=True)\n\
                   \x20       _weft.invoke(line)\n\
                   \x20   except KeyboardInterrupt:\n\
                   \x20       pass\n";
    let mut command = Command::new("python3");
    let mut lines = Lines::start(command.args(["-c", program]).env("PYTHONPATH", folder))?;
    lines.say(request.to_string().as_bytes())?;
    lines.hear()?;
    thread::sleep(moment);
    after(lines.id(), || interrupt(lines.id()))
}

fn call(weft: &Path, request: &Value, moment: Duration) -> anyhow::Result<After> {
    let mut lines = mcp(&mut unlimited(weft, "mcp"))?;
    let mut arguments = request.clone();
    let name = arguments.as_object_mut().and_then(|members| members.remove("request"));
    let name = name.filter(|name| name != "run").unwrap_or_else(|| "simulate".into());
    let params = json!({"name": name, "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params});
    lines.say(call.to_string().as_bytes())?;
    thread::sleep(moment);
    let params = json!({"requestId": "call"});
    let end = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    after(lines.id(), || lines.say(end.to_string().as_bytes()))
}

fn connection(weft: &Path, request: &Value, moment: Duration) -> anyhow::Result<After> {
    let served = Served::start_by(&mut unlimited(weft, "serve --port 0"))?;
    let mut stream = served.connect()?;
    let body = request.to_string();
    let head = format!("POST /invoke HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", served.port);
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len())?;
    thread::sleep(moment);
    after(served.child.id(), || {
        drop(stream);
        Ok(())
    })
}

/// The most that is computed for a request between two times that the clock is looked at: whoever cancels comes
/// in between at worst.
fn gap(request: &Value) -> Duration {
    let gaps: Arc<Mutex<Gaps>> = Arc::default();
    let asked = Arc::clone(&gaps);
    let look = move || {
        let place = || Backtrace::force_capture().to_string();
        asked.lock().unwrap_or_else(PoisonError::into_inner).end(place);
        false
    };
    let budget = Budget {
        limits: Limits { milliseconds: TIME, ..Limits::default() },
        stop: Stop::default().inner_until(look),
    };
    gaps.lock().unwrap_or_else(PoisonError::into_inner).last = thread_time();
    budget::within(&budget, || weft_api::invoke(&request.to_string()));
    let mut gaps = gaps.lock().unwrap_or_else(PoisonError::into_inner);
    gaps.end(|| "the end of the request".into());
    for (time, place) in &gaps.long {
        say(&format!("{time:.0?} computed without a look, until\n{place}"));
    }
    gaps.most
}

/// Computing between looks at the clock.
#[derive(Default)]
struct Gaps {
    /// When it was looked at last.
    last: Duration,
    most: Duration,
    /// What took long, and where it came to an end.
    long: Vec<(Duration, String)>,
}

impl Gaps {
    fn end(&mut self, place: impl Fn() -> String) {
        let time = thread_time().saturating_sub(self.last);
        if time > LONG / 2 {
            self.long.push((time, place()));
        }
        self.most = self.most.max(time);
        self.last = thread_time();
    }
}

/// How long this thread has computed.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn interrupt(id: u32) -> anyhow::Result<()> {
    let id = Pid::from_raw(id as i32).context("a process has a number")?;
    Ok(kill_process(id, Signal::INT)?)
}

/// What a process does after something was cancelled.
struct After {
    /// How long until no thread computes any more.
    time: Duration,
    /// How long its threads compute until then, all together.
    computing: Duration,
}

/// What a process does after the end of `cancel`.
fn after(id: u32, cancel: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<After> {
    cancel()?;
    let start = Instant::now();
    let mut before = computed(id);
    let mut after = After { time: Duration::ZERO, computing: Duration::ZERO };
    while start.elapsed() < after.time + QUIET {
        ensure!(start.elapsed() < PATIENCE, "it goes on after {PATIENCE:?}");
        thread::sleep(Duration::from_millis(2));
        let now = computed(id);
        let of =
            |(thread, time): (&u32, &u64)| time.saturating_sub(*before.get(thread).unwrap_or(&0));
        let computing: Vec<u64> = now.iter().map(of).collect();
        if computing.iter().any(|&time| time > NOISE) {
            after.time = start.elapsed();
            after.computing += Duration::from_nanos(computing.iter().sum());
        }
        before = now;
    }
    Ok(after)
}

/// How long each thread of a process has computed, in nanoseconds; none of a process that has ended.
fn computed(id: u32) -> BTreeMap<u32, u64> {
    let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let time = |thread: fs::DirEntry| {
        let time = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let name = thread.file_name().to_str()?.parse().ok()?;
        Some((name, time.split(' ').next()?.parse().ok()?))
    };
    threads.filter_map(time).collect()
}
