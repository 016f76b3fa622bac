//! Who waits for whom across tiles, and where the root of it lies.
//!
//! A node is a wait on a tile: the cause that is known there, or a word that other tiles write. It points at
//! the waits of those who would write the word. Somebody who has written it before and waits now is a guess;
//! somebody whose code behind his own wait does so is not. The roots are the sinks of the condensed graph;
//! of several the one that says most. A circle is one only of needs that are no guess.

use std::collections::VecDeque;

/// What a root is, what says most first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Rank {
    /// A core has stopped.
    Stopped,
    /// There is proof of a lost operation: sent elsewhere, passed by.
    Lost,
    /// More is asked for than there can ever be.
    Beyond,
    /// Nobody who could act is left.
    DeadEnd,
    /// Everybody in a circle is known to be needed.
    Circle,
    /// Something may have gone astray.
    Suspect,
    /// Nobody is known to write that word.
    Unknown,
    /// Anything else.
    Other,
    /// A dispatcher, which waits for the rest.
    Serves,
}

/// A wait.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Index of its tile, and of the wait there.
    pub(crate) at: (usize, usize),
    pub(crate) rank: Rank,
    pub(crate) since: u64,
    pub(crate) to: Vec<Edge>,
}

/// Somebody who would have to act.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    /// Index of the node.
    pub(crate) to: usize,
    /// Whether that is known, and no guess.
    pub(crate) known: bool,
    /// What it would do, in words.
    pub(crate) what: String,
}

/// All nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Web(pub(crate) Vec<Node>);

/// What the web comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Root {
    /// The node.
    pub(crate) node: usize,
    /// The circle that it lies in, beginning with it; empty if there is none.
    pub(crate) circle: Vec<usize>,
    /// The longest of the shortest ways to it, the root last.
    pub(crate) chain: Vec<usize>,
}

impl Web {
    fn steps(&self, from: usize, known: bool) -> impl Iterator<Item = usize> {
        self.0[from].to.iter().filter(move |edge| edge.known || !known).map(|edge| edge.to)
    }

    /// The shortest way from a node, in at least one step, to `end`, both included.
    fn path(&self, from: usize, end: usize, known: bool) -> Option<Vec<usize>> {
        let mut before = vec![None; self.0.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for next in self.steps(at, known) {
                if before[next].is_some() {
                    continue;
                }
                before[next] = Some(at);
                if next == end {
                    let mut path = vec![end, at];
                    let mut back = at;
                    while back != from {
                        back = before[back].unwrap_or(from);
                        path.push(back);
                    }
                    path.reverse();
                    return Some(path);
                }
                queue.push_back(next);
            }
        }
        None
    }

    /// Everybody that a node leads to.
    fn reached(&self, from: usize) -> Vec<bool> {
        let mut seen = vec![false; self.0.len()];
        let mut stack = vec![from];
        while let Some(at) = stack.pop() {
            for next in self.steps(at, false) {
                if !seen[next] {
                    seen[next] = true;
                    stack.push(next);
                }
            }
        }
        seen
    }

    /// The root; `None` if there is nobody.
    pub(crate) fn root(&self) -> Option<Root> {
        let reached: Vec<Vec<bool>> = (0..self.0.len()).map(|at| self.reached(at)).collect();
        let is_sink = |at: &usize| {
            let mut others = (0..self.0.len()).filter(|other| reached[*at][*other]);
            others.all(|other| reached[other][*at])
        };
        let circle = |at: usize| self.path(at, at, true);
        let rank = |at: &usize| {
            let node = &self.0[*at];
            let rank = if circle(*at).is_some() { Rank::Circle.min(node.rank) } else { node.rank };
            // A tile that others wait for says more than one that nobody does.
            let held = (0..self.0.len()).filter(|other| reached[*other][*at]).count();
            (rank, std::cmp::Reverse(held), node.since)
        };
        let node = (0..self.0.len()).filter(is_sink).min_by_key(rank)?;
        let mut circle = circle(node).unwrap_or_default();
        circle.pop();
        let ways = (0..self.0.len()).filter(|at| *at != node && !circle.contains(at));
        let ways = ways.filter_map(|from| self.path(from, node, false));
        // Of equal ones the first.
        let chain = ways.fold(
            vec![node],
            |longest, way| {
                if way.len() > longest.len() { way } else { longest }
            },
        );
        Some(Root { node, circle, chain })
    }

    /// What the step from one node to another is about.
    pub(crate) fn what(&self, from: usize, to: usize) -> Option<&Edge> {
        self.0[from].to.iter().find(|edge| edge.to == to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node: its rank and its edges, each a target and whether it is known.
    type Drawn<'a> = (Rank, &'a [(usize, bool)]);

    fn web(nodes: &[Drawn<'_>]) -> Web {
        let node = |(at, (rank, edges)): (usize, &Drawn<'_>)| {
            let edge = |&(to, known): &(usize, bool)| Edge { to, known, what: String::new() };
            Node { at: (at, 0), rank: *rank, since: 0, to: edges.iter().map(edge).collect() }
        };
        Web(nodes.iter().enumerate().map(node).collect())
    }

    #[test]
    fn end_of_a_chain_is_the_root_and_the_chain_leads_to_it() {
        let web = web(&[
            (Rank::Other, &[(1, true)]),
            (Rank::Other, &[(2, true)]),
            (Rank::Other, &[(3, false)]),
            (Rank::Stopped, &[]),
        ]);
        let root = web.root().expect("somebody");
        assert_eq!(root, Root { node: 3, circle: Vec::new(), chain: vec![0, 1, 2, 3] });
    }

    #[test]
    fn circle_of_known_needs_is_one_and_its_symptoms_are_none() {
        let web = web(&[
            (Rank::Other, &[(1, true)]),
            (Rank::Other, &[(2, true)]),
            (Rank::Other, &[(1, true)]),
        ]);
        let root = web.root().expect("somebody");
        assert_eq!((root.node, root.circle, root.chain), (1, vec![1, 2], vec![0, 1]));
    }

    /// Who has written before might be the one: that closes nothing.
    #[test]
    fn guess_closes_no_circle() {
        let web = web(&[(Rank::Other, &[(1, true)]), (Rank::Unknown, &[(0, false)])]);
        let root = web.root().expect("somebody");
        assert_eq!((root.node, root.circle), (1, Vec::new()));
    }

    /// A core that has stopped explains more than a circle elsewhere, and that more than a dead end of
    /// which nothing is known.
    #[test]
    fn root_that_says_most_comes_first() {
        let mut all = vec![
            (Rank::Unknown, &[][..]),
            (Rank::Other, &[(2, true)]),
            (Rank::Other, &[(1, true)]),
            (Rank::Stopped, &[]),
        ];
        assert_eq!(web(&all).root().map(|root| root.node), Some(3));
        all.pop();
        assert_eq!(web(&all).root().map(|root| root.node), Some(1));
    }
}
