//! Skills and tools that other servers offer.
