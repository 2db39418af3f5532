//! A program of one's own: the library's members of every family, one's own beside them, and the whole command line.

use crate::audit::systems::{Audited, Offer, offer, offer_also};
use crate::cli::{self, Exit};
use crate::learners::{LearnerMember, LearnerModel};
use crate::network::availability::{AvailabilityMember, AvailabilityModel};
use crate::network::compute::{ComputeMember, ComputeModel};
use crate::network::latency::{LatencyMember, LatencyModel};
use crate::network::loss::{LossMember, LossModel};
use crate::network::outage::{OutageMember, OutageModel};
use crate::network::topology::{TopologyMember, TopologyModel};
use crate::objectives::{NoiseMember, NoiseModel, ObjectiveMember, ObjectiveModel};
use crate::privacy::mechanisms::inputs::InputMember;
use crate::privacy::mechanisms::outcomes::OutcomeMember;
use crate::privacy::mechanisms::reports::ReportMember;
use crate::privacy::mechanisms::{InputRelease, OutcomeRelease, Report};
use crate::protocols::release::{PublicationMember, PublicationModel};
use crate::protocols::{ProtocolMember, ProtocolModel};
use crate::vocab::family::{Family, MemberError, Members};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::process::ExitCode;

/// Declares [`Catalogue`]: a field and a method for each family.
macro_rules! catalogue {
    ($($(#[doc = $doc:literal])* $family:ident: $model:ident, $member:ident;)+) => {
        /// What scenarios of this program may name: the library's members of every family, and the program's own.
        ///
        /// ```no_run
        /// use schemars::JsonSchema;
        /// use serde::{Deserialize, Serialize};
        /// use subrosa::network::latency::Latency;
        /// use subrosa::vocab::{Positive, Span};
        ///
        /// /// A Weibull delay: longer than t with probability exp(-(t / scale)^shape).
        /// #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        /// #[serde(deny_unknown_fields)]
        /// struct Weibull {
        ///     /// The delay that 63 % of messages stay below.
        ///     scale: Span,
        ///     /// Below 1 for heavy tails; 1 is exponential.
        ///     shape: Positive,
        /// }
        ///
        /// impl Latency for Weibull {
        ///     fn quantile(&self, u: f64) -> Span {
        ///         Span::from_seconds(self.scale.seconds() * (-(-u).ln_1p()).powf(1.0 / self.shape.get()))
        ///     }
        ///     fn mean_seconds(&self) -> f64 {
        ///         self.scale.seconds() * libm::tgamma(1.0 + 1.0 / self.shape.get())
        ///     }
        /// }
        ///
        /// fn main() -> std::process::ExitCode {
        ///     subrosa::Catalogue::standard().latency::<Weibull>("Weibull").main()
        /// }
        /// ```
        ///
        /// A type has one name, and a name one type. What is wrong with the names is told by [`Self::install`] and
        /// [`Self::main`].
        #[derive(Clone, Debug)]
        #[must_use = "a catalogue does nothing until it is installed, or its command line runs"]
        pub struct Catalogue {
            $($family: Members<$model>,)+
            offers: Vec<Offer>,
            errors: Vec<MemberError>,
        }

        impl Catalogue {
            /// The library's members.
            pub fn standard() -> Self {
                Self { $($family: $model::standard(),)+ offers: Vec::new(), errors: Vec::new() }
            }

            $(
                $(#[doc = $doc])*
                pub fn $family<T: $member + DeserializeOwned + JsonSchema>(mut self, name: &'static str) -> Self {
                    self.errors.extend(self.$family.add::<T>(name, "").err());
                    self
                }
            )+

            /// Makes this what scenarios of this process may name, once and for all.
            ///
            /// # Errors
            /// [`MemberError`]: two members of one name, a name that cannot be written, or a process in which another
            /// catalogue is in use already.
            pub fn install(self) -> Result<(), MemberError> {
                if let Some(error) = self.errors.into_iter().next() {
                    return Err(error);
                }
                $(self.$family.install()?;)+
                offer_also(&self.offers);
                Ok(())
            }
        }
    };
}

catalogue! {
    /// Adds a topology: who is linked with whom.
    topology: TopologyModel, TopologyMember;
    /// Adds a latency: how long a message travels.
    latency: LatencyModel, LatencyMember;
    /// Adds a loss: whether a link drops a message.
    loss: LossModel, LossMember;
    /// Adds an availability: whether a party is connected.
    availability: AvailabilityModel, AvailabilityMember;
    /// Adds a compute model: how long a party works on a message.
    compute: ComputeModel, ComputeMember;
    /// Adds an outage of a group of parties.
    outage: OutageModel, OutageMember;
    /// Adds an objective: what is to be optimised.
    objective: ObjectiveModel, ObjectiveMember;
    /// Adds a law of measurement noise.
    noise: NoiseModel, NoiseMember;
    /// Adds a protocol: who talks to whom about what. It is played, replayed, traced, compared, priced and reported; for
    /// `subrosa audit` add it with [`Self::audited_protocol`].
    protocol: ProtocolModel, ProtocolMember;
    /// Adds a mechanism that releases a table of inputs.
    input_mechanism: InputRelease, InputMember;
    /// Adds a mechanism that answers a single outcome.
    outcome_mechanism: OutcomeRelease, OutcomeMember;
    /// Adds a mechanism for what a user sends of its reward.
    report_mechanism: Report, ReportMember;
    /// Adds a publication: what the owner of private validation data publishes.
    publication: PublicationModel, PublicationMember;
    /// Adds a learner: how the next arm is chosen.
    learner: LearnerModel, LearnerMember;
}

impl Catalogue {
    /// Adds a protocol with the attacks that its type offers.
    pub fn audited_protocol<T: ProtocolMember + Audited + DeserializeOwned + JsonSchema>(
        mut self,
        name: &'static str,
    ) -> Self {
        self.offers.push(offer::<T>());
        self.protocol::<T>(name)
    }

    /// Installs the catalogue and runs the command line on the process's arguments: every verb of `subrosa`, with these
    /// names in it.
    #[must_use]
    pub fn main(self) -> ExitCode {
        match self.install() {
            Ok(()) => cli::main(),
            Err(error) => {
                cli::complain_of(&error);
                Exit::InvalidScenario.into()
            }
        }
    }
}
