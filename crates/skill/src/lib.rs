//! skill
