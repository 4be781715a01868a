//! Conditions: the text of `exists-if` and `require` to [`Expr`]. The grammar is in SCHEMA.md.

use std::ops::Range;

use crate::diagnostic::Code;
use crate::model::{Enum, Expr, Field, Op, Type};
use crate::suggest;

/// Operators nest no deeper than this.
const DEPTH: usize = 64;

/// What is wrong with a condition, and where in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExprError {
    /// [`Code::Expression`] or [`Code::ExpressionName`].
    pub code: Code,
    /// Bytes of the condition's text.
    pub range: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ExprError {
    fn new(code: Code, range: Range<usize>, message: impl Into<String>, hint: Option<String>) -> Box<Self> {
        Box::new(Self { code, range, message: message.into(), hint })
    }

    fn syntax(range: Range<usize>, message: impl Into<String>) -> Box<Self> {
        Self::new(Code::Expression, range, message, None)
    }
}

type Result<T> = std::result::Result<T, Box<ExprError>>;

/// What names in a condition can mean.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The fields of the container, or of the group's element that the condition stands in.
    pub fields: &'a [Field],
    /// All enumerations.
    pub enums: &'a [Enum],
    /// The variant alternative of the field that the condition belongs to; its fields win over others of the name.
    pub variant: Option<&'a (String, String)>,
}

/// Parses a condition and resolves its names.
pub fn parse(text: &str, scope: Scope<'_>) -> Result<Expr> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, end: text.len() };
    let tree = parser.binary(0, 0)?;
    if let Some((token, range)) = parser.tokens.get(parser.next) {
        let message = format!("expected an operator or the end, found {}", token.describe());
        return Err(ExprError::syntax(range.clone(), message));
    }
    resolve(tree, scope, None)
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(u64),
    /// `[Field Name]` or `"Field Name"`
    Field(String),
    /// a bare word or `'value name'`
    Name(String),
    Op(Op),
    Not,
    Open,
    Close,
}

impl Token {
    fn describe(&self) -> String {
        match self {
            Token::Number(value) => format!("the number {value}"),
            Token::Field(name) => format!("the field [{name}]"),
            Token::Name(name) => format!("the name `{name}`"),
            Token::Op(op) => format!("`{}`", symbol(*op)),
            Token::Not => "`!`".into(),
            Token::Open => "`(`".into(),
            Token::Close => "`)`".into(),
        }
    }
}

/// The operator as it is written.
pub fn symbol(op: Op) -> &'static str {
    match op {
        Op::Or => "||",
        Op::And => "&&",
        Op::Eq => "==",
        Op::Ne => "!=",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
        Op::BitAnd => "&",
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Rem => "%",
    }
}

/// How tight the operator binds; larger is tighter.
fn level(op: Op) -> u8 {
    match op {
        Op::Or => 1,
        Op::And => 2,
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => 3,
        Op::BitAnd => 4,
        Op::Add | Op::Sub => 5,
        Op::Mul | Op::Rem => 6,
    }
}

/// The condition as text.
pub fn display(expr: &Expr) -> String {
    display_with(expr, &|_, _, _| None)
}

/// The condition as text, where `name` may give the name of a value (third) of the field at the bits (first and last).
pub fn display_with(expr: &Expr, name: &dyn Fn(u32, u32, u64) -> Option<String>) -> String {
    write(expr, 0, None, name)
}

/// `outer` is the level of the operator around, `other` the field on the other side of a comparison.
fn write(
    expr: &Expr,
    outer: u8,
    other: Option<(u32, u32)>,
    name: &dyn Fn(u32, u32, u64) -> Option<String>,
) -> String {
    match expr {
        Expr::Number(value) => {
            let named = other.and_then(|(start, end)| name(start, end, *value));
            let word = |name: &str| {
                !name.starts_with(|c: char| c.is_ascii_digit())
                    && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            };
            match named {
                Some(named) if word(&named) => named,
                Some(named) => format!("'{named}'"),
                None => value.to_string(),
            }
        }
        Expr::Field { name, .. } => format!("[{name}]"),
        Expr::Not(inner) => format!("!{}", write(inner, 7, None, name)),
        Expr::Binary(op, left, right) => {
            let bits = |side: &Expr| match side {
                Expr::Field { start, end, .. } if level(*op) == 3 => Some((*start, *end)),
                _ => None,
            };
            let inner = level(*op);
            let left_text = write(left, inner, bits(right), name);
            let right_text = write(right, inner + 1, bits(left), name);
            let text = format!("{left_text} {} {right_text}", symbol(*op));
            if inner < outer { format!("({text})") } else { text }
        }
    }
}

/// A number as the specification writes it: decimal, `0x`, `0b` or `0o`, with `_` anywhere between digits.
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, radix) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0b" | "0B") => (&text[2..], 2),
        Some("0o" | "0O") => (&text[2..], 8),
        _ => (text, 10),
    };
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None; // `u64::from_str_radix` would take a `+`
    }
    u64::from_str_radix(&digits.replace('_', ""), radix).ok()
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
            ('<', _) => (Token::Op(Op::Lt), 1),
            ('>', _) => (Token::Op(Op::Gt), 1),
            ('&', _) => (Token::Op(Op::BitAnd), 1),
            ('+', _) => (Token::Op(Op::Add), 1),
            ('-', _) => (Token::Op(Op::Sub), 1),
            ('*', _) => (Token::Op(Op::Mul), 1),
            ('%', _) => (Token::Op(Op::Rem), 1),
            ('=', _) => {
                let hint = Some("equality is written ==".to_owned());
                return Err(ExprError::new(Code::Expression, at..at + 1, "unexpected `=`", hint));
            }
            ('|', _) => {
                let hint = Some("or is written ||".to_owned());
                return Err(ExprError::new(Code::Expression, at..at + 1, "unexpected `|`", hint));
            }
            ('!', _) => (Token::Not, 1),
            ('(', _) => (Token::Open, 1),
            (')', _) => (Token::Close, 1),
            ('[' | '"' | '\'', _) => {
                let end = if c == '[' { ']' } else { c };
                let Some(length) = closing(&rest[1..], c, end) else {
                    return Err(ExprError::syntax(at..text.len(), format!("`{c}` without its `{end}`")));
                };
                let name = rest[1..1 + length].trim().to_owned();
                (if c == '\'' { Token::Name(name) } else { Token::Field(name) }, length + 2)
            }
            (c, _) if c.is_alphanumeric() || c == '_' => {
                let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                let word = &rest[..length];
                match number(word) {
                    Some(value) => (Token::Number(value), length),
                    // Names such as 3DPRIM_TRILIST start with a digit; a number with a slip in it looks the same.
                    None if word.bytes().all(|b| b.is_ascii_digit() || b == b'_')
                        || word.starts_with("0x") =>
                    {
                        return Err(ExprError::syntax(at..at + length, format!("malformed number `{word}`")));
                    }
                    None => (Token::Name(word.to_owned()), length),
                }
            }
            _ => {
                return Err(ExprError::syntax(at..at + c.len_utf8(), format!("unexpected `{c}`")));
            }
        };
        found.push((token, at..at + length));
        at += length;
    }
    Ok(found)
}

/// Where the name ends that `open` started: a bracketed name may hold brackets, as in `[Address[8:4]]`.
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

#[derive(Debug)]
enum Tree {
    Number(u64),
    Field(String, Range<usize>),
    Name(String, Range<usize>),
    Not(Box<Tree>),
    Binary(Op, Box<Tree>, Box<Tree>),
}

struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    next: usize,
    end: usize,
}

impl Parser {
    /// Operators of at least `least`, by precedence climbing; all are left associative.
    fn binary(&mut self, least: u8, depth: usize) -> Result<Tree> {
        let mut left = self.unary(depth + 1)?;
        let mut length = depth;
        while let Some((Token::Op(op), range)) = self.tokens.get(self.next).cloned() {
            if level(op) < least.max(1) {
                break;
            }
            length += 1; // a long chain is as deep a tree as nested parentheses
            self.limit(length, range)?;
            self.next += 1;
            let right = self.binary(level(op) + 1, depth + 1)?;
            left = Tree::Binary(op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn limit(&self, depth: usize, range: Range<usize>) -> Result<()> {
        match depth > DEPTH {
            true => Err(ExprError::syntax(range, format!("more than {DEPTH} operators deep"))),
            false => Ok(()),
        }
    }

    fn unary(&mut self, depth: usize) -> Result<Tree> {
        let Some((token, range)) = self.tokens.get(self.next).cloned() else {
            return Err(ExprError::syntax(
                self.end..self.end,
                "the condition ends where a value is expected",
            ));
        };
        self.limit(depth, range.clone())?;
        self.next += 1;
        Ok(match token {
            Token::Number(value) => Tree::Number(value),
            Token::Field(name) => Tree::Field(name, range),
            Token::Name(name) => Tree::Name(name, range),
            Token::Not => Tree::Not(Box::new(self.unary(depth + 1)?)),
            Token::Open => {
                let inner = self.binary(0, depth + 1)?;
                match self.tokens.get(self.next) {
                    Some((Token::Close, _)) => self.next += 1,
                    _ => return Err(ExprError::syntax(range, "`(` without its `)`")),
                }
                inner
            }
            other => {
                let message = format!("expected a field, value or number, found {}", other.describe());
                return Err(ExprError::syntax(range, message));
            }
        })
    }
}

fn resolve(tree: Tree, scope: Scope<'_>, hint: Option<&Field>) -> Result<Expr> {
    Ok(match tree {
        Tree::Number(value) => Expr::Number(value),
        Tree::Field(name, range) => {
            let field = scope.field(&name, &range)?;
            Expr::Field { name: field.name.clone(), start: field.start, end: field.end }
        }
        Tree::Name(name, range) => Expr::Number(scope.value(&name, &range, hint)?),
        Tree::Not(inner) => Expr::Not(Box::new(resolve(*inner, scope, None)?)),
        Tree::Binary(op, left, right) => {
            let compares = matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge);
            let named = |tree: &Tree| match compares {
                true => first_field(tree).and_then(|(name, range)| scope.field(name, range).ok()),
                false => hint,
            };
            let (of_left, of_right) = (named(&left), named(&right));
            Expr::Binary(
                op,
                Box::new(resolve(*left, scope, of_right)?),
                Box::new(resolve(*right, scope, of_left)?),
            )
        }
    })
}

/// The leftmost field that a tree names.
fn first_field(tree: &Tree) -> Option<(&str, &Range<usize>)> {
    match tree {
        Tree::Field(name, range) => Some((name, range)),
        Tree::Number(_) | Tree::Name(..) => None,
        Tree::Not(inner) => first_field(inner),
        Tree::Binary(_, left, right) => first_field(left).or_else(|| first_field(right)),
    }
}

impl<'a> Scope<'a> {
    fn field(&self, name: &str, range: &Range<usize>) -> Result<&'a Field> {
        let mut found = self.fields.iter().filter(|field| field.name == name);
        let Some(first) = found.next() else {
            let hint = suggest::hint(name, self.fields.iter().map(|field| field.name.as_str()));
            let message = format!("no field `{name}` here");
            return Err(ExprError::new(Code::ExpressionName, range.clone(), message, hint));
        };
        if found.all(|field| (field.start, field.end) == (first.start, first.end)) {
            return Ok(first);
        }
        let same = |field: &&Field| field.name == name && field.variant.as_ref() == self.variant;
        self.fields.iter().find(same).ok_or_else(|| {
            let message = format!("several fields are named `{name}` and have different bits");
            ExprError::new(Code::ExpressionName, range.clone(), message, None)
        })
    }

    /// The number of a value of the enumeration that `field`, on the other side of the comparison, has.
    fn value(&self, name: &str, range: &Range<usize>, field: Option<&Field>) -> Result<u64> {
        match (name, field.map(|field| &field.ty)) {
            ("true", None | Some(Type::Bool)) => return Ok(1),
            ("false", None | Some(Type::Bool)) => return Ok(0),
            _ => {}
        }
        let list = match field.map(|field| &field.ty) {
            Some(Type::Enum(id)) => self.enums.get(id.0),
            _ => None,
        };
        let Some(list) = list else {
            let (message, hint) = match self.fields.iter().any(|field| field.name == name) {
                true => (format!("`{name}` is a field"), format!("fields stand in brackets: [{name}]")),
                false => (
                    format!("`{name}` is compared with nothing that has named values"),
                    "a value's name must be compared with a field of an enumeration".to_owned(),
                ),
            };
            return Err(ExprError::new(Code::ExpressionName, range.clone(), message, Some(hint)));
        };
        let prefixed = |value: &str| !list.prefix.is_empty() && format!("{}_{value}", list.prefix) == name;
        match list.values.iter().find(|value| value.name == name || prefixed(&value.name)) {
            Some(value) => Ok(value.value),
            None => {
                let hint = suggest::hint(name, list.values.iter().map(|value| value.name.as_str()));
                let message = format!("`{}` has no value `{name}`", list.name);
                Err(ExprError::new(Code::ExpressionName, range.clone(), message, hint))
            }
        }
    }
}
