//! Skills for other agents.
