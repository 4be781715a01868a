//! Rules about conversions and half floats, comparisons, dot products, `line` and `pln`, math, and
//! three-source instructions.

use super::place::Place;
use super::rule::{Check, Report, Rule, error, warning};
use super::view::{View, is_accumulator, is_scalar};
use crate::instruction::*;
use crate::ops::{Format, Opcode, Traits};

/// Broadwell has mixed floats, but the rules are only printed for the next generation.
const MIXED: &str = "Skylake, special restrictions for mixed mode floats, by Mesa's validator";

pub(super) static RULES: &[Rule] = &[
    error(
        "EU-HALF-INTEGER",
        "Broadwell, mov, by Mesa's validator",
        "conversions between integers and half floats must write elements at a distance of one dword, aligned to a dword",
        "use a stride of 4 bytes and pack with a mov",
        Check::Instruction(half_integer),
    ),
    error(
        "EU-MIXED-INDIRECT",
        MIXED,
        "with mixed half and single floats no source may be addressed indirectly",
        "move the source to a direct register first",
        Check::Instruction(mixed_indirect),
    ),
    error(
        "EU-MIXED-SIZE",
        MIXED,
        "with mixed half and single floats a single float destination may have at most 8 channels",
        "split the instruction",
        Check::Instruction(mixed_size),
    ),
    warning(
        "EU-MIXED-MOV",
        "Skylake, special restrictions for mixed mode floats, by Mesa's validator; Broadwell accepts it, as kernels show",
        "a mov from half to single floats should have at most 8 channels",
        "split the instruction",
        Check::Instruction(mixed_mov),
    ),
    error(
        "EU-MIXED-ALIGN16",
        MIXED,
        "in Align16, mixed half and single floats must be packed: vertical stride 4, at most 8 channels",
        "use Align1, or convert with a mov first",
        Check::Instruction(mixed_align16),
    ),
    error(
        "EU-MIXED-ACCUMULATOR",
        MIXED,
        "with mixed half and single floats an accumulator may be read only in Align1, and with a half float destination only at stride 2",
        "use stride 2, or move the accumulator to a general register",
        Check::Instruction(mixed_accumulator),
    ),
    error(
        "EU-CMP-MODIFIER",
        "2a p.388",
        "a comparison needs a condition",
        "add one: .e, .ne, .g, .ge, .l or .le",
        Check::Instruction(compare_condition),
    ),
    warning(
        "EU-CMP-UNORDERED",
        "2a p.388",
        "cmp does not detect NaNs: the condition .u should not be used",
        "compare a value with itself with .ne to find NaNs",
        Check::Instruction(compare_unordered),
    ),
    error(
        "EU-CMPN-CONDITION",
        "2a p.390",
        "cmpn accepts only the conditions .l and .ge",
        "exchange the sources or use cmp",
        Check::Instruction(cmpn_condition),
    ),
    error(
        "EU-CSEL-CONDITION",
        "2a csel",
        "csel needs a condition",
        "add one: it compares the third source with zero",
        Check::Instruction(csel_condition),
    ),
    error(
        "EU-LRP-OVERFLOW",
        "2a lrp",
        "lrp does not accept the condition .o",
        "use mul and mad",
        Check::Instruction(lrp_overflow),
    ),
    warning(
        "EU-LOGIC-CONDITION",
        "2a, logic operations",
        "a logic operation should have the condition .z or .nz",
        "compare with cmp for another condition",
        Check::Instruction(logic_condition),
    ),
    error(
        "EU-DOT-SIZE",
        "2a p.403",
        "a dot product needs at least 4 channels",
        "use 4 or more channels",
        Check::Instruction(dot_size),
    ),
    error(
        "EU-DOT-STRIDE",
        "2a p.403",
        "horizontal strides of a dot product must be 1",
        "pack the operands first",
        Check::Instruction(dot_stride),
    ),
    error(
        "EU-DOT-ACCUMULATOR",
        "2a p.403",
        "sources of a dot product cannot be accumulators",
        "move the accumulator to a general register",
        Check::Instruction(dot_accumulator),
    ),
    error(
        "EU-LINE",
        "2a p.471",
        "line must have 8 or 16 channels, a scalar source 0 at byte 0 or 16 of a register, and no accumulator source",
        "move the coefficients to an aligned group of four",
        Check::Instruction(line),
    ),
    error(
        "EU-PLN",
        "G45 vol 4 pln",
        "pln must have 8 or 16 channels, a scalar source 0 at byte 0 or 16 of a register, and no accumulator source",
        "move the coefficients to an aligned group of four",
        Check::Instruction(plane),
    ),
    warning(
        "EU-PLN-PAIR",
        "G45 vol 4 pln",
        "source 1 of pln should start at an even register (hardware since Sandybridge accepts any)",
        "start the pair of coordinates at an even register",
        Check::Instruction(plane_pair),
    ),
    error(
        "EU-MATH-DIVISION",
        "2a p.442",
        "integer division must have at most 8 channels and no source modifiers",
        "split the instruction; negate with a mov first",
        Check::Instruction(division),
    ),
    error(
        "EU-MATH-DESTINATION",
        "2a p.442",
        "the result of math must go to a general register",
        "write a general register",
        Check::Instruction(math_destination),
    ),
    error(
        "EU-MATH-DEPENDENCY",
        "2a p.442",
        "math must have no dependency control",
        "remove NoDDClr and NoDDChk",
        Check::Instruction(math_dependency),
    ),
    error(
        "EU-MATH-INDIRECT",
        "2a p.442",
        "math must have no indirect operands",
        "move them to direct registers first",
        Check::Instruction(math_indirect),
    ),
    error(
        "EU-MATH-ACCUMULATOR",
        "2a p.442",
        "math, except the steps of macros, must not read accumulators",
        "move the accumulator to a general register",
        Check::Instruction(math_accumulator),
    ),
    error(
        "EU-MATH-REGION",
        "2a p.442",
        "in Align1 a source of math must be a scalar, or contiguous rows with the stride of the destination",
        "first move the source to a region like that of the destination",
        Check::Instruction(math_region),
    ),
    warning(
        "EU-MATH-OFFSET",
        "2a p.442",
        "in Align1 a source of math that is not a scalar should start at the same byte of a register as the destination",
        "first move the source to the same offset",
        Check::Instruction(math_offset),
    ),
    error(
        "EU-MACRO-ALIGN16",
        "IGA, math macros",
        "the steps of the division and square root macros must use Align16, which encodes extended accumulators",
        "set the access mode",
        Check::Instruction(macro_align16),
    ),
    warning(
        "EU-MUL-ACCUMULATOR",
        "G45 vol 4 mul",
        "mul should not read integer accumulators",
        "move the accumulator to a general register",
        Check::Instruction(mul_accumulator),
    ),
    error(
        "EU-SRC3-ALIGN16",
        "2d p.140",
        "an instruction with three sources must use Align16",
        "set the access mode",
        Check::Instruction(three_align16),
    ),
    error(
        "EU-SRC3-GRF",
        "2d p.460",
        "a general register must be r0 to r127",
        "use r0 to r127",
        Check::Instruction(three_sources),
    ),
    error(
        "EU-DST3-GRF",
        "2d p.119",
        "a general register must be r0 to r127",
        "use r0 to r127",
        Check::Instruction(three_destination),
    ),
    error(
        "EU-SRC3-REPLICATE",
        "2b p.27; Broadwell vol 7 by Mesa",
        "a source of 64 bits must not be replicated",
        "copy it to all channels first",
        Check::Instruction(three_replicate),
    ),
];

fn half_integer(view: &View<'_>, report: &mut Report<'_>) {
    let Some(destination) = view.written().filter(|_| view.computes() && view.align1()) else {
        return;
    };
    let half = |ty| ty == DataType::Hf;
    let converts = match destination.ty {
        DataType::Hf => view.source_types().any(|ty| !ty.is_float()),
        ty => !ty.is_float() && view.source_types().any(half),
    };
    if !converts || view.i.exec_size == 1 {
        return;
    }
    let distance = destination.stride * destination.ty.size();
    if distance != 4 {
        report.add(Place::Destination, format_args!("elements are {distance} bytes apart"));
    }
    if let Some(byte) = super::view::direct_byte(&destination.register)
        && !byte.is_multiple_of(4)
    {
        report.add(Place::Destination, format_args!("byte {byte}"));
    }
}

fn mixed_indirect(view: &View<'_>, report: &mut Report<'_>) {
    if view.mixed_float() {
        for (place, source) in view.registers() {
            if matches!(source.register, Register::Indirect { .. }) {
                report.add(place, format_args!("type {}", source.ty.name()));
            }
        }
    }
}

/// True for mixed half and single floats with a single float destination of more than 8 channels.
fn many_singles(view: &View<'_>) -> bool {
    let single = view.i.destination.is_some_and(|destination| destination.ty == DataType::F);
    view.mixed_float() && single && view.i.exec_size > 8
}

fn mixed_size(view: &View<'_>, report: &mut Report<'_>) {
    if many_singles(view) && !view.is(Opcode::Mov) {
        report.add(Place::Instruction, format_args!("{} channels", view.i.exec_size));
    }
}

fn mixed_mov(view: &View<'_>, report: &mut Report<'_>) {
    if many_singles(view) && view.is(Opcode::Mov) {
        report.add(Place::Instruction, format_args!("{} channels", view.i.exec_size));
    }
}

fn mixed_align16(view: &View<'_>, report: &mut Report<'_>) {
    if !view.mixed_float() || view.align1() {
        return;
    }
    if view.i.exec_size > 8 {
        report.add(Place::Instruction, format_args!("{} channels", view.i.exec_size));
    }
    for (place, source) in view.registers() {
        if source.region.vertical != Vertical::Stride(4) {
            report.add(place, format_args!("vertical stride {:?}", source.region.vertical));
        }
    }
}

fn mixed_accumulator(view: &View<'_>, report: &mut Report<'_>) {
    if !view.mixed_float() || !view.reads_accumulator() {
        return;
    }
    let Some(destination) = view.i.destination else { return };
    if !view.align1() {
        report.add(Place::Instruction, format_args!("an accumulator in Align16"));
    } else if destination.ty == DataType::Hf && destination.stride != 2 {
        report.add(Place::Destination, format_args!("stride {}", destination.stride));
    }
}

fn compare_condition(view: &View<'_>, report: &mut Report<'_>) {
    if matches!(view.i.opcode, Opcode::Cmp | Opcode::Cmpn) && view.i.condition.is_none() {
        report.add(Place::Instruction, format_args!("no condition"));
    }
}

fn compare_unordered(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Cmp) && view.i.condition == Some(Condition::Unordered) {
        report.add(Place::Instruction, format_args!(".u"));
    }
}

fn cmpn_condition(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Cmpn)
        && !matches!(view.i.condition, Some(Condition::Less | Condition::GreaterEqual))
    {
        report.add(Place::Instruction, format_args!("{:?}", view.i.condition));
    }
}

fn csel_condition(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Csel) && view.i.condition.is_none() {
        report.add(Place::Instruction, format_args!("no condition"));
    }
}

fn lrp_overflow(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Lrp) && view.i.condition == Some(Condition::Overflow) {
        report.add(Place::Instruction, format_args!(".o"));
    }
}

fn logic_condition(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(condition) = view.i.condition
        && view.op.traits.contains(Traits::LOGIC)
        && !matches!(condition, Condition::Equal | Condition::NotEqual)
    {
        report.add(Place::Instruction, format_args!("{condition:?}"));
    }
}

fn is_dot(view: &View<'_>) -> bool {
    matches!(view.i.opcode, Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph)
}

fn dot_size(view: &View<'_>, report: &mut Report<'_>) {
    if is_dot(view) && !view.op.exec_sizes().contains(view.i.exec_size) {
        report.add(Place::Instruction, format_args!("{} channels", view.i.exec_size));
    }
}

fn dot_stride(view: &View<'_>, report: &mut Report<'_>) {
    if !is_dot(view) || !view.align1() {
        return;
    }
    if let Some(destination) = &view.i.destination
        && destination.stride != 1
    {
        report.add(Place::Destination, format_args!("stride {}", destination.stride));
    }
    for (place, source) in view.registers() {
        if source.region.horizontal != 1 {
            report.add(place, format_args!("stride {}", source.region.horizontal));
        }
    }
}

fn no_accumulators(view: &View<'_>, report: &mut Report<'_>) {
    for (place, _) in view.accumulator_sources() {
        report.add(place, format_args!("an accumulator"));
    }
}

fn dot_accumulator(view: &View<'_>, report: &mut Report<'_>) {
    if is_dot(view) {
        no_accumulators(view, report);
    }
}

/// Reports violations of the restrictions that `line` and `pln` have in common.
fn coefficients(view: &View<'_>, report: &mut Report<'_>) {
    if !view.op.exec_sizes().contains(view.i.exec_size) {
        report.add(Place::Instruction, format_args!("{} channels", view.i.exec_size));
    }
    if let Operand::Register(source) = &view.i.sources[0]
        && view.align1()
    {
        let Region { vertical, horizontal, .. } = source.region;
        if vertical != Vertical::Stride(0) || horizontal != 0 {
            report.add(Place::Source(0), format_args!("strides {vertical:?} and {horizontal}"));
        }
        if let Some(byte) = super::view::direct_byte(&source.register)
            && !byte.is_multiple_of(16)
        {
            report.add(Place::Source(0), format_args!("byte {byte}"));
        }
    }
    no_accumulators(view, report);
}

fn line(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Line) {
        coefficients(view, report);
    }
}

fn plane(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Pln) {
        coefficients(view, report);
    }
}

fn plane_pair(view: &View<'_>, report: &mut Report<'_>) {
    if let Operand::Register(Source { register: Register::Grf { number, .. }, .. }) =
        view.i.sources[1]
        && view.is(Opcode::Pln)
        && !number.is_multiple_of(2)
    {
        report.add(Place::Source(1), format_args!("r{number}"));
    }
}

fn division(view: &View<'_>, report: &mut Report<'_>) {
    use MathFunction::{IntQuotient, IntQuotientRemainder, IntRemainder};
    if !matches!(view.i.math, Some(IntQuotient | IntQuotientRemainder | IntRemainder)) {
        return;
    }
    if view.i.exec_size > 8 {
        report.add(Place::Instruction, format_args!("{} channels", view.i.exec_size));
    }
    for (place, source) in view.registers() {
        if source.negate || source.absolute {
            report.add(place, format_args!("a modifier"));
        }
    }
}

fn is_math(view: &View<'_>) -> bool {
    view.op.format == Format::Math
}

fn math_destination(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(Register::Arf { file, number, .. }) = view.i.destination.map(|d| d.register)
        && is_math(view)
    {
        report.add(Place::Destination, format_args!("{file:?} {number}"));
    }
}

fn math_dependency(view: &View<'_>, report: &mut Report<'_>) {
    if is_math(view) && (view.i.no_dd_check || view.i.no_dd_clear) {
        report.add(
            Place::Instruction,
            format_args!("NoDDClr {}, NoDDChk {}", view.i.no_dd_clear, view.i.no_dd_check),
        );
    }
}

fn math_indirect(view: &View<'_>, report: &mut Report<'_>) {
    if !is_math(view) {
        return;
    }
    let indirect = |register: &Register| matches!(register, Register::Indirect { .. });
    if view.i.destination.is_some_and(|destination| indirect(&destination.register)) {
        report.add(Place::Destination, format_args!("indirect"));
    }
    for (place, source) in view.registers() {
        if indirect(&source.register) {
            report.add(place, format_args!("indirect"));
        }
    }
}

fn math_accumulator(view: &View<'_>, report: &mut Report<'_>) {
    let own = view.i.math.is_some_and(MathFunction::is_macro);
    if is_math(view) && !own {
        for (place, source) in view.registers() {
            if is_accumulator(&source.register) {
                report.add(place, format_args!("an accumulator"));
            }
        }
    }
}

/// The sources of math in Align1 that are not scalars, with the destination.
fn math_sources<'a>(
    view: &View<'a>,
) -> impl Iterator<Item = (Place, &'a Source, &'a Destination)> + use<'a> {
    let destination = view.i.destination.as_ref().filter(|_| is_math(view) && view.align1());
    let many = view.i.exec_size > 1;
    view.registers().filter_map(move |(place, source)| {
        (many && !is_scalar(&source.region)).then_some((place, source, destination?))
    })
}

fn math_region(view: &View<'_>, report: &mut Report<'_>) {
    for (place, source, destination) in math_sources(view) {
        let Region { vertical, width, horizontal } = source.region;
        if vertical != Vertical::Stride(width * horizontal)
            || horizontal * source.ty.size() != destination.stride * destination.ty.size()
        {
            report.add(
                place,
                format_args!(
                    "{vertical:?}, width {width}, stride {horizontal}; the destination has stride {}",
                    destination.stride
                ),
            );
        }
    }
}

fn math_offset(view: &View<'_>, report: &mut Report<'_>) {
    use super::view::direct_byte;
    for (place, source, destination) in math_sources(view) {
        if let (Some(from), Some(to)) =
            (direct_byte(&source.register), direct_byte(&destination.register))
            && from != to
        {
            report.add(place, format_args!("byte {from}, the destination's is {to}"));
        }
    }
}

fn macro_align16(view: &View<'_>, report: &mut Report<'_>) {
    if view.i.math.is_some_and(MathFunction::is_macro) && view.align1() {
        report.add(Place::Instruction, format_args!("Align1"));
    }
}

fn mul_accumulator(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Mul) {
        for (place, source) in
            view.accumulator_sources().filter(|(_, source)| !source.ty.is_float())
        {
            report.add(place, format_args!("type {}", source.ty.name()));
        }
    }
}

fn is_three(view: &View<'_>) -> bool {
    view.op.format == Format::ThreeSource
}

fn three_align16(view: &View<'_>, report: &mut Report<'_>) {
    if is_three(view) && view.align1() {
        report.add(Place::Instruction, format_args!("Align1"));
    }
}

fn three_sources(view: &View<'_>, report: &mut Report<'_>) {
    if is_three(view) {
        for (place, source) in view.registers() {
            if let Register::Grf { number: number @ 128.., .. } = source.register {
                report.add(place, format_args!("r{number}"));
            }
        }
    }
}

fn three_destination(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(Register::Grf { number: number @ 128.., .. }) =
        view.i.destination.map(|d| d.register)
        && is_three(view)
    {
        report.add(Place::Destination, format_args!("r{number}"));
    }
}

fn three_replicate(view: &View<'_>, report: &mut Report<'_>) {
    if is_three(view) {
        for (place, source) in view.registers() {
            if source.replicate && source.ty.size() == 8 {
                report.add(place, format_args!("type {}", source.ty.name()));
            }
        }
    }
}
