//! An SVG document as a PDF page made of paths; letters are outlines, so that the file needs no font.

use super::picture_error::PictureError;
use super::raster::tree;
use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref};
use resvg::usvg::tiny_skia_path::PathSegment;
use resvg::usvg::{Color, Fill, FillRule, Group, LineCap, LineJoin, Node, Paint, Path, Stroke, Transform};

/// PDF points in a pixel of an SVG document: an inch is 72 points or 96 pixels.
const POINTS: f32 = 0.75;

/// Draws an SVG document of paths and letters.
///
/// # Errors
/// [`PictureError`] if no font is installed, the document cannot be parsed, or it has an image or a paint other than a plain
/// colour.
pub fn pdf(svg: &str) -> Result<Vec<u8>, PictureError> {
    let tree = tree(svg)?;
    let (width, height) = (tree.size().width() * POINTS, tree.size().height() * POINTS);
    let mut drawing = Drawing { content: Content::new(), alphas: Vec::new() };
    // The vertical axis of a PDF points upwards from the lower edge.
    drawing.content.transform([POINTS, 0.0, 0.0, -POINTS, 0.0, height]);
    drawing.group(tree.root(), 1.0)?;
    let [catalog, pages, page, contents] = [1, 2, 3, 4].map(Ref::new);
    let mut file = Pdf::new();
    file.catalog(catalog).pages(pages);
    file.pages(pages).kids([page]).count(1);
    let states = |index: usize| Ref::new(5 + index as i32);
    let mut sheet = file.page(page);
    sheet.media_box(Rect::new(0.0, 0.0, width, height)).parent(pages).contents(contents);
    let mut resources = sheet.resources();
    let mut listed = resources.ext_g_states();
    for index in 0..drawing.alphas.len() {
        listed.pair(Name(name(index).as_bytes()), states(index));
    }
    listed.finish();
    resources.finish();
    sheet.finish();
    for (index, alpha) in drawing.alphas.iter().enumerate() {
        file.ext_graphics(states(index)).stroking_alpha(*alpha).non_stroking_alpha(*alpha);
    }
    file.stream(contents, &drawing.content.finish());
    Ok(file.finish().to_vec())
}

/// The resource name of the graphics state for the opacity with this index in [`Drawing::alphas`].
fn name(index: usize) -> String {
    format!("a{index}")
}

struct Drawing {
    content: Content,
    /// The distinct opacities that occur, each with a graphics state.
    alphas: Vec<f32>,
}

impl Drawing {
    fn group(&mut self, group: &Group, alpha: f32) -> Result<(), PictureError> {
        let alpha = alpha * group.opacity().get();
        for node in group.children() {
            match node {
                Node::Group(inner) => self.group(inner, alpha)?,
                Node::Path(path) if path.is_visible() => self.path(path, alpha)?,
                Node::Path(_) => {}
                Node::Text(text) => self.group(text.flattened(), alpha)?,
                Node::Image(_) => {
                    return Err(PictureError::Document("images are not drawn in a PDF".to_owned()));
                }
            }
        }
        Ok(())
    }

    fn path(&mut self, path: &Path, alpha: f32) -> Result<(), PictureError> {
        let Transform { sx, ky, kx, sy, tx, ty } = path.abs_transform();
        self.content.save_state().transform([sx, ky, kx, sy, tx, ty]);
        if let Some(fill) = path.fill() {
            self.fill(path, fill, alpha)?;
        }
        if let Some(stroke) = path.stroke() {
            self.stroke(path, stroke, alpha)?;
        }
        self.content.restore_state();
        Ok(())
    }

    fn fill(&mut self, path: &Path, fill: &Fill, alpha: f32) -> Result<(), PictureError> {
        let [r, g, b] = colour(fill.paint())?;
        self.transparency(alpha * fill.opacity().get());
        self.content.set_fill_rgb(r, g, b);
        self.outline(path);
        match fill.rule() {
            FillRule::NonZero => self.content.fill_nonzero(),
            FillRule::EvenOdd => self.content.fill_even_odd(),
        };
        Ok(())
    }

    fn stroke(&mut self, path: &Path, stroke: &Stroke, alpha: f32) -> Result<(), PictureError> {
        let [r, g, b] = colour(stroke.paint())?;
        self.transparency(alpha * stroke.opacity().get());
        self.content.set_stroke_rgb(r, g, b).set_line_width(stroke.width().get());
        self.content.set_line_cap(match stroke.linecap() {
            LineCap::Butt => LineCapStyle::ButtCap,
            LineCap::Round => LineCapStyle::RoundCap,
            LineCap::Square => LineCapStyle::ProjectingSquareCap,
        });
        self.content.set_line_join(match stroke.linejoin() {
            LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
            LineJoin::Round => LineJoinStyle::RoundJoin,
            LineJoin::Bevel => LineJoinStyle::BevelJoin,
        });
        let dashes = stroke.dasharray().unwrap_or_default().iter().copied();
        self.content.set_dash_pattern(dashes, stroke.dashoffset());
        self.outline(path);
        self.content.stroke();
        Ok(())
    }

    /// Sets the opacity of what is drawn next.
    fn transparency(&mut self, alpha: f32) {
        let known = self.alphas.iter().position(|known| known.to_bits() == alpha.to_bits());
        let index = known.unwrap_or_else(|| {
            self.alphas.push(alpha);
            self.alphas.len() - 1
        });
        self.content.set_parameters(Name(name(index).as_bytes()));
    }

    fn outline(&mut self, path: &Path) {
        let mut last = (0.0, 0.0);
        for segment in path.data().segments() {
            match segment {
                PathSegment::MoveTo(to) => {
                    self.content.move_to(to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::LineTo(to) => {
                    self.content.line_to(to.x, to.y);
                    last = (to.x, to.y);
                }
                // PDF has no quadratic curves, so the curve is written as the equal cubic curve.
                PathSegment::QuadTo(over, to) => {
                    let near = |a: f32, b: f32| a + (b - a) * (2.0 / 3.0);
                    self.content.cubic_to(
                        near(last.0, over.x),
                        near(last.1, over.y),
                        near(to.x, over.x),
                        near(to.y, over.y),
                        to.x,
                        to.y,
                    );
                    last = (to.x, to.y);
                }
                PathSegment::CubicTo(a, b, to) => {
                    self.content.cubic_to(a.x, a.y, b.x, b.y, to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::Close => {
                    self.content.close_path();
                }
            }
        }
    }
}

/// Red, green and blue of a plain colour, each between 0 and 1.
fn colour(paint: &Paint) -> Result<[f32; 3], PictureError> {
    match paint {
        Paint::Color(Color { red, green, blue }) => {
            Ok([red, green, blue].map(|part| f32::from(*part) / 255.0))
        }
        _ => Err(PictureError::Document("only plain colours are drawn in a PDF".to_owned())),
    }
}
