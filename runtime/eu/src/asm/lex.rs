//! Lexer for both languages: words, numbers, single characters. Comments and the words after Mesa's
//! `MsgDesc:` are skipped.

use crate::syntax::{self, Syntax};
use alloc::vec::Vec;
use core::ops::Range;

/// Kind of token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Letters, digits and underscores; does not start with a digit.
    Word,
    /// Starts with a digit, followed by letters, digits, underscores, decimal points and the sign
    /// of an exponent.
    Number,
    /// Any other single character.
    Mark(char),
    /// End of the text or statement.
    End,
}

/// A token of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Kind of the token.
    pub kind: Kind,
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
    /// Whether it is the first token of its line.
    pub first: bool,
}

impl Token {
    /// Byte range in the source.
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The tokens of `source`; the last is [`Kind::End`]. Also returns the position of a comment
/// without an end.
pub fn tokens(source: &str, syntax: Syntax) -> (Vec<Token>, Option<Range<usize>>) {
    let mut lexer = Lexer { source, at: 0, first: true, unclosed: None };
    let mut tokens: Vec<Token> = Vec::new();
    while let Some(token) = lexer.token() {
        let follows_message = token.kind == Kind::Mark(':')
            && tokens.last().is_some_and(|last| &source[last.span()] == "MsgDesc");
        if syntax == Syntax::Mesa && follows_message {
            tokens.pop();
            // Skip the description of the message. The number before it has the same information.
            lexer.skip_while(|c| c != '{' && c != ';');
            continue;
        }
        match type_suffix(source, &tokens, &token).filter(|_| syntax == Syntax::Mesa) {
            Some(at) => tokens.extend([
                Token { end: at, ..token },
                Token { kind: Kind::Word, start: at, end: token.end, first: false },
            ]),
            None => tokens.push(token),
        }
    }
    tokens.push(Token { kind: Kind::End, start: source.len(), end: source.len(), first: true });
    (tokens, lexer.unclosed)
}

/// The offset in `source` of a type that directly follows a register in Mesa's text: `g2UD`,
/// `g2.1UD`.
fn type_suffix(source: &str, before: &[Token], token: &Token) -> Option<usize> {
    let text = source.get(token.span())?;
    let capitals = text.find(|c: char| c.is_ascii_uppercase()).filter(|at| *at > 0)?;
    let (register, ty) = text.split_at(capitals);
    syntax::TYPES.find(ty, Syntax::Mesa)?;
    let last = before.last().map(|last| last.kind);
    let is = match token.kind {
        Kind::Number => {
            last == Some(Kind::Mark('.')) && register.bytes().all(|b| b.is_ascii_digit())
        }
        Kind::Word => {
            let letters = register.trim_end_matches(|c: char| c.is_ascii_digit());
            let known =
                matches!(letters, "g" | "r") || syntax::ARFS.find(letters, Syntax::Mesa).is_some();
            // A word before a colon is a label.
            let rest = source.get(token.end..).unwrap_or_default().trim_start();
            known
                && letters.len() < register.len()
                && last != Some(Kind::Mark(':'))
                && !rest.starts_with(':')
        }
        _ => false,
    };
    is.then_some(token.start + capitals)
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    /// True if no token of this line has been read yet.
    first: bool,
    unclosed: Option<Range<usize>>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn skip_while(&mut self, go_on: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !go_on(c)).unwrap_or(rest.len());
    }

    fn token(&mut self) -> Option<Token> {
        loop {
            let first = self.rest().chars().next()?;
            if first == '\n' {
                self.first = true;
                self.at += 1;
            } else if first.is_whitespace() {
                self.at += first.len_utf8();
            } else if first == '#' || self.rest().starts_with("//") {
                self.skip_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                match self.rest().find("*/") {
                    Some(length) => self.at += length + 2,
                    None => {
                        self.unclosed = Some(self.at..self.at + 2);
                        self.at = self.source.len();
                    }
                }
            } else {
                break;
            }
        }
        let start = self.at;
        let first = self.rest().chars().next()?;
        let kind = if first.is_ascii_digit() {
            self.number();
            Kind::Number
        } else if first.is_ascii_alphabetic() || first == '_' {
            self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
            Kind::Word
        } else {
            self.at += first.len_utf8();
            Kind::Mark(first)
        };
        let token = Token { kind, start, end: self.at, first: self.first };
        self.first = false;
        Some(token)
    }

    fn number(&mut self) {
        let hex = self.rest().starts_with("0x") || self.rest().starts_with("0X");
        loop {
            self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
            let bytes = self.source.as_bytes();
            let byte = |offset: isize| {
                self.at.checked_add_signed(offset).and_then(|at| bytes.get(at)).copied()
            };
            let digit = |offset| byte(offset).is_some_and(|b| b.is_ascii_digit());
            let point = byte(0) == Some(b'.') && digit(1);
            let exponent = matches!(byte(0), Some(b'+' | b'-'))
                && matches!(byte(-1), Some(b'e' | b'E'))
                && digit(-2)
                && digit(1);
            if hex || !(point || exponent) {
                return;
            }
            self.at += 1;
        }
    }
}
