//! Engines as values and as types, and the traits that say which packets they accept.

use crate::reflect::Engines;
use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// An engine of the GPU, as a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EngineId {
    /// 3D, media and GPGPU (`render`, RCS).
    Render,
    /// The blitter (`blitter`, in captures `copy`, BCS).
    Blitter,
    /// The video codec (`video`, VCS).
    Video,
    /// VEBOX (`video-enhance`, in captures `video_enhance`, VECS).
    VideoEnhance,
}

impl EngineId {
    /// Every engine.
    pub const ALL: [EngineId; 4] =
        [EngineId::Render, EngineId::Blitter, EngineId::Video, EngineId::VideoEnhance];

    /// The name in the specification's `engine` attribute.
    pub const fn name(self) -> &'static str {
        match self {
            EngineId::Render => "render",
            EngineId::Blitter => "blitter",
            EngineId::Video => "video",
            EngineId::VideoEnhance => "video-enhance",
        }
    }

    /// The name in a capture's manifest.
    pub const fn capture_name(self) -> &'static str {
        match self {
            EngineId::Render => "render",
            EngineId::Blitter => "copy",
            EngineId::Video => "video",
            EngineId::VideoEnhance => "video_enhance",
        }
    }

    /// The set with only this engine, in the form of the reflection tables.
    pub const fn set(self) -> Engines {
        match self {
            EngineId::Render => Engines::RENDER,
            EngineId::Blitter => Engines::BLITTER,
            EngineId::Video => Engines::VIDEO,
            EngineId::VideoEnhance => Engines::VIDEO_ENHANCE,
        }
    }
}

impl fmt::Display for EngineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The given name is not the name of an engine.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownEngine(pub String);

impl fmt::Display for UnknownEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let engines = "the engines are render, blitter (copy), video, video-enhance";
        write!(f, "no engine is called `{}`; {engines}", self.0)
    }
}

impl core::error::Error for UnknownEngine {}

crate::debug_as_display!(UnknownEngine);

impl FromStr for EngineId {
    type Err = UnknownEngine;

    /// Accepts the names of the specification, of captures, and the kernel's short names.
    fn from_str(name: &str) -> Result<Self, UnknownEngine> {
        Ok(match name {
            "render" | "rcs" => EngineId::Render,
            "blitter" | "copy" | "bcs" => EngineId::Blitter,
            "video" | "vcs" => EngineId::Video,
            "video-enhance" | "video_enhance" | "vecs" => EngineId::VideoEnhance,
            _ => return Err(UnknownEngine(name.to_owned())),
        })
    }
}

/// An engine as a type: a type parameter of batches.
pub trait Engine: Copy + fmt::Debug + Default + 'static {
    /// The engine as a value.
    const ID: EngineId;
}

macro_rules! engines {
    ($($(#[$doc:meta])* $name:ident, $command:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $name;
        impl Engine for $name { const ID: EngineId = EngineId::$name; }

        #[doc = concat!("A packet that a batch of [`", stringify!($name), "`] may hold.")]
        #[diagnostic::on_unimplemented(
            message = "`{Self}` is not a command of this engine",
            label = "this engine does not accept `{Self}`",
            note = "the first line of a command's documentation says which engines accept it; state goes into a heap"
        )]
        pub trait $command: crate::Instruction {}
        // Without this attribute, rustc's error reports the marker trait and lists other
        // commands.
        #[diagnostic::do_not_recommend]
        impl<T: $command> Command<$name> for T {}
    )*};
}

/// A packet that a batch for engine `E` may hold. Implemented through the marker trait of each
/// engine.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a command of the engine `{E}`",
    label = "a batch for `{E}` does not accept `{Self}`",
    note = "the first line of a command's documentation says which engines accept it; state goes into a heap"
)]
pub trait Command<E: Engine>: crate::Instruction {}

engines! {
    /// The render engine: 3D, media and GPGPU.
    Render, RenderCommand;
    /// The blitter.
    Blitter, BlitterCommand;
    /// The video codec engine.
    Video, VideoCommand;
    /// The video enhancement engine, VEBOX.
    VideoEnhance, VideoEnhanceCommand;
}
