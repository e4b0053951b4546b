//! How things stand, as JSON: the reply of `ruleline.status`, and what `ruleline/status` tells.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::features::decisions::path as shown;
use crate::rulebooks::Shelved;
use crate::session::Session;
use crate::session::live::LogState;

impl Session {
    /// Everything, for who asks.
    pub(super) fn status(&self) -> Value {
        let rulebook = |(path, shelved): &(PathBuf, Shelved)| {
            json!({
                "path": system::paths::shown(path),
                "sha256": system::digest::hex(&shelved.current.loaded.digest()),
                "rules": shelved.current.rules().rules.len(),
                "problems": shelved.current.rules().problems.len(),
                "holds": Arc::ptr_eq(&shelved.current, &shelved.good),
            })
        };
        let mut status = self.standing();
        status["rulebooks"] = self.engine.rulebooks.files().iter().map(rulebook).collect();
        status["roots"] = self.workspaces.roots().iter().map(|root| system::paths::shown(root)).collect();
        status["trusted"] = json!(self.settings.trusted == Some(true));
        status["documents"] = json!(self.documents.len());
        status["rulebooksLoaded"] = json!(self.engine.rulebooks.loads());
        status["textsParsed"] = json!(self.engine.facts.parses());
        status["filesCounted"] = json!(self.counting.judged);
        status
    }

    /// What a client that wants to know is told.
    fn standing(&self) -> Value {
        let files = self.engine.rulebooks.files();
        let rulebook = |(path, shelved): &(PathBuf, Shelved)| {
            let rules = shelved.current.rules();
            json!({"path": shown(path), "rules": rules.rules.len(), "problems": rules.problems.len()})
        };
        let counts = self.live.counts;
        let (state, message) = match &self.live.log {
            LogState::Ok => ("ok", None),
            LogState::Off => ("off", None),
            LogState::Broken(why) => ("broken", Some(rules::plain::plain(why, rules::plain::WHY))),
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "restricted": self.settings.restricted(),
            "rules": files.iter().map(|(_, shelved)| shelved.current.rules().rules.len()).sum::<usize>(),
            "rulebooks": files.iter().map(rulebook).collect::<Vec<_>>(),
            "hooks": self.hook_status(),
            "decisions": {"refused": counts.refused, "asked": counts.asked, "judged": counts.judged},
            "log": {"state": state, "message": message},
        })
    }

    /// Tells the client how things stand, if that is another than it was told last.
    pub(super) fn tell_status(&mut self) {
        if !self.profile.wants_status {
            return;
        }
        let status = self.standing();
        if self.told_status.as_ref() != Some(&status) {
            self.editor.tell_status(&status);
            self.told_status = Some(status);
        }
    }
}
