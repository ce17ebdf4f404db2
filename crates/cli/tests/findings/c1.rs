//! C1: A script cannot switch off the process that watches it.
