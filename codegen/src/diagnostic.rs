//! Problems of a specification, rendered as rustc does: the XML line with the span underlined.

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::source::{SourceFile, Span};

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The specification cannot be used.
    Error,
    /// The specification can be used, but something is probably wrong.
    Warning,
}

macro_rules! codes {
    ($($name:ident = $text:literal, $meaning:literal;)*) => {
        /// What kind of problem it is. The text of a code is stable: scripts and SCHEMA.md name it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $meaning] $name,)* }

        impl Code {
            /// Every code, in the order of declaration.
            pub const ALL: &[Code] = &[$(Code::$name),*];

            /// The stable text, such as `E-OVERLAP`; `E-` codes are errors, `W-` codes warnings.
            pub const fn text(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// What the code means, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$name => $meaning,)* }
            }
        }
    };
}

codes! {
    Io = "E-IO", "A file or folder cannot be read, or is not UTF-8.";
    Xml = "E-XML", "The file is not well-formed XML.";
    Text = "E-TEXT", "There is text where only elements are allowed.";
    Element = "E-ELEMENT", "An element is unknown, or not allowed at this position.";
    Attribute = "E-ATTRIBUTE", "An attribute is unknown for its element.";
    Missing = "E-MISSING", "A required attribute is missing or empty.";
    Number = "E-NUMBER", "A number is malformed or too large.";
    Value = "E-VALUE", "An attribute's value is not one of the permitted words.";
    Position = "E-POSITION", "The position of a field or group is malformed.";
    Import = "E-IMPORT",
        "An import cannot be found, imports itself, or excludes a name that does not exist.";
    Platform = "E-PLATFORM", "Files of one specification disagree about the platform.";
    Type = "E-TYPE", "A field's type is neither built in nor a structure or enumeration.";
    Values = "E-VALUES", "A field that is not a uint contains values.";
    Expression = "E-EXPR", "A condition is malformed.";
    ExpressionName = "E-EXPR-NAME", "A condition names a field or value that does not exist.";
    ExpressionKind = "E-EXPR-KIND",
        "A part of a condition has the wrong kind, such as a group instead of a field.";
    Duplicate = "E-DUPLICATE", "Two containers, enumerations or engines have the same name.";
    DuplicateField = "E-DUPLICATE-FIELD", "Two fields that can exist together have the same name.";
    DuplicateValue = "E-DUPLICATE-VALUE", "Two values or sets of an enumeration have the same name.";
    DuplicateNumber = "E-DUPLICATE-NUMBER",
        "Two values of an enumeration have the same number, and the second is not an alias; or an alias has no value before it.";
    DuplicateRule = "E-DUPLICATE-RULE", "Two rules have the same id.";
    Width = "E-WIDTH", "A field's bits do not match its type.";
    Default = "E-DEFAULT", "A default is malformed or does not fit the field.";
    Range = "E-RANGE", "A range is malformed, empty, or does not fit the field.";
    Bounds = "E-BOUNDS", "A field or group lies outside its container.";
    Overlap = "E-OVERLAP", "Two fields share bits and are not alternatives of one variant set.";
    Gap = "E-GAP", "Bits of a container belong to no field.";
    Cycle = "E-CYCLE", "A structure contains itself.";
    Opcode = "E-OPCODE", "Two instructions of one engine match the same header.";
    NoOpcode = "E-NO-OPCODE", "An instruction has no opcode field, or one without a default or outside dword 0.";
    Pipeline = "E-PIPELINE", "A command names pipelines, but is not for the render engine alone.";
    Length = "E-LENGTH", "The length field contradicts the length and bias, or is missing.";
    Variant = "E-VARIANT", "The alternatives of a variant set do not exclude each other.";
    Align = "E-ALIGN", "An alignment is not a power of two, or contradicts the field's lowest bit.";
    Space = "E-SPACE", "An address space is unknown, or missing on an offset.";
    Group = "E-GROUP",
        "A group is malformed, or a variable group is not at the end of its container.";
    Stored = "E-STORED", "The stored form does not fit the field's type.";
    EnumFit = "E-ENUM-FIT", "A value of an enumeration does not fit a field of that type.";
    Register = "E-REGISTER", "A register's offset, array or instance is wrong.";
    Latch = "E-LATCH",
        "Latched state has an unknown size, or a field that cannot select its entry.";
    Index = "E-INDEX",
        "The folder's index and its files disagree: something is missing, new or changed.";
    Source = "W-SOURCE", "A container or enumeration does not say where it comes from.";
    RegisterOffset = "W-REGISTER-OFFSET", "Two registers have the same offset.";
    OneBit = "W-ONE-BIT", "A number of one bit in a packet or register is probably a flag.";
    Never = "W-NEVER", "A condition compares a field with a number that the field cannot hold.";
    Target = "W-TARGET",
        "An address points to a container that the specification does not describe.";
}

impl Code {
    /// Error or warning, as the code's first letter says.
    pub const fn severity(self) -> Severity {
        if self.text().as_bytes()[0] == b'W' { Severity::Warning } else { Severity::Error }
    }
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What kind of problem.
    pub code: Code,
    /// What is wrong, with names and values.
    pub message: String,
    /// The position; `None` for a file that cannot be read.
    pub span: Option<Span>,
    /// Text under the span; may be empty.
    pub label: String,
    /// Other spans that matter, each with its label.
    pub secondary: Vec<(Span, String)>,
    /// Advice.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A problem at a span.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { span: Some(span), ..Self::general(code, message) }
    }

    /// A problem without a span.
    pub fn general(code: Code, message: impl Into<String>) -> Self {
        Self {
            severity: code.severity(),
            code,
            message: message.into(),
            span: None,
            label: String::new(),
            secondary: Vec::new(),
            hint: None,
        }
    }

    /// Adds text under the span.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds another span.
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        self.secondary.push((span, label.into()));
        self
    }

    /// Adds advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds advice, if there is any.
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// Renders the problem as several lines of text. `files` are those of the specification.
    pub fn render(&self, files: &[SourceFile], color: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group =
            Group::with_title(level.primary_title(self.message.as_str()).id(self.code.text()));
        // Spans are grouped by file; the file of the problem comes first.
        let mut places: Vec<(usize, Snippet<'_, annotate_snippets::Annotation<'_>>)> = Vec::new();
        let primary =
            self.span.iter().map(|span| (span, self.label.as_str(), AnnotationKind::Primary));
        let secondary = self
            .secondary
            .iter()
            .map(|(span, label)| (span, label.as_str(), AnnotationKind::Context));
        for (span, label, kind) in primary.chain(secondary) {
            let Some(file) = files.get(span.file) else { continue };
            let annotation = kind.span(clamp(&file.text, span));
            let annotation = if label.is_empty() { annotation } else { annotation.label(label) };
            match places.iter().position(|(index, _)| *index == span.file) {
                Some(at) => {
                    let (index, snippet) = places.remove(at);
                    places.insert(at, (index, snippet.annotation(annotation)));
                }
                None => {
                    let snippet = Snippet::source(file.text.as_str()).path(file.path.as_str());
                    places.push((span.file, snippet.annotation(annotation)));
                }
            }
        }
        group = group.elements(places.into_iter().map(|(_, snippet)| snippet));
        if let Some(hint) = &self.hint {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}

/// The bytes of `span`, limited to `text` and to whole characters: a wrong span must not cause a
/// panic.
fn clamp(text: &str, span: &Span) -> std::ops::Range<usize> {
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(span.range.start);
    start..boundary(span.range.end).max(start)
}

/// All problems, with the files that they refer to. Its `Display` is the plain text of
/// [`render`](Report::render).
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The problems, ordered by file and position.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that spans refer to.
    pub files: Vec<SourceFile>,
}

impl Report {
    /// Sorts the problems by position and removes repetitions.
    pub fn new(mut diagnostics: Vec<Diagnostic>, files: Vec<SourceFile>) -> Self {
        let key = |d: &Diagnostic| d.span.as_ref().map(|s| (s.file, s.range.start, s.range.end));
        diagnostics.sort_by_key(|d| (key(d), d.code));
        diagnostics.dedup();
        Self { diagnostics, files }
    }

    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == Severity::Error).count()
    }

    /// Number of warnings.
    pub fn warnings(&self) -> usize {
        self.diagnostics.len() - self.errors()
    }

    /// Returns the counts as text, such as `2 errors, 1 warning in 3 files`.
    pub fn summary(&self) -> String {
        let plural = |count: usize, word: &str| {
            format!("{count} {word}{}", if count == 1 { "" } else { "s" })
        };
        format!(
            "{}, {} in {}",
            plural(self.errors(), "error"),
            plural(self.warnings(), "warning"),
            plural(self.files.len(), "file")
        )
    }

    /// Renders every problem as text, with the summary as the last line.
    pub fn render(&self, color: bool) -> String {
        let mut text = String::new();
        for diagnostic in &self.diagnostics {
            text.push_str(&diagnostic.render(&self.files, color));
            text.push_str("\n\n");
        }
        text + &self.summary()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Report {}
