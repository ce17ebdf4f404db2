//! Names for models that mean other names: each is followed to the `provider/model` at its end.

use metier_model::{ModelConfig, ToolSupport};
use std::collections::BTreeMap;

/// What a name of `[models]` means, without names on the way. What is said nearer to the name counts before what is said
/// behind it.
pub(super) fn followed(models: &BTreeMap<String, ModelConfig>, name: &str) -> Result<ModelConfig, String> {
    let mut way = vec![name];
    let mut found = models.get(name).cloned().unwrap_or_default();
    while let Some((next, config)) = models.get_key_value(&found.model) {
        if way.contains(&next.as_str()) {
            way.push(next);
            let way: Vec<String> = way.iter().map(|name| format!("`{name}`")).collect();
            return Err(format!(
                "the names {} in `[models]` lead in a circle; give one of them a `provider/model`",
                way.join(" → ")
            ));
        }
        way.push(next);
        found = ModelConfig {
            model: config.model.clone(),
            context: found.context.or(config.context),
            max_output: found.max_output.or(config.max_output),
            effort: found.effort.or(config.effort),
            // `native` is also what nobody said.
            tools: if found.tools == ToolSupport::default() { config.tools } else { found.tools },
            price: found.price.or_else(|| config.price.clone()),
        };
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    fn models(pairs: &[(&str, &str)]) -> BTreeMap<String, ModelConfig> {
        let config = |model: &str| ModelConfig { model: model.to_owned(), ..ModelConfig::default() };
        pairs.iter().map(|(name, model)| ((*name).to_owned(), config(model))).collect()
    }

    #[test]
    fn names_are_followed_to_the_model_and_circles_are_told() {
        let table = models(&[
            ("fast", "ollama/a"),
            ("mine", "fast"),
            ("ours", "mine"),
            ("a", "b"),
            ("b", "c"),
            ("c", "b"),
            ("self", "self"),
        ]);
        let check = |name: &str, expect: Result<&str, &str>| match (followed(&table, name), expect) {
            (Ok(found), Ok(expect)) => assert_eq!(found.model, expect, "{name}"),
            (Err(why), Err(expect)) => assert!(why.contains(expect), "{name}: {why}"),
            (found, _) => panic!("{name}: {found:?}"),
        };
        check("fast", Ok("ollama/a"));
        check("ours", Ok("ollama/a"));
        check("a", Err("`a` → `b` → `c` → `b`"));
        check("self", Err("`self` → `self`"));
    }

    #[test]
    fn what_is_said_nearer_counts() {
        let mut table = models(&[("fast", "ollama/a"), ("mine", "fast")]);
        let fast = table.get_mut("fast").unwrap();
        (fast.context, fast.max_output) = (NonZeroU32::new(1), NonZeroU32::new(2));
        fast.tools = ToolSupport::Constrained;
        table.get_mut("mine").unwrap().context = NonZeroU32::new(9);
        let mine = followed(&table, "mine").unwrap();
        assert_eq!((mine.context.unwrap().get(), mine.max_output.unwrap().get()), (9, 2));
        assert_eq!(mine.tools, ToolSupport::Constrained);
    }
}
