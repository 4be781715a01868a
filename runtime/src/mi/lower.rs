//! Converts expressions to packets.
//!
//! Steps of MI_MATH are collected and emitted as late as possible. Loads into registers that the
//! collected steps do not use are emitted before them, so that one packet holds a whole expression.

use super::MiError;
use super::emit::{Emit, MiEngine, MiPacket, Reference};
use super::gpr::{Gpr, Gprs};
use super::location::{Destination, Location, Offset, register, upper};
use super::node::{self, Binary, Flag, Kind, Link, Node};
use crate::batch::Access;
use crate::gen8::engine_registers::{CsGpr, MiPredicateResult, MiPredicateSrc0, MiPredicateSrc1};
use crate::gen8::mi::{
    MiCopyMemMem, MiLoadRegisterImm, MiLoadRegisterImmRegister, MiLoadRegisterMem,
    MiLoadRegisterReg, MiMath, MiMathAluInstruction, MiMathAluOpcode, MiMathOperand, MiPredicate,
    MiPredicateCombineOperation, MiPredicateCompareOperation as Compare, MiPredicateLoadOperation,
    MiStoreDataImm, MiStoreDataImmStoreQword, MiStoreRegisterMem,
};
use genxml_core::{Address, U};
use std::collections::HashMap;
use std::marker::PhantomData;

/// Largest number of steps in one MI_MATH. Sources disagree on the width of its length field, but
/// it has at least 6 bits.
const MAX_STEPS: usize = 64;

/// The state of one operation of a builder while it is converted to packets.
pub(super) struct Lower<'x, E: MiEngine, B: Emit<E>> {
    batch: &'x mut B,
    gprs: &'x Gprs,
    /// Steps of MI_MATH that are not emitted yet.
    steps: Vec<MiMathAluInstruction>,
    /// Mask of the general registers that these steps read or write.
    touched: u16,
    /// Number of further uses of each node.
    uses: HashMap<*const Node, u32>,
    /// Evaluated nodes that will be used again.
    done: HashMap<*const Node, Gpr>,
    engine: PhantomData<E>,
}

/// The source of a dword.
#[derive(Clone, Debug)]
enum Source {
    Immediate(u32),
    Memory(Location),
    /// A register, and the general register that it is part of, if any.
    Register(Offset, #[expect(dead_code, reason = "held, so that it stays in use")] Option<Gpr>),
}

/// The destination of a dword.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    Memory(Location),
    Register(Offset),
}

/// A value that the ALU can load.
#[derive(Clone, Debug)]
enum Operand {
    Zero,
    Ones,
    Gpr { gpr: Gpr, inverted: bool },
}

impl Operand {
    fn invert(self) -> Self {
        match self {
            Operand::Zero => Operand::Ones,
            Operand::Ones => Operand::Zero,
            Operand::Gpr { gpr, inverted } => Operand::Gpr { gpr, inverted: !inverted },
        }
    }

    fn bit(&self) -> u16 {
        match self {
            Operand::Gpr { gpr, .. } => gpr.bit(),
            _ => 0,
        }
    }

    fn load(&self, source: MiMathOperand) -> MiMathAluInstruction {
        let (alu_opcode, operand_2) = match self {
            Operand::Zero => (MiMathAluOpcode::LOAD0, MiMathOperand::default()),
            Operand::Ones => (MiMathAluOpcode::LOAD1, MiMathOperand::default()),
            Operand::Gpr { gpr, inverted: false } => (MiMathAluOpcode::LOAD, number(gpr)),
            Operand::Gpr { gpr, inverted: true } => (MiMathAluOpcode::LOADINV, number(gpr)),
        };
        MiMathAluInstruction { alu_opcode, operand_1: source, operand_2 }
    }
}

fn number(gpr: &Gpr) -> MiMathOperand {
    MiMathOperand::from_bits(gpr.index().into())
}

/// The output of a step of arithmetic.
#[derive(Clone, Debug)]
struct Outcome {
    what: MiMathOperand,
    inverted: bool,
    /// The destination; `None` for a free register.
    to: Option<Gpr>,
}

impl<'x, E: MiEngine, B: Emit<E>> Lower<'x, E, B> {
    pub fn new(batch: &'x mut B, gprs: &'x Gprs) -> Self {
        Lower {
            batch,
            gprs,
            steps: Vec::new(),
            touched: 0,
            uses: HashMap::new(),
            done: HashMap::new(),
            engine: PhantomData,
        }
    }

    /// Counts the uses of an expression's nodes, before any is evaluated.
    pub fn want(&mut self, node: &Link) {
        // The ALU can load an operand inverted, so the node below the inversion is used.
        let node = peel(node).0;
        let uses = self.uses.entry(std::ptr::from_ref(&**node)).or_insert(0);
        *uses += 1;
        if *uses == 1 {
            node.links().for_each(|link| self.want(link));
        }
    }

    /// Stores an expression.
    pub fn store(
        &mut self,
        destination: &Destination,
        wide: bool,
        node: &Link,
    ) -> Result<(), MiError> {
        self.want(node);
        if let Destination::Gpr(gpr) = destination {
            self.check(gpr)?;
            if node.calculated() {
                self.evaluate(node, Some(gpr.clone()))?;
                return self.flush();
            }
        }
        let (low, high) = self.halves(node)?;
        let (to_low, to_high) = self.to(destination, wide)?;
        self.put_both(to_low, to_high, low, high)?;
        self.flush()
    }

    /// Sets the predicate to a condition, a mask of all ones or zero. `want` must have counted the
    /// uses of the mask's nodes.
    pub fn predicate(&mut self, mask: &Link) -> Result<(), MiError> {
        let (below, inverted) = peel(mask);
        let compare_operation = match &below.kind {
            Kind::Const(0) => Compare::FALSE,
            Kind::Const(_) => Compare::TRUE,
            Kind::Flag(Flag::Equal, a, b) if !self.wanted_again(below) => {
                let one = register::<MiPredicateSrc0>(E::BASE, 0)?.mmio();
                let two = register::<MiPredicateSrc1>(E::BASE, 0)?.mmio();
                let (first, second) = (self.halves(a)?, self.halves(b)?);
                self.put_both(
                    To::Register(one),
                    Some(To::Register(upper(one)?)),
                    first.0,
                    first.1,
                )?;
                self.put_both(
                    To::Register(two),
                    Some(To::Register(upper(two)?)),
                    second.0,
                    second.1,
                )?;
                self.flush()?;
                Compare::SRCS_EQUAL
            }
            _ => {
                let to = register::<MiPredicateResult>(E::BASE, 0)?.mmio();
                // The uses of the mask's nodes are counted already. The bit is a new node, and is
                // used once.
                let bit = node::bit(mask);
                let (low, _) = self.halves(&bit)?;
                self.put(To::Register(to), &low, false)?;
                return self.flush();
            }
        };
        let packet = MiPredicate {
            load_operation: match inverted {
                true => MiPredicateLoadOperation::LOADINV,
                false => MiPredicateLoadOperation::LOAD,
            },
            combine_operation: MiPredicateCombineOperation::SET,
            compare_operation,
        };
        self.emit(&MiPacket::Predicate(packet), None)
    }

    /// Stores an expression in memory if the predicate is set. `want` must have counted the uses of
    /// its nodes.
    pub fn store_predicated(
        &mut self,
        to: Location,
        wide: bool,
        node: &Link,
    ) -> Result<(), MiError> {
        // Only registers can be stored with a predicate.
        let (low, high) = match self.halves(node)? {
            (low @ Source::Register(..), high @ Source::Register(..)) => (low, high),
            (low @ Source::Register(..), _) if !wide => (low, Source::Immediate(0)),
            (low, high) => {
                let gpr = self.fresh()?;
                self.fill(&gpr, low, high)?;
                self.sources(&gpr)?
            }
        };
        self.put(To::Memory(to), &low, true)?;
        if wide {
            self.put(To::Memory(to.after(4)?), &high, true)?;
        }
        self.flush()
    }

    /// Evaluates an expression into a register of its own: `gpr`, or a free one.
    pub fn keep(&mut self, node: &Link, gpr: Option<Gpr>) -> Result<Gpr, MiError> {
        self.want(node);
        let gpr = self.evaluate(node, gpr)?;
        self.flush()?;
        Ok(gpr)
    }

    /// Evaluates expressions into these registers.
    pub fn keep_all(&mut self, pairs: &[(&Link, Gpr)]) -> Result<(), MiError> {
        pairs.iter().for_each(|(node, _)| self.want(node));
        for (node, gpr) in pairs {
            if self.wanted_again(node) {
                let shared = self.gpr(node)?;
                let (low, high) = self.sources(&shared)?;
                self.fill(gpr, low, high)?;
            } else {
                self.evaluate(node, Some(gpr.clone()))?;
            }
        }
        self.flush()
    }

    fn emit(
        &mut self,
        packet: &MiPacket<'_>,
        references: impl IntoIterator<Item = Reference>,
    ) -> Result<(), MiError> {
        Ok(E::emit(self.batch, packet, references)?)
    }

    fn check(&self, gpr: &Gpr) -> Result<(), MiError> {
        if gpr.belongs_to(self.gprs) {
            Ok(())
        } else {
            Err(MiError::Foreign { index: gpr.index() })
        }
    }

    /// The destinations of the halves of a value; `None` if the upper half is not stored.
    fn to(&self, destination: &Destination, wide: bool) -> Result<(To, Option<To>), MiError> {
        Ok(match destination {
            Destination::Memory(location) => {
                let high = if wide { Some(To::Memory(location.after(4)?)) } else { None };
                (To::Memory(*location), high)
            }
            Destination::Register(offset) => {
                self.not_managed(*offset)?;
                let high = if wide { Some(upper(*offset)?) } else { None };
                high.map_or(Ok(()), |high| self.not_managed(high))?;
                (To::Register(*offset), high.map(To::Register))
            }
            Destination::Gpr(gpr) => {
                let low = self.offset(gpr)?;
                (To::Register(low), Some(To::Register(upper(low)?)))
            }
        })
    }

    /// Byte offset of a general register.
    fn offset(&self, gpr: &Gpr) -> Result<Offset, MiError> {
        let missing = MiError::NoSuchRegister { name: CsGpr::NAME, index: gpr.index() };
        let offset = CsGpr::offset(E::BASE, gpr.index()).ok_or(missing)?;
        Address::new(offset.into()).map_err(MiError::range("a general register's offset"))
    }

    /// Number of the general register that contains the register dword at this offset.
    fn index(offset: Offset) -> Option<u32> {
        let holds = |index: &u32| {
            let low = CsGpr::offset(E::BASE, *index).map(u64::from);
            low.is_some_and(|low| (low..low + 8).contains(&offset.get()))
        };
        (0..CsGpr::COUNT).find(holds)
    }

    fn not_managed(&self, offset: Offset) -> Result<(), MiError> {
        match Self::index(offset) {
            Some(index) => Err(MiError::Managed { offset: offset.get() as u32, index }),
            None => Ok(()),
        }
    }

    /// A free register for a load, if possible one that no waiting step uses.
    fn fresh(&mut self) -> Result<Gpr, MiError> {
        self.gprs.any(self.touched)
    }

    fn sources(&self, gpr: &Gpr) -> Result<(Source, Source), MiError> {
        let low = self.offset(gpr)?;
        let hold = || Some(gpr.clone());
        Ok((Source::Register(low, hold()), Source::Register(upper(low)?, hold())))
    }

    /// The sources of the halves of an expression. Evaluates what MI_MATH has to calculate.
    fn halves(&mut self, node: &Link) -> Result<(Source, Source), MiError> {
        // A value that is used again is read once, into a general register.
        let constant = matches!(node.kind, Kind::Const(_) | Kind::Failed(_));
        if node.calculated()
            || matches!(node.kind, Kind::Gpr(_))
            || !constant && self.wanted_again(node)
        {
            let gpr = self.gpr(node)?;
            return self.sources(&gpr);
        }
        self.parts(node)
    }

    /// As [`halves`](Self::halves), for expressions that do not need MI_MATH.
    fn parts(&mut self, node: &Link) -> Result<(Source, Source), MiError> {
        let zero = Source::Immediate(0);
        Ok(match &node.kind {
            Kind::Const(value) => {
                (Source::Immediate(*value as u32), Source::Immediate((*value >> 32) as u32))
            }
            Kind::Memory { location, wide } => {
                let high = if *wide { Source::Memory(location.after(4)?) } else { zero };
                (Source::Memory(*location), high)
            }
            Kind::Register { offset, wide } => {
                self.not_managed(*offset)?;
                let high = if *wide { Some(upper(*offset)?) } else { None };
                high.map_or(Ok(()), |high| self.not_managed(high))?;
                let low = Source::Register(*offset, None);
                (low, high.map_or(zero, |high| Source::Register(high, None)))
            }
            Kind::Low(x) => (self.halves(x)?.0, zero),
            Kind::High(x) => (self.halves(x)?.1, zero),
            Kind::Raise(x) => (zero, self.halves(x)?.0),
            Kind::Join(low, high) if low.need >= high.need => {
                let low = self.halves(low)?.0;
                (low, self.halves(high)?.0)
            }
            Kind::Join(low, high) => {
                let high = self.halves(high)?.0;
                (self.halves(low)?.0, high)
            }
            Kind::Failed(error) => return Err(error.clone()),
            Kind::Gpr(_) | Kind::Not(_) | Kind::Binary(..) | Kind::Shift(..) | Kind::Flag(..) => {
                let gpr = self.gpr(node)?;
                self.sources(&gpr)?
            }
        })
    }

    /// The general register that holds an expression, evaluated now or before.
    fn gpr(&mut self, node: &Link) -> Result<Gpr, MiError> {
        if let Kind::Gpr(gpr) = &node.kind {
            self.check(gpr)?;
            return Ok(gpr.clone());
        }
        let key = std::ptr::from_ref(&**node);
        let gpr = match self.done.get(&key) {
            Some(gpr) => gpr.clone(),
            None => self.evaluate(node, None)?,
        };
        let uses = self.uses.entry(key).or_insert(0);
        *uses = uses.saturating_sub(1);
        if *uses > 0 {
            self.done.insert(key, gpr.clone());
        } else {
            self.done.remove(&key);
        }
        Ok(gpr)
    }

    /// Evaluates an expression into `to`, or into a free register.
    fn evaluate(&mut self, node: &Link, to: Option<Gpr>) -> Result<Gpr, MiError> {
        let accumulator = |inverted, to| Outcome { what: MiMathOperand::ACCU, inverted, to };
        let (below, inverted) = peel(node);
        match &below.kind {
            _ if inverted && (!below.calculated() || self.wanted_again(below)) => {
                let operand = self.operand(node)?;
                self.step(MiMathAluOpcode::OR, operand, Operand::Zero, accumulator(false, to))
            }
            Kind::Binary(op, a, b) => {
                let (a, b) = self.operands(a, b)?;
                let op = match op {
                    Binary::Add => MiMathAluOpcode::ADD,
                    Binary::Sub => MiMathAluOpcode::SUB,
                    Binary::And => MiMathAluOpcode::AND,
                    Binary::Or => MiMathAluOpcode::OR,
                    Binary::Xor => MiMathAluOpcode::XOR,
                };
                self.step(op, a, b, accumulator(inverted, to))
            }
            Kind::Flag(flag, a, b) => {
                let (a, b) = self.operands(a, b)?;
                let (op, what) = match flag {
                    Flag::Equal => (MiMathAluOpcode::SUB, MiMathOperand::ZF),
                    Flag::Less => (MiMathAluOpcode::SUB, MiMathOperand::CF),
                    Flag::Carry => (MiMathAluOpcode::ADD, MiMathOperand::CF),
                };
                self.step(op, a, b, Outcome { what, inverted, to })
            }
            Kind::Shift(x, by) => {
                let mut x = self.operand(x)?;
                for _ in 1..*by {
                    let twice = x.clone();
                    let gpr =
                        self.step(MiMathAluOpcode::ADD, x, twice, accumulator(false, None))?;
                    x = Operand::Gpr { gpr, inverted: false };
                }
                let twice = x.clone();
                self.step(MiMathAluOpcode::ADD, x, twice, accumulator(inverted, to))
            }
            _ => {
                let (low, high) = self.parts(node)?;
                let gpr = to.map_or_else(|| self.fresh(), Ok)?;
                self.fill(&gpr, low, high)?;
                Ok(gpr)
            }
        }
    }

    /// True if a node is already evaluated, or has more than one further use.
    fn wanted_again(&self, node: &Link) -> bool {
        let key = std::ptr::from_ref(&**node);
        self.done.contains_key(&key) || self.uses.get(&key).is_some_and(|uses| *uses > 1)
    }

    fn operands(&mut self, a: &Link, b: &Link) -> Result<(Operand, Operand), MiError> {
        // The operand that needs more registers is evaluated first, while more registers are free.
        if a.need >= b.need {
            let a = self.operand(a)?;
            Ok((a, self.operand(b)?))
        } else {
            let b = self.operand(b)?;
            Ok((self.operand(a)?, b))
        }
    }

    fn operand(&mut self, node: &Link) -> Result<Operand, MiError> {
        let (node, inverted) = peel(node);
        let operand = match node.kind {
            Kind::Const(0) => Operand::Zero,
            Kind::Const(u64::MAX) => Operand::Ones,
            _ => Operand::Gpr { gpr: self.gpr(node)?, inverted: false },
        };
        Ok(if inverted { operand.invert() } else { operand })
    }

    /// One operation of the ALU: two loads, the operation and a store.
    fn step(
        &mut self,
        alu_opcode: MiMathAluOpcode,
        a: Operand,
        b: Operand,
        outcome: Outcome,
    ) -> Result<Gpr, MiError> {
        if self.steps.len() + 4 > MAX_STEPS {
            self.flush()?;
        }
        let (load_a, load_b) = (a.load(MiMathOperand::SRCA), b.load(MiMathOperand::SRCB));
        self.touched |= a.bit() | b.bit();
        // An operand without further uses frees its register for the result.
        drop((a, b));
        let to = match outcome.to {
            Some(gpr) => gpr,
            None => self.gprs.any(!self.touched)?,
        };
        self.touched |= to.bit();
        let store =
            if outcome.inverted { MiMathAluOpcode::STOREINV } else { MiMathAluOpcode::STORE };
        self.steps.extend([
            load_a,
            load_b,
            MiMathAluInstruction { alu_opcode, ..MiMathAluInstruction::new() },
            MiMathAluInstruction {
                alu_opcode: store,
                operand_1: number(&to),
                operand_2: outcome.what,
            },
        ]);
        Ok(to)
    }

    /// Emits the waiting steps.
    fn flush(&mut self) -> Result<(), MiError> {
        if !self.steps.is_empty() {
            let math = MiMath { instruction: self.steps.as_slice().into() };
            E::emit(self.batch, &MiPacket::Math(math), None)?;
            self.steps.clear();
            self.touched = 0;
        }
        Ok(())
    }

    /// Loads a general register.
    fn fill(&mut self, gpr: &Gpr, low: Source, high: Source) -> Result<(), MiError> {
        let offset = self.offset(gpr)?;
        self.put_both(To::Register(offset), Some(To::Register(upper(offset)?)), low, high)
    }

    /// Moves both halves of a value, or only the lower one.
    fn put_both(
        &mut self,
        to_low: To,
        to_high: Option<To>,
        low: Source,
        high: Source,
    ) -> Result<(), MiError> {
        let Some(to_high) = to_high else { return self.put(to_low, &low, false) };
        if let (Source::Immediate(low), Source::Immediate(high)) = (&low, &high) {
            return self.put_immediate(to_low, to_high, *low, *high);
        }
        // A half must not be overwritten before it is read.
        match (is_at(&high, to_low), is_at(&low, to_high)) {
            (false, _) => {
                self.put(to_low, &low, false)?;
                self.put(to_high, &high, false)
            }
            (true, false) => {
                self.put(to_high, &high, false)?;
                self.put(to_low, &low, false)
            }
            (true, true) => {
                let gpr = self.fresh()?;
                self.fill(&gpr, low, high)?;
                let (low, high) = self.sources(&gpr)?;
                self.put(to_low, &low, false)?;
                self.put(to_high, &high, false)
            }
        }
    }

    /// Moves a constant of 64 bits, with one packet if possible.
    fn put_immediate(
        &mut self,
        to_low: To,
        to_high: To,
        low: u32,
        high: u32,
    ) -> Result<(), MiError> {
        match (to_low, to_high) {
            (To::Register(one), To::Register(two)) => {
                self.before(&[one, two])?;
                let pair = |register_offset, data: u32| MiLoadRegisterImmRegister {
                    register_offset,
                    data_dword: U::from_bits(data.into()),
                };
                let pairs = [pair(one, low), pair(two, high)];
                let load =
                    MiLoadRegisterImm { register: (&pairs).into(), ..MiLoadRegisterImm::new() };
                self.emit(&MiPacket::LoadRegisterImm(load), None)?;
            }
            (To::Memory(to), _) if to.address.va48().is_multiple_of(8) => {
                let data = [U::from_bits(low.into()), U::from_bits(high.into())];
                let store = MiStoreDataImm {
                    store_qword: MiStoreDataImmStoreQword::STORE_QWORD,
                    data_dword: (&data).into(),
                    ..MiStoreDataImm::new(to.address)
                };
                self.emit(&MiPacket::StoreDataImm(store), to.reference(Access::Write))?;
            }
            _ => {
                self.put(to_low, &Source::Immediate(low), false)?;
                self.put(to_high, &Source::Immediate(high), false)?;
            }
        }
        Ok(())
    }

    /// Moves one dword. Only a move from a register to memory can be predicated.
    fn put(&mut self, to: To, from: &Source, predicate_enable: bool) -> Result<(), MiError> {
        if is_at(from, to) {
            return Ok(());
        }
        match (to, from) {
            (To::Memory(to), Source::Immediate(value)) => {
                let data = [U::from_bits((*value).into())];
                let store = MiStoreDataImm {
                    data_dword: (&data).into(),
                    ..MiStoreDataImm::new(to.address)
                };
                self.emit(&MiPacket::StoreDataImm(store), to.reference(Access::Write))?;
            }
            (To::Memory(destination), Source::Memory(source)) => {
                let copy = MiCopyMemMem {
                    destination_memory_address: destination.address,
                    source_memory_address: source.address,
                    ..MiCopyMemMem::new()
                };
                let references =
                    [destination.reference(Access::Write), source.reference(Access::Read)];
                self.emit(&MiPacket::CopyMemMem(copy), references.into_iter().flatten())?;
            }
            (To::Memory(to), Source::Register(offset, _)) => {
                self.before(&[*offset])?;
                let store = MiStoreRegisterMem {
                    predicate_enable,
                    register_address: *offset,
                    memory_address: to.address,
                    ..MiStoreRegisterMem::new()
                };
                self.emit(&MiPacket::StoreRegisterMem(store), to.reference(Access::Write))?;
            }
            (To::Register(offset), Source::Immediate(value)) => {
                self.before(&[offset])?;
                let pairs = [MiLoadRegisterImmRegister {
                    register_offset: offset,
                    data_dword: U::from_bits((*value).into()),
                }];
                let load =
                    MiLoadRegisterImm { register: (&pairs).into(), ..MiLoadRegisterImm::new() };
                self.emit(&MiPacket::LoadRegisterImm(load), None)?;
            }
            (To::Register(register_address), Source::Memory(from)) => {
                self.before(&[register_address])?;
                let load = MiLoadRegisterMem {
                    register_address,
                    memory_address: from.address,
                    ..MiLoadRegisterMem::new()
                };
                self.emit(&MiPacket::LoadRegisterMem(load), from.reference(Access::Read))?;
            }
            (To::Register(destination), Source::Register(source, _)) => {
                self.before(&[destination, *source])?;
                let load = MiLoadRegisterReg {
                    source_register_address: *source,
                    destination_register_address: destination,
                };
                self.emit(&MiPacket::LoadRegisterReg(load), None)?;
            }
        }
        Ok(())
    }

    /// Emits the waiting steps if they use one of these registers, which the next packet reads or
    /// writes.
    fn before(&mut self, registers: &[Offset]) -> Result<(), MiError> {
        let waiting = |offset: &Offset| {
            Self::index(*offset).is_some_and(|index| self.touched >> index & 1 != 0)
        };
        if registers.iter().any(waiting) { self.flush() } else { Ok(()) }
    }
}

/// The node below all inversions, and whether the number of inversions is odd.
fn peel(node: &Link) -> (&Link, bool) {
    match &node.kind {
        Kind::Not(below) => {
            let (below, inverted) = peel(below);
            (below, !inverted)
        }
        _ => (node, false),
    }
}

/// True if a dword is already at its destination.
fn is_at(source: &Source, to: To) -> bool {
    match source {
        Source::Immediate(_) => false,
        Source::Memory(address) => to == To::Memory(*address),
        Source::Register(offset, _) => to == To::Register(*offset),
    }
}
