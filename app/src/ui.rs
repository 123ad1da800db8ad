//! Pages: each a function from a value to a string of HTML.
