//! Command streamer: the questions that the manuals leave open.

assumptions! {
    area COMMANDS = "commands";

    const GLOBAL_ACCESS_NEEDS_PRIVILEGE: bool = true;
        question "Which commands and registers need a privileged batch?";
        choice "Accesses through the global table, and writes to registers of the GPU itself: \
            rings, submission ports, page table roots. Each register is checked separately. \
            MI_ATOMIC and MI_SEMAPHORE_WAIT need no privilege: without it their Memory Type is \
            ignored.";
        reason "2d p.198 says that such a command becomes a no-op, sets an error bit and execution \
            continues. No source lists the commands and registers of this generation. The \
            treatment of MI_ATOMIC and MI_SEMAPHORE_WAIT is from Intel's media-driver \
            (mhw_mi_hwcmd_g8_X.h).";

    const CONDITIONAL_END_IS_UNSIGNED: bool = true;
        question "Does MI_CONDITIONAL_BATCH_BUFFER_END compare unsigned numbers?";
        choice "Yes.";
        reason "No source says. MI_SEMAPHORE_WAIT compares unsigned numbers.";

    const CONDITIONAL_END_WITHOUT_COMPARISON_ENDS: bool = false;
        question "Does MI_CONDITIONAL_BATCH_BUFFER_END without Compare Semaphore end the batch?";
        choice "No, execution continues.";
        reason "The packet's description (Intel media-driver, mhw_mi_hwcmd_g8_X.h) says that no \
            comparison takes place, but not what follows. A condition that is not evaluated ends \
            nothing.";

    const FIRST_LEVEL_START_LEAVES_SECOND_LEVEL: bool = true;
        question "Where does execution continue after a second-level batch runs a first-level \
            MI_BATCH_BUFFER_START?";
        choice "In the first-level batch that was started. The second-level batch is left and \
            never resumed.";
        reason "Hardware has one address for each level and no stack, and the packet sets the \
            address of the first level (gen8_facts 2.1). No source says which level runs next.";

    const ATOMIC_RETURNS_ZERO_ABOVE: bool = true;
        question "An MI_ATOMIC on a dword returns memory in a general register. What is in bits \
            63:32?";
        choice "Zero. The alternative keeps the old bits.";
        reason "No source says. Other 32-bit results are zero-extended.";

    const DELTAS_ARE_OF_THE_SOURCES: bool = true;
        question "What does DELTAS_EQUAL of MI_PREDICATE compare?";
        choice "The difference of the two sources with MI_PREDICATE_DATA.";
        reason "No source says. The names of the registers suggest it (gen8_facts 2.4).";

    const BATCHES_END_WHILE_SKIPPING: bool = true;
        question "Does MI_BATCH_BUFFER_END end a batch while MI_SET_PREDICATE skips commands?";
        choice "Yes.";
        reason "The command is not among those that are allowed in a skipped range (gen8_facts \
            2.4). A batch that continued after its end would be of no use.";

    documentation OA_COUNTS_ALWAYS;
        question "When do the counters of MI_REPORT_PERF_COUNT count?";
        choice "Always, for all contexts, from the start of the model. Counter Enable of OACONTROL \
            and Counter Resume of OACTXCONTROL are ignored.";
        reason "Programs use the difference of two reports, between which the counters are enabled \
            (Linux i915_perf.c, Mesa intel_perf.c). The enables do not change this difference. \
            Reports by timer or trigger are not written: the model has no OABUFFER.";

    documentation OA_BLOCKS_ARE_OF_PIXELS;
        question "Do the counters A21 to A27 count blocks of 2x2 pixels, or of 2x2 samples?";
        choice "Of pixels. If the pixel shader runs for each sample, A24 to A27 count a block once \
            for each run.";
        reason "Broadwell vol 14 p.12 says that it depends on the project. Mesa counts four \
            pixels for each block (oa-bdw.xml).";

    documentation OA_ACCESSES_ARE_MESSAGES;
        question "What is an access in the counters A30 to A35?";
        choice "A message. An atomic message counts as read and write of shared local memory.";
        reason "Broadwell vol 14 p.12-13 says requests. Mesa multiplies A30 and A31 by 64, the \
            bytes of a message for 16 dwords (oa-bdw.xml). A34 is said to count atomics on shared \
            local memory and URB; the model counts those on surfaces too.";

    documentation UPDATE_GTT_ENTRIES_HAVE_64_BITS;
        question "What is the layout of the dwords of MI_UPDATE_GTT?";
        choice "The address of the page, then 64 bits for each entry.";
        reason "The facts have no layout. Linux sends this form to later hardware with the same \
            table entries (i915 gt/intel_ggtt.c, gen8_ggtt_bind_ptes). Earlier manuals had entries \
            of 32 bits, but the table of this generation has no such entries.";

    documentation CORE_0_ADDS_NO_OFFSET;
        question "What does Core Mode Enable of MI_STORE_DATA_IMM, MI_RS_STORE_DATA_IMM and \
            MI_REPORT_PERF_COUNT do?";
        choice "Nothing: the model has one slice (SLICES), which is core 0.";
        reason "The manuals that are available have the name only. In headers that Intel generated \
            for its media runtime, the comment on the field of MI_REPORT_PERF_COUNT says that core \
            0 adds no offset to the address and core 1 adds the size of the data.";
}
