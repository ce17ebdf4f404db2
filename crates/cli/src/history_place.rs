//! Where what happened is kept.

use anyhow::Result;
use metier_catalog::Places;
use metier_files::{Kind, kind};
use metier_store::Store;
use std::path::PathBuf;

/// The file of the store: below metier's own data, in a folder for itself, since two more files come and go beside it.
pub(crate) fn file(places: &Places) -> PathBuf {
    places.data.join("store").join("metier.db")
}

/// The store, if anything was ever kept. Looking must not make one.
pub(crate) fn existing(places: &Places) -> Result<Option<Store>> {
    let file = file(places);
    if kind(&file) == Kind::Missing {
        return Ok(None);
    }
    Ok(Some(Store::open(&file)?))
}
