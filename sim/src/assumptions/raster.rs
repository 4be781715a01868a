//! Rasterisation: the questions that the manuals leave open.

assumptions! {
    area RASTER = "raster";

    const SNAPPING_TIES_GO_TO_EVEN: bool = true;
        question "Coordinates keep 8 fraction bits of a pixel (2a p.39). How are they rounded?";
        choice "To the nearest, and ties to the even value. `false`: ties to the larger one.";
        reason "Direct3D's rules round to the nearest. No source says how ties are rounded.";

    const CENTROID_IS_FIRST_COVERED_SAMPLE: bool = true;
        question "At which position are centroid values of a partly covered pixel computed?";
        choice "At the first covered sample. `false`: at the pixel's location, as if the pixel \
            were covered.";
        reason "No source says it directly (gen8_facts 7). The programming note of \
            3DSTATE_SAMPLE_PATTERN wants samples ordered by distance from the middle because of \
            the centroid (2a p.182), which makes sense if the first covered sample is taken.";

    const FORCED_16_SAMPLES: [[u8; 2]; 16] = [
        [9, 9], [7, 5], [5, 10], [12, 7], [3, 6], [10, 13], [13, 11], [11, 3],
        [6, 14], [8, 1], [4, 2], [2, 12], [0, 8], [15, 4], [14, 15], [1, 0],
    ];
        question "Where are the samples when Forced Sample Count is 16 (2a p.175)?";
        choice "At the positions of Direct3D's standard pattern for 16, in 1/16 pixels from the \
            upper-left corner.";
        reason "3DSTATE_SAMPLE_PATTERN has no positions for 16 samples.";

    const DX10_1_ALWAYS_SAMPLES_THE_PATTERN: bool = true;
        question "Are samples at the positions of the pattern when multisample rasterisation is \
            disabled?";
        choice "Yes with API Mode DX10.1+. In other modes all samples of a pixel are at one \
            position.";
        reason "In Direct3D 10.1 and later the enable is about lines only, and the Vulkan driver \
            uses it so (gen8_facts 7). Before, as in OpenGL, it says that each pixel has one \
            position for all of its samples. No source has the equation.";

    documentation THIN_LINES_FOLLOW_DIRECT3D_10;
        question "Legacy Diamond Line Rasterization (3DSTATE_WM, 2a p.276) selects the rules of \
            Direct3D 9 or 10 for thin lines. What are the rules?";
        choice "Both settings follow Direct3D 10's published rule.";
        reason "The volume with both rules is missing. They can only differ where a line touches \
            the border of a pixel's diamond.";

    documentation MANHATTAN_DISTANCE_IS_ALONG_THE_PERPENDICULAR;
        question "AALINEDISTANCE_MANHATTAN measures |dx| + |dy| from a pixel to an antialiased \
            line. To which point of the line?";
        choice "To the foot of the perpendicular, and for end caps along the line. So the distance \
            is the true one times the sum of the absolute components of the direction.";
        reason "Sandy Bridge vol 2 part 1 p.245 says only that it approximates the distance. The \
            nearest point of the line by |dx| + |dy| would give distances along one axis.";

    const SMOOTH_POINTS_WITH_SLOPES_ARE_SQUARES: bool = true;
        question "How do AA Point Coverage Slope and Bias change smooth points?";
        choice "With a slope, the coverage is the product for the four edges of the point's \
            square, as for a horizontal line of length 0 whose end caps are half the width. \
            Edges 0 and 3 are the upper and lower ones. Without a slope the point is a disc. \
            `false`: always a disc.";
        reason "2a p.6-7 names four edges and a slope of 0 that selects another computation, as \
            for lines, and 3DSTATE_SF says that points are processed like antialiased lines \
            (2a p.211-215). Sandy Bridge vol 2 part 1 p.292-294 has the computation for lines. No \
            source says which edges are 0 and 3. Drivers set no slope.";

    documentation STIPPLE_STARTS_AT_CUTS;
        question "Where does the stipple pattern start when clipping has cut the start of a line?";
        choice "At the start of the visible part. The lines after it continue the pattern as if \
            the cut line were shorter.";
        reason "No source says (gen8_facts 15).";

    const SMOOTH_POINT_REGION: f64 = 1.0;
        question "Over how many pixels does the coverage of a smooth point go from 1 to 0?";
        choice "One pixel.";
        reason "3DSTATE_RASTER only says that the point is smooth. One pixel is nearest to \
            OpenGL's definition by area.";
}
