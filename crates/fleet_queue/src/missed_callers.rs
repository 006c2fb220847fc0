//! Decides when a caller whose lease has expired is gone. These are rules only: looks at the lease
//! come in with their instants.
//!
//! A lease expires while the servers are away or choose a leader, and while the machine of a caller
//! is too busy to renew it. A caller who lives renews it a moment later, and none of this may end
//! the runs that the caller waits for.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time for which every look must find that a lease has expired. A caller tries to come back
/// every four seconds, and to renew the lease every second.
const EXPIRED_FOR: Duration = Duration::from_secs(20);

/// The time after which a caller who was missed is forgotten: its runs are over.
const FORGOTTEN: Duration = Duration::from_hours(1);

/// A look at the lease of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeaseSight {
    /// It is there.
    Kept,
    /// Its caller has ended it.
    Ended,
    /// Nobody has renewed it, although the servers would have let them.
    Expired,
    /// The servers do not say.
    Unknown,
}

/// The callers whose lease has expired, each with the first look that found it so.
#[derive(Debug, Default)]
pub(crate) struct MissedCallers(Mutex<HashMap<String, Instant>>);

impl MissedCallers {
    /// Notes a look at the lease of a call, and returns whether its caller is gone.
    pub(crate) fn is_gone(&self, call: &str, sight: LeaseSight, now: Instant) -> bool {
        let mut missed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        missed.retain(|_, since| now.saturating_duration_since(*since) < FORGOTTEN);
        match sight {
            LeaseSight::Kept | LeaseSight::Unknown => {
                missed.remove(call);
                false
            }
            LeaseSight::Ended => true,
            LeaseSight::Expired => {
                let since = *missed.entry(call.to_owned()).or_insert(now);
                now.saturating_duration_since(since) >= EXPIRED_FOR
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LeaseSight::{Ended, Expired, Kept, Unknown};
    use super::*;

    /// Returns the answers to looks at one lease, each after so many seconds.
    fn answers(looks: &[(u64, LeaseSight)]) -> Vec<bool> {
        let (missed, begun) = (MissedCallers::default(), Instant::now());
        let look = |(seconds, sight): &(u64, LeaseSight)| {
            missed.is_gone("call", *sight, begun + Duration::from_secs(*seconds))
        };
        looks.iter().map(look).collect()
    }

    #[test]
    fn a_caller_is_gone_when_every_look_for_a_while_finds_an_expired_lease() {
        let looks = [(0, Expired), (10, Expired), (19, Expired), (20, Expired)];
        assert_eq!(answers(&looks), [false, false, false, true]);
    }

    #[test]
    fn a_renewed_lease_and_servers_that_do_not_say_begin_the_time_anew() {
        let renewed = [(0, Expired), (19, Kept), (21, Expired), (30, Expired)];
        assert_eq!(answers(&renewed), [false; 4]);
        let unsaid = [(0, Expired), (19, Unknown), (21, Expired), (40, Expired)];
        assert_eq!(answers(&unsaid), [false; 4]);
    }

    #[test]
    fn a_caller_who_has_ended_the_lease_is_gone_at_once() {
        assert_eq!(answers(&[(0, Kept), (1, Ended)]), [false, true]);
    }
}
