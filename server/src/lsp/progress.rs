//! Work that the client did not ask for and may show: `$/progress` with a token that the client was asked to make.
//!
//! Nothing is told before the client made the token, and nothing at all where it cannot or will not.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tower_lsp::Client;
use tower_lsp::lsp_types::request::WorkDoneProgressCreate;
use tower_lsp::lsp_types::{
    ProgressParams, ProgressParamsValue, ProgressToken, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressCreateParams, WorkDoneProgressEnd, WorkDoneProgressReport,
};

use crate::lsp::pump::Pump;
use crate::session::editor::Filling;

/// How long a client may take to make a token.
const PATIENCE: Duration = Duration::from_secs(10);

/// How far the indexes are, as the client is told.
#[derive(Clone)]
pub struct Indexing {
    pump: Pump,
    folders: Arc<Mutex<Folders>>,
}

#[derive(Default)]
struct Folders {
    /// Those that are being indexed, with their tokens.
    running: HashMap<PathBuf, Running>,
    last: u64,
}

struct Running {
    token: ProgressToken,
    /// The client made the token and was told that work began.
    is_shown: bool,
}

impl Indexing {
    /// Tells through `pump`.
    pub fn new(pump: Pump) -> Indexing {
        Indexing { pump, folders: Arc::default() }
    }

    /// Tells of one step; to be called on the runtime or beside it.
    pub fn tell(&self, client: &Client, runtime: &tokio::runtime::Handle, folder: &Path, filling: Filling) {
        let mut folders = self.lock();
        match filling {
            Filling::Began => {
                folders.last += 1;
                let token = ProgressToken::String(format!("ruleline/index/{}", folders.last));
                folders.running.insert(folder.to_path_buf(), Running { token: token.clone(), is_shown: false });
                drop(folders);
                let (this, client, folder) = (self.clone(), client.clone(), folder.to_path_buf());
                runtime.spawn(async move {
                    let params = WorkDoneProgressCreateParams { token };
                    let made = tokio::time::timeout(PATIENCE, client.send_request::<WorkDoneProgressCreate>(params));
                    if matches!(made.await, Ok(Ok(()))) {
                        this.begin(&folder);
                    }
                });
            }
            Filling::Goes(progress) => {
                if let Some(running) = folders.running.get(folder).filter(|running| running.is_shown) {
                    let percentage = progress.done * 100 / progress.all.max(1);
                    self.notify(
                        &running.token,
                        WorkDoneProgress::Report(WorkDoneProgressReport {
                            message: Some(format!("{} of {} files", progress.done, progress.all)),
                            percentage: u32::try_from(percentage).ok(),
                            ..WorkDoneProgressReport::default()
                        }),
                    );
                }
            }
            Filling::Ended => {
                if let Some(running) = folders.running.remove(folder).filter(|running| running.is_shown) {
                    self.notify(&running.token, WorkDoneProgress::End(WorkDoneProgressEnd::default()));
                }
            }
        }
    }

    /// The client made the token: it is told that work began, unless that is over by now.
    fn begin(&self, folder: &Path) {
        let mut folders = self.lock();
        if let Some(running) = folders.running.get_mut(folder) {
            running.is_shown = true;
            let begin = WorkDoneProgressBegin {
                title: "Ruleline: indexing symbols".to_owned(),
                percentage: Some(0),
                ..WorkDoneProgressBegin::default()
            };
            self.notify(&running.token, WorkDoneProgress::Begin(begin));
        }
    }

    fn notify(&self, token: &ProgressToken, stage: WorkDoneProgress) {
        let params = ProgressParams { token: token.clone(), value: ProgressParamsValue::WorkDone(stage) };
        self.pump.notify(None, "$/progress", &params);
    }

    fn lock(&self) -> MutexGuard<'_, Folders> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
