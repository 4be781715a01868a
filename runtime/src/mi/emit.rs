//! The traits between the builder of this module and a batch: how packets are appended, and what
//! differs between engines.

use crate::batch::{Access, Batch, BatchError, Label};
use crate::engine::{Blitter, Command, Engine, Render, Video, VideoEnhance};
use crate::gen8::engines;
use crate::gen8::mi::*;
use crate::pipeline::{InPipeline, Neutral, Pipeline};
use genxml_core::address::Graphics;
use genxml_core::reflect::EngineBase;
use genxml_core::{Address, U, U64};

/// An address in a packet that is relocated with an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reference {
    /// Address of the object.
    pub object: u64,
    /// The address that the packet holds.
    pub address: u64,
    /// The GPU's access.
    pub access: Access,
}

/// A sink for consecutive packets of engine `E`: a [`Batch`] in any pipeline, or a wrapper around
/// one. It gets only packets that every pipeline accepts.
pub trait Emit<E: Engine> {
    /// A target of jumps.
    type Label: Copy;

    /// Appends a packet that holds these references.
    ///
    /// # Errors
    /// If the packet does not fit.
    fn emit<C: Command<E> + InPipeline<Neutral>>(
        &mut self,
        packet: &C,
        references: impl IntoIterator<Item = Reference>,
    ) -> Result<(), BatchError>;

    /// A label that is not bound yet.
    fn label(&mut self) -> Self::Label;

    /// Binds the label to the next packet.
    ///
    /// # Errors
    /// If the label is bound already, or belongs to another batch.
    fn bind(&mut self, label: Self::Label) -> Result<(), BatchError>;

    /// Jumps to the label if the predicate is set. The jump stays at the level of the batch (first
    /// or second level).
    ///
    /// # Errors
    /// As [`emit`](Self::emit).
    fn jump_if(&mut self, label: Self::Label) -> Result<(), BatchError>;
}

impl<E: Engine, P: Pipeline> Emit<E> for Batch<E, P> {
    type Label = Label<P>;

    fn emit<C: Command<E> + InPipeline<Neutral>>(
        &mut self,
        packet: &C,
        references: impl IntoIterator<Item = Reference>,
    ) -> Result<(), BatchError> {
        let references = references.into_iter().map(|one| (one.object, one.address, one.access));
        self.emit_neutral(packet, references)
    }

    fn label(&mut self) -> Label<P> {
        Batch::label(self)
    }

    fn bind(&mut self, label: Label<P>) -> Result<(), BatchError> {
        Batch::bind(self, label)
    }

    fn jump_if(&mut self, label: Label<P>) -> Result<(), BatchError> {
        Batch::jump_if(self, label).map(drop)
    }
}

/// The value that is written when all earlier work is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PostSync {
    /// This constant.
    Immediate(u64),
    /// The time, in the units of TIMESTAMP.
    Timestamp,
}

macro_rules! packets {
    ($($name:ident: $type:ty,)*) => {
        /// The packets that a [`Builder`](super::Builder) emits on every engine.
        #[derive(Clone, Copy, Debug)]
        pub enum MiPacket<'a> {
            $(#[doc = concat!("[`", stringify!($type), "`].")] $name($type),)*
        }

        /// An engine whose command streamer has general registers and MI_MATH. All engines have
        /// both.
        pub trait MiEngine: Engine {
            /// Base of the engine's registers.
            const BASE: EngineBase;

            /// Appends a packet.
            ///
            /// # Errors
            /// As [`Emit::emit`].
            fn emit<B: Emit<Self>>(
                batch: &mut B,
                packet: &MiPacket<'_>,
                references: impl IntoIterator<Item = Reference>,
            ) -> Result<(), BatchError>;

            /// Emits packets that write a qword when all earlier work is done: PIPE_CONTROL on
            /// render, MI_FLUSH_DW on other engines.
            ///
            /// # Errors
            /// As [`Emit::emit`].
            fn post_sync<B: Emit<Self>>(
                batch: &mut B,
                to: Address<Graphics, 8, 64>,
                reference: Option<Reference>,
                what: PostSync,
            ) -> Result<(), BatchError>;
        }

        /// Implements `MiEngine` for an engine: the base of its registers, and its write after all
        /// earlier work.
        macro_rules! engine {
            ($engine:ident, $base:ident, $post_sync:ident) => {
                impl MiEngine for $engine {
                    const BASE: EngineBase = engines::$base;

                    fn emit<B: Emit<Self>>(
                        batch: &mut B,
                        packet: &MiPacket<'_>,
                        references: impl IntoIterator<Item = Reference>,
                    ) -> Result<(), BatchError> {
                        match packet { $(MiPacket::$name(packet) => batch.emit(packet, references),)* }
                    }

                    fn post_sync<B: Emit<Self>>(
                        batch: &mut B,
                        to: Address<Graphics, 8, 64>,
                        reference: Option<Reference>,
                        what: PostSync,
                    ) -> Result<(), BatchError> {
                        $post_sync!(batch, to, reference, what)
                    }
                }
            };
        }
    };
}

packets! {
    LoadRegisterImm: MiLoadRegisterImm<'a>,
    LoadRegisterMem: MiLoadRegisterMem,
    LoadRegisterReg: MiLoadRegisterReg,
    StoreRegisterMem: MiStoreRegisterMem,
    StoreDataImm: MiStoreDataImm<'a>,
    CopyMemMem: MiCopyMemMem,
    Math: MiMath<'a>,
    Predicate: MiPredicate,
    SetPredicate: MiSetPredicate,
    SemaphoreWait: MiSemaphoreWait,
    SemaphoreSignal: MiSemaphoreSignal,
    Atomic: MiAtomic<'a>,
    ConditionalBatchBufferEnd: MiConditionalBatchBufferEnd,
}

/// Emits two packets, as i915 does at the end of a request (gen8_emit_fini_breadcrumb_rcs): one
/// that writes the caches back, and one that waits for the first and writes the value. A single
/// packet was found to fail.
macro_rules! pipe_control {
    ($batch:ident, $to:ident, $reference:ident, $what:ident) => {{
        let flush = PipeControl {
            render_target_cache_flush_enable: true,
            depth_cache_flush_enable: true,
            dc_flush_enable: true,
            ..PipeControl::new()
        };
        $batch.emit(&flush, None)?;
        let (post_sync_operation, value) = match $what {
            PostSync::Immediate(value) => {
                (PipeControlPostSyncOperation::WRITE_IMMEDIATE_DATA, value)
            }
            PostSync::Timestamp => (PipeControlPostSyncOperation::WRITE_TIMESTAMP, 0),
        };
        let write = PipeControl {
            pipe_control_flush_enable: true,
            command_streamer_stall_enable: true,
            post_sync_operation,
            address: Address::from_bits($to.bits()),
            immediate_data: U64::from_bits(value),
            ..PipeControl::new()
        };
        $batch.emit(&write, $reference)
    }};
}

macro_rules! flush_dw {
    ($batch:ident, $to:ident, $reference:ident, $what:ident) => {{
        // Two dwords of data make the command write a qword, and give the packet its full length.
        let (post_sync_operation, value) = match $what {
            PostSync::Immediate(value) => (MiFlushDwPostSyncOperation::WRITE_IMMEDIATE_DATA, value),
            PostSync::Timestamp => (MiFlushDwPostSyncOperation::WRITE_TIMESTAMP, 0),
        };
        let data = [U::from_bits(value), U::from_bits(value >> 32)];
        let immediate_data = (&data).into();
        let write =
            MiFlushDw { post_sync_operation, address: $to, immediate_data, ..MiFlushDw::new() };
        $batch.emit(&write, $reference)
    }};
}

/// An engine whose commands can use the predicate: render. For other engines, the manual reserves
/// the predicate bits of MI_STORE_REGISTER_MEM and MI_BATCH_BUFFER_START (spec-xml/ERRATA.md).
#[diagnostic::on_unimplemented(
    message = "commands of the engine `{Self}` ignore the predicate",
    label = "`{Self}` has no predicated stores and jumps",
    note = "`Condition::select` chooses between values on every engine"
)]
pub trait Predication: MiEngine {}

impl Predication for Render {}

engine!(Render, RCS, pipe_control);
engine!(Blitter, BCS, flush_dw);
engine!(Video, VCS, flush_dw);
engine!(VideoEnhance, VECS, flush_dw);
