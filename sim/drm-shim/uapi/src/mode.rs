//! Mode setting (`drm_mode.h`).

use super::structures;

/// Numbers of the ioctls.
#[allow(missing_docs, reason = "the kernel's names")]
pub mod nr {
    pub const GETRESOURCES: u32 = 0xa0;
    pub const GETCRTC: u32 = 0xa1;
    pub const SETCRTC: u32 = 0xa2;
    pub const CURSOR: u32 = 0xa3;
    pub const GETGAMMA: u32 = 0xa4;
    pub const SETGAMMA: u32 = 0xa5;
    pub const GETENCODER: u32 = 0xa6;
    pub const GETCONNECTOR: u32 = 0xa7;
    pub const GETPROPERTY: u32 = 0xaa;
    pub const SETPROPERTY: u32 = 0xab;
    pub const GETPROPBLOB: u32 = 0xac;
    pub const GETFB: u32 = 0xad;
    pub const ADDFB: u32 = 0xae;
    pub const RMFB: u32 = 0xaf;
    pub const PAGE_FLIP: u32 = 0xb0;
    pub const DIRTYFB: u32 = 0xb1;
    pub const CREATE_DUMB: u32 = 0xb2;
    pub const MAP_DUMB: u32 = 0xb3;
    pub const DESTROY_DUMB: u32 = 0xb4;
    pub const GETPLANERESOURCES: u32 = 0xb5;
    pub const GETPLANE: u32 = 0xb6;
    pub const ADDFB2: u32 = 0xb8;
    pub const OBJ_GETPROPERTIES: u32 = 0xb9;
    pub const OBJ_SETPROPERTY: u32 = 0xba;
    pub const CURSOR2: u32 = 0xbb;
    pub const ATOMIC: u32 = 0xbc;
    pub const CREATEPROPBLOB: u32 = 0xbd;
    pub const DESTROYPROPBLOB: u32 = 0xbe;
    pub const CREATE_LEASE: u32 = 0xc6;
    pub const LIST_LESSEES: u32 = 0xc7;
    pub const GET_LEASE: u32 = 0xc8;
    pub const REVOKE_LEASE: u32 = 0xc9;
    pub const GETFB2: u32 = 0xce;
}

/// CREATE_LEASE: reads of the descriptor do not wait.
pub const LEASE_NONBLOCK: u32 = 0o4000;
/// ADDFB2: the image consists of two fields.
pub const FB_INTERLACED: u32 = 1;
/// ADDFB2: the modifiers are valid.
pub const FB_MODIFIERS: u32 = 2;
/// PAGE_FLIP, ATOMIC: send an event on completion.
pub const PAGE_FLIP_EVENT: u32 = 1;
/// PAGE_FLIP, ATOMIC: do not wait for the vertical blank.
pub const PAGE_FLIP_ASYNC: u32 = 2;

/// ATOMIC: only check the requested state, do not commit it.
pub const ATOMIC_TEST_ONLY: u32 = 0x100;
/// ATOMIC: do not wait for completion.
pub const ATOMIC_NONBLOCK: u32 = 0x200;
/// ATOMIC: permit a modeset.
pub const ATOMIC_ALLOW_MODESET: u32 = 0x400;

structures! {
    /// The timing of a mode.
    ModeInfo {
        clock: u32,
        hdisplay: u16, hsync_start: u16, hsync_end: u16, htotal: u16, hskew: u16,
        vdisplay: u16, vsync_start: u16, vsync_end: u16, vtotal: u16, vscan: u16,
        vrefresh: u32, flags: u32, kind: u32, name: [u8; 32],
    }
    /// Argument of GETRESOURCES.
    CardRes {
        fb_id_ptr: u64, crtc_id_ptr: u64, connector_id_ptr: u64, encoder_id_ptr: u64,
        count_fbs: u32, count_crtcs: u32, count_connectors: u32, count_encoders: u32,
        min_width: u32, max_width: u32, min_height: u32, max_height: u32,
    }
    /// Argument of GETCRTC and SETCRTC.
    Crtc {
        set_connectors_ptr: u64, count_connectors: u32, crtc_id: u32, fb_id: u32, x: u32, y: u32,
        gamma_size: u32, mode_valid: u32, mode: ModeInfo,
    }
    /// Argument of GETENCODER.
    GetEncoder {
        encoder_id: u32, encoder_type: u32, crtc_id: u32, possible_crtcs: u32, possible_clones: u32,
    }
    /// Argument of GETCONNECTOR.
    GetConnector {
        encoders_ptr: u64, modes_ptr: u64, props_ptr: u64, prop_values_ptr: u64,
        count_modes: u32, count_props: u32, count_encoders: u32,
        encoder_id: u32, connector_id: u32, connector_type: u32, connector_type_id: u32,
        connection: u32, mm_width: u32, mm_height: u32, subpixel: u32, pad: u32,
    }
    /// Argument of GETPROPERTY.
    GetProperty {
        values_ptr: u64, enum_blob_ptr: u64, prop_id: u32, flags: u32, name: [u8; 32],
        count_values: u32, count_enum_blobs: u32,
    }
    /// A named value of a property.
    PropertyEnum { value: u64, name: [u8; 32] }
    /// Argument of GETPROPBLOB.
    Blob { blob_id: u32, length: u32, data: u64 }
    /// Argument of CREATEPROPBLOB.
    CreateBlob { data: u64, length: u32, blob_id: u32 }
    /// Argument of DESTROYPROPBLOB.
    BlobId { blob_id: u32 }
    /// Header of the blob IN_FORMATS.
    FormatModifierBlob {
        version: u32, flags: u32, count_formats: u32, formats_offset: u32,
        count_modifiers: u32, modifiers_offset: u32,
    }
    /// A modifier in IN_FORMATS, with a bit for each of the 64 formats from `offset` on.
    FormatModifier { formats: u64, offset: u32, pad: u32, modifier: u64 }
    /// Argument of ATOMIC.
    Atomic {
        flags: u32, count_objs: u32, objs_ptr: u64, count_props_ptr: u64, props_ptr: u64,
        prop_values_ptr: u64, reserved: u64, user_data: u64,
    }
    /// Argument of OBJ_GETPROPERTIES.
    ObjGetProperties {
        props_ptr: u64, prop_values_ptr: u64, count_props: u32, obj_id: u32, obj_type: u32,
        pad: u32,
    }
    /// Argument of OBJ_SETPROPERTY.
    ObjSetProperty { value: u64, prop_id: u32, obj_id: u32, obj_type: u32, pad: u32 }
    /// Argument of SETPROPERTY.
    ConnectorSetProperty { value: u64, prop_id: u32, connector_id: u32 }
    /// Argument of ADDFB and GETFB.
    FbCmd { fb_id: u32, width: u32, height: u32, pitch: u32, bpp: u32, depth: u32, handle: u32 }
    /// Argument of ADDFB2 and GETFB2.
    FbCmd2 {
        fb_id: u32, width: u32, height: u32, pixel_format: u32, flags: u32,
        handles: [u32; 4], pitches: [u32; 4], offsets: [u32; 4], pad: u32, modifier: [u64; 4],
    }
    /// Argument of CREATE_LEASE.
    CreateLease { object_ids: u64, object_count: u32, flags: u32, lessee_id: u32, fd: i32 }
    /// Argument of LIST_LESSEES and GET_LEASE: room for a list of ids, and the list.
    LeaseList { count: u32, pad: u32, list_ptr: u64 }
    /// Argument of REVOKE_LEASE.
    RevokeLease { lessee_id: u32 }
    /// Argument of DIRTYFB.
    FbDirty { fb_id: u32, flags: u32, color: u32, num_clips: u32, clips_ptr: u64 }
    /// Argument of RMFB.
    FbId { fb_id: u32 }
    /// Argument of PAGE_FLIP.
    PageFlip { crtc_id: u32, fb_id: u32, flags: u32, reserved: u32, user_data: u64 }
    /// Argument of CREATE_DUMB.
    CreateDumb { height: u32, width: u32, bpp: u32, flags: u32, handle: u32, pitch: u32, size: u64 }
    /// Argument of MAP_DUMB.
    MapDumb { handle: u32, pad: u32, offset: u64 }
    /// Argument of DESTROY_DUMB.
    DestroyDumb { handle: u32 }
    /// Argument of GETPLANE.
    GetPlane {
        plane_id: u32, crtc_id: u32, fb_id: u32, possible_crtcs: u32, gamma_size: u32,
        count_format_types: u32, format_type_ptr: u64,
    }
    /// Argument of GETPLANERESOURCES.
    PlaneRes { plane_id_ptr: u64, count_planes: u32, pad: u32 }
    /// Argument of GETGAMMA and SETGAMMA.
    CrtcLut { crtc_id: u32, gamma_size: u32, red: u64, green: u64, blue: u64 }
}
