//! Progress bars for long work. They are shown only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};

/// Files smaller than this, in bytes, show no bar.
const SMALL_FILE: u64 = 1 << 20;

/// Fewer submissions than this show no bar.
const FEW_SUBMISSIONS: u64 = 8;

/// A bar for reading a file of `size` stored bytes.
pub fn of_bytes(size: u64, quiet: bool) -> ProgressBar {
    bar(!quiet && size >= SMALL_FILE, size, "{bar:40} {bytes}/{total_bytes}, {eta} left")
}

/// A bar for `count` submissions.
pub fn of_submissions(count: u64, quiet: bool) -> ProgressBar {
    bar(!quiet && count >= FEW_SUBMISSIONS, count, "{bar:40} {pos}/{len} submissions, {eta} left")
}

fn bar(wanted: bool, length: u64, template: &str) -> ProgressBar {
    if !wanted || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}
