//! Assumptions about the execution units of G45.

assumptions! {
    area GEN45_EU = "gen45_eu";

    const SINGLE_FLOW_PROTECTS_MASK_STACKS: bool = true;
        question "In single program flow, does an explicit write to `ms0` or `msd0` work?";
        choice "No, it is dropped.";
        reason "Their sections say that they are read-only then (003:7890, 7938).";

    const MASK_STACK_COUNTERS_WRAP: bool = true;
        question "What happens to the counter of a channel that counts past 15?";
        choice "It wraps to 0.";
        reason "The text about workarounds says that the counter wraps (003:7958).";

    const MASK_STACK_DEPTH_LIMIT: u16 = 12;
        question "At which depth does a mask stack overflow?";
        choice "When the depth exceeds 12.";
        reason "The table of trigger values has 12 for Cantiga (003:7942-7952). 003:7991 says that \
            these exceptions are not supported, but it names older devices only.";

    const NO_CONTINUE_MASK_IS_FOR_OPERATIONS: bool = true;
        question "Which instructions can ignore the continue mask (MaskCtrlEx)?";
        choice "Operations and messages. Control flow instructions use it as their pseudocode says.";
        reason "No source says. The pseudocode has NoCMask for `while` only, where it is implied.";

    const IMPLICIT_ACCUMULATOR_STARTS_AT_CHANNEL_0: bool = true;
        question "Which element of the accumulator belongs to channel 0, if the destination does \
            not begin at the start of a register?";
        choice "Element 0 of `acc0`, or of `acc1` for the second half.";
        reason "The pseudocode uses the number of the channel (003:12103).";

    const G45_OPCODE_BREAKPOINT_WITH_EOT_NEEDS_EOT: bool = true;
        question "What does Breakpoint Opcode 1 EOT Enable do?";
        choice "Only instructions that end the thread have the breakpoint. `false`: nothing.";
        reason "The manual repeats the text of the opcode (003:2290). The name fits a condition \
            of the message that ends a thread.";

    documentation G45_CLEARED_ATTENTION_NOTIFIES;
        question "What does AClear of the host do to `n1`?";
        choice "It is a notification: a thread that waits continues, and its `n1` is 0 then. If no \
            thread waits, the next `wait n1` does not wait.";
        reason "The section about attention says that AClear resets bit 0 of `n1` (003:2521); those \
            about `n1` and `wait` say that it is a notification that wakes the thread, which \
            decrements the count (003:8160, 13589). Both give 0 after the thread woke up.";

    documentation G45_COMPRESSED_INSTRUCTIONS_ARE_NOT_STEPPED;
        question "What does a single step (Breakpoint Status and Breakpoint Suppress set) of a \
            compressed instruction do?";
        choice "A fault.";
        reason "The instruction pointer does not advance (003:8100), so that a system routine that \
            steps never ends.";

    documentation IMPLIED_MOVE_COPIES_A_REGISTER;
        question "What does the implied move of a message move, if source 0 and the destination \
            have different types?";
        choice "Elements of the type of source 0, until the message register is full. Region, \
            swizzle and modifiers of source 0 count; the destination does not.";
        reason "The manual says that the type of the destination counts (003:13340), but kernels of \
            Mesa send `r0` as dwords with a destination of words and need all dwords.";

    documentation COMPRESSED_MESSAGES_ARE_TWO;
        question "What does a compressed message do?";
        choice "It stands for two messages, like other compressed instructions. The second one uses \
            the next message register, the next register of source 0 and the next response \
            register.";
        reason "The manual calls it undefined (003:13396). Mesa uses it for 16 channels of extended \
            math; each of the two messages sends one register and returns one (gen45_facts 12.2).";

    documentation ADDITION_OVERFLOWS_TO_INFINITY;
        question "What is a sum that is too great for a single?";
        choice "An infinity, as for products.";
        reason "The table of products says so (003:12460). That of sums calls the result finite \
            (003:10853), but ALT mode replaces infinite sums (003:7226).";

    const PACKED_BYTES_MOVE_LIKE_WORDS: bool = true;
        question "In a compressed instruction with a destination of dwords, where is the second \
            half of bytes with a stride of 2?";
        choice "In the same register, 16 bytes later, like that of words.";
        reason "The rule names words only (003:8779), but the exception to the alignment calls such \
            bytes a packed word (003:8818).";

    documentation ACCUMULATOR_OF_FLOATS_HAS_24_BITS;
        question "How many bits does a float in the accumulator of G45 have?";
        choice "Those of a single. Each step of `mac` and of a dot product is rounded.";
        reason "The format has 54 bits of mantissa that are not normalised (003:7737); the manual \
            lets fused operations have other results than separate ones (003:7018).";

    const DOT_PRODUCTS_OF_INTEGERS: bool = true;
        question "Does `dp4` take integers?";
        choice "Yes: the exact sum of four products. With `false`, it is an illegal instruction.";
        reason "The manual says no (003:11493). The inverse transform in the kernels of \
            intel-vaapi-driver for MPEG-2 on the G45 multiplies words with dwords by `dp4`.";

    documentation UNDEFINED_ACCUMULATOR_IS_KEPT;
        question "What do instructions leave in the accumulator whose page calls it undefined \
            (`dp4`, `frc`, `rndd`, `lzd`)?";
        choice "What was there.";
        reason "Any value is allowed.";
}
