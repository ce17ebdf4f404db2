//! Actions and gates in a few words, for tables.

use metier_policy::{
    Action, Actor, Answers, Asking, Decision, Dialect, Digest, Folders, Gate, Host, Layer, List, McpTools,
    Meaning, Need, Owner, Place, Reason, Rules, Scope, Skill, Source, Standing, Terms, Trust,
};
use metier_skill::{Tool, ToolPattern, tokenize};

/// `pdf` is a trusted skill of the user's; a `?` behind the name makes it untrusted, a `!` changed. `agent` is the agent.
///
/// `pdf activate`, `pdf read PATH`, `pdf script FILE ARGS…`, `pdf command LINE`, `pdf inject LINE`, `pdf hook LINE`,
/// `pdf more NEED`, `agent tool Read PATH`, `agent Write PATH`, `agent Edit PATH`, `agent fetch HOST`, `agent mcp S/T`;
/// needs behind ` + `: `host:NAME`, `write:PATH`, `below:GLOB`, `secret:NAME`.
pub(crate) fn action(text: &str) -> Action {
    let mut parts = text.split(" + ");
    let first = parts.next().unwrap_or_default();
    let (who, rest) = first.split_once(' ').unwrap_or((first, ""));
    let (verb, what) = rest.split_once(' ').unwrap_or((rest, ""));
    let actor = match who {
        "agent" => Actor::Agent,
        name => Actor::Skill(skill(name)),
    };
    let own = || skill(who);
    let action = match verb {
        "activate" => Action::activate(own()),
        "read" => Action::read(own(), what),
        "script" => {
            let mut words: Vec<&str> = what.split(' ').collect();
            let file = format!("scripts/{}", words.remove(0));
            let path = format!("/skills/{}/{file}", own().name);
            let interpreter = if file.split('.').next_back() == Some("py") { "python3" } else { "bash" };
            let argv: Vec<&str> = [interpreter, &path].into_iter().chain(words).collect();
            Action::script(own(), &file, &argv, Some(Digest("sha256:script".to_owned())))
        }
        "command" => Action::command(actor, what),
        "inject" => Action::inject(own(), what),
        "hook" => Action::hook(own(), "start", what),
        "more" => Action::more(actor, need(what)),
        "tool" => {
            let (name, path) = what.split_once(' ').unwrap_or((what, ""));
            let place = (!path.is_empty()).then(|| Place::new(path));
            Action::tool(actor, Tool::named(name).expect(name), place)
        }
        "Write" | "Edit" => Action::write(actor, Tool::named(verb).expect(verb), Place::new(what)),
        "fetch" => Action::fetch(actor, Host::new(what).expect(what), 443),
        "mcp" => {
            let (server, tool) = what.split_once('/').expect(what);
            Action::mcp(actor, server, tool)
        }
        other => panic!("no verb {other:?} in {text:?}"),
    };
    parts.fold(action, |action, text| action.needing(need(text)))
}

pub(crate) fn need(text: &str) -> Need {
    let (kind, what) = text.split_once(':').expect(text);
    match kind {
        "host" => Need::Host { host: Host::new(what).expect(what), port: 443 },
        "write" => Need::Write(Place::new(what)),
        "below" => Need::WriteBelow(what.parse().expect(what)),
        "secret" => Need::Secret(what.to_owned()),
        other => panic!("no need {other:?}"),
    }
}

/// `pdf`, `project.claude:pdf`, with `?` or `!` behind.
pub(crate) fn skill(text: &str) -> Skill {
    let name = text.trim_end_matches(['?', '!']);
    let (origin, name) = name.split_once(':').unwrap_or(("user", name));
    let trust = match text.chars().last() {
        Some('?') => Trust::Untrusted,
        Some('!') => Trust::Changed,
        _ => Trust::Trusted,
    };
    Skill { trust, ..Skill::new(name, origin) }
}

/// `deny A | B; ask C; allow D; mode yolo`.
pub(crate) fn layer(owner: Owner, text: &str) -> Layer {
    let mut layer = Layer::new(Source::new(owner, "config.toml"));
    for clause in text.split(';').map(str::trim).filter(|clause| !clause.is_empty()) {
        let (head, rest) = clause.split_once(' ').expect(clause);
        let rules = rest.split('|').map(str::trim);
        layer = match head {
            "deny" => layer.list(List::Deny, rules),
            "ask" => layer.list(List::Ask, rules),
            "allow" => layer.list(List::Allow, rules),
            "mode" => layer.mode(rest),
            other => panic!("no clause {other:?}"),
        };
    }
    layer
}

pub(crate) fn rules(text: &str) -> Rules {
    Rules::new(vec![layer(Owner::User, text)], Standing::Untrusted)
}

/// A scope: the skill, its list as written in a SKILL.md, what it means.
pub(crate) fn scope(name: &str, tools: &str, meaning: Meaning) -> Scope {
    scope_with(name, tools, "", meaning, Dialect::Usual, &McpTools::default())
}

pub(crate) fn scope_with(
    name: &str,
    tools: &str,
    disallowed: &str,
    meaning: Meaning,
    dialect: Dialect,
    servers: &McpTools,
) -> Scope {
    let list: Vec<ToolPattern> = tokenize(tools).unwrap_or_default();
    let disallowed = tokenize(disallowed).unwrap_or_default();
    let skill = skill(name);
    let folders = Folders::of_skill(&format!("/skills/{}", skill.name));
    Scope::open(
        Terms { skill, tools: Some(&list), disallowed: &disallowed, meaning, dialect, folders },
        servers,
    )
}

pub(crate) fn decide(rules: &Rules, scopes: &[Scope], asking: Asking, action: &Action) -> Decision {
    Gate { rules, answers: &Answers::default(), scopes, asking }.decide(action)
}

/// `allow`, `ask` or `refuse`, and what decided.
pub(crate) fn shown(decision: &Decision) -> String {
    let by = match &decision.by {
        Reason::Denied(rule) => format!("deny {}", rule.text),
        Reason::Untrusted(_) => "untrusted".to_owned(),
        Reason::Changed(_) => "changed".to_owned(),
        Reason::Disallowed { tool, .. } => format!("disallowed {tool}"),
        Reason::Fence { skill, .. } => format!("fence {}", skill.name),
        Reason::Answered(answer) => format!("answer {}", answer.words()),
        Reason::Doubt { rule, .. } => format!("doubt {}", rule.text),
        Reason::AskRule(rule) => format!("ask {}", rule.text),
        Reason::Allowed(rule) => format!("allow {}", rule.text),
        Reason::Granted { tool, .. } => format!("grant {tool}"),
        Reason::Need(glob) => format!("need {glob}"),
        Reason::Mode { mode, .. } => format!("mode {mode}"),
    };
    format!("{} by {by}", decision.ruling.word())
}
