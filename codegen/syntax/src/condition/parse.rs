//! Parses the text of a condition to a [`Tree`], whose names are not resolved.

use std::ops::Range;

use super::error::{ConditionError, ErrorKind, Result};
use crate::number::number;
use genxml_terms::Op;

/// Maximum nesting depth of operators.
const DEPTH: usize = 64;

/// Parses a condition.
pub(super) fn tree(text: &str) -> Result<Tree> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, end: text.len() };
    let tree = parser.binary(0, 0)?;
    match parser.tokens.get(parser.next) {
        None => Ok(tree),
        Some((token, range)) => {
            let message = format!("expected an operator or the end, found {}", token.describe());
            Err(ConditionError::syntax(range.clone(), message))
        }
    }
}

/// Parses the items of a set: values and ranges, separated by spaces or commas.
pub(super) fn words(text: &str) -> Result<Vec<(Tree, Option<Tree>)>> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, end: text.len() };
    let mut items = Vec::new();
    while parser.next < parser.tokens.len() {
        let first = parser.unary(0)?;
        let last = if parser.take(&Token::To) { Some(parser.unary(0)?) } else { None };
        items.push((first, last));
        parser.take(&Token::Comma);
    }
    Ok(items)
}

/// A condition whose names are not resolved.
#[derive(Debug)]
pub(super) enum Tree {
    Number(u64),
    /// `[Field Name]`, `[CONTAINER.Field Name]` or `"Field Name"`
    Field(String, Range<usize>),
    /// a bare word or `'value name'`
    Name(String, Range<usize>),
    Not(Box<Tree>),
    Binary(Op, Box<Tree>, Box<Tree>),
    /// `value in { a, b..c }`
    In(Box<Tree>, Vec<(Tree, Option<Tree>)>, Range<usize>),
    /// `value in SET`
    InSet(Box<Tree>, String, Range<usize>),
    /// `name(arguments)`; the range is that of the name
    Call(String, Range<usize>, Vec<Tree>),
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(u64),
    Field(String),
    Name(String),
    Op(Op),
    Not,
    Open,
    Close,
    OpenSet,
    CloseSet,
    Comma,
    To,
    In,
}

impl Token {
    fn describe(&self) -> String {
        match self {
            Token::Number(value) => format!("the number {value}"),
            Token::Field(name) => format!("the field [{name}]"),
            Token::Name(name) => format!("the name `{name}`"),
            Token::Op(op) => format!("`{}`", op.symbol()),
            Token::Not => "`!`".into(),
            Token::Open => "`(`".into(),
            Token::Close => "`)`".into(),
            Token::OpenSet => "`{`".into(),
            Token::CloseSet => "`}`".into(),
            Token::Comma => "`,`".into(),
            Token::To => "`..`".into(),
            Token::In => "`in`".into(),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let two = rest.get(..2).unwrap_or("");
        let (token, length) = match (c, two) {
            (c, _) if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            (_, "||") => (Token::Op(Op::Or), 2),
            (_, "&&") => (Token::Op(Op::And), 2),
            (_, "==") => (Token::Op(Op::Eq), 2),
            (_, "!=") => (Token::Op(Op::Ne), 2),
            (_, "<=") => (Token::Op(Op::Le), 2),
            (_, ">=") => (Token::Op(Op::Ge), 2),
            (_, "..") => (Token::To, 2),
            ('<', _) => (Token::Op(Op::Lt), 1),
            ('>', _) => (Token::Op(Op::Gt), 1),
            ('&', _) => (Token::Op(Op::BitAnd), 1),
            ('+', _) => (Token::Op(Op::Add), 1),
            ('-', _) => (Token::Op(Op::Sub), 1),
            ('*', _) => (Token::Op(Op::Mul), 1),
            ('/', _) => (Token::Op(Op::Div), 1),
            ('%', _) => (Token::Op(Op::Rem), 1),
            ('=', _) => {
                let hint = Some("equality is written ==".to_owned());
                return Err(ConditionError::new(
                    ErrorKind::Syntax,
                    at..at + 1,
                    "unexpected `=`",
                    hint,
                ));
            }
            ('|', _) => {
                let hint = Some("or is written ||".to_owned());
                return Err(ConditionError::new(
                    ErrorKind::Syntax,
                    at..at + 1,
                    "unexpected `|`",
                    hint,
                ));
            }
            ('!', _) => (Token::Not, 1),
            ('(', _) => (Token::Open, 1),
            (')', _) => (Token::Close, 1),
            ('{', _) => (Token::OpenSet, 1),
            ('}', _) => (Token::CloseSet, 1),
            (',', _) => (Token::Comma, 1),
            ('[' | '"' | '\'', _) => {
                let end = if c == '[' { ']' } else { c };
                let Some(length) = closing(&rest[1..], c, end) else {
                    return Err(ConditionError::syntax(
                        at..text.len(),
                        format!("`{c}` without its `{end}`"),
                    ));
                };
                let name = rest[1..1 + length].trim().to_owned();
                (if c == '\'' { Token::Name(name) } else { Token::Field(name) }, length + 2)
            }
            (c, _) if c.is_alphanumeric() || c == '_' => {
                let word = word(rest);
                match number(word) {
                    Some(value) => (Token::Number(value), word.len()),
                    // A name may start with a digit: 3DPRIM_TRILIST. A word of digits, or one that
                    // starts with 0x, is a malformed number.
                    None if word.bytes().all(|b| b.is_ascii_digit() || b == b'_')
                        || word.starts_with("0x") =>
                    {
                        let message = format!("malformed number `{word}`");
                        return Err(ConditionError::syntax(at..at + word.len(), message));
                    }
                    None if word == "in" => (Token::In, 2),
                    None => (Token::Name(word.to_owned()), word.len()),
                }
            }
            _ => {
                return Err(ConditionError::syntax(
                    at..at + c.len_utf8(),
                    format!("unexpected `{c}`"),
                ));
            }
        };
        found.push((token, at..at + length));
        at += length;
    }
    Ok(found)
}

/// The word at the start of `text`. One point joins two words (`CONTAINER.Group`); two points make
/// a range.
fn word(text: &str) -> &str {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut end = text.find(|c| !part(c)).unwrap_or(text.len());
    while text[..end].contains(|c: char| !c.is_ascii_digit() && c != '_')
        && let Some(rest) = text[end..].strip_prefix('.')
        && rest.starts_with(part)
    {
        end += 1 + rest.find(|c| !part(c)).unwrap_or(rest.len());
    }
    &text[..end]
}

/// The position of the `end` that closes a name in brackets or quotes. A name in brackets may
/// contain brackets, as in `[Address[8:4]]`.
fn closing(text: &str, open: char, end: char) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            c if c == end && depth == 0 => return Some(at),
            c if c == end => depth -= 1,
            c if c == open => depth += 1,
            _ => {}
        }
    }
    None
}

/// The precedence of `in`, which is that of comparisons.
const IN_LEVEL: u8 = 3;

struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    next: usize,
    end: usize,
}

impl Parser {
    /// Parses operators with precedence `least` or more, by precedence climbing. All operators are
    /// left associative.
    fn binary(&mut self, least: u8, depth: usize) -> Result<Tree> {
        let mut left = self.unary(depth + 1)?;
        let mut length = depth;
        let mut compared = false;
        while let Some((token, range)) = self.tokens.get(self.next).cloned() {
            let tight = match &token {
                Token::Op(op) => op.level(),
                Token::In => IN_LEVEL,
                _ => break,
            };
            if tight < least.max(1) {
                break;
            }
            if compared && tight == IN_LEVEL {
                return Err(ConditionError::syntax(
                    range,
                    "a comparison of the result of a comparison",
                )
                .hint("write `a <= b && b <= c`, or parentheses".to_owned()));
            }
            compared = tight == IN_LEVEL;
            length += 1; // the tree of a long chain is as deep as that of nested parentheses
            self.limit(length, range.clone())?;
            self.next += 1;
            left = match token {
                Token::Op(op) => {
                    let right = self.binary(tight + 1, depth + 1)?;
                    Tree::Binary(op, Box::new(left), Box::new(right))
                }
                _ => self.set(left, range, depth)?,
            };
        }
        Ok(left)
    }

    /// Parses the right side of `in`.
    fn set(&mut self, left: Tree, range: Range<usize>, depth: usize) -> Result<Tree> {
        match self.tokens.get(self.next).cloned() {
            Some((Token::Name(name), place)) => {
                self.next += 1;
                Ok(Tree::InSet(Box::new(left), name, place))
            }
            Some((Token::OpenSet, open)) => {
                self.next += 1;
                let mut items = Vec::new();
                loop {
                    let first = self.binary(IN_LEVEL + 1, depth + 1)?;
                    let last = match self.take(&Token::To) {
                        true => Some(self.binary(IN_LEVEL + 1, depth + 1)?),
                        false => None,
                    };
                    items.push((first, last));
                    if self.take(&Token::CloseSet) {
                        return Ok(Tree::In(Box::new(left), items, range));
                    }
                    if !self.take(&Token::Comma) {
                        return Err(ConditionError::syntax(open, "`{` without its `}`"));
                    }
                }
            }
            found => {
                let (what, place) = self.found(found);
                Err(ConditionError::syntax(
                    place,
                    format!("expected a set after `in`, found {what}"),
                )
                .hint(
                    "a set is written {A, B, 3..5}, or is the name of a <set> of the enumeration"
                        .to_owned(),
                ))
            }
        }
    }

    fn found(&self, token: Option<(Token, Range<usize>)>) -> (String, Range<usize>) {
        match token {
            Some((token, range)) => (token.describe(), range),
            None => ("the end".to_owned(), self.end..self.end),
        }
    }

    fn take(&mut self, token: &Token) -> bool {
        let there = self.tokens.get(self.next).is_some_and(|(next, _)| next == token);
        self.next += usize::from(there);
        there
    }

    fn limit(&self, depth: usize, range: Range<usize>) -> Result<()> {
        match depth > DEPTH {
            true => Err(ConditionError::syntax(range, format!("more than {DEPTH} operators deep"))),
            false => Ok(()),
        }
    }

    fn unary(&mut self, depth: usize) -> Result<Tree> {
        let Some((token, range)) = self.tokens.get(self.next).cloned() else {
            return Err(ConditionError::syntax(
                self.end..self.end,
                "the condition ends where a value is expected",
            ));
        };
        self.limit(depth, range.clone())?;
        self.next += 1;
        Ok(match token {
            Token::Number(value) => Tree::Number(value),
            Token::Field(name) => Tree::Field(name, range),
            Token::Name(name) => match self.take(&Token::Open) {
                true => self.call(name, range, depth)?,
                false => Tree::Name(name, range),
            },
            Token::Not => Tree::Not(Box::new(self.unary(depth + 1)?)),
            Token::Open => {
                let inner = self.binary(0, depth + 1)?;
                if !self.take(&Token::Close) {
                    return Err(ConditionError::syntax(range, "`(` without its `)`"));
                }
                inner
            }
            other => {
                let message =
                    format!("expected a field, value or number, found {}", other.describe());
                return Err(ConditionError::syntax(range, message));
            }
        })
    }

    /// Parses the arguments of a function, after its `(`.
    fn call(&mut self, name: String, range: Range<usize>, depth: usize) -> Result<Tree> {
        let mut arguments = Vec::new();
        if self.take(&Token::Close) {
            return Ok(Tree::Call(name, range, arguments));
        }
        loop {
            arguments.push(match name == "role" {
                true => self.hyphenated()?,
                false => self.binary(0, depth + 1)?,
            });
            if self.take(&Token::Close) {
                return Ok(Tree::Call(name, range, arguments));
            }
            if !self.take(&Token::Comma) {
                return Err(ConditionError::syntax(range, format!("`{name}(` without its `)`")));
            }
        }
    }

    /// Parses words joined by `-`, which is not a subtraction here: `render-target`.
    fn hyphenated(&mut self) -> Result<Tree> {
        let mut joined: Option<(String, Range<usize>)> = None;
        loop {
            match self.tokens.get(self.next).cloned() {
                Some((Token::Name(word), range)) => {
                    self.next += 1;
                    joined = Some(match joined {
                        Some((name, start)) => (format!("{name}-{word}"), start.start..range.end),
                        None => (word, range),
                    });
                }
                found => {
                    let (what, place) = self.found(found);
                    return Err(ConditionError::syntax(
                        place,
                        format!("expected a name, found {what}"),
                    ));
                }
            }
            if !self.take(&Token::Op(Op::Sub)) {
                break;
            }
        }
        let (name, range) = joined.unwrap_or_default();
        Ok(Tree::Name(name, range))
    }
}
