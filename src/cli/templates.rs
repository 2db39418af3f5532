//! The templates of `subrosa new`: commented scenarios.

/// A template.
#[derive(Clone, Copy, Debug)]
pub(super) struct Template {
    /// The name of the simulated system on the command line.
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
