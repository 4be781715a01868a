//! MPEG-2 (ISO/IEC 13818-2): main profile.
