//! Assumptions about the debug functions of the G45.

assumptions! {
    area GEN45_DEBUG = "gen45_debug";

    documentation G45_DEBUG_NEEDS_THE_GLOBAL_ENABLE;
        question "Which debug functions need Global Debug Enable, and which bit of INSTPM is it?";
        choice "All counters, snapshots, breakpoints of the cache, halts and limits of draws, in \
            bit 4. Attention and the words about bad messages do not need it.";
        reason "The unit that has the state qualifies the signals of all units with it (003:1225), \
            and most fields say so again; some, such as Cull All, do not. The manual does not say \
            the position; Intel's media driver uses bit 4 of the same register on later devices.";

    documentation G45_UNIT_NUMBERS;
        question "Which number does each fixed function have in `sr0` and in tags of vertices?";
        choice "Vertex fetch 1, vertex shader 2, geometry shader 3, clipper 4, strips and fans 5, \
            windower 6.";
        reason "No source has the numbers. These are in the order of the pipeline.";

    documentation G45_VS_WORDS;
        question "What do the words of VS_RDATA mean?";
        choice "Word 0 is the kernel pointer of the vertex shader; the others are a fault.";
        reason "The manual repeats the text of the windower (003:1439), in which word 0 is the \
            windower's kernel pointer.";

    const G45_CLIPPER_CAPTURES_OBJECTS_THAT_PASS: bool = true;
        question "Which number does the clipper compare for an object that passes without a \
            thread?";
        choice "The number that its next thread will have. `false`: such objects are not captured.";
        reason "The manual says that they can be captured, but not by which number (003:1550).";

    const G45_DEBUG_CLIP_RECTANGLE_INCLUDES_ITS_MAXIMUM: bool = true;
        question "Do the maximum coordinates of the debug clip rectangle belong to it?";
        choice "Yes.";
        reason "It replaces the drawing rectangle (003:1636), whose maximum is included.";

    const G45_HALT_MASKS_SELECT_BITS: bool = true;
        question "Which bits of the debug ID do the masks TD_0-6_EHTRG_MSK and TD_0-7_EHTRG_MSK \
            compare?";
        choice "Those that are 1 in the mask. `false`: those that are 0.";
        reason "The manual calls it the mask to use for the compare (003:2119).";

    const G45_THREADS_USE_THE_FIRST_SLOT: bool = true;
        question "Which execution unit and slot has a thread?";
        choice "The first execution unit that its mask allows, and the slot of Active Threadid if \
            that is enabled, else slot 0. `false`: always slot 0.";
        reason "Threads run one after the other, so that all of them are free.";

    const G45_BREAKPOINTS_HAVE_GRAPHICS_ADDRESSES: bool = true;
        question "What is an address in ISC_L1CA_BP_ADR1 and 2?";
        choice "A graphics address. `false`: an offset from General State Base Address, like `ip`.";
        reason "The manual calls it a linear address of the context's memory space (003:2262).";

    documentation G45_DEBUGGED_PRIMITIVES_ARE_DRAWN_ONE_BY_ONE;
        question "In which order do threads and primitives count?";
        choice "Vertices of a batch first, then each object through all units to its pixels. \
            The windower draws a primitive in the whole window before the next one.";
        reason "On hardware units work side by side; only the order within a unit is fixed.";

    documentation G45_CUT_INDICES_HAVE_NO_NUMBER;
        question "Does an index that ends a strip have a vertex sequence number?";
        choice "No. A vertex without a complete primitive has one, but its thread is not captured.";
        reason "Vertex fetch puts out no vertex for such an index.";

    documentation G45_SUBSPANS_COUNT_IN_THREADS;
        question "Which occurrences of a subspan does the windower count, and when is the count \
            reset?";
        choice "Those in pixel shader threads, from the reset of the other counters on.";
        reason "The snapshot is about the thread of the subspan (003:1730); the manual does not say \
            when the count is reset.";

    documentation G45_OTHER_BAD_MESSAGES_HAVE_A_BAD_LENGTH;
        question "What do the words about bad messages say if the model does not tell the bit?";
        choice "Bad length. The submission ends with a fault, and the host can read the word then.";
        reason "Hardware drops the message, so that its thread never gets a response.";

    documentation G45_HOST_ANSWERS_BEFORE_OR_BY_AN_OBSERVER;
        question "How can the host answer to attention during a draw?";
        choice "By a write of EU_ATT_CLR before the draw, or as an observer. Else the draw ends with \
            a fault.";
        reason "A submission runs to its end before the host continues.";
}
