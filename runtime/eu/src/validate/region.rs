//! Rules about regions of sources and destinations, the channels of an instruction, and Align16.

use super::place::Place;
use super::rule::{Check, Report, Rule, error, warning};
use super::view::{REGISTER, View, is_scalar};
use crate::gen8::eu;
use crate::instruction::*;
use crate::native::Native;
use crate::ops::Format;

/// The text that the region rules cite, because Broadwell's own text is not available.
const REGIONS: &str = "G45 vol 4 11.3.10; Broadwell: Mesa's validator";

pub(super) static RULES: &[Rule] = &[
    error(
        "EU-EXEC-TYPE",
        "2b p.19",
        "16 channels need types of at most 4 bytes, 32 channels of at most 2 bytes",
        "split the instruction",
        Check::Instruction(execution_size),
    ),
    warning(
        "EU-CHANNELS",
        "2b p.24",
        "the first channel should be a multiple of the number of channels, and the last one below 32",
        "change QtrCtrl or NibCtrl",
        Check::Instruction(channels),
    ),
    warning(
        "EU-FLAG-HALF",
        "2b p.24; IVB vol 4 part 3, flag registers",
        "32 channels need the 32 bits of a whole flag register: the subregister should be 0",
        "use f0.0 or f1.0",
        Check::Instruction(flag_half),
    ),
    warning(
        "EU-NIBCTRL",
        "2b p.24",
        "NibCtrl should be set only with four channels and an operand of type df",
        "use eight channels, or at most the first four",
        Check::Instruction(nibble),
    ),
    error(
        "EU-REGION-WIDTH",
        "2b p.46; 2b p.19",
        "the width of a source must not exceed the number of channels",
        "use a smaller width",
        Check::Instruction(width),
    ),
    error(
        "EU-REGION-VSTRIDE",
        REGIONS,
        "with one row and a horizontal stride other than 0, the vertical stride must be width times horizontal stride",
        "write the region as <w*h;w,h>",
        Check::Instruction(one_row),
    ),
    error(
        "EU-REGION-HSTRIDE",
        REGIONS,
        "a row of one element must have horizontal stride 0",
        "write the region as <v;1,0>",
        Check::Instruction(one_element),
    ),
    error(
        "EU-REGION-SCALAR",
        REGIONS,
        "with one channel, a source of width 1 must have both strides 0",
        "write the region as <0;1,0>",
        Check::Instruction(scalar),
    ),
    error(
        "EU-REGION-BROADCAST",
        REGIONS,
        "with both strides 0 the width must be 1",
        "write the region as <0;1,0>",
        Check::Instruction(broadcast),
    ),
    error(
        "EU-REGION-ROW",
        REGIONS,
        "a row of a source must be inside one register; only the vertical stride may cross to the next",
        "make the rows shorter or start at another byte",
        Check::Instruction(row),
    ),
    error(
        "EU-REGION-SPAN",
        "IVB vol 4 part 3, general registers",
        "a source may span at most two adjacent registers",
        "split the instruction",
        Check::Instruction(source_span),
    ),
    error(
        "EU-VSTRIDE-ADDRESSES",
        "2b p.45",
        "one address per row is allowed only for the first source, with indirect addressing, in Align1",
        "use one address and a vertical stride",
        Check::Instruction(addresses),
    ),
    warning(
        "EU-VSTRIDE-SIZE",
        "2b p.45",
        "vertical stride 16 should be used only with bytes and words, 32 only with bytes",
        "use a smaller stride: a source of wider elements spans more than two registers",
        Check::Instruction(vertical_size),
    ),
    error(
        "EU-DST-STRIDE",
        REGIONS,
        "the horizontal stride of a destination must not be 0",
        "write the destination as <1>",
        Check::Instruction(destination_stride),
    ),
    error(
        "EU-DST-SPAN",
        REGIONS,
        "a destination may span at most two adjacent registers",
        "split the instruction",
        Check::Instruction(destination_span),
    ),
    error(
        "EU-DST-SPLIT",
        REGIONS,
        "a destination in two registers must have the same number of elements in each",
        "start at byte 0 of a register, or split the instruction",
        Check::Instruction(destination_split),
    ),
    error(
        "EU-DST-OWORD",
        REGIONS,
        "with a source in two registers, a destination in one register must be in its lower half, in its upper half, or evenly in both",
        "start at byte 0 or 16 of a register, or split the instruction",
        Check::Instruction(destination_oword),
    ),
    error(
        "EU-EXEC-STRIDE",
        REGIONS,
        "in a destination narrower than the execution type, the distance of elements must be the size of the execution type (for bytes: at least that size)",
        "write with the stride that gives this distance, then pack the elements with a mov of their type",
        Check::Instruction(execution_stride),
    ),
    warning(
        "EU-EXEC-STRIDE-BYTE",
        "Broadwell, register region restrictions, by Mesa's validator; G45 vol 4 11.3.10 allows it, and kernels do it",
        "the distance of bytes should not be larger than the execution type",
        "use the ratio of the sizes as stride",
        Check::Instruction(execution_stride_byte),
    ),
    error(
        "EU-EXEC-ALIGN",
        REGIONS,
        "a destination narrower than the execution type must be aligned to the size of the execution type (bytes: or one byte higher)",
        "start at a multiple of the execution type's size",
        Check::Instruction(execution_align),
    ),
    warning(
        "EU-EXEC-ALIGN-SCALAR",
        "G45 vol 4 11.3.10.1; Mesa's validator leaves it out",
        "a single element narrower than the execution type should be aligned to the size of the execution type too",
        "start at a multiple of the execution type's size",
        Check::Instruction(execution_align_scalar),
    ),
    error(
        "EU-PACKED-BYTE",
        "IVB vol 4 part 3, byte; G45 vol 4 11.3.10",
        "packed bytes may be written only by a raw mov: one without conversion, modifier and saturation",
        "write every second byte and pack with a mov",
        Check::Instruction(packed_byte),
    ),
    error(
        "EU-ALIGN16-VSTRIDE",
        "2b p.45",
        "in Align16 the vertical stride must be 0, 2 or 4",
        "use 4, or 0 for one group of four",
        Check::Instruction(align16_vertical),
    ),
    error(
        "EU-DST16-STRIDE",
        "2d p.170",
        "the horizontal stride of a destination in Align16 must be 1 element",
        "write the destination as <1>",
        Check::Native(align16_stride),
    ),
    error(
        "EU-ALIGN16-QWORD",
        "Broadwell, register region restrictions, by Mesa's validator",
        "in Align16 a destination of 64 bits with narrower sources may have at most two channels",
        "split the instruction, or use Align1",
        Check::Instruction(align16_qword),
    ),
    error(
        "EU-ALIGN16-SELECT",
        "2b p.11",
        "the swizzle of a 64-bit source must select pairs: .xy or .zw",
        "select both dwords of an element",
        Check::Instruction(align16_select),
    ),
    warning(
        "EU-ALIGN16-MASK",
        "2b p.10",
        "a destination in Align16 should have at least one enabled channel",
        "enable a channel, or write null",
        Check::Instruction(align16_mask),
    ),
];

fn execution_size(view: &View<'_>, report: &mut Report<'_>) {
    if !view.computes() && view.op.format != Format::ThreeSource {
        return;
    }
    let limit = match view.i.exec_size {
        32 => 2,
        16 => 4,
        _ => return,
    };
    let destination = view.written().map(|destination| (Place::Destination, destination.ty));
    let sources = view.registers().map(|(place, source)| (place, source.ty));
    for (place, ty) in destination.into_iter().chain(sources) {
        if ty.size() > limit {
            report.add(place, format_args!("type {}, {} channels", ty.name(), view.i.exec_size));
        }
    }
}

fn channels(view: &View<'_>, report: &mut Report<'_>) {
    let (first, count) = (view.i.channel_offset, view.i.exec_size);
    let group = count.clamp(4, 16);
    if first + count > 32 || !first.is_multiple_of(group) {
        report.add(Place::Instruction, format_args!("{count} channels from {first} on"));
    }
}

fn flag_half(view: &View<'_>, report: &mut Report<'_>) {
    let used = view.i.predicate.is_some() || view.i.condition.is_some();
    let Flag { register, subregister } = view.i.flag;
    if used && view.i.exec_size == 32 && subregister != 0 {
        report.add(Place::Instruction, format_args!("f{register}.{subregister}"));
    }
}

fn nibble(view: &View<'_>, report: &mut Report<'_>) {
    let double =
        view.source_types().chain(view.i.destination.map(|d| d.ty)).any(|ty| ty == DataType::Df);
    let computes = view.computes() || view.op.format == Format::ThreeSource;
    if computes && !view.i.channel_offset.is_multiple_of(8) && !(double && view.i.exec_size == 4) {
        report.add(
            Place::Instruction,
            format_args!("{} channels from {} on", view.i.exec_size, view.i.channel_offset),
        );
    }
}

/// The register sources of a basic or math instruction in Align1, without null.
fn regions<'a>(view: &View<'a>) -> impl Iterator<Item = (Place, &'a Source)> + use<'a> {
    let applies = view.computes() && view.align1();
    view.registers().filter(move |(_, source)| applies && !source.register.is_null())
}

/// Prints a region in assembler syntax.
struct RegionText(Region);

impl core::fmt::Display for RegionText {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Region { vertical, width, horizontal } = self.0;
        match vertical {
            Vertical::Stride(vertical) => write!(f, "<{vertical};{width},{horizontal}>"),
            Vertical::Addresses => write!(f, "<{width},{horizontal}>"),
        }
    }
}

/// Reports the sources whose region is `wrong`.
fn report_regions(view: &View<'_>, report: &mut Report<'_>, wrong: impl Fn(&Region) -> bool) {
    for (place, source) in regions(view) {
        if wrong(&source.region) {
            report.add(
                place,
                format_args!("{}, {} channels", RegionText(source.region), view.i.exec_size),
            );
        }
    }
}

fn width(view: &View<'_>, report: &mut Report<'_>) {
    report_regions(view, report, |region| region.width > view.i.exec_size);
}

fn one_row(view: &View<'_>, report: &mut Report<'_>) {
    report_regions(view, report, |region| {
        region.width == view.i.exec_size
            && region.horizontal != 0
            && region.vertical != Vertical::Addresses
            && region.vertical != Vertical::Stride(region.width * region.horizontal)
    });
}

fn one_element(view: &View<'_>, report: &mut Report<'_>) {
    report_regions(view, report, |region| region.width == 1 && region.horizontal != 0);
}

fn scalar(view: &View<'_>, report: &mut Report<'_>) {
    report_regions(view, report, |region| {
        view.i.exec_size == 1
            && region.width == 1
            && !matches!(region.vertical, Vertical::Stride(0) | Vertical::Addresses)
    });
}

fn broadcast(view: &View<'_>, report: &mut Report<'_>) {
    report_regions(view, report, |region| {
        region.vertical == Vertical::Stride(0) && region.horizontal == 0 && region.width != 1
    });
}

fn row(view: &View<'_>, report: &mut Report<'_>) {
    for (place, source) in regions(view) {
        let (width, size) = (usize::from(source.region.width.max(1)), u32::from(source.ty.size()));
        if matches!(source.register, Register::Indirect { .. }) {
            // The start of the region is unknown, so only the row length is checked.
            let bytes = (width as u32 - 1) * u32::from(source.region.horizontal) * size + size;
            if bytes > REGISTER {
                report.add(
                    place,
                    format_args!("{} has rows of {bytes} bytes", RegionText(source.region)),
                );
            }
        }
        let Some(elements) = view.read_elements(source) else { continue };
        let crosses = |row: &&[u32]| {
            let last = row.last().map_or(0, |first| first + size - 1);
            row[0] / REGISTER != last / REGISTER
        };
        if let Some(row) = elements.offsets().chunks(width).find(crosses) {
            report.add(
                place,
                format_args!(
                    "{} from byte {} on, type {}",
                    RegionText(source.region),
                    row[0],
                    source.ty.name()
                ),
            );
        }
    }
}

fn source_span(view: &View<'_>, report: &mut Report<'_>) {
    for (place, source) in regions(view) {
        if let Some(elements) = view.read_elements(source)
            && elements.registers() > 2
        {
            report.add(
                place,
                format_args!("{} reaches byte {}", RegionText(source.region), elements.last()),
            );
        }
    }
}

fn addresses(view: &View<'_>, report: &mut Report<'_>) {
    if !view.computes() {
        return;
    }
    for (place, source) in view.registers() {
        let right = place == Place::Source(0)
            && matches!(source.register, Register::Indirect { .. })
            && view.align1();
        if source.region.vertical == Vertical::Addresses && !right {
            report.add(place, format_args!("{}", RegionText(source.region)));
        }
    }
}

fn vertical_size(view: &View<'_>, report: &mut Report<'_>) {
    for (place, source) in regions(view) {
        let Vertical::Stride(stride) = source.region.vertical else { continue };
        // With a single row the vertical stride has no effect.
        let rows = view.i.exec_size > source.region.width;
        if rows
            && ((stride == 16 && source.ty.size() > 2) || (stride == 32 && source.ty.size() > 1))
        {
            report.add(
                place,
                format_args!("{}, type {}", RegionText(source.region), source.ty.name()),
            );
        }
    }
}

fn destination_stride(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(destination) = view.written()
        && view.computes()
        && destination.stride == 0
    {
        report.add(Place::Destination, format_args!("stride 0"));
    }
}

fn destination_span(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(elements) = view.written_elements()
        && view.computes()
        && view.align1()
        && elements.registers() > 2
    {
        report.add(Place::Destination, format_args!("it reaches byte {}", elements.last()));
    }
}

fn destination_split(view: &View<'_>, report: &mut Report<'_>) {
    let Some(elements) = view.written_elements().filter(|_| view.computes() && view.align1())
    else {
        return;
    };
    if elements.touched() == 2 && elements.registers() == 2 {
        let low = elements.offsets().iter().filter(|first| **first < REGISTER).count();
        let high = elements.offsets().len() - low;
        if low != high {
            report.add(Place::Destination, format_args!("{low} elements and {high}"));
        }
    }
}

fn destination_oword(view: &View<'_>, report: &mut Report<'_>) {
    let Some(elements) = view.written_elements().filter(|_| view.computes() && view.align1())
    else {
        return;
    };
    let two = regions(view)
        .any(|(_, source)| view.read_elements(source).is_some_and(|read| read.touched() == 2));
    if elements.touched() == 1 && two {
        let low =
            elements.offsets().iter().filter(|first| **first % REGISTER < REGISTER / 2).count();
        let high = elements.offsets().len() - low;
        if low != 0 && high != 0 && low != high {
            report.add(Place::Destination, format_args!("{low} elements and {high}"));
        }
    }
}

/// The destination and the execution type, if the execution type is wider than the destination
/// type. `None` for packed bytes.
fn narrow<'a>(view: &View<'a>) -> Option<(&'a Destination, DataType)> {
    let destination = view.written().filter(|_| view.computes())?;
    let execution = view.execution?;
    let packed = destination.ty.size() == 1 && destination.stride == 1 && view.i.exec_size > 1;
    (execution.size() > destination.ty.size() && !packed).then_some((destination, execution))
}

/// For a narrow destination whose elements have the wrong distance: the distance in bytes, the
/// execution type, and whether it is a byte destination with a distance larger than that type.
fn odd_stride(view: &View<'_>) -> Option<(u8, DataType, bool)> {
    let (destination, execution) = narrow(view)?;
    let byte = destination.ty.size() == 1;
    let distance = destination.stride * destination.ty.size();
    // A stride of 0 has its own rule.
    let right =
        distance == execution.size() || destination.stride == 0 || (byte && view.raw_move());
    let far = byte && distance > execution.size();
    (view.i.exec_size > 1 && !right).then_some((distance, execution, far))
}

fn execution_stride(view: &View<'_>, report: &mut Report<'_>) {
    if let Some((distance, execution, false)) = odd_stride(view) {
        report.add(
            Place::Destination,
            format_args!(
                "elements are {distance} bytes apart, the execution type is {}",
                execution.name()
            ),
        );
    }
}

fn execution_stride_byte(view: &View<'_>, report: &mut Report<'_>) {
    if let Some((distance, execution, true)) = odd_stride(view) {
        report.add(
            Place::Destination,
            format_args!(
                "elements are {distance} bytes apart, the execution type is {}",
                execution.name()
            ),
        );
    }
}

/// The byte offset of a narrow destination that is not aligned to the execution type, and that
/// type.
fn misaligned(view: &View<'_>) -> Option<(u32, DataType)> {
    let (destination, execution) = narrow(view).filter(|_| view.align1())?;
    let byte = super::view::direct_byte(&destination.register)?;
    let over = byte % u32::from(execution.size());
    let relaxed = destination.ty.size() == 1 && over == 1;
    let raw_bytes = destination.ty.size() == 1 && view.raw_move();
    (over != 0 && !relaxed && !raw_bytes).then_some((byte, execution))
}

fn execution_align(view: &View<'_>, report: &mut Report<'_>) {
    if let Some((byte, execution)) = misaligned(view)
        && view.i.exec_size > 1
    {
        report.add(
            Place::Destination,
            format_args!("byte {byte}, the execution type is {}", execution.name()),
        );
    }
}

fn execution_align_scalar(view: &View<'_>, report: &mut Report<'_>) {
    if let Some((byte, execution)) = misaligned(view)
        && view.i.exec_size == 1
    {
        report.add(
            Place::Destination,
            format_args!("byte {byte}, the execution type is {}", execution.name()),
        );
    }
}

fn packed_byte(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(destination) = view.written()
        && view.computes()
        && view.i.exec_size > 1
        && destination.ty.size() == 1
        && destination.stride == 1
        && !view.raw_move()
    {
        report.add(
            Place::Destination,
            format_args!("type {}, stride 1, {}", destination.ty.name(), view.op.name),
        );
    }
}

/// The sources of a basic or math instruction in Align16.
fn swizzled<'a>(view: &View<'a>) -> impl Iterator<Item = (Place, &'a Source)> + use<'a> {
    let applies = view.computes() && !view.align1();
    view.registers().filter(move |_| applies)
}

fn align16_vertical(view: &View<'_>, report: &mut Report<'_>) {
    for (place, source) in swizzled(view) {
        match source.region.vertical {
            Vertical::Stride(0 | 2 | 4) => {}
            Vertical::Stride(stride) => report.add(place, format_args!("{stride}")),
            Vertical::Addresses => report.add(place, format_args!("an address for each row")),
        }
    }
}

fn align16_destination<'a>(view: &View<'a>) -> Option<&'a Destination> {
    view.written().filter(|_| view.computes() && !view.align1())
}

/// Reads the stride from the dwords, because `Instruction` has no field for these unused bits.
fn align16_stride(native: &Native, report: &mut Report<'_>) {
    let Some(i) = report.instruction else { return };
    // Compilers leave the stride 0 in the division macros.
    let written = i.destination.is_some_and(|destination| {
        !destination.register.is_null() && destination.macro_accumulator.is_none()
    });
    let computes = matches!(i.opcode.op().format, Format::Basic | Format::Math);
    if i.access_mode == AccessMode::Align1 || !written || !computes {
        return;
    }
    let controls = eu::EuInstructionOperandControls::unpack_lossy(&[native.dwords[1]]);
    let region = controls.destination_register_region.get() as u32;
    let stride =
        eu::EuInstructionOperandDstAlign16::unpack_lossy(&[region]).destination_horizontal_stride;
    if stride != eu::HorzStride::_1 {
        report.add(Place::Destination, format_args!("the stride is encoded as {}", stride.bits()));
    }
}

fn align16_qword(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(destination) = align16_destination(view)
        && destination.ty.size() == 8
        && view.i.exec_size > 2
        && let Some(narrow) = view.source_types().find(|ty| ty.size() != 8)
    {
        report.add(
            Place::Destination,
            format_args!(
                "type {}, a source of type {}, {} channels",
                destination.ty.name(),
                narrow.name(),
                view.i.exec_size
            ),
        );
    }
}

fn align16_select(view: &View<'_>, report: &mut Report<'_>) {
    for (place, source) in swizzled(view) {
        let [x, y, z, w] = source.swizzle;
        let pair = |low: u8, high: u8| matches!((low, high), (0, 1) | (2, 3));
        if source.ty.size() == 8
            && source.macro_accumulator.is_none()
            && !(pair(x, y) && pair(z, w))
            && !is_scalar(&source.region)
        {
            report.add(place, format_args!("{:?}, type {}", source.swizzle, source.ty.name()));
        }
    }
}

fn align16_mask(view: &View<'_>, report: &mut Report<'_>) {
    let three = view.op.format == Format::ThreeSource;
    if let Some(destination) = view.written()
        && (three || (view.computes() && !view.align1()))
        && destination.write_mask == 0
    {
        report.add(Place::Destination, format_args!("no channel is enabled"));
    }
}
