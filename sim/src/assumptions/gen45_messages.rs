//! Messages of the G45: the questions that the manuals leave open.

assumptions! {
    area GEN45_MESSAGES = "gen45_messages";

    documentation G45_MATH_IS_ROUNDED_CORRECTLY;
        question "What are the low bits of the functions of extended math? The manual gives \
            maximum errors only (003:6017-6240).";
        choice "The nearest single. The errors are below all maximum errors.";
        reason "The algorithm of hardware is not published.";

    documentation G45_PARTIAL_PRECISION_IS_FULL;
        question "What is the result with Precision = Partial?";
        choice "The same as with full precision.";
        reason "The bit is a hint that allows larger errors (003:5880).";

    const G45_POWERS_HAVE_AN_EXPONENT_FOR_EACH_CHANNEL: bool = true;
        question "Does POW take the exponent of each channel, or one for four channels?";
        choice "The exponent of each channel, unless Source Structure is scalar.";
        reason "The text says \"Src1 is always scalar value\" (003:6146). Compilers send an \
            exponent for each channel (Mesa), and shaders with different exponents work.";

    const G45_COSINES_FOLLOW_SINES_OF_ALL_CHANNELS: bool = true;
        question "In which order does SINCOS of 16 channels return its four registers?";
        choice "Sines of channels 0 to 7 and 8 to 15, then cosines.";
        reason "No source says. The alternative has the sine and cosine of channels 0 to 7 first. \
            No compiler sends the message.";

    documentation G45_COSINE_OF_ZERO_IS_ONE;
        question "What is the cosine of zero in IEEE mode?";
        choice "1.";
        reason "The row of the table (003:6233) is a copy of that of the sine. The row of ALT mode \
            has 1.";

    const G45_PRECLAMP_DEPENDS_ON_THE_LEVELS: bool = false;
        question "Does LOD PreClamp Enable clamp to the levels of the surface?";
        choice "No, as on Gen8. With `true`, a surface of one level is always magnified with \
            PreClamp.";
        reason "The pseudocode of 003:2787-2827 clamps to the levels. But drivers set PreClamp for \
            OpenGL, which also minifies surfaces of one level. The capture gl_two_batches shows \
            this minification. On hardware, dEQP's tests with a nearest filter for minification \
            and a linear filter for magnification fail for some sizes only (gen45_facts 19).";

    const G45_NEAREST_LEVELS_HAVE_WHOLE_BOUNDS: bool = true;
        question "Does the erratum of Max LOD (003:3730: with a fraction below one half, the \
            nearest level is one too large) apply to the G45?";
        choice "Yes.";
        reason "It applies to all devices before Ironlake, and the pseudocode of 003:2787-2827 \
            has it.";

    documentation G45_LEVELS_ARE_RELATIVE_TO_SURFACE_MIN_LOD;
        question "Is the level of detail that selects between minification and magnification \
            relative to Surface Min LOD?";
        choice "Yes, as on Gen8.";
        reason "The pseudocode (003:2787-2827) adds Surface Min LOD to the level of sample_l only. \
            Then sample_l and the other messages would switch to magnification at different sizes. \
            Drivers use Surface Min LOD for OpenGL's base level, and OpenGL counts the level of \
            detail from the base level.";

    const G45_LOADS_OUTSIDE_HAVE_ALPHA_ZERO_FOR_BYTES: bool = true;
        question "Does the erratum of ld (0 in alpha outside of the surface for formats with 8 bits \
            in each channel and no alpha, 003:4064) apply to the G45?";
        choice "Yes.";
        reason "The erratum names no device.";

    const G45_RESINFO_COUNTS_LEVELS: bool = true;
        question "Does resinfo return the number of levels, or MIP Count, which is one less?";
        choice "The number of levels.";
        reason "The table has MIPCount (003:4054). On Gen8 drivers rely on the number of levels.";

    documentation G45_SRGB_IS_DECODED_BEFORE_FILTERS;
        question "Are sRGB texels decoded before or after the filter?";
        choice "Before, with the function of the sRGB standard, as on Gen8.";
        reason "003:3034 says after, with an exponent of 1/2.4, which is the wrong direction. \
            OpenGL allows both.";

    documentation G45_LEVELS_RIGHT_ARE_A_COLUMN;
        question "Where are levels 2 and higher with MIPLAYOUT_RIGHT?";
        choice "In a column below level 1, which is on the right of level 0.";
        reason "The volume with the layouts is not available. MIPLAYOUT_BELOW has its levels from \
            2 on in a column too.";

    documentation G45_QUOTIENT_OF_LEAST_NUMBER_WRAPS;
        question "What is the least integer divided by -1?";
        choice "The least integer, remainder 0.";
        reason "No source says. These are the low 32 bits of the quotient.";
}
