//! Blitter: the questions that the manuals leave open.

assumptions! {
    area BLITTER = "blitter";

    const CLIPPING_MOVES_THE_SOURCE: bool = true;
        question "Does the source start later when a blit is clipped at its left or top?";
        choice "Yes, by the part that was cut off. Otherwise the picture would move with the clip \
            rectangle.";
        reason "No source says. Drivers rely on clipping that only hides pixels (gen8_facts 13).";

    const WORD_ALIGNMENT_IS_FOR_ALL_BUT_TEXT: bool = true;
        question "Bitmaps of blits other than text have word aligned rows (BR00, 2d p.43). Does \
            Bit/Byte Packed, which is bit 16 of all these blits, change that?";
        choice "No. The model reads the bit for text only.";
        reason "The register describes byte packing as a driver's option for text. Older manuals \
            have the bit in text commands only.";

    const BIT_PACKED_TEXT_STARTS_ONCE: bool = true;
        question "Monochrome Source Start skips bits \"per scan line\" (BR00, 2d p.43). In bit \
            packed text a row starts directly after the row before. Are the bits skipped in the \
            first row only, or before each row?";
        choice "In the first row only.";
        reason "Rows without padding have nothing to skip.";

    const SOLID_SELECT_IS_FOR_MONO_PATTERNS: bool = true;
        question "Does Solid Pattern Select apply to XY_SETUP_BLT, whose pattern has colours?";
        choice "No, the model reads the colour pattern.";
        reason "BR01 (2d p.47) says that the bit applies to monochrome patterns only.";

    const SOLID_PATTERN_IS_TRANSPARENT: bool = true;
        question "What does a solid pattern with Monochrome Pattern Transparency draw?";
        choice "Nothing.";
        reason "BR13 (2d p.56) takes all bits of a solid pattern as 0, and writes nothing where a \
            bit is 0.";
}
