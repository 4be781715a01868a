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
}
