//! The spellings of kernels: tables of names and number formats by version.

use super::buffer_kind::BufferKind;
use crate::engine::EngineId;
use std::fmt;

/// A version of the format of error states. Each covers a range of kernels. If details changed
/// within the range, the writer uses those of its last kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spelling {
    /// Linux 2.6.37 to 3.13: `render ring --- gtt_offset = 0x01234000`, a line for each dword.
    Linux3_10,
    /// Linux 3.14 to 4.2: begins with `GPU HANG`, names the process, has the status page.
    Linux3_14,
    /// Linux 4.3 to 4.8: addresses of two halves.
    Linux4_4,
    /// Linux 4.9 to 4.11: memory is deflated and printed in base 85, one line a buffer; INSTDONE of
    /// every subslice.
    Linux4_10,
    /// Linux 4.12 to 4.15: `rcs0 --- ringbuffer`, but `render command stream:`; also buffers that
    /// the program asked to have captured.
    Linux4_14,
    /// Linux 4.16 to 5.5: `rcs0 command stream:`.
    Linux5_4,
    /// Linux 5.6 and later: the buffers of an engine follow its registers; `rcs0 --- batch`,
    /// `rcs0 --- ring`.
    Linux6_1,
    /// As `Linux6_1`, for kernels built without compression: memory in base 85, not deflated.
    Linux6_1Plain,
}

/// An unknown name of a spelling.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no spelling is called `{0}`; there are 3.10, 3.14, 4.4, 4.10, 4.14, 5.4, 6.1 and 6.1-plain"
)]
pub struct UnknownSpelling(pub String);

impl Spelling {
    /// All spellings, oldest first.
    pub const ALL: [Spelling; 8] = [
        Spelling::Linux3_10,
        Spelling::Linux3_14,
        Spelling::Linux4_4,
        Spelling::Linux4_10,
        Spelling::Linux4_14,
        Spelling::Linux5_4,
        Spelling::Linux6_1,
        Spelling::Linux6_1Plain,
    ];

    /// Its name: a version of Linux in its range.
    pub const fn name(self) -> &'static str {
        match self {
            Spelling::Linux3_10 => "3.10",
            Spelling::Linux3_14 => "3.14",
            Spelling::Linux4_4 => "4.4",
            Spelling::Linux4_10 => "4.10",
            Spelling::Linux4_14 => "4.14",
            Spelling::Linux5_4 => "5.4",
            Spelling::Linux6_1 => "6.1",
            Spelling::Linux6_1Plain => "6.1-plain",
        }
    }

    /// True if memory is printed as lines of hexadecimal numbers.
    pub(super) fn is_hex(self) -> bool {
        self < Spelling::Linux4_10
    }

    /// True if the buffers of an engine follow its registers.
    pub(super) fn is_grouped(self) -> bool {
        self >= Spelling::Linux6_1
    }

    /// True if addresses of buffers are printed as two halves.
    pub(super) fn has_halves(self) -> bool {
        self >= Spelling::Linux4_4
    }
}

impl fmt::Display for Spelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Spelling {
    type Err = UnknownSpelling;

    fn from_str(name: &str) -> Result<Self, UnknownSpelling> {
        let found = Spelling::ALL.into_iter().find(|spelling| spelling.name() == name);
        found.ok_or_else(|| UnknownSpelling(name.to_owned()))
    }
}

/// Engines: the present name, the name in the line before its registers until Linux 4.15, the name
/// in the lines before its buffers until 4.11, the engine.
const ENGINES: &[(&str, &str, &str, EngineId)] = &[
    ("rcs0", "render", "render ring", EngineId::Render),
    ("vcs0", "bsd", "bsd ring", EngineId::Video),
    ("vcs1", "bsd2", "bsd2 ring", EngineId::Video),
    ("bcs0", "blt", "blitter ring", EngineId::Blitter),
    ("vecs0", "vebox", "video enhancement ring", EngineId::VideoEnhance),
];

/// Other names of engines in old kernels, each with the present name.
const ENGINES_TOO: &[(&str, &str)] = &[
    ("gen6 bsd ring", "vcs0"),
    ("bds2 ring", "vcs1"),
    ("rcs", "rcs0"),
    ("vcs", "vcs0"),
    ("bcs", "bcs0"),
];

/// The present name of the engine that some kernel calls `name`; an unknown name is unchanged.
pub(super) fn engine_name(name: &str) -> &str {
    let name = name.trim();
    let found = ENGINES.iter().find(|(_, short, long, _)| *short == name || *long == name);
    let too = || ENGINES_TOO.iter().find(|(old, _)| *old == name).map(|(_, now)| *now);
    found.map(|(now, ..)| *now).or_else(too).unwrap_or(name)
}

/// The name of an engine in the line before its registers.
pub(super) fn stream_name(name: &str, spelling: Spelling) -> &str {
    let found = ENGINES.iter().find(|(now, ..)| *now == name && spelling < Spelling::Linux5_4);
    found.map_or(name, |(_, short, ..)| short)
}

/// The name of an engine in the line before a buffer.
pub(super) fn section_name(name: &str, spelling: Spelling) -> &str {
    let found = ENGINES.iter().find(|(now, ..)| *now == name && spelling < Spelling::Linux4_14);
    found.map_or(name, |(_, _, long, _)| long)
}

/// The engine of Broadwell with this present name.
pub(super) fn engine_id(name: &str) -> Option<EngineId> {
    let class = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match class {
        "rcs" | "ccs" => Some(EngineId::Render),
        "bcs" => Some(EngineId::Blitter),
        "vcs" => Some(EngineId::Video),
        "vecs" => Some(EngineId::VideoEnhance),
        _ => None,
    }
}

/// The present name of an engine.
pub(super) fn name_of(engine: EngineId, instance: u32) -> String {
    let class = match engine {
        EngineId::Render => "rcs",
        EngineId::Blitter => "bcs",
        EngineId::Video => "vcs",
        EngineId::VideoEnhance => "vecs",
    };
    format!("{class}{instance}")
}

/// Kinds of buffers with their names in files, and the first and last spelling that writes this
/// name. Case has changed, so readers ignore it.
const BUFFERS: &[(BufferKind, &str, Spelling, Spelling)] = {
    use BufferKind as Is;
    use Spelling as L;
    &[
        (Is::Batch, "gtt_offset", L::Linux3_10, L::Linux5_4),
        (Is::Batch, "batch", L::Linux6_1, L::Linux6_1Plain),
        (Is::Ring, "ringbuffer", L::Linux3_10, L::Linux5_4),
        (Is::Ring, "ring", L::Linux6_1, L::Linux6_1Plain),
        (Is::HardwareRing, "HW ringbuffer", L::Linux3_10, L::Linux6_1Plain),
        (Is::Context, "HW Context", L::Linux3_10, L::Linux4_4),
        (Is::Context, "HW context", L::Linux4_10, L::Linux6_1Plain),
        (Is::Status, "HW Status", L::Linux3_10, L::Linux6_1Plain),
        (Is::WorkaroundContext, "WA ctx batch buffer", L::Linux3_10, L::Linux4_4),
        (Is::WorkaroundContext, "WA context", L::Linux4_10, L::Linux6_1Plain),
        // Until Linux 4.8 a workaround batch has the name of a batch, after `(w/a)`.
        (Is::WorkaroundBatch, "gtt_offset", L::Linux3_10, L::Linux4_4),
        (Is::WorkaroundBatch, "WA batchbuffer", L::Linux4_10, L::Linux5_4),
        (Is::WorkaroundBatch, "WA batch", L::Linux6_1, L::Linux6_1Plain),
        (Is::NullContext, "NULL context", L::Linux3_10, L::Linux6_1Plain),
        (Is::User, "user", L::Linux3_10, L::Linux6_1Plain),
        // Until Linux 4.8 semaphores begin with a line of their own: `Semaphore page = `.
        (Is::Semaphores, "Semaphores", L::Linux3_10, L::Linux6_1Plain),
    ]
};

/// The kind of a buffer with this name.
pub(super) fn buffer_kind(name: &str) -> BufferKind {
    let name = name.trim();
    let found = BUFFERS.iter().find(|(_, other, ..)| other.eq_ignore_ascii_case(name));
    found.map_or_else(|| BufferKind::Other(name.to_owned()), |(kind, ..)| kind.clone())
}

/// The name of a buffer of this kind in this spelling.
pub(super) fn buffer_name(kind: &BufferKind, spelling: Spelling) -> &str {
    if let BufferKind::Other(name) = kind {
        return name;
    }
    let found = BUFFERS
        .iter()
        .find(|(other, _, since, until)| other == kind && (*since..=*until).contains(&spelling));
    found.map_or("user", |(_, name, ..)| name)
}

/// How a number is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `0x%08x`, or with more digits.
    Hex,
    /// `0x%016x`.
    Hex16,
    /// `0x%08x %08x`.
    Halves,
    /// `0x%08x_%08x`.
    Joined,
    /// `0x%08x [0x%08x, 0x%08x]`: the value, then the numbers of `Register::more`, if any.
    Bracket,
    /// `0x%08x [last synced 0x%08x]`.
    Synced,
    /// `0x%08x 0x%08x`.
    Pair,
    /// `[0x%08x_%08x, 0x%08x_%08x]`.
    Range,
    /// `%08llx` after an equals sign.
    Fence,
    /// A decimal number.
    Decimal,
}

/// A line of a spelling: the name (without its index), the form of the number, and the first and
/// last spelling that have it.
pub(super) type Row = (&'static str, Form, Spelling, Spelling);

const FIRST: Spelling = Spelling::Linux3_10;
const LAST: Spelling = Spelling::Linux6_1Plain;

/// The keys of the header's lines, in order, each with the first and last spelling that has the
/// line. Lines that are not in this table go to the end of the header.
pub(super) const HEADER: &[(&str, Spelling, Spelling)] = {
    use Spelling as L;
    &[
        ("GPU HANG", L::Linux3_14, LAST),
        ("Time", FIRST, L::Linux4_4),
        ("Kernel", FIRST, LAST),
        ("Driver", L::Linux5_4, LAST),
        ("Time", L::Linux4_10, LAST),
        ("Boottime", L::Linux4_10, LAST),
        ("Uptime", L::Linux4_10, LAST),
        ("Epoch", L::Linux5_4, L::Linux5_4),
        ("Capture", L::Linux5_4, LAST),
        // The position of the active processes.
        (PROCESSES, L::Linux3_14, LAST),
        ("Reset count", L::Linux3_14, LAST),
        ("Suspend count", L::Linux3_14, LAST),
        ("Platform", L::Linux4_10, LAST),
        ("Subplatform", L::Linux5_4, LAST),
        ("PCI ID", FIRST, LAST),
        ("PCI Revision", L::Linux4_4, LAST),
        ("PCI Subsystem", L::Linux4_4, LAST),
        ("IOMMU enabled?", L::Linux4_4, LAST),
        ("DMC loaded", L::Linux4_4, LAST),
        ("DMC fw version", L::Linux4_4, LAST),
        ("GT awake", L::Linux4_14, LAST),
        ("RPM wakelock", L::Linux4_14, LAST),
        ("PM suspended", L::Linux4_14, LAST),
        ("CS timestamp frequency", L::Linux6_1, LAST),
    ]
};

/// The entry of [`HEADER`] for the lines of the active processes.
pub(super) const PROCESSES: &str = "Active process (on ring ";

/// Registers of the whole device, in order.
pub(super) const GLOBAL: &[Row] = {
    use Spelling as L;
    &[
        ("EIR", Form::Hex, FIRST, LAST),
        ("IER", Form::Hex, FIRST, LAST),
        ("GTIER", Form::Hex, L::Linux3_14, LAST),
        ("PGTBL_ER", Form::Hex, FIRST, LAST),
        ("FORCEWAKE", Form::Hex, FIRST, LAST),
        ("DERRMR", Form::Hex, FIRST, LAST),
        ("CCID", Form::Hex, FIRST, L::Linux5_4),
        ("Missed interrupts", Form::Hex, L::Linux3_14, L::Linux5_4),
        ("fence", Form::Fence, FIRST, LAST),
        // The position of INSTDONE_0 to INSTDONE_3 from Linux 3.13 to 4.8.
        ("ERROR", Form::Hex, FIRST, LAST),
        ("FAULT_TLB_DATA", Form::Pair, L::Linux3_14, LAST),
        ("DONE_REG", Form::Hex, FIRST, LAST),
        ("ERR_INT", Form::Hex, FIRST, LAST),
        ("GTT_CACHE_EN", Form::Hex, L::Linux6_1, LAST),
        ("AUX_ERR_DBG", Form::Hex, L::Linux6_1, LAST),
        ("SFC_DONE", Form::Hex, L::Linux6_1, LAST),
        ("GAM_DONE", Form::Hex, L::Linux6_1, LAST),
    ]
};

/// The present names of INSTDONE_0 to INSTDONE_3, from Gen7 on.
pub(super) const INSTDONE: [&str; 4] =
    ["INSTDONE", "SC_INSTDONE", "SAMPLER_INSTDONE[0][0]", "ROW_INSTDONE[0][0]"];

/// Registers of an engine, in order. A name that occurs twice has different forms in different
/// versions.
pub(super) const ENGINE: &[Row] = {
    use Spelling as L;
    &[
        ("CCID", Form::Hex, L::Linux6_1, LAST),
        ("START", Form::Hex, L::Linux4_4, LAST),
        ("HEAD", Form::Bracket, FIRST, LAST),
        ("TAIL", Form::Bracket, FIRST, LAST),
        ("CTL", Form::Hex, FIRST, LAST),
        ("MODE", Form::Hex, L::Linux4_10, LAST),
        ("HWS", Form::Hex, L::Linux3_14, LAST),
        ("ACTHD", Form::Hex, FIRST, FIRST),
        ("ACTHD", Form::Halves, L::Linux3_14, LAST),
        ("IPEIR", Form::Hex, FIRST, LAST),
        ("IPEHR", Form::Hex, FIRST, LAST),
        ("ESR", Form::Hex, L::Linux6_1, LAST),
        // INSTDONE_0 to INSTDONE_3 until Linux 3.12.
        ("INSTDONE", Form::Hex, L::Linux3_14, LAST),
        ("SC_INSTDONE", Form::Hex, L::Linux4_10, LAST),
        ("SAMPLER_INSTDONE", Form::Hex, L::Linux4_10, LAST),
        ("ROW_INSTDONE", Form::Hex, L::Linux4_10, LAST),
        ("GEOM_SVGUNIT_INSTDONE", Form::Hex, L::Linux6_1, LAST),
        ("SC_INSTDONE_EXTRA", Form::Hex, L::Linux6_1, LAST),
        ("SC_INSTDONE_EXTRA2", Form::Hex, L::Linux6_1, LAST),
        ("batch", Form::Range, L::Linux4_10, LAST),
        ("BBADDR", Form::Hex, FIRST, FIRST),
        ("BBADDR", Form::Halves, L::Linux3_14, L::Linux4_4),
        ("BBADDR", Form::Joined, L::Linux4_10, LAST),
        ("BB_STATE", Form::Hex, L::Linux3_14, LAST),
        ("INSTPS", Form::Hex, FIRST, LAST),
        ("INSTPM", Form::Hex, FIRST, LAST),
        ("FADDR", Form::Hex, FIRST, FIRST),
        ("FADDR", Form::Halves, L::Linux3_14, LAST),
        ("RC PSMI", Form::Hex, FIRST, LAST),
        ("FAULT_REG", Form::Hex, FIRST, LAST),
        ("SYNC_0", Form::Synced, FIRST, L::Linux5_4),
        ("SYNC_1", Form::Synced, FIRST, L::Linux5_4),
        ("SYNC_2", Form::Synced, FIRST, L::Linux5_4),
        ("NOPID", Form::Hex, L::Linux6_1, LAST),
        ("EXCC", Form::Hex, L::Linux6_1, LAST),
        ("CMD_CCTL", Form::Hex, L::Linux6_1, LAST),
        ("CSCMDOP", Form::Hex, L::Linux6_1, LAST),
        ("CTX_SR_CTL", Form::Hex, L::Linux6_1, LAST),
        ("DMA_FADDR_HI", Form::Hex, L::Linux6_1, LAST),
        ("DMA_FADDR_LO", Form::Hex, L::Linux6_1, LAST),
        ("GFX_MODE", Form::Hex, L::Linux3_14, LAST),
        ("PDP0", Form::Hex16, L::Linux3_14, LAST),
        ("PDP1", Form::Hex16, L::Linux3_14, LAST),
        ("PDP2", Form::Hex16, L::Linux3_14, LAST),
        ("PDP3", Form::Hex16, L::Linux3_14, LAST),
        ("PP_DIR_BASE", Form::Hex, L::Linux3_14, LAST),
        ("seqno", Form::Hex, FIRST, L::Linux5_4),
        ("last_seqno", Form::Hex, L::Linux4_10, L::Linux5_4),
        ("ring->head", Form::Hex, FIRST, L::Linux5_4),
        ("ring->tail", Form::Hex, FIRST, L::Linux5_4),
        ("hung", Form::Decimal, L::Linux5_4, LAST),
        ("engine reset count", Form::Decimal, L::Linux4_14, LAST),
    ]
};

/// Lines of an engine that are not registers, in the order in which they follow its registers: the
/// key, and the first and the last spelling that prints the line.
pub(super) const ENTRIES: &[(&str, Spelling, Spelling)] = {
    use Spelling as L;
    &[
        ("IDLE?", L::Linux5_4, L::Linux5_4),
        ("waiting", FIRST, L::Linux5_4),
        ("hangcheck", L::Linux3_14, L::Linux4_4),
        ("hangcheck stall", L::Linux4_10, L::Linux5_4),
        ("hangcheck action", L::Linux4_10, L::Linux5_4),
        ("hangcheck action timestamp", L::Linux4_10, L::Linux5_4),
        ("hangcheck timestamp", L::Linux4_10, L::Linux5_4),
        ("Active context", L::Linux4_10, LAST),
        ("context timeline seqno", L::Linux6_1, LAST),
    ]
};

/// Index and row of a table for a register in this spelling. `name` may have an index in
/// brackets.
pub(super) fn row<'a>(
    table: &'a [Row],
    name: &str,
    spelling: Spelling,
) -> Option<(usize, &'a Row)> {
    let name = name.split('[').next().unwrap_or(name);
    let fits = |row: &Row| row.0 == name && (row.2..=row.3).contains(&spelling);
    table.iter().enumerate().find(|(_, row)| fits(row))
}

/// True if the table has a register of this name in some spelling.
pub(super) fn knows(table: &[Row], name: &str) -> bool {
    let name = name.split('[').next().unwrap_or(name);
    table.iter().any(|row| row.0 == name)
}
