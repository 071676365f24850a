//! The part about blobs for a terminal or as Markdown.

use notation::digits;
use stats::Estimate;

use crate::analysis::{bytes_in_words, number};
use crate::blob::part::{
    BlobPart, ClaimPart, ClaimVerdict, PageSizesPart, PicturePart, SpacePart, TimePart,
};
use crate::document::Document;
use crate::grid::{Form, drawn, escaped, heading};
use crate::table::levels_in_words;

/// Everything, a string for each table and paragraph.
pub(crate) fn body(document: &Document, form: Form) -> Vec<String> {
    let Some(part) = &document.blob else { return Vec::new() };
    let mut parts = Vec::new();
    if !part.times.is_empty() {
        parts.extend([heading("Time per blob", form), times(document, part, form)]);
    }
    for picture in &part.pictures {
        parts.extend([heading(picture.title, form), bars(picture, form)]);
        parts.push(escaped(&picture.paragraph, form));
    }
    if let Some(pages) = &part.page_sizes {
        let title = format!("{} by {}", pages.of, pages.by);
        parts.extend([heading(&title, form), page_sizes(pages, form)]);
    }
    if !part.space.is_empty() {
        parts.extend([heading("Room on storage", form), space(&part.space, form)]);
        parts.push(escaped(&part.space_paragraph, form));
    }
    let measured = |one: &&ClaimPart| one.verdict != ClaimVerdict::NotMeasured;
    let (found, missing): (Vec<&ClaimPart>, Vec<&ClaimPart>) =
        part.claims.iter().partition(measured);
    // Of a run that measures other things the article says nothing.
    if found.is_empty() {
        return parts;
    }
    parts.extend([heading("What the article claims", form), claims(&found, form)]);
    if !missing.is_empty() {
        let (missing, all) = (missing.len(), part.claims.len());
        parts.push(format!(
            "Not measured by this run: {missing} of {all} claims. They are about blobs of 10 kB and \
             one client; crossover bench blob measures most."
        ));
    }
    parts
}

/// The pictures of several runs, a column for each: every machine by its own SQLite.
pub(crate) fn pictures_side_by_side(documents: &[Document], form: Form) -> Vec<String> {
    let pictures = |document: &Document| -> Vec<PicturePart> {
        document.blob.as_ref().map(|part| part.pictures.clone()).unwrap_or_default()
    };
    let all: Vec<Vec<PicturePart>> = documents.iter().map(pictures).collect();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for picture in all.iter().flatten() {
        if !seen.iter().any(|(id, _)| *id == picture.id) {
            seen.push((picture.id, picture.title));
        }
    }
    let mut parts = Vec::new();
    for (id, title) in seen {
        let of_runs: Vec<Option<&PicturePart>> =
            all.iter().map(|own| own.iter().find(|picture| picture.id == id)).collect();
        let mut engines: Vec<&str> = Vec::new();
        for bar in of_runs.iter().flatten().flat_map(|picture| &picture.bars) {
            if !engines.contains(&bar.engine.as_str()) {
                engines.push(&bar.engine);
            }
        }
        let mut header = vec!["Times SQLite".to_owned()];
        header.extend(documents.iter().map(|document| document.run.id.clone()));
        let rows = engines.into_iter().map(|engine| {
            let mut row = vec![engine.to_owned()];
            row.extend(of_runs.iter().map(|picture| {
                let mut bars = picture.iter().flat_map(|picture| &picture.bars);
                let bar = bars.find(|bar| bar.engine == engine);
                bar.map(|bar| number(&bar.ratio)).unwrap_or_default()
            }));
            row
        });
        parts.push(heading(title, form));
        parts.push(drawn(header, rows.collect(), 1, form));
    }
    parts
}

fn times(document: &Document, part: &BlobPart, form: Form) -> String {
    let updates = part.times.iter().any(|one| one.time_per_blob_with_checkpoint_us.is_some());
    let opens = part.times.iter().any(|one| one.open_close_fraction.is_some());
    let mut header = vec!["Where".to_owned(), "Engine".to_owned(), "µs per blob".to_owned()];
    if updates {
        header.extend(["With checkpoint", "And synced"].map(str::to_owned));
    }
    header.push("MB/s".to_owned());
    if opens {
        header.push("Opening, closing".to_owned());
    }
    let row = |one: &TimePart| {
        let mut row = vec![
            levels_in_words(document, &one.levels),
            one.engine.clone(),
            number(&one.time_per_blob_us),
        ];
        if updates {
            row.push(one.time_per_blob_with_checkpoint_us.map(digits).unwrap_or_default());
            row.push(one.time_per_blob_synced_us.as_ref().map(number).unwrap_or_default());
        }
        row.push(one.megabytes_per_second.map(digits).unwrap_or_default());
        if opens {
            let share = one.open_close_fraction.map(|share| format!("{:.0}%", share * 100.0));
            row.push(share.unwrap_or_default());
        }
        row
    };
    drawn(header, part.times.iter().map(row).collect(), 2, form)
}

fn bars(picture: &PicturePart, form: Form) -> String {
    let header = vec!["Engine".to_owned(), format!("Times {}", picture.base)];
    let mut rows = vec![vec![picture.base.clone(), "1".to_owned()]];
    rows.extend(picture.bars.iter().map(|bar| vec![bar.engine.clone(), number(&bar.ratio)]));
    drawn(header, rows, 1, form)
}

fn page_sizes(pages: &PageSizesPart, form: Form) -> String {
    let mut header = vec!["Pages".to_owned()];
    header.extend(pages.blob_bytes.iter().map(|bytes| bytes_in_words(*bytes)));
    let rows = pages.rows.iter().map(|row| {
        let mut cells = vec![format!("{} bytes", row.page_bytes)];
        cells.extend(row.ratios.iter().map(|ratio| ratio.as_ref().map(number).unwrap_or_default()));
        cells
    });
    drawn(header, rows.collect(), 1, form)
}

fn space(rows: &[SpacePart], form: Form) -> String {
    let header = ["Engine", "Blobs", "Their bytes", "Stored", "On storage", "Times SQLite"];
    let row = |one: &SpacePart| {
        vec![
            one.engine.clone(),
            one.blobs.to_string(),
            one.content_bytes.to_string(),
            one.stored_bytes.to_string(),
            one.allocated_bytes.to_string(),
            one.times_sqlite.map(|times| format!("{times:.3}")).unwrap_or_default(),
        ]
    };
    drawn(header.map(str::to_owned).to_vec(), rows.iter().map(row).collect(), 1, form)
}

fn claims(claims: &[&ClaimPart], form: Form) -> String {
    let header = ["Claim", "The article's", "Measured here", "Of", "Here it"];
    let measured = |estimate: &Estimate| number(estimate);
    let row = |one: &&ClaimPart| {
        vec![
            one.claim.to_owned(),
            one.figure.to_owned(),
            one.measured.as_ref().map(measured).unwrap_or_default(),
            one.of.clone(),
            one.verdict.name().to_owned(),
        ]
    };
    drawn(header.map(str::to_owned).to_vec(), claims.iter().map(row).collect(), 5, form)
}
