//! Sends one message from one thread, and reads back the results.

use genxml::eu;
use genxml::gen8::media::{GpgpuWalkerSimdSize, MediaVfeState};
use genxml::gen8::state::{
    InterfaceDescriptorData, InterfaceDescriptorDataSharedLocalMemorySize, RenderSurfaceState,
    RenderSurfaceStateExtent, StateBaseAddress, SurfaceType,
};
use genxml_cases::{Compute, KERNELS, Model, at, packets, raw_buffer, u};
use genxml_core::MinusOne;
use genxml_sim::Fault;

/// Address of the memory that messages work on.
pub const DATA: u64 = 0x40_0000;
/// Size in bytes of the memory at [`DATA`].
pub const DATA_BYTES: usize = 0x2000;
/// Size in bytes of shared local memory.
pub const LOCAL_BYTES: usize = 0x1000;
/// Address where the kernel stores the response.
const RESULT: u64 = 0x50_0000;
/// Address from which shared local memory is loaded, and to which it is stored at the end.
const LOCAL: u64 = 0x51_0000;

/// Binding table entries that the kernel itself uses.
const RESULT_INDEX: usize = 4;
const LOCAL_INDEX: usize = 5;

/// Number of registers that the kernel stores as the response.
pub const ANSWER: usize = 16;

macro_rules! kernel {
    ($size:tt $function:literal { $($before:tt)* } { $($after:tt)* }) => {
        &eu! {
            $($before)*
            (W) mov (1|M0)   f0.0<1>:uw   r1.2<0;1,0>:uw;
            (W) mov (1|M0)   a0.0<1>:ud   r1.0<0;1,0>:ud;
            (f0.0) send $size r20  r2  $function  a0.0;
            // Store the response registers: 4 stores of 8 owords.
            (W) mov (8|M0)   r60.0<1>:ud  0:ud;
            (W) mov (16|M0)  r61.0<1>:ud  r20.0<8;8,1>:ud;
            (W) mov (16|M0)  r63.0<1>:ud  r22.0<8;8,1>:ud;
            (W) send (16|M0) null  r60  0xA  0x0a0a0404;
            (W) mov (1|M0)   r60.2<1>:ud  8:ud;
            (W) mov (16|M0)  r61.0<1>:ud  r24.0<8;8,1>:ud;
            (W) mov (16|M0)  r63.0<1>:ud  r26.0<8;8,1>:ud;
            (W) send (16|M0) null  r60  0xA  0x0a0a0404;
            (W) mov (1|M0)   r60.2<1>:ud  16:ud;
            (W) mov (16|M0)  r61.0<1>:ud  r28.0<8;8,1>:ud;
            (W) mov (16|M0)  r63.0<1>:ud  r30.0<8;8,1>:ud;
            (W) send (16|M0) null  r60  0xA  0x0a0a0404;
            (W) mov (1|M0)   r60.2<1>:ud  24:ud;
            (W) mov (16|M0)  r61.0<1>:ud  r32.0<8;8,1>:ud;
            (W) mov (16|M0)  r63.0<1>:ud  r34.0<8;8,1>:ud;
            (W) send (16|M0) null  r60  0xA  0x0a0a0404;
            $($after)*
            (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud;
            (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT};
        }
    };
    // With shared local memory, loaded before the message and stored after it. Lines from macro
    // arguments need explicit ends.
    ($size:tt $function:literal local) => {
        kernel!($size $function {
            (W) mov (16|M0)  r70.0<1>:ud  r36.0<8;8,1>:ud;
            load: (W) send (16|M0) r80  r70  0xC  0x04805005;
            (W) mov (16|M0)  r78.0<1>:ud  r70.0<8;8,1>:ud;
            (W) send (16|M0) null r78  0xC  0x140250fe;
            (W) add (16|M0)  r70.0<1>:ud  r70.0<8;8,1>:ud  256:ud;
            (W) cmp (1|M0)   (lt)f1.0  null<1>:ud  r70.0<0;1,0>:ud  0x1000:ud;
            (W&f1.0) jmpi load;
        } {
            (W) mov (16|M0)  r70.0<1>:ud  r36.0<8;8,1>:ud;
            store: (W) send (16|M0) r80  r70  0xC  0x048050fe;
            (W) mov (16|M0)  r78.0<1>:ud  r70.0<8;8,1>:ud;
            (W) send (16|M0) null r78  0xC  0x14025005;
            (W) add (16|M0)  r70.0<1>:ud  r70.0<8;8,1>:ud  256:ud;
            (W) cmp (1|M0)   (lt)f1.0  null<1>:ud  r70.0<0;1,0>:ud  0x1000:ud;
            (W&f1.0) jmpi store;
        })
    };
    ($size:tt $function:literal) => { kernel!($size $function {} {}) };
}

/// The shared function that receives a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Data port of the sampler cache.
    Sampler,
    /// Data port of the constant cache.
    Constant,
    /// Data port 0.
    Port0,
    /// Data port 1.
    Port1,
}

fn kernel(unit: Unit, channels: usize, local: bool) -> &'static [u32] {
    match (unit, channels, local) {
        (Unit::Sampler, 8, _) => kernel!((8|M0) 0x4),
        (Unit::Sampler, _, _) => kernel!((16|M0) 0x4),
        (Unit::Constant, 8, _) => kernel!((8|M0) 0x9),
        (Unit::Constant, _, _) => kernel!((16|M0) 0x9),
        (Unit::Port0, 8, false) => kernel!((8|M0) 0xA),
        (Unit::Port0, _, false) => kernel!((16|M0) 0xA),
        (Unit::Port0, 8, true) => kernel!((8|M0) 0xA local),
        (Unit::Port0, _, true) => kernel!((16|M0) 0xA local),
        (Unit::Port1, 8, false) => kernel!((8|M0) 0xC),
        (Unit::Port1, _, false) => kernel!((16|M0) 0xC),
        (Unit::Port1, 8, true) => kernel!((8|M0) 0xC local),
        (Unit::Port1, _, true) => kernel!((16|M0) 0xC local),
    }
}

/// A register, eight dwords.
pub type Register = [u32; 8];

/// A message.
#[derive(Clone, Debug)]
pub struct Message {
    /// The shared function that receives it.
    pub unit: Unit,
    /// Channels of the send, 8 or 16.
    pub channels: usize,
    /// Mask of enabled channels.
    pub mask: u32,
    /// The descriptor.
    pub descriptor: u32,
    /// Header and payload.
    pub payload: Vec<Register>,
}

/// State before or after a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct World {
    /// The memory from [`DATA`] on.
    pub data: Vec<u8>,
    /// Shared local memory.
    pub local: Vec<u8>,
    /// The response registers.
    pub answer: Vec<Register>,
}

impl World {
    /// Random bytes in memory and in the registers.
    pub fn random(random: &mut genxml_cases::Random) -> World {
        World {
            data: random.bytes(DATA_BYTES),
            local: random.bytes(LOCAL_BYTES),
            answer: (0..ANSWER).map(|_| std::array::from_fn(|_| random.bits() as u32)).collect(),
        }
    }
}

/// A GPU whose threads send messages.
pub struct Probe {
    model: Model,
    base: u64,
    surfaces: Vec<RenderSurfaceState>,
    /// General State Buffer Size in pages; 0 if nothing sets it.
    general: u64,
}

impl Probe {
    /// A GPU with surfaces at entries 0 to 3 of the binding table (`first`) and from 6 on (`more`).
    pub fn new(first: Vec<RenderSurfaceState>, more: Vec<RenderSurfaceState>) -> Probe {
        let mut model = Model::new();
        model.map(DATA, DATA_BYTES as u64);
        model.map(RESULT, 0x1000);
        model.map(LOCAL, 0x1000);
        let mut surfaces = first;
        surfaces.resize(RESULT_INDEX, null());
        surfaces.push(raw_buffer(RESULT, 512));
        assert_eq!(surfaces.len(), LOCAL_INDEX);
        surfaces.push(raw_buffer(LOCAL, LOCAL_BYTES as u64));
        surfaces.extend(more);
        Probe { model, base: KERNELS, surfaces, general: 0 }
    }

    /// Sets the instruction base, and maps memory for the kernel there.
    pub fn with_base(mut self, base: u64) -> Probe {
        self.model.map(base, 64 << 10);
        Probe { base, ..self }
    }

    /// Sets General State Buffer Size, in pages.
    pub fn with_general_state(self, pages: u64) -> Probe {
        Probe { general: pages, ..self }
    }

    /// Number of accesses of the last message that its surface cut off.
    pub fn cut_off(&self) -> u64 {
        self.model.last.cut_off
    }

    /// Sends a message. `local` enables shared local memory.
    ///
    /// # Errors
    /// The fault that the model returns.
    pub fn send(&mut self, message: &Message, world: &World, local: bool) -> Result<World, Fault> {
        self.model.write(DATA, &world.data);
        let mut constants: Vec<Register> = vec![[0; 8]; 1 + 18];
        constants[0][..2].copy_from_slice(&[message.descriptor, message.mask]);
        constants[1..1 + message.payload.len()].copy_from_slice(&message.payload);
        constants.extend(&world.answer);
        constants.extend([0, 8].map(|first| std::array::from_fn(|n| 16 * (first + n as u32))));
        // A hint; decoders use it, because the kernel computes its descriptors.
        let mut descriptor = InterfaceDescriptorData {
            binding_table_entry_count: u(self.surfaces.len().min(31) as u64),
            ..InterfaceDescriptorData::new()
        };
        if local {
            self.model.write(LOCAL, &world.local);
            descriptor.shared_local_memory_size =
                InterfaceDescriptorDataSharedLocalMemorySize::ENCODES_4K;
        }
        let compute = Compute {
            base: self.base,
            surfaces: self.surfaces.clone(),
            shared: constants.len() as u64,
            curbe: constants.iter().flatten().flat_map(|dword| dword.to_le_bytes()).collect(),
            descriptor,
            vfe: MediaVfeState { curbe_allocation_size: u(64), ..MediaVfeState::new() },
            simd: GpgpuWalkerSimdSize::SIMD16,
            right: 0xffff,
            ..Compute::new(kernel(message.unit, message.channels, local))
        };
        let size = StateBaseAddress {
            general_state_buffer_size: u(self.general),
            general_state_buffer_size_modify_enable: true,
            ..StateBaseAddress::new()
        };
        let batch = [packets![size], compute.batch(&mut self.model)].concat();
        self.model.render(&batch)?;
        let answer = self.model.get(RESULT, 8 * ANSWER);
        let local = if local { self.model.read(LOCAL, LOCAL_BYTES) } else { world.local.clone() };
        Ok(World {
            data: self.model.read(DATA, DATA_BYTES),
            local,
            answer: answer
                .chunks(8)
                .map(|register| register.try_into().expect("eight dwords"))
                .collect(),
        })
    }

    /// Sends a message and compares the whole state with the expected state.
    pub fn check(&mut self, message: &Message, world: &World, expected: &World, local: bool) {
        let found = self
            .send(message, world, local)
            .unwrap_or_else(|fault| panic!("{message:x?}: {fault}"));
        for (n, (found, expected)) in found.answer.iter().zip(&expected.answer).enumerate() {
            assert_eq!(found, expected, "register {n} of the response to {message:x?}");
        }
        for (name, found, expected) in
            [("data", &found.data, &expected.data), ("local", &found.local, &expected.local)]
        {
            if let Some(n) = (0..found.len()).find(|n| found[*n] != expected[*n]) {
                panic!(
                    "byte {n:#x} of {name}: {:#x}, not {:#x}, after {message:x?}",
                    found[n], expected[n]
                );
            }
        }
    }
}

/// A null surface.
pub fn null() -> RenderSurfaceState {
    RenderSurfaceState { surface_type: SurfaceType::SURFTYPE_NULL, ..RenderSurfaceState::new() }
}

/// A structured buffer.
pub fn structured(address: u64, count: u64, pitch: u64) -> RenderSurfaceState {
    let last = count - 1;
    RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_STRBUF,
        surface_pitch: MinusOne::new(pitch).expect("a pitch that fits"),
        surface_base_address: at(address),
        extent: RenderSurfaceStateExtent::Buffer {
            width: u(last & 0x7f),
            height: u(last >> 7 & 0x3fff),
            depth: u(last >> 21),
        },
        ..raw_buffer(address, 4)
    }
}

/// Little-endian dword at `offset`.
pub fn dword(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(bytes[offset..offset + 4].try_into().expect("four bytes"))
}

/// Replaces the dword at `offset`.
pub fn set_dword(bytes: &mut [u8], offset: usize, value: u32) {
    bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
}
