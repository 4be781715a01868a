//! Functions for all commands about kernels: the syntax option, and reading kernels from binary,
//! hexadecimal or assembly files.

use crate::input::read_bytes;
use crate::output::{Error, bad_input};
use crate::tables::gpu;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use genxml::decode::generation_name;
use genxml_eu::Generation;
use genxml_eu::asm::{AsmError, Assembly, Options, assemble};
use genxml_eu::syntax::Syntax;
use std::io::{IsTerminal, stderr};
use std::path::Path;

/// The two assembly languages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Language {
    /// Intel's Graphics Assembler
    Iga,
    /// Mesa's assembler and disassembler
    Mesa,
}

impl From<Language> for Syntax {
    fn from(language: Language) -> Syntax {
        match language {
            Language::Iga => Syntax::Iga,
            Language::Mesa => Syntax::Mesa,
        }
    }
}

/// The format of a kernel's file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Form {
    /// Instructions as in memory
    Binary,
    /// Bytes in memory order as hexadecimal text. White space between bytes is ignored; # and //
    /// start comments
    Hex,
    /// Assembly in either language
    Asm,
}

/// The generation of a GPU whose kernels can be assembled and checked.
pub fn generation(text: &str) -> Result<Generation, String> {
    let number = gpu(text)?;
    let known = Generation::of(number).filter(|generation| *generation <= Generation::Gen8);
    known.ok_or_else(|| {
        let of = generation_name(number);
        format!("no kernels of {of}, only those of Gen4, Gen4.5, Gen5 and Gen8")
    })
}

/// Reads the text of a file or of standard input.
pub fn read_text(path: &Path) -> Result<String, Error> {
    let bytes = read_bytes(path)?;
    String::from_utf8(bytes)
        .map_err(|error| bad_input(format!("{}: not text: {}", path.display(), error.utf8_error())))
}

/// The format of a file: `form` if it is given, else the format for the suffix of the name.
pub fn form_of(path: &Path, form: Option<Form>) -> Form {
    form.unwrap_or_else(|| by_name(path))
}

/// Reads the instructions of a Gen8 kernel from a file. Without `form`, the suffix of the name
/// selects it (see `by_name`).
pub fn read_kernel(path: &Path, form: Option<Form>) -> Result<Vec<u8>, Error> {
    read_kernel_on(Generation::Gen8, path, form)
}

/// The language of `text`, a kernel of `generation`.
pub fn language(generation: Generation, text: &str) -> Syntax {
    if generation.has_message_registers() { Syntax::Mesa } else { Syntax::detect(text) }
}

/// As [`read_kernel`], for a kernel of `generation`.
pub fn read_kernel_on(
    generation: Generation,
    path: &Path,
    form: Option<Form>,
) -> Result<Vec<u8>, Error> {
    match form_of(path, form) {
        Form::Binary => read_bytes(path),
        Form::Hex => hex(path, &read_text(path)?),
        Form::Asm => {
            let text = read_text(path)?;
            let options = Options { generation, ..Options::default() };
            Ok(assembled(path, &text, language(generation, &text), &options)?.bytes)
        }
    }
}

/// The format for the suffix of the name; binary for unknown suffixes.
fn by_name(path: &Path) -> Form {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("asm" | "s" | "iga") => Form::Asm,
        Some("hex" | "expected" | "txt") => Form::Hex,
        _ => Form::Binary,
    }
}

fn hex(path: &Path, text: &str) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code =
            line.split("//").next().unwrap_or_default().split('#').next().unwrap_or_default();
        for word in code.split_whitespace() {
            let fail = || {
                bad_input(format!(
                    "{}:{}: `{word}` is not a sequence of pairs of hexadecimal digits",
                    path.display(),
                    number + 1
                ))
            };
            if !word.is_ascii() || word.len() % 2 != 0 {
                return Err(fail());
            }
            for at in (0..word.len()).step_by(2) {
                bytes.push(u8::from_str_radix(&word[at..at + 2], 16).map_err(|_| fail())?);
            }
        }
    }
    Ok(bytes)
}

/// Assembles the text of a file. The error shows the lines with mistakes.
pub fn assembled(
    path: &Path,
    text: &str,
    syntax: Syntax,
    options: &Options,
) -> Result<Assembly, Error> {
    assemble(text, syntax, options).map_err(|errors| {
        let color = stderr().is_terminal();
        let shown: Vec<String> =
            errors.iter().map(|error| render(path, text, error, color)).collect();
        let count = errors.len();
        bad_input(format!(
            "{}: {count} error{}\n{}",
            path.display(),
            if count == 1 { "" } else { "s" },
            shown.join("\n\n")
        ))
    })
}

/// Renders an error with its line.
fn render(path: &Path, text: &str, error: &AsmError, color: bool) -> String {
    let path = path.display().to_string();
    let span = error.span.start.min(text.len())..error.span.end.min(text.len());
    let annotation = AnnotationKind::Primary.span(span);
    let annotation = match &error.expected {
        Some(expected) => annotation.label(format!("expected {expected}")),
        None => annotation,
    };
    let snippet = Snippet::source(text).path(path.as_str()).annotation(annotation);
    let mut group = Level::ERROR.primary_title(error.message.as_str()).element(snippet);
    if let Some(hint) = &error.hint {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}
