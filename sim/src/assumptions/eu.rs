//! Execution unit: the questions that the manuals leave open.

assumptions! {
    area EU = "eu";

    const CHANNEL_ENABLES_HOLD_WITH_NO_MASK: bool = true;
        question "Does NoMask override the channel enables of Align16?";
        choice "No, the channel enables hold.";
        reason "2b p.8 says that it overrides them. The worked example 004:1992-2020 and G45's \
            Evaluate (vol 4, 13.1) keep them.";

    const CHANNEL_ENABLES_OF_QWORDS_ARE_PAIRS: bool = true;
        question "In Align16, which channel enables control a destination element of 64 bits?";
        choice "The enables x and y control even channels. The enables z and w control odd \
            channels.";
        reason "000:294 says that the four enables apply to successive channels of any size. \
            Intel's OpenCL compiler contradicts this. It writes one double with two channels and \
            the enables xy (`mad (2) r1.0.xy:df`). Later it reads the next double, r1.1, and \
            expects the old value. The swizzles of such sources are pairs, too (2b p.9).";

    const VERTICAL_PREDICATE_COMBINES_REGISTERS: bool = true;
        question "Which two flags do the predicates anyv and allv combine?";
        choice "f0 and f1. The alternative is f0.0 and f0.1.";
        reason "The manual's text names f0.0 and f0.1. Later documents, IGA and compilers use f0 \
            and f1.";

    const COMPARE_NAN_TRUE_FOR_TWO: bool = true;
        question "What is the result of `cmpn` when both sources are NaN, for conditions other \
            than inequality?";
        choice "True.";
        reason "The tables 10-9 to 10-14 of G45 vol 4 and the text say true whenever source 1 is a \
            NaN. The signal equations say false when source 0 is a NaN. The model follows the \
            tables.";

    const ARITHMETIC_NAN: u32 = 0x7fc0_0000;
        question "Which bit pattern does arithmetic use for a NaN?";
        choice "One pattern for all operations.";
        reason "The manual leaves it open (004:1336). One pattern makes results independent of the \
            machine that the model runs on.";

    const ACCUMULATOR_WORD_BITS: u32 = 33;
        question "How many bits does an accumulator element have in word mode?";
        choice "33 bits in two's complement, with bit 32 as the sign. Dword mode has 64.";
        reason "004:2634-2819 says 33 for words. Its example of a sum of dwords reads as if dwords \
            had 33 as well, but its table and text give them 64, which the product macro needs.";

    const ACCUMULATOR_SOURCES_FOLLOW_THE_DESTINATION: bool = true;
        question "An accumulator source has a region of one element, <0;1,0>. Which element does \
            each channel read?";
        choice "Each channel reads its own element, as if the source had the region of the \
            destination.";
        reason "004:2729 requires that an accumulator source and the destination have the same \
            region. Mesa breaks this rule: it writes `add.sat(8) g19<1>UD, -acc0<0,1,0>UD, \
            g14<8,8,1>UD` for subtractSaturate. This code is right only if each channel reads its \
            own element.";

    const MACH_UPDATES_ALL_CHANNELS: bool = true;
        question "Does `mach` write the accumulator in channels that are off?";
        choice "Yes.";
        reason "The page of the instruction (G45 vol 4, mach) says that the mask is for the \
            destination only. 004:2634 says of accumulators in general that channels that are off \
            are not updated. The model follows the page of the instruction.";

    const MESSAGES_NEED_A_CHANNEL: bool = true;
        question "Does a message reach its shared function when all its channels are off?";
        choice "No, the message is dropped, unless it ends the thread.";
        reason "No source says. Block messages do not depend on channels. But compilers turn all \
            channels off by a predicate where nothing is to be done, and a thread passes through \
            code that no channel takes.";

    const CONVERSIONS_FOLLOW_ROUNDING_MODE: bool = true;
        question "Does the rounding mode apply when integers are converted to floats and floats to \
            halves?";
        choice "Yes. Conversions to integers always round toward zero.";
        reason "004:1715 rounds to nearest even \"by default\", and 004:3251 has a mode for \
            results.";

    const DOUBLE_TO_SINGLE_FOLLOWS_ROUNDING_MODE: bool = true;
        question "Does the rounding mode apply when doubles are converted to singles?";
        choice "Yes. The alternative rounds toward zero.";
        reason "004:1725 prints toward zero. Compilers rely on conversions to nearest when the \
            mode is not changed, and halves do not round toward zero either.";

    const SELECTION_FLUSHES_SUBNORMALS: bool = true;
        question "Do `sel` and `csel` replace subnormal numbers by zero as arithmetic does?";
        choice "Yes.";
        reason "004:1323 says it for mathematical operations and exempts only raw `mov`. `sel` is \
            neither.";

    const MATH_KEEPS_SUBNORMALS_BY_MODE: bool = true;
        question "Do math functions take subnormal numbers as zero in every mode?";
        choice "No, they follow the mode.";
        reason "The tables of G45 vol 4 section 6.3 take them as zero, but they are older than the \
            mode.";

    const POWER_OF_MINUS_INFINITY_IS_NAN: bool = false;
        question "What is minus infinity to a positive power?";
        choice "Plus infinity. The alternative is NaN.";
        reason "The table of 003:6160 prints NaN. Its neighbours (powers of plus infinity, \
            negative powers of minus infinity) and the formula, which uses the magnitude, give \
            plus infinity. The model follows the formula.";

    const QWORD_ROWS_OF_ALIGN16_ARE_ADJACENT: bool = true;
        question "How far apart are rows of 64-bit elements in Align16?";
        choice "Adjacent, unless the vertical stride is 0.";
        reason "Rows have 16 bytes, and the vertical stride of adjacent rows is 2 (2b p.46). \
            Three-source instructions have no such field, and a stride of 4 occurs as well.";

    const SHR_OF_SIGNED_IS_ARITHMETIC: bool = true;
        question "What does `shr` do with a negative number?";
        choice "It extends the sign, as `asr` does.";
        reason "003:13516 allows signed types only for absolute values. Mesa computes \
            subtractSaturate of signed numbers with `shr` of D and of Q. Its results are right \
            only if the sign is extended. Mesa's CI runs piglit's tests of it on Kaby Lake and \
            expects no failure.";

    const SMOV_MOVES_THE_CHANNELS_OF_A_MASK: bool = true;
        question "What does `smov` do?";
        choice "It moves the channels whose bits are set in the immediate second source. A mask in \
            a register was not seen in any kernel.";
        reason "The instruction has an opcode (000:459) and no page. Intel's OpenCL compiler (IGC \
            1.0.12504) writes elements of private arrays in registers with it, one `smov` for each \
            channel. Its address is the address of the array's row, without the offset of the \
            channel, and its second source is an immediate with the channel's bit. The compiler \
            reads the elements with that offset added to the address.";

    const SUBNORMAL_BITS_AT_START: u32 = 1 << 6 | 1 << 10;
        question "Which subnormal bits of `cr0.0` are set when a media or GPGPU thread starts with \
            Denorm Mode 1?";
        choice "The same as with Denorm Mode 0: halves (bit 10) and doubles (bit 6) are kept, \
            singles (bit 7) are flushed.";
        reason "INTERFACE_DESCRIPTOR_DATA gives the values for Denorm Mode 0. Mode 1 leaves the \
            choice to the kernel, and no source says what the kernel finds.";

    const BREAK_MARKS_ITS_CHANNELS: bool = true;
        question "`break` and `cont` both send their channels to the `while` of the loop (2a \
            break, cont). How does hardware keep the channels of a `break` from starting the loop \
            again, even if the `while` has no predicate?";
        choice "The model marks the channels of a `break` until that `while` releases them. A UIP \
            that leads elsewhere (to the instruction after the `while`, as before Gen7) marks no \
            channel.";
        reason "The manual does not say.";

    const JOIN_KEEPS_CHANNELS_WITHOUT_PREDICATE: bool = true;
        question "Which channels wait at a `join` with a predicate?";
        choice "All channels at the `join` that fail the predicate, also those that arrived with \
            the thread.";
        reason "A `join` activates waiting channels \"qualified with predicates\" (2a join). \
            Channels that arrived with the thread have the same instruction pointer, so the model \
            treats them alike.";

    documentation BRANCH_SIZE_LIMITS_WHO_TAKES_IT;
        question "Which channels take a branch whose size is less than the thread's?";
        choice "Channels outside the size count as enabled channels that do not take the branch.";
        reason "The loops of 2a if, else, halt, brd and brc cover all 32 channels with the enables \
            of the instruction. Those of cont and goto cover its size, and the other channels \
            continue. 004:2888 says that predicates of branches count for all dispatched channels, \
            whatever the size.";

    documentation NO_MASK_BRANCHES_MOVE_ACTIVE_CHANNELS;
        question "Which channels does a branch with NoMask move?";
        choice "Only channels that are at the thread's instruction pointer.";
        reason "The write enables of all channels of its size are set, also of channels that wait \
            elsewhere or were never dispatched. Those would lose their instruction pointers.";

    documentation RETURN_MASK_IS_NOT_LOOKED_AT;
        question "What does `ret` do with the mask that is stored with the return address?";
        choice "Nothing. The thread returns when its last channel returns.";
        reason "No source describes the mask. The channels that called are the channels that do \
            not wait after the call, so the model needs no mask.";

    documentation ILLEGAL_OPCODES_HAVE_THE_LENGTH_OF_THEIR_FORM;
        question "How long is an instruction with an illegal opcode and the compaction bit?";
        choice "8 bytes. Without the bit it has 16 bytes.";
        reason "2a illegal reserves all bits except the opcode. Hardware has to find the next \
            instruction, and only this bit says where it begins.";

    documentation LISTED_OPCODES_WITHOUT_A_FORMAT_STOP;
        question "What do `sends` and `sendsc` do? The list of opcodes (2b p.16) names them, but \
            they have no format before Gen9.";
        choice "The model stops and names the instruction.";
        reason "2a illegal calls unused opcodes illegal. Drivers for Gen8 never emit these two, \
            so a kernel that has them is for another generation.";

    const SUPPRESSED_BREAKPOINT_STEPS: bool = true;
        question "How does a system routine ask for a single step (G45 vol 4, 12.4.5)?";
        choice "With the breakpoint status set and Breakpoint Suppress set. The status alone \
            enters the routine at once.";
        reason "The text says that the routine leaves the status set and \"clears\" Breakpoint \
            Suppress. Yet the instruction is issued with the breakpoint suppressed, and the \
            routine is entered before the next instruction. The bit suppresses when it is set \
            (004:3195), so the model takes \"clears\" as a mistake.";

    documentation DISPATCH_MASK_IS_LATCHED;
        question "What do writes to the dispatch and vector masks in `sr0`, and to the bit of \
            `cr0.0` that selects one of them, change?";
        choice "They change what is read back and nothing else.";
        reason "The masks are \"used to initialize\" (004:3040).";

    const MACHINE_REGISTERS_DROP_WRITES: bool = true;
        question "What do writes to the read-only registers `n0`, `tm0` and `ce0` do?";
        choice "They are dropped.";
        reason "The sources only say that the registers are read-only.";

    const FIXED_FUNCTION_IDS: [u64; 5] = [1, 2, 3, 4, 5];
        question "Which fixed function identifiers does `sr0.0` have in threads of the vertex, \
            hull, domain, geometry and pixel shader?";
        choice "1 to 5, in this order.";
        reason "No source has the codes. Only a kernel that reads its own `sr0` can see them.";
}
