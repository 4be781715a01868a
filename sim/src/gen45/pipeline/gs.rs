//! Geometry shader: a thread makes polygons and lines of an object (gen45_facts 7).

use super::common::{GEOMETRY_CHANNELS, begin, count, refuse};
use super::objects::Object;
use super::produced::Output;
use super::unit::{Unit, UnitState};
use crate::gen45::debug::{self, fixed};
use crate::gen45::urb::{self, Urb};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::render::vue::Vertices;
use genxml::gen45::registers::{GsInvocationCount, GsPrimitivesCount};
use genxml::gen45::state_units::GsState;
use genxml::gen45::thread_payloads::GsThreadPayload;
use genxml_core::U;

/// The geometry shader of a draw.
#[derive(Debug)]
pub struct GeometryShader {
    unit: Unit,
    counted: bool,
    /// What the newest thread put out.
    output: Output,
}

impl GeometryShader {
    /// Resolves the geometry shader.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for fields that no thread can run with; [`Fault::Unimplemented`] for
    /// reordered strips and several viewports.
    pub fn resolve(
        exec: &mut Exec<'_>,
        state: &GsState,
        table: u64,
    ) -> Result<GeometryShader, Fault> {
        refuse(exec, state.reorder_enable, "Reorder Enable of GS_STATE")?;
        refuse(exec, state.maximum_vpindex.get() != 0, "Maximum VPIndex of GS_STATE")?;
        let unit = Unit::resolve(exec, UnitState::from(state), table)?;
        Ok(GeometryShader { counted: state.gs_statistics_enable, output: Output::default(), unit })
    }

    /// Runs a thread for an object of `vertices`, and calls `each` for the objects that it puts
    /// out.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for entries that do not fit the URB; any [`Fault`] of the thread or of
    /// `each`.
    pub fn run(
        &mut self,
        exec: &mut Exec<'_>,
        vertices: &Vertices,
        object: &Object,
        each: &mut impl FnMut(&mut Exec<'_>, &Vertices, &Object) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        begin(exec, urb::Unit::Gs, &self.unit.state)?;
        let handle = exec.state.slots.get_mut::<Urb>().allocate();
        let header = self.unit.header();
        let start = GsThreadPayload {
            urb_return_handle: U::from_bits(handle.into()),
            primitive_topology_type: U::from_bits(object.code.bits()),
            per_thread_scratch_space: header.scratch_code,
            sampler_state_pointer: header.samplers,
            binding_table_pointer: header.binding_table,
            fftid: header.fftid,
            scratch_space_base_pointer: header.scratch,
            ..GsThreadPayload::new()
        };
        self.unit.begin(&start.pack());
        let corners = object.shape.vertices();
        for vertex in &object.vertices[..corners] {
            self.unit.push_entry(vertices.get(*vertex as usize));
        }
        let mut number = None;
        if self.unit.debugged() {
            let (thread, mark) = fixed::geometry_thread(exec, self.unit.state.kernel, corners);
            (self.unit.mark, number) = (Some(mark), Some(thread));
        }
        self.unit.run(exec, GEOMETRY_CHANNELS)?;
        self.output.take(exec, self.unit.state.rows);
        let mut made = 0;
        self.output.objects(&mut |object, vertices| {
            made += 1;
            if let Some(number) = number {
                fixed::produced(exec, debug::state::Unit::Geometry, number, object.vertices);
            }
            each(exec, vertices, object)
        })?;
        if self.counted {
            count(exec, GsInvocationCount::OFFSET, 1);
            count(exec, GsPrimitivesCount::OFFSET, made);
        }
        Ok(())
    }
}
