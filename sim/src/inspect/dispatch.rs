//! What a packet that starts media or GPGPU threads gives to them: the number of its interface
//! descriptor, and the surfaces of its binding table.

use crate::machine::view::View;
use crate::surface::Surface;
use crate::unit::dataport::media_block;
use crate::unit::resource_streamer::tables::Table;
use genxml::core::Fixed;
use genxml::eu::instruction::SharedFunction;
use genxml::eu::surface::binding_table_index;
use genxml::gen8::media::GpgpuWalker;
use genxml::gen8::messages::{DataPort1MessageDescriptor, MtDp1};
use genxml::gen8::state::RenderSurfaceState;

/// The number of the descriptor of a packet that starts threads, and whether the packet brings its
/// own constants; `None` for other packets.
pub fn descriptor(packet: &'static str, dwords: &[u32]) -> Option<(u64, bool)> {
    // All these packets have the number of the descriptor at the same bits.
    let walker = || GpgpuWalker::read_lossy(dwords);
    let index = || walker().interface_descriptor_offset.get();
    match packet {
        "GPGPU_WALKER" => Some((index(), walker().indirect_data_length.get() != 0)),
        // The inline data of these packets is not CURBE data.
        "MEDIA_OBJECT" | "MEDIA_OBJECT_PRT" | "MEDIA_OBJECT_WALKER" | "MEDIA_OBJECT_GRPID" => {
            Some((index(), false))
        }
        _ => None,
    }
}

/// The binding table of the root threads of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BindingTable {
    /// Graphics address to which the offsets of surface states are added.
    base: u64,
    /// Graphics address of the first entry.
    table: u64,
}

impl BindingTable {
    /// The table of a packet that starts threads; `None` for other packets, and if the interface
    /// descriptor of the packet is not loaded.
    pub fn of(packet: &'static str, dwords: &[u32], view: &dyn View) -> Option<BindingTable> {
        let (index, _) = descriptor(packet, dwords)?;
        let state = view.state();
        let descriptors = &state.interface_descriptors.entries;
        let descriptor = descriptors.get(usize::try_from(index).ok()?)?;
        let base = state.base.surface;
        let table = base.wrapping_add(descriptor.binding_table_pointer.get());
        Some(BindingTable { base, table })
    }

    /// The surface of an entry; `None` if its state cannot be read or is not valid.
    pub fn surface(&self, index: u8, view: &dyn View) -> Option<Surface> {
        let read = |address, out: &mut [u8]| view.read(address, out).then_some(()).ok_or(());
        let offset = Table::Software(self.table).entry(index, read).ok()?;
        let mut dwords = [0; RenderSurfaceState::DWORDS];
        let address = self.base.wrapping_add(offset);
        read(address, bytemuck::must_cast_slice_mut(&mut dwords)).ok()?;
        Surface::resolve(&RenderSurfaceState::unpack_lossy(&dwords)).ok()
    }
}

/// The binding table index of a message to a data port; `None` for messages to other shared
/// functions, and for messages that access memory without a surface.
pub fn surface_index(function: SharedFunction, descriptor: u32) -> Option<u8> {
    let is_data_port = matches!(
        function,
        SharedFunction::DataPort0 | SharedFunction::DataPort1 | SharedFunction::DataPortRender
    );
    binding_table_index(function, descriptor).filter(|_| is_data_port)
}

/// How a message writes an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageWrite {
    /// Typed writes and atomic operations.
    Elements,
    /// Media blocks, which take the width of the surface as a number of dwords.
    Block,
}

impl ImageWrite {
    /// How a message writes an image; `None` for other messages.
    pub fn of(function: SharedFunction, descriptor: u32) -> Option<ImageWrite> {
        if function != SharedFunction::DataPort1 {
            return None;
        }
        match DataPort1MessageDescriptor::unpack_lossy(&[descriptor]).message_type {
            MtDp1::MT1W_TS | MtDp1::MT1A_TA | MtDp1::MT1A_TA4X2 => Some(ImageWrite::Elements),
            MtDp1::MT1W_MB => Some(ImageWrite::Block),
            _ => None,
        }
    }

    /// The surface with the width that the message uses.
    pub fn surface(self, surface: Surface) -> Surface {
        match self {
            ImageWrite::Elements => surface,
            ImageWrite::Block => media_block::in_texels(&surface),
        }
    }
}
