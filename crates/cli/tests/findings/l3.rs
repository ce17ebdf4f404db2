//! L3: Text of an untrusted project reaches the terminal without control characters.
