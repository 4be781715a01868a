//! Video enhancement: the questions that the manuals leave open.

assumptions! {
    area VEBOX = "vebox";

    const VEBOX_ROUNDING: u16 = 8;
        question "What is added to a sample of 12 bits before its low bits are dropped for an \
            output of 8 bits?";
        choice "Half a step, so that it is rounded to the nearest. 10 bits are rounded alike.";
        reason "Only the widths are described (digests/video.md 12.2).";

    documentation VEBOX_CHROMA_IS_REPEATED;
        question "How does image enhancement get a sample of chroma for each pixel?";
        choice "Each pixel has the sample that covers it.";
        reason "No source describes a filter. With this choice, functions that change nothing \
            leave all samples as they are, whatever the method of down-sampling.";

    documentation VEBOX_PROCAMP_ROUNDS_PRODUCTS;
        question "How do the products of ProcAmp, CSC and of the curves become 12 bits?";
        choice "The exact sum is rounded to the nearest, then clipped.";
        reason "The formulas are public, and the width of intermediate results is not \
            (digests/video.md 12.4).";

    documentation VEBOX_ACE_ENDS_WITH_ITS_RANGE;
        question "What does ACE do with luma below Ymin and above Ymax?";
        choice "It stays. Inside the range, the result is clipped to the range.";
        reason "The curve starts at Ymin and ends at Ymax, so this choice keeps a curve that \
            rises monotonic.";

    documentation VEBOX_SKIN_SCORE_IS_A_MINIMUM;
        question "How do the rectangle, the rhombus, luma and the plane of V and Y give the score \
            of skin tone detection?";
        choice "Each gives 0 to 31: 31 inside by more than its margin, 0 outside, linear between. \
            The least is the score. Saturation grows along (-cos, sin) and hue along (sin, cos) in \
            the plane of U and V.";
        reason "The thresholds are described, but not how they are combined. With the axes, the \
            default rectangle starts at grey (digests/video.md 12.4).";

    documentation VEBOX_SKIN_CURVES_ARE_BLENDED;
        question "What do the curves of skin tone enhancement do?";
        choice "They map saturation and hue relative to the centre. Before point 1, slope 0 \
            applies. The change is scaled by the score. Curves for dark skin replace the others \
            below Skin_types_thresh, blended within Skin_types_margin.";
        reason "With the defaults of COLOR_PROCESSING_STATE (2d p.88-99), the curves for bright \
            skin are continuous this way and keep the centre. VEBOX_STD_STE_STATE prints bias 1 of \
            both curves and point 1 of saturation without their signs.";

    documentation VEBOX_TCC_INTERPOLATES_FACTORS;
        question "How does total colour control use its fields?";
        choice "The hue is the angle of (U, V) in units of 1/1024 of a circle. The gain of \
            saturation is linear between the two nearest base colours; up to \
            the bias it is that of the first one. From UV Threshold on, the gain takes effect within UV Threshold Bits. \
            A skin score above STE Threshold reduces the effect of the gain. No component grows beyond \
            UVMaxColor.";
        reason "The default base colours are the angles of the six colours of BT.601. The \
            arithmetic is not public. Gains of 1 change nothing.";

    documentation VEBOX_VERTICES_COVER_HALF_A_CIRCLE;
        question "What are the 512 entries of the vertex table of gamut compression?";
        choice "The vertices of hues from 0 to half a circle, counted from U to V. The other half is \
            opposite: the same chroma, and luma seen from white. Luma and chroma are parts of 4096 \
            of the full range. Between two entries a vertex is interpolated.";
        reason "The tables of intel/media-driver for BT.601 and BT.709 (mhw_vebox_generic.h) are the \
            outermost colours of the RGB cube at these hues and in this unit, within 1. They have \
            no entries for the other half, and the cube is symmetric to its centre.";

    documentation VEBOX_XVYCC_DECODING_IS_A_RANGE;
        question "What do xvYCC decoding and encoding do around gamut compression?";
        choice "They stretch luma of 16 to 235 and chroma of 16 to 240 to the full range, and back. \
            Without them samples have the full range.";
        reason "The vertices have the full range. xvYCC differs from BT.601 and BT.709 only by the \
            colours beyond the range.";

    documentation VEBOX_GAMUT_COMPRESSION_FOLLOWS_LINES;
        question "Which arithmetic does gamut compression have?";
        choice "In the plane of a hue, the gamut is the triangle of black, white and the vertex. A \
            colour moves along a line towards a grey. If CompressionLineShift is 0, the line has \
            the full slope towards the luma of the vertex; each step halves the slope. Default: a \
            colour outside moves to the border. Scaling: luma and chroma, or chroma alone, are \
            first multiplied by the factor; a colour that is then outside moves to the border. \
            Single axis: only luma or only chroma moves to the border. Advanced: distances are in \
            1/1024 of the length of the line inside the triangle. Colours from d(in) inside the \
            border to d(out) outside of it are mapped linearly to the last d(in) inside the \
            border. Colours further out move to the border. d1(in) and d1(out) are for lines that \
            end at the border between black and the vertex.";
        reason "The names of the fields say lines, triangles and lengths; the defaults are 0.2, 0.16, \
            0.8 and 0.28 of 1024. The arithmetic is not public. With the choice, hue stays, the \
            result is in the gamut, chroma grows with chroma, and the inside stays but for the \
            advanced mode.";

    documentation VEBOX_GAMUT_DISTANCES;
        question "What is the distance of a pixel from the gamut in the statistics?";
        choice "The distance in luma and chroma from the border along the line of compression, in \
            parts of 4096.";
        reason "Only the name is public (digests/video.md 12.8).";

    documentation VEBOX_GAMUT_EXPANSION_ORDER;
        question "What does gamut expansion do?";
        choice "First the inverse gamma curve, then the matrix with offsets in units of 12 bits. \
            The mean of the product and the linear input follows, with a weight from 0 to 1023 \
            for the product. The gamma curve is last. In the basic mode CM(w) is the weight.";
        reason "The parts are described, and the order follows from their names.";

    documentation VEBOX_GAMUT_EXPANSION_BY_SATURATION_AND_RED;
        question "Which weight has a pixel in the advanced mode of gamut expansion?";
        choice "The greater of two: (CM(i) - saturation) * CM(s) and (red - R(i)) * R(s), from 0 to \
            1. Saturation is (most - least) / most of the linear pixel; red is the sum of R * \
            A(r) / 512, G * A(g) / 256 and B * A(b) / 256, divided by most. Black has all of the \
            weight.";
        reason "Only names and preferred ranges are public: gains of 256 to 511 for red and 26 to \
            127 for green and blue, offset and scale of the accurate colour and of red. With the \
            choice and the defaults, greys and reds are accurate and saturated colours are \
            expanded. Constant weights give the basic mode.";

    documentation VEBOX_CAMERA_PIPE_ORDER;
        question "In which order do the functions of the camera pipe work?";
        choice "Hot pixels, black level, vignette correction, demosaicing, colour correction matrix, \
            forward gamma, conversion at the start. The black level is subtracted from the samples \
            of its colour.";
        reason "2d p.517 says that the black level is subtracted whenever demosaicing is enabled. \
            Each function then has input that is linear in the light as long as possible, and \
            vignetting scales light only. The names of the last three give their places.";

    documentation VEBOX_VIGNETTE_FACTORS;
        question "Which pixels have the factors of the vignette correction?";
        choice "Each block of 4x4 pixels has four: for the pixels of even columns and rows, of odd \
            columns, of odd rows, and of both. The product is rounded.";
        reason "The surface has 4 * ((width + 3) / 4) factors of 16 bits in (height + 3) / 4 rows \
            (intel/media-driver mhw_vebox_hwcmd_g8_X.h). A Bayer pattern has four positions.";

    documentation VEBOX_HOT_PIXELS_ARE_MEDIANS;
        question "Which neighbours does a hot pixel have, and what replaces it?";
        choice "The eight nearest pixels of the same column and row parity, so of the same colour. \
            Their median. A pixel is hot if more of them than Hot Pixel Count differ by more than \
            the threshold.";
        reason "2d p.531 gives the count (0 to 8) and the threshold, not the result.";

    documentation VEBOX_DEMOSAIC_FOLLOWS_THE_LEAST_COST;
        question "How are the colours interpolated that a Bayer pattern leaves out?";
        choice "Green is interpolated in the direction, horizontal or vertical, with the lower \
            cost: the mean of two green neighbours plus a correction by the second difference of \
            the pixel's own colour. The cost is the absolute difference of the green neighbours \
            plus the absolute second difference. If the costs are equal, or if both are above \
            Average Min Cost Threshold, green is the mean of both directions. Red and blue are \
            green plus the mean difference from green of the neighbours that have the colour. \
            Positions are mirrored at the border. The other thresholds have no effect: the model \
            does not check confidence and bad pixels.";
        reason "2d p.514-516 name costs of both directions and the mean beyond a threshold, not \
            their arithmetic. With the choice, samples of the pattern stay, and flat colours, \
            slopes and edges of grey come back.";

    documentation VEBOX_WHITE_POINTS_ARE_NOT_COUNTED;
        question "Where are the statistics of the white balance?";
        choice "The model has none.";
        reason "2d p.516 describes which pixels count, but no source where the counts are.";

    documentation VEBOX_PLANE_OF_ALPHA_IS_FOR_ALL_OUTPUTS;
        question "Which outputs have alpha of the plane?";
        choice "All that have alpha. It must not be enabled for inputs with alpha.";
        reason "A linear plane of bytes with the size of the input, with a pitch of the width rounded \
            up to 64, is described for the command (intel/media-driver mhw_vebox_hwcmd_g8_X.h, \
            VEBOX_SURFACE_STATE), not for a frame.";

    documentation VEBOX_ALPHA_WITHOUT_SOURCE;
        question "What is alpha if the input has none and the state gives none?";
        choice "Opaque.";
        reason "The value of Alpha from State Select for it names a message, which the engine \
            does not have.";

    documentation VEBOX_DENOISE_HISTORY_WEIGHS_THE_PAST;
        question "Which frame does the denoise history weigh?";
        choice "The previous one.";
        reason "The figure and the equation of the Sandy Bridge manual contradict each other. The \
            history grows where nothing moves (digests/video.md 12.5).";

    documentation VEBOX_DENOISE_THRESHOLDS_OF_ZERO;
        question "What happens where Temporal Difference Threshold is 0?";
        choice "The temporal filter is not used.";
        reason "Each difference reaches the threshold (digests/video.md 12.5).";

    documentation VEBOX_DENOISED_OUTPUT_NEEDS_DENOISING;
        question "Is the denoised frame written when only deinterlacing is enabled?";
        choice "No.";
        reason "iHD gives the address 0 for it then.";

    documentation VEBOX_DENOISING_ALONE_HAS_ONE_OUTPUT;
        question "Is the current frame output written when only denoising is enabled?";
        choice "No: the denoised frame output is the only picture.";
        reason "i965 takes its result from the denoised frame output then, and gives buffers that it \
            does not read for the other outputs (digests/video.md 12.5).";

    documentation VEBOX_CHROMA_DENOISE_IS_TEMPORAL;
        question "How is chroma denoised?";
        choice "In blocks of 4x4 samples of U or V, as luma is, but without the spatial filter and \
            without the tests of moving pixels and complexity: samples that luma would filter \
            spatially stay.";
        reason "The state has only three thresholds for chroma.";

    documentation VEBOX_HISTORY_HAS_OWN_ORDER;
        question "In which order are the blocks of the STMM surface?";
        choice "Row after row, 64 bytes each, without tiles. Inside a block the layout is public.";
        reason "Only the engine reads it (digests/video.md 12.7).";

    documentation VEBOX_ANGLES_MUST_WIN_CLEARLY;
        question "How does spatial deinterlacing choose an angle?";
        choice "45 degrees to one side must cost less than to the other side, and less than \
            vertical by SDI Threshold. Each flatter angle (27, 18, 11 degrees) must cost less \
            than the one before by SDI Delta; the search stops at the first that does not. The \
            result must cost less than SDI Threshold, the rows must be neither flat (T1) nor \
            different in activity (T2), and the two pixels must agree (Angle2x1). Otherwise the \
            pair uses the vertical direction. The final offset of a pair is the median of its own \
            offset and those of its two neighbours.";
        reason "The Sandy Bridge manual names the tests and their thresholds (digests/video.md \
            12.9).";

    documentation VEBOX_MOTION_COMPENSATION_CHECKS;
        question "When is motion compensated deinterlacing used?";
        choice "The best vector, by the sum of absolute differences of the two fields around the \
            missing one, must cost at most SAD Tight Threshold for each of 30 samples; or at most \
            a threshold that grows with complexity between THA (with CAT Threshold) and THB, and \
            then the vectors of the neighbours must agree and the result must be near the samples \
            above and below. In both cases the two pixels must be consistent.";
        reason "The thresholds are named; their combination is only outlined (digests/video.md \
            12.9).";

    documentation VEBOX_FILM_MODE_COMPARES_SQUARES;
        question "How are the thresholds of film mode detection used?";
        choice "They are squares. A pixel moves smoothly if the greater squared difference of its \
            fields from the previous frame is above the temporal threshold, and the rows of its \
            fields differ by less than vertical threshold 1. A pixel tears if its fields differ \
            by more than their rows do, and by more than vertical threshold 2, and a neighbour \
            tears, too. Variances 5 and 6 count blocks with more tearing pixels than the tear \
            threshold, and the others.";
        reason "The conditions of tearing are public. The default thresholds, 175, 16 and 100, \
            are near squares of differences of pixels.";

    documentation VEBOX_STATISTICS_OF_EDGES;
        question "Which blocks count in the sums of film mode detection and noise estimates?";
        choice "Blocks that touch no edge of the frame.";
        reason "digests/video.md 12.8 says so of film mode detection.";
}
