//! Control flow of structured programs. Oracle: a small interpreter of the program's source, which
//! executes one channel at a time. Distances follow the linking rules of compilers (eu.md 4.3).

use crate::eu::support::{alu, grf, immediate, read, run, write};
use DataType::D;
use genxml_eu::instruction::{
    Branch, Condition, DataType, Destination, Flag, Instruction, Operand, Predicate,
    PredicateControl, Register,
};
use genxml_eu::ops::Opcode;
use genxml_sim::Fault;
use proptest::prelude::*;

/// A statement. Every channel has a variable x (r10), and a counter y for each loop.
#[derive(Clone, Debug)]
enum Statement {
    /// x = x * 3 + n
    Step(i32),
    /// if (x & mask) == 0 { .. } else { .. }
    If(i32, Vec<Statement>, Option<Vec<Statement>>),
    /// y = 0; do { ..; y += 1 } while y < n. Each level of loops has its own y (r24, r28, ...).
    Loop(i32, Vec<Statement>),
    /// if (x & mask) == 0 leave the loop (`Break`) or start its next round (`Continue`)
    Break(i32),
    Continue(i32),
}

const SIZE: u8 = 16;

struct Compiler {
    code: Vec<Instruction>,
    /// Branches whose targets are not known yet: index of the instruction, true for UIP, label.
    open: Vec<(usize, bool, usize)>,
    labels: Vec<usize>,
    depth: u8,
}

impl Compiler {
    fn label(&mut self) -> usize {
        self.labels.push(usize::MAX);
        self.labels.len() - 1
    }

    fn place(&mut self, label: usize) {
        self.labels[label] = self.code.len();
    }

    fn branch(&mut self, opcode: Opcode, predicate: Option<bool>, jip: usize, uip: Option<usize>) {
        self.open.push((self.code.len(), false, jip));
        self.open.extend(uip.map(|uip| (self.code.len(), true, uip)));
        self.code.push(Instruction {
            predicate: predicate
                .map(|inverse| Predicate { control: PredicateControl::Sequential, inverse }),
            branch: Some(Branch { jip: 0, uip: uip.map(|_| 0) }),
            ..Instruction::new(opcode, SIZE)
        });
    }

    /// Sets the flag of each channel to (x & mask) == 0.
    fn test(&mut self, mask: i32) {
        self.code.push(Instruction {
            condition: Some(Condition::Equal),
            destination: Some(Destination::new(Register::NULL, D)),
            ..alu(Opcode::And, SIZE, D, 0, &[grf(10, D, SIZE), immediate(D, mask as u32 as u64)])
        });
    }

    /// Compiles statements. `end` is the label of the end of the enclosing block, `innermost` that
    /// of the `while` of the enclosing loop.
    fn statements(&mut self, statements: &[Statement], end: usize, innermost: Option<usize>) {
        for statement in statements {
            match statement {
                Statement::Step(n) => {
                    self.code.push(alu(
                        Opcode::Mul,
                        SIZE,
                        D,
                        10,
                        &[grf(10, D, SIZE), immediate(D, 3)],
                    ));
                    let n = immediate(D, *n as u32 as u64);
                    self.code.push(alu(Opcode::Add, SIZE, D, 10, &[grf(10, D, SIZE), n]));
                }
                Statement::If(mask, then, otherwise) => {
                    let (behind_else, endif) = (self.label(), self.label());
                    self.test(*mask);
                    match otherwise {
                        None => {
                            self.branch(Opcode::If, Some(false), endif, Some(endif));
                            self.statements(then, endif, innermost);
                        }
                        Some(otherwise) => {
                            let start = self.label();
                            self.branch(Opcode::If, Some(false), behind_else, Some(endif));
                            self.statements(then, start, innermost);
                            self.place(start);
                            self.branch(Opcode::Else, None, endif, Some(endif));
                            self.place(behind_else);
                            self.statements(otherwise, endif, innermost);
                        }
                    }
                    self.place(endif);
                    self.branch(Opcode::Endif, None, end, None);
                }
                Statement::Loop(count, body) => {
                    self.depth += 1;
                    let variable = 20 + 4 * self.depth;
                    let (top, bottom) = (self.label(), self.label());
                    self.code.push(alu(Opcode::Mov, SIZE, D, variable, &[immediate(D, 0)]));
                    self.place(top);
                    // The round is counted first, so that it also counts for channels that execute
                    // `cont`. After the last round, channels leave the loop here.
                    let one = immediate(D, 1);
                    self.code.push(alu(
                        Opcode::Add,
                        SIZE,
                        D,
                        variable,
                        &[grf(variable, D, SIZE), one],
                    ));
                    self.code.push(Instruction {
                        condition: Some(Condition::Greater),
                        destination: Some(Destination::new(Register::NULL, D)),
                        ..alu(
                            Opcode::Cmp,
                            SIZE,
                            D,
                            0,
                            &[grf(variable, D, SIZE), immediate(D, *count as u32 as u64)],
                        )
                    });
                    self.branch(Opcode::Break, Some(false), bottom, Some(bottom));
                    self.statements(body, bottom, Some(bottom));
                    self.place(bottom);
                    self.branch(Opcode::While, None, top, None);
                    self.depth -= 1;
                }
                Statement::Break(mask) | Statement::Continue(mask) => {
                    if let Some(bottom) = innermost {
                        self.test(*mask);
                        let opcode = if matches!(statement, Statement::Break(_)) {
                            Opcode::Break
                        } else {
                            Opcode::Cont
                        };
                        self.branch(opcode, Some(false), end, Some(bottom));
                    }
                }
            }
        }
    }
}

fn compile(program: &[Statement]) -> Vec<Instruction> {
    let mut compiler =
        Compiler { code: Vec::new(), open: Vec::new(), labels: Vec::new(), depth: 0 };
    let end = compiler.label();
    compiler.statements(program, end, None);
    compiler.place(end);
    for (at, second, label) in compiler.open {
        let distance = (compiler.labels[label] as i32 - at as i32) * 16;
        let branch = compiler.code[at].branch.as_mut().unwrap();
        if second {
            branch.uip = Some(distance);
        } else {
            branch.jip = distance;
        }
    }
    compiler.code
}

#[derive(PartialEq)]
enum Next {
    On,
    Break,
    Continue,
}

/// Executes the program for one channel.
fn interpret(statements: &[Statement], x: &mut i32, in_loop: bool) -> Next {
    for statement in statements {
        match statement {
            Statement::Step(n) => *x = x.wrapping_mul(3).wrapping_add(*n),
            Statement::If(mask, then, otherwise) => {
                let branch = if *x & mask == 0 { Some(then) } else { otherwise.as_ref() };
                let next = branch.map_or(Next::On, |branch| interpret(branch, x, in_loop));
                if next != Next::On {
                    return next;
                }
            }
            Statement::Loop(count, body) => {
                for _ in 0..*count {
                    if interpret(body, x, true) == Next::Break {
                        break;
                    }
                }
            }
            Statement::Break(mask) if in_loop && *x & mask == 0 => return Next::Break,
            Statement::Continue(mask) if in_loop && *x & mask == 0 => return Next::Continue,
            Statement::Break(_) | Statement::Continue(_) => {}
        }
    }
    Next::On
}

fn programs() -> impl Strategy<Value = Vec<Statement>> {
    let leaf = prop_oneof![
        3 => (-9i32..9).prop_map(Statement::Step),
        1 => (1i32..8).prop_map(Statement::Break),
        1 => (1i32..8).prop_map(Statement::Continue),
    ];
    let statement = leaf.prop_recursive(4, 24, 4, |inner| {
        let block = prop::collection::vec(inner, 1..4);
        prop_oneof![
            (1i32..8, block.clone(), prop::option::of(block.clone()))
                .prop_map(|(mask, then, otherwise)| Statement::If(mask, then, otherwise)),
            (1i32..5, block).prop_map(|(count, body)| Statement::Loop(count, body)),
        ]
    });
    prop::collection::vec(statement, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn structured_programs(program in programs(), mask: u16, seed: i32) {
        let code = compile(&program);
        let start = |channel: usize| seed.wrapping_mul(31).wrapping_add(channel as i32 * 7);
        let thread = run(&code, mask.into(), |thread| {
            for channel in 0..16 {
                write(thread, 10 + channel / 8, channel % 8 * 4, 4, start(channel) as u32 as u64);
            }
        });
        let thread = thread.map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        for channel in 0..16 {
            let mut x = start(channel);
            if mask >> channel & 1 == 1 {
                interpret(&program, &mut x, false);
            }
            let found = read(&thread, 10 + channel / 8, channel % 8 * 4, 4) as i32;
            prop_assert_eq!(found, x, "channel {}", channel);
        }
    }
}

/// Oracle: 001:21868-21872, jmpi over one instruction; a jump back by its own length is an endless
/// loop.
#[test]
fn jumps() {
    let jump = |distance| Instruction {
        no_mask: true,
        branch: Some(Branch { jip: distance, uip: None }),
        ..Instruction::new(Opcode::Jmpi, 1)
    };
    let set = |n: u64| alu(Opcode::Mov, 1, D, 50, &[immediate(D, n)]);
    let thread = run(&[set(1), jump(32), set(2)], u32::MAX, |_| {}).unwrap();
    assert_eq!(read(&thread, 50, 0, 4), 1);
    assert!(matches!(run(&[jump(0)], u32::MAX, |_| {}), Err(Fault::Hang { .. })));
}

/// Oracle: 003:14449-14746, if/else/endif: channels that differ in the condition take different
/// sides.
#[test]
fn if_else_endif() {
    let body = [
        Instruction {
            condition: Some(Condition::Equal),
            destination: Some(Destination::new(Register::NULL, D)),
            flag: Flag { register: 0, subregister: 1 },
            ..alu(Opcode::Cmp, 8, D, 0, &[grf(10, D, 8), immediate(D, 4)])
        },
        Instruction {
            predicate: Some(Predicate { control: PredicateControl::Sequential, inverse: false }),
            flag: Flag { register: 0, subregister: 1 },
            branch: Some(Branch { jip: 48, uip: Some(64) }),
            ..Instruction::new(Opcode::If, 8)
        },
        alu(Opcode::Mov, 8, D, 50, &[immediate(D, 1)]),
        Instruction {
            branch: Some(Branch { jip: 32, uip: Some(32) }),
            ..Instruction::new(Opcode::Else, 8)
        },
        alu(Opcode::Mov, 8, D, 50, &[immediate(D, 2)]),
        Instruction {
            branch: Some(Branch { jip: 16, uip: None }),
            ..Instruction::new(Opcode::Endif, 8)
        },
        alu(
            Opcode::Add,
            8,
            D,
            50,
            &[
                grf(50, D, 8),
                Operand::Immediate(genxml_eu::instruction::Immediate { ty: DataType::W, bits: 10 }),
            ],
        ),
    ];
    for values in [[4; 8], [5; 8], [4, 5, 4, 5, 5, 5, 4, 4]] {
        let thread = run(&body, 0xff, |thread| {
            for (channel, value) in values.iter().enumerate() {
                write(thread, 10, 4 * channel, 4, *value);
            }
        })
        .unwrap();
        for (channel, value) in values.iter().enumerate() {
            let expected = if *value == 4 { 11 } else { 12 };
            assert_eq!(read(&thread, 50, 4 * channel, 4), expected, "{values:?} channel {channel}");
        }
    }
}

/// Oracle: kernels of a video driver (vp8_tpu_genx_0) call with sixteen channels and the return
/// address in the last register: only its first two elements are written (2a call). Where no
/// channel returns, the return address is not used.
#[test]
fn calls_write_two_elements() {
    let at = |byte| Register::Grf { number: 126, byte };
    let call = Instruction {
        destination: Some(Destination::new(at(16), DataType::Ud)),
        branch: Some(Branch { jip: 32, uip: None }),
        ..Instruction::new(Opcode::Call, 16)
    };
    let never = Instruction {
        predicate: Some(Predicate { control: PredicateControl::Sequential, inverse: false }),
        sources: [grf(90, D, 2), Operand::None, Operand::None],
        ..Instruction::new(Opcode::Ret, 16)
    };
    let step = |register| alu(Opcode::Add, 8, D, register, &[grf(register, D, 8), immediate(D, 1)]);
    let body = [call, step(10), step(20), never];
    let thread = run(&body, u32::MAX, |thread| write(thread, 90, 0, 4, 0xdead_beef)).unwrap();
    assert_eq!(
        (read(&thread, 10, 0, 4), read(&thread, 20, 0, 4)),
        (0, 1),
        "the call must skip the first step"
    );
    assert_eq!(read(&thread, 126, 16, 4), 16, "the return address");
}
