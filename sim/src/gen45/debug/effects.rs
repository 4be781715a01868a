//! What each field of the debug registers does in the model.

/// What a field does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The model does what the manual says.
    Executed,
    /// The value is stored and read back. It has no effect on results, for this reason.
    Accepted(&'static str),
    /// The model does not have the function: a fault names the field. The fault occurs at the write
    /// of the field, at the read of the word that the field selects, or when a thread or message
    /// needs the function.
    Missing(&'static str),
}

/// The effect of a field of a register. An empty field stands for all fields of the register
/// that have no row of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The register.
    pub register: &'static str,
    /// The field.
    pub field: &'static str,
    /// Its effect.
    pub effect: Effect,
}

const fn executed(register: &'static str) -> Row {
    Row { register, field: "", effect: Effect::Executed }
}

const fn accepted(register: &'static str, field: &'static str, why: &'static str) -> Row {
    Row { register, field, effect: Effect::Accepted(why) }
}

const fn refused(register: &'static str, field: &'static str, what: &'static str) -> Row {
    Row { register, field, effect: Effect::Missing(what) }
}

/// Words of a register that the manual does not describe.
const WORDS: &str = "the manual does not describe the words that can be selected";
/// Bits of the windower in the register of the vertex shader.
const COPY: &str = "the manual repeats the text of WIZ_CTL, which is about another unit";
/// Bits that G45 does not have.
const OLDER: &str = "only older devices have it";
/// One message at a time.
const ORDER: &str = "the model handles one message after the other in any case";
/// Snapshots of media threads.
const MEDIA: &str = "without snapshots of media threads, nothing reads it";

/// The fields, by register in the order of the offsets.
pub const EFFECTS: &[Row] = &[
    executed("SVG_CTL"),
    executed("SVG_RDATA"),
    accepted("SVG_WORK_CTL", "", OLDER),
    executed("VF_CTL"),
    executed("VF_STRG_VAL"),
    executed("VF_STR_VL_OVR"),
    executed("VF_VC_OVR"),
    executed("VF_STR_PSKIP"),
    executed("VF_MAX_PRIM"),
    executed("VF_RDATA"),
    executed("VS_CTL"),
    accepted("VS_CTL", "Future Debug Outputs", COPY),
    accepted("VS_CTL", "Kill Polygon", COPY),
    accepted("VS_CTL", "Kill Thread Dispatch", COPY),
    accepted("VS_CTL", "Subspan Instance Number", COPY),
    executed("VS_STRG_VAL"),
    executed("VS_RDATA"),
    executed("GS_CTL"),
    executed("GS_STRG_VAL"),
    executed("GS_RDATA"),
    executed("CL_CTL"),
    executed("CL_STRG_VAL"),
    executed("CL_RDATA"),
    executed("SF_CTL"),
    executed("SF_STRG_VAL"),
    executed("SF_MIN_PR_IND"),
    executed("SF_MAX_PR_IND"),
    executed("SF_CLIP_RMIN"),
    executed("SF_CLIP_RMAX"),
    executed("SF_RDATA"),
    executed("WIZ_CTL"),
    accepted("WIZ_CTL", "Future Debug Outputs", "no function is described"),
    accepted(
        "WIZ_CTL",
        "Ignore Color Scoreboard Stalls",
        "the model draws subspans one after the other: none waits for another",
    ),
    executed("WIZ_STRG_VAL"),
    executed("WIZ_RDATA"),
    refused("VFE_CTL", "Snapshot Enable", "snapshots of the video front end"),
    accepted("VFE_CTL", "Snapshot Complete", MEDIA),
    refused("VFE_CTL", "Snapshot Output Mux Select", WORDS),
    accepted("VFE_STRG_VAL", "", MEDIA),
    refused("VFE_RDATA", "", WORDS),
    refused("TS_CTL", "Thread Snapshot Enable", "snapshots of media threads"),
    refused("TS_CTL", "Snapshot All Root Threads", "snapshots of media threads"),
    refused("TS_CTL", "Snapshot All Child Threads", "snapshots of media threads"),
    accepted("TS_CTL", "Snapshot Complete", MEDIA),
    executed("TS_CTL"),
    accepted("TS_STRG_0-6VAL", "", MEDIA),
    accepted("TS_STRG_0-7VAL", "", MEDIA),
    executed("TS_RDATA"),
    executed("TD_CTL"),
    refused("TD_CTL", "Debug Data Mux Select", WORDS),
    executed("TD_CTL2"),
    accepted("TD_CTL2", "Active Thread Limit", OLDER),
    accepted("TD_CTL2", "Active Thread Limit Enable", OLDER),
    accepted(
        "TD_CTL2",
        "Thread Spawner Execution Mask Enable",
        "media threads run one after the other: any execution unit has the same results",
    ),
    executed("TD_VF_VS_EMSK"),
    executed("TD_GS_EMSK"),
    executed("TD_CLIP_EMSK"),
    executed("TD_SF_EMSK"),
    executed("TD_WIZ_EMSK"),
    executed("TD_0-6_EHTRG_VAL"),
    executed("TD_0-7_EHTRG_VAL"),
    executed("TD_0-6_EHTRG_MSK"),
    executed("TD_0-7_EHTRG_MSK"),
    refused("TD_RDATA", "", WORDS),
    accepted(
        "TD_TS_EMSK",
        "",
        "media threads run one after the other: any execution unit has the same results",
    ),
    executed("MATH_CTL"),
    accepted("MATH_CTL", "EM Unit Select", "the model has one math unit"),
    accepted("MATH_CTL", "Non-Pipeline Mode Enable", OLDER),
    executed("MATH_RDATA"),
    refused("ISC_L1CA_CTR", "Snapshot Output Mux Select", WORDS),
    refused("ISC_L1CA_RDATA", "", WORDS),
    executed("ISC_L1CA_BP_ADR1"),
    executed("ISC_L1CA_BP_ADR2"),
    executed("ISC_L1CA_BP_OPC1"),
    executed("ISC_L1CA_BP_OPC2"),
    refused("MA_DEBUG_1", "Writeback Arbiter Halt Mode", "halted arbiters of messages"),
    refused("MA_DEBUG_1", "RowInput Arbiter Halt Mode", "halted arbiters of messages"),
    refused("MA_DEBUG_1", "Shared Function Arb Halt Mode", "halted arbiters of messages"),
    accepted("MA_DEBUG_1", "Non-Pipeline Mode Enable", ORDER),
    executed("SAMPLER_CTL"),
    accepted("SAMPLER_CTL", "Sampler Unit Select", "the model has no units within the sampler"),
    accepted("SAMPLER_CTL", "Texture L1 Cache Disable", OLDER),
    executed("SAMPLER_RDATA"),
    executed("DP_CTL"),
    executed("DP_RDATA"),
    refused("RC_CTL", "Snapshot Output Mux Select", WORDS),
    executed("RC_CTL"),
    accepted("RC_CTL", "Non-Pipeline Mode Enable", ORDER),
    accepted("RC_CTL", "Snapshot Enable", WORDS),
    executed("RC_DEF_CLR"),
    refused("RC_RDATA", "", WORDS),
    executed("URB_CTL"),
    executed("URB_RDATA"),
    accepted("EU_CTL", "EU Select", WORDS),
    refused("EU_CTL", "Debug Data Mux Select", WORDS),
    executed("EU_ATT"),
    executed("EU_ATT_DATA"),
    executed("EU_ATT_CLR"),
    refused("EU_RDATA", "", WORDS),
];

/// The effect of a field.
pub fn effect(register: &str, field: &str) -> Option<Effect> {
    let find = |name: &str| EFFECTS.iter().find(|it| it.register == register && it.field == name);
    find(field).or_else(|| find("")).map(|row| row.effect)
}

#[cfg(test)]
mod tests {
    use super::super::registers::covers;
    use super::*;
    use genxml::core::reflect::{Container, Kind, Type};
    use genxml::gen45::CONTAINERS;

    fn debug_registers() -> impl Iterator<Item = &'static Container> {
        CONTAINERS.iter().copied().filter(|it| match it.kind {
            Kind::Register { offset, .. } => covers(offset),
            _ => false,
        })
    }

    fn fields(register: &Container) -> impl Iterator<Item = &'static str> {
        let reserved =
            |ty: &Type| matches!(ty, Type::MustBeZero | Type::MustBeOne | Type::Reserved);
        register.fields.iter().filter(move |it| !reserved(&it.ty)).map(|it| it.name)
    }

    /// Oracle: spec-xml/gen45/debug_*.xml.
    #[test]
    fn every_field_has_an_effect() {
        let mut count = 0;
        for register in debug_registers() {
            assert!(register.unit.starts_with("debug_"), "{}", register.name);
            for field in fields(register) {
                assert!(effect(register.name, field).is_some(), "{} {field}", register.name);
                count += 1;
            }
        }
        assert!(count > 140, "{count}");
    }

    #[test]
    fn every_row_has_a_field() {
        for (n, row) in EFFECTS.iter().enumerate() {
            let Some(register) = debug_registers().find(|it| it.name == row.register) else {
                panic!("there is no register {}", row.register);
            };
            let own: Vec<_> = EFFECTS.iter().filter(|it| it.register == row.register).collect();
            let used = match row.field {
                "" => fields(register).any(|name| own.iter().all(|it| it.field != name)),
                name => fields(register).any(|field| field == name),
            };
            assert!(used, "{row:?}");
            let same = |it: &&Row| (it.register, it.field) == (row.register, row.field);
            assert_eq!(EFFECTS.iter().position(|it| same(&it)), Some(n), "{row:?}");
        }
    }
}
