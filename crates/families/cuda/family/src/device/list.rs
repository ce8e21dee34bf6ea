//! The list of a host part, asked of a device.

use super::calls::Refusal;
use super::memory::Places;
use super::session::{Loaded, Session};
use crate::requests::{Request, Target};

/// The driver's number for what a module does not have.
const NOT_FOUND: u32 = 500;

impl Session<'_> {
    /// Asks the device for everything on the list.
    pub(super) fn requests(&self, loaded: &Loaded<'_>, places: &Places) -> Result<(), Refusal> {
        let address = |simulated: u64| places.address(simulated).unwrap_or(simulated);
        let place = |target: &Target| -> Result<u64, Refusal> {
            match target {
                Target::Address(simulated) => Ok(address(*simulated)),
                Target::Variable(name, offset) => {
                    let found = self.device.variable(loaded.module, name);
                    let unknown = || Refusal {
                        function: "cuModuleGetGlobal_v2".to_owned(),
                        status: NOT_FOUND,
                        name: "CUDA_ERROR_NOT_FOUND".to_owned(),
                        log: format!("there is no variable `{name}`"),
                    };
                    Ok(found.ok_or_else(unknown)?.0 + offset)
                }
            }
        };
        for request in &loaded.program.recording.requests {
            match request {
                Request::Launch(launch) => self.device.launch(
                    loaded.functions[&launch.kernel],
                    (launch.grid, launch.block),
                    launch.dynamic_shared,
                    &places.arguments(&launch.arguments),
                )?,
                Request::Set { to, value, bytes } => {
                    self.device.set(address(*to), *value, *bytes)?;
                }
                Request::Copy { to, from, bytes } => {
                    self.device.copy(place(to)?, place(from)?, *bytes)?;
                }
                Request::Put { to, content } => self.device.put(place(to)?, content)?,
                // Memory stays until the program has ended.
                Request::Free { .. } => {}
            }
        }
        Ok(())
    }
}
