//! Colours as pages write them.

/// How far two colours may be apart, over all three parts, and still look like one: `#fefefe` on white.
const NEAREST: i32 = 30;

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colour {
    /// Red, green and blue.
    Solid([u8; 3]),
    /// One that lets everything through.
    Transparent,
}

const NAMES: &[(&str, [u8; 3])] = &[
    ("white", [255, 255, 255]),
    ("black", [0, 0, 0]),
    ("red", [255, 0, 0]),
    ("lime", [0, 255, 0]),
    ("green", [0, 128, 0]),
    ("blue", [0, 0, 255]),
    ("yellow", [255, 255, 0]),
    ("cyan", [0, 255, 255]),
    ("aqua", [0, 255, 255]),
    ("magenta", [255, 0, 255]),
    ("fuchsia", [255, 0, 255]),
    ("gray", [128, 128, 128]),
    ("grey", [128, 128, 128]),
    ("silver", [192, 192, 192]),
    ("navy", [0, 0, 128]),
    ("maroon", [128, 0, 0]),
    ("purple", [128, 0, 128]),
    ("teal", [0, 128, 128]),
    ("olive", [128, 128, 0]),
    ("orange", [255, 165, 0]),
    ("snow", [255, 250, 250]),
    ("ivory", [255, 255, 240]),
    ("azure", [240, 255, 255]),
    ("ghostwhite", [248, 248, 255]),
    ("whitesmoke", [245, 245, 245]),
    ("floralwhite", [255, 250, 240]),
    ("mintcream", [245, 255, 250]),
    ("seashell", [255, 245, 238]),
    ("lightyellow", [255, 255, 224]),
    ("canvas", [255, 255, 255]),
];

impl Colour {
    pub(super) const WHITE: Self = Self::Solid([255, 255, 255]);
    pub(super) const BLACK: Self = Self::Solid([0, 0, 0]);

    /// Reads `#fff`, `rgb(…)`, `hsl(…)` or a name, in lower case.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if text == "transparent" {
            return Some(Self::Transparent);
        }
        if let Some(digits) = text.strip_prefix('#') {
            return hexadecimal(digits);
        }
        if let Some((_, colour)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Some(Self::Solid(*colour));
        }
        let (function, inner) = text.strip_suffix(')')?.split_once('(')?;
        let parts: Vec<&str> = inner.split([',', ' ', '/']).filter(|part| !part.is_empty()).collect();
        let [first, second, third, rest @ ..] = parts.as_slice() else { return None };
        if rest.first().and_then(|alpha| share(alpha, 1.0)).is_some_and(|alpha| alpha < 0.1) {
            return Some(Self::Transparent);
        }
        match function {
            "rgb" | "rgba" => {
                let part = |part: &str| share(part, 255.0).map(|share| byte(share * 255.0));
                Some(Self::Solid([part(first)?, part(second)?, part(third)?]))
            }
            "hsl" | "hsla" => {
                let hue = first.trim_end_matches("deg").parse::<f32>().ok()?;
                Some(Self::Solid(from_hsl(hue, share(second, 100.0)?, share(third, 100.0)?)))
            }
            _ => None,
        }
    }

    /// Whether text of this colour can be told from a background.
    pub(super) fn is_seen_on(self, background: Self) -> bool {
        let (Self::Solid(own), Self::Solid(behind)) = (self, background) else { return false };
        let apart = own.iter().zip(behind).map(|(a, b)| (i32::from(*a) - i32::from(b)).abs());
        apart.sum::<i32>() > NEAREST
    }
}

fn hexadecimal(digits: &str) -> Option<Colour> {
    let digits: Vec<u8> = digits.chars().map(|c| c.to_digit(16)?.try_into().ok()).collect::<Option<_>>()?;
    // A short form has one digit for two.
    let bytes: Vec<u8> = match digits.len() {
        3 | 4 => digits.iter().map(|digit| digit * 17).collect(),
        6 | 8 => digits.chunks(2).map(|pair| pair.iter().fold(0, |sum, digit| sum * 16 + digit)).collect(),
        _ => return None,
    };
    let (solid, alpha) = match bytes.as_slice() {
        [red, green, blue] => ([*red, *green, *blue], 255),
        [red, green, blue, alpha] => ([*red, *green, *blue], *alpha),
        _ => return None,
    };
    Some(if alpha < 26 { Colour::Transparent } else { Colour::Solid(solid) })
}

/// A part of a colour between 0 and 1: a percentage, or a number of so many.
fn share(part: &str, whole: f32) -> Option<f32> {
    let (number, whole) = part.strip_suffix('%').map_or((part, whole), |percent| (percent, 100.0));
    let number: f32 = number.parse().ok()?;
    Some((number / whole).clamp(0.0, 1.0))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is clamped to a byte")]
fn byte(value: f32) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

fn from_hsl(hue: f32, saturation: f32, lightness: f32) -> [u8; 3] {
    let part = |offset: f32| {
        let at = (offset + hue.rem_euclid(360.0) / 30.0).rem_euclid(12.0);
        let reach = saturation * lightness.min(1.0 - lightness);
        byte((lightness - reach * (at - 3.0).min(9.0 - at).clamp(-1.0, 1.0)) * 255.0)
    };
    [part(0.0), part(8.0), part(4.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_has_many_spellings() {
        for text in [
            "white",
            "#fff",
            "#ffff",
            "#ffffff",
            "#ffffffff",
            "rgb(255,255,255)",
            "rgb(255 255 255)",
            "rgb(100%,100%,100%)",
            "rgba(255,255,255,1)",
            "hsl(0,0%,100%)",
            "hsl(120deg 50% 100%)",
            "#fefefe",
            "snow",
        ] {
            let colour = Colour::read(text);
            assert!(colour.is_some_and(|colour| !colour.is_seen_on(Colour::WHITE)), "{text} {colour:?}");
        }
        for text in ["black", "#000", "#eee8", "rgb(0,0,0)", "hsl(0,100%,50%)", "#777", "red"] {
            assert!(Colour::read(text).is_some_and(|colour| colour.is_seen_on(Colour::WHITE)), "{text}");
        }
        assert_eq!(Colour::read("hsl(0, 100%, 50%)"), Some(Colour::Solid([255, 0, 0])));
        assert_eq!(Colour::read("hsl(120, 100%, 25%)"), Some(Colour::Solid([0, 128, 0])));
        for text in ["transparent", "rgba(0,0,0,0)", "#0000", "rgb(0 0 0 / 0%)"] {
            assert_eq!(Colour::read(text), Some(Colour::Transparent), "{text}");
        }
        for text in ["", "inherit", "#ff", "#ggg", "rgb(", "rgb()", "var(--x)"] {
            assert_eq!(Colour::read(text), None, "{text}");
        }
    }
}
