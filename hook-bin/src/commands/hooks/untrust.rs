//! `ruleline hooks untrust`: a person takes trust back.
//!
//! It loosens as well: a guard that was trusted is gone afterwards. So it takes a person like trust itself, but no
//! digest.

use std::time::SystemTime;

use hooks::grants::Record;

use super::super::many;
use super::person::Person;
use super::{Place, Refusal, Said, shown};

/// Asks, and withdraws the grant.
pub fn untrust(place: &Place) -> Result<Said, Refusal> {
    let mut person = Person::find()?;
    let root = place.root();
    let name = shown(&root);
    let Some(Record::Granted(grant)) = place.store.read(&root).map_err(|error| error.to_string())? else {
        return Ok(Said::nothing(format!("the hooks in {name} are not trusted\n")));
    };
    let files = many(grant.files.len(), "file");
    let text = format!(
        "Hooks in {name}: {files}, digest {}, trusted {}\nWithout trust none of them runs any more, guards among them.\n",
        grant.digest.short(),
        grant.how()
    );
    let answer = person.ask(&text, "Untrust them? [y/N] ")?;
    if !answer.is_some_and(|answer| matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes")) {
        return Ok(Said::nothing("nothing was changed: the hooks are trusted as before\n".to_owned()));
    }
    match place.store.withdraw(&root, SystemTime::now()).map_err(|error| format!("nothing was changed: {error}"))? {
        Some(_) => {
            Ok(Said::done(format!("Untrusted: none of the hooks in {name} runs until they are trusted again.\n")))
        }
        None => Ok(Said::nothing(format!("the hooks in {name} are not trusted any more\n"))),
    }
}
