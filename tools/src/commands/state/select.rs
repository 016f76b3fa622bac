//! Which parts of the tree are asked for.

use std::ops::Range;

use anyhow::{Result, bail};
use tensix::{CellFormat, CellRow, Cells, Register, RegisterValue};

use super::args::StateArgs;

/// What to show, and how.
pub(super) struct Selection {
    /// Lower-case patterns, each as `*.PATTERN.*`; none means everything.
    patterns: Vec<String>,
    /// Zeros too.
    pub(super) zeros: bool,
    /// The format asked for.
    pub(super) format: Option<CellFormat>,
    rows: Option<Range<u32>>,
    columns: Range<usize>,
}

impl Selection {
    /// What the arguments ask for.
    ///
    /// # Errors
    /// A pattern matches nothing.
    pub(super) fn new(args: &StateArgs, tree: &Register) -> Result<Self> {
        let wrapped = |pattern: &String| format!("*.{}.*", pattern.to_lowercase());
        let selection = Self {
            patterns: args.show.iter().map(wrapped).collect(),
            zeros: args.all || !args.show.is_empty(),
            format: args.format.format(),
            rows: args.rows.clone(),
            columns: args.columns.start.min(16) as usize..args.columns.end.min(16) as usize,
        };
        for (pattern, text) in selection.patterns.iter().zip(&args.show) {
            if !any(tree, "", &|path| matches(pattern, path)) {
                bail!("--show {text}: nothing has that name (`tilescope state --all` shows all)");
            }
        }
        Ok(selection)
    }

    /// Whether the part at `path` (`.a.b.`, lower case) is asked for.
    fn asks_for(&self, path: &str, value: &RegisterValue) -> bool {
        if !self.patterns.is_empty() && !self.patterns.iter().any(|p| matches(p, path)) {
            return false;
        }
        let RegisterValue::Cells(cells) = value else { return true };
        // Dst is there in two widths: the one that suits the format, or the one somebody named.
        let named = self.patterns.iter().any(|pattern| pattern.contains(".rows"));
        named || cells.kind == tensix::CellKind::Src || self.suits(cells)
    }

    fn suits(&self, cells: &Cells) -> bool {
        let wide = cells.kind == tensix::CellKind::Dst32;
        match self.format {
            None | Some(CellFormat::Raw) => cells.in_force,
            Some(CellFormat::Fp32 | CellFormat::Tf32 | CellFormat::Int32) => wide,
            Some(_) => !wide,
        }
    }

    /// The rows to show of cells.
    pub(super) fn rows<'a>(&self, cells: &'a Cells) -> impl Iterator<Item = &'a CellRow> {
        cells.rows.iter().filter(move |row| match &self.rows {
            Some(rows) => rows.contains(&row.row),
            None => row.valid && row.cells.iter().any(|&cell| cell != 0),
        })
    }

    /// The cells to show of a row.
    pub(super) fn columns<'a>(&self, row: &'a CellRow) -> &'a [u32] {
        row.cells.get(self.columns.clone()).unwrap_or_default()
    }

    /// First column shown.
    pub(super) const fn first_column(&self) -> usize {
        self.columns.start
    }

    /// The leaves to show: path of their group, and the leaf.
    pub(super) fn leaves<'a>(&self, tree: &'a Register) -> Vec<(String, &'a Register)> {
        let mut found = Vec::new();
        self.collect(tree, "", &mut found);
        found
    }

    fn collect<'a>(
        &self,
        group: &'a Register,
        path: &str,
        found: &mut Vec<(String, &'a Register)>,
    ) {
        let RegisterValue::Group(members) = &group.value else { return };
        for member in members {
            let at = join(path, &member.name);
            if matches!(member.value, RegisterValue::Group(_)) {
                self.collect(member, &at, found);
            } else if self.asks_for(&format!(".{}.", at.to_lowercase()), &member.value)
                && (self.zeros || !self.is_zero(&member.value))
            {
                found.push((path.to_owned(), member));
            }
        }
    }

    fn is_zero(&self, value: &RegisterValue) -> bool {
        match value {
            RegisterValue::Number(number) => *number == 0,
            RegisterValue::Flag(flag) => !flag,
            RegisterValue::Text(text) => matches!(&**text, "none" | "nobody" | "nothing" | "pass"),
            RegisterValue::Words(words) => words.iter().all(|&word| word == 0),
            RegisterValue::Cells(cells) => self.rows(cells).next().is_none(),
            RegisterValue::Group(_) => false,
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Whether any leaf's path satisfies `test`.
fn any(group: &Register, path: &str, test: &dyn Fn(&str) -> bool) -> bool {
    let RegisterValue::Group(members) = &group.value else {
        return test(&format!(".{}.", path.to_lowercase()));
    };
    members.iter().any(|member| any(member, &join(path, &member.name), test))
}

/// Whether `text` is as `pattern` says; `*` in it stands for any run of characters.
fn matches(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    let mut pieces = pattern.split('*').peekable();
    // The pattern begins and ends with a star, so every piece may be found anywhere further on.
    while let Some(piece) = pieces.next() {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
        // A dot ends one part and begins the next.
        if pieces.peek().is_some() && piece.ends_with('.') {
            let used = text.len() - rest.len();
            rest = &text[used - 1..];
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shows(pattern: &str, path: &str) -> bool {
        matches(&format!("*.{pattern}.*"), &format!(".{path}."))
    }

    #[test]
    fn patterns_match_whole_parts_anywhere_in_a_path() {
        assert!(shows("adc.t1", "tensix.adc.t1.packers.channel0.y"));
        assert!(shows("t1", "tensix.adc.t1.packers.channel0.y"));
        assert!(shows("lreg*", "tensix.vector.lreg3"));
        assert!(shows("adc.*.y", "tensix.adc.t1.packers.channel0.y"));
        assert!(shows("core.brisc.pc", "core.brisc.pc"));
        assert!(!shows("adc.*.y", "tensix.adc.t1.packers.channel0.y_cr"));
        assert!(!shows("adc", "tensix.adcs"));
        assert!(!shows("lreg", "tensix.vector.lreg3"));
        assert!(!shows("t1.adc", "tensix.adc.t1"));
    }
}
