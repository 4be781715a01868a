//! Packets of the resource streamer. The functions pass the fields of a packet to the unit
//! ([`crate::unit::resource_streamer`]).

use super::flow::Flow;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::unit::resource_streamer::chip::{self, Dx9Stage, Valid};
use crate::unit::resource_streamer::gather::Gather;
use crate::unit::resource_streamer::pool::{self, Pool};
use crate::unit::resource_streamer::{ResourceStreamer, dx9, tables};
use crate::unit::stage::Stage;
use genxml::core::packet::{Entries, Entry};
use genxml::gen8::RenderPacket;
use genxml::gen8::mi::{
    MiRsContext, MiRsContextResourceStreamerSave, MiRsControl, MiRsControlResourceStreamerControl,
    MiRsStoreDataImm,
};
use genxml::gen8::render3d_binding::{
    ThreeDStateBindingTableEditDs, ThreeDStateBindingTableEditGs, ThreeDStateBindingTableEditHs,
    ThreeDStateBindingTableEditPs, ThreeDStateBindingTableEditVs, ThreeDStateBindingTablePoolAlloc,
};
use genxml::gen8::render3d_constants::{
    ThreeDStateDx9ConstantBufferPoolAlloc, ThreeDStateDx9ConstantbPs, ThreeDStateDx9ConstantbVs,
    ThreeDStateDx9ConstantfPs, ThreeDStateDx9ConstantfVs, ThreeDStateDx9ConstantiPs,
    ThreeDStateDx9ConstantiVs, ThreeDStateDx9GenerateActivePs, ThreeDStateDx9GenerateActiveVs,
    ThreeDStateDx9LocalValidPs, ThreeDStateDx9LocalValidVs, ThreeDStateGatherConstantPs,
    ThreeDStateGatherConstantVs, ThreeDStateGatherPoolAlloc,
};

/// MI_RS_CONTROL: the resource streamer follows the rest of the batch, or stops
/// (assumptions::RESOURCE_STREAMER_FOLLOWS_BATCHES).
pub fn control(_: &mut Exec<'_>, packet: &MiRsControl) -> Result<Flow, Fault> {
    let start = MiRsControlResourceStreamerControl::START;
    Ok(Flow::ResourceStreamer(packet.resource_streamer_control == start))
}

/// MI_RS_CONTEXT: saves or restores the state of the resource streamer
/// (assumptions::RS_CONTEXT_IS_A_COPY).
pub fn context(exec: &mut Exec<'_>, packet: &MiRsContext) -> Result<(), Fault> {
    if packet.resource_streamer_save == MiRsContextResourceStreamerSave::SAVE {
        chip::save(exec);
        return Ok(());
    }
    chip::restore(exec)
}

/// MI_RS_STORE_DATA_IMM, the MI_STORE_DATA_IMM of the resource streamer: writes a dword
/// (gen8_facts 2.1; assumptions::CORE_0_ADDS_NO_OFFSET).
pub fn store_data_imm(exec: &mut Exec<'_>, packet: &MiRsStoreDataImm) -> Result<(), Fault> {
    chip::running(exec)?;
    let (address, value) = (packet.destination_address.va48(), packet.data_dword_0.get() as u32);
    crate::machine::memory::write(exec, false, address, value, "Destination Address")
}

/// Defines the functions for 3DSTATE_BINDING_TABLE_EDIT_*.
macro_rules! edits {
    ($($name:ident: $packet:ident, $stage:ident;)*) => {$(
        pub(super) fn $name(exec: &mut Exec<'_>, packet: &$packet<'_>) -> Result<(), Fault> {
            let clear = packet.binding_table_block_clear.get();
            let entries = packet.entry.iter();
            tables::edit(exec, Stage::$stage, packet.binding_table_edit_target, clear, entries)
        }
    )*};
}

edits! {
    edit_vs: ThreeDStateBindingTableEditVs, Vertex;
    edit_hs: ThreeDStateBindingTableEditHs, Hull;
    edit_ds: ThreeDStateBindingTableEditDs, Domain;
    edit_gs: ThreeDStateBindingTableEditGs, Geometry;
    edit_ps: ThreeDStateBindingTableEditPs, Pixel;
}

/// Refuses a packet whose values do not fill whole registers of four dwords (2a p.80-87).
fn whole<T: Entry>(exec: &Exec<'_>, values: Entries<'_, T>) -> Result<(), Fault> {
    match values {
        Entries::Dwords(dwords) if !dwords.len().is_multiple_of(4) => Err(exec.bad_field(
            "DWord Length",
            dwords.len() as u64,
            "the packet must hold whole registers of four dwords: use a multiple of 4",
        )),
        _ => Ok(()),
    }
}

/// Defines the functions for the packets of a stage that set the constant registers of DX9, set
/// their valid bits, and write a constant buffer.
macro_rules! dx9 {
    ($stage:ident: $floats:ident $f:ident, $integers:ident $i:ident, $booleans:ident $b:ident,
        $valid:ident $v:ident, $generate:ident $g:ident.$pointer:ident $field:literal) => {
        pub(super) fn $floats(exec: &mut Exec<'_>, packet: &$f<'_>) -> Result<(), Fault> {
            whole(exec, packet.entry)?;
            let (global, first) =
                (packet.global_constant_register, packet.constant_register_index.get());
            let values = packet.entry.iter().map(|entry| entry.pack());
            dx9::set(exec, Dx9Stage::$stage, global, first, values, |set| &mut set.floats)
        }

        pub(super) fn $integers(exec: &mut Exec<'_>, packet: &$i<'_>) -> Result<(), Fault> {
            whole(exec, packet.entry)?;
            let (global, first) =
                (packet.global_constant_register, packet.constant_register_index.get());
            let values = packet.entry.iter().map(|entry| entry.pack());
            dx9::set(exec, Dx9Stage::$stage, global, first, values, |set| &mut set.integers)
        }

        pub(super) fn $booleans(exec: &mut Exec<'_>, packet: &$b<'_>) -> Result<(), Fault> {
            let (global, first) =
                (packet.global_constant_register, packet.constant_register_index.get());
            let values = packet.entry.iter().map(|entry| entry.component.get() as u32);
            dx9::set(exec, Dx9Stage::$stage, global, first, values, |set| &mut set.booleans)
        }

        pub(super) fn $valid(exec: &mut Exec<'_>, packet: &$v) -> Result<(), Fault> {
            let valid = Valid {
                floats: packet.local_constant_f_valid_bits.map(|bits| bits.get() as u32),
                integers: packet.local_constant_i_valid_bits.get() as u32,
                booleans: packet.local_constant_b_valid_bits.get() as u32,
            };
            dx9::set_valid(exec, Dx9Stage::$stage, valid)
        }

        pub(super) fn $generate(exec: &mut Exec<'_>, packet: &$g) -> Result<(), Fault> {
            let (hides, clamp) = (packet.dx9_enable, packet.clamp_enable);
            let place = ($field, packet.$pointer.get());
            dx9::generate(exec, Dx9Stage::$stage, place, hides, clamp)
        }
    };
}

dx9! {
    Vertex: floats_vs ThreeDStateDx9ConstantfVs, integers_vs ThreeDStateDx9ConstantiVs,
    booleans_vs ThreeDStateDx9ConstantbVs, valid_vs ThreeDStateDx9LocalValidVs,
    generate_vs ThreeDStateDx9GenerateActiveVs.pointer_to_vs_constant_buffer
        "Pointer to VS Constant Buffer"
}
dx9! {
    Pixel: floats_ps ThreeDStateDx9ConstantfPs, integers_ps ThreeDStateDx9ConstantiPs,
    booleans_ps ThreeDStateDx9ConstantbPs, valid_ps ThreeDStateDx9LocalValidPs,
    generate_ps ThreeDStateDx9GenerateActivePs.pointer_to_ps_constant_buffer
        "Pointer to PS Constant Buffer"
}

/// Executes what the resource streamer does for a packet of latched state. The caller has already
/// stored the packet.
///
/// # Errors
/// The faults of the functions of [`crate::unit::resource_streamer`].
pub fn latched(exec: &mut Exec<'_>, packet: &RenderPacket<'_>) -> Result<(), Fault> {
    match packet {
        RenderPacket::ThreeDStateBindingTablePoolAlloc(it) => table_pool(exec, &it.unpack_lossy()),
        RenderPacket::ThreeDStateGatherPoolAlloc(it) => gather_pool(exec, &it.unpack_lossy()),
        RenderPacket::ThreeDStateDx9ConstantBufferPoolAlloc(it) => {
            dx9_pool(exec, &it.unpack_lossy())
        }
        RenderPacket::ThreeDStateBindingTablePointersVs(it) => {
            tables::write(exec, Stage::Vertex, it.unpack_lossy().pointer_to_vs_binding_table.get())
        }
        RenderPacket::ThreeDStateBindingTablePointersHs(it) => {
            tables::write(exec, Stage::Hull, it.unpack_lossy().pointer_to_hs_binding_table.get())
        }
        RenderPacket::ThreeDStateBindingTablePointersDs(it) => {
            tables::write(exec, Stage::Domain, it.unpack_lossy().pointer_to_ds_binding_table.get())
        }
        RenderPacket::ThreeDStateBindingTablePointersGs(it) => {
            let pointer = it.unpack_lossy().pointer_to_gs_binding_table.get();
            tables::write(exec, Stage::Geometry, pointer)
        }
        RenderPacket::ThreeDStateBindingTablePointersPs(it) => {
            tables::write(exec, Stage::Pixel, it.unpack_lossy().pointer_to_ps_binding_table.get())
        }
        packet => gather(exec, packet),
    }
}

/// Executes 3DSTATE_GATHER_CONSTANT_*; ignores all other packets.
fn gather(exec: &mut Exec<'_>, packet: &RenderPacket<'_>) -> Result<(), Fault> {
    macro_rules! execute {
        ($packet:expr, $stage:ident, $dx9:expr) => {{
            let it = $packet.unpack_lossy();
            let gather = Gather {
                stage: Stage::$stage,
                valid: it.constant_buffer_valid.get(),
                block: it.constant_buffer_binding_table_block.get(),
                offset: it.gather_buffer_offset.get(),
                dx9: $dx9(&it),
            };
            let entries = it.entries.iter().flat_map(|pair| [pair.entry_0, pair.entry_1]);
            gather.execute(exec, entries)
        }};
    }
    match packet {
        RenderPacket::ThreeDStateGatherConstantVs(packet) => {
            execute!(packet, Vertex, |it: &ThreeDStateGatherConstantVs<'_>| it
                .constant_buffer_dx9_enable)
        }
        RenderPacket::ThreeDStateGatherConstantPs(packet) => {
            execute!(packet, Pixel, |it: &ThreeDStateGatherConstantPs<'_>| it
                .constant_buffer_dx9_enable)
        }
        RenderPacket::ThreeDStateGatherConstantHs(packet) => execute!(packet, Hull, |_| false),
        RenderPacket::ThreeDStateGatherConstantDs(packet) => execute!(packet, Domain, |_| false),
        RenderPacket::ThreeDStateGatherConstantGs(packet) => execute!(packet, Geometry, |_| false),
        _ => Ok(()),
    }
}

/// 3DSTATE_BINDING_TABLE_POOL_ALLOC. The pipeline always gets the packet, the resource streamer
/// only while it follows the batch (2a p.28).
fn table_pool(exec: &mut Exec<'_>, packet: &ThreeDStateBindingTablePoolAlloc) -> Result<(), Fault> {
    let pool = Pool::of_tables(packet);
    pool::check(exec, pool, "Binding Table Pool Buffer Size")?;
    if exec.mode.resource_streamer {
        ResourceStreamer::chip(exec).table_pool = pool;
    }
    Ok(())
}

/// 3DSTATE_GATHER_POOL_ALLOC. To enable the pool, the resource streamer must follow the batch, and
/// the pool for binding tables must be enabled (2a p.111).
fn gather_pool(exec: &mut Exec<'_>, packet: &ThreeDStateGatherPoolAlloc) -> Result<(), Fault> {
    let pool = Pool::of_constants(packet);
    pool::check(exec, pool, "Gather Pool Buffer Size")?;
    if pool.is_some() {
        chip::running(exec)?;
        if ResourceStreamer::chip(exec).table_pool.is_none() {
            return Err(exec.bad_field(
                "Gather Pool Enable",
                1,
                "the pool needs the streamer's binding tables: enable them with \
                 3DSTATE_BINDING_TABLE_POOL_ALLOC first",
            ));
        }
    }
    if exec.mode.resource_streamer {
        ResourceStreamer::chip(exec).gather_pool = pool;
    }
    Ok(())
}

/// 3DSTATE_DX9_CONSTANT_BUFFER_POOL_ALLOC. Disabling the pool clears the valid bits of all local
/// constant registers (2a p.75).
fn dx9_pool(
    exec: &mut Exec<'_>,
    packet: &ThreeDStateDx9ConstantBufferPoolAlloc,
) -> Result<(), Fault> {
    let pool = Pool::of_dx9(packet);
    pool::check(exec, pool, "Dx9 Constant Buffer Pool Buffer Size")?;
    if pool.is_some() {
        chip::running(exec)?;
    }
    if exec.mode.resource_streamer {
        let chip = ResourceStreamer::chip(exec);
        chip.dx9_pool = pool;
        if pool.is_none() {
            chip.dx9.iter_mut().for_each(|constants| constants.valid = Valid::default());
        }
    }
    Ok(())
}
