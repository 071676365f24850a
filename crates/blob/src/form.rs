//! The forms in which the same blobs lie on storage.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum BlobForm {
    /// In the table `kv` of a SQLite file.
    Database,
    /// A file each, all in one folder: `000001`.
    Folder,
    /// A file each, at most 100 entries in a folder: `00/00/01`.
    Tree,
}

impl BlobForm {
    /// The largest id that a tree holds: three levels of a hundred.
    pub const TREE_ID_MAX: u64 = 999_999;

    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}
