//! Sampler: the questions that the manuals leave open.

assumptions! {
    area SAMPLER = "sampler";

    const LOD_IS_ROUNDED: bool = true;
        question "Levels of detail have 8 fraction bits. Are computed levels rounded to them or \
            cut?";
        choice "Rounded to the nearest, so that coordinates with small errors give the intended \
            level.";
        reason "No source says.";

    const RESOURCE_MIN_LOD_BOUNDS_LEVELS: bool = true;
        question "What does Resource Min LOD do (2d p.349)?";
        choice "It is a lower bound of the level of detail. Level 0 is the most detailed level \
            that is present. Loads round the bound down. A load from a more detailed level than \
            that reads outside of the surface.";
        reason "\"The LOD Computation Pseudocode\", to which the manual refers, is in no source. \
            Intel's Vulkan drivers use the field for VK_EXT_image_view_min_lod, which wants this, \
            and dEQP-VK's texture.mipmap tests it.";

    const TWO_ANISOTROPIC_SAMPLES_MEET: bool = true;
        question "Where are the samples of the anisotropic filter for ratios from 1 to 2?";
        choice "The two samples move together as the ratio approaches 1, where they are the sample \
            of the linear filter.";
        reason "The filter has two samples of the same weight for these ratios (003:2881-2885). A \
            distance of one texel would blur a map that lies square on the screen. OpenGL's filter \
            has one sample there (EXT_texture_filter_anisotropic).";

    const EWA_TAKES_THE_AXES_OF_THE_ELLIPSE: bool = true;
        question "How do the anisotropic algorithms LEGACY and EWA Approximation differ?";
        choice "In the axes. LEGACY takes the derivatives along X and Y as the axes of the pixel's \
            projection. EWA takes the axes of the ellipse that a circle around the pixel becomes \
            on the map. Number, distance and weights of the samples follow from the axes in the \
            same way. `false`: both take the derivatives.";
        reason "2d p.399 says only that EWA is of higher quality, 2d p.332 that it improves the \
            level of detail. The ellipse of the elliptical weighted average is the one of \
            Heckbert's filter, and 003:2881-2885 is the only text about samples and weights.";

    documentation ANISOTROPIC_SAMPLES_STAY_ON_THE_FACE;
        question "Where do the samples of the anisotropic filter lie if they leave the face of a \
            cube map?";
        choice "At the edge of the face.";
        reason "2d p.398 admits artifacts at the edges of cube maps, and says no more.";

    const DERIVATIVES_OF_EVERY_STAGE: bool = true;
        question "Are levels of detail computed for threads that have no pixels?";
        choice "Yes: from the differences of neighbours in messages of 8 and 16 lanes of all \
            threads. Messages of two lanes use 0.";
        reason "Drivers give such threads an explicit level, which could mean that hardware \
            computes none. The sampler does not see which stage sends a message.";

    const CUBE_LODS_ARE_ON_THE_OWN_FACE: bool = true;
        question "In a subspan some pixels may look at another face of a cube map. From which \
            derivatives is the level of detail computed?";
        choice "The neighbours' directions are projected onto the pixel's own face.";
        reason "003:2731 uses differences of neighbours and does not mention faces. OpenGL's \
            derivatives are those on the own face (4.6, 8.14). Differences of directions as \
            shaders divide them give levels that are half a step off at the edges of the drawn \
            area (piglit's cubemap).";

    const BORDER_COLORS_CLAMP_TO_THE_FORMAT: bool = true;
        question "Are border colours clamped to the range of the format?";
        choice "Yes.";
        reason "OpenGL says so, and drivers leave it to hardware (gen8_facts 11).";

    const CHROMA_BETWEEN_PAIRS_IS_SHARED: bool = true;
        question "Every second pixel of packed YUV has no chroma of its own. Which chroma does the \
            filter see?";
        choice "That of the pixel to the left. Only the chroma key uses the mean of left and right.";
        reason "2a p.35 describes the mean for the chroma key only. For these formats, Intel's \
            Vulkan drivers report MIDPOINT_CHROMA_SAMPLES and not COSITED_CHROMA_SAMPLES. With the \
            nearest chroma filter, dEQP-VK's ycbcr.conversion expects that both pixels of a pair \
            have the same chroma.";

    const CUBE_CORNERS_HAVE_THREE_TEXELS: bool = true;
        question "What is the fourth texel at a corner of a cube map?";
        choice "There is none; its weight goes to the three others in equal parts. A gather, which \
            has no weights, gets the texel at the corner of the face.";
        reason "003:2969 admits artifacts. OpenGL recommends equal parts, and for a gather wants \
            this result where the three texels are equal (4.6, 8.14).";

    const SAMPLES_FLUSH_SUBNORMALS: bool = true;
        question "Do samples and gathers of formats with 32-bit floats return subnormal numbers?";
        choice "No: subnormal texels and results are zeros of the same sign. `ld` and the data \
            port return the bits of memory.";
        reason "003:7014 flushes the inputs and outputs of computations, but 003:7015 exempts \
            point sampling. Compilers flush the results of `ld` in software, so that they match \
            those of `sample`. The test samplerless_reads of OpenCL-CTS wants the two to be equal \
            for random floats, which include subnormal ones (OpenCL-CTS issues 512 and 1023).";

    const LOADS_OUTSIDE_HAVE_ALPHA_ONE: bool = true;
        question "Which alpha does ld return outside of the surface for a format without alpha?";
        choice "1.";
        reason "003:4064 says 1. An erratum of old devices had 0 for formats with 8 bits a \
            channel.";

    const CONTROL_WORDS_WITHOUT_A_SURFACE_ARE_ZERO: bool = true;
        question "What does ld_mcs return for a surface without a multisample control surface?";
        choice "0, as for a surface that does not exist.";
        reason "No source says. ld2dms does not read the word then.";

    const LEVELS_HAVE_A_TEXEL_AT_LEAST: bool = true;
        question "What does resinfo return for the size of levels that are shifted to 0?";
        choice "At least 1, for levels that exist.";
        reason "resinfo shifts width, height and depth by the level (003:4054), which gives 0 \
            where the level still has a texel. Drivers use the result as the size of the level.";

    const SAMPLEINFO_HAS_THE_PALETTE_INDEX: bool = true;
        question "In which channel does sampleinfo return Multisample Position Palette Index?";
        choice "In alpha.";
        reason "The index is \"returned by sampleinfo\" (2d p.340). No source names the channel.";

    const SAMPLERS_OF_8X8_ARE_THIS_FAR_APART: u64 = 512;
        question "How many bytes of the table of samplers does an index of sample_8x8 stand for?";
        choice "512. So an index must be even, as a state has 616 bytes.";
        reason "2d p.258 wants a multiple of 4, which suits the states of 64 bytes of older \
            devices. intel/media-driver steps by 512 bytes for each index of Gen8's scaler \
            (cm_hal_g8.cpp, renderhal_g8.cpp). The VA driver i965 uses index 0 only.";

    const AVS_ADDS_HALF_A_STEP: bool = true;
        question "Which part of a pixel do the coordinates of sample_8x8 name?";
        choice "Its start. The scaler adds half a step, and subtracts half a pixel of the picture, \
            so that the edges of source and result coincide. `false`: coordinates are in pixels of \
            the picture, whose middles are integers.";
        reason "No source says. Both give a copy for a step of one pixel, which drivers expect \
            without an offset. intel/media-driver adds half a step to the coordinates of the 3D \
            sampler, which subtracts half a pixel, and nothing to those of this scaler \
            (vphal_render_composite.cpp). So both are meant to give the same picture.";

    const AVS_POSITION_BITS: u32 = 8;
        question "How precise are the positions of pixels in the adaptive video scaler?";
        choice "8 fraction bits, rounded; the phase is the upper 5 bits.";
        reason "The phase has 5 bits (video.md 11.4). Drivers give positions of pixels as multiples \
            of 1 / width in single precision, with errors in both directions. If they were cut to \
            5 bits, a picture of the same size would not be a copy.";

    const AVS_ROUNDS_AFTER_EACH_DIRECTION: bool = true;
        question "How are the sums of the adaptive video scaler rounded?";
        choice "After each direction to 1/256 of a step of 8 bits, half up. The results of rows \
            are not clamped, those of columns are, to 16 bits. `false`: the sums are cut.";
        reason "No source has the intermediate precision. Responses have 16 bits (video.md 11.3).";

    const CHROMA_OF_PICTURES_IS_COSITED: bool = true;
        question "Where are the chroma samples of pictures with shared chroma for the adaptive \
            video scaler?";
        choice "Horizontally at every second pixel, from the first one on. Vertically Cr(V)/Cb(U) \
            Pixel Offset V Direction below every second row (2d p.241). `false`: between two \
            pixels of a row.";
        reason "The state has an offset for the vertical direction only. MPEG-2 and later standards \
            have this position.";

    documentation AVS_FILTERS_OF_CHANNELS;
        question "Which channels of the adaptive video scaler blend a sharp and a smooth filter?";
        choice "Green or luma always; red and blue with Adaptive Filter for all channels, else they \
            have the sharp filter. With 4 taps, green has the middle taps of table 0. The share of \
            the sharp filter is Default Sharpness Level where a bypass is set or the mode is not \
            adaptive. Otherwise it follows green, or RGB Adaptive's sum, for all channels that are \
            stored with green, and the channel itself elsewhere.";
        reason "2d p.380 and p.387-389 have the fields without a formula. Sandy Bridge's scaler \
            adapts luma (video.md 11.4).";

    documentation AVS_ADAPTS_BY_ITS_SECOND_DIFFERENCES;
        question "Of which pixels are the differences d1, d2 and d3 of the adaptive filter?";
        choice "Of the four pixels in the middle, in order. Differences are in steps of 8 bits, cut. \
            The blend of two filters is rounded, with shares of 1/255.";
        reason "Sandy Bridge's manual names the differences and no rounding (video.md 11.4).";

    documentation AVS_SECOND_DERIVATIVES;
        question "Where is pixel n of a row with a second derivative?";
        choice "At U + n * Delta U + n * (n - 1) / 2 * U 2nd Derivative. Rows count from vertical \
            block 0 on.";
        reason "003:4176 says that the second derivative is the change of delta.";

    const DETAIL_USES_THE_OUTER_RING: bool = true;
        question "Which eight pixels does the detail filter compare a pixel with?";
        choice "With those two columns or two rows apart. `false`: with its neighbours.";
        reason "2d p.379 has a region of 5 x 5 pixels. Sandy Bridge's filter had both rings \
            (video.md 11.5).";

    const DETAIL_EDGES_END_AT: i32 = 15;
        question "What is the largest measure of an edge in the detail filter?";
        choice "15.";
        reason "So it is in Sandy Bridge's filter (video.md 11.5). 2d p.378 has thresholds of 6 \
            bits; those above 14 then find no edge.";

    const DETAIL_SIGMA_ENDS_AT: i32 = 128;
        question "What is the largest difference in the detail filter?";
        choice "128 in both directions: eight differences in the unit of 10 bits.";
        reason "So it is in Sandy Bridge's filter (video.md 11.5).";

    const DETAIL_DIVISORS_END_AT: i32 = 255;
        question "What is the largest divisor of the detail filter?";
        choice "255. The quotient is exact and cut towards 0.";
        reason "Sources have a clip without a bound and a table of reciprocals without its values \
            (video.md 11.5).";

    documentation DETAIL_NEEDS_PIXELS_AROUND_THE_BLOCK;
        question "Which pixels does the detail filter see beyond the edges of a block?";
        choice "The scaled pixels two columns and two rows further, at positions that continue \
            those of the block.";
        reason "No source says. Otherwise the edges of blocks would be visible in the picture.";

    documentation THE_DETAIL_FILTER_CHANGES_LUMA_ONLY;
        question "Which pictures and channels does the detail filter change?";
        choice "Luma of pictures that have it. Other channels, and pictures without luma, pass.";
        reason "Its formulas have luma (video.md 11.5). Changes of green alone would change \
            colours.";

    documentation THE_DETAIL_FILTER_IS_THE_SHARPENING_PART;
        question "What do Global Noise Estimation and the smoothing coefficients R3x, R3c, R5x, \
            R5cx and R5c change in the detail filter?";
        choice "Nothing.";
        reason "2d p.378-379 calls the coefficients of 5 x 5 pixels reserved and has no formula. \
            Drivers write them (intel/media-driver, vphal_render_ief.cpp), so a fault would \
            refuse all sharpening.";

    documentation THE_DETAIL_FILTER_TREATS_SKIN_AS_OTHERS;
        question "What does Skin Tone Tuned IEF_ Enable change in the detail filter?";
        choice "Nothing: skin is not detected.";
        reason "2d p.379-386 has the fields of the detection. No source says how its score changes \
            the strength. intel/media-driver sets the bit whenever it sharpens.";

    documentation BLOCKS_OF_8X8_ARE_IN_THE_ORDER_OF_ROWS;
        question "In which order are the pixels of a response of sample_8x8 and sample_unorm?";
        choice "In the order of rows.";
        reason "A state of later devices selects another order; Gen8's state has no such field \
            (2d p.378-389). The kernels of the VA driver i965 take rows of 16 pixels from \
            sample_8x8, those of intel/media-driver's deinterlacer rows of 8 from sample_unorm.";

    documentation SAMPLE_UNORM_IS_A_LINEAR_SAMPLE;
        question "How precise is sample_unorm, and what is 1.0?";
        choice "As sample: weights of 8 bits and exact products. 1.0 is 0xFF00, as in sample_8x8. \
            The map is minified if a step of U or V is longer than a texel.";
        reason "003:4065 has the positions and no precision. The responses have the same formats \
            (intel-graphics-compiler, SAMPLE_UNORM.md).";

    documentation KILL_MASKS_OF_SAMPLE_UNORM;
        question "Where does sample_unorm+killpix return the mask of live pixels?";
        choice "In the first dword of a register after the channels, one bit for each of the 32 \
            pixels.";
        reason "003:4071 mentions the mask; its table is lost. SIMD8 and SIMD16 have theirs there \
            (003:4237-4243).";
}
