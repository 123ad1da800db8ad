//! How much of the API one client may occupy at once.
//!
//! Counts within this process only. Invariant: a seat is given back when its request ends, however it ends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Requests of one client that are open at once.
const REQUESTS: usize = 256;
/// Of these, how many may wait for an outcome; more are answered at once.
const WAITS: usize = 32;

#[derive(Clone, Debug, Default)]
pub struct Seats(Arc<Mutex<HashMap<(Kind, String), usize>>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Request,
    Wait,
}

/// Held while it is used.
#[derive(Debug)]
pub struct Seat {
    seats: Seats,
    key: (Kind, String),
}

impl Seats {
    /// None: all are taken.
    pub fn take(&self, kind: Kind, client: &str) -> Option<Seat> {
        let most = match kind {
            Kind::Request => REQUESTS,
            Kind::Wait => WAITS,
        };
        let key = (kind, client.to_string());
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(key.clone()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Seat { seats: self.clone(), key })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_free_again_when_it_is_dropped() {
        let seats = Seats::default();
        let mut held: Vec<Seat> = (0..WAITS).map(|_| seats.take(Kind::Wait, "a").unwrap()).collect();
        assert!(seats.take(Kind::Wait, "a").is_none());
        assert!(seats.take(Kind::Wait, "b").is_some() && seats.take(Kind::Request, "a").is_some());
        held.pop();
        assert!(seats.take(Kind::Wait, "a").is_some());
    }
}
