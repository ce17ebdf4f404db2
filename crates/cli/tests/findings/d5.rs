//! D5: A cancelled call with an open question ends at once.
