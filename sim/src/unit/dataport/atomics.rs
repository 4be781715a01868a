//! Untyped atomic operations on integers and floats: on buffers and shared local memory, at 64-bit
//! addresses, and on the append counter of a surface (2d p.14-16, p.115; 2a p.293-355, p.411-431).

use super::outside;
use super::slots::{Range, Simd, Slots, whole_dwords};
use super::target::{self, Allowed};
use super::window::{Target, Window};
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::mem::PageFault;
use crate::surface::AuxiliaryKind;
use crate::unit::atomic::{self, Float, Width};
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml_eu::gen8::descriptors::MdcSm2r;
use genxml_eu::gen8::eu_messages::{MdcAop, Msd1A64Ai, Msd1A64AiDataWidth, Msd1Tac, Msd1Uai};
use genxml_eu::gen8::messages::MtDp1;

/// Layout of operands and responses in registers, from the tables of MDP_AOP* (2d p.124-130,
/// p.306-317).
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Distance between adjacent slots in bytes.
    slot: usize,
    /// Distance between the two operands of a slot in bytes.
    source: usize,
    /// Distance between the low and the high half of a 64-bit value in bytes.
    high: usize,
    /// Number of registers that hold one operand of all slots, and number of response registers.
    registers: usize,
}

impl Layout {
    /// Layout of dwords: MDP_AOP8_DW2 and MDP_AOP16_DW2. In MDP_AOP4X2_DW2, the two operands of a
    /// slot share a half register.
    const fn dwords(simd: Simd) -> Layout {
        let registers = simd.registers();
        match simd {
            Simd::Two => Layout { slot: REGISTER / 2, source: 4, high: 0, registers },
            _ => Layout { slot: 4, source: registers * REGISTER, high: 0, registers },
        }
    }

    /// Layout of the 64-bit operands of AOP_CMPWR_2W in messages on dwords. Low and high halves are
    /// in separate registers in MDP_AOP8_QW2 and MDP_AOP16_QW2, and adjacent in MDP_AOP4X2_QW2.
    const fn halves(simd: Simd) -> Layout {
        let registers = simd.registers();
        match simd {
            Simd::Two => Layout { slot: REGISTER / 2, source: 8, high: 4, registers },
            _ => {
                let high = registers * REGISTER;
                Layout { slot: 4, source: 2 * high, high, registers: 2 * registers }
            }
        }
    }

    /// Layout of qwords in messages with 64-bit addresses: MDP_A64_AOP8_QW2, MDP_A64_AOP4X2_QW2.
    const fn qwords(simd: Simd) -> Layout {
        let registers = simd.registers_of(8);
        Layout { slot: simd.stride(8), source: registers * REGISTER, high: 4, registers }
    }

    /// Number of registers that hold all operands. With two slots, one register holds both
    /// operands, unless the operands have the layout `qwords`.
    const fn sent(self, simd: Simd, sources: usize) -> usize {
        match simd {
            Simd::Two if self.source < REGISTER && sources > 0 => 1,
            _ => self.registers * sources,
        }
    }
}

/// An operation on integers or on floats.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Integer(MdcAop),
    /// An operation on single-precision floats.
    Float(Float),
}

impl Kind {
    /// Number of operands in the message.
    const fn sources(self) -> usize {
        match self {
            Kind::Integer(operation) => atomic::sources(operation),
            Kind::Float(operation) => operation.sources(),
        }
    }

    /// Returns the new contents of memory and the value for the response.
    fn operate(self, width: Width, old: u64, src0: u64, src1: u64) -> (u64, u64) {
        match self {
            Kind::Integer(operation) => atomic::operate(operation, width, old, src0, src1),
            Kind::Float(operation) => {
                (operation.operate(old as u32, src0 as u32, src1 as u32).into(), old)
            }
        }
    }
}

/// An operation, and the layout of its operands and response.
#[derive(Clone, Copy, Debug)]
struct Operation {
    kind: Kind,
    width: Width,
    layout: Layout,
    /// True if the message has a response.
    returns: bool,
}

impl Operation {
    /// Performs the operation for each active slot in order. Operands are read from byte `data` of
    /// the registers on. Results are written from byte `answer` on. Returns the number of bytes of
    /// memory that were read and written again.
    fn each(
        &self,
        window: &mut Window<'_, '_>,
        registers: &mut Registers,
        slots: &Slots,
        data: usize,
        answer: Option<usize>,
    ) -> Result<u64, PageFault> {
        let (layout, sources) = (self.layout, self.kind.sources());
        let mut bytes = 0;
        for slot in (0..slots.simd.count()).filter(|slot| slots.has(*slot)) {
            let place = data + slot * layout.slot;
            let source = |n: usize| match n < sources {
                true => self.operand(registers, place + n * layout.source),
                false => 0,
            };
            let (src0, src1) = (source(0), source(1));
            let (offset, end) = (slots.offsets[slot], slots.ends[slot]);
            // An element that crosses the end is out of bounds
            // (assumptions::BOUNDS_HOLD_FOR_WHOLE_ELEMENTS).
            let inside = offset < end && end - offset >= self.width.bytes();
            let mut returned = 0;
            if !inside {
                window.count_cut();
            } else {
                let low = u64::from(window.dword(offset, end)?);
                let old = match self.width {
                    Width::Dword => low,
                    Width::Qword => low | u64::from(window.dword(offset + 4, end)?) << 32,
                };
                let (new, back) = self.kind.operate(self.width, old, src0, src1);
                window.set_dword(offset, end, new as u32)?;
                if self.width == Width::Qword {
                    window.set_dword(offset + 4, end, (new >> 32) as u32)?;
                }
                returned = back;
                bytes += self.width.bytes();
            }
            if let Some(answer) = answer {
                let place = answer + slot * layout.slot;
                registers.set_u32(place, returned as u32);
                if self.width == Width::Qword {
                    registers.set_u32(place + layout.high, (returned >> 32) as u32);
                }
            }
        }
        Ok(bytes)
    }

    fn operand(&self, registers: &Registers, place: usize) -> u64 {
        let low = u64::from(registers.u32(place));
        match self.width {
            Width::Dword => low,
            Width::Qword => low | u64::from(registers.u32(place + self.layout.high)) << 32,
        }
    }
}

/// Checks the lengths of the message and runs the operation. Addresses take `addresses` registers.
fn run(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    payload: &Payload<'_>,
    target: Target,
    slots: &Slots,
    addresses: usize,
    operation: &Operation,
) -> Result<(), Fault> {
    let sent = operation.layout.sent(slots.simd, operation.kind.sources());
    let back = if operation.returns { operation.layout.registers } else { 0 };
    payload.check(port, addresses + sent, back)?;
    let answer = payload.answer().filter(|_| operation.returns);
    let data = payload.body + addresses * REGISTER;
    target::observe_atomic(port, target == Target::Local);
    let mut window = Window::new(target, &mut port.exec.vm, &mut port.local.slm);
    let outcome = operation.each(&mut window, registers, slots, data, answer);
    let cut = window.cut();
    outside::slots(port, cut, target, slots, operation.width.bytes(), true);
    match outcome {
        Ok(bytes) => {
            port.exec.stats.bytes_read += bytes;
            port.exec.stats.bytes_written += bytes;
            Ok(())
        }
        Err(fault) => Err(payload.page(port, fault)),
    }
}

/// Width and layout of an operation in a message on dwords. AOP_CMPWR_2W works on two dwords at
/// once.
fn short(kind: Kind, simd: Simd) -> (Width, Layout) {
    match kind {
        Kind::Integer(MdcAop::AOP_CMPWR_2W) => (Width::Qword, Layout::halves(simd)),
        _ => (Width::Dword, Layout::dwords(simd)),
    }
}

/// The operation of a message on integers or floats.
fn kind(
    port: &Port<'_, '_>,
    payload: &Payload<'_>,
    message_type: MtDp1,
    operation: MdcAop,
) -> Result<Kind, Fault> {
    match message_type {
        MtDp1::MT1A_UF | MtDp1::MT1A_UF4X2 | MtDp1::MT1A_A64_UF | MtDp1::MT1A_A64_UF4X2 => {
            let bits = operation.bits();
            let float = Float::from_bits(bits).map(Kind::Float);
            float.ok_or_else(|| payload.reserved(port, "Atomic Float Operation Type", bits))
        }
        _ => Ok(Kind::Integer(operation)),
    }
}

/// Untyped Atomic Integer or Float Operation on a buffer or shared local memory. The manual
/// describes the descriptor of integer messages. The descriptor of float messages has the same
/// fields (Mesa brw_eu.h).
pub(super) fn untyped(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd1Uai::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open(message, "an untyped atomic operation");
    let simd = match (descriptor.message_type, descriptor.simd_mode) {
        (MtDp1::MT1A_UI4X2 | MtDp1::MT1A_UF4X2, _) => Simd::Two,
        (_, MdcSm2r::SIMD8) => Simd::Eight,
        _ => Simd::Sixteen,
    };
    let kind =
        kind(port, &payload, descriptor.message_type, descriptor.atomic_integer_operation_type)?;
    let (pixels, header) = target::header_1(registers, payload.header);
    let mask = simd.active(message.mask, pixels);
    let index = descriptor.binding_table_index.get();
    let target = whole_dwords(target::buffer(port, &payload, index, Allowed::Any, header)?);
    let (width, layout) = short(kind, simd);
    let (mut addresses, mut slots) = (simd.registers(), None);
    if let Target::Structured { count, pitch, .. } = target {
        addresses *= if simd == Simd::Two { 1 } else { 2 };
        slots = Some(Slots::structured(simd, mask, registers, payload.body, count, pitch));
    }
    let slots = slots.unwrap_or_else(|| {
        let range = Range {
            align: width.bytes(),
            ..Range::dwords(target, target.bytes(port.local.slm.len()))
        };
        Slots::short(simd, mask, registers, payload.body, range)
    });
    let operation = Operation { kind, width, layout, returns: descriptor.return_data_control };
    run(port, registers, &payload, target, &slots, addresses, &operation)
}

/// A64 Untyped Atomic Integer Operation on dwords or qwords, or Float Operation on dwords.
pub(super) fn long(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd1A64Ai::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open(message, "an A64 untyped atomic operation");
    payload.forbidden(port)?;
    let simd = match descriptor.message_type {
        MtDp1::MT1A_A64_UI4X2 | MtDp1::MT1A_A64_UF4X2 => Simd::Two,
        _ => Simd::Eight,
    };
    let operation = descriptor.atomic_integer_operation_type;
    let wide = descriptor.data_width == Msd1A64AiDataWidth::QWORD;
    let kind = kind(port, &payload, descriptor.message_type, operation)?;
    match kind {
        // Only SIMD8 messages on dwords have AOP_CMPWR_2W. Other A64 messages have the other
        // operations of MDC_AOP3 (2a p.297, 309, 337, 349).
        Kind::Integer(MdcAop::AOP_CMPWR_2W) if wide || simd == Simd::Two => {
            return Err(payload.reserved(port, "Atomic Integer Operation Type", operation.bits()));
        }
        Kind::Float(_) if wide => {
            return Err(payload.reserved(port, "Data Width", descriptor.data_width.bits()));
        }
        _ => {}
    }
    let (width, layout) = match wide {
        true => (Width::Qword, Layout::qwords(simd)),
        false => short(kind, simd),
    };
    let mask = simd.active(message.mask, u32::MAX);
    let slots = Slots::long(simd, mask, registers, payload.body, width.bytes());
    let operation = Operation { kind, width, layout, returns: descriptor.return_data_control };
    run(port, registers, &payload, Target::EVERYTHING, &slots, simd.registers_of(8), &operation)
}

/// Atomic Counter Operation: all slots work on the append counter of the surface.
pub(super) fn counter(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd1Tac::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open(message, "an atomic counter operation");
    let header = payload.required(port)?;
    let simd = match (descriptor.message_type, descriptor.simd_mode) {
        (MtDp1::MT1A_TC4X2, _) => Simd::Two,
        (_, MdcSm2r::SIMD8) => Simd::Eight,
        // The encoding is MDC_SM2RS, in which 16 slots are not possible (2d p.467).
        (_, mode) => return Err(payload.reserved(port, "SIMD Mode", mode.bits())),
    };
    let operation = descriptor.atomic_integer_operation_type;
    if atomic::sources(operation) > 1 {
        return Err(payload.reserved(port, "Atomic Integer Operation Type", operation.bits()));
    }
    let (pixels, _) = target::header_1(registers, Some(header));
    let mask = simd.active(message.mask, pixels);
    let bound = target::surface(port, &payload, descriptor.binding_table_index.get())?;
    let auxiliary = bound.surface.auxiliary;
    if auxiliary.kind != AuxiliaryKind::Append {
        let why = format!(
            "{} on a surface without an append counter (Auxiliary Surface Mode)",
            payload.name
        );
        return Err(port.illegal(why, message));
    }
    let target = Target::Memory { base: auxiliary.base, size: Width::Dword.bytes() };
    let slots = Slots::all_at_once(simd, mask, Width::Dword.bytes());
    let kind = Kind::Integer(operation);
    let (width, layout) = short(kind, simd);
    let operation = Operation { kind, width, layout, returns: descriptor.return_data_control };
    run(port, registers, &payload, target, &slots, 0, &operation)
}
