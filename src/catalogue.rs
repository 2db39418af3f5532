//! The catalogue of a user's own program: the library's members of every family, the members that the program adds, and a
//! command line that knows them all.

use crate::accounting::{Accountant, Accountants};
use crate::audit::systems::{AuditProvider, Audited, add_providers, offer};
#[cfg(feature = "cli")]
use crate::cli::{self, Exit};
use crate::learners::{LearnerMember, LearnerModel};
use crate::network::availability::{AvailabilityMember, AvailabilityModel};
use crate::network::compute::{ComputeMember, ComputeModel};
use crate::network::latency::{LatencyMember, LatencyModel};
use crate::network::loss::{LossMember, LossModel};
use crate::network::outage::{OutageMember, OutageModel};
use crate::network::throughput::{ThroughputMember, ThroughputModel};
use crate::network::topology::{TopologyMember, TopologyModel};
use crate::objectives::{NoiseMember, NoiseModel, ObjectiveMember, ObjectiveModel};
use crate::privacy::mechanisms::inputs::InputMember;
use crate::privacy::mechanisms::outcomes::OutcomeMember;
use crate::privacy::mechanisms::reports::ReportMember;
use crate::privacy::mechanisms::{InputRelease, OutcomeRelease, Report};
use crate::protocols::federated::{
    PolicyMember, RoundPolicy, SelectionMember, SelectionModel, StalenessDiscount, StalenessMember,
    WeightMember, WeightSchedule,
};
use crate::protocols::local::{ArrivalMember, ArrivalModel, PopularityMember, PopularityModel};
use crate::protocols::release::{PublicationMember, PublicationModel};
use crate::protocols::{ProtocolMember, ProtocolModel};
use crate::vocab::family::{Family, MemberError, Members};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
#[cfg(feature = "cli")]
use std::process::ExitCode;

/// Declares [`Catalogue`]: a field and a method for each family.
macro_rules! catalogue {
    ($($(#[doc = $doc:literal])* $family:ident: $model:ident, $member:ident;)+) => {
        /// The members that scenarios of a program may name, family by family: the library's members and the program's own.
        ///
        /// ```no_run
        /// use schemars::JsonSchema;
        /// use serde::{Deserialize, Serialize};
        /// use subrosa::network::latency::Latency;
        /// use subrosa::vocab::{Positive, Span};
        ///
        /// /// A Frechet delay: at most t with probability exp(-(t / scale)^-shape).
        /// #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        /// #[serde(deny_unknown_fields)]
        /// struct Frechet {
        ///     /// The delay that 37 % of messages stay below.
        ///     scale: Span,
        ///     /// The tail's exponent; above 1, so that the mean is finite.
        ///     shape: Positive,
        /// }
        ///
        /// impl Latency for Frechet {
        ///     fn quantile(&self, u: f64) -> Span {
        ///         Span::from_seconds(self.scale.seconds() * libm::pow(-libm::log(u), -1.0 / self.shape.get()))
        ///     }
        ///     fn mean_seconds(&self) -> f64 {
        ///         self.scale.seconds() * libm::tgamma(1.0 - 1.0 / self.shape.get())
        ///     }
        /// }
        ///
        /// fn main() -> std::process::ExitCode {
        ///     subrosa::Catalogue::standard().latency::<Frechet>("Frechet").main()
        /// }
        /// ```
        ///
        /// In each family, every type has one name, and every name stands for one type. [`Self::install`] and [`Self::main`]
        /// report the first addition that breaks this rule.
        #[derive(Clone, Debug)]
        #[must_use = "a catalogue does nothing until it is installed, or its command line runs"]
        pub struct Catalogue {
            $($family: Members<$model>,)+
            accountants: Accountants,
            offers: Vec<AuditProvider>,
            errors: Vec<MemberError>,
        }

        impl Catalogue {
            /// A catalogue of the library's members.
            pub fn standard() -> Self {
                Self {
                    $($family: $model::standard(),)+
                    accountants: Accountants::standard(),
                    offers: Vec::new(), errors: Vec::new(),
                }
            }

            $(
                $(#[doc = $doc])*
                pub fn $family<T: $member + DeserializeOwned + JsonSchema>(mut self, name: &'static str) -> Self {
                    self.errors.extend(self.$family.add::<T>(name, "").err());
                    self
                }
            )+

            /// Installs the catalogue. After this call, scenarios of this process may name the members of this catalogue,
            /// and no others. The process cannot change to another catalogue later.
            ///
            /// # Errors
            /// [`MemberError`]: a name or a type is taken, a name is not a valid identifier, a family is full, or
            /// the process already uses another catalogue.
            pub fn install(self) -> Result<(), MemberError> {
                if let Some(error) = self.errors.into_iter().next() {
                    return Err(error);
                }
                $(self.$family.install()?;)+
                self.accountants.install()?;
                add_providers(&self.offers);
                Ok(())
            }
        }
    };
}

catalogue! {
    /// Adds a topology: who is linked with whom.
    topology: TopologyModel, TopologyMember;
    /// Adds a latency: how long a message takes to cross a link.
    latency: LatencyModel, LatencyMember;
    /// Adds a loss: whether a link drops a message.
    loss: LossModel, LossMember;
    /// Adds an availability: whether a party is connected.
    availability: AvailabilityModel, AvailabilityMember;
    /// Adds a compute model: how long a party takes to process a message.
    compute: ComputeModel, ComputeMember;
    /// Adds a throughput: the rate of a link or an access line over time.
    throughput: ThroughputModel, ThroughputMember;
    /// Adds an outage of a group of parties.
    outage: OutageModel, OutageMember;
    /// Adds an objective: what is to be optimised.
    objective: ObjectiveModel, ObjectiveMember;
    /// Adds a distribution of measurement noise.
    noise: NoiseModel, NoiseMember;
    /// Adds a protocol: which messages the parties exchange. All commands of `subrosa` work with it, except that
    /// `subrosa audit` needs a protocol added with [`Self::audited_protocol`].
    protocol: ProtocolModel, ProtocolMember;
    /// Adds a mechanism that releases a table of inputs.
    input_mechanism: InputRelease, InputMember;
    /// Adds a mechanism that releases a single outcome.
    outcome_mechanism: OutcomeRelease, OutcomeMember;
    /// Adds a mechanism by which a user reports its reward.
    report_mechanism: Report, ReportMember;
    /// Adds a publication: which results the owner of private validation data publishes, and by which mechanism.
    publication: PublicationModel, PublicationMember;
    /// Adds a weight schedule: the weights of a federation's agents in each round.
    weights: WeightSchedule, WeightMember;
    /// Adds a round policy: when a federation's server ends a round.
    policy: RoundPolicy, PolicyMember;
    /// Adds a selection: which agents a federation's server asks for their vectors.
    selection: SelectionModel, SelectionMember;
    /// Adds a discount of vectors that arrive after the end of their round.
    staleness: StalenessDiscount, StalenessMember;
    /// Adds a learner: how the next arm is chosen.
    learner: LearnerModel, LearnerMember;
    /// Adds a popularity distribution: how often each user arrives.
    popularity: PopularityModel, PopularityMember;
    /// Adds an arrival process of users.
    arrivals: ArrivalModel, ArrivalMember;
}

impl Catalogue {
    /// Adds a protocol together with the attacks that its type defines for `subrosa audit`.
    pub fn audited_protocol<T: ProtocolMember + Audited + DeserializeOwned + JsonSchema>(
        mut self,
        name: &'static str,
    ) -> Self {
        self.offers.push(offer::<T>());
        self.protocol::<T>(name)
    }

    /// Adds an accountant: a method that computes an epsilon from the costs of releases. Reports show it after the library's
    /// accountants; a budget may name it, unless it [is an approximation](Accountant::is_approximation).
    pub fn accountant<T: Accountant + Default + 'static>(mut self, name: &'static str) -> Self {
        self.errors.extend(self.accountants.add::<T>(name, "").err());
        self
    }

    /// Installs the catalogue and runs the command line on the process's arguments: every command of `subrosa`, with the
    /// members of this catalogue. Needs the feature `cli`, which is on by default.
    #[cfg(feature = "cli")]
    #[must_use]
    pub fn main(self) -> ExitCode {
        match self.install() {
            Ok(()) => cli::main(),
            Err(error) => {
                cli::print_startup_error(&error);
                Exit::InvalidScenario.into()
            }
        }
    }
}
