//! H1: A `#!` line shows nothing that the search path would not.
