//! JPEG: files of the corpus, random files, and the transform.

mod corpus;
mod damage;
mod front;
mod random;
mod reference;
mod tables;
mod transform;
