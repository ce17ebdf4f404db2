//! Signals, heard on a thread of their own.

use anyhow::{Context, Result};
use signal_hook::iterator::Signals;

/// Hears these signals from now on.
pub(crate) fn hear(signals: &[i32], heard: impl FnMut(i32) + Send + 'static) -> Result<()> {
    let mut signals = Signals::new(signals).context("Ctrl-C cannot be listened to")?;
    let listen = move || signals.forever().for_each(heard);
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(listen)
        .context("no thread can be started")?;
    Ok(())
}
