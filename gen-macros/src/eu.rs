//! `eu!`: assembles a kernel to dwords.
//!
//! The tokens are converted back to text for the assembler, one line for each source line. A
//! position in an assembler message is mapped back to the token at that position.

use genxml_eu::Generation;
use genxml_eu::asm::{AsmError, Assembly, Compaction, Options, assemble};
use genxml_eu::syntax::Syntax;
use genxml_eu::validate::{self, Severity};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use std::ops::Range;
use syn::{Error, LitStr, Result};

/// Expands the macro to an array of dwords.
pub fn expand(input: TokenStream) -> Result<TokenStream> {
    let mut tokens: Vec<TokenTree> = input.into_iter().collect();
    let attributes = Attributes::take(&mut tokens)?;
    let text = Text::of(tokens)?;
    let Attributes { syntax, compaction, generation, allowed } = attributes;
    let kernel = assemble(&text.source, syntax, &Options { compaction, generation })
        .map_err(|errors| text.errors(&errors))?;
    check(&kernel, &text, generation, &allowed)?;
    let dwords = kernel.dwords();
    Ok(quote!([#(#dwords),*]))
}

/// The errors as an expression that never returns, so that the compiler reports no type error in
/// addition.
pub fn refused(errors: &Error) -> TokenStream {
    let errors = errors.to_compile_error();
    quote!({ #errors loop {} })
}

/// The inner attributes `#![...]`.
struct Attributes {
    syntax: Syntax,
    compaction: Compaction,
    generation: Generation,
    /// Rules of the validator that the kernel may break.
    allowed: Vec<String>,
}

impl Attributes {
    /// Removes the attributes from the start of `tokens` and parses them.
    fn take(tokens: &mut Vec<TokenTree>) -> Result<Attributes> {
        let mut attributes = Attributes {
            syntax: Syntax::Iga,
            compaction: Compaction::AsWritten,
            generation: Generation::Gen8,
            allowed: Vec::new(),
        };
        while let [TokenTree::Punct(hash), TokenTree::Punct(mark), TokenTree::Group(group), ..] =
            &tokens[..]
            && hash.as_char() == '#'
            && mark.as_char() == '!'
        {
            attributes.apply(group)?;
            tokens.drain(..3);
        }
        Ok(attributes)
    }

    /// Selects a generation whose kernels are in Mesa's language.
    fn older(&mut self, generation: Generation) {
        (self.generation, self.syntax) = (generation, Syntax::Mesa);
    }

    fn apply(&mut self, group: &Group) -> Result<()> {
        let words: Vec<TokenTree> = group.stream().into_iter().collect();
        let name = words.first().map(ToString::to_string).unwrap_or_default();
        match (&*name, &words[..]) {
            ("iga", [_]) => self.syntax = Syntax::Iga,
            ("mesa", [_]) => self.syntax = Syntax::Mesa,
            ("compact", [_]) => self.compaction = Compaction::All,
            ("gen4", [_]) => self.older(Generation::Gen4),
            ("g45", [_]) => self.older(Generation::Gen45),
            ("gen5", [_]) => self.older(Generation::Gen5),
            ("allow", [_, TokenTree::Group(rules)]) => {
                let rules = rules.stream();
                let rule: LitStr = syn::parse2(rules)?;
                let mut known = [Generation::Gen8, Generation::Gen45].into_iter();
                if !known
                    .any(|of| validate::rules_on(of).iter().any(|known| known.id == rule.value()))
                {
                    let message = format!("there is no rule `{}`", rule.value());
                    return Err(Error::new(rule.span(), message));
                }
                self.allowed.push(rule.value());
            }
            _ => {
                let message = "expected `#![iga]`, `#![mesa]`, `#![g45]`, `#![gen4]`, `#![gen5]`, \
                    `#![compact]` or `#![allow(\"RULE\")]`";
                return Err(Error::new(group.span(), message));
            }
        }
        Ok(())
    }
}

/// The text for the assembler, with the source token of each part.
#[derive(Default)]
struct Text {
    source: String,
    pieces: Vec<(Range<usize>, Span)>,
}

impl Text {
    /// Converts tokens to text. If they are string literals, each starts a line.
    fn of(tokens: Vec<TokenTree>) -> Result<Text> {
        let mut text = Text::default();
        let strings = matches!(tokens.first(), Some(TokenTree::Literal(first)) if is_string(&first.to_string()));
        if !strings {
            text.lines(tokens.into_iter().collect());
            return Ok(text);
        }
        for token in tokens {
            match &token {
                TokenTree::Punct(comma) if comma.as_char() == ',' => {}
                token => {
                    let literal: LitStr = syn::parse2(token.clone().into())?;
                    text.piece(&literal.value(), literal.span());
                    text.source.push('\n');
                }
            }
        }
        Ok(text)
    }

    /// Appends tokens with the line breaks between them.
    fn lines(&mut self, tokens: TokenStream) {
        let mut flat = Vec::new();
        flatten(tokens, &mut flat);
        let lines: Vec<usize> = flat.iter().map(|(_, span)| span.unwrap().line()).collect();
        let mut line = 0;
        for ((token, span), own) in flat.into_iter().zip(in_order(&lines)) {
            let own = own.unwrap_or(line);
            self.source.push(if own == line { ' ' } else { '\n' });
            line = own;
            self.piece(&token, span);
        }
    }

    fn piece(&mut self, text: &str, span: Span) {
        let start = self.source.len();
        self.source.push_str(text);
        self.pieces.push((start..self.source.len(), span));
    }

    /// An error at the tokens in the range `place` of the text.
    fn error(&self, place: &Range<usize>, message: String) -> Error {
        let touched =
            |piece: &&(Range<usize>, Span)| piece.0.start < place.end && place.start < piece.0.end;
        let first = self.pieces.iter().find(touched);
        // An empty range means the end of a statement. The error is then at the token before it.
        let before = || self.pieces.iter().rev().find(|piece| piece.0.end <= place.start);
        let last = self.pieces.iter().rev().find(touched);
        match (first.or_else(before), last) {
            (Some((_, first)), last) => {
                let last = last.map_or(*first, |(_, span)| *span);
                let ends = [first, &last].map(|span| Ident::new("_token", *span));
                Error::new_spanned(quote!(#(#ends)*), message)
            }
            (None, _) => Error::new(Span::call_site(), message),
        }
    }

    fn errors(&self, errors: &[AsmError]) -> Error {
        let located = errors.iter().map(|error| {
            // A string literal is a single token, so the message quotes the line.
            let long = self.source.get(error.span.clone()).is_some()
                && self.pieces.iter().any(|(piece, _)| {
                    let inside = piece.start <= error.span.start && error.span.end <= piece.end;
                    inside && self.source[piece.clone()].contains(char::is_whitespace)
                });
            let line =
                || self.source.lines().nth(error.line - 1).unwrap_or_default().trim().to_string();
            let message =
                if long { format!("`{}`: {}", line(), error.reason()) } else { error.reason() };
            self.error(&error.span, message)
        });
        combined(located)
            .unwrap_or_else(|| Error::new(Span::call_site(), "the kernel cannot be assembled"))
    }
}

/// Flattens groups: their delimiters become tokens.
fn flatten(tokens: TokenStream, flat: &mut Vec<(String, Span)>) {
    for token in tokens {
        let TokenTree::Group(group) = token else {
            flat.push((token.to_string(), token.span()));
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => {
                flatten(group.stream(), flat);
                continue;
            }
        };
        flat.push((open.into(), group.span_open()));
        flatten(group.stream(), flat);
        flat.push((close.into(), group.span_close()));
    }
}

/// Returns for each token its line, or `None` if the line is not in the longest non-decreasing
/// sequence of lines. A token that `macro_rules!` inserted has a line elsewhere in the source, so
/// its line is usually not in that sequence.
fn in_order(lines: &[usize]) -> Vec<Option<usize>> {
    // `ends`: for each length of a sequence, the index of the token whose line is the smallest
    // possible last line. `before`: for each token, the index of the token before it in its
    // sequence.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let length = ends.partition_point(|end| lines[*end] <= *line);
        before.push(length.checked_sub(1).map(|length| ends[length]));
        if length == ends.len() { ends.push(index) } else { ends[length] = index }
    }
    let mut own = vec![None; lines.len()];
    let mut at = ends.last().copied();
    while let Some(index) = at {
        own[index] = Some(lines[index]);
        at = before[index];
    }
    own
}

fn is_string(literal: &str) -> bool {
    literal.starts_with(['"', 'r'])
}

fn combined(errors: impl Iterator<Item = Error>) -> Option<Error> {
    errors.reduce(|mut all, error| {
        all.combine(error);
        all
    })
}

/// Returns an error for a kernel that hardware refuses or that has undefined behaviour. Violations
/// of the rules in `allowed` are not errors.
fn check(kernel: &Assembly, text: &Text, generation: Generation, allowed: &[String]) -> Result<()> {
    let findings = validate::kernel_on(generation, &kernel.bytes).unwrap_or_default();
    let broken = findings.iter().filter(|finding| finding.rule.severity == Severity::Error);
    let broken = broken.filter(|finding| !allowed.iter().any(|id| id == finding.rule.id));
    let errors = broken.map(|finding| {
        let rule = finding.rule;
        let message = format!(
            "{}: {}: {}{}; {}",
            rule.id, rule.text, finding.place, finding.values, rule.hint
        );
        let line = kernel.lines.iter().find(|line| line.located.position == finding.position);
        text.error(&line.map_or(0..0, |line| line.place(finding.place)), message)
    });
    combined(errors).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests;
