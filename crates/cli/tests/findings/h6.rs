//! H6: Protected places stay as they are.
