//! Surfaces and formats: the questions that the manuals leave open.

assumptions! {
    area SURFACES = "surfaces";

    const LEVELS_WITHOUT_ALIGNMENT_ALIGN_TO: u32 = 4;
        question "How are the levels of a surface aligned when its alignment fields have the \
            reserved value 0?";
        choice "To the least alignment, 4.";
        reason "The fields are \"ignored\" for surfaces that are neither sampled nor rendered to \
            (2d p.325-326), but typed messages reach levels too.";

    const TYPED_READS_OUTSIDE_DECODE_ZEROS: bool = true;
        question "What do typed reads outside of a surface return?";
        choice "What an element of zeros returns: 1 in an alpha that the format lacks, 0 in all \
            other channels. The alternative is 0 in all channels.";
        reason "No source says. In dEQP-VK's robustness2, shaders read images for which they \
            declare no format. Intel's drivers leave the conversion of these reads to the \
            hardware, and the tests expect this result. Null surfaces return 0 (003:3090).";

    const INTEGERS_CLAMP_TO_THEIR_CHANNEL: bool = true;
        question "Does a typed write clamp or cut integers that do not fit a channel of the \
            format?";
        choice "It clamps them.";
        reason "Render targets clamp (gen8_facts 9.1), and one conversion serves both.";

    const PADDING_IS_WRITTEN_AS_ZERO: bool = true;
        question "What does writing an element leave in its padding bits (X channels)?";
        choice "0, so that the same writes leave the same memory.";
        reason "No source says, and no driver reads the bits.";

    const PIXELS_OF_PACKED_YUV_SHARE_THE_FIRST_CHROMA: bool = true;
        question "Two pixels of packed YUV share their chroma. Which pixel gives it when both are \
            written?";
        choice "The first one.";
        reason "No source says. Chroma is sampled at the position of the first pixel (4:2:2, \
            cosited).";

    const COLOURS_BETWEEN_ARE_ROUNDED: bool = true;
        question "To how many bits are the colours computed that lie between the two ends of a \
            block of BC1, BC2, BC3 or FXT1?";
        choice "To bytes. Ends are widened to bytes by repeating their highest bits. The colours \
            between are rounded to the nearest byte, halves up. `false`: rounded down.";
        reason "Ends have 5 or 6 bits a channel, and no source has the chapter about the colours \
            between (003:2977). Direct3D 9's documents (DXT1) compute them so, and the sRGB \
            formats need bytes. Direct3D 10 allows this difference from exact colours.";

    const ENDS_OF_SIGNED_BLOCKS_ARE_CLAMPED_FIRST: bool = true;
        question "The ends -127 and -128 of signed blocks of BC4 and BC5 are both -1. Are they \
            equal when the ends are compared?";
        choice "Yes: the ends are converted first and then compared.";
        reason "Direct3D does so. OpenGL leaves it open (ARB_texture_compression_rgtc).";

    const ETC1_IS_READ_AS_ETC2: bool = true;
        question "How are ETC1 blocks decoded whose second colour leaves its range?";
        choice "As ETC2. `false`: the second colour wraps.";
        reason "These blocks have no meaning in ETC1, and ETC2 uses them for other modes. A unit \
            that reads both formats most likely reads them as ETC2.";

    const CLEARED_BLOCKS_ARE_ONES: bool = true;
        question "Does a set bit of a colour control surface mark a cleared block?";
        choice "Yes.";
        reason "gen8_facts 8.4 says so, without a source. Drivers fill new surfaces with zeros and \
            treat them as not cleared.";

    const CCS_OWORDS_GO_ACROSS_FIRST: bool = true;
        question "A cache line of a colour control surface has four owords with 8 x 16 blocks \
            each. In which order are they?";
        choice "Left to right, then top to bottom.";
        reason "No source describes the order. Drivers write whole cache lines.";

    const CLEARS_REACH_ONE_SLICE: bool = true;
        question "Which slices does a clear by 3DSTATE_WM_HZ_OP reach?";
        choice "The first one only.";
        reason "Its rectangle has no array index. Drivers clear slice by slice, with buffers that \
            continue after the slice.";

    documentation CLEARS_USE_THE_FIRST_SCISSOR_RECTANGLE;
        question "Which scissor rectangle does Scissor Rectangle Enable of 3DSTATE_WM_HZ_OP \
            select?";
        choice "The first one of 3DSTATE_SCISSOR_STATE_POINTERS, without regard to the enable of \
            3DSTATE_RASTER. The clear writes the common part of both rectangles.";
        reason "The clear has no viewport index. Without the bit, drivers have to clip the \
            rectangle in this way (2a p.282), so hardware would do the same. Because of a hardware \
            bug the bit must not be set (1911422), which the rules of the specification report.";

    documentation LEGACY_CLEARS_USE_THE_DEPTH_OF_EACH_SAMPLE;
        question "What is the value of a clear by 3DSTATE_WM without a valid value of \
            3DSTATE_CLEAR_PARAMS?";
        choice "Each sample gets the depth of the primitive at its position.";
        reason "2a p.37 names the interpolated depth of an arbitrary pixel of the primitive, which \
            is the same if the primitive has one depth. Otherwise no source says which pixel.";

    const RENDER_TARGETS_TURN_CLOCKWISE: bool = true;
        question "In which direction does Render Target And Sample Unorm Rotation 90DEG turn the \
            picture in memory?";
        choice "Clockwise; 270DEG turns it counter-clockwise.";
        reason "2d p.339 gives only the angle. Rotation in planes of Intel's later display engines \
            is clockwise (i915 skl_universal_plane.c swaps 90 and 270 degrees for this reason).";
}
