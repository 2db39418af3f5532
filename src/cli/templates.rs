//! The templates of `subrosa new`: commented scenarios.

/// A template.
#[derive(Clone, Copy, Debug)]
pub(super) struct Template {
    /// The system that it simulates, as the command line names it.
    pub(super) name: &'static str,
    /// The scenario, with comments.
    pub(super) text: &'static str,
}

/// All templates. A new template needs one file and one line here.
pub(super) const TEMPLATES: &[Template] = &[
    Template { name: "outsourced", text: include_str!("templates/outsourced.ron") },
    Template { name: "local", text: include_str!("templates/local.ron") },
    Template { name: "release", text: include_str!("templates/release.ron") },
    Template { name: "federated", text: include_str!("templates/federated.ron") },
];
