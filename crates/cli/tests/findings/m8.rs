//! M8: Kernel memory that no process maps is bounded.
