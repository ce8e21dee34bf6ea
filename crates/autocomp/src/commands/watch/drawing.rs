//! Draws the screen: a header, the list of kernels, one side of the selected one, the keys.

use super::screen::{Listing, Screen, Side};
use crate::commands::runs::state_text;
use crate::evaluation_text::diagnostic_text;
use crate::output::harmless_text;
use crate::sparkline::sparkline;
use autocomp_core::Outcome;
use autocomp_eval::text::{clock, dollars, grouped};
use autocomp_reports::Kernel;
use autocomp_reports::change::{LineKind, figure_changes};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Clear, List, ListItem, ListState, Paragraph, Wrap};
use std::time::Duration;

/// Longest indentation of the tree.
const DEEPEST: usize = 8;

/// How things stand out: nothing but weight and inversion without colours.
#[derive(Clone, Copy)]
struct Theme {
    good: Style,
    bad: Style,
    quiet: Style,
    selected: Style,
}

impl Theme {
    fn of(coloured: bool) -> Self {
        let plain = Style::default();
        let colour = |colour| if coloured { plain.fg(colour) } else { plain };
        Self {
            good: colour(Color::Green),
            bad: colour(Color::Red),
            quiet: plain.add_modifier(Modifier::DIM),
            selected: plain.add_modifier(Modifier::REVERSED),
        }
    }
}

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, screen: &mut Screen, coloured: bool) {
    let theme = Theme::of(coloured);
    let [head, body, foot] = Layout::vertical([
        Constraint::Length(3),
        Constraint::Min(5),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(Paragraph::new(header(screen, theme)), head);
    let (list, side) = if frame.area().width < 90 {
        let [list, side] =
            Layout::vertical([Constraint::Percentage(35), Constraint::Min(5)]).areas(body);
        (list, side)
    } else {
        let [list, side] =
            Layout::horizontal([Constraint::Length(44), Constraint::Min(30)]).areas(body);
        (list, side)
    };
    draw_list(frame, list, screen, theme);
    draw_side(frame, side, screen, theme);
    let keys = "↑↓ kernel  ←→ side  space/PgUp scroll  t list  b best  p parent  ? help  q quit";
    frame.render_widget(Paragraph::new(keys).style(theme.quiet), foot);
    if screen.has_help {
        draw_help(frame);
    }
}

fn header(screen: &Screen, theme: Theme) -> Text<'static> {
    let run = &screen.run;
    let progress = &run.report.progress;
    let bold = Style::default().add_modifier(Modifier::BOLD);
    let first = Line::from(vec![
        Span::styled(harmless_text(&run.report.problem), bold),
        Span::raw(harmless_text(&format!(
            " on {} · {}",
            run.report.target,
            state_text(&run.report.status)
        ))),
    ]);
    let costs: Vec<u64> = run
        .improvements
        .iter()
        .filter_map(|it| it.cost.map(|cost| cost.value))
        .collect();
    let second = match &progress.best {
        Some(best) => Line::from(vec![
            Span::styled(
                format!("best {} {}", grouped(best.cost.value), best.cost.unit),
                theme.good.add_modifier(Modifier::BOLD),
            ),
            Span::raw(format!(
                "  {:.2}x  {:.1} % of peak  ",
                progress.speedup().unwrap_or(1.0),
                best.percent_of_peak
            )),
            Span::styled(sparkline(&costs, 24), theme.good),
            Span::raw(references(screen)),
        ]),
        None => Line::from("no kernel is right yet"),
    };
    let outcomes: Vec<String> = run
        .outcomes()
        .iter()
        .map(|(outcome, count)| format!("{count} {outcome}"))
        .collect();
    let mut third = format!(
        "iteration {}/{} · {} evaluations in {} · {}",
        progress.iteration,
        progress.iterations,
        progress.evaluations,
        clock(Duration::from_millis(run.report.elapsed_ms)),
        outcomes.join(", "),
    );
    if 0 < progress.usage.requests {
        third += &format!(" · {}", dollars(progress.usage.cost.0));
    }
    Text::from(vec![first, second, Line::styled(third, theme.quiet)])
}

/// Returns the nearest other kernels of the problem.
fn references(screen: &Screen) -> String {
    let best = screen.run.best().and_then(|it| it.cost);
    let fastest = screen.run.references.iter().min_by_key(|it| it.cost);
    match (best, fastest) {
        (Some(best), Some(it)) => harmless_text(&format!(
            "  {} {} ({:.2}x)",
            it.kernel,
            grouped(it.cost.value),
            best.times(it.cost)
        )),
        _ => String::new(),
    }
}

fn draw_list(frame: &mut Frame<'_>, area: Rect, screen: &Screen, theme: Theme) {
    let name = match screen.listing {
        Listing::Tree => "beam tree",
        Listing::All => "all kernels",
        Listing::Chain => "way to the best",
    };
    let inner = area.width.saturating_sub(2) as usize;
    let items: Vec<ListItem<'_>> = screen
        .rows
        .iter()
        .map(|(place, depth)| {
            let kernel = &screen.run.kernels[*place];
            ListItem::new(row(kernel, *depth, inner, theme))
        })
        .collect();
    let title = format!(" {name} ({}) ", items.len());
    let list = List::new(items)
        .block(Block::default().borders(Borders::ALL).title(title))
        .highlight_style(theme.selected);
    let mut state = ListState::default();
    state.select(Some(screen.selected));
    frame.render_stateful_widget(list, area, &mut state);
}

fn row(kernel: &Kernel, depth: usize, width: usize, theme: Theme) -> Line<'static> {
    let indent = match depth {
        0 => String::new(),
        depth => format!("{}└", " ".repeat(depth.min(DEEPEST) - 1)),
    };
    let cost = kernel
        .cost
        .map_or_else(|| kernel.outcome.to_string(), |cost| grouped(cost.value));
    let style = match (kernel.outcome, kernel.in_chain) {
        (Outcome::Ok, true) => theme.good,
        (Outcome::Ok, false) => Style::default(),
        _ => theme.bad,
    };
    let name = format!("{indent}{}", kernel.name);
    let item = kernel
        .menu_item
        .clone()
        .unwrap_or_else(|| "baseline".to_owned());
    let gain = kernel
        .gain
        .map_or_else(String::new, |gain| format!("{gain:.2}x"));
    let text = format!("{name:<13} {cost:>11} {gain:>6} {item}");
    let text: String = harmless_text(&text).chars().take(width).collect();
    Line::styled(text, style)
}

fn draw_side(frame: &mut Frame<'_>, area: Rect, screen: &mut Screen, theme: Theme) {
    let mut title = vec![Span::raw(" ")];
    for (number, (name, side)) in Side::ALL.iter().enumerate() {
        let style = match *side == screen.side {
            true => theme.selected,
            false => theme.quiet,
        };
        title.push(Span::styled(format!(" {} {name} ", number + 1), style));
    }
    let text = side_text(screen, theme);
    let is_code = matches!(screen.side, Side::Diff | Side::Code | Side::Profile);
    let inner_height = area.height.saturating_sub(2);
    screen.page = inner_height;
    let most = (text.lines.len() as u16).saturating_sub(1);
    screen.scroll = screen.scroll.min(most);
    let mut paragraph = Paragraph::new(text)
        .block(
            Block::default()
                .borders(Borders::ALL)
                .title(Line::from(title)),
        )
        .scroll((screen.scroll, 0));
    if !is_code {
        paragraph = paragraph.wrap(Wrap { trim: false });
    }
    frame.render_widget(paragraph, area);
}

fn lines_of(text: &str) -> Vec<Line<'static>> {
    let lines = text
        .lines()
        .map(|line| harmless_text(line).replace('\t', "    "));
    lines.map(Line::from).collect()
}

fn side_text(screen: &Screen, theme: Theme) -> Text<'static> {
    let Some(place) = screen.kernel() else {
        return Text::from("nothing was evaluated yet");
    };
    let run = &screen.run;
    let kernel = &run.kernels[place];
    let lines = match screen.side {
        Side::Plan => plan_lines(screen, kernel, theme),
        Side::Diff => diff_lines(screen, theme),
        Side::Code => match run.texts.source(kernel) {
            Ok(source) => lines_of(&source),
            Err(error) => lines_of(&error),
        },
        Side::Profile => profile_lines(screen, kernel, theme),
        Side::Findings => {
            let texts: Vec<String> = kernel
                .evaluation
                .diagnostics
                .iter()
                .map(diagnostic_text)
                .collect();
            match texts.is_empty() {
                true => lines_of("the evaluator found nothing to complain about"),
                false => lines_of(&texts.join("\n")),
            }
        }
        Side::Calls => call_lines(screen, kernel, theme),
    };
    Text::from(lines)
}

fn plan_lines(screen: &Screen, kernel: &Kernel, theme: Theme) -> Vec<Line<'static>> {
    let run = &screen.run;
    let mut head = kernel.name.clone();
    match kernel.cost {
        Some(cost) => head += &format!("  {} {}", grouped(cost.value), cost.unit),
        None => head += &format!("  {}", kernel.outcome),
    }
    if let (Some(gain), Some(parent)) = (kernel.gain, run.parent(kernel)) {
        head += &format!("  {gain:.2}x from {}", parent.name);
    }
    if let Some(peak) = kernel.percent_of_peak {
        head += &format!("  {peak:.1} % of peak");
    }
    let bold = Style::default().add_modifier(Modifier::BOLD);
    let about = format!(
        "{} · {} · evaluation {} · {}",
        kernel.menu_item.as_deref().unwrap_or("baseline"),
        kernel.made_by(),
        kernel.evaluation_number,
        kernel.task
    );
    let mut lines = vec![
        Line::styled(harmless_text(&head), bold),
        Line::styled(harmless_text(&about), theme.quiet),
        Line::default(),
    ];
    if let Some(plan) = run.texts.plan(kernel) {
        lines.extend(lines_of(&plan));
        lines.push(Line::default());
    }
    if let Some(parent) = run.parent(kernel) {
        for change in figure_changes(&parent.evaluation, &kernel.evaluation, 8) {
            lines.push(Line::styled(
                harmless_text(&format!("• {}", change.text())),
                theme.good,
            ));
        }
        lines.push(Line::default());
    }
    if let Some(feedback) = &kernel.evaluation.feedback {
        lines.extend(lines_of(&feedback.bottleneck));
    }
    lines
}

fn diff_lines(screen: &Screen, theme: Theme) -> Vec<Line<'static>> {
    let diff = screen.diff();
    if diff.is_empty() {
        return lines_of("it was made from no other kernel");
    }
    let number = |it: Option<usize>| it.map_or_else(String::new, |it| it.to_string());
    let lines = diff.iter().map(|line| {
        let text = format!(
            "{:>4} {:>4} {} {}",
            number(line.old),
            number(line.new),
            line.sign(),
            line.text
        );
        let text = harmless_text(&text).replace('\t', "    ");
        match line.kind {
            LineKind::Same => Line::from(text),
            LineKind::Added => Line::styled(text, theme.good),
            LineKind::Removed => Line::styled(text, theme.bad),
            LineKind::Gap => Line::styled("          …", theme.quiet),
        }
    });
    lines.collect()
}

/// Returns the code with the cost of each line that has one beside it.
fn profile_lines(screen: &Screen, kernel: &Kernel, theme: Theme) -> Vec<Line<'static>> {
    let (Some(feedback), Some(total)) = (&kernel.evaluation.feedback, kernel.cost) else {
        return lines_of("there is no profile of a kernel that is not right");
    };
    let Ok(source) = screen.run.texts.source(kernel) else {
        return lines_of("the text is missing");
    };
    let lines = source.lines().enumerate().map(|(idx, text)| {
        let text = harmless_text(text).replace('\t', "    ");
        let at_line = |it: &&autocomp_core::LineCost| it.location.line as usize == idx + 1;
        let Some(cost) = feedback.lines.iter().find(at_line) else {
            return Line::from(format!("{:>6} {:10}  {text}", "", ""));
        };
        let share = cost.cost.percent_of(total);
        let bar = "█".repeat((share / 10.0).ceil() as usize);
        Line::from(vec![
            Span::styled(format!("{share:>5.1}% {bar:<10}  "), theme.bad),
            Span::raw(text),
            Span::styled(harmless_text(&format!("  ← {}", cost.cause)), theme.quiet),
        ])
    });
    lines.collect()
}

fn call_lines(screen: &Screen, kernel: &Kernel, theme: Theme) -> Vec<Line<'static>> {
    if kernel.exchanges.is_empty() {
        return lines_of("no model was asked for this kernel");
    }
    let mut lines = Vec::new();
    let shown = |hash| screen.run.texts.text(hash).unwrap_or_else(|error| error);
    for exchange in &kernel.exchanges {
        let head = format!(
            "{}: {} tokens, {}, {:.1} s",
            exchange.model,
            grouped(exchange.usage.tokens()),
            dollars(exchange.usage.cost.0),
            exchange.latency_ms as f64 / 1000.0
        );
        let bold = Style::default().add_modifier(Modifier::BOLD);
        lines.push(Line::styled(harmless_text(&head), bold));
        lines.push(Line::styled("reply", theme.quiet));
        lines.extend(lines_of(&shown(exchange.reply)));
        lines.push(Line::styled("prompt", theme.quiet));
        lines.extend(lines_of(&shown(exchange.prompt)));
        lines.push(Line::default());
    }
    lines
}

fn draw_help(frame: &mut Frame<'_>) {
    let text = "\
↑ ↓ j k      another kernel
← → Tab 1-6  another side: plan, diff, code, profile, findings, calls
space PgUp   scroll the side
t            list: beam tree, way to the best, all by cost
b            the best kernel
p            the kernel that this one was made from
g G          first, last
q Esc        quit; the run goes on";
    let area = frame.area();
    let (width, height) = (74.min(area.width), 10.min(area.height));
    let place = Rect {
        x: (area.width - width) / 2,
        y: (area.height - height) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, place);
    let block = Block::default().borders(Borders::ALL).title(" keys ");
    frame.render_widget(Paragraph::new(text).block(block), place);
}

#[cfg(test)]
mod tests {
    use super::super::screen::Screen;
    use super::draw;
    use autocomp_reports::RunData;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
    use std::path::Path;

    /// Every side of a recorded run is drawn, in wide and narrow terminals.
    #[test]
    fn a_recorded_run_on_the_screen() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/recorded-run");
        let run = RunData::open(Path::new(folder)).unwrap();
        let mut screen = Screen::new(run);
        let drawn = |screen: &mut Screen, width, height| {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|frame| draw(frame, screen, false)).unwrap();
            terminal.backend().to_string()
        };
        insta::assert_snapshot!(drawn(&mut screen, 110, 26));
        let mut press = |code| {
            screen.press(KeyEvent::new(code, KeyModifiers::NONE));
            drawn(&mut screen, 80, 24)
        };
        assert!(press(KeyCode::Char('2')).contains(" + "));
        assert!(press(KeyCode::Char('3')).contains("void solution"));
        assert!(press(KeyCode::Char('4')).contains('█'));
        assert!(press(KeyCode::Char('5')).contains("nothing to complain"));
        assert!(press(KeyCode::Char('6')).contains("no model was asked"));
        assert!(press(KeyCode::Char('p')).contains("c1"));
        assert!(press(KeyCode::Char('t')).contains("way to the best (3)"));
        assert!(press(KeyCode::Char('?')).contains("the run goes on"));
        // As small as it may get.
        drawn(&mut screen, 10, 4);
    }
}
