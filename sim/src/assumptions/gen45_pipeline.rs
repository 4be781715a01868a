//! The pipeline of the G45: the questions that the manuals leave open.

assumptions! {
    area GEN45_PIPELINE = "gen45_pipeline";

    const G45_ELEMENTS_AFTER_MAX_INDEX_ARE_ZERO: bool = true;
        question "What does vertex fetch read for elements after Max Index?";
        choice "All components of the source are 0. With `false`, fetch reads the memory \
            after the buffer.";
        reason "Gen8 reads 0 after the end of a buffer (gen45_facts 5).";

    const G45_MAX_INDEX_ZERO_IS_NO_LIMIT: bool = true;
        question "What does Max Index 0 of a vertex buffer mean?";
        choice "There is no limit. `false`: only element 0 can be read.";
        reason "crocus writes 0 for the buffers of programs, whatever their size: 3,458 of 4,453 \
            buffers in captures. It runs on hardware.";

    const G45_INDICES_AFTER_THE_END_ARE_ZERO: bool = true;
        question "What does vertex fetch read for indices after Buffer Ending Address?";
        choice "Index 0. With `false`, fetch reads the memory after the buffer.";
        reason "Gen8 does so. No source describes the G45.";

    const G45_PIXEL_THREADS_RUN_WHOLE_SUBSPANS: bool = true;
        question "Which channels of a pixel shader thread are enabled at its start?";
        choice "All channels of its subspans. `false`: those of the dispatched pixels only.";
        reason "The sampler takes the level of detail from three pixels of a subspan \
            (003:3927-3929), so all of them need coordinates. Render target writes take the pixels \
            from their header, where kernels put the mask of r0.";

    const G45_ANTIALIAS_ALPHA_COMES_BEFORE_THE_ALPHA_TEST: bool = true;
        question "Is alpha multiplied by the coverage of an antialiased line before or after the \
            alpha test?";
        choice "Before. `false`: after it.";
        reason "OpenGL applies coverage before the alpha test (OpenGL 2.1, 3.12 and 4.1.4).";

    const G45_ALPHA_IS_TESTED_AS_IT_IS_STORED: bool = true;
        question "Is alpha compared as a float, or as the render target stores it?";
        choice "For UNORM targets with up to 8 bits, alpha and the reference are rounded to 8 bits. \
            With `false`, they are compared as floats if Alpha Test Format is FLOAT32.";
        reason "OpenGL rounds both to the precision of the target (OpenGL 2.1, 4.1.4), and the \
            picture of gl_ff_tex_alpha agrees. Drivers set Alpha Test Format to FLOAT32.";

    documentation G45_ODD_TRIANGLES_SWAP_THEIR_FIRST_VERTICES;
        question "In which order does setup load the vertices of odd triangles of a strip?";
        choice "The first two are exchanged, so that all triangles turn the same way. The provoking \
            vertex counts in this order.";
        reason "Kernels of the clipper exchange them for TRISTRIP_REVERSE (gen45_facts 5, 9.2). No \
            source describes setup.";

    documentation G45_CONSTANTS_NOT_LOADED_ARE_ZERO;
        question "What does a payload have for constants beyond those that CONSTANT_BUFFER loaded?";
        choice "0.";
        reason "Hardware has what was in the URB before; no kernel can use it.";

    documentation G45_CLIPPER_TESTS_POSITIONS_IN_CLIP_SPACE;
        question "Which positions does the clipper test: what do Vertex Position Space and the \
            Screen Space Viewport of CLIP_STATE do?";
        choice "Nothing: the clipper tests the positions before the division by w.";
        reason "crocus selects NDCSPACE with a viewport from -1 to 1. For a positive w, the tests \
            before and after the division agree; for a negative one, only those before it are \
            right (gen45_facts 8.2).";
}
