//! Media and compute threads: the questions that the manuals leave open.

assumptions! {
    area THREADS = "threads";

    const SHARED_LOCAL_MEMORY_FILL: u8 = 0;
        question "What does a thread group find in its shared local memory?";
        choice "Every byte has this value.";
        reason "No source says whether hardware clears the memory. With a fixed value, the results \
            of a group depend on no other group.";

    const INSTRUCTIONS_OF_A_TURN: u64 = 4096;
        question "How many instructions does a thread execute before another resident thread runs?";
        choice "This number.";
        reason "Hardware runs all threads at once. A thread that waits in a loop needs the others \
            to run some time.";

    const BARRIERS: u64 = 16;
        question "Which barrier does a group have?";
        choice "The number of the group in its walker, modulo 16.";
        reason "Hardware assigns one of the sixteen that is free. With counted numbers, a kernel \
            that does not pass on the value in `r0.2` fails visibly.";

    const THREADS_WITHOUT_CHANNELS_START: bool = true;
        question "Does a thread start when its execution mask is empty?";
        choice "Yes.";
        reason "No source says. The barrier of its group counts the thread \
            (INTERFACE_DESCRIPTOR_DATA, Number of Threads in GPGPU Thread Group).";

    const INDIRECT_DATA_REPLACES_CURBE: bool = true;
        question "Where do the registers come from that all threads of a walker with indirect data \
            share?";
        choice "From the indirect data, like the registers of each thread.";
        reason "NEO lays them out so and loads no CURBE. GPGPU_WALKER says that \"CURBE is not \
            being used except for cross-thread constant data\", which could mean that the shared \
            registers come from the CURBE.";

    const INDIRECT_DATA_OF_A_THREAD_COMES_FIRST: bool = true;
        question "In which order do the thread's own registers and the shared registers follow r0?";
        choice "With indirect data the thread's own come first; with the CURBE the shared ones do.";
        reason "No source says. Kernels of NEO, which uses indirect data, expect their own first. \
            Kernels of Mesa, which uses the CURBE, expect the shared ones first. In memory the \
            shared ones come first in both.";

    const CS_INVOCATIONS_ARE_CHANNELS: bool = true;
        question "What does CS_INVOCATION_COUNT count?";
        choice "The live channels of all threads of a walker.";
        reason "The API names the counter \"invocations\".";

    const READ_OFFSET_COUNTS_FOR_SHARED_CONSTANTS: bool = true;
        question "Does Constant URB Entry Read Offset count when a descriptor has shared constants \
            but no constants for each thread?";
        choice "Yes, it counts wherever something is read.";
        reason "The manual ignores the offset when the constants of each thread have length 0, \
            because then nothing is read. It does not consider shared constants.";

    const MAX_FFTID: u64 = 1 << 10;
        question "How many threads can have a scratch slot at most?";
        choice "1024.";
        reason "FFTID has 10 bits in `r0.5`.";

    documentation CHILDREN_GET_CONSTANTS_BEHIND_R0;
        question "In which order does a child thread get r0, its constants and the other data that \
            the URB holds for it?";
        choice "In this order, as a root thread gets its constants and its data. Dispatch URB \
            Length does not count r0.";
        reason "No source says where the constants go. Kernels write the number of the thread's \
            registers less one to Dispatch URB Length.";

    documentation ROOT_MESSAGES_START_ONE_THREAD;
        question "How many root threads may start after a message that spawns a root thread?";
        choice "One of the waiting threads, in their order.";
        reason "No source says.";

    const LOOPS_OF_ONE_POSITION_NEED_NO_WAY: bool = true;
        question "What does MEDIA_OBJECT_WALKER do when the units of its inner loop are 0, so that \
            the loop does not advance?";
        choice "With one position, or one block, the loop runs once. Other loops that do not \
            advance are refused.";
        reason "Such a loop runs until it leaves the block or the walk, which never happens. The \
            manual allows 0 like any other number (2a p.500-506), and with one position nothing is \
            left to loop over.";

    documentation SCOREBOARD_KNOWS_THREADS_ON_THEIR_WAY;
        question "Does a scoreboard dependency on a position without a thread in flight hold \
            forever?";
        choice "No. A thread waits only for threads that are in flight.";
        reason "Drivers give all threads of a walk the same mask, also those at the edges. So a \
            thread cannot wait for positions outside.";

    const ROUNDS_OF_A_PACKET: u64 = 256;
        question "How many turns does each media thread get before the next packet is executed?";
        choice "At most this number.";
        reason "Hardware continues at once, and a thread may wait for a later packet. This number \
            lets threads that only take long finish, so only programs with a race depend on it.";
}
