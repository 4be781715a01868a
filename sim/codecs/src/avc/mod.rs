//! H.264 (AVC): baseline, main and high profile.
