//! Draws the screen: a header, the list of kernels, one side of the selected one, the keys.

mod side;

use super::screen::{Listing, Screen};
use crate::commands::runs::state_text;
use crate::output::harmless_text;
use crate::sparkline::sparkline;
use crate::table::cut;
use autocomp_eval::text::{clock, dollars, grouped};
use autocomp_reports::Kernel;
use autocomp_reports::change::times;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Clear, List, ListItem, ListState, Paragraph};
use side::draw_side;
use std::time::Duration;

/// Columns of the list beside the kernel at least and at most.
const LIST_WIDTH: (u16, u16) = (44, 60);
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
        let width = (frame.area().width * 2 / 5).clamp(LIST_WIDTH.0, LIST_WIDTH.1);
        let [list, side] =
            Layout::horizontal([Constraint::Length(width), Constraint::Min(30)]).areas(body);
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
                "  {}x  {:.1} % of peak  ",
                times(progress.speedup().unwrap_or(1.0)),
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
            "  {} {} ({}x)",
            it.kernel,
            grouped(it.cost.value),
            times(best.times(it.cost))
        )),
        _ => String::new(),
    }
}

fn draw_list(frame: &mut Frame<'_>, area: Rect, screen: &mut Screen, theme: Theme) {
    let name = match screen.listing {
        Listing::Tree => "beam tree",
        Listing::All => "all kernels",
        Listing::Chain => "way to the best",
    };
    let inner = area.width.saturating_sub(2) as usize;
    // Only what is seen is made, since there may be very many kernels.
    let n_seen = usize::from(area.height.saturating_sub(2)).max(1);
    let last_first = screen.rows.len().saturating_sub(n_seen);
    screen.first = screen
        .first
        .clamp(
            (screen.selected + 1).saturating_sub(n_seen),
            screen.selected,
        )
        .min(last_first);
    let items: Vec<ListItem<'_>> = screen.rows[screen.first..]
        .iter()
        .take(n_seen)
        .map(|(place, depth)| {
            let kernel = &screen.run.kernels[*place];
            ListItem::new(row(kernel, *depth, inner, theme))
        })
        .collect();
    let title = format!(" {name} ({}) ", screen.rows.len());
    let list = List::new(items)
        .block(Block::default().borders(Borders::ALL).title(title))
        .highlight_style(theme.selected);
    let mut state = ListState::default();
    state.select(Some(screen.selected - screen.first));
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
    let style = match (kernel.outcome.is_right(), kernel.in_chain) {
        (true, true) => theme.good,
        (true, false) => Style::default(),
        (false, _) => theme.bad,
    };
    let name = format!("{indent}{}", kernel.name);
    let item = kernel
        .menu_item
        .clone()
        .unwrap_or_else(|| "baseline".to_owned());
    let gain = kernel
        .gain
        .map_or_else(String::new, |gain| format!("{}x", times(gain)));
    let text = format!("{name:<12} {cost:>11} {gain:>6} {item}");
    let text = cut(&harmless_text(&text), width);
    Line::styled(text, style)
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
