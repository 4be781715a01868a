//! The rules of the sanitizer `bounds`.

use super::super::finding::Rule;
use genxml::core::rule::Severity;

/// All rules.
pub const RULES: &[Rule] = &[
    Rule::error(
        "BOUNDS-BUFFER",
        "the access is beyond the end of the buffer: hardware reads 0, or drops what is written",
        "compare the offset with the size of the buffer before the access",
        "G45 vol 4, 5.10.2; 2d p.471",
    ),
    Rule::error(
        "BOUNDS-LOCAL",
        "the access is beyond the shared local memory of the group",
        "raise Shared Local Memory Size of the interface descriptor, or correct the offset",
        "2d p.232",
    ),
    Rule::error(
        "BOUNDS-IMAGE",
        "the coordinates are outside of the surface: hardware reads 0, or drops what is written",
        "compare the coordinates with the size of the surface before the access",
        "2d p.73, p.338",
    ),
    Rule::error(
        "BOUNDS-TEXEL",
        "ld reads a texel outside of the surface: hardware returns 0",
        "compare the coordinates with the size of the level before the message",
        "003:4064",
    ),
    Rule::error(
        "BOUNDS-SAMPLER",
        "the sampler state is beyond Dynamic State Buffer Size",
        "use a smaller sampler index, or put the state inside the buffer",
        "2a STATE_BASE_ADDRESS",
    ),
    Rule {
        id: "BOUNDS-BINDING-TABLE",
        severity: Severity::Warning,
        message: "the binding table index is not less than Binding Table Entry Count",
        remedy: "raise the count, or set it to 0 to prefetch nothing; a wrong index reads memory \
                 after the table",
        source: "2a 3DSTATE_PS; 2d p.231",
    },
    Rule::error(
        "BOUNDS-CONSTANTS",
        "threads get more constants than are loaded",
        "load more with MEDIA_CURBE_LOAD, or lower the read lengths of the interface descriptor",
        "2d p.231; gen8_facts 3.7",
    ),
    Rule::error(
        "BOUNDS-STATE",
        "the data is beyond Dynamic State Buffer Size",
        "raise the size, or put the data inside the buffer",
        "2a STATE_BASE_ADDRESS",
    ),
    Rule::error(
        "BOUNDS-OBJECT",
        "the access is outside of all memory objects of the driver",
        "make the object larger, or correct the address",
        "the kernel maps whole pages, so that the end of the last page is accessible by chance",
    ),
];

/// Index in [`RULES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Id {
    /// BOUNDS-BUFFER.
    Buffer,
    /// BOUNDS-LOCAL.
    Local,
    /// BOUNDS-IMAGE.
    Image,
    /// BOUNDS-TEXEL.
    Texel,
    /// BOUNDS-SAMPLER.
    Sampler,
    /// BOUNDS-BINDING-TABLE.
    Table,
    /// BOUNDS-CONSTANTS.
    Constants,
    /// BOUNDS-STATE.
    State,
    /// BOUNDS-OBJECT.
    Object,
}

impl Id {
    /// The rule.
    pub const fn rule(self) -> &'static Rule {
        &RULES[self as usize]
    }
}
