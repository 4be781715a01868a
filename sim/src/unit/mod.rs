//! Shared functions: what the messages of threads reach.
//!
//! A [`Port`] is one thread's door to them: it knows the surfaces that the thread's binding table names and delivers
//! each message to its unit: [`dataport`], [`spawner`]. Units never look back at what started the thread.

pub mod dataport;
pub mod spawner;

#[cfg(test)]
mod tests;

use crate::context::Exec;
use crate::eu::Stop;
use crate::eu::regions::{GRF_BYTES, REGISTER, Registers};
use crate::eu::thread::{Environment, Message, Trap};
use crate::fault::Fault;
use crate::kernels;
use crate::observe::{Event, Observer};
use crate::surface::Surface;
use crate::watchdog::INSTRUCTION;
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::messages::MessageDescriptor;
use genxml::gen8::state::{BindingTableState, RenderSurfaceState, RenderSurfaceStateMediaBoundaryPixelMode};
use std::sync::Arc;

/// A surface as a binding table names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// Where it lies.
    pub surface: Surface,
    /// What reads above and below it return.
    pub boundary: RenderSurfaceStateMediaBoundaryPixelMode,
}

/// The surfaces of the threads of one packet, looked up when a message first names them.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// Graphics address that surface state offsets count from.
    pub base: u64,
    /// Graphics address of the binding table.
    pub table: u64,
    found: Vec<(u8, Bound)>,
}

impl Bindings {
    /// A binding table at `table`, pointing to surface states relative to `base`.
    pub fn new(base: u64, table: u64) -> Bindings {
        Bindings { base, table, found: Vec::new() }
    }

    /// The surface of entry `index`.
    ///
    /// # Errors
    /// A page fault on the way to it, or a surface state that asks for something that is not possible.
    pub fn surface<O: Observer>(&mut self, exec: &Exec<'_, O>, index: u8) -> Result<Bound, Fault> {
        if let Some((_, bound)) = self.found.iter().find(|(known, _)| *known == index) {
            return Ok(*bound);
        }
        let bound = self.resolve(exec, index)?;
        self.found.push((index, bound));
        Ok(bound)
    }

    fn resolve<O: Observer>(&self, exec: &Exec<'_, O>, index: u8) -> Result<Bound, Fault> {
        let entry = self.table.wrapping_add(4 * u64::from(index));
        let dword = exec
            .vm
            .read_u32(entry)
            .map_err(|fault| exec.page(fault, format!("binding table entry {index}")))?;
        let pointer = BindingTableState::unpack_lossy(&[dword]).surface_state_pointer;
        let mut dwords = [0; RenderSurfaceState::DWORDS];
        exec.vm
            .read(self.base.wrapping_add(pointer.get()), bytemuck::must_cast_slice_mut(&mut dwords))
            .map_err(|fault| exec.page(fault, format!("surface state of binding table entry {index}")))?;
        let state = RenderSurfaceState::unpack_lossy(&dwords);
        let surface = Surface::resolve(&state).map_err(|bad| {
            if bad.unimplemented {
                exec.unimplemented(
                    format!(
                        "a surface (binding table entry {index}) with {} = {:#x}: {}",
                        bad.field, bad.value, bad.why
                    ),
                    "2d, RENDER_SURFACE_STATE",
                )
            } else {
                exec.bad_field(bad.field, bad.value, format!("binding table entry {index}: {}", bad.why))
            }
        })?;
        Ok(Bound { surface, boundary: state.media_boundary_pixel_mode })
    }
}

/// One thread's door to memory and to the shared functions.
pub struct Port<'p, 'a, O: Observer> {
    /// The machine.
    pub exec: &'p mut Exec<'a, O>,
    /// Surfaces by binding table index.
    pub bindings: &'p mut Bindings,
    /// Graphics address of the kernel, for reports.
    pub kernel: u64,
}

impl<O: Observer> Port<'_, '_, O> {
    /// Something that the model lacks, met by the message at `ip`.
    #[cold]
    pub fn missing(&self, what: &str, message: &Message, page: &'static str) -> Fault {
        self.exec.unimplemented(
            format!(
                "{what} (message to {:?}, descriptor {:#010x}, in the kernel at {}, +{:#x})",
                message.function,
                message.descriptor,
                crate::fault::Va(self.kernel),
                message.ip
            ),
            page,
        )
    }

    /// A message that breaks the rules.
    #[cold]
    pub fn illegal(&self, why: String, message: &Message) -> Fault {
        Fault::IllegalInstruction { kernel: self.kernel, ip: message.ip, why: why.into(), at: self.exec.at }
    }
}

impl<O: Observer> Environment for Port<'_, '_, O> {
    #[inline(always)]
    fn step(&mut self, offset: u32, mask: u32) -> Result<(), Fault> {
        self.exec.observer.event(&Event::Instruction { kernel: self.kernel, ip: offset, mask });
        self.exec.spend(INSTRUCTION)
    }

    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        let descriptor = MessageDescriptor::unpack_lossy(&[message.descriptor]);
        let sent = descriptor.message_length.get() as usize * REGISTER;
        if message.payload + sent > GRF_BYTES {
            return Err(self.illegal("the payload goes on behind r127".into(), message));
        }
        let back = descriptor.response_length.get() as usize * REGISTER;
        match message.response {
            Some(first) if first + back > GRF_BYTES => {
                return Err(self.illegal("the response goes on behind r127".into(), message));
            }
            None if back > 0 && !message.eot => {
                // Hardware drops what comes back to null; the units write nothing then.
            }
            _ => {}
        }
        match message.function {
            SharedFunction::DataPort0 => dataport::data_cache_0(self, registers, message),
            SharedFunction::DataPort1 => dataport::data_cache_1(self, registers, message),
            SharedFunction::DataPortConstant => dataport::constant_cache(self, registers, message),
            SharedFunction::ThreadSpawner => spawner::message(self, message),
            SharedFunction::Gateway => {
                Err(self.missing("the message gateway", message, "G45 vol 4, message gateway"))
            }
            SharedFunction::Sampler => Err(self.missing("the sampler", message, "2d p.257")),
            _ => Err(self.missing("this shared function", message, "2b p.28")),
        }
    }

    fn timestamp(&self) -> u64 {
        self.exec.budget.timestamp()
    }

    #[cold]
    fn trap(&self, trap: Trap, offset: u32) -> Fault {
        match trap {
            Trap::Missing { what, page } => self.exec.unimplemented(
                format!("{what} (in the kernel at {}, +{offset:#x})", crate::fault::Va(self.kernel)),
                page,
            ),
            Trap::Exception(exception) => {
                Fault::Exception { exception, kernel: self.kernel, ip: offset, at: self.exec.at }
            }
            Trap::Illegal(why) => Fault::IllegalInstruction {
                kernel: self.kernel,
                ip: offset,
                why: why.into(),
                at: self.exec.at,
            },
        }
    }
}

/// A kernel and what its threads share.
#[derive(Clone, Debug)]
pub struct Program {
    /// The decoded kernel.
    pub kernel: Arc<crate::eu::Kernel>,
    /// Surfaces.
    pub bindings: Bindings,
}

impl Program {
    /// Runs one thread to its end.
    ///
    /// # Errors
    /// Any [`Fault`] of the thread.
    pub fn run<O: Observer>(
        &mut self,
        exec: &mut Exec<'_, O>,
        launch: &crate::eu::Launch,
    ) -> Result<(), Fault> {
        exec.observer.event(&Event::Thread { kernel: self.kernel.address, payload: &launch.payload });
        let mut thread = crate::eu::Thread::new(launch);
        loop {
            let mut port = Port { exec, bindings: &mut self.bindings, kernel: self.kernel.address };
            match thread.resume(&self.kernel, &mut port)? {
                Stop::End => break,
                Stop::Decode(offset) => kernels::extend(exec, &mut self.kernel, offset),
                stop => return Err(thread.stuck(stop, &self.kernel, &port)),
            }
        }
        exec.stats.threads += 1;
        exec.stats.instructions += thread.executed();
        Ok(())
    }
}
