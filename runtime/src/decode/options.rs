//! Options of the decoder.

use std::io::IsTerminal;

/// Options for decoding and printing.
#[derive(Debug, Clone)]
pub struct Options {
    /// The format in which [`Decoder::dump`](super::Decoder::dump) and
    /// [`Decoder::raw`](super::Decoder::raw) write.
    pub format: Format,
    /// ANSI colours in text; see [`Color::enabled`].
    pub color: bool,
    /// Show only the name of each packet, not its fields.
    pub headers: bool,
    /// Print addresses of records and bit positions of fields in text. Without them, the text of
    /// two dumps can be compared.
    pub offsets: bool,
    /// Follow what packets point to, jumps included.
    pub follow: bool,
    /// Disassemble kernels; otherwise they are only searched for the surfaces and samplers that
    /// they use.
    pub kernels: bool,
    /// Show the contents of buffers, not only structures: vertices, indices, constants, thread
    /// data, coded video; and registers whose values commands take from memory or from other
    /// registers.
    pub data: bool,
    /// Largest number of vertices, and of indices, shown for a draw; the number of the others is
    /// shown.
    pub max_vertices: u32,
    /// Largest number of bytes of constants, thread data or coded video shown at one address.
    pub max_data: u32,
    /// Show the tables and structures of every draw, also those that an earlier draw of the batch
    /// used in the same way.
    pub every_draw: bool,
    /// Show viewports and scissors 0 to 3 of a draw, also those that it does not use. After a
    /// packet that sets the pointer to a binding table or to samplers, show the table or sampler 0.
    /// Mesa's decoder shows all these, because it does not know what is used.
    pub unused: bool,
    /// Largest number of dwords decoded per batch, in case of loops.
    pub max_dwords: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            format: Format::Text,
            color: false,
            headers: false,
            offsets: true,
            follow: true,
            kernels: true,
            data: true,
            max_vertices: 32,
            max_data: 4096,
            every_draw: false,
            unused: false,
            max_dwords: 16 << 20,
        }
    }
}

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// For people, see [`TextWriter`](super::TextWriter).
    #[default]
    Text,
    /// One object per line, see [`JsonWriter`](super::JsonWriter).
    Json,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Color {
    /// Only if the output is a terminal and the environment variable `NO_COLOR` is empty or not
    /// set.
    #[default]
    Auto,
    /// Use colours.
    Always,
    /// Use no colours.
    Never,
}

impl Color {
    /// True if colours are used for this output.
    pub fn enabled(self, output: &impl IsTerminal) -> bool {
        match self {
            Color::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                output.is_terminal() && !refused
            }
            Color::Always => true,
            Color::Never => false,
        }
    }
}
