//! Links inside the built manual lead to a page, a file, or a heading that is there.
//!
//! Looks at what readers get, so that pages included from elsewhere are judged where they end up.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::Findings;

/// What attributes name.
const ATTRIBUTES: [&str; 3] = [" href=\"", " src=\"", " data=\""];

/// Checks the book in a directory.
pub(crate) fn check(dir: &Path) -> Findings {
    let mut pages = BTreeMap::new();
    read(dir, dir, &mut pages)?;
    if pages.is_empty() {
        return Err(format!("{}: no page there", dir.display()));
    }
    let mut findings = Vec::new();
    for (page, text) in &pages {
        for link in links(text) {
            if let Err(why) = follow(dir, page, link, &pages) {
                findings.push(format!("{}: {link} {why}", page.display()));
            }
        }
    }
    Ok(findings)
}

/// Reads all pages below a directory, by their path from the root.
fn read(root: &Path, dir: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", dir.display());
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            read(root, &path, pages)?;
        } else if path.extension().is_some_and(|end| end == "html") {
            let text = fs::read_to_string(&path).map_err(failed)?;
            let name = path.strip_prefix(root).unwrap_or(&path).to_owned();
            pages.insert(name, text);
        }
    }
    Ok(())
}

/// Targets within the book; addresses of the web are not followed.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let all = ATTRIBUTES.into_iter().flat_map(|attribute| {
        text.split(attribute).skip(1).filter_map(|rest| rest.split_once('"').map(|(link, _)| link))
    });
    all.filter(|link| {
        let scheme = link.split(['/', '#', '?']).next().is_some_and(|first| first.contains(':'));
        !link.is_empty() && !scheme && !link.starts_with("//")
    })
}

fn follow(
    root: &Path,
    page: &Path,
    link: &str,
    pages: &BTreeMap<PathBuf, String>,
) -> Result<(), &'static str> {
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = match (path, path.strip_prefix('/')) {
        ("", _) => page.to_owned(),
        (_, Some(path)) => PathBuf::from(path),
        _ => page.parent().unwrap_or(Path::new("")).join(path),
    };
    let target = plain(&target).ok_or("leads out of the book")?;
    let target = if root.join(&target).is_dir() { target.join("index.html") } else { target };
    if !root.join(&target).is_file() {
        return Err("does not exist");
    }
    let there = |text: &String| {
        text.contains(&format!("id=\"{heading}\"")) || text.contains(&format!("name=\"{heading}\""))
    };
    if heading.is_empty() || pages.get(&target).is_none_or(there) {
        Ok(())
    } else {
        Err("has no such heading")
    }
}

/// Without `.` and `..`; none if it leads out.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => found.push(name),
            Component::ParentDir if !found.pop() => return None,
            _ => {}
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{follow, links, plain};

    #[test]
    fn links_are_those_within_the_book() {
        let text = r##"<a href="a.html#b"> <a href="https://example.org/c"> <img src="d.svg"> <object data="e.svg">
            <a href="mailto:f@example.org"> <a href="#g">"##;
        assert_eq!(links(text).collect::<Vec<_>>(), ["a.html#b", "#g", "d.svg", "e.svg"]);
    }

    #[test]
    fn what_is_missing_is_told_apart() {
        let dir = std::env::temp_dir().join(format!("tilescope-book-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("x")).expect("made");
        let page = "<h1 id=\"there\">";
        std::fs::write(dir.join("x/a.html"), page).expect("written");
        let pages = [("x/a.html".into(), page.to_owned())].into();
        let from = |page: &str, link| follow(&dir, Path::new(page), link, &pages);
        assert_eq!(from("b.html", "x/a.html#there"), Ok(()));
        assert_eq!(from("x/b.html", "a.html"), Ok(()));
        assert_eq!(from("x/b.html", "../a.html"), Err("does not exist"));
        assert_eq!(from("x/b.html", "../../a.html"), Err("leads out of the book"));
        assert_eq!(from("x/a.html", "#gone"), Err("has no such heading"));
        std::fs::remove_dir_all(dir).expect("removed");
    }

    #[test]
    fn dots_are_taken_out() {
        assert_eq!(plain(Path::new("a/./b/../c")).as_deref(), Some(Path::new("a/c")));
        assert_eq!(plain(Path::new("../a")), None);
    }
}
