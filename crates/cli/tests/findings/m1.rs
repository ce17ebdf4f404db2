//! M1: Settings that widen belong to an origin, not to a name.
