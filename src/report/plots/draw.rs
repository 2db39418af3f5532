//! Draws a chart with plotters: first the frame, then each line separately, so that a page can hide single lines.

use super::axis::Axis;
use super::chart::{Chart, Kind, Line};
use super::palette::{COLOURS, GREY};

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;

/// Width of a chart, in units of the coordinates of its SVG.
pub const WIDTH: u32 = 960;
/// Height of a chart, in the same units.
pub const HEIGHT: u32 = 600;
/// Font size, in the same units.
const LETTERS: u32 = 26;

type Context<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// A drawn chart: pieces of SVG that share one coordinate system.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Axes, grid and labels.
    pub frame: String,
    /// The lines in the chart's order.
    pub lines: Vec<DrawnLine>,
}

/// One drawn line.
#[derive(Clone, Debug)]
pub struct DrawnLine {
    /// Its elements.
    pub svg: String,
    /// Positions of its points, in the coordinates of the SVG.
    pub points: Vec<(i32, i32)>,
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.low) / (self.high - self.low);
        limit.0 + libm::round(share * f64::from(limit.1 - limit.0)) as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|(at, _)| *at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

/// Draws a chart.
#[must_use]
pub fn draw(chart: &Chart) -> Drawn {
    Drawn {
        frame: layer(chart, None).0,
        lines: chart
            .lines
            .iter()
            .map(|line| {
                let (svg, points) = layer(chart, Some(line));
                DrawnLine { svg, points }
            })
            .collect(),
    }
}

/// The SVG elements of the frame, or of one line at its position within the frame, and the positions of the line's points.
fn layer(chart: &Chart, line: Option<&Line>) -> (String, Vec<(i32, i32)>) {
    let mut text = String::new();
    let points = on_area(&mut text, chart, line).expect("drawing into memory does not fail");
    // Plotters wraps every drawing into an <svg> of its own; the page has one for all layers.
    let inside = text.split_once(">\n").map_or("", |(_, rest)| rest).trim_end().trim_end_matches("</svg>");
    (inside.to_owned(), points)
}

type Failed = DrawingAreaErrorKind<<SVGBackend<'static> as DrawingBackend>::ErrorType>;

fn on_area(text: &mut String, chart: &Chart, line: Option<&Line>) -> Result<Vec<(i32, i32)>, Failed> {
    let area = SVGBackend::with_string(text, (WIDTH, HEIGHT)).into_drawing_area();
    let mut builder = ChartBuilder::on(&area);
    builder.margin_top(16).margin_right(44).margin_left(8).margin_bottom(6);
    builder.x_label_area_size(84).y_label_area_size(116);
    let mut context = builder.build_cartesian_2d(chart.x.clone(), chart.y.clone())?;
    let points = match line {
        None => {
            context
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(RGBColor(0xD8, 0xDC, 0xE0).stroke_width(2))
                .axis_style(RGBColor(0x80, 0x86, 0x8B).stroke_width(2))
                .label_style(("sans-serif", LETTERS))
                .axis_desc_style(("sans-serif", LETTERS))
                .x_label_formatter(&|at| label(&chart.x.ticks, *at))
                .y_label_formatter(&|at| label(&chart.y.ticks, *at))
                .x_labels(chart.x.ticks.len())
                .y_labels(chart.y.ticks.len())
                .x_desc(&chart.x_label)
                .y_desc(&chart.y_label)
                .draw()?;
            Vec::new()
        }
        Some(line) => {
            let places: Vec<(f64, f64)> = line
                .points
                .iter()
                .map(|point| (chart.x.clamped(point.x), chart.y.clamped(point.y)))
                .collect();
            match line.kind {
                Kind::Band | Kind::Bound(_) => band(&mut context, chart, line, &places)?,
                Kind::Bars | Kind::Marks => bars(&mut context, chart, line, &places)?,
                Kind::Diamonds => diamonds(&mut context, line, &places)?,
                Kind::Ceiling => ceiling(&mut context, line, &places)?,
            }
            places.iter().map(|place| context.backend_coord(place)).collect()
        }
    };
    area.present()?;
    Ok(points)
}

fn label(ticks: &[(f64, String)], at: f64) -> String {
    let near = |tick: &&(f64, String)| (tick.0 - at).abs() <= 1e-9 * at.abs().max(1e-9);
    ticks.iter().find(near).map_or_else(String::new, |(_, label)| label.clone())
}

fn colour(line: &Line) -> RGBColor {
    match line.kind {
        Kind::Bound(_) => GREY,
        _ => COLOURS[line.key % COLOURS.len()],
    }
}

fn band(
    context: &mut Context<'_, '_>,
    chart: &Chart,
    line: &Line,
    places: &[(f64, f64)],
) -> Result<(), Failed> {
    if line.points.iter().any(|point| point.error > 0.0) {
        // Many overlapping bands would hide the lines, so the bands of a chart with many lines are fainter.
        let opacity = if chart.lines.len() > 4 { 0.1 } else { 0.18 };
        let edge = |sign: f64| {
            line.points
                .iter()
                .zip(places)
                .map(move |(point, (x, _))| (*x, chart.y.clamped(point.y + sign * point.error)))
        };
        let mut outline: Vec<(f64, f64)> = edge(1.0).collect();
        outline.extend(edge(-1.0).collect::<Vec<_>>().into_iter().rev());
        context.draw_series(std::iter::once(Polygon::new(outline, colour(line).mix(opacity).filled())))?;
    }
    context.draw_series(std::iter::once(PathElement::new(places.to_vec(), colour(line).stroke_width(4))))?;
    Ok(())
}

fn bars(
    context: &mut Context<'_, '_>,
    chart: &Chart,
    line: &Line,
    places: &[(f64, f64)],
) -> Result<(), Failed> {
    let style = colour(line).stroke_width(3);
    for (point, (x, _)) in line.points.iter().zip(places).filter(|(point, _)| point.error > 0.0) {
        let ends = [-1.0, 1.0].map(|sign| (*x, chart.y.clamped(point.y + sign * point.error)));
        context.draw_series(std::iter::once(PathElement::new(ends.to_vec(), style)))?;
        // Where a bar is cut off at the edge of the axis, its end has no cap.
        let caps = ends.into_iter().filter(|(_, y)| *y > chart.y.low && *y < chart.y.high);
        context.draw_series(
            caps.map(|end| EmptyElement::at(end) + PathElement::new(vec![(-7, 0), (7, 0)], style)),
        )?;
    }
    if line.kind == Kind::Bars {
        context
            .draw_series(std::iter::once(PathElement::new(places.to_vec(), colour(line).stroke_width(4))))?;
    }
    let filled = colour(line).filled();
    // Marks are opaque, so of several marks at the same pixel only one is drawn.
    let mut taken = BTreeSet::new();
    let shown = places.iter().filter(|at| taken.insert(context.backend_coord(at)));
    let places: Vec<(f64, f64)> = shown.copied().collect();
    match line.key % 3 {
        0 => context.draw_series(places.iter().map(|at| Circle::new(*at, 8, filled)))?,
        1 => context.draw_series(places.iter().map(|at| TriangleMarker::new(*at, 11, filled)))?,
        _ => context.draw_series(
            places.iter().map(|at| EmptyElement::at(*at) + Rectangle::new([(-7, -7), (7, 7)], filled)),
        )?,
    };
    Ok(())
}

fn diamonds(context: &mut Context<'_, '_>, line: &Line, places: &[(f64, f64)]) -> Result<(), Failed> {
    let corners = vec![(0, -13), (13, 0), (0, 13), (-13, 0), (0, -13)];
    context.draw_series(
        places.iter().map(|at| {
            EmptyElement::at(*at) + PathElement::new(corners.clone(), colour(line).stroke_width(4))
        }),
    )?;
    Ok(())
}

fn ceiling(context: &mut Context<'_, '_>, line: &Line, places: &[(f64, f64)]) -> Result<(), Failed> {
    let style = colour(line).stroke_width(3);
    context.draw_series(std::iter::once(DashedPathElement::new(places.to_vec(), 4, 9, style)))?;
    let corners = vec![(-10, -8), (10, -8), (0, 9), (-10, -8)];
    context.draw_series(
        places.iter().map(|at| EmptyElement::at(*at) + PathElement::new(corners.clone(), style)),
    )?;
    Ok(())
}
