//! A folder that may only be read: everything is refused in words, and nothing changes. Only root
//! may mount one.

use anyhow::ensure;

use super::{Fault, judge, wait_for_end, while_it_runs};
use crate::damage::Damage;
use crate::random::SeededRandom;
use crate::site::{Engine, FaultSite};
use crate::subject::FaultSubject;
use crate::tool::run;

pub struct ReadOnly;

impl Fault for ReadOnly {
    fn name(&self) -> &'static str {
        "files that may only be read"
    }

    fn suits(&self, _: &dyn FaultSubject, engine: Engine) -> bool {
        engine == Engine::Sqlite
    }

    fn prepare(&mut self, _: &mut FaultSite, _: &dyn FaultSubject) -> anyhow::Result<()> {
        Ok(())
    }

    fn attempt(
        &self,
        site: &mut FaultSite,
        subject: &dyn FaultSubject,
        _: &mut SeededRandom,
    ) -> anyhow::Result<Option<Damage>> {
        site.clear()?;
        subject.begin(site)?;
        let folder = site.folder();
        let text = folder.display().to_string();
        run(&["mount", "--bind", &text], &folder)?;
        let ended = run(&["mount", "-o", "remount,bind,ro"], &folder)
            .and_then(|()| while_it_runs(site, subject, |running| wait_for_end(subject, running)));
        run(&["umount", "--lazy"], &folder)?;
        let ((), ended) = ended?;
        if subject.ends() {
            let said = ended.said.to_lowercase();
            ensure!(ended.code == Some(1), "{:?}: {}", ended.code, ended.said);
            let names = ["read-only", "readonly", "only be read", "cannot be written"];
            ensure!(
                names.iter().any(|it| said.contains(it)),
                "it does not say why: {}",
                ended.said
            );
        }
        Ok(Some(judge(site, subject, &ended)?))
    }
}
