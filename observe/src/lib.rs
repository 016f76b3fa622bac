//! Consumers of the event stream.
