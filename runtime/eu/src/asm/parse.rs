//! Shared parts of the parsers of both languages: the token cursor, and the syntax that they have
//! in common.

use super::error::Fault;
use super::lex::{Kind, Token};
use super::number::{self, ImmediateError, Number};
use crate::instruction::*;
use crate::ops::{Format, Opcode};
use crate::syntax::{self, Names, Syntax};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::ops::Range;

pub type Parse<T> = Result<T, Fault>;
pub type Span = Range<usize>;

/// Target of a branch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A label.
    Label(String),
    /// Bytes from the first byte of the branch; for `calla` from the start of memory.
    Distance(i64),
}

/// A target and its position in the source.
pub type SpannedTarget = (Target, Span);

/// Positions of the operands in the source; empty ranges for missing operands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OperandSpans {
    pub destination: Span,
    pub sources: [Span; 3],
}

/// A statement of the source: a label or an instruction.
pub enum Statement {
    Label(String, Span),
    Instruction(alloc::boxed::Box<Item>),
}

/// A parsed instruction.
pub struct Item {
    pub instruction: Instruction,
    /// Position of the whole instruction.
    pub span: Span,
    pub spans: OperandSpans,
    pub jip: Option<SpannedTarget>,
    pub uip: Option<SpannedTarget>,
    /// Position of the option that requests the 8-byte form, if there is one.
    pub compacted: Option<Span>,
    /// True if a numeric distance is relative to the next instruction.
    pub from_next: bool,
}

impl Item {
    pub fn new(instruction: Instruction, span: Span) -> Self {
        Item {
            instruction,
            span,
            spans: OperandSpans::default(),
            jip: None,
            uip: None,
            compacted: None,
            from_next: false,
        }
    }
}

/// A cursor over the tokens.
pub struct Parser<'a> {
    pub source: &'a str,
    pub tokens: &'a [Token],
    /// Index of the next token.
    pub at: usize,
    /// The end of the statement: tokens from this index on are not read.
    pub limit: usize,
    pub syntax: Syntax,
    pub generation: Generation,
    /// Positions of the operands that have been read in this statement.
    pub spans: OperandSpans,
}

impl<'a> Parser<'a> {
    pub fn peek_at(&self, ahead: usize) -> Token {
        let index = self.at.saturating_add(ahead);
        match self.tokens.get(index) {
            Some(token) if index < self.limit => *token,
            _ => {
                // An error at the end of a statement points after its last token.
                let last = self.limit.checked_sub(1).and_then(|last| self.tokens.get(last));
                let end = last.map_or(self.source.len(), |token| token.end);
                Token { kind: Kind::End, start: end, end, first: false }
            }
        }
    }

    pub fn peek(&self) -> Token {
        self.peek_at(0)
    }

    pub fn text(&self, token: Token) -> &'a str {
        self.source.get(token.span()).unwrap_or_default()
    }

    /// The offset after the last token that was read.
    pub fn last_end(&self) -> usize {
        self.at.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |token| token.end)
    }

    /// Consumes and returns the next token.
    pub fn next(&mut self) -> Token {
        let token = self.peek();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// The token after an optional sign.
    pub fn peek_after_sign(&self) -> Token {
        self.peek_at(usize::from(matches!(self.peek().kind, Kind::Mark('-' | '+'))))
    }

    /// Consumes an optional sign; true if it is a minus.
    pub fn eat_sign(&mut self) -> bool {
        !self.eat('+') && self.eat('-')
    }

    pub fn is(&self, mark: char) -> bool {
        self.peek().kind == Kind::Mark(mark)
    }

    pub fn eat(&mut self, mark: char) -> bool {
        let is = self.is(mark);
        if is {
            self.next();
        }
        is
    }

    /// An error at the next token.
    pub fn unexpected(&self, expected: impl Into<String>) -> Fault {
        let token = self.peek();
        let message = match token.kind {
            Kind::End => "the instruction ends here".to_owned(),
            _ => format!("unexpected `{}`", self.text(token)),
        };
        Fault::new(token.span(), message).expected(expected)
    }

    pub fn expect(&mut self, mark: char) -> Parse<Token> {
        if self.is(mark) { Ok(self.next()) } else { Err(self.unexpected(format!("`{mark}`"))) }
    }

    /// The next token if it is a word.
    pub fn peek_word(&self) -> Option<&'a str> {
        let token = self.peek();
        (token.kind == Kind::Word).then(|| self.text(token))
    }

    pub fn word(&mut self, expected: &str) -> Parse<(&'a str, Span)> {
        match self.peek_word() {
            Some(word) => Ok((word, self.next().span())),
            None => Err(self.unexpected(expected)),
        }
    }

    /// Parses a word and returns its meaning in `names`.
    pub fn name<T: Copy + PartialEq>(&mut self, names: &'static Names<T>) -> Parse<T> {
        let (word, span) = self.word(&article(names.kind))?;
        names.find(word, self.syntax).ok_or_else(|| self.unknown_name(names, word, span))
    }

    pub fn unknown_name<T: Copy + PartialEq>(
        &self,
        names: &'static Names<T>,
        word: &str,
        span: Span,
    ) -> Fault {
        Fault::new(span, format!("`{word}` is not {}", article(names.kind)))
            .like(word, names.words(self.syntax))
    }

    /// Parses a decimal, hexadecimal or binary integer up to `most`. `what` names it in errors.
    pub fn integer(&mut self, what: &str, most: u64) -> Parse<u64> {
        let token = self.peek();
        if token.kind != Kind::Number {
            return Err(self.unexpected(what));
        }
        match number::number(self.text(token)) {
            Some(Number::Decimal(value) | Number::Bits(value)) if value <= most => {
                self.next();
                Ok(value)
            }
            Some(Number::Decimal(_) | Number::Bits(_)) => {
                let message = format!("{} is too large for {what}", self.text(token));
                Err(Fault::new(token.span(), message).expected(format!("0 to {most}")))
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Parses an integer that must be one of `values`. `what` names it in errors.
    pub fn choice(&mut self, what: &str, values: &[u8]) -> Parse<u8> {
        let token = self.peek();
        let value = self.integer(what, u64::MAX)?;
        let found = values.iter().find(|allowed| u64::from(**allowed) == value).copied();
        found.ok_or_else(|| {
            let message = format!("{value} is not {}", article(what));
            Fault::new(token.span(), message).expected(list(values))
        })
    }

    /// Parses the operation, without suffixes after a dot.
    pub fn opcode(&mut self) -> Parse<Opcode> {
        let (word, span) = self.word("an operation")?;
        let generation = self.generation;
        let all = || (0..128).filter_map(move |code| Opcode::on(generation, code));
        all().find(|opcode| opcode.name() == word).ok_or_else(|| {
            let fault = Fault::new(span, format!("`{word}` is not an operation"));
            let hints = OTHER_GENERATIONS.iter().filter(|_| generation == Generation::Gen8);
            match hints.clone().find(|(name, _)| *name == word) {
                Some((_, hint)) => fault.hint(*hint),
                None => fault.like(word, all().map(Opcode::name)),
            }
        })
    }

    /// Parses a flag: `f0.1`. The subregister is 0 if it is not written.
    pub fn flag(&mut self) -> Parse<Flag> {
        let (word, span) = self.word("a flag, f0.0 to f1.1")?;
        let register = match word {
            "f0" => 0,
            "f1" => 1,
            _ => {
                let message = format!("`{word}` is not a flag register");
                return Err(Fault::new(span, message).expected("f0 or f1"));
            }
        };
        let subregister = if self.eat('.') { self.choice("flag subregister", &[0, 1])? } else { 0 };
        Ok(Flag { register, subregister })
    }

    /// Parses the optional suffix after the flag of a predicate: `.any8h`.
    pub fn predicate_control(&mut self) -> Parse<PredicateControl> {
        if self.eat('.') {
            self.name(&syntax::PREDICATES)
        } else {
            Ok(PredicateControl::Sequential)
        }
    }

    /// Parses a register: `r4`, `acc0`, `null`, `r[a0.2,16]`. The caller parses a subregister
    /// after a dot.
    pub fn base(&mut self) -> Parse<Base> {
        let what = "a register";
        let (word, span) = self.word(what)?;
        let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
        let letters = &word[..word.len() - digits.len()];
        let general = letters == "r" || (letters == "g" && self.syntax == Syntax::Mesa);
        if general && digits.is_empty() && self.is('[') {
            return self.indirect(span);
        }
        let refuse = |message: String| Err(Fault::new(span.clone(), message));
        let number = if digits.is_empty() { Some(0) } else { digits.parse::<u8>().ok() };
        if general && !digits.is_empty() {
            return match number {
                Some(number @ 0..128) => {
                    Ok(Base { register: Register::grf(number), span, index: None })
                }
                _ => {
                    let fault = refuse(format!("there is no general register {digits}"));
                    fault.map_err(|fault| fault.expected(format!("{letters}0 to {letters}127")))
                }
            };
        }
        if letters == "m" && self.generation.has_message_registers() {
            return match number {
                Some(number @ 0..128) if !digits.is_empty() => {
                    Ok(Base { register: Register::Mrf { number, byte: 0 }, span, index: None })
                }
                _ => refuse(format!("there is no message register {digits}")),
            };
        }
        if letters == "ARF" || letters == "arf" {
            return self.reserved_register(letters, digits, span);
        }
        let Some(file) = syntax::ARFS.find(letters, self.syntax) else {
            let hint = match (self.syntax, letters) {
                (Syntax::Iga, "g") => Some("general registers are written r0 to r127"),
                (_, "m") => {
                    Some("Gen8 has no message registers; send messages from general registers")
                }
                _ => None,
            };
            let fault =
                refuse(format!("`{word}` is not a register")).map_err(|fault: Fault| match hint {
                    Some(hint) => fault.hint(hint),
                    None => fault.like(letters, syntax::ARFS.words(self.syntax)),
                });
            return fault;
        };
        let single = matches!(file, Arf::Null | Arf::InstructionPointer);
        match number {
            Some(number) if number < 16 && single == digits.is_empty() => {
                Ok(Base { register: Register::Arf { file, number, byte: 0 }, span, index: None })
            }
            _ => refuse(format!("there is no register {word}")),
        }
    }

    /// Parses a register without a name: `ARF208` as Mesa prints it, `arf13.0` as this crate prints
    /// it in IGA's syntax.
    fn reserved_register(&mut self, letters: &str, digits: &str, span: Span) -> Parse<Base> {
        let known = |kind: u8| {
            let arf = crate::gen8::eu::Arf::new(u64::from(kind)).ok();
            arf.and_then(|arf| crate::encoding::ARF.decode(arf)).unwrap_or(Arf::Reserved(kind))
        };
        let number = digits.parse::<u8>().ok();
        let mut index = None;
        let parts = match (letters, number) {
            ("ARF", Some(byte)) => Some((byte / 16, byte % 16)),
            ("arf", Some(kind @ 0..16)) if self.eat('.') => {
                // The lexer reads number and subregister as one decimal fraction.
                let token = self.peek();
                let (number, subregister) =
                    self.text(token).split_once('.').unwrap_or((self.text(token), ""));
                index = subregister.parse().ok().map(|subregister| (subregister, token.span()));
                self.next();
                number.parse().ok().filter(|number| *number < 16).map(|number: u8| (kind, number))
            }
            _ => None,
        };
        let (kind, number) = parts.ok_or_else(|| {
            Fault::new(span.clone(), format!("`{letters}{digits}` is not a register"))
        })?;
        Ok(Base { register: Register::Arf { file: known(kind), number, byte: 0 }, span, index })
    }

    /// Parses an indirect address: `[a0.2,16]` or Mesa's `[a0.2 16]`.
    fn indirect(&mut self, span: Span) -> Parse<Base> {
        self.expect('[')?;
        let (word, word_span) = self.word("the address register a0")?;
        if word != "a0" {
            let message = format!("`{word}` is not an address register");
            return Err(Fault::new(word_span, message).expected("a0"));
        }
        let address = if self.eat('.') { self.integer("a word of a0", 15)? as u8 } else { 0 };
        self.eat(',');
        let start = self.peek().start;
        let negative = self.eat_sign();
        let mut offset = 0;
        if self.peek().kind == Kind::Number {
            offset = self.integer("an offset", u64::from(u32::MAX))? as i64;
        } else if !self.is(']') {
            return Err(self.unexpected("an offset in bytes or `]`"));
        }
        let mut offset = if negative { -offset } else { offset };
        if self.syntax == Syntax::Mesa && (512..1024).contains(&offset) {
            // Mesa's disassembler prints the ten bits of the offset as an unsigned number.
            offset -= 1024;
        }
        let end = self.expect(']')?.end;
        if !(-512..512).contains(&offset) {
            let message = format!("the offset {offset} does not fit its ten bits");
            return Err(Fault::new(start..end - 1, message).expected("-512 to 511"));
        }
        let register = Register::Indirect { address, offset: offset as i16 };
        Ok(Base { register, span: span.start..end, index: None })
    }

    /// The register of `base`, starting at element `index` of type `ty`; unchanged without an
    /// index.
    pub fn subregister(
        &self,
        base: &Base,
        index: Option<(u64, Span)>,
        ty: DataType,
    ) -> Parse<Register> {
        let Some((index, span)) = index.or(base.index.clone()) else { return Ok(base.register) };
        let size = u64::from(ty.size());
        let bytes = index.saturating_mul(size);
        if bytes >= 32 {
            let message = format!("a register has no element {index} of type {}", ty.name());
            return Err(Fault::new(span, message).expected(format!("0 to {}", 31 / size)));
        }
        Ok(match base.register {
            Register::Grf { number, .. } => Register::Grf { number, byte: bytes as u8 },
            Register::Mrf { number, .. } => Register::Mrf { number, byte: bytes as u8 },
            Register::Arf { file, number, .. } => Register::Arf { file, number, byte: bytes as u8 },
            indirect => indirect,
        })
    }

    /// Parses the number of a subregister after a dot, if there is one.
    pub fn subregister_index(&mut self) -> Parse<Option<(u64, Span)>> {
        let numbered = self.is('.') && self.peek_at(1).kind == Kind::Number;
        if !numbered {
            return Ok(None);
        }
        self.next();
        let span = self.peek().span();
        Ok(Some((self.integer("a subregister", 31)?, span)))
    }

    /// The numbers of up to four channels of a mask or swizzle: 0, 1 and 2 for `xyz`.
    pub fn channels(&self, word: &str, span: &Span) -> Parse<[Option<u8>; 4]> {
        let mut channels = [None; 4];
        let refuse = || {
            let message = format!("`{word}` is not a list of channels");
            Err(Fault::new(span.clone(), message).expected("up to four of x, y, z, w"))
        };
        if word.len() > 4 {
            return refuse();
        }
        for (slot, letter) in channels.iter_mut().zip(word.chars()) {
            *slot = Some(match letter {
                'x' => 0,
                'y' => 1,
                'z' => 2,
                'w' => 3,
                _ => return refuse(),
            });
        }
        Ok(channels)
    }

    /// `xy` as a write mask: each channel once, in order.
    pub fn write_mask(&self, word: &str, span: Span) -> Parse<u8> {
        let channels = self.channels(word, &span)?;
        let mut mask = 0u8;
        for channel in channels.into_iter().flatten() {
            let bit = 1 << channel;
            if mask >= bit {
                let message = format!("`{word}` is not a write mask");
                return Err(Fault::new(span, message).expected("channels in the order x, y, z, w"));
            }
            mask += bit;
        }
        Ok(mask)
    }

    /// `x` or `xyzw` as a swizzle.
    pub fn swizzle(&self, word: &str, span: Span) -> Parse<[u8; 4]> {
        match self.channels(word, &span)? {
            [Some(x), None, ..] => Ok([x; 4]),
            [Some(x), Some(y), Some(z), Some(w)] => Ok([x, y, z, w]),
            _ => {
                let message = format!("`{word}` is not a swizzle");
                Err(Fault::new(span, message).expected("one channel or four"))
            }
        }
    }

    /// Converts an immediate; `text` is its number as written.
    pub fn immediate(
        &self,
        negative: bool,
        number: Number,
        text: &str,
        ty: DataType,
        span: Span,
    ) -> Parse<Immediate> {
        number::immediate(negative, number, text, ty).map_err(|refused| {
            let name = ty.name();
            let sign = if negative { "-" } else { "" };
            match refused {
                ImmediateError::Type => {
                    Fault::new(span, format!("there are no immediates of type {name}"))
                        .hint("use a word; the destination may still be bytes")
                }
                ImmediateError::Range if ty.is_float() => {
                    Fault::new(span, format!("{sign}{text} is not a number of type {name}"))
                }
                ImmediateError::Range => {
                    let (least, greatest) = match ty {
                        DataType::V | DataType::Uv | DataType::Vf => (0, i128::from(u32::MAX)),
                        ty => number::range(ty),
                    };
                    Fault::new(span, format!("{sign}{text} does not fit the type {name}"))
                        .expected(format!("{least} to {greatest}"))
                }
                ImmediateError::Kind => {
                    let expected = match ty {
                        DataType::V | DataType::Uv | DataType::Vf => "eight hexadecimal digits",
                        ty if ty.is_float() => "a decimal number, or its bits without a sign",
                        _ => "an integer",
                    };
                    Fault::new(span, format!("{sign}{text} cannot be of type {name}"))
                        .expected(expected)
                }
            }
        })
    }

    /// Checks that the source at `span` may be an immediate: the last source may, except in
    /// three-source instructions. `scalar` is the region that reads one element, for the hint.
    pub fn allow_immediate(
        &self,
        i: &Instruction,
        last: bool,
        span: Span,
        scalar: &str,
    ) -> Parse<()> {
        if i.opcode.op().format == Format::ThreeSource {
            let message = "three-source instructions accept only registers";
            let hint = format!("move the number to a register and read it with {scalar}");
            return Err(Fault::new(span, message).hint(hint));
        }
        if !last {
            let message = "only the last source can be an immediate";
            return Err(Fault::new(span, message).hint("exchange the sources or use a register"));
        }
        Ok(())
    }

    /// Returns an error if the instruction has three sources and `base` is not a general register.
    /// Three-source instructions can encode only general registers.
    pub fn general_only(&self, i: &Instruction, base: &Base) -> Parse<()> {
        if i.opcode.op().format == Format::ThreeSource
            && !matches!(base.register, Register::Grf { .. })
        {
            let message = format!("`{}` takes general registers only", i.opcode);
            return Err(Fault::new(base.span.clone(), message));
        }
        Ok(())
    }

    /// Sets the flag of a condition. An instruction has only one flag, so it must be the flag of
    /// the predicate, if there is one.
    pub fn condition_flag(
        &self,
        instruction: &mut Instruction,
        flag: Flag,
        span: Span,
    ) -> Parse<()> {
        if instruction.predicate.is_some() && instruction.flag != flag {
            let Flag { register, subregister } = instruction.flag;
            let message = "predicate and condition use different flags";
            return Err(Fault::new(span, message).expected(format!(
                "f{register}.{subregister}, because an instruction has only one flag"
            )));
        }
        instruction.flag = flag;
        Ok(())
    }
}

/// A register without its subregister.
pub struct Base {
    pub register: Register,
    pub span: Span,
    /// A subregister that has already been parsed.
    pub index: Option<(u64, Span)>,
}

/// Operations of other generations, with a hint for Gen8.
const OTHER_GENERATIONS: &[(&str, &str)] = &[
    ("sends", "split sends exist from Gen9 on; put the payloads into consecutive registers"),
    ("sendsc", "split sends exist from Gen9 on; put the payloads into consecutive registers"),
    ("rol", "rotations exist from Gen11 on"),
    ("ror", "rotations exist from Gen11 on"),
    ("dim", "only Gen7.5 has it; mov accepts immediates of type df"),
    ("f32to16", "only Gen7 has it; mov to type hf converts"),
    ("f16to32", "only Gen7 has it; mov from type hf converts"),
    ("iff", "removed in Gen6; if has both targets"),
    ("do", "removed in Gen6; while jumps to a label"),
    ("nenop", "Gen8 has only nop"),
    ("sync", "sync exists from Gen12 on"),
    ("add3", "add3 exists from Gen12.5 on"),
    ("dp4a", "dp4a exists from Gen12 on"),
];

/// `kind` with its article: `a type`, `an option`.
pub fn article(kind: &str) -> String {
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

/// The values as text: `1, 2, 4 or 8`.
fn list(values: &[u8]) -> String {
    let mut text = String::new();
    for (index, value) in values.iter().enumerate() {
        let separator = match index {
            0 => "",
            index if index + 1 == values.len() => " or ",
            _ => ", ",
        };
        text.push_str(&format!("{separator}{value}"));
    }
    text
}
