//! L11: A script does not see metier's command line; the proxy drops trailers.
