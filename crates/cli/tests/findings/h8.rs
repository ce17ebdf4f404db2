//! H8: Run as root, a call has a user id of its own.
