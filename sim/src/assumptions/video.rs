//! The video engine: the questions that the manuals leave open.

assumptions! {
    area VIDEO = "video";

    documentation PICTURES_END_WITH_THEIR_PACKETS;
        question "When is a decoded picture in memory?";
        choice "When the next picture starts, before an MI packet that may look at results, and at \
            the end of the submission. All slices of a picture are decoded together then.";
        reason "Drivers flush with MI_FLUSH_DW before anybody reads the picture \
            (digests/video.md 1.2). No source says more.";

    documentation DRIVERS_NEVER_READ_ROW_STORES;
        question "What do the row stores of the codec contain?";
        choice "Nothing: the model does not write them.";
        reason "Only the engine reads them, within a picture (digests/video.md 1.5).";

    documentation MOTION_BUFFERS_HAVE_OWN_FORMAT;
        question "What is the format of direct motion vector buffers and of VP8 segment maps?";
        choice "A format of the model that fits the smallest allocation of the drivers.";
        reason "Only the engine reads them (digests/video.md 1.6).";

    documentation INVERSE_DCT_IS_EXACT;
        question "Which inverse transform do MPEG-2 and JPEG use?";
        choice "The exact one, rounded to the nearest integer. Halves are rounded up in MPEG-2 and \
            down in JPEG.";
        reason "ISO/IEC 13818-2 annex A bounds the error and T.83 bounds it loosely; no source \
            says what the engine has (digests/video.md 1.7). For halves in JPEG, libjpeg rounds up \
            and FFmpeg down; the model follows FFmpeg, whose results the tests compare with.";

    documentation MPEG2_ROWS_BELOW_THE_PICTURE;
        question "What does a slice below Frame Height In MBs do?";
        choice "The slice is decoded if both are true: its row makes the number of rows even, and \
            the surface has room for the row before the chroma samples. The row is then part of \
            the picture.";
        reason "Frames of interlaced sequences have an even number of rows of macroblocks \
            (ISO/IEC 13818-2 6.3.3), and vectors may point to all of them. i965 states the number \
            of visible rows and sends the slices of all.";

    documentation MPEG2_BOTTOM_FIELDS_LEFT_OUT;
        question "Where do bottom fields come from if pictures 2 and 3 have no address?";
        choice "Forward from picture 0 and backward from picture 1. In a P picture, forward from \
            picture 1. If the P picture is the top field after the bottom field of the same frame, \
            forward from the frame being decoded.";
        reason "i965 sets pictures 2 and 3 only if the application does not call the frame \
            progressive. Some streams have field pictures in frames that are called progressive, \
            and they play.";

    documentation MPEG2_COLUMN_OF_A_SLICE_IS_IGNORED;
        question "Is Slice Horizontal Position added to the first address increment of a slice?";
        choice "No: the increment alone gives the column.";
        reason "Applications set it to the increment minus 1, so adding both would count twice \
            (digests/video.md 3.4).";

    documentation DAMAGED_SLICES_STOP;
        question "What happens to macroblocks that cannot be decoded?";
        choice "AVC: the inline data of the BSD object of the slice before them select the \
            reference that they are copied from, without motion and without weights, or the mean \
            of the samples around them. MPEG-2 and VC-1: they are copied from the forward \
            reference; for MPEG-2 unless Slice Concealment Disable is set. Without a reference, \
            and for JPEG, they keep the samples that memory holds. MFD_ERROR_STATUS counts them.";
        reason "Drivers state a method of concealment, but its result is not described \
            (digests/video.md 1.8).";
}
