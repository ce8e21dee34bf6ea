//! The best cost so far over evaluations, time or money, with reference lines.

use super::axis::{Axis, spread};
use super::escaped;
use crate::change::short;
use std::fmt::Write as _;

/// One curve: steps, each of which holds until the next.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What it is called in the legend.
    pub name: String,
    /// Where it steps, ascending: place, value and what a reader is told there.
    pub points: Vec<(f64, f64, String)>,
    /// Where it ends.
    pub end: f64,
}

/// A whole figure.
#[derive(Clone, Debug)]
pub struct CurveFigure<'a> {
    /// What the figure shows, for those who do not see it.
    pub title: &'a str,
    /// What the horizontal axis counts.
    pub x_label: &'a str,
    /// What the vertical axis counts.
    pub y_label: &'a str,
    /// The curves; the first is the main one.
    pub curves: &'a [Curve],
    /// Horizontal lines: name, value.
    pub lines: &'a [(String, f64)],
    /// How a place on the horizontal axis is written.
    pub x_text: fn(f64) -> String,
    /// The least difference that `x_text` shows.
    pub x_step: f64,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 128.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 44.0;

/// Draws the figure; nothing if there is no point.
#[must_use]
pub fn curve_figure(figure: &CurveFigure<'_>) -> String {
    let values = || {
        let points = figure.curves.iter().flat_map(|curve| &curve.points);
        let lines = figure.lines.iter().map(|line| line.1);
        points.map(|point| point.1).chain(lines)
    };
    if figure.curves.iter().all(|curve| curve.points.is_empty()) {
        return String::new();
    }
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(0.0, f64::max);
    let end = figure
        .curves
        .iter()
        .map(|curve| curve.end)
        .fold(0.0, f64::max);
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let x = Axis::linear(end, LEFT, right);
    let y = Axis::log(low, high, bottom, TOP);
    let mut out = format!(
        "<svg class=\"figure\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
        escaped(figure.title)
    );
    for tick in y.ticks(7) {
        let at = y.place(tick);
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            short(tick),
        );
    }
    for tick in x.ticks_apart(8, figure.x_step) {
        let at = x.place(tick);
        let _ = write!(
            out,
            "<text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 18.0,
            escaped(&(figure.x_text)(tick)),
        );
    }
    let _ = write!(
        out,
        "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{bottom}\" y2=\"{bottom}\"/>\
         <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text class=\"label\" transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        (LEFT + right) / 2.0,
        HEIGHT - 6.0,
        escaped(figure.x_label),
        (TOP + bottom) / 2.0,
        escaped(figure.y_label),
    );
    draw_lines(&mut out, figure, &y, right);
    for (idx, curve) in figure.curves.iter().enumerate() {
        draw_curve(&mut out, curve, idx, &x, &y);
    }
    if 1 < figure.curves.len() {
        draw_legend(&mut out, figure.curves, right);
    }
    out + "</svg>"
}

/// Draws the reference lines, with their names and those of single curves at the right.
fn draw_lines(out: &mut String, figure: &CurveFigure<'_>, y: &Axis, right: f64) {
    let mut labels: Vec<(f64, String, &str)> = Vec::new();
    for (name, value) in figure.lines {
        let at = y.place(*value);
        let _ = write!(
            out,
            "<line class=\"reference\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>",
        );
        labels.push((at, format!("{name} {}", short(*value)), "reference-name"));
    }
    if let [curve] = figure.curves
        && let Some((_, value, _)) = curve.points.last()
    {
        labels.push((
            y.place(*value),
            format!("best {}", short(*value)),
            "best-name",
        ));
    }
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut places: Vec<f64> = labels.iter().map(|label| label.0).collect();
    spread(&mut places, 15.0, HEIGHT - BOTTOM);
    for (place, (_, name, class)) in places.iter().zip(&labels) {
        let _ = write!(
            out,
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            right + 8.0,
            place + 4.0,
            escaped(name),
        );
    }
}

fn draw_curve(out: &mut String, curve: &Curve, idx: usize, x: &Axis, y: &Axis) {
    let mut path = String::new();
    let mut level = None;
    for (at, value, _) in &curve.points {
        let (px, py) = (x.place(*at), y.place(*value));
        match level {
            None => _ = write!(path, "M{px:.1} {py:.1}"),
            Some(_) => _ = write!(path, "H{px:.1}V{py:.1}"),
        }
        level = Some(py);
    }
    let _ = write!(path, "H{:.1}", x.place(curve.end));
    let class = idx % 8;
    let _ = write!(out, "<path class=\"curve curve-{class}\" d=\"{path}\"/>");
    let radius = if curve.points.len() < 60 { 3.5 } else { 2.0 };
    for (at, value, text) in &curve.points {
        let _ = write!(
            out,
            "<circle class=\"dot dot-{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{}</title></circle>",
            x.place(*at),
            y.place(*value),
            escaped(text),
        );
    }
}

fn draw_legend(out: &mut String, curves: &[Curve], right: f64) {
    for (idx, curve) in curves.iter().take(12).enumerate() {
        let (at, class) = (TOP + 10.0 + 18.0 * idx as f64, idx % 8);
        let name: String = curve.name.chars().take(24).collect();
        let _ = write!(
            out,
            "<rect class=\"legend\" x=\"{:.1}\" y=\"{:.1}\" width=\"196\" height=\"18\"/>\
             <line class=\"curve curve-{class}\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            right - 200.0,
            at - 9.0,
            right - 194.0,
            right - 174.0,
            right - 168.0,
            at + 4.0,
            escaped(&name),
        );
    }
}
