//! Relative links in Markdown files name files that exist.

use crate::Findings;
use crate::files::Tree;

pub(crate) fn check(tree: &Tree) -> Findings {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        let dir = tree.root.join(&file.path);
        let dir = dir.parent().unwrap_or(&tree.root);
        for target in targets(&file.text) {
            if !dir.join(target).exists() {
                findings.push(format!("{}: {target} does not exist", file.path));
            }
        }
    }
    Ok(findings)
}

/// The paths of `](path)` and `](path#heading)`, without addresses of the web and plain headings.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| {
        let target = rest.split_once(')')?.0;
        let path = target.split('#').next().unwrap_or_default();
        (!path.is_empty() && !path.contains("://") && !path.contains(' ')).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::targets;

    #[test]
    fn link_targets_are_paths_only() {
        let text = "[a](docs/a.md#b) [c](https://example.org/d) [e](#f) [g](h.md)";
        assert_eq!(targets(text).collect::<Vec<_>>(), ["docs/a.md", "h.md"]);
    }
}
