//! Builds text for a terminal of 80 columns: wraps pieces at words, and adds colours last.

/// Maximum length of a line in columns.
pub(super) const WIDTH: usize = 80;

/// Styles of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    /// Headings, and the name of the shown item.
    Title,
    /// Names of fields and values.
    Name,
    /// Types, and names of other items.
    Type,
    /// Conditions.
    Condition,
    /// Frames, sources and reserved bits.
    Faint,
    /// Doubts, and severities of rules.
    Alarm,
}

impl Style {
    /// The parameters of the ANSI escape sequence SGR.
    fn code(self) -> Option<&'static str> {
        match self {
            Style::Plain => None,
            Style::Title => Some("1"),
            Style::Name => Some("36"),
            Style::Type => Some("32"),
            Style::Condition => Some("35"),
            Style::Faint => Some("2"),
            Style::Alarm => Some("33"),
        }
    }
}

/// A piece of text.
pub(super) type Piece = (String, Style);

/// The text that is being built.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    pub text: String,
    color: bool,
}

impl Canvas {
    pub fn new(color: bool) -> Canvas {
        Canvas { text: String::new(), color }
    }

    /// Adds text without wrapping.
    pub fn put(&mut self, text: &str, style: Style) {
        match style.code() {
            Some(code) if self.color && !text.trim().is_empty() => {
                self.text += &format!("\x1b[{code}m{text}\x1b[0m");
            }
            _ => self.text += text,
        }
    }

    pub fn end_line(&mut self) {
        let end = self.text.trim_end_matches(' ').len();
        self.text.truncate(end);
        self.text.push('\n');
    }

    /// Adds pieces from `column` on and breaks lines at spaces. Further lines start at `indent`.
    /// Ends the last line.
    pub fn wrap(&mut self, column: usize, indent: usize, pieces: &[Piece]) {
        let mut at = column;
        // True if a space must come before the next word.
        let mut space = false;
        for (text, style) in pieces {
            for (index, word) in text.split(' ').enumerate() {
                space |= index > 0;
                if word.is_empty() {
                    continue;
                }
                let mut word = word;
                let mut width = word.chars().count();
                if at + usize::from(space) + width > WIDTH && at > indent {
                    self.end_line();
                    self.text += &" ".repeat(indent);
                    at = indent;
                    space = false;
                }
                if space && at > indent {
                    self.text.push(' ');
                    at += 1;
                }
                // A word that is longer than a line is broken.
                while at + width > WIDTH {
                    let room =
                        word.char_indices().nth(WIDTH - at).map_or(word.len(), |(byte, _)| byte);
                    self.put(&word[..room], *style);
                    self.end_line();
                    self.text += &" ".repeat(indent);
                    at = indent;
                    word = &word[room..];
                    width = word.chars().count();
                }
                self.put(word, *style);
                at += width;
                space = false;
            }
        }
        self.end_line();
    }

    /// Adds short texts in as many columns as fit. The order goes down each column.
    pub fn columns(&mut self, indent: usize, items: &[(String, String)]) {
        let numbers = items.iter().map(|(number, _)| number.chars().count()).max().unwrap_or(0);
        let widest = items.iter().map(|(_, name)| name.chars().count()).max().unwrap_or(0);
        let width = numbers + 1 + widest;
        let columns = ((WIDTH - indent + 2) / (width + 2)).clamp(1, items.len().max(1));
        let rows = items.len().div_ceil(columns);
        for row in 0..rows {
            self.text += &" ".repeat(indent);
            for (number, name) in items.iter().skip(row).step_by(rows.max(1)) {
                self.put(&format!("{number:>numbers$} "), Style::Faint);
                if columns == 1 {
                    self.wrap(
                        indent + numbers + 1,
                        indent + numbers + 3,
                        &[(name.clone(), Style::Name)],
                    );
                    break;
                }
                self.put(name, Style::Name);
                self.text += &" ".repeat(widest - name.chars().count() + 2);
            }
            if columns > 1 {
                self.end_line();
            }
        }
    }
}

/// Pieces with ` · ` between them.
pub(super) fn dotted(pieces: impl IntoIterator<Item = Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces.into_iter().filter(|(text, _)| !text.is_empty()) {
        if !joined.is_empty() {
            joined.push((" · ".to_owned(), Style::Faint));
        }
        joined.push(piece);
    }
    joined
}
