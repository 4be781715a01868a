//! What the instructions of a kernel read and write, prepared once for each kernel.

use crate::eu::access::{self, Access, CELLS, Part};
use crate::eu::decode::{self, Fetched};
use crate::eu::kernel::Kernel;
use crate::eu::regions::{FILE_BYTES, FLAGS};
use crate::eu::uop::{NOWHERE, Op, Opcode, Shape, Target, Uop};
use std::collections::BTreeMap;

/// Words of a set of cells.
pub const WORDS: usize = CELLS.div_ceil(64);

/// Bytes of the longest instruction.
const LONGEST: usize = 16;
/// Maximum number of bytes of a kernel that are compared.
const MOST_BYTES: u32 = 1 << 20;

/// A set of cells as words that are not zero, each with its index.
pub type Cells = Vec<(u16, u64)>;

fn cells(parts: impl IntoIterator<Item = Part>) -> Cells {
    let mut words = BTreeMap::new();
    for cell in parts.into_iter().flat_map(Part::cells) {
        *words.entry((cell / 64) as u16).or_insert(0) |= 1 << (cell % 64);
    }
    words.into_iter().collect()
}

/// An instruction.
#[derive(Debug, Default)]
pub struct Plan {
    /// All that its channels can read. If nothing of it is uninitialised, the results are not.
    pub reads: Cells,
    /// What all channels write.
    pub writes: Cells,
    /// The flag bits of all channels that enable it.
    pub predicate: Cells,
    /// The cells are not known before the instruction is executed.
    pub dynamic: bool,
    /// It can change which channels are enabled.
    pub flow: bool,
}

impl Plan {
    fn new(u: &Uop) -> Plan {
        let indirect = |shape: &Shape| matches!(shape, Shape::Indirect(_));
        let dynamic = u.src.iter().any(|src| indirect(&src.shape))
            || matches!(u.dst.target, Target::Indirect { .. });
        // `sel` reads one of its sources, which the flags choose.
        let mut files = [[0; FILE_BYTES]; 2];
        files[1][FLAGS..FLAGS + 8].fill(0xff);
        let mut access = Access::default();
        let mut predicate = Vec::new();
        for channel in (0..usize::from(u.size)).filter(|channel| u.lanes >> channel & 1 == 1) {
            for file in &files {
                access::channel(u, channel, file, &mut access);
            }
            predicate.extend(access::predicate(u, channel));
        }
        let flow = u.branch.jip != NOWHERE
            || u.dst.target == Target::Ip
            || matches!(u.op, Op::Isa(Opcode::Ret | Opcode::Call | Opcode::Calla));
        Plan {
            reads: cells(access.reads.iter().map(|read| read.part)),
            writes: cells(access.writes),
            predicate: cells(predicate),
            dynamic,
            flow,
        }
    }
}

/// A decoded kernel with the plans of its instructions.
#[derive(Debug)]
pub struct Code {
    bytes: Vec<u8>,
    kernel: Kernel,
    plans: Vec<Plan>,
}

impl Code {
    /// Decodes a kernel. `read` fills a buffer with memory from an address on; it returns false if
    /// some of it cannot be read.
    pub fn new(address: u64, read: impl Fn(u64, &mut [u8]) -> bool) -> Code {
        let kernel = decode::kernel(address, 0, |offset| {
            let mut bytes = [0; LONGEST];
            match read(address.wrapping_add_signed(offset.into()), &mut bytes) {
                true => decode::fetch_from(&bytes, 0),
                false => Fetched::Garbage("memory that cannot be read".into()),
            }
        });
        let plans = kernel.uops.iter().map(Plan::new).collect();
        let end = kernel.uops.iter().map(|u| u.offset.saturating_add(u.length.into())).max();
        let mut bytes = vec![0; end.unwrap_or_default().min(MOST_BYTES) as usize];
        read(address, &mut bytes);
        Code { bytes, kernel, plans }
    }

    /// True if the kernel still has the same bytes.
    pub fn is_current(&self, read: impl Fn(u64, &mut [u8]) -> bool) -> bool {
        let mut bytes = vec![0; self.bytes.len()];
        read(self.kernel.address, &mut bytes) && bytes == self.bytes
    }

    /// The instruction at a byte offset.
    pub fn at(&self, ip: u32) -> Option<(&Uop, &Plan)> {
        let index = self.kernel.index(ip)? as usize;
        Some((self.kernel.uops.get(index)?, self.plans.get(index)?))
    }
}
