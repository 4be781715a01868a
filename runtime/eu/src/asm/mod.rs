//! The assembler for two languages: Intel's (IGA) and Mesa's.
//!
//! ```
//! use genxml_eu::asm::{Options, assemble};
//! use genxml_eu::syntax::Syntax;
//!
//! let source = "
//!     L0:  add (8|M0)  (eq)f0.0  r4.0<1>:d  r4.0<8;8,1>:d  -1:w
//!          (W&f0.0.any8h) jmpi L0
//! ";
//! let kernel = assemble(source, Syntax::Iga, &Options::default()).unwrap();
//! assert_eq!(kernel.bytes.len(), 32);
//! assert_eq!(kernel.lines[1].located.targets().collect::<Vec<_>>(), [0]);
//!
//! let errors = assemble("ad (8|M0) r4.0<1>:d r4.0<8;8,1>:d -1:w", Syntax::Iga, &Options::default()).unwrap_err();
//! assert_eq!(errors[0].to_string(), "1:1: `ad` is not an operation; did you mean `add`?");
//! ```
//!
//! A message by name, here a read of two owords from surface 1. The same in numbers is `0xA
//! 0x02180201`:
//!
//! ```
//! # use genxml_eu::asm::{Options, assemble};
//! # use genxml_eu::syntax::Syntax;
//! # let kernel = |text| assemble(text, Syntax::Iga, &Options::default()).map(|kernel| kernel.bytes);
//! let named = kernel(
//!     "(W) send (8|M0) r20 r10 Msd0rOwb { header_present: true, data_blocks: OW2, binding_table_index: 1 }",
//! );
//! assert_eq!(named, kernel("(W) send (8|M0) r20 r10 0xA 0x02180201"));
//!
//! let errors = kernel("(W) send (8|M0) r20 r10 Msd0rOwb { header: true }").unwrap_err();
//! let error = errors[0].to_string();
//! assert!(error.starts_with("1:36: Msd0rOwb has no field `header`"), "{error}");
//! assert!(error.contains("header_present"), "{error}");
//! ```
//!
//! The assembler accepts the output of IGA's and Mesa's disassemblers, and in addition:
//! * comments `// ...`, `# ...` and `/* ... */`; labels (`NAME:`), which may precede any
//!   instruction;
//! * jump targets as labels or as distances in bytes from the first byte of the branch. Exceptions:
//!   Mesa's `jmpi 16D` counts from the next instruction, as its disassembler prints it; `calla`
//!   counts from the start of memory;
//! * IGA: `{Align16}`, which syntax of Align16 also implies: `<4>` regions, `.xyzw` after a region;
//!   `[1.0,2,-4,0]:vf`; omitted regions, which mean `<1>` or consecutive elements;
//! * IGA: messages by name instead of two numbers, the shared function and the descriptor. A name is
//!   that of a generated type, such as [`Msd0rOwb`](crate::gen8::messages::Msd0rOwb). Fields that
//!   are not given have their defaults. How many registers are sent and returned is worked out from
//!   the other fields, where only one count is possible. The fields may stand on several lines.
//!   [`payload`](crate::payload) builds messages with their headers, and prints them as text;
//! * Mesa: with [`Options::generation`], the instructions of Gen4, G45 and Gen5, with counts after
//!   `Jump:` and `Pop:`;
//! * Mesa: `goto`, `join`, `call`, `ret`, `brd` and `brc` with their targets and operands, which
//!   Mesa's disassembler does not print.

mod assembly;
mod error;
mod iga;
mod layout;
mod lex;
mod literal;
mod mesa;
mod number;
mod parse;
mod send;

pub use assembly::{Assembly, Compaction, Line, Options};
pub use error::AsmError;

use crate::generation::Generation;
use crate::syntax::Syntax;
use alloc::format;
use alloc::vec::Vec;
use assembly::MAX_ERRORS;
use error::Fault;
use lex::Kind;
use parse::{Item, OperandSpans, Parser, Statement};

/// Assembles a kernel.
///
/// Returns all errors of the text, at most fifty. If there are syntax errors, only those are
/// returned; otherwise errors of labels, distances and encodings.
pub fn assemble(
    source: &str,
    syntax: Syntax,
    options: &Options,
) -> Result<Assembly, Vec<AsmError>> {
    let (items, labels) =
        parse(source, syntax, options.generation).map_err(|faults| located(source, faults))?;
    let output =
        layout::lay_out(&items, &labels, options).map_err(|faults| located(source, faults))?;
    let mut lines = output.lines;
    let (mut line, mut counted) = (1, 0);
    for entry in &mut lines {
        line += source.get(counted..entry.span.start).unwrap_or_default().matches('\n').count();
        counted = entry.span.start;
        entry.line = line;
    }
    let position = |at: usize| output.positions.get(at).copied().unwrap_or_default();
    let labels = labels.into_iter().map(|(name, (at, _))| (name, position(at))).collect();
    Ok(Assembly { bytes: output.bytes, lines, labels })
}

impl Assembly {
    /// The instructions as dwords.
    pub fn dwords(&self) -> Vec<u32> {
        let dword =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        self.bytes.chunks_exact(4).map(dword).collect()
    }
}

impl Syntax {
    /// Detects the language of `source`. Mesa's instructions end in semicolons and have `align1`;
    /// IGA's sizes look like `(8|M0)`. Text without any of these is IGA's.
    pub fn detect(source: &str) -> Syntax {
        let (tokens, _) = lex::tokens(source, Syntax::Iga);
        let text = |index: usize| {
            tokens.get(index).map_or("", |token| source.get(token.span()).unwrap_or_default())
        };
        for index in 0..tokens.len() {
            match text(index) {
                "|" if text(index + 1).starts_with('M') => return Syntax::Iga,
                "align1" | "align16" | "JIP" | "MsgDesc" => return Syntax::Mesa,
                // In Mesa's syntax an upper-case type follows a region: `g4<1>UD`.
                ">" if text(index + 1).starts_with(|c: char| c.is_ascii_uppercase()) => {
                    return Syntax::Mesa;
                }
                _ => {}
            }
        }
        if (0..tokens.len()).any(|index| text(index) == ";") { Syntax::Mesa } else { Syntax::Iga }
    }
}

fn located(source: &str, mut faults: Vec<Fault>) -> Vec<AsmError> {
    faults.truncate(MAX_ERRORS);
    faults.into_iter().map(|fault| fault.locate(source)).collect()
}

fn parse(
    source: &str,
    syntax: Syntax,
    generation: Generation,
) -> Result<(Vec<Item>, layout::Labels), Vec<Fault>> {
    let known = generation == Generation::Gen8
        || (generation.has_message_registers() && syntax == Syntax::Mesa);
    if !known {
        let message = match generation.has_message_registers() {
            true => "Intel's assembler has no language for this generation",
            false => "the assembler does not know this generation",
        };
        return Err(alloc::vec![Fault::new(0..0, message)]);
    }
    let (tokens, unclosed) = lex::tokens(source, syntax);
    let mut faults = Vec::new();
    if let Some(span) = unclosed {
        faults.push(Fault::new(span, "the comment has no end").expected("`*/`"));
    }
    let mut p = Parser {
        source,
        tokens: &tokens,
        at: 0,
        limit: tokens.len(),
        syntax,
        generation,
        spans: OperandSpans::default(),
    };
    let (mut items, mut labels) = (Vec::new(), layout::Labels::new());
    while p.at + 1 < tokens.len() && faults.len() < MAX_ERRORS {
        if p.eat(';') {
            continue;
        }
        p.limit = end_of_statement(&p);
        p.spans = OperandSpans::default();
        let start = p.at;
        let parsed = match syntax {
            Syntax::Iga => iga::statement(&mut p),
            Syntax::Mesa => mesa::statement(&mut p),
        };
        match parsed {
            Ok(Statement::Instruction(item)) => items.push(*item),
            Ok(Statement::Label(name, span)) => {
                if let Some((_, before)) = labels.get(&name) {
                    let line =
                        source.get(..before.start).unwrap_or_default().matches('\n').count() + 1;
                    let message = format!("the label `{name}` is already defined in line {line}");
                    faults.push(Fault::new(span, message));
                } else {
                    labels.insert(name, (items.len(), span));
                }
            }
            Err(fault) => {
                faults.push(fault);
                recover(&mut p, start);
            }
        }
        p.limit = tokens.len();
    }
    if faults.is_empty() { Ok((items, labels)) } else { Err(faults) }
}

/// The index of the token after the current statement. IGA's statements end with the line (but not
/// within the fields of a message), Mesa's with a semicolon (but not with that of a region
/// `<8;8,1>`).
fn end_of_statement(p: &Parser<'_>) -> usize {
    let end = p.tokens.len() - 1;
    let mut in_region = false;
    let mut in_fields = 0;
    for at in p.at..end {
        let token = &p.tokens[at];
        if token.first && at > p.at {
            if p.syntax == Syntax::Iga && in_fields == 0 {
                return at;
            }
            in_region = false;
        }
        match token.kind {
            // Options in braces end with the line; the fields of a message do not.
            Kind::Mark('{') if p.syntax == Syntax::Iga && has_fields(p, at) => in_fields += 1,
            Kind::Mark('}') if in_fields > 0 => in_fields -= 1,
            Kind::Mark('<') => in_region = true,
            Kind::Mark('>') => in_region = false,
            Kind::Mark(';') if p.syntax == Syntax::Mesa && !in_region => return at + 1,
            _ => {}
        }
    }
    end
}

/// True if the brace at this index starts the fields of a message, `{ name: value`.
fn has_fields(p: &Parser<'_>, brace: usize) -> bool {
    let colon = p.tokens.get(brace + 2).is_some_and(|token| token.kind == Kind::Mark(':'));
    colon && p.tokens[brace + 1].kind == Kind::Word
}

/// Skips to the next statement: after the semicolon, or at a line start that shows that the
/// semicolon is missing.
fn recover(p: &mut Parser<'_>, start: usize) {
    let stopped = p.peek();
    let missing =
        p.syntax == Syntax::Mesa && stopped.first && p.at > start && stopped.kind != Kind::End;
    if !missing {
        p.at = p.limit;
    }
}
