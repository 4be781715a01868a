//! Motion estimation: the questions that the manuals leave open.

assumptions! {
    area MOTION = "motion estimation";

    const HAAR_SUMS_ARE_SHIFTED_BY: u32 = 1;
        question "By how much are sums of Haar coefficients divided?";
        choice "By two, after coefficients that keep the energy of the differences.";
        reason "Thresholds and costs are the same for both kinds of sums, so both must have about \
            the same size. No source says what the unit does.";

    const COSTS_GROW_BEYOND_64: bool = true;
        question "What does a vector cost at a distance of more than 64 units?";
        choice "The cost at 64 plus a quarter of the rest of the distance.";
        reason "The table ends at 64. A constant cost would treat all distant vectors alike.";

    const ADAPTIVE_SEARCH_CONTINUES_WITH_FIRST_NEIGHBOUR: bool = true;
        question "Which units does the adaptive search visit, and in which order?";
        choice "The unit with the best position of the macroblock has four neighbours: left, \
            right, above, below. The first one that was not searched is next. The search ends when \
            all of them were searched.";
        reason "The manual of Ivy Bridge names the neighbours of the best unit, but not their \
            order (digests/video.md 10.7).";

    const SKIP_TRANSFORM_SUMS_SATURATE_AT: u32 = 0xffff;
        question "What does the forward transform of skip checks return?";
        choice "For each 8x8 block the number of coefficients above their thresholds, and by how \
            much they exceed them, up to 65535. The transforms are those of H.264. A \
            coefficient at (x, y) of its block uses threshold min(x + y, 6).";
        reason "Compilers name the fields only: counts and sums of magnitudes of luma, for seven \
            thresholds.";

    documentation SEARCH_PATHS_SKIP_UNITS_OUTSIDE;
        question "What happens at units of a search path that are outside of the window, or that \
            were searched before?";
        choice "They count for the length of the path, and nothing is searched.";
        reason "digests/video.md 10.7 names two possibilities; the other one wraps.";

    documentation BOTH_STARTS_FOLLOW_THE_WHOLE_PATH;
        question "How is the length of the path divided between two starts or two references?";
        choice "It is not: the path is followed from each of them.";
        reason "intel-vaapi-driver programs the length for one reference: 18 steps in a window of \
            16 units.";

    documentation PIXELS_BEYOND_A_PICTURE_REPEAT;
        question "Which pixels are beyond the edges of the source and of the references?";
        choice "The nearest ones of the surface repeat. The surface has the size of its state.";
        reason "Vectors may leave a picture. intel-vaapi-driver states the size of the picture for the \
            source, and whole macroblocks for references; so macroblocks at the right and lower edge \
            are compared with what the encoder coded from memory beyond the source.";

    documentation PARTITIONS_USE_THE_COST_CENTRE_OF_THEIR_FIRST_BLOCK;
        question "Which of the four cost centres does a partition of several 8x8 blocks use?";
        choice "That of its first block.";
        reason "Drivers give all blocks the same one.";

    documentation EACH_PARTITION_HAS_ITS_COSTS;
        question "How often do costs count?";
        choice "The cost of 16x16, 16x8 or 8x16 once; the costs of smaller shapes once for each \
            8x8 block; those of vectors for each partition; those of reference 1 and of reference \
            IDs for each 8x8 block or larger partition; those of intra modes for each block.";
        reason "Drivers scale the costs of smaller shapes to 8x8 blocks. The OpenCL extension \
            cl_intel_device_side_avc_motion_estimation has costs of reference IDs for partitions \
            down to 8x8.";

    documentation LINEAR_COSTS_OF_REFERENCES_ARE_MULTIPLES;
        question "What is the cost of a reference ID if Reference ID Cost Mode is 1?";
        choice "The cost of reference IDs times the ID.";
        reason "Headers of intel/media-driver call mode 0 AVC and mode 1 linear. The OpenCL \
            extension has the factors of mode 0 only: 0, 1, 1, 2, 2, 2, 2, then 3.";

    documentation REFINEMENT_TRIES_EIGHT_NEIGHBOURS;
        question "Which fractional vectors does the refinement try?";
        choice "The eight half positions around the vector, then the eight quarter positions \
            around the best of them. Of equal costs, the first one in raster order stays.";
        reason "The manual of Ivy Bridge has the neighbours and not their order.";

    documentation FRACTIONS_ROUND_ONCE;
        question "How precise is the interpolation between rows and columns?";
        choice "Exact: it is rounded once, at the end.";
        reason "Sources have the taps of the filters only.";

    documentation BOTH_REFERENCES_ARE_TRIED_FOR_EACH_PARTITION;
        question "When does the refinement predict from both references?";
        choice "For each partition that the masks allow, from the refined vectors of both \
            references, if the number of vectors allows one more. It is chosen if it costs less.";
        reason "intel-vaapi-driver passes the directions of the integer search, which are never \
            both references, and expects predictions from both.";

    documentation PENALTIES_ARE_FOR_MODES_OTHER_THAN_DC;
        question "Which intra modes have the penalties of the message?";
        choice "All modes but DC. The modes that are not the predicted ones have a mode cost \
            instead.";
        reason "Intel's Media SDK names them so; intel-vaapi-driver has another name and gives 1.";

    documentation INTRA_MODES_ARE_REPEATED;
        question "How does the response store the modes of 8x8 and 16x16 blocks?";
        choice "Each 4x4 block has the mode of the block that contains it.";
        reason "Intel's Media SDK calls this the extended form, and says that responses have it.";

    documentation SKIPPING_HAS_NO_OTHER_CONDITION;
        question "When does the skip check report a skipped macroblock?";
        choice "If the distortion is not larger than the threshold. The forward transform does not \
            change this.";
        reason "digests/video.md 10.7. Kernels read the results of the transform themselves.";

    documentation DIRECT_8X8_BLOCKS_ARE_NOT_REPORTED;
        question "Which 8x8 blocks does a skip check with four pairs of vectors report as direct?";
        choice "None. The bits that had this pattern are part of the distortion of chroma.";
        reason "Ivy Bridge's response has four bits above the intra distortion (digests/video.md \
            10.6). No source of this generation has them.";

    documentation DIRECTIONS_OF_16X8_ARE_IN_THE_FIRST_TWO_BLOCKS;
        question "Which bits of Sub MB Prediction Modes are the directions of 16x8 partitions?";
        choice "Those of blocks 0 and 1 are the upper and the lower partition, and blocks 2 and 3 \
            repeat them.";
        reason "The kernel of i965 that writes MFC_AVC_PAK_OBJECT reads only these bits. If \
            blocks 0 and 1 do not hold the directions, it writes references of the wrong list.";
}
