//! H3: A script cannot draw over an open question.
