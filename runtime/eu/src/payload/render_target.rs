//! Render target writes.

use super::header::{Header, Value};
use super::message::Message;
use super::part::{Registers, Simd};
use crate::gen8::eu_messages::{MsdRtw, MtDpRt, RenderTargetWriteSubtype};
use crate::gen8::message_headers::{MhRt, MhcRtC0, MhcRtPsm, MhcRtRti};
use crate::gen8::message_payloads as mdp;
use crate::instruction::SharedFunction;
use genxml_core::U;
use genxml_core::packet::Packed;
use genxml_core::reflect::Container;

/// A write of one colour for each channel to a render target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RenderTarget {
    /// Binding table index.
    pub surface: u8,
    /// Channels.
    pub simd: Simd,
    /// The last write for these pixels.
    pub last: bool,
    /// The message has [`Part::Source0Alpha`](super::Part::Source0Alpha), and a header.
    pub source_0_alpha: bool,
    /// The message has [`Part::SampleMask`](super::Part::SampleMask). Without a header, the state
    /// of the pixel shader must say the same.
    pub sample_mask: bool,
    /// The message has [`Part::Depth`](super::Part::Depth). Without a header, the state of the
    /// pixel shader must say the same.
    pub depth: bool,
    /// The message has a header, even if no other field needs one.
    pub header: bool,
    /// Number of the render target, which selects the entry of BLEND_STATE. If it is not 0, the
    /// message has a header.
    pub index: U<3>,
    /// Word with a bit for each pixel, or sample, that is written. With it, the message has a
    /// header. Without it, these are the pixels of the thread.
    pub pixels: Option<Value>,
}

impl RenderTarget {
    /// A write of the only render target, surface 0, without a header.
    pub const fn new(simd: Simd) -> RenderTarget {
        RenderTarget {
            surface: 0,
            simd,
            last: true,
            source_0_alpha: false,
            sample_mask: false,
            depth: false,
            header: false,
            index: U::ZERO,
            pixels: None,
        }
    }
}

/// Writes colours to a render target (2d p.255, p.354). The payload has
/// [`Part::Red`](super::Part::Red) to [`Part::Alpha`](super::Part::Alpha) and the optional parts.
/// A header has two registers: copies of r0 and r1, with the index, the pixels, and bits that say
/// which optional parts there are.
///
/// It does not end the thread; see [`Message::ends_thread`].
pub fn render_target_write(write: &RenderTarget) -> Message {
    let descriptor = MsdRtw {
        message_type: MtDpRt::MT_RTW,
        message_subtype: match write.simd {
            Simd::Eight => RenderTargetWriteSubtype::SIMD8_LO,
            Simd::Sixteen => RenderTargetWriteSubtype::SIMD16,
        },
        last_render_target_select: write.last,
        binding_table_index: U::from_bits(write.surface.into()),
        ..MsdRtw::new()
    };
    Message {
        exec_size: write.simd.channels(),
        header: header(write),
        parts: Registers::of(payload(write)),
        ..Message::new(SharedFunction::DataPortRender, descriptor.pack())
    }
}

fn header(write: &RenderTarget) -> Option<Header> {
    let indexed = write.index.get() != 0;
    if !(write.header || indexed || write.source_0_alpha || write.pixels.is_some()) {
        return None;
    }
    let mut header = Header { registers: 2, ..Header::of_r0() };
    let controls = MhcRtC0 {
        source_depth_present_to_render_target: write.depth,
        o_mask_to_render_target: write.sample_mask,
        source0_alpha_present_to_render_target: write.source_0_alpha,
        ..MhcRtC0::new()
    };
    header.set_bits(&MhRt { render_target_controls_0: controls, ..MhRt::new() }.pack());
    if indexed {
        let index = |render_target_index| MhRt {
            render_target_index: MhcRtRti { render_target_index },
            ..MhRt::new()
        };
        header.replace_dwords(&index(U::MAX).pack(), &index(write.index).pack());
    }
    if let Some(pixels) = write.pixels {
        let pixel_sample_enables = MhcRtPsm { pixel_sample_enables: U::MAX, ..MhcRtPsm::new() };
        header.replace(&MhRt { pixel_sample_enables, ..MhRt::new() }.pack(), pixels);
    }
    Some(header)
}

/// The structure of the payload (2d p.269-275, p.363-434, p.475-492).
fn payload(write: &RenderTarget) -> &'static Container {
    let parts = (write.depth, write.sample_mask, write.source_0_alpha);
    match (write.simd, parts) {
        (Simd::Eight, (false, false, false)) => mdp::MdpRtw8::INFO,
        (Simd::Eight, (false, false, true)) => mdp::MdpRtwA8::INFO,
        (Simd::Eight, (false, true, false)) => mdp::MdpRtwM8::INFO,
        (Simd::Eight, (false, true, true)) => mdp::MdpRtwMa8::INFO,
        (Simd::Eight, (true, false, false)) => mdp::MdpRtwZ8::INFO,
        (Simd::Eight, (true, false, true)) => mdp::MdpRtwZa8::INFO,
        (Simd::Eight, (true, true, false)) => mdp::MdpRtwZm8::INFO,
        (Simd::Eight, (true, true, true)) => mdp::MdpRtwZma8::INFO,
        (Simd::Sixteen, (false, false, false)) => mdp::MdpRtw16::INFO,
        (Simd::Sixteen, (false, false, true)) => mdp::MdpRtwA16::INFO,
        (Simd::Sixteen, (false, true, false)) => mdp::MdpRtwM16::INFO,
        (Simd::Sixteen, (false, true, true)) => mdp::MdpRtwMa16::INFO,
        (Simd::Sixteen, (true, false, false)) => mdp::MdpRtwZ16::INFO,
        (Simd::Sixteen, (true, false, true)) => mdp::MdpRtwZa16::INFO,
        (Simd::Sixteen, (true, true, false)) => mdp::MdpRtwZm16::INFO,
        (Simd::Sixteen, (true, true, true)) => mdp::MdpRtwZma16::INFO,
    }
}
