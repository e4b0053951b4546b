//! The threads that work for the session: as many as there are processors, none while there is nothing to do.
//!
//! A thread does what waits and ends. The next one takes over its heap, so that judgements one after another use the
//! same memory again and again; a pool's threads would each keep what their largest text took.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Job = Box<dyn FnOnce() + Send>;

/// Runs jobs in the order they come, a few at a time.
#[derive(Clone)]
pub struct Workers {
    state: Arc<Mutex<State>>,
    most: usize,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    running: usize,
}

impl Default for Workers {
    fn default() -> Workers {
        Workers { state: Arc::default(), most: std::thread::available_parallelism().map_or(2, usize::from) }
    }
}

impl Workers {
    /// One thread, for jobs that may take long and that nothing waits for.
    pub fn one() -> Workers {
        Workers { most: 1, ..Workers::default() }
    }

    /// Has a job done, now or when those before it are.
    pub fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.lock();
        state.waiting.push_back(Box::new(job));
        if state.running >= self.most {
            return;
        }
        state.running += 1;
        drop(state);
        let workers = self.clone();
        let started = std::thread::Builder::new().name("judge".into()).spawn(move || workers.work());
        if let Err(error) = started {
            tracing::error!("no thread to judge with, so everything else waits: {error}");
            self.work();
        }
    }

    /// Whether everything is done, and what it gave was handed on.
    #[cfg(test)]
    pub fn are_idle(&self) -> bool {
        self.lock().running == 0
    }

    fn work(&self) {
        while let Some(job) = self.next() {
            if std::panic::catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("a worker panicked");
            }
        }
    }

    /// What waits longest; without anything, this thread counts as ended.
    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        let job = state.waiting.pop_front();
        state.running -= usize::from(job.is_none());
        job
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn every_job_is_done_and_never_more_than_so_many_at_a_time() {
        let workers = Workers { most: 2, ..Workers::default() };
        let (done, results) = mpsc::channel();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        for number in 0..200 {
            let (done, now, most) = (done.clone(), now.clone(), most.clone());
            workers.run(move || {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::yield_now();
                now.fetch_sub(1, Ordering::SeqCst);
                done.send(number).unwrap();
                assert_ne!(number, 7, "injected");
            });
        }
        drop(done);
        let mut results: Vec<i32> = results.iter().collect();
        results.sort_unstable();
        assert_eq!(results, (0..200).collect::<Vec<_>>());
        assert!(most.load(Ordering::SeqCst) <= 2);
    }
}
