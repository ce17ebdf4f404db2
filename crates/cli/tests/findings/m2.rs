//! M2: Two roots never share a data folder.
