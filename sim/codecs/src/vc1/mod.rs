//! VC-1 (SMPTE 421M): simple, main and advanced profile.
