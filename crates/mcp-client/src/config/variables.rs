//! Variables in the settings of a server.

use metier_catalog::one_line;

/// Expands `${NAME}` and `${NAME:-default}`. Values are not expanded again.
pub(super) fn with_variables(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((inside, after)) = from.split_once('}') else {
            filled.push_str("${");
            rest = from;
            continue;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let value = variable(name).or_else(|| default.map(str::to_owned));
        filled.push_str(&value.ok_or_else(|| format!("the variable `{}` is not set", one_line(name, 80)))?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}
