//! The command line and the environment of this process, as others see them below `/proc`.

use std::io;
use std::ops::Range;
use std::ptr;

/// Replaces the command line by a name, and empties the environment. `stat` is this process's own `/proc/self/stat`.
///
/// For a copy of a program that goes on as something else: the words of the program it was copied from are nobody's
/// business any more. The copy may not use them afterwards.
pub(crate) fn hide_command_line(stat: &str, name: &[u8]) -> io::Result<()> {
    let [arguments, environment] =
        areas(stat).ok_or_else(|| io::Error::other("no place of the arguments"))?;
    for (area, text) in [(arguments, name), (environment, &[][..])] {
        let length = area.len();
        let kept = text.len().min(length.saturating_sub(1));
        let place = ptr::with_exposed_provenance_mut::<u8>(area.start);
        // SAFETY: the kernel put these bytes on the stack of this process before it began, below every frame, and says
        // where; they can be written. No reference to them exists: the standard library copies what it is asked for.
        unsafe {
            ptr::write_bytes(place, 0, length);
            ptr::copy_nonoverlapping(text.as_ptr(), place, kept);
        }
    }
    Ok(())
}

/// Where the kernel put the arguments and the environment of this program when it started it: the 48th to 51st field. A process
/// that may not be looked at has zeroes there.
fn areas(stat: &str) -> Option<[Range<usize>; 2]> {
    // The name may hold spaces and parentheses, so counting begins after its last one, with the third field.
    let rest = stat.rsplit_once(')')?.1;
    let mut fields = rest.split_whitespace().skip(45).map(|field| field.parse::<usize>().ok());
    let mut area = || {
        let area = fields.next()??..fields.next()??;
        (area.start > 0 && area.start <= area.end).then_some(area)
    };
    Some([area()?, area()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_areas_are_found_behind_any_name() {
        let fields: Vec<String> = (4..=52).map(|number| number.to_string()).collect();
        let stat = format!("7 (a) b) S {}", fields.join(" "));
        let expect = [48..49, 50..51];
        assert_eq!(areas(&stat), Some(expect));
        assert_eq!(areas("7 (a) S 1 2 3"), None);
        assert_eq!(areas(&format!("7 (a) S {}", "0 ".repeat(60))), None);
    }
}
