//! L7: The tables of protected and secret files are broad by class.
