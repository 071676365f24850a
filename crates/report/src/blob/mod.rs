//! The report's part about blobs: the article's pictures and claims from one run, storage, and all
//! times in the units of blobs.

mod board;
mod claim;
mod claim_verdict;
mod explanation;
pub mod part;
mod picture;
mod times;

use crate::analysis::Analysis;
use plan::Design;
use record::Finished;

use board::Board;

pub use part::BlobPart;

pub(super) fn part(finished: &Finished, design: &Design<'_>, analysis: &Analysis) -> BlobPart {
    let board = Board { finished, design, analysis };
    let space = times::space(&board);
    BlobPart {
        times: times::times(&board),
        pictures: picture::pictures(&board),
        space_paragraph: times::space_paragraph(&space),
        space,
        page_sizes: times::page_sizes(&board),
        claims: claim::claims(&board),
    }
}
