//! Names that hold at a moment of a session.

use loader::names::LoadedNames;
use observe::{BuiltInNames, Names};
use session::names::CodeNames;

use crate::recording::{Code, Stage};

/// Where names come from.
#[derive(Debug, Default)]
pub struct Naming(Option<LoadedNames>);

impl Naming {
    /// Of a plan: its firmware and kernels.
    #[must_use]
    pub const fn of_plan(names: LoadedNames) -> Self {
        Self(Some(names))
    }

    /// Of a session that was read: what each of its stages says.
    #[must_use]
    pub const fn of_session() -> Self {
        Self(None)
    }

    /// The names in a part of a session.
    #[must_use]
    pub fn at<'n>(&'n self, stage: &Stage) -> Box<dyn Names + 'n> {
        match (&stage.code, &self.0) {
            (Code::Launch(kernels, _), Some(names)) => {
                names.set_kernels(kernels);
                Box::new(names)
            }
            (Code::Names(names), _) => Box::new(CodeNames::new(std::sync::Arc::clone(names))),
            (Code::Launch(..), None) => Box::new(BuiltInNames),
        }
    }
}
