//! Random programs with every kind of branch. Oracle: an interpreter of the programs' source that
//! executes one channel at a time, or, in single program flow, a group that goes where its first
//! channel goes. Targets follow the linking rules of compilers (eu.md 4.3).

use crate::eu::support::{END, IP_BASE, LIMIT, assemble, play};
use genxml_sim::eu::Launch;
use genxml_sim::eu::debug::Halt;
use proptest::prelude::*;
use std::fmt::Write;

/// (x & mask) == 0, or its opposite.
#[derive(Clone, Copy, Debug)]
struct Condition {
    mask: i16,
    inverse: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LoopKind {
    /// Channels leave by a `break` at the start of a round; `while` has no predicate.
    While,
    /// `while` with a predicate.
    DoWhile,
    /// `goto` backward.
    Goto,
    /// `brd` backward.
    Brd,
    /// `brd` backward, its target in a register.
    BrdRegister,
}

#[derive(Clone, Copy, Debug)]
enum SkipKind {
    Goto,
    Brc,
    BrcRegister,
}

#[derive(Clone, Copy, Debug)]
enum CallKind {
    Call,
    CallRegister,
    Calla,
    CallaRegister,
}

/// A statement; every channel has a variable x.
#[derive(Clone, Debug)]
enum Statement {
    /// x = (x + a) ^ b
    Step(i16, i16),
    /// If the `bool` is true and there is no `else`, a `jmpi` skips the block when no channel
    /// executes it.
    If(Condition, bool, Vec<Statement>, Option<Vec<Statement>>),
    Loop(LoopKind, u8, Vec<Statement>),
    /// A block for channels that fulfil the condition, compiled to unstructured branches.
    Skip(SkipKind, Condition, Vec<Statement>),
    /// Leaves the innermost `While` or `DoWhile` loop.
    Break(Condition),
    Continue(Condition),
    /// Goes to the end of the program. In functions it does nothing.
    Halt(Condition),
    /// A function only calls functions after it, so there is no recursion.
    Call(Option<Condition>, CallKind, usize),
    /// Returns from a function. Does nothing in the main program and inside a block.
    Return(Condition),
}
use Statement::{Break, Call, Continue, If, Loop, Return, Skip, Step};

#[derive(Clone, Debug)]
struct Program {
    main: Vec<Statement>,
    functions: Vec<Vec<Statement>>,
}

/// How the program is compiled.
#[derive(Clone, Copy, Debug)]
struct Geometry {
    size: u32,
    first: u32,
    flag: (u8, u8),
    single_flow: bool,
}

impl Geometry {
    /// The type of variables and its size in bytes: dwords, or words for 32 channels.
    fn ty(self) -> (&'static str, u32) {
        if self.size == 32 { ("w", 2) } else { ("d", 4) }
    }

    fn wrap(self, x: i32) -> i32 {
        if self.size == 32 { i32::from(x as i16) } else { x }
    }
}

// ---- the compiler ----

/// The context of a statement.
#[derive(Clone, Copy)]
struct Context {
    /// Label at the end of the innermost block.
    end: usize,
    /// Label of the `while` of the innermost loop, and the kind of this loop.
    innermost: Option<(usize, LoopKind)>,
    function: Option<usize>,
    /// True for statements outside of any block.
    outermost: bool,
}

struct Compiler {
    geometry: Geometry,
    functions: usize,
    text: String,
    labels: usize,
    depth: u32,
}

impl Compiler {
    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn place(&mut self, label: usize) {
        writeln!(self.text, "L{label}:").unwrap();
    }

    fn line(&mut self, text: impl AsRef<str>) {
        writeln!(self.text, "    {}", text.as_ref()).unwrap();
    }

    /// Execution size and channel offset as assembly writes them, such as `(16|M0)`.
    fn channels(&self) -> String {
        format!("({}|M{})", self.geometry.size, self.geometry.first)
    }

    fn source(&self, register: u32) -> String {
        let ty = self.geometry.ty().0;
        match self.geometry.size {
            1 => format!("r{register}.0<0;1,0>:{ty}"),
            32 => format!("r{register}.0<16;16,1>:{ty}"),
            _ => format!("r{register}.0<8;8,1>:{ty}"),
        }
    }

    fn binary(&mut self, operation: &str, register: u32, value: i16) {
        let (channels, ty, source) = (self.channels(), self.geometry.ty().0, self.source(register));
        self.line(format!("{operation} {channels} r{register}.0<1>:{ty} {source} {value}:w"));
    }

    /// Sets the flag of each channel. Returns the predicate for the channels that fulfil the
    /// condition, or for those that do not.
    fn test(&mut self, condition: Condition, fulfil: bool) -> String {
        let (register, subregister) = self.geometry.flag;
        let (channels, ty, source) = (self.channels(), self.geometry.ty().0, self.source(10));
        let modifier = if condition.inverse { "ne" } else { "eq" };
        let mask = condition.mask;
        self.line(format!(
            "and {channels} ({modifier})f{register}.{subregister} null<1>:{ty} {source} {mask}:w"
        ));
        format!("({}f{register}.{subregister})", if fulfil { "" } else { "~" })
    }

    fn count(&mut self, variable: u32, comparison: &str, count: u8) -> String {
        let (register, subregister) = self.geometry.flag;
        self.binary("add", variable, 1);
        let (channels, ty, source) = (self.channels(), self.geometry.ty().0, self.source(variable));
        self.line(format!(
            "cmp {channels} ({comparison})f{register}.{subregister} null<1>:{ty} {source} {count}:w"
        ));
        format!("(f{register}.{subregister})")
    }

    fn block(&mut self, statements: &[Statement], context: Context) {
        for statement in statements {
            self.statement(statement, context);
        }
    }

    fn statement(&mut self, statement: &Statement, context: Context) {
        let n = self.channels();
        let outer = context.end;
        match statement {
            Step(a, b) => {
                self.binary("add", 10, *a);
                self.binary("xor", 10, *b);
            }
            If(condition, jump, then, otherwise) => {
                self.conditional(*condition, *jump, then, otherwise.as_deref(), context);
            }
            Loop(kind, count, body) => self.repetition(*kind, *count, body, context),
            Skip(kind, condition, body) => self.skip(*kind, *condition, body, context),
            Break(condition) => {
                if let Some((bottom, _)) = context.innermost {
                    let predicate = self.test(*condition, true);
                    self.line(format!("{predicate} break {n} L{outer} L{bottom}"));
                }
            }
            Continue(condition) => {
                if let Some((bottom, LoopKind::While)) = context.innermost {
                    let predicate = self.test(*condition, true);
                    self.line(format!("{predicate} cont {n} L{outer} L{bottom}"));
                }
            }
            Statement::Halt(condition) => {
                if context.function.is_none() {
                    let predicate = self.test(*condition, true);
                    self.line(format!("{predicate} halt {n} L{outer} L0"));
                }
            }
            Call(condition, kind, function) => self.call(*condition, *kind, *function, context),
            Return(condition) => {
                if let (Some(function), true) = (context.function, context.outermost) {
                    let predicate = self.test(*condition, true);
                    self.line(format!("{predicate} ret {n} r{}.0:ud", 100 + 2 * function));
                }
            }
        }
    }

    /// Compiles `if`, with or without `else`.
    fn conditional(
        &mut self,
        condition: Condition,
        jump: bool,
        then: &[Statement],
        otherwise: Option<&[Statement]>,
        context: Context,
    ) {
        let n = self.channels();
        let inside = Context { outermost: false, ..context };
        let outer = context.end;
        let (otherwise_at, endif, behind) = (self.label(), self.label(), self.label());
        if jump && otherwise.is_none() {
            let (register, _) = self.geometry.flag;
            self.line(format!("(W) mov (1|M0) f{register}.0<1>:ud 0x0:ud"));
            self.test(condition, true);
            self.line(format!("(W&~f{register}.0.any32h) jmpi L{behind}"));
        }
        let predicate = self.test(condition, true);
        match otherwise {
            None => {
                self.line(format!("{predicate} if {n} L{endif} L{endif}"));
                self.block(then, Context { end: endif, ..inside });
            }
            Some(otherwise) => {
                let side = self.label();
                // In single program flow, `if` goes to the second target.
                let second = if self.geometry.single_flow { otherwise_at } else { endif };
                self.line(format!("{predicate} if {n} L{otherwise_at} L{second}"));
                self.block(then, Context { end: side, ..inside });
                self.place(side);
                self.line(format!("else {n} L{endif} L{endif}"));
                self.place(otherwise_at);
                self.block(otherwise, Context { end: endif, ..inside });
            }
        }
        self.place(endif);
        self.line(format!("endif {n} L{outer}"));
        self.place(behind);
    }

    /// Compiles a loop.
    fn repetition(&mut self, kind: LoopKind, count: u8, body: &[Statement], context: Context) {
        let n = self.channels();
        let inside = Context { outermost: false, ..context };
        let outer = context.end;
        self.depth += 1;
        let variable = 20 + 2 * self.depth;
        let (top, tail, bottom) = (self.label(), self.label(), self.label());
        let ty = self.geometry.ty().0;
        self.line(format!("mov {n} r{variable}.0<1>:{ty} 0:w"));
        self.place(top);
        match kind {
            LoopKind::While => {
                // The round is counted first, so that it also counts for channels that execute
                // `cont`.
                let over = self.count(variable, "gt", count);
                self.line(format!("{over} break {n} L{bottom} L{bottom}"));
                let innermost = Some((bottom, kind));
                self.block(body, Context { end: bottom, innermost, ..inside });
                self.place(bottom);
                self.line(format!("while {n} L{top}"));
            }
            LoopKind::DoWhile => {
                let innermost = Some((bottom, kind));
                self.block(body, Context { end: tail, innermost, ..inside });
                self.place(tail);
                let more = self.count(variable, "lt", count);
                self.place(bottom);
                self.line(format!("{more} while {n} L{top}"));
            }
            LoopKind::Goto | LoopKind::Brd | LoopKind::BrdRegister => {
                self.block(body, Context { end: tail, ..inside });
                self.place(tail);
                let more = self.count(variable, "lt", count);
                let behind = self.label();
                match kind {
                    LoopKind::Goto => self.line(format!("{more} goto.b {n} L{behind} L{top}")),
                    LoopKind::Brd => self.line(format!("{more} brd {n} L{top}")),
                    _ => {
                        self.line(format!("(W) mov (1|M0) r90.0<1>:d {{L{top}-L{bottom}}}:d"));
                        self.place(bottom);
                        self.line(format!("{more} brd {n} r90.0:d"));
                    }
                }
                self.place(behind);
                self.line(format!("join {n} L{outer}"));
            }
        }
        self.depth -= 1;
    }

    /// Compiles a body that some channels skip.
    fn skip(&mut self, kind: SkipKind, condition: Condition, body: &[Statement], context: Context) {
        let n = self.channels();
        let inside = Context { outermost: false, ..context };
        let outer = context.end;
        let (end, here) = (self.label(), self.label());
        match kind {
            SkipKind::Goto => {
                let predicate = self.test(condition, true);
                self.line(format!("{predicate} goto {n} L{end} L{end}"));
            }
            SkipKind::Brc => {
                let predicate = self.test(condition, false);
                self.line(format!("{predicate} brc {n} L{end} L{end}"));
            }
            SkipKind::BrcRegister => {
                let predicate = self.test(condition, false);
                for half in 0..2 {
                    self.line(format!("(W) mov (1|M0) r90.{half}<1>:d {{L{end}-L{here}}}:d"));
                }
                self.place(here);
                self.line(format!("{predicate} brc {n} r90.0:d"));
            }
        }
        self.block(body, Context { end, ..inside });
        self.place(end);
        self.line(format!("join {n} L{outer}"));
    }

    /// Compiles a call. Does nothing if the function does not exist or the call could be recursive.
    fn call(
        &mut self,
        condition: Option<Condition>,
        kind: CallKind,
        function: usize,
        context: Context,
    ) {
        let n = self.channels();
        if function >= self.functions || context.function.is_some_and(|caller| caller >= function) {
            return;
        }
        let predicate = condition.map_or(String::new(), |condition| self.test(condition, true));
        let here = self.label();
        let link = format!("r{}.0:ud", 100 + 2 * function);
        match kind {
            CallKind::Call => self.line(format!("{predicate} call {n} {link} F{function}")),
            CallKind::CallRegister => {
                self.line(format!("(W) mov (1|M0) r91.0<1>:d {{F{function}-L{here}}}:d"));
                self.place(here);
                self.line(format!("{predicate} call {n} {link} r91.0:d"));
            }
            CallKind::Calla => self.line(format!("{predicate} calla {n} {link} {{F{function}}}")),
            CallKind::CallaRegister => {
                self.line(format!("(W) mov (1|M0) r91.0<1>:d {{F{function}}}:d"));
                self.line(format!("{predicate} calla {n} {link} r91.0:d"));
            }
        }
    }
}

/// Compiles a program to text. `{A-B}` and `{A}` stand for distances and addresses of labels.
fn compile(program: &Program, geometry: Geometry) -> String {
    let functions = program.functions.len();
    let mut compiler = Compiler { geometry, functions, text: String::new(), labels: 0, depth: 0 };
    let n = compiler.channels();
    let main = Context { end: 0, innermost: None, function: None, outermost: true };
    compiler.block(&program.main, main);
    compiler.place(0);
    compiler.line(format!("halt {n} 16 16"));
    compiler.line(END);
    for (function, body) in program.functions.iter().enumerate() {
        compiler.line(format!("F{function}:"));
        let end = compiler.label();
        // The loops of each function have their own registers.
        compiler.depth = 8 * (function as u32 + 1);
        compiler.block(body, Context { end, function: Some(function), ..main });
        compiler.place(end);
        compiler.line(format!("ret {n} r{}.0:ud", 100 + 2 * function));
    }
    compiler.text
}

/// Assembles the text twice: the offsets of labels are known after the first time.
fn link(text: &str) -> Vec<u8> {
    let fill = |value: &dyn Fn(&str) -> i64| -> String {
        let mut parts = text.split(['{', '}']);
        let mut filled = parts.next().unwrap_or_default().to_owned();
        while let (Some(inside), Some(behind)) = (parts.next(), parts.next()) {
            // Options of instructions have braces too.
            filled += &match inside {
                "EOT" => "{EOT}".to_owned(),
                labels => match labels.split_once('-') {
                    Some((to, from)) => (value(to) - value(from)).to_string(),
                    None => (i64::from(IP_BASE) + value(labels)).to_string(),
                },
            };
            filled += behind;
        }
        filled
    };
    let labels = assemble(&fill(&|_| 0)).labels;
    assemble(&fill(&|label| labels[label] as i64)).bytes
}

// ---- the interpreter ----

#[derive(PartialEq)]
enum Next {
    On,
    Break,
    Continue,
    Halt,
    Return,
}

struct Interpreter<'a> {
    program: &'a Program,
    geometry: Geometry,
    /// Number of steps left. Programs that take too long are not compared.
    fuel: u64,
}

impl Interpreter<'_> {
    fn run(
        &mut self,
        statements: &[Statement],
        xs: &mut [i32],
        innermost: Option<LoopKind>,
        function: Option<usize>,
        outermost: bool,
    ) -> Next {
        let holds = |condition: &Condition, xs: &[i32]| {
            (xs[0] & i32::from(condition.mask) == 0) != condition.inverse
        };
        for statement in statements {
            self.fuel = self.fuel.saturating_sub(1);
            if self.fuel == 0 {
                return Next::Halt;
            }
            let next = match statement {
                Step(a, b) => {
                    for x in &mut *xs {
                        *x = self.geometry.wrap(x.wrapping_add((*a).into()) ^ i32::from(*b));
                    }
                    Next::On
                }
                If(condition, _, then, otherwise) => {
                    let side = if holds(condition, xs) { Some(then) } else { otherwise.as_ref() };
                    side.map_or(Next::On, |side| self.run(side, xs, innermost, function, false))
                }
                Loop(kind, count, body) => {
                    let own = matches!(kind, LoopKind::While | LoopKind::DoWhile);
                    let inner = if own { Some(*kind) } else { innermost };
                    let rounds = if *kind == LoopKind::While { *count } else { (*count).max(1) };
                    let mut result = Next::On;
                    for _ in 0..rounds {
                        match self.run(body, xs, inner, function, false) {
                            Next::On => {}
                            Next::Continue if own => {}
                            Next::Break if own => break,
                            other => {
                                result = other;
                                break;
                            }
                        }
                    }
                    result
                }
                Skip(_, condition, body) if holds(condition, xs) => {
                    self.run(body, xs, innermost, function, false)
                }
                Break(condition) if innermost.is_some() && holds(condition, xs) => Next::Break,
                Continue(condition)
                    if innermost == Some(LoopKind::While) && holds(condition, xs) =>
                {
                    Next::Continue
                }
                Statement::Halt(condition) if function.is_none() && holds(condition, xs) => {
                    Next::Halt
                }
                Return(condition) if function.is_some() && outermost && holds(condition, xs) => {
                    Next::Return
                }
                Call(condition, _, callee)
                    if *callee < self.program.functions.len()
                        && function.is_none_or(|caller| caller < *callee)
                        && condition.as_ref().is_none_or(|condition| holds(condition, xs)) =>
                {
                    let body = &self.program.functions[*callee];
                    self.run(body, xs, None, Some(*callee), true);
                    Next::On
                }
                _ => Next::On,
            };
            if next != Next::On {
                return next;
            }
        }
        Next::On
    }
}

// ---- programs at random ----

fn conditions() -> impl Strategy<Value = Condition> {
    (1i16..8, any::<bool>()).prop_map(|(mask, inverse)| Condition { mask, inverse })
}

fn statements() -> impl Strategy<Value = Statement> {
    let call = prop::sample::select(vec![
        CallKind::Call,
        CallKind::CallRegister,
        CallKind::Calla,
        CallKind::CallaRegister,
    ]);
    let leaf = prop_oneof![
        4 => (any::<i16>(), -16i16..16).prop_map(|(a, b)| Step(a, b)),
        1 => conditions().prop_map(Break),
        1 => conditions().prop_map(Continue),
        1 => conditions().prop_map(Statement::Halt),
        1 => (prop::option::of(conditions()), call, 0usize..3).prop_map(|(c, kind, f)| Call(c, kind, f)),
        1 => conditions().prop_map(Return),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let block = prop::collection::vec(inner, 1..4);
        let kind = prop::sample::select(vec![
            LoopKind::While,
            LoopKind::DoWhile,
            LoopKind::Goto,
            LoopKind::Brd,
            LoopKind::BrdRegister,
        ]);
        let skip = prop::sample::select(vec![SkipKind::Goto, SkipKind::Brc, SkipKind::BrcRegister]);
        prop_oneof![
            2 => (conditions(), any::<bool>(), block.clone(), prop::option::of(block.clone()))
                .prop_map(|(c, jump, then, otherwise)| If(c, jump, then, otherwise)),
            2 => (kind, 1u8..4, block.clone()).prop_map(|(kind, count, body)| Loop(kind, count, body)),
            1 => (skip, conditions(), block).prop_map(|(kind, c, body)| Skip(kind, c, body)),
        ]
    })
}

fn programs() -> impl Strategy<Value = Program> {
    let block = || prop::collection::vec(statements(), 1..5);
    (block(), prop::collection::vec(block(), 0..3))
        .prop_map(|(main, functions)| Program { main, functions })
}

fn geometries() -> impl Strategy<Value = Geometry> {
    let places = [(1, 0), (8, 0), (8, 8), (8, 16), (8, 24), (16, 0), (16, 16), (32, 0)];
    (prop::sample::select(places.to_vec()), 0u8..2, 0u8..2, any::<bool>()).prop_map(
        |((size, first), register, subregister, single_flow)| {
            let whole = size == 32;
            Geometry {
                size,
                first: if single_flow { 0 } else { first },
                flag: (register, if whole { 0 } else { subregister }),
                single_flow,
            }
        },
    )
}

/// Number of programs. `EU_CASES` sets it, for longer runs.
fn cases() -> u32 {
    std::env::var("EU_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn every_branch(program in programs(), geometry in geometries(), mask: u32, seed: i32) {
        let Geometry { size, first, single_flow, .. } = geometry;
        // Single program flow follows the first channel, which has to be enabled.
        let mask = (mask | u32::from(single_flow)) & (u32::MAX >> (32 - size));
        let start = |channel: u32| geometry.wrap(seed.wrapping_mul(31).wrapping_add(channel as i32 * 7));
        let mut expected: Vec<i32> = (0..size).map(start).collect();
        let mut interpreter = Interpreter { program: &program, geometry, fuel: 20_000 };
        let enabled: Vec<usize> = (0..size as usize).filter(|c| mask >> c & 1 == 1).collect();
        let groups: Vec<Vec<usize>> =
            if single_flow { vec![enabled] } else { enabled.into_iter().map(|c| vec![c]).collect() };
        for group in groups {
            let mut xs: Vec<i32> = group.iter().map(|c| expected[*c]).collect();
            interpreter.run(&program.main, &mut xs, None, None, true);
            for (c, x) in group.into_iter().zip(xs) {
                expected[c] = x;
            }
        }
        prop_assume!(interpreter.fuel > 0);
        let text = compile(&program, geometry);
        let launch = Launch {
            dispatch_mask: mask.checked_shl(first).unwrap_or(0),
            control: u32::from(single_flow) << 2,
            ..Launch::default()
        };
        let (_, bytes) = geometry.ty();
        let at = |channel: u32| (10 * 32 + channel * bytes) as usize;
        let result = play(&link(&text), &launch, |thread| {
            for channel in 0..size {
                match bytes {
                    2 => thread.regs.set_u16(at(channel), start(channel) as u16),
                    _ => thread.regs.set_u32(at(channel), start(channel) as u32),
                }
            }
        });
        let (thread, halt) = result.map_err(|fault| TestCaseError::fail(format!("{fault}\n{text}")))?;
        prop_assert_eq!(halt, Halt::End, "the program does not end within {} instructions\n{}", LIMIT, text);
        for channel in 0..size {
            let found = match bytes {
                2 => i32::from(thread.regs.u16(at(channel)) as i16),
                _ => thread.regs.u32(at(channel)) as i32,
            };
            prop_assert_eq!(found, expected[channel as usize], "channel {}\n{}", channel, text);
        }
        // All channels are active again.
        prop_assert_eq!(thread.active(), launch.dispatch_mask, "{}", text);
    }
}
