//! The Tensix coprocessor.

mod backend;
mod config_bits;
mod coprocessor;
mod decode;
mod doors;
mod env;
mod error;
mod frontend;
mod gate;
mod queue;
mod status;
mod timing;
mod units;

pub use coprocessor::Coprocessor;
pub use env::Env;
pub use error::DoorError;
pub use gate::ThreadWait;
pub use queue::Origin;
pub use timing::TimingModel;
