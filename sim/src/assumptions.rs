//! What the manuals leave open: each question with the choice that the model makes and the reason.
