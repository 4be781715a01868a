//! Pixel shader and output merger: the questions that the manuals leave open.

assumptions! {
    area PIXELS = "pixels";

    const PIXEL_THREADS_START_WITH_WHOLE_SUBSPANS: bool = true;
        question "Do pixel shaders without Vector Mask Enable start with the uncovered pixels of \
            covered subspans?";
        choice "Yes, but messages of uncovered pixels do not write memory.";
        reason "By the text the threads start with the dispatch mask, which has covered pixels \
            only (004:3075, 3261). But the kernel of intel-gpu-tools' rendercopy, which copies \
            rectangles of any size exactly, works on its upper eight pixels with the enables of \
            the lower eight. With covered pixels only it would leave holes beside edges.";

    const PIXEL_THREADS_NEED_AN_OUTPUT: bool = true;
        question "Force Thread Dispatch Enable Normal computes whether pixel shader threads run \
            (2a p.277). From which fields?";
        choice "Threads run if 3DSTATE_PS_BLEND has a writeable render target and the shader \
            writes to it, if the shader has a UAV, computes depth or writes oMask, or if the \
            shader, alpha test, alpha to coverage or a chroma key can remove pixels.";
        reason "2a has the fields of 3DSTATE_PS_BLEND and 3DSTATE_PS_EXTRA that this needs, and no \
            formula. Mesa's drivers force the dispatch on for shaders with side effects and \
            without a colour write (iris_state.c), because hardware would not run them.";

    const INTERPOLATED_OFFSETS_START_AT_THE_PIXEL_LOCATION: bool = true;
        question "From which position do the offsets of messages to the pixel interpolator count?";
        choice "From the pixel's location. So an offset of 0 gives the values of the payload also \
            with Pixel Location UL_CORNER.";
        reason "Drivers assume the middle of the pixel, where they have all pixel values.";

    const PS_INVOCATIONS_OF_A_PIXEL: u64 = 4;
        question "What does PS_INVOCATION_COUNT count for each pixel that a shader runs for?";
        choice "Four.";
        reason "Drivers divide the count by four on Broadwell and Haswell (Mesa's \
            WaDividePSInvocationCountBy4; gen8_facts 2.7), so hardware must count four.";

    const PIXELS_OUTSIDE_OF_THE_DEPTH_BUFFER_PASS: bool = true;
        question "What is the result of the depth and stencil tests for pixels outside of the \
            buffer?";
        choice "They pass, as if there were no test.";
        reason "The sizes of all targets should be the same (2a p.57). No source says what happens \
            if they are not.";

    const ALPHA_TO_COVERAGE_FILLS_UPWARD: bool = true;
        question "Which samples does alpha to coverage remove first?";
        choice "The last ones: samples are covered from the first on.";
        reason "2d p.35 says only \"monotonically increases\".";

    const ALPHA_TO_COVERAGE_DITHER: [[f32; 2]; 2] = [[0.125, 0.625], [0.875, 0.375]];
        question "What does dither add to alpha times the number of samples, before it is \
            rounded down, by row and column of a 2 x 2 block of pixels?";
        choice "These values, which are even over the block.";
        reason "No source describes the pattern.";

    const OMASK_DISABLES_ALPHA_TO_COVERAGE: bool = true;
        question "Does a shader that writes oMask disable alpha to coverage, also without Pixel \
            Shader Disables Alpha To Coverage?";
        choice "Yes.";
        reason "2d p.35 and 001 do not say. Mesa (brw_fs.cpp, emit_fb_writes) leaves the alpha of \
            source 0 out of such messages and never sets the bit. Its comment quotes a later \
            manual (Skylake) that describes the hardware so.";

    const BLEND_FACTOR_ZERO_DROPS_ITS_OPERAND: bool = true;
        question "Is a colour times BLENDFACTOR_ZERO 0 also if the colour is infinite or NaN?";
        choice "Yes.";
        reason "Direct3D allows both results. Hardware need not even read the colour.";

    const CLAMP_TO_A_FLOAT_FORMAT_KEEPS_INFINITY: bool = true;
        question "With COLORCLAMP_RTFORMAT, does the range of float formats end with infinity or \
            with the greatest finite number?";
        choice "With infinity.";
        reason "The table of ranges is in a volume that is missing. APIs want infinity to be \
            stored.";

    const COLOR_DITHER: [[f32; 4]; 4] = [
        [-0.46875, 0.03125, -0.34375, 0.15625],
        [0.28125, -0.21875, 0.40625, -0.09375],
        [-0.28125, 0.21875, -0.40625, 0.09375],
        [0.46875, -0.03125, 0.34375, -0.15625],
    ];
        question "What does dither add to a colour, in steps of its channel, by row and column?";
        choice "The usual ordered pattern (Bayer, 4 x 4). Channels of 8 bits and more are not \
            dithered.";
        reason "No source describes the pattern. With this one, colours that are steps of the \
            channel do not change, so nothing drifts whatever Round Disable Function Disable says.";

    const LOGIC_OPERATIONS_SKIP_FLOATS_AND_SRGB: bool = true;
        question "Do logic operations apply to float and sRGB targets?";
        choice "No, the shader's colours are written, without blending.";
        reason "The manual has logic operations for all targets (2d BLEND_STATE). OpenGL says that \
            they have no effect there but still disable blending (4.6, 17.3.9), and drivers pass \
            the application's bit on.";

    documentation PS_BLEND_IS_A_HINT;
        question "What do the fields of 3DSTATE_PS_BLEND do?";
        choice "Nothing: results follow BLEND_STATE, and the model does not read the packet.";
        reason "The fields repeat those of BLEND_STATE for render target 0 and say whether any \
            target is written. They let the windower know early what the output merger will do (2a \
            p.160).";
}
