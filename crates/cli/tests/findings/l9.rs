//! L9: `WebFetch` leaves out text that a reader would not see.
