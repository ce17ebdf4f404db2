//! L5: Secrets are redacted in the names of files.
