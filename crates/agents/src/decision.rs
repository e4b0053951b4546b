//! What the guards answer, in canonical terms; each dialect renders it in its own.

/// What may happen to the call; the greater wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// Nothing to say: the agent's own permissions apply.
    Silent,
    /// Goes ahead without the agent's own prompt.
    Allow,
    /// A person decides.
    Ask,
    /// Refused.
    Deny,
}

/// One decision on one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What may happen.
    pub permission: Permission,
    /// Why, for a deny or an ask; for the model and the person.
    pub reason: String,
    /// Text for the model beside the decision (warnings), where the agent has a place for it.
    pub context: Vec<String>,
    /// Text for the person at the agent beside the decision, where the agent has a place for it.
    pub notices: Vec<String>,
    /// An allow is what somebody said, and not just that nothing was found: it is passed on whatever the options say.
    pub explicit: bool,
}

impl Decision {
    /// Nothing to say.
    pub fn silent() -> Decision {
        Decision {
            permission: Permission::Silent,
            reason: String::new(),
            context: Vec::new(),
            notices: Vec::new(),
            explicit: false,
        }
    }

    /// A person decides, for this reason.
    pub fn ask(reason: impl Into<String>) -> Decision {
        Decision { permission: Permission::Ask, reason: reason.into(), ..Decision::silent() }
    }

    /// Refused, for this reason.
    pub fn deny(reason: impl Into<String>) -> Decision {
        Decision { permission: Permission::Deny, reason: reason.into(), ..Decision::silent() }
    }
}
