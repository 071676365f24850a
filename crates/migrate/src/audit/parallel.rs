//! Scans of all tables, side by side.

use parking_lot::Mutex;

use super::scan::{Scan, scan};
use super::{AuditOptions, collation, keys};
use crate::finding::Finding;
use crate::mapping::Candidate;
use crate::source::{SourceFile, SourceSchema};
use crate::{Error, Task};

#[derive(Default)]
pub struct ScannedTable {
    pub scan: Scan,
    pub key_findings: Vec<Finding>,
}

/// One task; the largest run first.
#[derive(Clone, Copy)]
enum ScanTask {
    Values(usize),
    Keys(usize),
}

/// Reads all tables, the largest first, over the connections of the source.
pub fn scan_all(
    source: &SourceFile,
    schema: &SourceSchema,
    candidates: &[Vec<Candidate>],
    estimate: &[u64],
    options: &AuditOptions,
    task: Task<'_>,
) -> Result<Vec<ScannedTable>, Error> {
    let (creates, rules) = (options.target.is_none(), &options.rules);
    // Existing tables compare as they do.
    let nocase = creates.then_some(options.nocase);
    let mut work: Vec<(u64, ScanTask)> = Vec::new();
    for (place, table) in schema.tables.iter().enumerate() {
        work.push((estimate[place], ScanTask::Values(place)));
        let has_keys = creates && !table.foreign_keys.is_empty();
        if has_keys || collation::is_concerned(table) {
            work.push((estimate[place], ScanTask::Keys(place)));
        }
    }
    work.sort_by_key(|(rows, _)| *rows);
    let queue = Mutex::new(work);
    let empty = schema.tables.iter().map(|_| ScannedTable::default());
    let results = Mutex::new(empty.collect::<Vec<_>>());
    let worker = || {
        source.with(|connection| {
            loop {
                task.check()?;
                let next = queue.lock().pop();
                match next {
                    None => return Ok(()),
                    Some((_, ScanTask::Values(place))) => {
                        let (table, candidates) = (&schema.tables[place], &candidates[place]);
                        let scan = scan(source, connection, table, candidates, task)?;
                        results.lock()[place].scan = scan;
                    }
                    Some((_, ScanTask::Keys(place))) => {
                        let table = &schema.tables[place];
                        let candidates = &candidates[place];
                        let mut findings = collation::findings(
                            source, connection, schema, table, candidates, nocase, task,
                        )?;
                        // The target's own keys are audited separately.
                        if creates {
                            let keys = keys::findings(source, connection, schema, table, rules);
                            findings.extend(keys?);
                        }
                        results.lock()[place].key_findings = findings;
                    }
                }
            }
        })
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..source.connections()).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| Error::Worker("audit".to_owned()))?)
    })?;
    Ok(results.into_inner())
}
