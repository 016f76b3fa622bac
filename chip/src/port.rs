//! Host accesses carried out on tiles and endpoints, between rounds.

use devices::niu::Coordinate;
use sim_core::{Cycle, Observer};

use crate::asked::Asked;
use crate::endpoint::{Endpoints, Pcie};
use crate::error::HostError;
use crate::field::Field;
use crate::grid::{Grid, Place};
use crate::pci::{Iatu, NocPort};
use crate::report::{Read, Reports};

/// Everything but the PCI front.
pub(crate) struct Port<'a, O: Observer> {
    pub(crate) grid: &'a Grid,
    pub(crate) field: &'a mut Field<O>,
    pub(crate) endpoints: &'a mut Endpoints,
    pub(crate) asked: &'a mut Asked,
    pub(crate) now: Cycle,
    pub(crate) reports: &'a mut Reports,
}

impl<O: Observer + Send + 'static> Port<'_, O> {
    fn place(&self, noc: u8, at: Coordinate, addr: u64) -> Result<Place, HostError> {
        let nothing = HostError::NoTile { noc, x: at.x, y: at.y, addr };
        // The host's requests enter at the PCIe tile, which translates.
        self.grid.locate(noc, at, true).ok_or(nothing)
    }
}

fn refused(at: Coordinate, why: &dyn std::fmt::Display) -> HostError {
    HostError::Refused { x: at.x, y: at.y, message: why.to_string() }
}

/// An address in a Tensix tile.
fn tile_address(at: Coordinate, addr: u64) -> Result<u32, HostError> {
    u32::try_from(addr).map_err(|_| refused(at, &format!("{addr:#x}: a tile has 32-bit addresses")))
}

impl<O: Observer + Send + 'static> NocPort for Port<'_, O> {
    fn noc_read(
        &mut self,
        noc: u8,
        at: Coordinate,
        addr: u64,
        bytes: &mut [u8],
    ) -> Result<(), HostError> {
        match self.place(noc, at, addr)? {
            Place::Tensix(number) => {
                let addr = tile_address(at, addr)?;
                if self.field.read_l1(number, addr, bytes) {
                    return Ok(());
                }
                let result = self.field.with(number, self.now, |tile| tile.host_read(addr, bytes));
                result.map_err(|error| refused(at, &error))
            }
            Place::Endpoint(other) => {
                self.endpoints.host_was_at(other, addr, bytes.len() as u64);
                let memory = self.endpoints.get_mut(other);
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                if !memory.holds(addr, length) {
                    let read = Read { cycle: self.now, endpoint: other, at, addr, bytes: length };
                    self.reports.unwritten(None, None, &read);
                }
                let result = memory.read(addr, bytes);
                result.map_err(|fault| refused(at, &fault))
            }
        }
    }

    fn noc_write(
        &mut self,
        noc: u8,
        at: Coordinate,
        addr: u64,
        bytes: &[u8],
    ) -> Result<(), HostError> {
        match self.place(noc, at, addr)? {
            Place::Tensix(number) => {
                let addr = tile_address(at, addr)?;
                let asked = Asked::of(number, addr, bytes);
                if asked != Asked::Nothing {
                    *self.asked = asked;
                }
                if self.field.write_untouched(number, addr, bytes) {
                    return Ok(());
                }
                let result = self.field.with(number, self.now, |tile| tile.host_write(addr, bytes));
                result.map_err(|error| refused(at, &error))
            }
            Place::Endpoint(other) => {
                self.endpoints.host_was_at(other, addr, bytes.len() as u64);
                let result = self.endpoints.get_mut(other).write(addr, bytes);
                result.map_err(|fault| refused(at, &fault))
            }
        }
    }

    fn noc_multicast(
        &mut self,
        noc: u8,
        start: Coordinate,
        end: Coordinate,
        addr: u64,
        bytes: &[u8],
    ) -> Result<(), HostError> {
        // On NoC 1 requests flow the other way, so that the corners are exchanged.
        let (first, last) = if noc == 0 { (start, end) } else { (end, start) };
        let mut reached = false;
        for (number, tile) in (0..).zip(self.grid.tensix()) {
            let at = tile.logical;
            if (first.x..=last.x).contains(&at.x) && (first.y..=last.y).contains(&at.y) {
                reached = true;
                let addr = tile_address(at, addr)?;
                if self.field.write_untouched(number, addr, bytes) {
                    continue;
                }
                let result = self.field.with(number, self.now, |tile| tile.host_write(addr, bytes));
                result.map_err(|error| refused(at, &error))?;
            }
        }
        if reached { Ok(()) } else { Err(HostError::NoTile { noc, x: end.x, y: end.y, addr }) }
    }

    fn niu_read(&mut self, noc: u8, offset: u32) -> Option<u32> {
        Pcie::niu(noc, offset)
    }

    fn host_read(&mut self, paddr: u64, bytes: &mut [u8]) -> Result<(), HostError> {
        self.endpoints.pcie.memory(paddr)?.read(paddr, bytes);
        Ok(())
    }

    fn host_write(&mut self, paddr: u64, bytes: &[u8]) -> Result<(), HostError> {
        self.endpoints.pcie.memory(paddr)?.write(paddr, bytes);
        Ok(())
    }

    fn iatu(&mut self) -> &mut Iatu {
        &mut self.endpoints.pcie.iatu
    }
}
