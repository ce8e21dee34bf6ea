//! The functions of the vendor's driver that are called here, found by name at run time.

use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};

/// Where the library is looked for, in this order.
const PLACES: &[&str] = &[
    "libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/usr/local/nvidia/lib/libcuda.so.1",
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
];

/// What every function returns: 0, or why not.
pub(super) type Status = c_uint;
/// A number that stands for an object of the driver.
pub(super) type Handle = *mut c_void;

/// Declares the table of functions: the field's name is that of the function.
macro_rules! functions {
    ($($name:ident ( $($argument:ty),* );)*) => {
        /// The functions of the driver.
        #[allow(non_snake_case, reason = "these are the driver's own names")]
        #[derive(Debug)]
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> Status,)*
            /// Keeps the functions where they are.
            _library: Library,
        }

        impl Functions {
            fn of(library: Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    $(
                        // SAFETY: the type is that of the driver's interface.
                        $name: unsafe {
                            *library.get::<unsafe extern "C" fn($($argument),*) -> Status>(
                                concat!(stringify!($name), "\0").as_bytes(),
                            )?
                        },
                    )*
                    _library: library,
                })
            }
        }
    };
}

functions! {
    cuInit(c_uint);
    cuDriverGetVersion(*mut c_int);
    cuDeviceGet(*mut c_int, c_int);
    cuDeviceGetName(*mut c_char, c_int, c_int);
    cuDeviceGetAttribute(*mut c_int, c_int, c_int);
    cuDeviceGetPCIBusId(*mut c_char, c_int, c_int);
    cuDevicePrimaryCtxRetain(*mut Handle, c_int);
    cuCtxSetCurrent(Handle);
    cuCtxSynchronize();
    cuGetErrorName(Status, *mut *const c_char);
    cuModuleLoadDataEx(*mut Handle, *const c_void, c_uint, *const c_int, *const *mut c_void);
    cuModuleUnload(Handle);
    cuModuleGetFunction(*mut Handle, Handle, *const c_char);
    cuModuleGetGlobal_v2(*mut u64, *mut usize, Handle, *const c_char);
    cuFuncGetAttribute(*mut c_int, c_int, Handle);
    cuFuncSetAttribute(Handle, c_int, c_int);
    cuMemAlloc_v2(*mut u64, usize);
    cuMemcpyHtoD_v2(u64, *const c_void, usize);
    cuMemcpyDtoH_v2(*mut c_void, u64, usize);
    cuMemcpyDtoDAsync_v2(u64, u64, usize, Handle);
    cuMemsetD8Async(u64, u8, usize, Handle);
    cuMemsetD32Async(u64, c_uint, usize, Handle);
    cuLaunchKernel(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void);
    cuEventCreate(*mut Handle, c_uint);
    cuEventRecord(Handle, Handle);
    cuEventSynchronize(Handle);
    cuEventElapsedTime(*mut f32, Handle, Handle);
}

/// Loads the driver's library: the one named, or the first that is found.
///
/// # Errors
/// What the loader says.
pub(super) fn load(named: Option<&Path>) -> Result<Functions, String> {
    let places: Vec<PathBuf> = match named {
        Some(path) => vec![path.to_owned()],
        None => PLACES.iter().map(PathBuf::from).collect(),
    };
    let mut first = None;
    for place in &places {
        // SAFETY: the library is the driver of the computer, or one that its owner named.
        match unsafe { Library::new(place) } {
            Ok(library) => {
                return Functions::of(library)
                    .map_err(|error| format!("{} is no driver of GPUs: {error}", place.display()));
            }
            Err(error) => {
                first.get_or_insert_with(|| error.to_string());
            }
        }
    }
    Err(first.unwrap_or_default())
}

/// The clock of the SMs that the driver's monitor tells, MHz; nothing where there is no monitor.
pub(super) fn monitored_mhz(bus: &[u8]) -> Option<u32> {
    type Plain = unsafe extern "C" fn() -> c_uint;
    type ByBus = unsafe extern "C" fn(*const c_char, *mut Handle) -> c_uint;
    type Clock = unsafe extern "C" fn(Handle, c_uint, *mut c_uint) -> c_uint;
    const SM: c_uint = 1;
    let mut places = PLACES
        .iter()
        .map(|it| it.replace("libcuda", "libnvidia-ml"));
    // SAFETY: the types are those of the monitor's interface, the bus ends with a zero.
    unsafe {
        let library = places.find_map(|place| Library::new(place).ok())?;
        let begin: libloading::Symbol<'_, Plain> = library.get(b"nvmlInit_v2\0").ok()?;
        let by_bus: libloading::Symbol<'_, ByBus> =
            library.get(b"nvmlDeviceGetHandleByPciBusId_v2\0").ok()?;
        let clock: libloading::Symbol<'_, Clock> = library.get(b"nvmlDeviceGetClockInfo\0").ok()?;
        if begin() != 0 {
            return None;
        }
        let mut device: Handle = std::ptr::null_mut();
        let mut mhz = 0;
        let is_told = by_bus(bus.as_ptr().cast(), &raw mut device) == 0
            && clock(device, SM, &raw mut mhz) == 0;
        // The library stays: its threads may still run.
        std::mem::forget(library);
        is_told.then_some(mhz)
    }
}
