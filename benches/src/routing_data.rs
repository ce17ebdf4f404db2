//! Requests that authors wrote for their own skills, and the pool of skills to choose from.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use flate2::read::GzDecoder;
use serde::Deserialize;

/// A skill of the pool.
#[derive(Deserialize)]
pub(crate) struct Skill {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A request and the skill it was written for.
#[derive(Deserialize)]
pub(crate) struct Query {
    pub(crate) query: String,
    pub(crate) skill: String,
    pub(crate) should_trigger: bool,
    quality: String,
}

impl Query {
    /// Whether it was written as a test of whether the skill is chosen, not as a task for it.
    pub(crate) fn is_label(&self) -> bool {
        self.quality == "label"
    }

    /// The repository of its skill.
    pub(crate) fn repository(&self) -> &str {
        self.skill.split(':').next().unwrap_or_default()
    }
}

pub(crate) struct Data {
    pub(crate) pool: Vec<Skill>,
    pub(crate) queries: Vec<Query>,
    /// The place of each skill in the pool.
    pub(crate) places: HashMap<String, usize>,
}

impl Data {
    /// Reads `pool.jsonl.gz` and `queries.jsonl` of a folder; nothing where they are not there.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>> {
        let (pool, queries) = (folder.join("pool.jsonl.gz"), folder.join("queries.jsonl"));
        if !pool.is_file() || !queries.is_file() {
            return Ok(None);
        }
        let lines = BufReader::new(GzDecoder::new(File::open(&pool)?)).lines();
        let pool = lines
            .map(|line| Ok(serde_json::from_str(&line?)?))
            .collect::<Result<Vec<Skill>>>()
            .with_context(|| format!("{} cannot be read", pool.display()))?;
        let queries = fs::read_to_string(&queries)?
            .lines()
            .map(|line| Ok(serde_json::from_str(line)?))
            .collect::<Result<Vec<Query>>>()
            .with_context(|| format!("{} cannot be read", queries.display()))?;
        let places = pool.iter().enumerate().map(|(at, skill)| (skill.id.clone(), at)).collect();
        Ok(Some(Self { pool, queries, places }))
    }
}
