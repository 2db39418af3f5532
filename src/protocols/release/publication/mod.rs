//! What is published, how it is made private, and what is proven about it: one kind of publication per file.

mod above_threshold;
mod blind;
mod every_setting;
mod fixed_grid;
mod gp_noise_free;
mod gp_noisy;
mod lipschitz;
mod non_private;
mod plan;
mod random_repetitions;
mod search;
mod task;

pub use above_threshold::AboveThreshold;
pub use blind::Blind;
pub use every_setting::EverySetting;
pub use fixed_grid::FixedGrid;
pub use gp_noise_free::GpNoiseFree;
pub use gp_noisy::GpNoisy;
pub use lipschitz::{Lipschitz, sensitivity};
pub use non_private::NonPrivate;
pub(super) use plan::positive;
pub use plan::{
    BestRelease, Constants, Guarantee, Measure, Part, Plan, Publication, SettingRelease, TAIL, TaskOutline,
    Utility, ValueOf, ValueRelease,
};
use plan::{ONE_RELEASE, accounted_pure, tail_probability};
pub use random_repetitions::{OutcomeNoise, RandomRepetitions};
pub use search::{Sampling, Search, Selection, TrialOrder};
pub use task::{Task, TaskFacts};

crate::family! {
    /// What the owner of private validation data publishes after tuning.
    pub struct PublicationModel(PublicationMember): dyn Publication, "publication" {
        GpNoisy(GpNoisy),
        GpNoiseFree(GpNoiseFree),
        Lipschitz(Lipschitz),
        FixedGrid(FixedGrid),
        EverySetting(EverySetting),
        RandomRepetitions(RandomRepetitions),
        AboveThreshold(AboveThreshold),
        NonPrivate(NonPrivate),
        Blind(Blind),
    }
}
