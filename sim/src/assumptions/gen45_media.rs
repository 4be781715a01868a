//! The media pipeline of the G45: the questions that the manuals leave open.

assumptions! {
    area GEN45_MEDIA = "gen45_media";

    const G45_MEDIA_CHANNELS: u32 = 0xffff;
        question "Which channels of a media thread are enabled at its start?";
        choice "All 16.";
        reason "Kernels of drivers use all 16 without setting a mask.";

    const G45_THREAD_SPAWNER_FFID: u64 = 7;
        question "What is the Fixed Function Identifier in sr0 of media threads?";
        choice "That of the thread spawner on Gen8.";
        reason "The manual has no list of identifiers (003:7993-8035). No kernel reads it.";

    documentation G45_MEDIA_DEBUG_ID_IS_ZERO;
        question "What are the unit, the object and the thread ID in r0.6 of root threads?";
        choice "0, whatever Debug Counter Control is.";
        reason "The manual refers to the Media chapter, which is not available (003:1815). Kernels \
            of intel-vaapi-driver copy the ID to children and do not calculate with it.";

    documentation G45_MEDIA_DATA_ORDER;
        question "In which order does the payload of a root thread have constants, inline data and \
            indirect data?";
        choice "In this order after r0. Each part starts at a new register.";
        reason "Kernels of XvMC find nine dwords of inline data in r1 and r2 and the indirect data \
            from r3 on. Kernels of intel-vaapi-driver find 30 registers of constants first. Gen8 \
            has the same order (2a p.489).";

    documentation G45_MEDIA_DATA_NEED_NO_ENTRY;
        question "Must the data of a root thread fit an entry of the front end in the URB?";
        choice "No.";
        reason "XvMC has entries of 3 rows and sends 26 registers of data.";

    documentation G45_MEDIA_THREADS_OWN_THE_SECTION;
        question "Which rows of the URB can media threads write?";
        choice "All rows of the section of VFE. A handle is the number of a row.";
        reason "The root kernels of intel-vaapi-driver's loop filter count handles from 0 on, \
            where its section starts, and do not take them from r0.";

    documentation G45_MEDIA_ROOTS_LIMIT_THREADS;
        question "Which threads does Maximum Number of Threads of VFE_STATE count?";
        choice "Root threads.";
        reason "So on Gen8 (2a p.511).";

    documentation G45_MEDIA_PACKETS_WAIT;
        question "Do packets between MEDIA_OBJECT packets wait for the threads of earlier ones?";
        choice "All do.";
        reason "Results differ only if a thread waits for one that a later MEDIA_OBJECT starts. \
            Drivers send no such batch.";

    documentation G45_VLD_LEVELS;
        question "What are the coefficients in the payload of VLD mode?";
        choice "Levels before inverse quantisation, in raster order. The first level of an intra \
            block is relative to the middle of its range: the predictor starts with 0.";
        reason "Kernels of intel-vaapi-driver multiply with matrix and scale, and add 128 to the \
            samples of intra blocks.";

    const G45_VLD_FIRST_FIELD: bool = false;
        question "What is bit 27 of the first dword of a macroblock in VLD mode?";
        choice "0.";
        reason "VLD_STATE does not have the number of the field. With 0, the kernel for field \
            pictures of intel-vaapi-driver predicts from the reference or from the first field, \
            as the field select demands.";

    const G45_VLD_INDEX_OF_FIELD_DCT: usize = 8;
        question "Which bit of the index into the table of VLD_STATE is for field DCT?";
        choice "Bit 3.";
        reason "The driver fills both halves of the table alike for frame pictures, and the second \
            one not at all for field pictures, which have no field DCT.";

    documentation G45_VLD_DUAL_PRIME;
        question "How does VLD mode hand over the vectors of dual prime prediction?";
        choice "Vectors into fields of the same parity as forward ones, the derived vectors into \
            fields of the other parity as backward ones, all with their field selects.";
        reason "The driver uses the kernel for bidirectional field prediction, and makes the \
            forward picture the backward picture of P pictures too.";

    documentation G45_VLD_DAMAGED_SLICES;
        question "What does VLD mode do with data that are no slice, or with more columns than a \
            picture can have?";
        choice "It starts threads for the macroblocks before the damage, and drops the rest.";
        reason "No available source describes it. The stream is the cause, not the driver, so a \
            fault would end streams that the hardware plays.";

    documentation G45_VLD_MACROBLOCK_COUNT;
        question "What do Slice Horizontal Position and Macroblock Count of a slice do?";
        choice "Nothing. The data contain the first column, and their end ends the slice.";
        reason "The driver writes 127 for all slices. On Gen8, the data count, too.";
}
