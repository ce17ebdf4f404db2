//! M5: The bytes that were digested are the bytes that run.
