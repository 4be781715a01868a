//! The sanitizer `bounds`: accesses that the bounds of surfaces cut off, and accesses that happen
//! to hit memory that does not belong to what they name.
//!
//! * Accesses of data ports, and `ld` of the sampler, outside of the surface. Null surfaces have no
//!   bounds. Coordinates that the sampler wraps or clamps are not outside.
//! * Shared local memory beyond its size.
//! * Sampler states, CURBE data, descriptors and push constants beyond Dynamic State Buffer Size.
//! * Constants of threads beyond those that were loaded.
//! * Binding table indices beyond Binding Table Entry Count. The count is only a hint for the
//!   prefetcher, so these findings are warnings. A count of 0 means that the count is not used.
//! * Accesses of messages to mapped memory outside of the driver's objects, if they are reported
//!   ([`Event::Objects`]): the kernel maps whole pages.
//!
//! The first side of a finding is what sets the bounds, the second side is the access.

pub mod rules;

pub use rules::RULES;

use super::finding::{Finding, Side};
use super::sanitizer::Sanitize;
use crate::inspect::objects::Objects;
use crate::machine::events::{Event, Now};
use crate::machine::fault::Place;
use crate::mem::Access;
use crate::mem::outside::{Beyond, Outside};
use crate::unit::bindings::FIRST_SPECIAL_INDEX;
use genxml::core::Fixed as _;
use genxml::eu::instruction::SharedFunction;
use genxml::eu::surface::binding_table_index;
use genxml::gen8::media::{MediaCurbeLoad, MediaInterfaceDescriptorLoad};
use genxml::gen8::render3d_pixel::ThreeDStatePs;
use genxml::gen8::render3d_stages::{ThreeDStateDs, ThreeDStateGs, ThreeDStateHs, ThreeDStateVs};
use genxml::gen8::state::{InterfaceDescriptorData, StateBaseAddress};
use rules::Id;
use std::collections::HashMap;

/// Largest count of an interface descriptor. Drivers also use it for larger tables.
const LARGEST_COUNT: u64 = 31;
/// Bytes of the unit of Dynamic State Buffer Size.
const PAGE: u64 = 4096;
/// Bytes of a register.
const REGISTER: u64 = 32;

/// A table of a kernel.
#[derive(Clone, Copy, Debug)]
struct Table {
    count: u64,
    /// The packet that gives the count.
    at: Place,
}

/// What distinguishes findings: rule, batch and packet, kernel and instruction.
type Key = (Id, u64, u64, Option<(u64, u32)>);

/// The sanitizer.
#[derive(Debug, Default)]
pub struct Bounds {
    /// Address and size of dynamic state; a size of 0 is not a bound.
    dynamic: (u64, u64),
    /// STATE_BASE_ADDRESS.
    base_at: Option<Place>,
    instructions: u64,
    /// Tables by the kernel's offset from the instruction base, for kernels of draws.
    stages: HashMap<u64, Table>,
    /// Tables by the kernel's address, for kernels of walkers.
    kernels: HashMap<u64, Table>,
    objects: Objects,
    /// Binding table index and function of the message.
    index: u8,
    function: Option<SharedFunction>,
    /// The index is beyond the count of this table.
    beyond: Option<Table>,
    findings: Vec<Finding>,
    known: HashMap<Key, usize>,
}

impl Sanitize for Bounds {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Packet { at, dwords, .. } => self.packet(at, dwords),
            Event::Objects(list) => self.objects.replace(list),
            Event::Descriptor { at, kernel, descriptor, threads, constants } => {
                self.descriptor(at, *kernel, descriptor, (*threads, *constants));
            }
            Event::Message { kernel, function, descriptor, .. } => {
                self.message(*kernel, *function, *descriptor);
            }
            Event::Outside { at, thread, list } => {
                for outside in *list {
                    self.outside(at, *thread, outside);
                }
            }
            Event::Accesses { at, thread: Some(thread), channel: None, list } => {
                if let Some(table) = self.beyond.take() {
                    self.table(at, *thread, table);
                }
                if !self.objects.is_empty() {
                    for access in *list {
                        self.object(at, *thread, access);
                    }
                }
            }
            _ => {}
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn wants_accesses(&self) -> bool {
        true
    }
}

impl Bounds {
    fn packet(&mut self, at: &Place, dwords: &[u32]) {
        let mut stage = |kernel: u64, count: u64| {
            self.stages.insert(kernel, Table { count, at: *at });
        };
        if at.packet == ThreeDStateVs::NAME {
            let vs = ThreeDStateVs::read_lossy(dwords);
            stage(vs.kernel_start_pointer.get(), vs.binding_table_entry_count.get());
        } else if at.packet == ThreeDStateHs::NAME {
            let hs = ThreeDStateHs::read_lossy(dwords);
            stage(hs.kernel_start_pointer.get(), hs.binding_table_entry_count.get());
        } else if at.packet == ThreeDStateDs::NAME {
            let ds = ThreeDStateDs::read_lossy(dwords);
            stage(ds.kernel_start_pointer.get(), ds.binding_table_entry_count.get());
        } else if at.packet == ThreeDStateGs::NAME {
            let gs = ThreeDStateGs::read_lossy(dwords);
            stage(gs.kernel_start_pointer.get(), gs.binding_table_entry_count.get());
        } else if at.packet == ThreeDStatePs::NAME {
            let ps = ThreeDStatePs::read_lossy(dwords);
            for kernel in
                [ps.kernel_start_pointer_0, ps.kernel_start_pointer_1, ps.kernel_start_pointer_2]
            {
                stage(kernel.get(), ps.binding_table_entry_count.get());
            }
        } else if at.packet == MediaCurbeLoad::NAME {
            let load = MediaCurbeLoad::read_lossy(dwords);
            let first = load.curbe_data_start_address.get();
            self.dynamic_state(at, "CURBE data", first, load.curbe_total_data_length.get());
        } else if at.packet == MediaInterfaceDescriptorLoad::NAME {
            let load = MediaInterfaceDescriptorLoad::read_lossy(dwords);
            let first = load.interface_descriptor_data_start_address.get();
            let length = load.interface_descriptor_total_length.get();
            self.dynamic_state(at, "interface descriptors", first, length);
        } else if at.packet == StateBaseAddress::NAME {
            let bases = StateBaseAddress::read_lossy(dwords);
            if bases.dynamic_state_base_address_modify_enable {
                self.dynamic.0 = bases.dynamic_state_base_address.get();
            }
            if bases.dynamic_state_buffer_size_modify_enable {
                self.dynamic.1 = PAGE * bases.dynamic_state_buffer_size.get();
                self.base_at = Some(*at);
            }
            if bases.instruction_base_address_modify_enable {
                self.instructions = bases.instruction_base_address.get();
            }
        }
    }

    /// Checks data that a packet loads from an offset in dynamic state.
    fn dynamic_state(&mut self, at: &Place, what: &str, first: u64, bytes: u64) {
        let (base, size) = self.dynamic;
        if size == 0 || first + bytes <= size {
            return;
        }
        let action = format!("loads {what}");
        let second = Side { action, at: *at, thread: None, address: base + first, bytes };
        self.report(Id::State, self.dynamic_side(at), second);
    }

    /// The side that sets the bounds of dynamic state.
    fn dynamic_side(&self, at: &Place) -> Side {
        let (address, bytes) = self.dynamic;
        let action = "sets the bounds of dynamic state".to_owned();
        Side { action, at: self.base_at.unwrap_or(*at), thread: None, address, bytes }
    }

    fn descriptor(
        &mut self,
        at: &Place,
        kernel: u64,
        descriptor: &InterfaceDescriptorData,
        (threads, constants): (u64, u64),
    ) {
        let count = descriptor.binding_table_entry_count.get();
        let count = if count == LARGEST_COUNT { 0 } else { count };
        self.kernels.insert(kernel, Table { count, at: *at });
        let shared = descriptor.cross_thread_constant_data_read_length.get();
        let own = descriptor.constant_indirect_urb_entry_read_length.get();
        let wanted = REGISTER * (shared + own * threads);
        if wanted > constants {
            let side = |action: String, bytes| Side {
                action,
                at: *at,
                thread: None,
                address: kernel,
                bytes,
            };
            let first = side(format!("{constants} bytes of constants are loaded"), constants);
            let second = side(format!("a group of {threads} threads gets {wanted}"), wanted);
            self.report(Id::Constants, first, second);
        }
    }

    fn message(&mut self, kernel: u64, function: SharedFunction, descriptor: u32) {
        self.function = Some(function);
        self.beyond = None;
        let surface = matches!(
            function,
            SharedFunction::Sampler
                | SharedFunction::DataPort0
                | SharedFunction::DataPort1
                | SharedFunction::DataPortConstant
                | SharedFunction::DataPortSampler
        );
        let Some(index) = binding_table_index(function, descriptor).filter(|_| surface) else {
            return;
        };
        self.index = index;
        let table = self
            .kernels
            .get(&kernel)
            .or_else(|| self.stages.get(&kernel.wrapping_sub(self.instructions)));
        let is_beyond = |table: &Table| table.count != 0 && u64::from(index) >= table.count;
        self.beyond = table.copied().filter(is_beyond);
    }

    fn table(&mut self, at: &Place, thread: u32, table: Table) {
        let side =
            |action: String, at: Place, thread| Side { action, at, thread, address: 0, bytes: 0 };
        let first = side(format!("the count is {}", table.count), table.at, None);
        let second = side(format!("uses index {}", self.index), *at, Some(thread));
        self.report(Id::Table, first, second);
    }

    fn outside(&mut self, at: &Place, thread: u32, outside: &Outside) {
        let Outside { channel, base, beyond, write } = *outside;
        let verb = if write { "writes" } else { "reads" };
        let id = match (beyond, base) {
            (Beyond::Sampler, _) => Id::Sampler,
            (Beyond::Bytes { .. }, None) => Id::Local,
            (Beyond::Bytes { .. }, _) => Id::Buffer,
            (Beyond::Element(_), _) if self.function == Some(SharedFunction::Sampler) => Id::Texel,
            (Beyond::Element(_), _) => Id::Image,
        };
        if self.again(id, at) {
            return;
        }
        let index = self.index;
        let surface = match index {
            FIRST_SPECIAL_INDEX.. => "memory".to_owned(),
            _ => format!("the surface of binding table entry {index}"),
        };
        let (address, bytes, bounds, action) = match beyond {
            Beyond::Bytes { offset, bytes, end } => (
                base.unwrap_or(0).wrapping_add(offset),
                bytes,
                match base {
                    None => format!("shared local memory has {end:#x} bytes"),
                    Some(_) => format!("{surface} ends at offset {end:#x}"),
                },
                format!("channel {channel} {verb} offset {offset:#x}"),
            ),
            Beyond::Element([u, v, r, lod]) => (
                base.unwrap_or(0),
                0,
                format!("{surface} is smaller"),
                format!("channel {channel} {verb} U = {u}, V = {v}, R = {r}, level {lod}"),
            ),
            Beyond::Sampler => (base.unwrap_or(0), 16, String::new(), "reads a state".to_owned()),
        };
        let first = match beyond {
            Beyond::Sampler => self.dynamic_side(at),
            _ => Side {
                action: bounds,
                at: Place { thread: None, ..*at },
                thread: None,
                address: base.unwrap_or(0),
                bytes: 0,
            },
        };
        let second = Side { action, at: *at, thread: Some(thread), address, bytes };
        self.report(id, first, second);
    }

    /// Checks that the bytes of an access belong to objects.
    fn object(&mut self, at: &Place, thread: u32, access: &Access) {
        let end = access.address + u64::from(access.bytes);
        let mut address = access.address;
        let mut before = None;
        while address < end {
            match self.objects.containing(address) {
                Some((first, size)) => address = first + size,
                None => {
                    before = Some(self.objects.before(address).unwrap_or((0, 0)));
                    break;
                }
            }
        }
        let Some((first, size)) = before else { return };
        if self.again(Id::Object, at) {
            return;
        }
        let object = Side {
            action: "is the object before it".to_owned(),
            at: Place { thread: None, ..*at },
            thread: None,
            address: first,
            bytes: size,
        };
        let verb = if access.write { "written" } else { "read" };
        let second = Side {
            action: verb.to_owned(),
            at: *at,
            thread: Some(thread),
            address,
            bytes: end - address,
        };
        self.report(Id::Object, object, second);
    }

    /// Counts a finding that exists already.
    fn again(&mut self, id: Id, at: &Place) -> bool {
        match self.known.get(&key(id, at)) {
            Some(&index) => {
                self.findings[index].count += 1;
                true
            }
            None => false,
        }
    }

    fn report(&mut self, id: Id, first: Side, second: Side) {
        if self.again(id, &second.at) {
            return;
        }
        self.known.insert(key(id, &second.at), self.findings.len());
        self.findings.push(Finding { rule: id.rule(), first, second, count: 1 });
    }
}

fn key(id: Id, at: &Place) -> Key {
    (id, at.batch, at.address, at.thread.map(|thread| (thread.kernel, thread.ip)))
}
