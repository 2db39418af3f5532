//! Privacy in a few lines: for each series and observer the claimed epsilon, the proven epsilon, and the verdict.

use super::learned::{Learned, Unit, emphasised, lines};
use crate::accounting::{LossBasis, StudyPrivacy, multiple};
use crate::report::document::{Block, Cell, Column, Row, Section, Span, Table};
use crate::report::number::{bound, delta};
use crate::report::sections::privacy::{Notes, public_in_brief, published, relations};
use crate::report::words::{RUNS_DIFFER, arithmetic, conditions, unit};
use crate::study::Summary;
use crate::vocab::{Arithmetic, ProtectedUnit, counted};

/// Largest number of characters that are shown of a note, if the note may be cut.
const NOTE: usize = 150;

/// The section; `None` if nothing was released and nothing is taken as public.
pub(super) fn section(summary: &Summary) -> Option<Section> {
    let lines = lines(summary);
    let public = public_in_brief(summary);
    if lines.is_empty() && public.is_none() {
        return None;
    }
    let mut notes = Notes::default();
    let mut blocks = Vec::new();
    if !lines.is_empty() {
        blocks.push(Block::Table(table(summary, &lines, &mut notes)));
        let told = relations(summary).into_iter();
        blocks.extend(told.map(|relation| Block::remark(format!("neighbours, {relation}"))));
        let used = lines.iter().flat_map(|line| &line.units).filter_map(Unit::arithmetic);
        blocks.extend(arithmetic(used).map(Block::remark));
        if lines.iter().flat_map(|line| &line.units).flat_map(|unit| &unit.rows).any(|row| row.runs_differ) {
            blocks.push(Block::remark(RUNS_DIFFER));
        }
        let finite = |row: &StudyPrivacy| row.epsilon_tight.is_finite() && row.basis != LossBasis::Proven;
        let brackets = if summary.whole_study.iter().any(finite) {
            "; in brackets: not proven, see the note"
        } else {
            ""
        };
        let runs = runs_in_words(summary).map_or_else(String::new, |runs| format!("; {runs}"));
        blocks.push(Block::remark(format!("none: no finite epsilon is proven{brackets}{runs}")));
        blocks.extend(notes.further());
    }
    blocks.extend(public);
    blocks.extend(published(summary).map(Block::Table));
    Some(Section { blocks, ..Section::default() })
}

fn table(summary: &Summary, lines: &[Learned<'_>], notes: &mut Notes) -> Table {
    let same = |of: &dyn Fn(&Learned<'_>) -> String| {
        let first = of(&lines[0]);
        lines.iter().all(|line| of(line) == first).then_some(first)
    };
    let (observer, about) = (same(&|line| line.observer.to_owned()), same(&|line| line.about()));
    let owner = same(&|line| line.protected.to_owned());
    let whose = |words: String, of: &str| if owner.is_some() { words } else { format!("{words} of {of}") };
    let claims = lines.iter().flat_map(|line| &line.units).any(|unit| unit.claims().next().is_some());
    let runs = all_runs_header(summary);
    let one_delta = TitleDeltas::of(lines);
    let mut columns = vec![Column::new("series", false)];
    columns.extend(observer.is_none().then(|| Column::new("learned by", false)));
    let several = about.is_none() || owner.is_none();
    columns.extend(several.then(|| Column::new("about", false)));
    let heads = columns.len();
    columns.extend(claims.then(|| Column::new("claimed", true)));
    columns.push(Column::new("proven", true));
    columns.extend(one_delta.is_none().then(|| Column::new("at delta", true)));
    columns.extend(runs.as_ref().map(|header| Column::new(header.clone(), true)));
    columns.push(Column::new("verdict", false));
    let mut rows: Vec<Row> = Vec::new();
    let head = |series: &str, by: &str, of: String| {
        let mut cells = vec![Cell::plain(series)];
        cells.extend(observer.is_none().then(|| Cell::plain(by)));
        cells.extend(several.then(|| Cell::plain(of)));
        cells
    };
    for line in lines {
        let mut cells = head(line.series, line.observer, whose(line.about(), line.protected));
        cells.extend(claims.then(|| Cell::plain(claimed(line))));
        cells.push(Cell::plain(proven(line)));
        cells.extend(one_delta.is_none().then(|| Cell::plain(line_delta(line))));
        let verdict = verdict(line, notes);
        cells.extend(runs.as_ref().map(|_| all_runs(summary, line, notes)));
        cells.push(Cell::of(verdict));
        rows.push(cells.into_iter().collect());
    }
    for row in together(summary) {
        let of = if row.person { "record + outcome" } else { unit(&row.unit) };
        let mut cells = head(&row.series, &row.observer, whose(of.to_owned(), &row.protected));
        cells.extend(claims.then(Cell::default));
        cells.push(Cell::default());
        cells.extend(one_delta.is_none().then(|| Cell::plain(delta(row.delta))));
        // The delta is not repeated if it stands in its own column or in the title.
        let said = one_delta.as_ref().is_none_or(|told| told.state(&delta(row.delta), row.person));
        cells.push(Cell::of(of_study(row, notes, said.then_some(row.delta))));
        cells.push(Cell::of(vec![emphasised(row.basis.words().to_owned(), row.basis)]));
        rows.push(cells.into_iter().collect());
    }
    let by = observer.map_or_else(String::new, |observer| format!(" towards {observer}"));
    let of = match (about.filter(|_| !several), &owner) {
        (Some(about), Some(owner)) => format!(" about {about} of {owner}"),
        (None, Some(owner)) => format!(" about data of {owner}"),
        _ => String::new(),
    };
    Table {
        title: format!("Privacy: epsilon of one run{by}{of}{}", one_delta.unwrap_or_default().in_title()),
        columns,
        heads,
        rows,
        ..Table::default()
    }
}

/// Deltas in words, each once.
fn distinct(all: impl Iterator<Item = f64>) -> Vec<String> {
    let mut all: Vec<f64> = all.collect();
    all.sort_by(f64::total_cmp);
    let mut words: Vec<String> = all.into_iter().map(delta).collect();
    words.dedup();
    words
}

/// The deltas that the table's title states: the delta of the losses about single units, and the delta of the sums of losses
/// about a person.
#[derive(Default)]
struct TitleDeltas {
    units: Option<String>,
    sums: Option<String>,
}

impl TitleDeltas {
    /// `None` if the title cannot state the deltas, which then need a column.
    fn of(lines: &[Learned<'_>]) -> Option<Self> {
        let units =
            distinct(lines.iter().flat_map(|line| &line.units).flat_map(Unit::tight).map(|loss| loss.delta));
        let sums = distinct(lines.iter().flat_map(|line| &line.persons).map(|person| person.delta));
        match (units.as_slice(), sums.as_slice()) {
            ([], []) => Some(Self::default()),
            ([one], [] | [_]) => Some(Self { units: Some(one.clone()), sums: sums.into_iter().next() }),
            _ => None,
        }
    }

    /// Whether the title states the delta `own` of a row. `person` says whether the row is a sum of losses about a person.
    fn state(&self, own: &str, person: bool) -> bool {
        self.sums.as_deref().filter(|_| person).or(self.units.as_deref()) == Some(own)
    }

    fn in_title(&self) -> String {
        let units = self.units.iter().map(|delta| format!(", at delta {delta}"));
        units.chain(self.sums.iter().map(|delta| format!(" ({delta} for several units together)"))).collect()
    }
}

/// The delta of the proven epsilon of a line: the delta of the sum if the line shows a sum, otherwise that of the single
/// units. Several deltas are joined by "or".
fn line_delta(line: &Learned<'_>) -> String {
    let words = match sum(line) {
        Some(_) => distinct(line.persons.iter().map(|person| person.delta)),
        None => distinct(line.units.iter().flat_map(Unit::tight).map(|loss| loss.delta)),
    };
    words.join(" or ")
}

/// The header of the column on all runs together; `None` if runs use different data. The header states the number of runs if
/// this number is the same in all rows.
fn all_runs_header(summary: &Summary) -> Option<String> {
    let first = summary.whole_study.first()?;
    let alike = summary.whole_study.iter().all(|row| row.runs == first.runs);
    Some(if alike { format!("all {} runs", first.runs) } else { "all runs".to_owned() })
}

/// The numbers of runs behind the column on all runs, in words; `None` if the column's header states the number, or if there
/// is no such column.
fn runs_in_words(summary: &Summary) -> Option<String> {
    let first = summary.whole_study.first()?;
    if summary.whole_study.iter().all(|row| row.runs == first.runs) {
        return None;
    }
    let of = |runs: Vec<u64>| {
        let (least, most) = (runs.iter().min()?, runs.iter().max()?);
        Some(if least == most { least.to_string() } else { format!("{least} to {most}") })
    };
    let single = summary.whole_study.iter().filter(|row| !row.all_series);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(of(single.map(|row| row.runs).collect()).map(|runs| format!("{runs} (one series)")));
    let several = together(summary).into_iter().map(|row| row.runs).collect();
    parts.extend(of(several).map(|runs| format!("{runs} (all series)")));
    Some(format!("all runs: {}", parts.join(", ")))
}

/// A range in words; one number if both ends have the same words.
fn span((least, most): (f64, f64), words: impl Fn(f64) -> String) -> String {
    let (low, high) = (words(least), words(most));
    if low == high { low } else { format!("{low} to {high}") }
}

/// A number with three significant digits, but with its whole part in full and at most six decimal places; "none" if it is
/// infinite.
fn about_as(value: f64) -> String {
    let places = if value > 0.0 { (2.0 - libm::floor(libm::log10(value))).clamp(0.0, 6.0) } else { 0.0 };
    if value.is_finite() { format!("{value:.*}", places as usize) } else { "none".to_owned() }
}

fn claimed(line: &Learned<'_>) -> String {
    let of = |one: &Unit<'_>| {
        let all = || one.claims().map(|loss| loss.epsilon);
        all().next()?;
        let range = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        let stated = one.tight().next().map(|loss| loss.delta);
        let deltas = || one.claims().map(|loss| loss.delta);
        let ends = (deltas().fold(f64::INFINITY, f64::min), deltas().fold(0.0, f64::max));
        let other = deltas().any(|delta| Some(delta) != stated);
        let at = if other { format!(" at delta {}", span(ends, delta)) } else { String::new() };
        let which = if line.units.len() > 1 { format!(" ({})", name(one)) } else { String::new() };
        Some(format!("{}{at}{which}", span(range, about_as)))
    };
    line.units.iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

/// A kind of unit without its article.
fn name(one: &Unit<'_>) -> &'static str {
    unit(&one.unit).split_once(' ').map_or("", |(_, name)| name)
}

/// The smallest and the largest sum of losses about a person, if the sums are proven and finite in all cells.
fn sum(line: &Learned<'_>) -> Option<(f64, f64)> {
    let proven = line.persons.iter().all(|person| person.basis == LossBasis::Proven);
    range_of_sums(line).filter(|_| proven)
}

/// The smallest and the largest sum of losses about a person; `None` if the line has no sum, or if some sum is infinite.
fn range_of_sums(line: &Learned<'_>) -> Option<(f64, f64)> {
    let sums = || line.persons.iter().map(|person| person.epsilon);
    let most = sums().reduce(f64::max).filter(|most| most.is_finite() && line.units.len() > 1)?;
    Some((sums().fold(f64::INFINITY, f64::min), most))
}

/// The proven epsilon of a line in words: a range if cells differ, followed by "or none" if some cells have no proven
/// epsilon. For a line about persons, the text has the sum if the sums of all cells are proven and finite. Otherwise it has
/// the epsilons of the two units, joined by " + ", or "none" if neither unit has a proven epsilon.
fn proven(line: &Learned<'_>) -> String {
    let of = |one: &Unit<'_>| match one.proven() {
        (Some(range), true) => span(range, bound),
        (Some(range), false) => format!("{} or none", span(range, bound)),
        (None, _) => "none".to_owned(),
    };
    let parts: Vec<String> = line.units.iter().map(of).collect();
    if parts.len() == 1 || parts.iter().all(|part| part == "none") {
        return parts[0].clone();
    }
    sum(line).map_or_else(|| parts.join(" + "), |sums| span(sums, bound))
}

fn verdict(line: &Learned<'_>, notes: &mut Notes) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let words: Vec<(String, LossBasis, String)> = line.units.iter().map(of_unit).collect();
    let alike = words.windows(2).all(|pair| pair[0].0 == pair[1].0);
    let each = alike && words.len() > 1 && words[0].0.contains(": ");
    for ((words, basis, note), one) in words.into_iter().zip(&line.units) {
        let mut numbers = numbered(basis, &note, notes).into_iter();
        if !alike || spans.is_empty() {
            let words = match () {
                () if each => format!("{words} each"),
                () if alike => words,
                () => format!("{} {words}", name(one)),
            };
            if !spans.is_empty() {
                spans.push(Span::plain(", "));
            }
            spans.push(emphasised(words, basis).with_footnote(numbers.next()));
        }
        // Footnotes without words: those of further conditions, and those of a further unit whose verdict has the same
        // words.
        spans.extend(numbers.map(|number| Span::plain("").with_footnote(Some(number))));
    }
    if let Some(sums) = range_of_sums(line).filter(|_| sum(line).is_none()) {
        spans.push(Span::plain(format!(", together {}", span(sums, bound))));
    }
    spans
}

/// The numbers of the footnotes of a note. Each condition in the note has a footnote of its own, which is never cut. A note
/// without conditions has one footnote, which is cut after at most [`NOTE`] characters unless the basis is conditional.
fn numbered(basis: LossBasis, note: &str, notes: &mut Notes) -> Vec<usize> {
    let conditions = conditions(note);
    if !conditions.is_empty() {
        return conditions.into_iter().filter_map(|condition| notes.number(condition)).collect();
    }
    let number = match basis {
        LossBasis::Conditional => notes.number(note),
        _ => notes.number_cut(note, cut),
    };
    number.into_iter().collect()
}

/// The verdict on one unit, its basis, and a note.
fn of_unit(one: &Unit<'_>) -> (String, LossBasis, String) {
    let (basis, everywhere) = one.basis();
    let mut words = basis.words().to_owned();
    if !everywhere {
        let cells = one.tight().filter(|loss| loss.basis == basis).count() as u64;
        words.push_str(&format!(" in {cells} of {}", counted(one.rows.len() as u64, "cell")));
    }
    if basis != LossBasis::Proven && one.range().1.is_finite() {
        words.push_str(&format!(": {}", span(one.range(), bound)));
    }
    let unbounded = one.unbounded();
    if unbounded > 0 && !matches!(basis, LossBasis::Refuted | LossBasis::Unprotected) {
        let all = counted(one.rows.len() as u64, "cell");
        words.push_str(&format!(", but no finite epsilon in {unbounded} of {all}"));
    }
    if let Some(times) = one.times_claim() {
        words.push_str(&format!(", {} the claim", multiple(times)));
    }
    if one.arithmetic() == Some(Arithmetic::Ideal) {
        words.push_str(", ideal");
    }
    (words, basis, one.note())
}

/// The beginning of a note; the full report has all of it.
fn cut(note: &str) -> String {
    if note.chars().count() <= NOTE {
        return note.to_owned();
    }
    let mut kept = String::new();
    for word in note.split_whitespace() {
        if kept.chars().count() + word.chars().count() > NOTE {
            break;
        }
        kept.push_str(word);
        kept.push(' ');
    }
    format!("{kept}.. (--accountants)")
}

/// The loss over all runs of a line's series in the study, to the line's observer and about the line's units. The delta of
/// this loss is added if it differs from the line's.
fn all_runs(summary: &Summary, line: &Learned<'_>, notes: &mut Notes) -> Cell {
    let mut rows = line.units.iter().flat_map(|one| &one.rows);
    let found = rows.find_map(|row| summary.over_all_runs(row, !line.persons.is_empty()));
    let of_line = found.filter(|row| match row.person {
        true => line.persons.iter().all(|person| delta(person.delta) == delta(row.delta)),
        false => line.units.iter().flat_map(Unit::tight).all(|loss| delta(loss.delta) == delta(row.delta)),
    });
    Cell::of(found.map(|row| of_study(row, notes, of_line.map(|row| row.delta))).unwrap_or_default())
}

/// The epsilon over all runs in words; "none" if it is infinite. If it is not proven, it is in brackets and has footnotes.
/// Its delta follows if `said` is `None`. Otherwise the line or the title already states the delta, and `said` is this
/// delta.
fn of_study(row: &StudyPrivacy, notes: &mut Notes, said: Option<f64>) -> Vec<Span> {
    if row.epsilon_tight.is_infinite() {
        return vec![Span::plain("none")];
    }
    let mut words = bound(row.epsilon_tight);
    if said.is_none() {
        words.push_str(&format!(" at delta {}", delta(row.delta)));
    }
    if row.basis == LossBasis::Proven {
        return vec![Span::plain(words)];
    }
    let mut numbers = numbered(row.basis, &row.note, notes).into_iter();
    let mut spans = vec![Span::plain(format!("({words})")).with_footnote(numbers.next())];
    spans.extend(numbers.map(|number| Span::plain("").with_footnote(Some(number))));
    spans
}

/// The losses over all series together. If a person contributes two units, only the sum of the two losses is returned, not
/// each loss by itself (unless it is finite and the sum is not).
fn together(summary: &Summary) -> Vec<&StudyPrivacy> {
    let all = || summary.whole_study.iter().filter(|row| row.all_series);
    let brought = |row: &StudyPrivacy| {
        let is_part = matches!(row.unit, ProtectedUnit::Record | ProtectedUnit::Outcome);
        // An infinite sum does not hide a finite part.
        let contains = |sum: &StudyPrivacy| sum.epsilon_tight.is_finite() || row.epsilon_tight.is_infinite();
        is_part
            && all().any(|other| {
                other.person
                    && (&other.observer, &other.protected) == (&row.observer, &row.protected)
                    && contains(other)
            })
    };
    all().filter(|row| row.person || !brought(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::TitleDeltas;

    #[test]
    fn a_title_states_its_own_deltas_only() {
        let of = |units: &str, sums: Option<&str>| TitleDeltas {
            units: Some(units.to_owned()),
            sums: sums.map(str::to_owned),
        };
        let both = of("2.1e-5", Some("1e-51"));
        assert_eq!(both.in_title(), ", at delta 2.1e-5 (1e-51 for several units together)");
        assert!(both.state("2.1e-5", false) && both.state("1e-51", true));
        assert!(!both.state("1e-5", false) && !both.state("1e-5", true));
        assert!(!both.state("1e-51", false) && !both.state("2.1e-5", true));
        assert!(of("1e-5", None).state("1e-5", true) && !TitleDeltas::default().state("1e-5", false));
    }
}
