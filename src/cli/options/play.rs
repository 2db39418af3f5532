//! Arguments of `check`, `run`, `replay`, `sign`, `compare`, `report` and `trace`.

use super::analysis::share;
use super::bad_value::BadValue;
use super::scenario::{DetailArguments, Format, ScenarioArguments};
use crate::protocols::ForkPoint;
use crate::scenario::MAX_REPLICATIONS;
use crate::vocab::{Positive, Span};
use clap::{ArgGroup, Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct CheckArguments {
    #[command(flatten)]
    pub(in crate::cli) scenario: ScenarioArguments,
    /// Start each program that the scenario names, print its version, and end it; without this flag no program
    /// is started
    #[arg(long)]
    pub(in crate::cli) probe: bool,
    /// Number of replications that are to run at the same time, each of which takes memory. Default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) threads: Option<u32>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RunArguments {
    #[command(flatten)]
    pub(in crate::cli) scenario: ScenarioArguments,
    #[command(flatten)]
    pub(in crate::cli) shown: DetailArguments,
    /// Simulate only the messages (times, losses, late answers): nothing is measured, learned or made
    /// private, and no folder is written
    #[arg(long)]
    pub(in crate::cli) dry: bool,
    /// Simulate once up to the end of a round (20) or a virtual time (5min), then continue in several
    /// branches: the unchanged one, and one for each --branch. Without any --branch, the changes of -o are
    /// the branch
    #[arg(long, value_name = "ROUND|TIME", conflicts_with = "dry")]
    pub(in crate::cli) fork_at: Option<ForkPoint>,
    /// A change of a branch after the fork, as in 'no outages: network.outages=[]'. May be repeated; changes
    /// with the same name belong to one branch
    #[arg(long, value_name = "NAME: PATH=RON", conflicts_with = "dry")]
    pub(in crate::cli) branch: Vec<String>,
    /// Folder in which the run folder is made
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(in crate::cli) out: PathBuf,
    /// Number of threads that run replications; results do not depend on it. Default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) threads: Option<u32>,
    /// Show the report while it grows: at an address of this machine that is printed, or with =FILE as a page
    /// that is written again every few seconds
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
        conflicts_with_all = ["dry", "fork_at", "branch"])]
    pub(in crate::cli) watch: Option<Option<PathBuf>>,
    /// Stop at the first replication that fails instead of running all others
    #[arg(long)]
    pub(in crate::cli) fail_fast: bool,
    /// Run more replications of all cells until, for each series of each cell, the half-width of the 95 % interval of the
    /// mean is at most WIDTH
    #[arg(long, value_name = "WIDTH", value_parser = positive, conflicts_with_all = ["dry", "fork_at", "branch"])]
    pub(in crate::cli) until_halfwidth: Option<Positive>,
    /// The metric for --until-halfwidth: a column of results.csv, named without the prefix "more." if it has one
    #[arg(long, value_name = "NAME", default_value = "simple_regret", requires = "until_halfwidth")]
    pub(in crate::cli) metric: String,
    /// Use the metric, which must be a regret, of this group of agents or cohort of users only. With "worst", use in each
    /// replication the group where the regret is largest
    #[arg(long, value_name = "NAME", requires = "until_halfwidth")]
    pub(in crate::cli) group: Option<String>,
    /// With --until-halfwidth, use the difference of every series from this series, replication by replication, instead of
    /// the mean of every series
    #[arg(long, value_name = "SERIES", requires = "until_halfwidth")]
    pub(in crate::cli) against: Option<String>,
    /// Largest number of replications of a cell for --until-halfwidth
    #[arg(long, alias = "at-most", value_name = "N", default_value_t = 1000, requires = "until_halfwidth",
        value_parser = clap::value_parser!(u64).range(2..=MAX_REPLICATIONS))]
    pub(in crate::cli) max_replications: u64,
}

fn positive(text: &str) -> Result<Positive, BadValue> {
    let number = text.parse::<f64>().map_err(|_| BadValue::NotANumber)?;
    Ok(Positive::new(number)?)
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ReplayArguments {
    /// The run folder; with --diff it may also be a scenario file
    pub(in crate::cli) run: PathBuf,
    /// Compare only this replication. Default: all of them; the first one with --diff
    #[arg(long, value_name = "K")]
    pub(in crate::cli) replication: Option<u64>,
    /// Run and compare only the events up to this virtual time, as in 1min30s
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) until: Option<Span>,
    /// Run nothing: make summary, tables and page again from the records, and compare them with the files
    #[arg(long, conflicts_with_all = ["replication", "until", "diff", "threads"])]
    pub(in crate::cli) files: bool,
    /// Check too that the folder is signed by one of the keys in this file of OpenSSH public keys, such as
    /// id_ed25519.pub; needs a program built with --features sign
    #[arg(long, value_name = "KEY", conflicts_with = "diff")]
    pub(in crate::cli) signed_by: Option<PathBuf>,
    /// Simulate this other run or scenario too, and print the first event that differs, with the events that
    /// caused it in each of the two
    #[arg(long, value_name = "RUN2")]
    pub(in crate::cli) diff: Option<PathBuf>,
    /// Which cell of a study, with --diff
    #[arg(long, value_name = "N", default_value_t = 0, requires = "diff")]
    pub(in crate::cli) cell: usize,
    /// Number of threads that run replications. Default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) threads: Option<u32>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(in crate::cli) format: Format,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SignArguments {
    /// The folder of a finished run
    pub(in crate::cli) run: PathBuf,
    /// An ed25519 private key of OpenSSH, such as ~/.ssh/id_ed25519; needs a program built with --features sign
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) key: PathBuf,
    /// The key's passphrase is the first line of this file. Default: it is asked for on the terminal
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) passphrase_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CompareArguments {
    /// Folder of the first run
    pub(in crate::cli) a: PathBuf,
    /// Folder of the second run; write the first folder again to compare two series of one run. Default: each
    /// branch of a forked run is compared with the unchanged branch
    pub(in crate::cli) b: Option<PathBuf>,
    /// Only this series of the first run. Default: all, or the series of --series-b
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) series_a: Option<String>,
    /// Only this series of the second run. Default: the series of the same name
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) series_b: Option<String>,
    /// For each series and cell, print a table of all metrics instead of one line
    #[arg(long)]
    pub(in crate::cli) full: bool,
    /// Treat the two runs as a pilot: print how many replications are needed to find a mean difference of this size
    #[arg(long, value_name = "EFFECT", value_parser = positive)]
    pub(in crate::cli) power: Option<Positive>,
    /// The probability with which that difference is to be found, for --power
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.8, requires = "power")]
    pub(in crate::cli) power_level: f64,
    /// The metric for --power: a column of results.csv, named without the prefix "more." if it has one
    #[arg(long, value_name = "NAME", default_value = "simple_regret", requires = "power")]
    pub(in crate::cli) metric: String,
    /// Compare the regrets of this group of agents or cohort of users only. With "worst", use in each replication, for each
    /// regret, the group where the regret is largest
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) group: Option<String>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(in crate::cli) format: Format,
}

/// A table for a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum PaperTable {
    /// A LaTeX tabular with the rules of booktabs
    Latex,
    /// A table of Markdown
    Markdown,
}

/// Parses the width of a figure on paper, from 10 to 1000 millimetres, with or without the unit `mm`.
fn millimetres(text: &str) -> Result<f64, BadValue> {
    let found = text.strip_suffix("mm").unwrap_or(text).parse::<f64>().ok();
    found.filter(|width| (10.0..=1000.0).contains(width)).ok_or(BadValue::Width)
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("file").multiple(true))]
pub(in crate::cli) struct ReportArguments {
    /// The run folder
    pub(in crate::cli) run: PathBuf,
    /// Write a figure as an SVG file, and do not print the text of the report
    #[arg(long, value_name = "FILE", group = "file")]
    pub(in crate::cli) svg: Option<PathBuf>,
    /// Write a figure as a PNG file, and do not print the text of the report; needs a program built with --features png
    #[arg(long, value_name = "FILE", group = "file")]
    pub(in crate::cli) png: Option<PathBuf>,
    /// Write a figure as a PDF file, its letters as outlines, and do not print the text of the report; needs a program built
    /// with --features png
    #[arg(long, value_name = "FILE", group = "file")]
    pub(in crate::cli) pdf: Option<PathBuf>,
    /// Write what the figure's caption must say (how to read it, and what its bounds assume) as a text file, and do not
    /// print the text of the report
    #[arg(long, value_name = "FILE", group = "file")]
    pub(in crate::cli) caption: Option<PathBuf>,
    /// The figure's width on paper in millimetres, such as 85; a PNG then has 300 dots an inch
    #[arg(long, value_name = "MM", requires = "file", value_parser = millimetres)]
    pub(in crate::cli) width: Option<f64>,
    /// The figure without title and notes, for a paper with a caption of its own
    #[arg(long, requires = "file")]
    pub(in crate::cli) plain: bool,
    /// Print, instead of the report, one table of all series and cells for a paper
    #[arg(long, value_enum, value_name = "KIND")]
    pub(in crate::cli) table: Option<PaperTable>,
    /// The cell, counted from 0. Some pictures of the page show a single replication, which belongs to this cell. The
    /// page of another cell or replication is a file of its own beside report.html, such as
    /// report-cell1-replication2.html
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(in crate::cli) cell: usize,
    /// The replication that is shown in the page's pictures of a single replication. Default: the cell's first one
    #[arg(long, value_name = "K")]
    pub(in crate::cli) replication: Option<u64>,
    /// Name of the figure, such as cumulative-regret. report.html prints each figure's name below its values; the error
    /// for an unknown name lists all names. Default: the first figure
    #[arg(long, value_name = "ID", requires = "file")]
    pub(in crate::cli) figure: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) shown: DetailArguments,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(in crate::cli) format: Format,
}

/// How a trace is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum TraceFormat {
    /// One line per event; long facts are shortened
    Text,
    /// One JSON object per event, complete
    Jsonl,
    /// A message-sequence picture
    Svg,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct TraceArguments {
    /// The scenario file
    pub(in crate::cli) scenario: PathBuf,
    /// Override a value: path.to.field=RON. May be repeated
    #[arg(short = 'o', long = "override", value_name = "PATH=RON")]
    pub(in crate::cli) overrides: Vec<String>,
    /// Use this seed instead of the scenario's
    #[arg(long, value_name = "SEED")]
    pub(in crate::cli) seed: Option<u64>,
    /// Folder of data files that are not in the scenario's folder. Default: the environment variable SUBROSA_DATA
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) data: Option<PathBuf>,
    /// Which replication
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(in crate::cli) replication: u64,
    /// Which cell of a study
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(in crate::cli) cell: usize,
    /// Only this series. Default: all; the first one for a picture
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) series: Option<String>,
    /// Leave out what happens before this virtual time, as in 1s500ms
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) from: Option<Span>,
    /// Leave out what happens after this virtual time
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) until: Option<Span>,
    /// How events are printed
    #[arg(long, value_enum, default_value_t = TraceFormat::Text)]
    pub(in crate::cli) format: TraceFormat,
}
