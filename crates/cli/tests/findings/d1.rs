//! D1: Trust in a server is bound to its exact name and digest.
