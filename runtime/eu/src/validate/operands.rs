//! Rules about types, modifiers, immediates, architecture registers and accumulators.

use super::place::Place;
use super::rule::{Check, Report, Rule, error, warning};
use super::view::{View, direct_byte, is_accumulator};
use crate::instruction::*;
use crate::ops::{Format, Modifiers, Opcode, Traits};
use crate::signature::rows_of;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) static RULES: &[Rule] = &[
    error(
        "EU-TYPES",
        "2a, tables of types on the instruction pages; G45 vol 4; IGA",
        "the operation must accept the types of its operands",
        "convert with a mov first, or use types that `Opcode::signatures` lists",
        Check::Instruction(types),
    ),
    error(
        "EU-NULL-SOURCE",
        "IVB vol 4 part 3, null register",
        "null must not be a source: reading it gives an undefined result",
        "use another register or an immediate",
        Check::Instruction(null_source),
    ),
    error(
        "EU-PREDICATE",
        "2a, property tables of the instruction pages",
        "only operations that accept a predicate may have one",
        "remove the predicate or branch around the instruction",
        Check::Instruction(predicate),
    ),
    error(
        "EU-ELSE-PREDICATE",
        "2a p.462",
        "else must have no predicate",
        "remove the predicate",
        Check::Instruction(else_predicate),
    ),
    error(
        "EU-ENDIF-PREDICATE",
        "2a p.462",
        "endif must have no predicate",
        "remove the predicate",
        Check::Instruction(endif_predicate),
    ),
    error(
        "EU-CONDITION",
        "2a, property tables of the instruction pages",
        "only operations that accept a condition may have one",
        "compare the result with cmp",
        Check::Instruction(condition),
    ),
    error(
        "EU-SATURATE",
        "2a, property tables of the instruction pages",
        "only operations that can saturate may do so",
        "saturate with a mov after it",
        Check::Instruction(saturate),
    ),
    error(
        "EU-SOURCE-MODIFIER",
        "2a, property tables of the instruction pages",
        "only operations that accept source modifiers may have them",
        "negate or take the absolute value with a mov before it",
        Check::Instruction(source_modifier),
    ),
    error(
        "EU-SEL-CHOICE",
        "G45 vol 4 sel",
        "sel must have either a predicate, or a condition for minimum or maximum",
        "give it exactly one of them",
        Check::Instruction(sel_choice),
    ),
    warning(
        "EU-SEL-CONDITION",
        "G45 vol 4, minimum and maximum",
        "the condition of sel should be .l (minimum) or .ge (maximum)",
        "use cmp and a predicate for other selections",
        Check::Instruction(sel_condition),
    ),
    error(
        "EU-IMM-LAST",
        "2d p.182",
        "only the last source can be an immediate",
        "exchange the sources or move the constant to a register",
        Check::Instruction(immediate_last),
    ),
    error(
        "EU-IMM-64",
        "2b p.31",
        "an immediate of 64 bits must be the only source",
        "move the constant to a register first",
        Check::Instruction(immediate_64),
    ),
    error(
        "EU-IMM-BYTE",
        "2b p.31",
        "an immediate must not be a byte",
        "use a word",
        Check::Instruction(immediate_byte),
    ),
    error(
        "EU-V-PACKED-WORD",
        "2d p.182",
        "an immediate vector of type v or uv needs a first source of bytes or words",
        "move the vector to words first",
        Check::Instruction(vector_words),
    ),
    error(
        "EU-VECTOR-ALIGN",
        "IVB vol 4 part 3, immediates",
        "with an immediate vector the destination must start at byte 0 or 16 of a register",
        "write to an aligned register and move from there",
        Check::Instruction(vector_align),
    ),
    error(
        "EU-VECTOR-STRIDE",
        "IVB vol 4 part 3, immediates",
        "with an immediate vector the distance of destination elements must be a word, with vf a dword",
        "change type or stride of the destination",
        Check::Instruction(vector_stride),
    ),
    warning(
        "EU-VECTOR-WIDE",
        "IVB vol 4 part 3, immediates; hardware accepts it, as kernels show",
        "with an immediate vector one or two destination elements should not be wider than a word, with vf a dword",
        "write words and widen them with a mov",
        Check::Instruction(vector_wide),
    ),
    error(
        "EU-GRF-RANGE",
        "2d p.119; IVB vol 4 part 3, general registers",
        "the operand must be in r0 to r127",
        "use lower registers: outside of this range the result is unpredictable",
        Check::Instruction(grf_range),
    ),
    error(
        "EU-SUBREGISTER-ALIGN",
        "2d p.121",
        "an operand must start at a multiple of its element size",
        "change the subregister or the type",
        Check::Instruction(subregister_align),
    ),
    error(
        "EU-SRC1-ARF",
        "2d p.119",
        "an architecture register can only be the destination or the first source",
        "exchange the sources or move it to a general register",
        Check::Instruction(src1_arf),
    ),
    error(
        "EU-ARF-UNKNOWN",
        "2d p.120",
        "an architecture register must exist",
        "use another register: the number is reserved",
        Check::Instruction(arf_unknown),
    ),
    warning(
        "EU-ARF-READ-ONLY",
        "IVB vol 4 part 3, access granularity",
        "a read-only register should not be a destination: the write is dropped",
        "write to null if the result is not needed",
        Check::Instruction(arf_read_only),
    ),
    error(
        "EU-ARF-SPAN",
        "IVB vol 4 part 3, access granularity",
        "a region of an architecture register must be inside the register",
        "shorten the region or split the instruction",
        Check::Instruction(arf_span),
    ),
    error(
        "EU-ADDRESS-RANGE",
        "2d p.12",
        "an operand with one address per row must use existing subregisters of a0; there are 16",
        "load the addresses into lower subregisters, or use fewer",
        Check::Instruction(address_range),
    ),
    warning(
        "EU-ADDRESS-GROUP",
        "IVB vol 4 part 3, address register; Broadwell accepts others too, as kernels show",
        "the subregisters of a0 for one address per row should be aligned to their number",
        "load the addresses to an aligned group",
        Check::Instruction(address_group),
    ),
    warning(
        "EU-CONTROL-SWITCH",
        "IVB vol 4 part 3, control register",
        "an instruction that uses the control register should have the thread control switch",
        "add {Switch}: otherwise the next instructions may not see the change",
        Check::Instruction(control_switch),
    ),
    error(
        "EU-CARRY-ACCUMULATOR",
        "2a p.362",
        "the carry goes to the accumulator: AccWrCtrl is needed, and the destination must be another register",
        "add {AccWrEn}; use a general register as destination",
        Check::Instruction(carry),
    ),
    error(
        "EU-MACH-ACCUMULATOR",
        "G45 vol 4 mach",
        "mach writes the low half to the accumulator: AccWrCtrl is needed",
        "add {AccWrEn}",
        Check::Instruction(mach),
    ),
    error(
        "EU-NO-ACCUMULATOR",
        "2a, restrictions on the pages of the bit operations and of lzd",
        "the operation must not access an accumulator where its page forbids it, explicitly or implicitly",
        "use a general register; remove {AccWrEn}",
        Check::Instruction(no_accumulator),
    ),
    error(
        "EU-LOGIC-ACCUMULATOR",
        "2a p.479",
        "an accumulator source of a logic operation must have no modifier",
        "complement with not first",
        Check::Instruction(logic_accumulator),
    ),
    error(
        "EU-NOT-ACCUMULATOR",
        "2a p.480",
        "an accumulator source of a logic operation must have no modifier",
        "remove the modifier: not already complements",
        Check::Instruction(not_accumulator),
    ),
    error(
        "EU-ACC-DIFFERENT",
        "IVB vol 4 part 3, accumulator",
        "source and destination must not be different accumulators: the result is unpredictable",
        "use a general register in between",
        Check::Instruction(different_accumulators),
    ),
    warning(
        "EU-ACC-SWIZZLE",
        "IVB vol 4 part 3, accumulator",
        "an accumulator should be read without a swizzle",
        "move it to a general register first",
        Check::Instruction(accumulator_swizzle),
    ),
    warning(
        "EU-ACC-REGION",
        "IVB vol 4 part 3, accumulator",
        "the region of an accumulator source should be equal to that of the destination",
        "use the same offset and the same distance of elements",
        Check::Instruction(accumulator_region),
    ),
    warning(
        "EU-ACC-INTEGER",
        "IVB vol 4 part 3, accumulator",
        "only acc0 holds dwords",
        "use acc0, eight channels at a time",
        Check::Instruction(accumulator_integer),
    ),
];

fn types(view: &View<'_>, report: &mut Report<'_>) {
    let i = view.i;
    let table = rows_of(i.opcode, i.math);
    if table.is_empty() || i.branch.is_some() {
        return;
    }
    let mut sources = [DataType::Ud; 3];
    let count = view.source_types().zip(&mut sources).map(|(ty, to)| *to = ty).count();
    let sources = &sources[..count];
    let destination = match view.op.format {
        // `wait` encodes its register twice; the register counts only as the source.
        Format::Wait
        | Format::JumpIndexed
        | Format::Return
        | Format::BranchOne
        | Format::BranchTwo => None,
        _ => i.destination.map(|destination| destination.ty),
    };
    if !table.iter().any(|row| row.allows(destination, sources)) {
        let destination = destination.map_or("", DataType::name);
        let sources: Vec<&str> = sources.iter().map(|ty| ty.name()).collect();
        let table: Vec<String> = table.iter().map(|row| format!("{row}")).collect();
        report.add(
            Place::Instruction,
            format_args!(
                "{destination} <- {}; the operation accepts {}",
                sources.join(", "),
                table.join("; ")
            ),
        );
    }
}

fn null_source(view: &View<'_>, report: &mut Report<'_>) {
    if !view.computes() && view.op.format != Format::Send {
        return;
    }
    for (place, source) in view.registers() {
        if source.register.is_null() {
            report.add(place, format_args!("null"));
        }
    }
}

fn predicate(view: &View<'_>, report: &mut Report<'_>) {
    let own_rule = matches!(view.i.opcode, Opcode::Else | Opcode::Endif);
    if view.i.predicate.is_some() && !own_rule && !view.op.modifiers.contains(Modifiers::PREDICATE)
    {
        report.add(Place::Instruction, format_args!("{} is predicated", view.op.name));
    }
}

fn else_predicate(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Else) && view.i.predicate.is_some() {
        report.add(Place::Instruction, format_args!("else is predicated"));
    }
}

fn endif_predicate(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Endif) && view.i.predicate.is_some() {
        report.add(Place::Instruction, format_args!("endif is predicated"));
    }
}

/// True if the instruction has operands that modifiers apply to. In other instructions stray bits
/// have no meaning.
fn computes_at_all(view: &View<'_>) -> bool {
    view.computes() || view.op.format == Format::ThreeSource
}

fn condition(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(condition) = view.i.condition
        && computes_at_all(view)
        && !view.op.modifiers.contains(Modifiers::CONDITION)
    {
        report.add(
            Place::Instruction,
            format_args!("{} has the condition {condition:?}", view.op.name),
        );
    }
}

fn saturate(view: &View<'_>, report: &mut Report<'_>) {
    if view.i.saturate && computes_at_all(view) && !view.op.modifiers.contains(Modifiers::SATURATE)
    {
        report.add(Place::Instruction, format_args!("{} saturates", view.op.name));
    }
}

fn source_modifier(view: &View<'_>, report: &mut Report<'_>) {
    if !computes_at_all(view) || view.op.modifiers.contains(Modifiers::SOURCE) {
        return;
    }
    for (place, source) in view.registers() {
        if source.negate || source.absolute {
            report.add(place, format_args!("{} of {}", modifier(source), view.op.name));
        }
    }
}

fn modifier(source: &Source) -> &'static str {
    match (source.negate, source.absolute) {
        (true, true) => "negated absolute value",
        (true, false) => "negation",
        _ => "absolute value",
    }
}

fn sel_choice(view: &View<'_>, report: &mut Report<'_>) {
    if view.op.traits.contains(Traits::SELECTS) {
        match (view.i.predicate.is_some(), view.i.condition.is_some()) {
            (false, false) => report.add(Place::Instruction, format_args!("sel has neither")),
            (true, true) => report.add(Place::Instruction, format_args!("sel has both")),
            _ => {}
        }
    }
}

fn sel_condition(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(condition) = view.i.condition
        && view.op.traits.contains(Traits::SELECTS)
        && !matches!(condition, Condition::Less | Condition::GreaterEqual)
    {
        report.add(Place::Instruction, format_args!("{condition:?}"));
    }
}

fn immediate_last(view: &View<'_>, report: &mut Report<'_>) {
    let count = view.i.operands().count();
    let three = view.op.format == Format::ThreeSource;
    if let Some((place @ Place::Source(number), _)) = view.immediate()
        && (three || usize::from(number) + 1 < count)
    {
        report.add(place, format_args!("an immediate, {count} sources"));
    }
}

fn immediate_64(view: &View<'_>, report: &mut Report<'_>) {
    if let Some((place, immediate)) = view.immediate()
        && immediate.ty.size() == 8
        && view.i.operands().count() > 1
    {
        report.add(place, format_args!("an immediate of type {}", immediate.ty.name()));
    }
}

fn immediate_byte(view: &View<'_>, report: &mut Report<'_>) {
    if let Some((place, immediate)) = view.immediate()
        && immediate.ty.size() == 1
    {
        report.add(place, format_args!("an immediate of type {}", immediate.ty.name()));
    }
}

fn vector_words(view: &View<'_>, report: &mut Report<'_>) {
    let Some((_, Immediate { ty: ty @ (DataType::V | DataType::Uv), .. })) = view.immediate()
    else {
        return;
    };
    if let Some((place, source)) = view.registers().next()
        && (source.ty.size() > 2 || source.ty.is_float())
    {
        report
            .add(place, format_args!("type {}, the immediate is {}", source.ty.name(), ty.name()));
    }
}

/// The type of an immediate vector, and the destination.
fn vector<'a>(view: &View<'a>) -> Option<(DataType, &'a Destination)> {
    let ty = view.immediate()?.1.ty;
    let vector = ty != ty.element();
    vector.then_some(ty).zip(view.written())
}

fn vector_align(view: &View<'_>, report: &mut Report<'_>) {
    let Some((ty, destination)) = vector(view) else { return };
    if let Some(byte) = direct_byte(&destination.register)
        && !byte.is_multiple_of(16)
    {
        report.add(Place::Destination, format_args!("byte {byte}, the immediate is {}", ty.name()));
    }
}

fn vector_stride(view: &View<'_>, report: &mut Report<'_>) {
    let Some((ty, destination)) = vector(view) else { return };
    let distance = destination.stride * destination.ty.size();
    if distance != ty.size() && !wide_vector(view, ty, destination) {
        report.add(
            Place::Destination,
            format_args!("elements {distance} bytes apart, the immediate is {}", ty.name()),
        );
    }
}

/// True for at most two packed elements that are wider than those of the vector immediate `ty`,
/// which some kernels write.
fn wide_vector(view: &View<'_>, ty: DataType, destination: &Destination) -> bool {
    view.i.exec_size <= 2 && destination.stride == 1 && destination.ty.size() > ty.size()
}

fn vector_wide(view: &View<'_>, report: &mut Report<'_>) {
    if let Some((ty, destination)) = vector(view)
        && wide_vector(view, ty, destination)
    {
        report.add(
            Place::Destination,
            format_args!("type {}, the immediate is {}", destination.ty.name(), ty.name()),
        );
    }
}

fn grf_range(view: &View<'_>, report: &mut Report<'_>) {
    if !view.computes() {
        return;
    }
    let mut check = |place, register: &Register, registers: u32| {
        if let Register::Grf { number, .. } = *register {
            let last = u32::from(number) + registers - 1;
            if last > 127 {
                report.add(place, format_args!("it reaches r{last}"));
            }
        }
    };
    if let Some(destination) = view.written() {
        let registers = view.written_elements().map_or(1, |elements| elements.registers());
        check(Place::Destination, &destination.register, registers);
    }
    for (place, source) in view.registers() {
        let elements = view.align1().then(|| view.read_elements(source)).flatten();
        check(place, &source.register, elements.map_or(1, |elements| elements.registers()));
    }
}

fn subregister_align(view: &View<'_>, report: &mut Report<'_>) {
    if !view.computes() || !view.align1() {
        return;
    }
    let mut check = |place, register: &Register, ty: DataType| {
        if let Register::Grf { byte, .. } = *register
            && !byte.is_multiple_of(ty.size())
        {
            report.add(place, format_args!("byte {byte}, type {}", ty.name()));
        }
    };
    if let Some(destination) = view.written() {
        check(Place::Destination, &destination.register, destination.ty);
    }
    for (place, source) in view.registers() {
        check(place, &source.register, source.ty);
    }
}

fn src1_arf(view: &View<'_>, report: &mut Report<'_>) {
    for (place, source) in view.registers().filter(|(place, _)| *place != Place::Source(0)) {
        // The null register has its own rule.
        if let Register::Arf { file, number, .. } = source.register
            && file != Arf::Null
        {
            report.add(place, format_args!("{file:?} {number}"));
        }
    }
}

/// All register operands, with their types.
fn operands<'a>(view: &View<'a>) -> impl Iterator<Item = (Place, &'a Register, DataType)> {
    let destination = view.i.destination.as_ref();
    let destination =
        destination.map(|operand| (Place::Destination, &operand.register, operand.ty));
    destination
        .into_iter()
        .chain(view.registers().map(|(place, source)| (place, &source.register, source.ty)))
}

fn arf_unknown(view: &View<'_>, report: &mut Report<'_>) {
    for (place, register, _) in operands(view) {
        let Register::Arf { file, number, .. } = *register else { continue };
        let count = match file {
            Arf::Reserved(_) => 0,
            // acc2 to acc9 are the extended exponents of the macros.
            Arf::Accumulator => 10,
            Arf::Flag => 2,
            Arf::Notification => 3,
            Arf::FlowControl => 5,
            Arf::Null => 16,
            _ => 1,
        };
        if number >= count {
            report.add(place, format_args!("{file:?} {number}"));
        }
    }
}

fn arf_read_only(view: &View<'_>, report: &mut Report<'_>) {
    let Some(destination) = view.i.destination else { return };
    if let Register::Arf { file: file @ (Arf::Notification | Arf::ChannelEnable), number, .. } =
        destination.register
    {
        report.add(Place::Destination, format_args!("{file:?} {number}"));
    }
}

fn arf_span(view: &View<'_>, report: &mut Report<'_>) {
    if !view.computes() || !view.align1() {
        return;
    }
    // Null and accumulators are exempt. A wide access of accumulators uses acc0 and acc1.
    let one = |register: &Register| matches!(register, Register::Arf { file, .. } if !matches!(file, Arf::Null | Arf::Accumulator));
    if let (Some(destination), Some(elements)) = (view.written(), view.written_elements())
        && one(&destination.register)
        && elements.registers() > 1
    {
        report.add(Place::Destination, format_args!("it reaches byte {}", elements.last()));
    }
    for (place, source) in view.registers() {
        if let Some(elements) = view.read_elements(source)
            && one(&source.register)
            && elements.registers() > 1
        {
            report.add(place, format_args!("it reaches byte {}", elements.last()));
        }
    }
}

/// The sources with one address per row: the first subregister of a0, and the number of rows.
fn address_rows(view: &View<'_>) -> impl Iterator<Item = (Place, u8, u8)> {
    let channels = view.i.exec_size;
    view.registers().filter_map(move |(place, source)| {
        match (source.register, source.region.vertical) {
            (Register::Indirect { address, .. }, Vertical::Addresses) => {
                Some((place, address, (channels / source.region.width.max(1)).max(1)))
            }
            _ => None,
        }
    })
}

fn address_range(view: &View<'_>, report: &mut Report<'_>) {
    for (place, first, rows) in address_rows(view) {
        if first.saturating_add(rows) > 16 {
            report.add(place, format_args!("{rows} addresses from a0.{first} on"));
        }
    }
}

fn address_group(view: &View<'_>, report: &mut Report<'_>) {
    for (place, first, rows) in address_rows(view) {
        if !first.is_multiple_of(rows) {
            report.add(place, format_args!("{rows} addresses from a0.{first} on"));
        }
    }
}

fn control_switch(view: &View<'_>, report: &mut Report<'_>) {
    let control =
        |register: &Register| matches!(register, Register::Arf { file: Arf::Control, .. });
    if view.i.thread_control == ThreadControl::Switch {
        return;
    }
    if let Some((place, ..)) = operands(view).find(|(_, register, _)| control(register)) {
        report.add(place, format_args!("thread control is {:?}", view.i.thread_control));
    }
}

fn carry(view: &View<'_>, report: &mut Report<'_>) {
    if matches!(view.i.opcode, Opcode::Addc | Opcode::Subb) {
        if !view.i.acc_write {
            report.add(Place::Instruction, format_args!("AccWrCtrl is 0"));
        }
        if view.writes_accumulator() {
            report.add(Place::Destination, format_args!("an accumulator"));
        }
    }
}

fn mach(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Mach) && !view.i.acc_write && !view.writes_accumulator() {
        report.add(Place::Instruction, format_args!("AccWrCtrl is 0"));
    }
}

fn no_accumulator(view: &View<'_>, report: &mut Report<'_>) {
    let traits = view.op.traits;
    // Dot products, `line` and `pln` have their own rules.
    if traits.contains(Traits::NO_ACCUMULATOR) {
        for (place, _) in view.accumulator_sources() {
            report.add(place, format_args!("an accumulator"));
        }
    }
    if traits.contains(Traits::NO_ACCUMULATOR_DESTINATION) {
        if view.writes_accumulator() {
            report.add(Place::Destination, format_args!("an accumulator"));
        }
        if view.i.acc_write {
            report.add(Place::Instruction, format_args!("AccWrCtrl is 1"));
        }
    }
}

fn modified_accumulators(view: &View<'_>, report: &mut Report<'_>) {
    for (place, source) in view.accumulator_sources() {
        if source.negate || source.absolute {
            report.add(place, format_args!("{} of an accumulator", modifier(source)));
        }
    }
}

fn logic_accumulator(view: &View<'_>, report: &mut Report<'_>) {
    if view.op.traits.contains(Traits::LOGIC) && !view.is(Opcode::Not) {
        modified_accumulators(view, report);
    }
}

fn not_accumulator(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Not) {
        modified_accumulators(view, report);
    }
}

fn different_accumulators(view: &View<'_>, report: &mut Report<'_>) {
    let number = |register: &Register| match *register {
        Register::Arf { file: Arf::Accumulator, number, .. } => Some(number),
        _ => None,
    };
    let Some(written) = view.i.destination.and_then(|destination| number(&destination.register))
    else {
        return;
    };
    for (place, source) in view.accumulator_sources() {
        if let Some(read) = number(&source.register)
            && read != written
        {
            report.add(place, format_args!("acc{read}, the destination is acc{written}"));
        }
    }
}

fn accumulator_swizzle(view: &View<'_>, report: &mut Report<'_>) {
    for (place, source) in view.accumulator_sources() {
        if source.swizzle != Source::IDENTITY && source.macro_accumulator.is_none() {
            report.add(place, format_args!("swizzle {:?}", source.swizzle));
        }
    }
}

fn accumulator_region(view: &View<'_>, report: &mut Report<'_>) {
    if !view.computes() || !view.align1() {
        return;
    }
    let Some(written) = view.written_elements() else { return };
    for (place, source) in view.accumulator_sources() {
        let Some(read) = view.read_elements(source) else { continue };
        let scalar = super::view::is_scalar(&source.region);
        if !scalar && read.offsets() != written.offsets() {
            let (from, to) = (read.offsets(), written.offsets());
            let step = |offsets: &[u32]| offsets.get(1).map_or(0, |second| second - offsets[0]);
            report.add(
                place,
                format_args!(
                    "bytes {} on by {}, the destination {} on by {}",
                    from[0],
                    step(from),
                    to[0],
                    step(to)
                ),
            );
        }
    }
}

fn accumulator_integer(view: &View<'_>, report: &mut Report<'_>) {
    let dword = |ty: DataType| matches!(ty, DataType::D | DataType::Ud);
    for (place, register, ty) in operands(view) {
        if is_accumulator(register)
            && dword(ty)
            && !matches!(register, Register::Arf { number: 0, .. })
        {
            report.add(place, format_args!("not acc0, type {}", ty.name()));
        }
    }
}
