//! A decoded dump as one HTML page, for example to attach to a bug report.
//!
//! The page is self-contained: style, script and data are inside, and its content security policy
//! forbids it to fetch anything. It has a tree of submissions, packets and the data that they point
//! to; search and filters; links from addresses to their targets and back; the state at every draw;
//! kernels; and pictures of surfaces and of decoded video.
//!
//! [`HtmlWriter`] is a [`Sink`] that writes the page while it gets records: first the frame with
//! style and script, then the data in pieces of about 1 MiB, and finally the counts. It stores one
//! piece. It also stores the pictures, so that none is written twice. The size of both is limited.
//! The same records give the same bytes.
//!
//! ```no_run
//! use genxml::decode::{Decoder, Options, Sink, Tables};
//! use genxml::dump::{Dump, How};
//! use genxml::html::{HtmlWriter, Page};
//! let page = Page { input: "some/capture".into(), ..Page::default() };
//! let mut writer = HtmlWriter::new(std::io::stdout().lock(), page);
//! let mut dump = Dump::open("some/capture".as_ref(), &How::default())?;
//! Decoder::new(Tables::gen8(), Options::default()).submissions(&mut dump, &mut writer)?;
//! writer.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The data in the page
//!
//! Each piece is the JSON text of a `script` element of type `application/json` and class `data`:
//!
//! | key | value |
//! |---|---|
//! | `strings` | texts, the first one empty; other values name a string by its index in this array |
//! | `items` | fields, without duplicates: `[depth, name, index, start, end, stored, type, value, unit, issue]` |
//! | `pictures` | `[base64 of a PNG, width, height, remark]` |
//! | `records` | in the order of the decoder, see below |
//!
//! Name, unit and issue of a field are indices of strings, `index` is -1 for none, `start` and
//! `end` are bits from the start of the record. `type` decides what `value` is: 0 nothing (the item
//! holds the items that follow with a greater depth), 1 an unsigned integer, 2 a signed integer, 3
//! true or false, 4 a float, 5 the index of a string or -1 (enumeration), 6 `[value, space,
//! absolute, register]` (address; `absolute` is -1 if unknown), 7 nothing (reserved bits), 8
//! nothing (bits that the tables do not describe). Integers of magnitude 2^53 or more are text,
//! unsigned ones in hexadecimal; infinities and NaN are text. Empty units and issues at the end of
//! a field are left out.
//!
//! A record is `[kind, depth, address, name, index, length, dwords, items, note, register, lines,
//! picture]`, without empty values at the end: kind, name, note and register are indices of
//! strings, `dwords` is text of eight hexadecimal digits per dword, `items` are indices of items of
//! the same piece, `lines` alternates offsets and strings, `picture` is an index into all pictures
//! of the page. The start of a submission is `[-1, {...}]` with the keys that
//! [`JsonWriter`](crate::decode::JsonWriter) writes for it, except `kind`.
//!
//! The last element of class `end` has an object: `input`, `hang`, `remarks`, `counts`. A page
//! without it is incomplete.

mod encode;
mod picture;

pub use picture::Picture;

use crate::decode::{Kind, Record, Sink, VideoSurface};
use crate::gen8::state::RenderSurfaceState;
use crate::memory::Memory;
use crate::submission::Submission;
use encode::{Piece, escape_html, quote};
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};

const FRAME: &str = include_str!("page.html");
/// The colours, fonts and basic elements of all pages, light and dark, as CSS.
pub const BASE_STYLE: &str = include_str!("base.css");

const STYLE: &str = include_str!("page.css");
/// The scripts of the page, in the order of their dependencies.
const SCRIPTS: [&str; 6] = [
    include_str!("data.js"),
    include_str!("rows.js"),
    include_str!("tree.js"),
    include_str!("search.js"),
    include_str!("panel.js"),
    include_str!("main.js"),
];

/// Size in bytes at which a piece of data is written.
const PIECE: usize = 1 << 20;
/// Largest number of pictures in a page.
const MAX_PICTURES: usize = 200;
/// Largest total size in bytes of the pictures of a page.
const MAX_PICTURE_BYTES: usize = 16 << 20;
/// Largest number of attempts to make a picture, because attempts without memory cost time too.
const MAX_LOOKS: usize = 2000;
/// Largest total size in bytes of the remarks.
const MAX_REMARKS: usize = 256 << 10;

/// The text at the top of the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The name of what was decoded, for example a file.
    pub input: String,
    /// For an error state or a device coredump: the summary of the hang as lines of text. Empty for
    /// other dumps.
    pub hang: String,
}

/// A function that makes a picture of a surface from memory. The caller provides it, because this
/// crate has no code for formats and tilings.
pub type Pictures<'a> = &'a dyn Fn(&RenderSurfaceState, &dyn Memory) -> Option<Picture>;

/// A function that makes a picture of decoded video from memory.
pub type VideoPictures<'a> = &'a dyn Fn(&VideoSurface, &dyn Memory) -> Option<Picture>;

/// Counts of the contents of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    submissions: u64,
    records: u64,
    packets: u64,
    unknown: u64,
    issues: u64,
    kernels: u64,
    surfaces: u64,
    pictures: u64,
}

/// Writes records as a page.
pub struct HtmlWriter<'a, W: Write> {
    out: W,
    page: Page,
    pictures: Option<Pictures<'a>>,
    video: Option<VideoPictures<'a>>,
    piece: Piece,
    begun: bool,
    ended: bool,
    remarks: Vec<String>,
    remarks_bytes: usize,
    counts: Counts,
    /// Indices of pictures by the contents of their PNG files.
    seen: HashMap<Vec<u8>, usize>,
    seen_bytes: usize,
    /// Indices of pictures by the dwords of the surface state, or by address and size of decoded
    /// video, for this submission. `None` for a surface without a picture.
    looked: HashMap<Vec<u32>, Option<usize>>,
    looks: usize,
}

impl<W: Write> fmt::Debug for HtmlWriter<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HtmlWriter")
            .field("page", &self.page)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl<'a, W: Write> HtmlWriter<'a, W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W, page: Page) -> Self {
        HtmlWriter {
            out,
            page,
            pictures: None,
            video: None,
            piece: Piece::default(),
            begun: false,
            ended: false,
            remarks: Vec::new(),
            remarks_bytes: 0,
            counts: Counts::default(),
            seen: HashMap::new(),
            seen_bytes: 0,
            looked: HashMap::new(),
            looks: 0,
        }
    }

    /// Adds pictures of the surfaces whose memory is in the dump: at most 200 pictures, 16 MiB of
    /// PNG files, and 2000 attempts to make one.
    pub fn with_pictures(self, pictures: Pictures<'a>) -> Self {
        HtmlWriter { pictures: Some(pictures), ..self }
    }

    /// Adds pictures of decoded video and of its references, with the same limits.
    pub fn with_video(self, video: VideoPictures<'a>) -> Self {
        HtmlWriter { video: Some(video), ..self }
    }

    /// Adds a remark about the whole dump to the top of the page, for example what was skipped.
    /// Remarks over the size limit are dropped.
    pub fn remark(&mut self, text: &str) {
        if self.remarks_bytes + text.len() <= MAX_REMARKS {
            self.remarks_bytes += text.len() + 1;
            self.remarks.push(text.to_owned());
        }
    }

    /// Sets the summary of the hang as lines of text, any time before [`Sink::finish`].
    pub fn hang(&mut self, text: &str) {
        text.clone_into(&mut self.page.hang);
    }

    /// Writes the frame, once.
    fn begin(&mut self) -> io::Result<()> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let mut rest = FRAME;
        // Double braces in the frame are always placeholders.
        while let Some((before, (name, after))) =
            rest.split_once("{{").and_then(|(before, tail)| Some((before, tail.split_once("}}")?)))
        {
            self.out.write_all(before.as_bytes())?;
            match name {
                "title" => self.out.write_all(escape_html(&self.page.input).as_bytes())?,
                "version" => self.out.write_all(env!("CARGO_PKG_VERSION").as_bytes())?,
                "style" => {
                    self.out.write_all(BASE_STYLE.as_bytes())?;
                    self.out.write_all(STYLE.as_bytes())?;
                }
                _ => {
                    for script in SCRIPTS {
                        self.out.write_all(script.as_bytes())?;
                    }
                }
            }
            rest = after;
        }
        self.out.write_all(rest.as_bytes())
    }

    fn flush_piece(&mut self) -> io::Result<()> {
        if !self.piece.is_empty() {
            self.out.write_all(b"<script type=\"application/json\" class=\"data\">")?;
            self.piece.write(&mut self.out)?;
            self.out.write_all(b"</script>\n")?;
        }
        Ok(())
    }

    fn add(&mut self, record: &Record, picture: Option<usize>) -> io::Result<()> {
        self.begin()?;
        self.counts.records += 1;
        match record.kind {
            Kind::Packet | Kind::Partial => self.counts.packets += 1,
            Kind::Unknown => {
                self.counts.packets += 1;
                self.counts.unknown += 1;
            }
            Kind::Kernel => self.counts.kernels += 1,
            Kind::Struct if record.name == "RENDER_SURFACE_STATE" => self.counts.surfaces += 1,
            _ => {}
        }
        self.counts.issues +=
            record.items.iter().filter(|item| item.issue.is_some()).count() as u64;
        self.piece.record(record, picture);
        if self.piece.len() >= PIECE { self.flush_piece() } else { Ok(()) }
    }

    /// The index of the picture of a surface. Adds the picture if it is new. `None` if there is no
    /// picture, or if a limit is reached.
    fn look(&mut self, key: &[u32], picture: impl FnOnce() -> Option<Picture>) -> Option<usize> {
        if let Some(known) = self.looked.get(key) {
            return *known;
        }
        if self.looks >= MAX_LOOKS || self.seen.len() >= MAX_PICTURES {
            return None;
        }
        self.looks += 1;
        let number = picture().and_then(|picture| {
            if let Some(number) = self.seen.get(&picture.png) {
                return Some(*number);
            }
            if self.seen_bytes + picture.png.len() > MAX_PICTURE_BYTES {
                return None;
            }
            let number = self.seen.len();
            self.piece.picture(&picture);
            self.counts.pictures += 1;
            self.seen_bytes += picture.png.len();
            self.seen.insert(picture.png, number);
            Some(number)
        });
        self.looked.insert(key.to_vec(), number);
        number
    }
}

impl<W: Write> Sink for HtmlWriter<'_, W> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        self.begin()?;
        self.counts.submissions += 1;
        self.looked.clear();
        self.piece.section(submission);
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.add(record, None)
    }

    fn structure(&mut self, record: &Record, memory: &dyn Memory) -> io::Result<()> {
        let picture = match (record.name, record.surface, self.pictures, self.video) {
            ("RENDER_SURFACE_STATE", _, Some(pictures), _) => self.look(&record.dwords, || {
                let dwords = record.dwords.first_chunk()?;
                pictures(&RenderSurfaceState::unpack_lossy(dwords), memory)
            }),
            (_, Some(surface), _, Some(video)) => {
                let VideoSurface { address, width, height, pitch, .. } = surface;
                let key = [address as u32, (address >> 32) as u32, width, height, pitch];
                self.look(&key, || video(&surface, memory))
            }
            _ => None,
        };
        self.add(record, picture)
    }

    fn finish(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        self.begin()?;
        self.flush_piece()?;
        let mut end = Vec::new();
        end.extend_from_slice(b"<script type=\"application/json\" class=\"end\">{\"input\":");
        quote(&mut end, &self.page.input);
        end.extend_from_slice(b",\"hang\":");
        quote(&mut end, &self.page.hang);
        end.extend_from_slice(b",\"remarks\":[");
        for (number, remark) in self.remarks.iter().enumerate() {
            if number > 0 {
                end.push(b',');
            }
            quote(&mut end, remark);
        }
        let Counts { submissions, records, packets, unknown, issues, kernels, surfaces, pictures } =
            self.counts;
        writeln!(
            end,
            "],\"counts\":{{\"submissions\":{submissions},\"records\":{records},\"packets\":{packets},\
             \"unknown\":{unknown},\"issues\":{issues},\"kernels\":{kernels},\"surfaces\":{surfaces},\
             \"pictures\":{pictures}}}}}</script>\n</body>\n</html>"
        )?;
        self.out.write_all(&end)?;
        self.out.flush()
    }
}
