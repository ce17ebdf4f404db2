//! L12: A broken bubblewrap does not stop other tiers; the user's needs count in `run`.
