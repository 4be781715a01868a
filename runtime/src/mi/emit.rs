//! Batches as the builder sees them, and what differs from engine to engine.

use crate::batch::{Batch, BatchError, Position};
use crate::engine::{Blitter, Command, Engine, Render, Video, VideoEnhance};
use crate::gen8::engines;
use crate::gen8::mi::*;
use crate::pipeline::{InPipeline, Neutral, Pipeline};
use genxml_core::address::Graphics;
use genxml_core::reflect::EngineBase;
use genxml_core::{Address, U, U64};

/// Something that takes the packets of engine `E`, one behind the other: a [`Batch`] in any pipeline, or what wraps one.
/// The packets are those that every pipeline takes.
pub trait Emit<E: Engine> {
    /// Names a packet, to replace it later.
    type Position: Copy;

    /// Appends a packet.
    ///
    /// # Errors
    /// If it does not fit.
    fn emit<C: Command<E> + InPipeline<Neutral>>(&mut self, packet: &C)
    -> Result<Self::Position, BatchError>;

    /// Replaces a packet by one of the same kind and length.
    ///
    /// # Errors
    /// If there is another packet.
    fn patch<C: Command<E> + InPipeline<Neutral>>(
        &mut self,
        position: Self::Position,
        packet: &C,
    ) -> Result<(), BatchError>;

    /// GPU address of the next packet.
    fn address(&self) -> u64;
}

impl<E: Engine, P: Pipeline> Emit<E> for Batch<E, P> {
    type Position = Position;

    fn emit<C: Command<E> + InPipeline<Neutral>>(&mut self, packet: &C) -> Result<Position, BatchError> {
        self.emit_neutral(packet)
    }

    fn patch<C: Command<E> + InPipeline<Neutral>>(
        &mut self,
        position: Position,
        packet: &C,
    ) -> Result<(), BatchError> {
        self.patch_neutral(position, packet)
    }

    fn address(&self) -> u64 {
        Batch::address(self)
    }
}

/// What is written when all work before it is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PostSync {
    /// This value.
    Immediate(u64),
    /// The time, in the units of TIMESTAMP.
    Timestamp,
}

macro_rules! packets {
    ($($name:ident: $type:ty,)*) => {
        /// The packets that a [`Builder`](super::Builder) emits and every engine takes.
        #[derive(Clone, Copy, Debug)]
        pub enum MiPacket<'a> {
            $(#[doc = concat!("[`", stringify!($type), "`].")] $name($type),)*
        }

        /// An engine whose command streamer has general registers and MI_MATH: all of them.
        pub trait MiEngine: Engine {
            /// Where its registers start.
            const BASE: EngineBase;

            /// Appends a packet.
            ///
            /// # Errors
            /// As [`Emit::emit`].
            fn emit<B: Emit<Self>>(batch: &mut B, packet: &MiPacket<'_>) -> Result<B::Position, BatchError>;

            /// Replaces a packet.
            ///
            /// # Errors
            /// As [`Emit::patch`].
            fn patch<B: Emit<Self>>(
                batch: &mut B,
                position: B::Position,
                packet: &MiPacket<'_>,
            ) -> Result<(), BatchError>;

            /// Has a qword written when all work before it is done: PIPE_CONTROL on render, MI_FLUSH_DW elsewhere.
            ///
            /// # Errors
            /// As [`Emit::emit`].
            fn post_sync<B: Emit<Self>>(
                batch: &mut B,
                to: Address<Graphics, 8, 64>,
                what: PostSync,
            ) -> Result<(), BatchError>;
        }

        /// An engine: its base and how it writes after work.
        macro_rules! engine {
            ($engine:ident, $base:ident, $post_sync:ident) => {
                impl MiEngine for $engine {
                    const BASE: EngineBase = engines::$base;

                    fn emit<B: Emit<Self>>(
                        batch: &mut B,
                        packet: &MiPacket<'_>,
                    ) -> Result<B::Position, BatchError> {
                        match packet { $(MiPacket::$name(packet) => batch.emit(packet),)* }
                    }

                    fn patch<B: Emit<Self>>(
                        batch: &mut B,
                        position: B::Position,
                        packet: &MiPacket<'_>,
                    ) -> Result<(), BatchError> {
                        match packet { $(MiPacket::$name(packet) => batch.patch(position, packet),)* }
                    }

                    fn post_sync<B: Emit<Self>>(
                        batch: &mut B,
                        to: Address<Graphics, 8, 64>,
                        what: PostSync,
                    ) -> Result<(), BatchError> {
                        $post_sync!(batch, to, what)
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
    BatchBufferStart: MiBatchBufferStart,
}

macro_rules! pipe_control {
    ($batch:ident, $to:ident, $what:ident) => {{
        let address = Address::from_bits($to.bits());
        let packet = match $what {
            PostSync::Immediate(value) => PipeControl {
                post_sync_operation: PipeControlPostSyncOperation::WRITE_IMMEDIATE_DATA,
                immediate_data: U64::from_bits(value),
                address,
                ..PipeControl::new()
            },
            PostSync::Timestamp => PipeControl {
                post_sync_operation: PipeControlPostSyncOperation::WRITE_TIMESTAMP,
                address,
                ..PipeControl::new()
            },
        };
        $batch.emit(&packet).map(drop)
    }};
}

macro_rules! flush_dw {
    ($batch:ident, $to:ident, $what:ident) => {{
        // Two dwords of data make it a write of a qword, and the packet its full length.
        let (post_sync_operation, value) = match $what {
            PostSync::Immediate(value) => (MiFlushDwPostSyncOperation::WRITE_IMMEDIATE_DATA, value),
            PostSync::Timestamp => (MiFlushDwPostSyncOperation::WRITE_TIMESTAMP, 0),
        };
        let data = [U::from_bits(value), U::from_bits(value >> 32)];
        let immediate_data = (&data).into();
        $batch
            .emit(&MiFlushDw { post_sync_operation, address: $to, immediate_data, ..MiFlushDw::new() })
            .map(drop)
    }};
}

engine!(Render, RCS, pipe_control);
engine!(Blitter, BCS, flush_dw);
engine!(Video, VCS, flush_dw);
engine!(VideoEnhance, VECS, flush_dw);
