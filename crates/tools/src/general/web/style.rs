//! The declarations of a style that decide whether a reader sees an element.

use super::colour::Colour;

/// A length below this is off the screen, in pixels; pages use -999px and -9999px.
const OFF_SCREEN: f32 = -500.0;

/// A length above this is, too.
const FAR_AWAY: f32 = 5_000.0;

/// Text that is no larger is a line to the eye.
const MIN_TEXT_PIXELS: f32 = 2.0;

/// Less cannot be read.
const FAINTEST: f32 = 0.1;

/// What an element's own declarations say. `None` where they say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    not_displayed: Option<bool>,
    faint: Option<bool>,
    off_screen: Option<bool>,
    indented_away: Option<bool>,
    clipped: Option<bool>,
    moved_away: Option<bool>,
    cuts_off: Option<bool>,
    no_width: Option<bool>,
    no_height: Option<bool>,
    /// These three are inherited, so an element inside may differ.
    pub(super) invisible: Option<bool>,
    pub(super) tiny: Option<bool>,
    pub(super) colour: Option<Colour>,
    pub(super) background: Option<Background>,
}

/// What is behind an element's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Background {
    Plain(Colour),
    /// A picture, or something else whose colour is not known.
    Picture,
}

impl Style {
    /// Reads declarations: `display: none; color: #fff`.
    pub(super) fn read(text: &str) -> Self {
        let mut style = Self::default();
        style.declare(text);
        style
    }

    /// The same element with another style over this one.
    pub(super) fn overlay(&mut self, other: &Self) {
        fn put<T: Copy>(own: &mut Option<T>, other: Option<T>) {
            *own = other.or(*own);
        }
        put(&mut self.not_displayed, other.not_displayed);
        put(&mut self.faint, other.faint);
        put(&mut self.off_screen, other.off_screen);
        put(&mut self.indented_away, other.indented_away);
        put(&mut self.clipped, other.clipped);
        put(&mut self.moved_away, other.moved_away);
        put(&mut self.cuts_off, other.cuts_off);
        put(&mut self.no_width, other.no_width);
        put(&mut self.no_height, other.no_height);
        put(&mut self.invisible, other.invisible);
        put(&mut self.tiny, other.tiny);
        put(&mut self.colour, other.colour);
        put(&mut self.background, other.background);
    }

    /// Whether the declarations say nothing about what a reader sees.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the element is hidden with all it holds.
    pub(super) fn hides(&self) -> bool {
        let is = |own: Option<bool>| own == Some(true);
        let has_no_size = is(self.no_width) || is(self.no_height);
        is(self.not_displayed)
            || is(self.faint)
            || is(self.off_screen)
            || is(self.indented_away)
            || is(self.clipped)
            || is(self.moved_away)
            || (has_no_size && is(self.cuts_off))
    }

    fn declare(&mut self, text: &str) {
        for declaration in text.split(';') {
            let Some((name, value)) = declaration.split_once(':') else { continue };
            let value = value.trim().to_ascii_lowercase();
            let value = value.strip_suffix("!important").unwrap_or(&value).trim();
            self.one(name.trim().to_ascii_lowercase().as_str(), value);
        }
    }

    fn one(&mut self, name: &str, value: &str) {
        match name {
            "display" => self.not_displayed = Some(value == "none"),
            "content-visibility" => self.not_displayed = Some(value == "hidden"),
            "visibility" => self.invisible = Some(matches!(value, "hidden" | "collapse")),
            "opacity" => self.faint = Some(fraction(value).is_some_and(|opacity| opacity < FAINTEST)),
            "filter" => {
                let opacity = argument(value, "opacity").and_then(fraction);
                self.faint = self.faint.or(Some(opacity.is_some_and(|opacity| opacity < FAINTEST)));
            }
            "font-size" => self.tiny = Some(pixels(value).is_some_and(|size| size <= MIN_TEXT_PIXELS)),
            // The size is the first length; names and weights are none.
            "font" => {
                let size = value.split([' ', '/']).find_map(pixels);
                self.tiny = self.tiny.or(size.map(|size| size <= MIN_TEXT_PIXELS));
            }
            "left" | "top" | "right" | "bottom" | "inset" | "margin" | "margin-left" | "margin-top" => {
                let is_away =
                    value.split(' ').filter_map(pixels).any(|at| at <= OFF_SCREEN || at >= FAR_AWAY);
                self.off_screen = Some(is_away || self.off_screen == Some(true));
            }
            "text-indent" => {
                let is_away = |indent: f32| indent <= OFF_SCREEN || indent >= FAR_AWAY;
                self.indented_away = Some(value.split(' ').filter_map(pixels).any(is_away));
            }
            "clip" => self.clipped = Some(is_empty_rectangle(value)),
            "clip-path" => self.clipped = Some(is_empty_shape(value)),
            "transform" | "translate" | "scale" => self.moved_away = Some(moves_away(name, value)),
            "overflow" | "overflow-x" | "overflow-y" => {
                self.cuts_off = Some(value.contains("hidden") || value.contains("clip"));
            }
            "width" | "max-width" => self.no_width = Some(pixels(value).is_some_and(|size| size <= 1.0)),
            "height" | "max-height" => self.no_height = Some(pixels(value).is_some_and(|size| size <= 1.0)),
            "color" | "-webkit-text-fill-color" => self.colour = Colour::read(value).or(self.colour),
            "background" | "background-color" | "background-image" => {
                let is_picture =
                    ["url(", "gradient(", "image("].iter().any(|picture| value.contains(picture));
                let colour = || value.split_inclusive([' ', ')']).find_map(|part| Colour::read(part.trim()));
                let whole = Colour::read(value).or_else(colour);
                if is_picture {
                    self.background = Some(Background::Picture);
                } else if let Some(colour) = whole {
                    self.background = Some(Background::Plain(colour));
                }
            }
            _ => {}
        }
    }
}

/// A length in pixels, as far as one can be said. Percentages and parts of the screen are of one of 1,000 pixels.
pub(super) fn pixels(value: &str) -> Option<f32> {
    let value = value.trim();
    let end =
        value.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+')).unwrap_or(value.len());
    let number: f32 = value.get(..end)?.parse().ok()?;
    let factor = match value.get(end..)? {
        "" if number == 0.0 => 1.0,
        "px" => 1.0,
        "em" | "rem" | "ch" | "ex" => 16.0,
        "%" | "vw" | "vh" | "vmin" | "vmax" => 10.0,
        "pt" => 1.33,
        "cm" => 38.0,
        "mm" => 3.8,
        "in" => 96.0,
        _ => return None,
    };
    Some(number * factor)
}

fn fraction(value: &str) -> Option<f32> {
    match value.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f32>().ok().map(|percent| percent / 100.0),
        None => value.trim().parse().ok(),
    }
}

/// What stands in the parentheses of a function in a value.
fn argument<'a>(value: &'a str, function: &str) -> Option<&'a str> {
    let (_, rest) = value.split_once(function)?;
    rest.strip_prefix('(')?.split_once(')').map(|(inner, _)| inner)
}

/// `rect(0 0 0 0)`, `rect(1px, 1px, 1px, 1px)`.
fn is_empty_rectangle(value: &str) -> bool {
    let Some(inner) = argument(value, "rect") else { return false };
    let sides: Vec<f32> =
        inner.split([',', ' ']).filter(|side| !side.is_empty()).filter_map(pixels).collect();
    match sides.as_slice() {
        [top, right, bottom, left] => bottom - top <= 1.0 || right - left <= 1.0,
        _ => false,
    }
}

/// `inset(50%)`, `circle(0)`, `polygon(0 0, 0 0, 0 0)`.
fn is_empty_shape(value: &str) -> bool {
    if let Some(inner) = argument(value, "inset") {
        return inner.split(' ').filter_map(fraction).any(|side| (0.5..=1.0).contains(&side));
    }
    if let Some(inner) = argument(value, "circle").or_else(|| argument(value, "ellipse")) {
        return inner.split(' ').next().and_then(pixels).is_some_and(|radius| radius <= 1.0);
    }
    argument(value, "polygon").is_some_and(|inner| {
        let points: Vec<&str> = inner.split(',').map(str::trim).collect();
        points.first().is_some_and(|first| points.iter().all(|point| point == first))
    })
}

fn moves_away(name: &str, value: &str) -> bool {
    let is_nothing = |value: &str| value.split(',').filter_map(fraction).any(|size| size.abs() < 0.02);
    let is_away =
        |value: &str| value.split([',', ' ']).filter_map(pixels).any(|at| at.abs() >= -OFF_SCREEN * 2.0);
    let functions = |names: &[&str], is: &dyn Fn(&str) -> bool| {
        names.iter().any(|name| argument(value, name).is_some_and(is))
    };
    match name {
        "scale" => is_nothing(value),
        "translate" => is_away(value),
        _ => {
            functions(&["scale", "scalex", "scaley", "scale3d"], &is_nothing)
                || functions(&["translate", "translatex", "translatey", "translate3d"], &is_away)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_that_hide_are_known() {
        for style in [
            "display:none",
            "DISPLAY : None !important",
            "opacity:0",
            "opacity: .01",
            "opacity:0%",
            "filter: opacity(0)",
            "position:absolute;left:-9999px",
            "position:fixed; top : -200em",
            "right:-99999px",
            "left:99999px",
            "margin-left:-9999px",
            "text-indent:-9999px",
            "text-indent: 100% -9999px",
            "clip:rect(0,0,0,0)",
            "clip: rect(1px 1px 1px 1px)",
            "clip-path:inset(50%)",
            "clip-path: circle(0)",
            "clip-path: polygon(0 0, 0 0, 0 0)",
            "transform:scale(0)",
            "transform: translateX(-9999px)",
            "width:0;height:0;overflow:hidden",
            "max-height:0;overflow:hidden",
            "height:1px;width:1px;overflow:hidden",
            "content-visibility:hidden",
        ] {
            assert!(Style::read(style).hides(), "{style}");
        }
        for style in [
            "",
            "display:block",
            "opacity:1",
            "opacity:0.5",
            "left:-10px",
            "margin-left:-15px",
            "text-indent:2em",
            "overflow:hidden",
            "width:100%;overflow:hidden",
            "height:0",
            "clip:rect(0,100px,100px,0)",
            "clip:auto",
            "clip-path:inset(5%)",
            "transform:translateX(-50%)",
            "transform:scale(1.1)",
            "transform:rotate(45deg)",
            "color:red",
            "nonsense",
            "width:;:;;",
        ] {
            assert!(!Style::read(style).hides(), "{style}");
        }
        assert_eq!(Style::read("font-size:0").tiny, Some(true));
        assert_eq!(Style::read("font: 1px/1 Arial").tiny, Some(true));
        assert_eq!(Style::read("font-size:16px").tiny, Some(false));
        assert_eq!(Style::read("visibility:hidden").invisible, Some(true));
        assert_eq!(Style::read("background:url(x.png) #fff").background, Some(Background::Picture));
    }
}
