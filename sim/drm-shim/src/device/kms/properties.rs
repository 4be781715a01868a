//! Properties of display objects, and blobs as values of properties.

use super::buffers::{FORMATS, MODIFIERS};
use super::display::{Blob, Kms, no_such_object};
use super::state::{CONNECTOR, CRTC, ENCODER, PLANE, State};
use crate::device::descriptor::Id;
use crate::device::host::Host;
use crate::device::outcome::Outcome;
use crate::uapi::{drm, mode};
use rustix::io::Errno;

/// First id of a property.
const FIRST: u32 = 40;
/// Id of the blob with the current mode.
pub(super) const MODE_BLOB: u32 = 60;
/// Id of the blob with the plane's formats and modifiers.
const FORMATS_BLOB: u32 = 61;
/// Largest size of a client's blob in bytes.
const MAX_BLOB: u32 = 1 << 20;

/// Types of display objects.
const ANY: u32 = 0;
const CRTC_TYPE: u32 = 0xcccc_cccc;
pub(crate) const CONNECTOR_TYPE: u32 = 0xc0c0_c0c0;
const ENCODER_TYPE: u32 = 0xe0e0_e0e0;
const PLANE_TYPE: u32 = 0xeeee_eeee;
const FB_TYPE: u32 = 0xfbfb_fbfb;
const PROPERTY_TYPE: u32 = 0xb0b0_b0b0;
const BLOB_TYPE: u32 = 0xbbbb_bbbb;

/// Capabilities that a client has enabled (SET_CLIENT_CAP).
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientCaps {
    /// True if the client sees all planes, the primary plane included.
    pub universal_planes: bool,
    /// True if the client uses atomic commits.
    pub atomic: bool,
}

impl ClientCaps {
    /// Executes the ioctl SET_CLIENT_CAP.
    pub(crate) fn set(&mut self, arg: &mut drm::Cap) -> Outcome {
        const STEREO_3D: u64 = 1;
        const UNIVERSAL_PLANES: u64 = 2;
        const ATOMIC: u64 = 3;
        const ASPECT_RATIO: u64 = 4;
        match (arg.capability, arg.value) {
            (STEREO_3D | ASPECT_RATIO, 0 | 1) => {}
            (UNIVERSAL_PLANES, on @ (0 | 1)) => self.universal_planes = on == 1,
            // The value 2 enables atomic commits, too.
            (ATOMIC, level @ 0..=2) => {
                self.atomic = level > 0;
                self.universal_planes = self.atomic;
            }
            _ => return Err(Errno::INVAL.into()),
        }
        Ok(())
    }
}

/// A property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(super) enum Property {
    Type,
    InFormats,
    FbId,
    CrtcId,
    SrcX,
    SrcY,
    SrcW,
    SrcH,
    CrtcX,
    CrtcY,
    CrtcW,
    CrtcH,
    InFenceFd,
    ModeId,
    Active,
    OutFencePtr,
    Dpms,
}

/// The type and range of a property's values.
enum Kind {
    /// Unsigned, from the first number to the second, both included.
    Range(u64, u64),
    /// Signed, from the first number to the second, both included.
    Signed(i64, i64),
    /// One of these names.
    Enum(&'static [&'static str]),
    /// Id of a blob.
    Blob,
    /// Id of a display object of this type.
    Object(u32),
}

/// Flags of a property. ATOMIC: visible to atomic clients only; IMMUTABLE: read-only.
const ATOMIC: u32 = 1 << 31;
const IMMUTABLE: u32 = 1 << 2;

struct Row(Property, &'static str, Kind, u32);

/// All properties, in the order of their ids. (Linux drm_mode_config.c, drm_blend.c)
const ROWS: [Row; 17] = [
    Row(Property::Type, "type", Kind::Enum(&["Overlay", "Primary", "Cursor"]), IMMUTABLE),
    Row(Property::InFormats, "IN_FORMATS", Kind::Blob, IMMUTABLE),
    Row(Property::FbId, "FB_ID", Kind::Object(FB_TYPE), ATOMIC),
    Row(Property::CrtcId, "CRTC_ID", Kind::Object(CRTC_TYPE), ATOMIC),
    Row(Property::SrcX, "SRC_X", Kind::Range(0, u32::MAX as u64), ATOMIC),
    Row(Property::SrcY, "SRC_Y", Kind::Range(0, u32::MAX as u64), ATOMIC),
    Row(Property::SrcW, "SRC_W", Kind::Range(0, u32::MAX as u64), ATOMIC),
    Row(Property::SrcH, "SRC_H", Kind::Range(0, u32::MAX as u64), ATOMIC),
    Row(Property::CrtcX, "CRTC_X", Kind::Signed(i32::MIN as i64, i32::MAX as i64), ATOMIC),
    Row(Property::CrtcY, "CRTC_Y", Kind::Signed(i32::MIN as i64, i32::MAX as i64), ATOMIC),
    Row(Property::CrtcW, "CRTC_W", Kind::Range(0, i32::MAX as u64), ATOMIC),
    Row(Property::CrtcH, "CRTC_H", Kind::Range(0, i32::MAX as u64), ATOMIC),
    Row(Property::InFenceFd, "IN_FENCE_FD", Kind::Signed(-1, i32::MAX as i64), ATOMIC),
    Row(Property::ModeId, "MODE_ID", Kind::Blob, ATOMIC),
    Row(Property::Active, "ACTIVE", Kind::Range(0, 1), ATOMIC),
    Row(Property::OutFencePtr, "OUT_FENCE_PTR", Kind::Range(0, u64::MAX), ATOMIC),
    Row(Property::Dpms, "DPMS", Kind::Enum(&["On", "Standby", "Suspend", "Off"]), 0),
];

const OF_PLANE: [Property; 13] = [
    Property::Type,
    Property::InFormats,
    Property::FbId,
    Property::CrtcId,
    Property::SrcX,
    Property::SrcY,
    Property::SrcW,
    Property::SrcH,
    Property::CrtcX,
    Property::CrtcY,
    Property::CrtcW,
    Property::CrtcH,
    Property::InFenceFd,
];
const OF_CRTC: [Property; 3] = [Property::Active, Property::ModeId, Property::OutFencePtr];
const OF_CONNECTOR: [Property; 2] = [Property::Dpms, Property::CrtcId];

impl Row {
    fn id(&self) -> u32 {
        FIRST + self.0 as u32
    }

    fn holds(&self, value: u64) -> bool {
        match self.2 {
            Kind::Range(least, most) => (least..=most).contains(&value),
            Kind::Signed(least, most) => (least..=most).contains(&(value as i64)),
            Kind::Enum(names) => value < names.len() as u64,
            Kind::Blob | Kind::Object(_) => value <= u32::MAX.into(),
        }
    }
}

fn row(id: u32) -> Option<&'static Row> {
    ROWS.get(id.checked_sub(FIRST)? as usize)
}

/// The properties of a display object; `None` if it has none, or if there is no such object.
fn of(object: u32) -> Option<&'static [Property]> {
    match object {
        PLANE => Some(&OF_PLANE),
        CRTC => Some(&OF_CRTC),
        CONNECTOR => Some(&OF_CONNECTOR),
        _ => None,
    }
}

/// The property with this id, if the object has it.
pub(super) fn property_of(object: u32, id: u32) -> Option<Property> {
    let property = row(id)?.0;
    of(object)?.contains(&property).then_some(property)
}

/// The property that a client sets, after checking that the object has it and that the value is in
/// range.
///
/// # Errors
/// ENOENT if the object does not exist or lacks the property; EINVAL if the property is read-only
/// or DPMS, or if the value is out of range.
pub(super) fn settable(object: u32, id: u32, value: u64) -> Result<Property, Errno> {
    let row = &ROWS[property_of(object, id).ok_or(Errno::NOENT)? as usize];
    if row.3 & IMMUTABLE != 0 || row.0 == Property::Dpms || !row.holds(value) {
        return Err(Errno::INVAL);
    }
    Ok(row.0)
}

impl State {
    /// The value of an object's property.
    fn value(&self, object: u32, property: Property) -> u64 {
        let signed = |value: i32| i64::from(value) as u64;
        let on = |on: bool| if on { CRTC.into() } else { 0 };
        match property {
            // The enum value of a primary plane.
            Property::Type => 1,
            Property::InFormats => FORMATS_BLOB.into(),
            Property::FbId => self.fb.into(),
            Property::CrtcId => on(if object == PLANE { self.plane } else { self.connector }),
            Property::SrcX => self.source[0].into(),
            Property::SrcY => self.source[1].into(),
            Property::SrcW => self.source[2].into(),
            Property::SrcH => self.source[3].into(),
            Property::CrtcX => signed(self.destination[0]),
            Property::CrtcY => signed(self.destination[1]),
            Property::CrtcW => signed(self.destination[2]),
            Property::CrtcH => signed(self.destination[3]),
            Property::InFenceFd => u64::MAX,
            Property::ModeId => self.mode.map_or(0, |_| MODE_BLOB.into()),
            Property::Active => self.active.into(),
            Property::OutFencePtr => 0,
            Property::Dpms => {
                if self.active {
                    0
                } else {
                    3
                }
            }
        }
    }
}

impl Kms {
    /// Executes the ioctl GETPROPERTY.
    pub(crate) fn property(&self, host: &dyn Host, arg: &mut mode::GetProperty) -> Outcome {
        let Some(row) = row(arg.prop_id) else { return no_such_object() };
        arg.name = name(row.1);
        let (kind, values): (u32, Vec<u64>) = match row.2 {
            Kind::Range(least, most) => (1 << 1, vec![least, most]),
            Kind::Signed(least, most) => (2 << 6, vec![least as u64, most as u64]),
            Kind::Enum(names) => (1 << 3, (0..names.len() as u64).collect()),
            Kind::Blob => (1 << 4, vec![]),
            Kind::Object(kind) => (1 << 6, vec![kind.into()]),
        };
        arg.flags = kind | row.3;
        host.put_list(arg.values_ptr, &mut arg.count_values, &values)?;
        let names: Vec<mode::PropertyEnum> = match row.2 {
            Kind::Enum(names) => names
                .iter()
                .enumerate()
                .map(|(value, text)| mode::PropertyEnum { value: value as u64, name: name(text) })
                .collect(),
            _ => Vec::new(),
        };
        Ok(host.put_list(arg.enum_blob_ptr, &mut arg.count_enum_blobs, &names)?)
    }

    /// Ids and values of an object's properties that the client may see; `None` if the object has
    /// no properties.
    pub(super) fn list(&self, object: u32, client: ClientCaps) -> Option<(Vec<u32>, Vec<u64>)> {
        let seen = |row: &&Row| client.atomic || row.3 & ATOMIC == 0;
        let rows = of(object)?.iter().map(|property| &ROWS[*property as usize]).filter(seen);
        Some(rows.map(|row| (row.id(), self.state.value(object, row.0))).unzip())
    }

    /// The type of a display object; `None` if no object has this id. All types share the ids.
    fn kind(&self, id: u32) -> Option<u32> {
        match id {
            PLANE => Some(PLANE_TYPE),
            CRTC => Some(CRTC_TYPE),
            CONNECTOR => Some(CONNECTOR_TYPE),
            ENCODER => Some(ENCODER_TYPE),
            _ if row(id).is_some() => Some(PROPERTY_TYPE),
            _ if self.frame_buffers.contains_key(&id) => Some(FB_TYPE),
            _ => self.blob(id).map(|_| BLOB_TYPE),
        }
    }

    /// Ids of all objects, in order.
    pub(super) fn all_objects(&self) -> Vec<u32> {
        let display = [CRTC, ENCODER, CONNECTOR, PLANE].into_iter();
        let blobs = [MODE_BLOB, FORMATS_BLOB].into_iter().filter(|id| self.blob(*id).is_some());
        let made = self.frame_buffers.keys().chain(self.blobs.keys()).copied();
        let mut all: Vec<u32> =
            display.chain(ROWS.iter().map(Row::id)).chain(blobs).chain(made).collect();
        all.sort_unstable();
        all
    }

    /// Returns ENOENT unless there is an object with this id and this type; type 0 is any type.
    pub(super) fn find(&self, id: u32, kind: u32) -> Result<(), Errno> {
        let found = self.kind(id).is_some_and(|own| [ANY, own].contains(&kind));
        found.then_some(()).ok_or(Errno::NOENT)
    }

    /// OBJ_GETPROPERTIES. Encoders, frame buffers, blobs and properties have no properties: EINVAL.
    /// (Linux drm_mode_object.c)
    pub(crate) fn properties(
        &self,
        host: &dyn Host,
        client: ClientCaps,
        arg: &mut mode::ObjGetProperties,
    ) -> Outcome {
        self.find(arg.obj_id, arg.obj_type)?;
        let (ids, values) = self.list(arg.obj_id, client).ok_or(Errno::INVAL)?;
        let mut room = arg.count_props;
        host.put_list(arg.props_ptr, &mut arg.count_props, &ids)?;
        Ok(host.put_list(arg.prop_values_ptr, &mut room, &values)?)
    }

    /// The contents of a blob; `None` if the blob does not exist.
    pub(super) fn blob(&self, id: u32) -> Option<Vec<u8>> {
        match id {
            MODE_BLOB => self.state.mode.map(|mode| bytemuck::bytes_of(&mode).to_vec()),
            FORMATS_BLOB => Some(formats()),
            _ => self.blobs.get(&id).map(|blob| blob.bytes.clone()),
        }
    }

    /// Executes the ioctl GETPROPBLOB.
    pub(crate) fn get_blob(&self, host: &dyn Host, arg: &mut mode::Blob) -> Outcome {
        let Some(bytes) = self.blob(arg.blob_id) else { return no_such_object() };
        if arg.length as usize == bytes.len() {
            host.write(arg.data, &bytes)?;
        }
        arg.length = bytes.len() as u32;
        Ok(())
    }

    /// Executes the ioctl CREATEPROPBLOB.
    pub(crate) fn create_blob(
        &mut self,
        host: &dyn Host,
        owner: Id,
        arg: &mut mode::CreateBlob,
    ) -> Outcome {
        if !(1..=MAX_BLOB).contains(&arg.length) {
            return Err(Errno::INVAL.into());
        }
        let bytes = host.array(arg.data, arg.length.into())?;
        arg.blob_id = self.number();
        self.blobs.insert(arg.blob_id, Blob { bytes, owner });
        Ok(())
    }

    /// Executes the ioctl DESTROYPROPBLOB.
    pub(crate) fn destroy_blob(&mut self, owner: Id, arg: &mut mode::BlobId) -> Outcome {
        match self.blobs.get(&arg.blob_id) {
            Some(blob) if blob.owner == owner => self.blobs.remove(&arg.blob_id),
            Some(_) => return Err(Errno::PERM.into()),
            None => return no_such_object(),
        };
        Ok(())
    }
}

/// A name, padded with zeros.
fn name(text: &str) -> [u8; 32] {
    let mut name = [0; 32];
    name[..text.len()].copy_from_slice(text.as_bytes());
    name
}

/// The contents of the IN_FORMATS blob: each modifier is supported for all formats.
fn formats() -> Vec<u8> {
    let at = size_of::<mode::FormatModifierBlob>() as u32;
    let head = mode::FormatModifierBlob {
        version: 1,
        flags: 0,
        count_formats: FORMATS.len() as u32,
        formats_offset: at,
        count_modifiers: MODIFIERS.len() as u32,
        // The modifiers are aligned to 8 bytes.
        modifiers_offset: (at + size_of_val(&FORMATS) as u32).next_multiple_of(8),
    };
    let mut bytes = bytemuck::bytes_of(&head).to_vec();
    bytes.extend_from_slice(bytemuck::bytes_of(&FORMATS));
    bytes.resize(head.modifiers_offset as usize, 0);
    for (modifier, _) in MODIFIERS {
        let formats = (1 << FORMATS.len()) - 1;
        let entry = mode::FormatModifier { formats, modifier, ..Default::default() };
        bytes.extend_from_slice(bytemuck::bytes_of(&entry));
    }
    bytes
}
