//! Encodes instructions.

use crate::reach::{BOUNDS, Bounds, FIRST_BOUNDS, PAGE, PAGES, Page, READS, WRITES};
use crate::{LANES, MASK_LANES, ROW};

/// A vector register, ymm0 to ymm15.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reg(u8);

impl Reg {
    /// Number of registers.
    pub const COUNT: usize = 16;

    /// Register ymm`number`.
    ///
    /// # Panics
    /// If `number` is 16 or more.
    pub const fn new(number: u8) -> Reg {
        assert!((number as usize) < Reg::COUNT, "the number of a register is below 16");
        Reg(number)
    }

    /// Number of the register.
    pub const fn number(self) -> usize {
        self.0 as usize
    }
}

/// A memory operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// Byte offset in the block.
    Block(usize),
    /// First lane in the mask that the code is called with.
    Mask(usize),
    /// Distance in bytes from the position in the window ([`Assembler::seek`]).
    Window(usize),
    /// Distance in bytes from the position in a page ([`Assembler::seek_page`]).
    Page(usize),
}

/// The lanes that a load reads, or a store writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// Eight dwords.
    Dwords,
    /// One dword, for all lanes. A store writes lane 0.
    Dword,
    /// One byte, which a load copies to all 32 bytes of the register. A store writes the lowest byte.
    Byte,
    /// One word, which a load copies to all 16 words of the register. A store writes the lowest word.
    Word,
    /// Eight unsigned bytes. A store writes the lowest bytes of the lanes.
    Bytes,
    /// Eight signed bytes. Loads only.
    SignedBytes,
    /// Eight unsigned words. A store writes the low halves of the lanes.
    Words,
    /// Eight signed words. Loads only.
    SignedWords,
    /// Four unsigned dwords, which a load extends to 64 bits. Loads only.
    FourDwords,
    /// Four signed dwords, which a load extends to 64 bits. Loads only.
    FourSignedDwords,
    /// 64 bits, which a load copies to all four pairs of lanes. Loads only.
    Qword,
}

/// Instructions with one source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op2 {
    /// VCVTDQ2PS: signed integers to floats.
    ToFloat,
    /// VCVTTPS2DQ: floats to signed integers, truncated; 0x8000_0000 if out of range.
    Truncate,
    /// VROUNDPS toward the nearest integer, ties to even.
    RoundEven,
    /// VROUNDPS toward minus infinity.
    RoundDown,
    /// VROUNDPS toward plus infinity.
    RoundUp,
    /// VROUNDPS toward zero.
    RoundZero,
    /// VSQRTPS.
    Root,
}

/// Instructions with two sources.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names of the manual")]
pub enum Op3 {
    Vaddps,
    Vsubps,
    Vmulps,
    Vdivps,
    Vminps,
    Vmaxps,
    Vpand,
    /// `!a & b`
    Vpandn,
    Vpor,
    Vpxor,
    Vpaddd,
    /// Sums of 64 bits.
    Vpaddq,
    Vpsubd,
    Vpmulld,
    Vpsllvd,
    /// Shifts all pairs of lanes as 64 bits by the count in the lowest 64 bits of `b`.
    Vpsllq,
    Vpsrlvd,
    Vpsravd,
    Vpcmpeqd,
    Vpcmpgtd,
    Vpminsd,
    Vpmaxsd,
    Vpminud,
    Vpmaxud,
    /// VCMPPS, equal, quiet.
    Equal,
    /// VCMPPS, less than, quiet.
    Less,
    /// VCMPPS, less than or equal, quiet.
    AtMost,
    /// VCMPPS, greater than or equal, quiet.
    AtLeast,
    /// VCMPPS, greater than, quiet.
    Greater,
    /// VCMPPS, unordered: at least one is a NaN.
    Unordered,
}

/// Opcode maps of the VEX prefix.
const MAP_0F: u8 = 1;
const MAP_0F38: u8 = 2;
const MAP_0F3A: u8 = 3;
/// Prefixes that the VEX prefix contains.
const NONE: u8 = 0;
const P66: u8 = 1;
const PF3: u8 = 2;

/// General registers as bases of memory operands, by the calling convention of System V.
const RDI: u8 = 7;
const RSI: u8 = 6;
/// The general register with the position in a page.
const R9: u8 = 9;

/// MXCSR with all exceptions masked and round to nearest; subnormal sources are zero (DAZ).
const MXCSR_DAZ: u32 = 0x1fc0;

/// The r/m operand.
#[derive(Clone, Copy)]
enum Rm {
    Reg(Reg),
    Memory(Memory),
    /// A row of the constants.
    Constant(usize),
}

/// How a routine gets the address of an access to a page from a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Address {
    /// The register holds the address. Only its lowest 48 bits are used.
    Absolute,
    /// The register holds an offset of 32 bits from the base of a range ([`Bounds`]). This number
    /// selects the range. The access has to end inside the range.
    Within(u8),
}

/// What instructions may access after a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reachable {
    Nothing,
    /// This number of bytes from the position in the window on.
    Window(usize),
    /// `bytes` bytes from the position in a page on: to write if `write`, else to read.
    Page {
        bytes: usize,
        write: bool,
    },
}

/// A jump whose target is not set yet.
#[derive(Debug)]
#[must_use = "every jump needs a target"]
pub struct Jump {
    /// Offset of the jump's distance in the code.
    at: usize,
}

/// Makes the code of routines, one after another.
#[derive(Debug)]
pub struct Assembler {
    bytes: Vec<u8>,
    constants: Vec<[u32; LANES]>,
    /// For each use of a constant: where the instruction has the constant's distance from it, and
    /// the number of the constant.
    uses: Vec<(usize, usize)>,
    routines: Vec<usize>,
    block: usize,
    daz: bool,
    /// True between `begin` and `end`.
    open: bool,
    /// What the routine may access besides the block and the mask.
    reachable: Reachable,
    /// For each jump to an exit: the offset of its distance in the code, and the number that the
    /// routine then returns.
    exits: Vec<(usize, u32)>,
    /// Number of jumps that have no target yet.
    jumps: usize,
}

impl Assembler {
    /// An assembler for routines that work on a block of `block` bytes.
    ///
    /// # Panics
    /// If the block has more than 2^30 bytes.
    pub fn new(block: usize) -> Assembler {
        assert!(block <= 1 << 30, "a block has at most 2^30 bytes");
        Assembler {
            bytes: Vec::new(),
            constants: Vec::new(),
            uses: Vec::new(),
            routines: Vec::new(),
            block,
            daz: false,
            open: false,
            reachable: Reachable::Nothing,
            exits: Vec::new(),
            jumps: 0,
        }
    }

    /// Begins a routine and returns its number. If `daz` is true, instructions on floats take
    /// subnormal sources as zeros with the same sign.
    ///
    /// # Panics
    /// If the routine before has no [`end`](Self::end).
    pub fn begin(&mut self, daz: bool) -> usize {
        assert!(!self.open, "the routine before must end first");
        self.open = true;
        self.routines.push(self.bytes.len());
        self.daz = daz;
        self.reachable = Reachable::Nothing;
        // mov r11, rdx; mov rdx, [r11]; mov r8, [r11 + 8]
        self.bytes.extend([0x49, 0x89, 0xd3, 0x49, 0x8b, 0x13, 0x4d, 0x8b, 0x43, 8]);
        if daz {
            // sub rsp, 8; stmxcsr [rsp]; mov dword [rsp + 4], imm; ldmxcsr [rsp + 4]
            self.bytes.extend([0x48, 0x83, 0xec, 8, 0x0f, 0xae, 0x1c, 0x24, 0xc7, 0x44, 0x24, 4]);
            self.bytes.extend(MXCSR_DAZ.to_le_bytes());
            self.bytes.extend([0x0f, 0xae, 0x54, 0x24, 4]);
        }
        self.routines.len() - 1
    }

    /// Ends the routine that was begun last. It returns 0.
    ///
    /// # Panics
    /// If no routine was begun, or if it has ended, or if a jump has no target.
    pub fn end(&mut self) {
        assert!(self.open, "no routine was begun");
        assert!(self.jumps == 0, "every jump needs a target");
        self.open = false;
        // xor eax, eax
        self.bytes.extend([0x31, 0xc0]);
        self.leave();
        let mut exits = std::mem::take(&mut self.exits);
        exits.sort_by_key(|(_, number)| *number);
        for exits in exits.chunk_by(|(_, one), (_, other)| one == other) {
            let target = self.bytes.len();
            for &(at, _) in exits {
                self.aim(at, target);
            }
            // mov eax, number
            self.bytes.push(0xb8);
            self.bytes.extend(exits[0].1.to_le_bytes());
            self.leave();
        }
    }

    /// Returns from the routine.
    fn leave(&mut self) {
        if self.daz {
            // ldmxcsr [rsp]; add rsp, 8
            self.bytes.extend([0x0f, 0xae, 0x14, 0x24, 0x48, 0x83, 0xc4, 8]);
        }
        // vzeroupper; ret
        self.bytes.extend([0xc5, 0xf8, 0x77, 0xc3]);
    }

    /// Sets the distance at `at` of a jump to `target`.
    fn aim(&mut self, at: usize, target: usize) {
        // A jump counts from its end, which is the end of the distance.
        let distance = (target - (at + 4)) as u32;
        self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
    }

    fn jump(&mut self, code: &[u8]) -> Jump {
        self.bytes.extend(code);
        self.jumps += 1;
        self.bytes.extend([0; 4]);
        Jump { at: self.bytes.len() - 4 }
    }

    /// Jumps forward to a target that is set later.
    pub fn skip(&mut self) -> Jump {
        self.jump(&[0xe9])
    }

    /// Jumps forward to a target that is set later, unless the highest bit of each lane of `reg` is
    /// set.
    pub fn skip_unless(&mut self, reg: Reg) -> Jump {
        self.compare_bits(reg);
        self.jump(&[0x0f, 0x85])
    }

    /// Sets the target of a jump to the next instruction. The window and pages can be accessed
    /// again only after another [`seek`](Self::seek) or [`seek_page`](Self::seek_page).
    pub fn target(&mut self, jump: Jump) {
        self.reachable = Reachable::Nothing;
        self.jumps -= 1;
        self.aim(jump.at, self.bytes.len());
    }

    /// Sets the flag Z if the highest bit of each lane of `reg` is set.
    fn compare_bits(&mut self, reg: Reg) {
        const EAX: u8 = 0;
        self.reachable = Reachable::Nothing;
        // vmovmskps eax, reg; cmp eax, 0xff
        self.vex((MAP_0F, NONE, 0x50), true, EAX, 0, Rm::Reg(reg), None);
        self.bytes.extend([0x3d, 0xff, 0, 0, 0]);
    }

    /// A jump to the end of the routine on a condition. The routine then returns `number`.
    fn exit(&mut self, condition: u8, number: u32) {
        assert!(number != 0, "a routine returns 0 only at its end");
        self.bytes.extend([0x0f, condition]);
        self.exits.push((self.bytes.len(), number));
        self.bytes.extend([0; 4]);
    }

    /// Leaves the routine, which returns `number`, unless the highest bit of each lane of `reg` is
    /// set.
    ///
    /// # Panics
    /// If `number` is 0.
    pub fn leave_unless(&mut self, reg: Reg, number: u32) {
        self.compare_bits(reg);
        self.exit(0x85, number);
    }

    /// Sets the position in the window to lane 0 of `reg` AND `mask`. Leaves the routine, which
    /// then returns `number`, unless the window has `bytes` bytes from the position on. The
    /// following instructions can access these bytes, until the next call of
    /// [`skip_unless`](Self::skip_unless), [`leave_unless`](Self::leave_unless),
    /// [`seek`](Self::seek), [`seek_page`](Self::seek_page), [`target`](Self::target) or
    /// [`store_bits`](Self::store_bits).
    ///
    /// # Panics
    /// If `number` is 0, or if `bytes` is more than 2^30.
    pub fn seek(&mut self, reg: Reg, mask: u32, bytes: usize, number: u32) {
        assert!(bytes <= 1 << 30, "a routine accesses at most 2^30 bytes of the window");
        // vmovd eax, reg; and eax, mask; lea rcx, [rax + bytes]; cmp rcx, r8; ja
        self.vex((MAP_0F, P66, 0x7e), false, reg.0, 0, Rm::Reg(Reg(0)), None);
        self.bytes.push(0x25);
        self.bytes.extend(mask.to_le_bytes());
        self.bytes.extend([0x48, 0x8d, 0x88]);
        self.bytes.extend((bytes as u32).to_le_bytes());
        self.bytes.extend([0x4c, 0x39, 0xc1]);
        self.exit(0x87, number);
        self.reachable = Reachable::Window(bytes);
    }

    /// Sets the position in a page to that of an address. Lane 0 of `reg` holds the address or the
    /// offset: its lowest 64 bits for [`Address::Absolute`], else its lowest 32 bits. Bits 1:0 of
    /// `reg` are ignored. The routine looks for the page in the table of pages to write if `write`,
    /// else in the table of pages to read. It returns `number` if the table does not have the page,
    /// or if fewer than `bytes` bytes follow up to the end of the page or of the bounds. The
    /// following instructions can access these bytes, as those after [`seek`](Self::seek).
    ///
    /// # Panics
    /// If `number` is 0, or if `bytes` is 0 or more than 64.
    pub fn seek_page(
        &mut self,
        reg: Reg,
        address: Address,
        bytes: usize,
        write: bool,
        number: u32,
    ) {
        match address {
            Address::Absolute => {
                // vmovq rax, reg; shl rax, 16; shr rax, 16; and rax, -4
                self.vmovq(reg);
                self.bytes.extend([0x48, 0xc1, 0xe0, 16, 0x48, 0xc1, 0xe8, 16]);
                self.bytes.extend([0x48, 0x83, 0xe0, 0xfc]);
            }
            Address::Within(index) => {
                const { assert!(u8::MAX as usize + 1 == BOUNDS && size_of::<Bounds>() == 16) };
                // vmovd eax, reg; and eax, -4
                self.vex((MAP_0F, P66, 0x7e), false, reg.0, 0, Rm::Reg(Reg(0)), None);
                self.bytes.extend([0x83, 0xe0, 0xfc]);
                // mov r10, [r11 + bounds]; lea rcx, [rax + bytes]
                self.bytes.extend([0x4d, 0x8b, 0x53, FIRST_BOUNDS]);
                self.bytes.extend([0x48, 0x8d, 0x88]);
                self.bytes.extend((bytes as u32).to_le_bytes());
                // cmp rcx, [r10 + 16 index + 8]; ja; add rax, [r10 + 16 index]
                let at = u32::from(index) * size_of::<Bounds>() as u32;
                self.bytes.extend([0x49, 0x3b, 0x8a]);
                self.bytes.extend((at + 8).to_le_bytes());
                self.exit(0x87, number);
                self.bytes.extend([0x49, 0x03, 0x82]);
                self.bytes.extend(at.to_le_bytes());
            }
        }
        const { assert!(PAGE == 1 << 12 && PAGES == 1 << 9 && size_of::<Page>() == 1 << 5) };
        // mov r9, rax; shr r9, 12
        self.bytes.extend([0x49, 0x89, 0xc1, 0x49, 0xc1, 0xe9, 12]);
        // mov rcx, r9; shr rcx, 9; xor rcx, r9; and ecx, 511; shl ecx, 5
        self.bytes.extend([0x4c, 0x89, 0xc9, 0x48, 0xc1, 0xe9, 9, 0x4c, 0x31, 0xc9]);
        self.bytes.extend([0x81, 0xe1, 0xff, 1, 0, 0, 0xc1, 0xe1, 5]);
        // add rcx, [r11 + table]; cmp [rcx], r9; jne
        self.bytes.extend([0x49, 0x03, 0x4b, if write { WRITES } else { READS }]);
        self.bytes.extend([0x4c, 0x39, 0x09]);
        self.exit(0x85, number);
        // and eax, 4095; cmp eax, 4096 - bytes; ja
        self.bytes.extend([0x25, 0xff, 0x0f, 0, 0, 0x3d]);
        self.bytes.extend(((PAGE - bytes) as u32).to_le_bytes());
        self.exit(0x87, number);
        // mov r9, [rcx + 8]; add r9, rax
        self.bytes.extend([0x4c, 0x8b, 0x49, 8, 0x49, 0x01, 0xc1]);
        self.mark(bytes);
        self.reachable = Reachable::Page { bytes, write };
    }

    /// Marks an access of `bytes` bytes, if the entry of the page has marks. rcx points to the
    /// entry. eax is the offset in the page. Changes rax, rcx and r10.
    fn mark(&mut self, bytes: usize) {
        assert!((1..=64).contains(&bytes), "an access to a page has 1 to 64 bytes");
        let mut marking = Vec::new();
        let ones = (u64::MAX >> (64 - bytes)).to_le_bytes();
        // mov ecx, eax; shr eax, 6; lea r10, [r10 + 8 rax]
        marking.extend([0x89, 0xc1, 0xc1, 0xe8, 6, 0x4d, 0x8d, 0x14, 0xc2]);
        // mov rax, ones; shl rax, cl; or [r10], rax: the bits in the first word
        marking.extend([0x48, 0xb8]);
        marking.extend(ones);
        marking.extend([0x48, 0xd3, 0xe0, 0x49, 0x09, 0x02]);
        // mov rax, ones; shr rax, 1; xor ecx, 63; shr rax, cl; or [r10 + 8], rax: those in the next
        marking.extend([0x48, 0xb8]);
        marking.extend(ones);
        marking.extend([0x48, 0xd1, 0xe8, 0x83, 0xf1, 63, 0x48, 0xd3, 0xe8]);
        marking.extend([0x49, 0x09, 0x42, 8]);
        // mov r10, [rcx + 16]; test r10, r10; jz
        self.bytes.extend([0x4c, 0x8b, 0x51, 16, 0x4d, 0x85, 0xd2, 0x74, marking.len() as u8]);
        self.bytes.extend(marking);
    }

    /// VMOVQ to rax.
    fn vmovq(&mut self, from: Reg) {
        let high = !from.0 >> 3 & 1;
        // The bit W is set, and there is no second source.
        self.bytes.extend([0xc4, high << 7 | 1 << 6 | 1 << 5 | MAP_0F, 0xf9, 0x7e]);
        self.bytes.push(0xc0 | (from.0 & 7) << 3);
    }

    /// Changes how the following instructions on floats treat subnormal sources: as zeros, or, if
    /// `daz` is false, as the caller's MXCSR says. Only in a routine that began with `daz`.
    ///
    /// # Panics
    /// If the routine began without `daz`.
    pub fn set_daz(&mut self, daz: bool) {
        assert!(self.daz, "set_daz needs a routine that began with daz");
        // ldmxcsr [rsp + 4] or [rsp]
        self.bytes.extend([0x0f, 0xae, 0x54, 0x24, if daz { 4 } else { 0 }]);
    }

    /// The code with its constants, the offset of each routine, and the size of the block.
    ///
    /// # Panics
    /// If a routine has no end: a call would run into the bytes after it.
    #[cfg_attr(not(all(target_arch = "x86_64", unix)), allow(dead_code))]
    pub(crate) fn finish(mut self) -> (Vec<u8>, Vec<usize>, usize) {
        assert!(!self.open, "the last routine must end");
        self.bytes.resize(self.bytes.len().next_multiple_of(ROW), 0xcc);
        let first = self.bytes.len();
        for row in &self.constants {
            self.bytes.extend(row.iter().flat_map(|lane| lane.to_le_bytes()));
        }
        for &(at, constant) in &self.uses {
            let stored: [u8; 4] = self.bytes[at..at + 4].try_into().expect("four bytes");
            // Until now the field has held how many bytes of the instruction follow the field.
            let end = at + 4 + u32::from_le_bytes(stored) as usize;
            let distance = (first + constant * ROW - end) as u32;
            self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        (self.bytes, self.routines, self.block)
    }

    /// Checks a memory operand of `bytes` bytes, to which the instruction writes if `store`.
    fn checked(&self, memory: Memory, bytes: usize, store: bool) -> Rm {
        let (end, limit) = match memory {
            Memory::Block(at) => (at.checked_add(bytes), self.block),
            Memory::Mask(lane) => {
                (lane.checked_mul(4).and_then(|at| at.checked_add(bytes)), 4 * MASK_LANES)
            }
            Memory::Window(at) => {
                let Reachable::Window(limit) = self.reachable else {
                    panic!("an access to the window needs a check before it");
                };
                (at.checked_add(bytes), limit)
            }
            Memory::Page(at) => {
                let Reachable::Page { bytes: limit, write } = self.reachable else {
                    panic!("an access to a page needs a check before it");
                };
                assert!(write == store, "a page was checked for another kind of access");
                (at.checked_add(bytes), limit)
            }
        };
        assert!(
            end.is_some_and(|end| end <= limit),
            "{memory:?} with {bytes} bytes is beyond the {limit} bytes of its memory"
        );
        Rm::Memory(memory)
    }

    /// An instruction with a VEX prefix of three bytes. `immediate` follows the operands.
    #[allow(clippy::too_many_arguments, reason = "the fields of the encoding")]
    fn vex(
        &mut self,
        (map, prefix, opcode): (u8, u8, u8),
        wide: bool,
        reg: u8,
        source: u8,
        rm: Rm,
        immediate: Option<u8>,
    ) {
        let rm_high = match rm {
            Rm::Reg(reg) => reg.0 >> 3,
            Rm::Memory(Memory::Page(_)) => R9 >> 3,
            _ => 0,
        };
        self.bytes.push(0xc4);
        self.bytes.push((!reg >> 3 & 1) << 7 | 1 << 6 | (!rm_high & 1) << 5 | map);
        self.bytes.push((!source & 15) << 3 | u8::from(wide) << 2 | prefix);
        self.bytes.push(opcode);
        self.operand(reg, rm, immediate.is_some().into());
        self.bytes.extend(immediate);
    }

    /// ModRM and displacement. `after` is the number of bytes that follow them.
    fn operand(&mut self, reg: u8, rm: Rm, after: u32) {
        let field = (reg & 7) << 3;
        let (base, distance) = match rm {
            Rm::Reg(rm) => {
                self.bytes.push(0xc0 | field | rm.0 & 7);
                return;
            }
            Rm::Constant(constant) => {
                self.bytes.push(field | 5); // [rip + distance]
                self.uses.push((self.bytes.len(), constant));
                self.bytes.extend(after.to_le_bytes());
                return;
            }
            Rm::Memory(Memory::Block(at)) => (RDI, at as u32),
            Rm::Memory(Memory::Mask(lane)) => (RSI, 4 * lane as u32),
            Rm::Memory(Memory::Page(at)) => (R9, at as u32),
            Rm::Memory(Memory::Window(at)) => {
                self.bytes.extend([0x80 | field | 4, 0x02]); // [rdx + rax + distance]
                self.bytes.extend((at as u32).to_le_bytes());
                return;
            }
        };
        self.bytes.push(0x80 | field | base & 7);
        self.bytes.extend(distance.to_le_bytes());
    }

    /// Loads lanes from memory.
    ///
    /// # Panics
    /// If the operand is outside its memory.
    pub fn load(&mut self, to: Reg, from: Memory, lanes: Lanes) {
        let (code, bytes) = match lanes {
            Lanes::Dwords => ((MAP_0F, NONE, 0x10), ROW),
            Lanes::Dword => ((MAP_0F38, P66, 0x18), 4),
            Lanes::Byte => ((MAP_0F38, P66, 0x78), 1),
            Lanes::Word => ((MAP_0F38, P66, 0x79), 2),
            Lanes::Bytes => ((MAP_0F38, P66, 0x31), ROW / 4),
            Lanes::SignedBytes => ((MAP_0F38, P66, 0x21), ROW / 4),
            Lanes::Words => ((MAP_0F38, P66, 0x33), ROW / 2),
            Lanes::SignedWords => ((MAP_0F38, P66, 0x23), ROW / 2),
            Lanes::FourDwords => ((MAP_0F38, P66, 0x35), ROW / 2),
            Lanes::FourSignedDwords => ((MAP_0F38, P66, 0x25), ROW / 2),
            Lanes::Qword => ((MAP_0F38, P66, 0x59), 8),
        };
        let rm = self.checked(from, bytes, false);
        self.vex(code, true, to.0, 0, rm, None);
    }

    /// Stores lanes to the block. `spare` is overwritten if `lanes` is [`Lanes::Words`].
    ///
    /// # Panics
    /// If the operand is outside the block, or the lanes cannot be stored.
    pub fn store(&mut self, from: Reg, to: usize, lanes: Lanes, spare: Reg) {
        match lanes {
            Lanes::Dwords => {
                let rm = self.checked(Memory::Block(to), ROW, true);
                self.vex((MAP_0F, NONE, 0x11), true, from.0, 0, rm, None);
            }
            Lanes::Dword => {
                let rm = self.checked(Memory::Block(to), 4, true);
                self.vex((MAP_0F, PF3, 0x11), false, from.0, 0, rm, None);
            }
            Lanes::Words => {
                let rm = self.checked(Memory::Block(to), ROW / 2, true);
                self.low_words(spare, from, 0xffff);
                self.vex((MAP_0F, NONE, 0x11), false, spare.0, 0, rm, None);
            }
            Lanes::Bytes => {
                let rm = self.checked(Memory::Block(to), ROW / 4, true);
                self.low_words(spare, from, 0xff);
                // vpackuswb xmm, xmm, xmm; vmovq [rm], xmm
                self.vex((MAP_0F, P66, 0x67), false, spare.0, spare.0, Rm::Reg(spare), None);
                self.vex((MAP_0F, P66, 0xd6), false, spare.0, 0, rm, None);
            }
            Lanes::Word => {
                let rm = self.checked(Memory::Block(to), 2, true);
                self.vex((MAP_0F3A, P66, 0x15), false, from.0, 0, rm, Some(0)); // vpextrw
            }
            Lanes::Byte => {
                let rm = self.checked(Memory::Block(to), 1, true);
                self.vex((MAP_0F3A, P66, 0x14), false, from.0, 0, rm, Some(0)); // vpextrb
            }
            Lanes::SignedBytes
            | Lanes::SignedWords
            | Lanes::FourDwords
            | Lanes::FourSignedDwords
            | Lanes::Qword => {
                panic!("{lanes:?} can only be loaded; store Dwords, Words or Bytes")
            }
        }
    }

    /// Stores eight dwords to the window or to a page.
    ///
    /// # Panics
    /// If the bytes are not among those of the last [`seek`](Self::seek) or
    /// [`seek_page`](Self::seek_page).
    pub fn store_row(&mut self, from: Reg, to: Memory) {
        let rm = self.checked(to, ROW, true);
        self.vex((MAP_0F, NONE, 0x11), true, from.0, 0, rm, None);
    }

    /// The bits of `mask` of the eight lanes of `from`, as eight words in the low half of `to`.
    fn low_words(&mut self, to: Reg, from: Reg, mask: u32) {
        self.op3_constant(Op3::Vpand, to, from, [mask; LANES]);
        // vpackusdw ymm, ymm, ymm
        self.vex((MAP_0F38, P66, 0x2b), true, to.0, to.0, Rm::Reg(to), None);
        self.permute_quads(to, 0b00_00_10_00);
    }

    /// VPERMQ: reorders the four quadwords of a register.
    fn permute_quads(&mut self, reg: Reg, order: u8) {
        let high = !reg.0 >> 3 & 1;
        // The bit W is set, and there is no second source.
        self.bytes.extend([0xc4, high << 7 | 1 << 6 | high << 5 | MAP_0F3A, 0xfd, 0x00]);
        self.bytes.extend([0xc0 | (reg.0 & 7) << 3 | reg.0 & 7, order]);
    }

    /// The lanes with even numbers of `low`, then those of `high` (VSHUFPS, VPERMQ).
    pub fn even(&mut self, to: Reg, low: Reg, high: Reg) {
        self.vex((MAP_0F, NONE, 0xc6), true, to.0, low.0, Rm::Reg(high), Some(0b10_00_10_00));
        self.permute_quads(to, 0b11_01_10_00);
    }

    /// VPBLENDW: the low words of the lanes of `low`, the high words of the lanes of `high`.
    pub fn blend_words(&mut self, to: Reg, high: Reg, low: Reg) {
        self.vex((MAP_0F3A, P66, 0x0e), true, to.0, high.0, Rm::Reg(low), Some(0b0101_0101));
    }

    /// The row of the constants that holds `lanes`.
    fn row(&mut self, lanes: [u32; LANES]) -> Rm {
        let known = self.constants.iter().position(|row| *row == lanes);
        Rm::Constant(known.unwrap_or_else(|| {
            self.constants.push(lanes);
            self.constants.len() - 1
        }))
    }

    /// Loads constants.
    pub fn constant(&mut self, to: Reg, lanes: [u32; LANES]) {
        let row = self.row(lanes);
        self.vex((MAP_0F, NONE, 0x10), true, to.0, 0, row, None);
    }

    /// Copies a register.
    pub fn copy(&mut self, to: Reg, from: Reg) {
        self.vex((MAP_0F, NONE, 0x28), true, to.0, 0, Rm::Reg(from), None);
    }

    /// An instruction with one source.
    pub fn op2(&mut self, op: Op2, to: Reg, from: Reg) {
        let (code, immediate) = match op {
            Op2::ToFloat => ((MAP_0F, NONE, 0x5b), None),
            Op2::Truncate => ((MAP_0F, PF3, 0x5b), None),
            Op2::RoundEven => ((MAP_0F3A, P66, 0x08), Some(8)),
            Op2::RoundDown => ((MAP_0F3A, P66, 0x08), Some(9)),
            Op2::RoundUp => ((MAP_0F3A, P66, 0x08), Some(10)),
            Op2::RoundZero => ((MAP_0F3A, P66, 0x08), Some(11)),
            Op2::Root => ((MAP_0F, NONE, 0x51), None),
        };
        self.vex(code, true, to.0, 0, Rm::Reg(from), immediate);
    }

    /// An instruction with two sources, `a` and `b`.
    pub fn op3(&mut self, op: Op3, to: Reg, a: Reg, b: Reg) {
        self.two_sources(op, to, a, Rm::Reg(b));
    }

    /// An instruction with two sources, `a` and constants.
    pub fn op3_constant(&mut self, op: Op3, to: Reg, a: Reg, lanes: [u32; LANES]) {
        let row = self.row(lanes);
        self.two_sources(op, to, a, row);
    }

    fn two_sources(&mut self, op: Op3, to: Reg, a: Reg, b: Rm) {
        let compare = |predicate| ((MAP_0F, NONE, 0xc2), Some(predicate));
        let (code, immediate) = match op {
            Op3::Vaddps => ((MAP_0F, NONE, 0x58), None),
            Op3::Vsubps => ((MAP_0F, NONE, 0x5c), None),
            Op3::Vmulps => ((MAP_0F, NONE, 0x59), None),
            Op3::Vdivps => ((MAP_0F, NONE, 0x5e), None),
            Op3::Vminps => ((MAP_0F, NONE, 0x5d), None),
            Op3::Vmaxps => ((MAP_0F, NONE, 0x5f), None),
            Op3::Vpand => ((MAP_0F, P66, 0xdb), None),
            Op3::Vpandn => ((MAP_0F, P66, 0xdf), None),
            Op3::Vpor => ((MAP_0F, P66, 0xeb), None),
            Op3::Vpxor => ((MAP_0F, P66, 0xef), None),
            Op3::Vpaddd => ((MAP_0F, P66, 0xfe), None),
            Op3::Vpaddq => ((MAP_0F, P66, 0xd4), None),
            Op3::Vpsubd => ((MAP_0F, P66, 0xfa), None),
            Op3::Vpmulld => ((MAP_0F38, P66, 0x40), None),
            Op3::Vpsllvd => ((MAP_0F38, P66, 0x47), None),
            Op3::Vpsllq => ((MAP_0F, P66, 0xf3), None),
            Op3::Vpsrlvd => ((MAP_0F38, P66, 0x45), None),
            Op3::Vpsravd => ((MAP_0F38, P66, 0x46), None),
            Op3::Vpcmpeqd => ((MAP_0F, P66, 0x76), None),
            Op3::Vpcmpgtd => ((MAP_0F, P66, 0x66), None),
            Op3::Vpminsd => ((MAP_0F38, P66, 0x39), None),
            Op3::Vpmaxsd => ((MAP_0F38, P66, 0x3d), None),
            Op3::Vpminud => ((MAP_0F38, P66, 0x3b), None),
            Op3::Vpmaxud => ((MAP_0F38, P66, 0x3f), None),
            Op3::Equal => compare(0),
            Op3::Less => compare(17),
            Op3::AtMost => compare(18),
            Op3::AtLeast => compare(29),
            Op3::Greater => compare(30),
            Op3::Unordered => compare(3),
        };
        self.vex(code, true, to.0, a.0, b, immediate);
    }

    /// VFMADD231PS: adds `a * b` to `sum`, rounded once.
    pub fn fused(&mut self, sum: Reg, a: Reg, b: Reg) {
        self.vex((MAP_0F38, P66, 0xb8), true, sum.0, a.0, Rm::Reg(b), None);
    }

    /// 1 / sqrt(x) of each lane of `from`, computed with doubles and rounded to floats. Overwrites
    /// `high` and `one`. They must differ from each other, from `to` and from `from`.
    pub fn inverse_root(&mut self, to: Reg, from: Reg, high: Reg, one: Reg) {
        // The high dword of a double is the second one.
        let bits = 1.0f64.to_bits();
        self.constant(one, std::array::from_fn(|n| (bits >> (n % 2 * 32)) as u32));
        let to_doubles = (MAP_0F, NONE, 0x5a); // VCVTPS2PD
        let upper_half = (MAP_0F3A, P66, 0x19); // VEXTRACTF128
        self.vex(upper_half, true, from.0, 0, Rm::Reg(high), Some(1));
        self.vex(to_doubles, true, to.0, 0, Rm::Reg(from), None);
        self.vex(to_doubles, true, high.0, 0, Rm::Reg(high), None);
        for half in [to, high] {
            self.vex((MAP_0F, P66, 0x51), true, half.0, 0, Rm::Reg(half), None); // VSQRTPD
            self.vex((MAP_0F, P66, 0x5e), true, half.0, one.0, Rm::Reg(half), None); // VDIVPD
            self.vex((MAP_0F, P66, 0x5a), true, half.0, 0, Rm::Reg(half), None); // VCVTPD2PS
        }
        // VINSERTF128
        self.vex((MAP_0F3A, P66, 0x18), true, to.0, to.0, Rm::Reg(high), Some(1));
    }

    /// VBLENDVPS: the lanes of `one` where the highest bit of `mask` is set, else those of `zero`.
    pub fn blend(&mut self, to: Reg, zero: Reg, one: Reg, mask: Reg) {
        self.vex((MAP_0F3A, P66, 0x4a), true, to.0, zero.0, Rm::Reg(one), Some(mask.0 << 4));
    }

    /// Stores the highest bit of each lane of `from` as one byte of the block. With a `mask`, only
    /// the bits where the highest bit of the mask's lane is set change.
    ///
    /// # Panics
    /// If the byte is outside the block.
    pub fn store_bits(&mut self, from: Reg, to: usize, mask: Option<Reg>) {
        const EAX: u8 = 0;
        const ECX: u8 = 1;
        let rm = self.checked(Memory::Block(to), 1, true);
        self.reachable = Reachable::Nothing;
        let code = (MAP_0F, NONE, 0x50);
        self.vex(code, true, EAX, 0, Rm::Reg(from), None);
        if let Some(mask) = mask {
            self.vex(code, true, ECX, 0, Rm::Reg(mask), None);
            self.bytes.extend([0x21, 0xc8]); // and eax, ecx
            self.bytes.extend([0xf7, 0xd1]); // not ecx
            self.bytes.push(0x22); // and cl, [rm]
            self.operand(ECX, rm, 0);
            self.bytes.extend([0x09, 0xc8]); // or eax, ecx
        }
        self.bytes.push(0x88); // mov [rm], al
        self.operand(EAX, rm, 0);
    }
}
