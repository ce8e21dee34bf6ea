//! A GPU, as far as it is used here: what the driver says of it, and calls that say what went
//! wrong. Only workers make one.

use super::vendor::{self, Functions, Handle, Status};
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, CString, c_int, c_void};
use std::path::Path;
use std::ptr::null_mut;

/// Numbers of attributes of a device.
const MULTIPROCESSORS: c_int = 16;
const L2_BYTES: c_int = 38;
const MAJOR: c_int = 75;
const MINOR: c_int = 76;
/// Numbers of attributes of a function.
const REGISTERS: c_int = 4;
const DYNAMIC_SHARED: c_int = 8;
/// Numbers of options of a compilation.
const ERROR_LOG: c_int = 5;
const ERROR_LOG_BYTES: c_int = 6;

/// What the driver refused or reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The function.
    pub function: String,
    /// The driver's number for it.
    pub status: u32,
    /// The driver's name for it.
    pub name: String,
    /// What its compiler says, if that was asked.
    pub log: String,
}

/// What is known of a GPU and its driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Its name.
    pub name: String,
    /// Its architecture (`sm_90`).
    pub architecture: String,
    /// What the driver offers (`13.0`).
    pub driver: String,
    /// Its place on the bus, ended by a zero.
    pub bus: Vec<u8>,
    /// Multiprocessors.
    pub sms: u32,
    /// Bytes of its L2.
    pub l2_bytes: u64,
}

/// A GPU that this process uses.
#[derive(Debug)]
pub struct Device {
    functions: Functions,
    /// What is known of it.
    pub told: Told,
}

/// Returns what is known of GPU `number`. Called by a worker.
///
/// # Errors
/// Why there is none, in words.
pub fn find(library: Option<&Path>, number: u32) -> Result<Told, String> {
    Device::open(library, number).map(|device| device.told)
}

impl Device {
    /// Takes GPU `number` for this process, the driver of which is `library` or where it is
    /// usually.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub fn open(library: Option<&Path>, number: u32) -> Result<Self, String> {
        let functions = vendor::load(library)?;
        let number = number as c_int;
        let mut device = Self {
            functions,
            told: Told {
                name: String::new(),
                architecture: String::new(),
                driver: String::new(),
                bus: vec![0; 64],
                sms: 0,
                l2_bytes: 0,
            },
        };
        device.begin(number).map_err(|refusal| {
            format!(
                "the driver refuses {} ({}, {})",
                refusal.function, refusal.name, refusal.status
            )
        })?;
        Ok(device)
    }

    fn begin(&mut self, number: c_int) -> Result<(), Refusal> {
        let of = &self.functions;
        let (mut version, mut handle) = (0, 0);
        let mut name = [0_u8; 128];
        let mut context: Handle = null_mut();
        // SAFETY: each call writes to what it is given, whose length it knows.
        unsafe {
            self.check("cuInit", (of.cuInit)(0))?;
            self.check(
                "cuDriverGetVersion",
                (of.cuDriverGetVersion)(&raw mut version),
            )?;
            self.check("cuDeviceGet", (of.cuDeviceGet)(&raw mut handle, number))?;
            let length = name.len() as c_int - 1;
            let status = (of.cuDeviceGetName)(name.as_mut_ptr().cast(), length, handle);
            self.check("cuDeviceGetName", status)?;
        }
        let attribute = |which: c_int| -> Result<u64, Refusal> {
            let mut value = 0;
            // SAFETY: the call writes one number.
            let status = unsafe { (of.cuDeviceGetAttribute)(&raw mut value, which, handle) };
            self.check("cuDeviceGetAttribute", status)?;
            Ok(value.max(0) as u64)
        };
        let (major, minor) = (attribute(MAJOR)?, attribute(MINOR)?);
        let (sms, l2_bytes) = (attribute(MULTIPROCESSORS)?, attribute(L2_BYTES)?);
        let mut bus = vec![0_u8; 64];
        // SAFETY: the bus has so many bytes; the context is the device's own.
        unsafe {
            let status = (of.cuDeviceGetPCIBusId)(bus.as_mut_ptr().cast(), 63, handle);
            self.check("cuDeviceGetPCIBusId", status)?;
            let status = (of.cuDevicePrimaryCtxRetain)(&raw mut context, handle);
            self.check("cuDevicePrimaryCtxRetain", status)?;
            self.check("cuCtxSetCurrent", (of.cuCtxSetCurrent)(context))?;
        }
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        self.told = Told {
            name: name.to_string_lossy().into_owned(),
            architecture: format!("sm_{major}{minor}"),
            driver: format!("{}.{}", version / 1000, version % 1000 / 10),
            bus,
            sms: sms as u32,
            l2_bytes,
        };
        Ok(())
    }

    fn check(&self, function: &str, status: Status) -> Result<(), Refusal> {
        if status == 0 {
            return Ok(());
        }
        let mut name = std::ptr::null();
        // SAFETY: the driver gives a text that it keeps, or nothing.
        let name = unsafe {
            (self.functions.cuGetErrorName)(status, &raw mut name);
            match name.is_null() {
                true => String::new(),
                false => CStr::from_ptr(name).to_string_lossy().into_owned(),
            }
        };
        Err(Refusal {
            function: function.to_owned(),
            status,
            name,
            log: String::new(),
        })
    }

    /// Returns the clock of the SMs that the driver's monitor tells, MHz, if there is one.
    #[must_use]
    pub fn monitored_mhz(&self) -> Option<u32> {
        vendor::monitored_mhz(&self.told.bus)
    }

    /// Has the driver compile `ptx`.
    pub(super) fn load(&self, ptx: &str) -> Result<Handle, Refusal> {
        let text = CString::new(ptx).unwrap_or_default();
        let mut log = vec![0_u8; 8192];
        let options = [ERROR_LOG, ERROR_LOG_BYTES];
        let mut values: [*mut c_void; 2] = [
            log.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(log.len() - 1),
        ];
        let mut module = null_mut();
        // SAFETY: the text ends with a zero; the log has as many bytes as is said.
        let status = unsafe {
            (self.functions.cuModuleLoadDataEx)(
                &raw mut module,
                text.as_ptr().cast(),
                2,
                options.as_ptr(),
                values.as_mut_ptr(),
            )
        };
        self.check("cuModuleLoadDataEx", status)
            .map_err(|refusal| Refusal {
                log: CStr::from_bytes_until_nul(&log)
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                ..refusal
            })?;
        Ok(module)
    }

    pub(super) fn unload(&self, module: Handle) -> Result<(), Refusal> {
        // SAFETY: the caller uses nothing of the module any more.
        self.check("cuModuleUnload", unsafe {
            (self.functions.cuModuleUnload)(module)
        })
    }

    pub(super) fn function(&self, module: Handle, name: &str) -> Result<Handle, Refusal> {
        let name = CString::new(name).unwrap_or_default();
        let mut function = null_mut();
        // SAFETY: the name ends with a zero.
        let status = unsafe {
            (self.functions.cuModuleGetFunction)(&raw mut function, module, name.as_ptr())
        };
        self.check("cuModuleGetFunction", status)?;
        Ok(function)
    }

    /// Returns where a variable of the module lies; nothing if the driver does not name it.
    pub(super) fn variable(&self, module: Handle, name: &str) -> Option<(u64, usize)> {
        let name = CString::new(name).unwrap_or_default();
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the name ends with a zero.
        let status = unsafe {
            (self.functions.cuModuleGetGlobal_v2)(
                &raw mut address,
                &raw mut bytes,
                module,
                name.as_ptr(),
            )
        };
        (status == 0).then_some((address, bytes))
    }

    /// Returns the registers of a thread.
    pub(super) fn registers(&self, function: Handle) -> Option<u32> {
        let mut value = 0;
        // SAFETY: the call writes one number.
        let status =
            unsafe { (self.functions.cuFuncGetAttribute)(&raw mut value, REGISTERS, function) };
        (status == 0).then_some(value.max(0) as u32)
    }

    pub(super) fn allow_shared(&self, function: Handle, bytes: u32) -> Result<(), Refusal> {
        // SAFETY: numbers only.
        self.check("cuFuncSetAttribute", unsafe {
            (self.functions.cuFuncSetAttribute)(function, DYNAMIC_SHARED, bytes as c_int)
        })
    }

    pub(super) fn allocate(&self, bytes: usize) -> Result<u64, Refusal> {
        let mut address = 0;
        // SAFETY: the call writes one number.
        let status = unsafe { (self.functions.cuMemAlloc_v2)(&raw mut address, bytes) };
        self.check("cuMemAlloc", status)?;
        Ok(address)
    }

    pub(super) fn put(&self, to: u64, bytes: &[u8]) -> Result<(), Refusal> {
        // SAFETY: the caller has memory of the device there.
        self.check("cuMemcpyHtoD", unsafe {
            (self.functions.cuMemcpyHtoD_v2)(to, bytes.as_ptr().cast(), bytes.len())
        })
    }

    pub(super) fn get(&self, from: u64, bytes: usize) -> Result<Vec<u8>, Refusal> {
        let mut content = vec![0; bytes];
        // SAFETY: the caller has memory of the device there; the content has as many bytes.
        let status =
            unsafe { (self.functions.cuMemcpyDtoH_v2)(content.as_mut_ptr().cast(), from, bytes) };
        self.check("cuMemcpyDtoH", status)?;
        Ok(content)
    }

    pub(super) fn copy(&self, to: u64, from: u64, bytes: u64) -> Result<(), Refusal> {
        // SAFETY: addresses of the device, which checks them.
        self.check("cuMemcpyDtoDAsync", unsafe {
            (self.functions.cuMemcpyDtoDAsync_v2)(to, from, bytes as usize, null_mut())
        })
    }

    pub(super) fn set(&self, to: u64, value: u8, bytes: u64) -> Result<(), Refusal> {
        // SAFETY: the same.
        self.check("cuMemsetD8Async", unsafe {
            (self.functions.cuMemsetD8Async)(to, value, bytes as usize, null_mut())
        })
    }

    /// Fills `words` words of 32 bits.
    pub(super) fn fill(&self, to: u64, value: u32, words: u64) -> Result<(), Refusal> {
        // SAFETY: the same.
        self.check("cuMemsetD32Async", unsafe {
            (self.functions.cuMemsetD32Async)(to, value, words as usize, null_mut())
        })
    }

    pub(super) fn launch(
        &self,
        function: Handle,
        (grid, block): ([u32; 3], [u32; 3]),
        shared: u32,
        arguments: &[u8],
    ) -> Result<(), Refusal> {
        let mut bytes = arguments.len();
        let mut extra: [*mut c_void; 5] = [
            std::ptr::without_provenance_mut(1),
            arguments.as_ptr().cast_mut().cast(),
            std::ptr::without_provenance_mut(2),
            (&raw mut bytes).cast(),
            null_mut(),
        ];
        // SAFETY: the driver copies the arguments, of which it knows how many there are.
        let status = unsafe {
            (self.functions.cuLaunchKernel)(
                function,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                shared,
                null_mut(),
                null_mut(),
                extra.as_mut_ptr(),
            )
        };
        self.check("cuLaunchKernel", status)
    }

    /// Waits until the device has done all that it was given.
    pub(super) fn wait(&self) -> Result<(), Refusal> {
        // SAFETY: no argument.
        self.check("cuCtxSynchronize", unsafe {
            (self.functions.cuCtxSynchronize)()
        })
    }

    pub(super) fn event(&self) -> Result<Handle, Refusal> {
        let mut event = null_mut();
        // SAFETY: the call writes one handle.
        let status = unsafe { (self.functions.cuEventCreate)(&raw mut event, 0) };
        self.check("cuEventCreate", status)?;
        Ok(event)
    }

    pub(super) fn record(&self, event: Handle) -> Result<(), Refusal> {
        // SAFETY: the event is the caller's.
        self.check("cuEventRecord", unsafe {
            (self.functions.cuEventRecord)(event, null_mut())
        })
    }

    /// Waits for the second event and returns the time since the first, nanoseconds.
    pub(super) fn elapsed_ns(&self, first: Handle, second: Handle) -> Result<f64, Refusal> {
        let mut milliseconds = 0.0;
        // SAFETY: both events are the caller's and were recorded.
        unsafe {
            let status = (self.functions.cuEventSynchronize)(second);
            self.check("cuEventSynchronize", status)?;
            let status = (self.functions.cuEventElapsedTime)(&raw mut milliseconds, first, second);
            self.check("cuEventElapsedTime", status)?;
        }
        Ok(f64::from(milliseconds) * 1e6)
    }
}
