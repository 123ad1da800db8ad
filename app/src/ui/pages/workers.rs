//! Not drawn yet.
