//! Who waits for whom as a drawing: a row for each step towards the cause, what users see first.
//!
//! What is proved is drawn by itself; who else could have acted, which is a guess, comes in a drawing of its own
//! that is opened on demand.

use std::fmt::Write as _;

use super::{MARKER, escape, short, short_place};
use crate::why::{Explanation, Link};

/// Width of the drawing, of a node, its height, and from row to row.
const WIDTH: usize = 1100;
const NODE: usize = 340;
const HIGH: usize = 58;
const ROW: usize = 104;
/// Nodes to a row.
const COLUMNS: usize = 3;

/// An arrow: from, to, whether it is known to be needed.
type Edge = (usize, usize, bool);

/// Draws the waits of an explanation.
pub(super) fn draw(page: &mut String, told: &Explanation) {
    let edges: Vec<Edge> = told
        .waits
        .iter()
        .enumerate()
        .flat_map(|(from, link)| link.to.iter().map(move |to| (from, *to, link.known)))
        .collect();
    let proved: Vec<Edge> = edges.iter().copied().filter(|(.., known)| *known).collect();
    let is_in = |at: &usize, edges: &[Edge]| {
        edges.iter().any(|(from, to, _)| from == at || to == at)
            || told.chain.contains(at)
            || told.waits[*at].root
    };
    let all = 0..told.waits.len();
    let nodes: Vec<usize> = all.clone().filter(|at| is_in(at, &proved)).collect();
    if nodes.is_empty() && edges.is_empty() {
        return;
    }
    page.push_str("<h2>Who waits for whom</h2>\n");
    picture(page, told, &nodes, &proved);
    if edges.len() > proved.len() {
        page.push_str("<details><summary>with guesses: who else could have acted</summary>\n");
        let nodes: Vec<usize> = all.filter(|at| is_in(at, &edges)).collect();
        picture(page, told, &nodes, &edges);
        page.push_str("</details>\n");
    }
}

/// The row of each node: one below everybody who waits for it, as far as there is no circle.
fn rows(nodes: &[usize], edges: &[Edge], begin: Option<usize>) -> Vec<usize> {
    let place = |at: usize| nodes.iter().position(|node| *node == at);
    let next: Vec<Vec<usize>> = nodes
        .iter()
        .map(|node| {
            let own = edges.iter().filter(|(from, ..)| from == node);
            own.filter_map(|(_, to, _)| place(*to)).collect()
        })
        .collect();
    // Depth first, from what users see: a way back to somebody on the path closes a circle and counts for nothing.
    let mut order = Vec::new();
    let mut forward: Vec<(usize, usize)> = Vec::new();
    let mut seen = vec![0_u8; nodes.len()];
    let first = begin.and_then(place).into_iter();
    let sources = (0..nodes.len()).filter(|at| !next.iter().any(|to| to.contains(at)));
    for start in first.chain(sources).chain(0..nodes.len()) {
        let mut stack = vec![(start, 0)];
        while let Some((at, step)) = stack.pop() {
            if step == 0 && std::mem::replace(&mut seen[at], 1) != 0 {
                continue;
            }
            let Some(&to) = next[at].get(step) else {
                seen[at] = 2;
                order.push(at);
                continue;
            };
            stack.push((at, step + 1));
            if seen[to] != 1 {
                forward.push((at, to));
            }
            if seen[to] == 0 {
                stack.push((to, 0));
            }
        }
    }
    let mut rows = vec![0; nodes.len()];
    for at in order.into_iter().rev() {
        for &(_, to) in forward.iter().filter(|(from, _)| *from == at) {
            rows[to] = rows[to].max(rows[at] + 1);
        }
    }
    rows
}

/// Where each node is: the left upper corner.
fn places(nodes: &[usize], edges: &[Edge], begin: Option<usize>) -> (Vec<(usize, usize)>, usize) {
    let rows = rows(nodes, edges, begin);
    let mut places = vec![(0, 0); nodes.len()];
    let mut y = 16;
    for row in 0..=rows.iter().copied().max().unwrap_or(0) {
        let mut own: Vec<usize> = (0..nodes.len()).filter(|at| rows[*at] == row).collect();
        // Below those who wait for them.
        own.sort_by_key(|at| {
            let above = edges.iter().filter(|(_, to, _)| *to == nodes[*at]);
            let above = above.filter_map(|(from, ..)| nodes.iter().position(|node| node == from));
            let x: Vec<usize> =
                above.filter(|from| rows[*from] < row).map(|from| places[from].0).collect();
            x.iter().sum::<usize>() / x.len().max(1)
        });
        for line in own.chunks(COLUMNS) {
            let apart = WIDTH / line.len();
            for (column, at) in line.iter().enumerate() {
                places[*at] = (column * apart + (apart - NODE) / 2, y);
            }
            y += ROW;
        }
    }
    (places, y - ROW + HIGH + 16)
}

fn picture(page: &mut String, told: &Explanation, nodes: &[usize], edges: &[Edge]) {
    let (places, height) = places(nodes, edges, told.chain.first().copied());
    let _ =
        write!(page, "<div class=wide><svg viewBox=\"0 0 {WIDTH} {height}\" role=img>\n{MARKER}");
    let place = |at: usize| nodes.iter().position(|node| *node == at).map(|at| places[at]);
    for &(from, to, known) in edges {
        let Some(((x, y), (to_x, to_y))) = place(from).zip(place(to)) else { continue };
        let red = known && told.waits[from].root && told.waits[to].root;
        let (class, marker) = match (red, known) {
            (true, _) => ("lost", "red"),
            (_, true) => ("arrow", "blue"),
            _ => ("maybe", "grey"),
        };
        let middle = NODE / 2;
        let way = if to_y > y {
            // From the lower edge to the upper one.
            let (x1, y1, x2) = (x + middle, y + HIGH, to_x + middle);
            format!("M{x1} {y1} C{x1} {} {x2} {} {x2} {to_y}", y1 + 24, to_y - 24)
        } else {
            // Back, or to a neighbour: around the right side.
            let (x1, y1, x2, y2) = (x + NODE, y + HIGH / 2, to_x + NODE, to_y + HIGH / 2 + 8);
            let out = x1.max(x2) + 34;
            format!("M{x1} {y1} C{out} {y1} {out} {y2} {x2} {y2}")
        };
        let _ = writeln!(
            page,
            "<path class={class} marker-end=\"url(#{marker})\" d=\"{way}\"><title>{} waits for {}</title></path>",
            told.waits[from].agent, told.waits[to].agent
        );
    }
    for (&at, &(x, y)) in nodes.iter().zip(&places) {
        node(page, &told.waits[at], x, y);
    }
    page.push_str("</svg></div>\n");
}

fn node(page: &mut String, link: &Link, x: usize, y: usize) {
    let class = if link.root { "root" } else { "box" };
    let place = link.code.as_ref().map_or_else(String::new, ToString::to_string);
    let mut hint = format!("{} {}", link.agent, link.text);
    if let Some(since) = link.since {
        let _ = write!(hint, "\nsince cycle {since}");
    }
    if let Some(pc) = link.pc {
        let _ = write!(hint, "\nin {place}, pc {pc:#x}");
    }
    if let Some(source) = &link.source {
        let _ = write!(hint, "\n{}: {}", source.line, source.text.trim());
    }
    for value in &link.values {
        let _ = write!(hint, "\n{} = {}", value.name, value.value);
    }
    let (text_x, hint) = (x + 10, escape(&hint));
    let _ = writeln!(
        page,
        "<g class=node><title>{hint}</title><rect class={class} x={x} y={y} width={NODE} height={HIGH} rx=5 />\
         <text x={text_x} y={}>{}</text><text class=small x={text_x} y={}>{}</text>\
         <text class=small x={text_x} y={}>{}</text></g>",
        y + 17,
        link.agent,
        y + 34,
        short(&link.text, 54),
        y + 50,
        short_place(&place, 48)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_of_a_node_is_below_everybody_who_waits_for_it() {
        let known = |(from, to)| (from, to, true);
        let edges: Vec<Edge> = [(0, 1), (1, 2), (0, 2), (3, 2)].map(known).to_vec();
        assert_eq!(rows(&[0, 1, 2, 3], &edges, Some(0)), [0, 1, 2, 0]);
        // A circle begins with who is asked first, and the way back counts for nothing.
        let edges: Vec<Edge> = [(0, 2), (2, 1), (1, 0)].map(known).to_vec();
        assert_eq!(rows(&[0, 1, 2], &edges, Some(0)), [0, 2, 1]);
        assert_eq!(rows(&[0, 1, 2], &edges, None), [0, 2, 1]);
    }

    #[test]
    fn nodes_do_not_overlap() {
        let nodes: Vec<usize> = (0..7).collect();
        let edges: Vec<Edge> = (1..7).map(|to| (0, to, true)).collect();
        let (places, height) = places(&nodes, &edges, Some(0));
        for (one, (x, y)) in places.iter().enumerate() {
            assert!(x + NODE <= WIDTH && y + HIGH < height, "{places:?}");
            for (other_x, other_y) in &places[..one] {
                assert!(x.abs_diff(*other_x) >= NODE || y.abs_diff(*other_y) >= HIGH, "{places:?}");
            }
        }
    }
}
