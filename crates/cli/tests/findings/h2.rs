//! H2: A question shows everything that it grants.
