//! L8: An untrusted project does not choose interpreters.
