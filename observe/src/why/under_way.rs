//! Requests over the NoC that are under way, by the numbers of their packets.

/// A request of which packets are under way.
#[derive(Clone, Debug)]
struct Entry<T> {
    what: T,
    noc: u8,
    /// Number of its first packet.
    first: u32,
    packets: u32,
    /// Packets that have not passed.
    left: u32,
}

/// Requests until the last of their packets has passed, oldest first.
#[derive(Clone, Debug)]
pub(super) struct UnderWay<T>(Vec<Entry<T>>);

impl<T> Default for UnderWay<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> UnderWay<T> {
    /// A request was given to a NoC; its packets are numbered from `first` on.
    pub(super) fn begin(&mut self, noc: u8, (first, packets): (u32, u32), what: T) {
        self.0.push(Entry { what, noc, first, packets, left: packets });
    }

    /// A packet has passed.
    pub(super) fn passed(&mut self, noc: u8, ticket: u32) {
        let is_own =
            |entry: &Entry<T>| entry.noc == noc && ticket.wrapping_sub(entry.first) < entry.packets;
        let Some(at) = self.0.iter().position(is_own) else { return };
        self.0[at].left -= 1;
        if self.0[at].left == 0 {
            self.0.remove(at);
        }
    }

    /// The first request that is one of those.
    pub(super) fn find(&self, mut is_one: impl FnMut(&T) -> bool) -> Option<&T> {
        self.0.iter().map(|entry| &entry.what).find(|what| is_one(what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_of_two_packets_is_under_way_until_both_have_passed() {
        let mut under_way = UnderWay::default();
        under_way.begin(1, (u32::MAX, 2), "two");
        let is_there = |under_way: &UnderWay<&str>| under_way.find(|what| *what == "two").is_some();
        under_way.passed(1, 0);
        under_way.passed(0, u32::MAX);
        under_way.passed(1, 1);
        assert!(is_there(&under_way));
        under_way.passed(1, u32::MAX);
        assert!(!is_there(&under_way));
    }
}
