//! What a kernel's movements cost with Weft's homes and with Triton's, counted by the simulator.

use crate::root;
use crate::runs::{self, Job, Ran};
use anyhow::{Context as _, ensure};
use std::path::{Path, PathBuf};
use weft_layout::Machine;

/// The machine whose recorded TTGIR is compared.
const TARGET: &str = "sm_80";

/// The columns of the table.
pub(crate) const COLUMNS: [&str; 6] =
    ["kernel", "Weft, cycles", "Triton, cycles", "wavefronts", "shuffles", "barriers"];

/// What moving data between threads took in a run.
#[derive(Clone, Copy, Default)]
struct Moved {
    wavefronts: f64,
    shuffles: f64,
    /// Of blocks.
    barriers: f64,
    /// By the machine's prices.
    cycles: f64,
}

impl Moved {
    fn of(ran: &Ran, machine: &Machine) -> anyhow::Result<Self> {
        let count = |name: &str| ran.number(&["counts", name]);
        let warps = ran.number(&["warps"])?;
        let (wavefronts, shuffles) = (count("shared_wavefronts")?, count("shuffles")?);
        // One for each warp that arrived.
        let arrived = count("block_barriers")?;
        let prices = &machine.prices;
        let barrier = prices.barrier_share(warps as u64) as f64;
        let hundredths = wavefronts * prices.wavefront as f64
            + shuffles * prices.shuffle as f64
            + arrived * barrier;
        Ok(Self { wavefronts, shuffles, barriers: arrived / warps, cycles: hundredths / 100.0 })
    }

    fn plus(self, other: Self) -> Self {
        Self {
            wavefronts: self.wavefronts + other.wavefronts,
            shuffles: self.shuffles + other.shuffles,
            barriers: self.barriers + other.barriers,
            cycles: self.cycles + other.cycles,
        }
    }
}

/// A row for each kernel whose TTGIR by Triton is recorded, and one of sums.
pub(crate) fn rows(weft: &Path) -> anyhow::Result<Vec<Vec<String>>> {
    let machine = Machine::by_name(TARGET).context("no such machine")?;
    let mut rows = Vec::new();
    let (mut own_all, mut given_all) = (Moved::default(), Moved::default());
    for (job, given) in pairs()? {
        let run = |file: &Path| -> anyhow::Result<Moved> {
            let more = ["--target", TARGET];
            let ran = runs::run_file(weft, file, &job.grid, &job.arguments, &more)?;
            ensure!(ran.passed()?, "{}: the run found something wrong", file.display());
            Moved::of(&ran, machine)
        };
        let (own, given) = (run(&job.file)?, run(&given)?);
        rows.push(row(&job.title, own, given));
        (own_all, given_all) = (own_all.plus(own), given_all.plus(given));
    }
    rows.push(row("all", own_all, given_all));
    Ok(rows)
}

fn row(title: &str, own: Moved, given: Moved) -> Vec<String> {
    let both = |of: fn(&Moved) -> f64| format!("{:.0}, {:.0}", of(&own), of(&given));
    vec![
        title.into(),
        format!("{:.0}", own.cycles),
        format!("{:.0}", given.cycles),
        both(|moved| moved.wavefronts),
        both(|moved| moved.shuffles),
        both(|moved| moved.barriers),
    ]
}

/// The runs of kernels of which both texts are recorded, with the file of the TTGIR.
fn pairs() -> anyhow::Result<Vec<(Job, PathBuf)>> {
    let mut jobs = runs::of_kernels()?;
    for mut job in runs::of_given()? {
        let name = job.file.file_name().context("a run without a file")?.to_owned();
        job.file = root().join("examples").join(name);
        jobs.push(job);
    }
    let given = |job: Job| {
        let name = job.file.file_stem()?.to_str()?;
        let given = root().join(format!("kernels/ttgir/{name}.80.ttgir"));
        given.exists().then_some((job, given))
    };
    Ok(jobs.into_iter().filter_map(given).collect())
}
