//! M9: Set-id bits never survive a call.
