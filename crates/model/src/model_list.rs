//! The models that a server lists.

use serde::Deserialize;

use crate::{Endpoint, http};

/// The largest list that is read. A thousand models take a quarter of it.
const MAX_LIST: usize = 1 << 20;

#[derive(Deserialize)]
struct ModelList {
    data: Vec<ListedModel>,
}

#[derive(Deserialize)]
struct ListedModel {
    id: String,
}

/// The names that a server lists at `GET {base}/models`, in its order, and `None` if it does not answer with a list. Sends no
/// key. The connect timeout is the endpoint's; the caller limits the rest by dropping the future.
pub async fn list_models(endpoint: &Endpoint) -> Option<Vec<String>> {
    let client = http::client(endpoint).ok()?;
    let mut response = client.get(endpoint.url("models").ok()?).send().await.ok()?;
    if response.status() != reqwest::StatusCode::OK {
        return None;
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_LIST {
            return None;
        }
    }
    let list: ModelList = serde_json::from_slice(&body).ok()?;
    Some(list.data.into_iter().map(|model| model.id).collect())
}
