//! What of a chip can be chosen, and from which environment variables.

use sim_core::engine::EngineKind;
use sim_core::{EpochLength, Shortcut, Shortcuts};
use tensix::{TimingModel, Warned};
use tile::TileConfig;

use crate::error::HostError;
use crate::grid::{Harvest, Product};

/// What a host clock stands for.
///
/// With 16 cycles every recorded session already finds what it polls for no later than it did on
/// the reference, which executes one instruction per core and clock. More shortens the polling of
/// slow hosts, at the price of simulating what nobody waits for (`docs/benchmarks.md`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockStep {
    /// So many cycles, rounded up to whole epochs.
    Cycles(u32),
    /// One cycle; but a call for less than [`ClockStep::LEAST`] lets as many pass, and up to
    /// [`ClockStep::MOST`] while somebody computes: a tile's coprocessor, or more than one core.
    /// A host that polls asks for one clock at a time; who asks for many means cycles.
    Auto,
}

impl ClockStep {
    /// Cycles that a call lets pass at least with `Auto`.
    pub const LEAST: u32 = 64;
    /// Cycles up to which `Auto` goes on while somebody computes.
    pub const MOST: u32 = 2048;
}

/// The mask of all Tensix columns.
const ALL_COLUMNS: u16 = (1 << 14) - 1;

/// What of a chip can be chosen. Neither threads nor shortcuts change what it does in given cycles.
#[derive(Clone, Copy, Debug)]
pub struct ChipConfig {
    /// Which tiles are there.
    pub product: Product,
    /// Instead of the product's: Tensix columns that are fused off, as [`Harvest::columns`].
    pub columns_off: Option<u16>,
    /// Host threads that advance tiles, the calling one included.
    pub threads: usize,
    /// Cycles that pass with one host clock.
    pub clock: ClockStep,
    /// Cycles per epoch of a tile; at most [`crate::LOOKAHEAD`], and a divisor of it.
    pub epoch: EpochLength,
    /// Which ways to the same result are taken. [`ClockStep::Auto`] looks at which cores are parked: what
    /// happens in given cycles is the same, but not how many a clock lets pass.
    pub shortcuts: Shortcuts,
    /// What coprocessor instructions cost.
    pub timing: TimingModel,
    /// Checks of the coprocessors that are lowered to warnings.
    pub warned: Warned,
}

impl Default for ChipConfig {
    fn default() -> Self {
        Self {
            product: Product::Full,
            columns_off: None,
            threads: sim_core::sync::host_cpus(),
            clock: ClockStep::Auto,
            epoch: EpochLength::default(),
            shortcuts: Shortcuts::ALL,
            timing: TimingModel::Unit,
            warned: Warned::NONE,
        }
    }
}

impl ChipConfig {
    /// What is fused off.
    #[must_use]
    pub fn harvest(&self) -> Harvest {
        let harvest = self.product.harvest();
        Harvest { columns: self.columns_off.unwrap_or(harvest.columns), ..harvest }
    }

    /// The defaults, changed by `TILESCOPE_PRODUCT`, `TILESCOPE_COLUMNS_OFF`, `TILESCOPE_THREADS`,
    /// `TILESCOPE_CYCLES_PER_CLOCK`, `TILESCOPE_EPOCH`, `TILESCOPE_SHORTCUTS`,
    /// `TILESCOPE_PARKING`, `TILESCOPE_AHEAD`, `TILESCOPE_TIMING` and `TILESCOPE_WARN`.
    ///
    /// # Errors
    /// A variable has a value that means nothing.
    pub fn from_env() -> Result<Self, HostError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// As [`Self::from_env`], with another source of variables.
    ///
    /// # Errors
    /// A variable has a value that means nothing.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, HostError> {
        let mut config = Self::default();
        let number = |name: &str, least: u32, most: u32| match get(name) {
            None => Ok(None),
            Some(text) => match text.parse::<u32>() {
                Ok(value) if (least..=most).contains(&value) => Ok(Some(value)),
                _ => Err(bad(name, &text, &format!("a number from {least} to {most}"))),
            },
        };
        if let Some(threads) = number("TILESCOPE_THREADS", 1, 256)? {
            config.threads = threads as usize;
        }
        if get("TILESCOPE_CYCLES_PER_CLOCK").is_some_and(|text| text != "auto")
            && let Some(cycles) = number("TILESCOPE_CYCLES_PER_CLOCK", 1, 1 << 24)?
        {
            config.clock = ClockStep::Cycles(cycles);
        }
        if let Some(text) = get("TILESCOPE_EPOCH") {
            let length = text.parse().ok().filter(|length| [1, 2, 4, 8, 16].contains(length));
            config.epoch = length
                .and_then(EpochLength::new)
                .ok_or_else(|| bad("TILESCOPE_EPOCH", &text, "1, 2, 4, 8 or 16"))?;
        }
        config.shortcuts = shortcuts(&get, config.shortcuts)?;
        if let Some(text) = get("TILESCOPE_TIMING") {
            config.timing = match text.as_str() {
                "unit" => TimingModel::Unit,
                "documented" => TimingModel::Documented,
                _ => return Err(bad("TILESCOPE_TIMING", &text, "unit or documented")),
            };
        }
        if let Some(text) = get("TILESCOPE_WARN") {
            config.warned = Warned::parse(&text).map_err(|unknown| {
                bad("TILESCOPE_WARN", &text, &format!("ids of checks, but there is {unknown}"))
            })?;
        }
        if let Some(text) = get("TILESCOPE_PRODUCT") {
            config.product = Product::from_name(&text)
                .ok_or_else(|| bad("TILESCOPE_PRODUCT", &text, "full, p150 or p100a"))?;
        }
        if let Some(text) = get("TILESCOPE_COLUMNS_OFF") {
            let digits = text.strip_prefix("0x").unwrap_or(&text);
            let mask = u16::from_str_radix(digits, 16).ok().filter(|&mask| mask < ALL_COLUMNS);
            let wanted = "a hexadecimal mask of Tensix columns, not of all 14";
            config.columns_off =
                Some(mask.ok_or_else(|| bad("TILESCOPE_COLUMNS_OFF", &text, wanted))?);
        }
        Ok(config)
    }

    pub(crate) fn tile(&self, position: (u8, u8), coordinates: (u8, u8)) -> TileConfig {
        TileConfig {
            epoch: self.epoch,
            engine: EngineKind::Inline,
            shortcuts: self.shortcuts,
            debugger: true,
            timing: self.timing,
            warned: self.warned,
            coordinates,
            position,
            networked: true,
            ..TileConfig::default()
        }
    }
}

/// What is said of a variable with a value that means nothing.
fn bad(name: &str, value: &str, wanted: &str) -> HostError {
    let (name, value, wanted) = (name.to_owned(), value.to_owned(), wanted.to_owned());
    HostError::Setting { name, value, wanted }
}

/// The shortcuts that are taken, from a list of them and from two older switches of some.
fn shortcuts(
    get: &impl Fn(&str) -> Option<String>,
    mut shortcuts: Shortcuts,
) -> Result<Shortcuts, HostError> {
    if let Some(text) = get("TILESCOPE_SHORTCUTS") {
        shortcuts = Shortcuts::parse(&text).map_err(|unknown| {
            bad("TILESCOPE_SHORTCUTS", &text, &format!("names of shortcuts, but {unknown}"))
        })?;
    }
    for (name, some) in [
        ("TILESCOPE_PARKING", &[Shortcut::Parking][..]),
        ("TILESCOPE_AHEAD", &[Shortcut::Trials, Shortcut::Ventures]),
    ] {
        let on = match get(name).as_deref() {
            None => continue,
            Some("on" | "1") => true,
            Some("off" | "0") => false,
            Some(text) => return Err(bad(name, text, "on or off")),
        };
        shortcuts = some.iter().fold(shortcuts, |set, &one| set.set(one, on));
    }
    Ok(shortcuts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensix::Check;

    fn warned(text: &str) -> Result<Warned, HostError> {
        let get = |name: &str| (name == "TILESCOPE_WARN").then(|| text.to_owned());
        Ok(ChipConfig::from_variables(get)?.warned)
    }

    fn shortcuts(variables: &[(&str, &str)]) -> Result<Shortcuts, HostError> {
        let get = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Ok(ChipConfig::from_variables(get)?.shortcuts)
    }

    #[test]
    fn shortcuts_are_named_in_a_list_or_by_the_older_switches() {
        let together = Shortcuts::ALL.without(Shortcut::Trials).without(Shortcut::Ventures);
        assert_eq!(shortcuts(&[]), Ok(Shortcuts::ALL));
        assert_eq!(shortcuts(&[("TILESCOPE_AHEAD", "off")]), Ok(together));
        assert_eq!(shortcuts(&[("TILESCOPE_SHORTCUTS", "-trials,-ventures")]), Ok(together));
        let without_parking = together.without(Shortcut::Parking);
        let both = [("TILESCOPE_SHORTCUTS", "-trials,-ventures"), ("TILESCOPE_PARKING", "0")];
        assert_eq!(shortcuts(&both), Ok(without_parking));
        let parking = [("TILESCOPE_PARKING", "on"), ("TILESCOPE_SHORTCUTS", "none")];
        assert_eq!(shortcuts(&parking), Ok(Shortcuts::NONE.with(Shortcut::Parking)));
        let unknown = shortcuts(&[("TILESCOPE_SHORTCUTS", "-parkin")]);
        let error = unknown.expect_err("no such shortcut").to_string();
        assert!(error.contains("\"parkin\"") && error.contains("unattended"), "{error}");
    }

    #[test]
    fn checks_are_lowered_by_id_and_an_unknown_one_is_named() {
        let lowered = warned("tensix-pack-relu, tensix-l1-address").expect("both exist");
        assert_eq!(lowered, Warned::NONE.with(Check::PackRelu).with(Check::L1Address));
        let error = warned("tensix-l1-address,tensix-nothing").expect_err("no such check");
        assert!(error.to_string().contains("\"tensix-nothing\""), "{error}");
    }
}
