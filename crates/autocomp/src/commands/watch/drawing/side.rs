//! One side of a kernel: plan, difference, code, profile, findings, calls.

use super::Theme;
use crate::commands::watch::screen::{Screen, Side};
use crate::evaluation_text::diagnostic_text;
use crate::output::harmless_text;
use autocomp_eval::text::{dollars, grouped};
use autocomp_reports::Kernel;
use autocomp_reports::change::{LineKind, figure_changes, times};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Paragraph, Wrap};

/// Draws the side of the selected kernel that was asked for.
pub(super) fn draw_side(frame: &mut Frame<'_>, area: Rect, screen: &mut Screen, theme: Theme) {
    let mut title = vec![Span::raw(" ")];
    for (number, (name, side)) in Side::ALL.iter().enumerate() {
        let style = match *side == screen.side {
            true => theme.selected,
            false => theme.quiet,
        };
        title.push(Span::styled(format!(" {} {name} ", number + 1), style));
    }
    let mut text = side_text(screen, theme);
    // Where lines of code go on, and how far in.
    let indent = match screen.side {
        Side::Diff => Some(12),
        Side::Code => Some(4),
        Side::Profile => Some(19),
        _ => None,
    };
    if let Some(indent) = indent {
        let width = usize::from(area.width.saturating_sub(2));
        let lines = text.lines.into_iter();
        text.lines = lines.flat_map(|line| folded(line, width, indent)).collect();
    }
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
    if indent.is_none() {
        paragraph = paragraph.wrap(Wrap { trim: false });
    }
    frame.render_widget(paragraph, area);
}

/// Returns a line in pieces that fit, all but the first of which begin further in.
fn folded(line: Line<'static>, width: usize, indent: usize) -> Vec<Line<'static>> {
    if line.width() <= width || width <= 2 * indent {
        return vec![line];
    }
    let style = line.style;
    let (mut pieces, mut piece, mut used) = (Vec::new(), Vec::new(), 0);
    for span in line.spans {
        let mut rest: Vec<char> = span.content.chars().collect();
        while !rest.is_empty() {
            if used == width {
                pieces.push(Line::from(std::mem::take(&mut piece)).style(style));
                piece.push(Span::raw(" ".repeat(indent)));
                used = indent;
            }
            let behind = rest.split_off(rest.len().min(width - used));
            used += rest.len();
            piece.push(Span::styled(rest.iter().collect::<String>(), span.style));
            rest = behind;
        }
    }
    pieces.push(Line::from(piece).style(style));
    pieces
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
        head += &format!("  {}x from {}", times(gain), parent.name);
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
