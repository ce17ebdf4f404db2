//! L2: A tree digest covers every file that can run.
