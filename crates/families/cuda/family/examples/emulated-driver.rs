//! A driver whose GPU is the simulated one, as a library: `FAKE=libemulated_driver.so` tries
//! `benches/device/cuda.sh` where there is no GPU. Times are those that the
//! simulator itself takes.
#![allow(
    clippy::missing_safety_doc,
    clippy::not_unsafe_ptr_arg_deref,
    missing_docs,
    non_snake_case,
    reason = "an example that has the interface of another"
)]

use autocomp_cuda_sim::decode::{BUFFER_WINDOW, Kernel, RANGE, buffer_address};
use autocomp_cuda_sim::machine::{DeviceMemory, Fault, Launch, Limits, Order, Run};
use autocomp_cuda_sim::{Module, decode, parse};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const ILLEGAL: u32 = 700;
const MISALIGNED: u32 = 716;
const CLOCK: &str = "autocomp_clock";

struct Loaded {
    module: Module,
    kernels: Vec<Kernel>,
}

#[derive(Default)]
struct State {
    buffers: Vec<Vec<u8>>,
    modules: Vec<Loaded>,
    functions: Vec<(usize, String)>,
    events: Vec<f64>,
    gpu_ns: f64,
    sticky: u32,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

fn state() -> MutexGuard<'static, Option<State>> {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    state.get_or_insert_with(State::default);
    state
}

fn with(act: impl FnOnce(&mut State) -> u32) -> u32 {
    let mut state = state();
    let state = state.get_or_insert_with(State::default);
    match state.sticky {
        0 => act(state),
        status => status,
    }
}

/// Returns the bytes of a buffer from `address` on.
fn span(state: &mut State, address: u64, bytes: usize) -> Option<&mut [u8]> {
    let number = (address.checked_sub(BUFFER_WINDOW)? / RANGE) as usize;
    let offset = address.checked_sub(buffer_address(number as u32))? as usize;
    state
        .buffers
        .get_mut(number)?
        .get_mut(offset..offset + bytes)
}

macro_rules! plain {
    ($($name:ident($($argument:ident: $kind:ty),*) => $body:expr;)*) => {
        $(#[unsafe(no_mangle)]
        #[allow(unused_unsafe, reason = "some do nothing that needs it")]
        pub unsafe extern "C" fn $name($($argument: $kind),*) -> u32 {
            $(let _ = $argument;)*
            unsafe { $body }
        })*
    };
}

unsafe fn text(to: *mut c_char, length: c_int, what: &CStr) -> u32 {
    let bytes = what.to_bytes_with_nul();
    let count = bytes.len().min(length as usize);
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), to, count) };
    0
}

plain! {
    cuInit(_flags: c_uint) => 0;
    cuDriverGetVersion(version: *mut c_int) => { *version = 13000; 0 };
    cuDeviceGet(device: *mut c_int, number: c_int) => { *device = number; u32::from(number != 0) };
    cuDeviceGetName(name: *mut c_char, length: c_int, _device: c_int) => text(name, length, c"Emulated GPU");
    cuDeviceGetPCIBusId(bus: *mut c_char, length: c_int, _device: c_int) => text(bus, length, c"0000:00:00.0");
    cuDeviceGetAttribute(value: *mut c_int, which: c_int, _device: c_int) => {
        *value = match which { 16 => 4, 38 => 1 << 18, 75 => 9, _ => 0 };
        0
    };
    cuDevicePrimaryCtxRetain(context: *mut *mut c_void, _device: c_int) => { *context = std::ptr::dangling_mut(); 0 };
    cuCtxSetCurrent(_context: *mut c_void) => 0;
    cuCtxSynchronize() => with(|_| 0);
    cuGetErrorName(_status: u32, name: *mut *const c_char) => { *name = c"EMULATED".as_ptr(); 0 };
    cuModuleLoadDataEx(module: *mut *mut c_void, ptx: *const c_char, _count: c_uint, _options: *const c_int, values: *const *mut c_void) => with(|state| {
        let ptx = CStr::from_ptr(ptx).to_string_lossy();
        // The clock is none of the simulator's affairs.
        let ptx = ptx.replace("%globaltimer", "%clock64");
        let read = parse(&ptx, "kernel.cu").and_then(|module| Ok((decode(&module)?, module)));
        match read {
            Ok((kernels, it)) => {
                state.modules.push(Loaded { module: it, kernels });
                *module = std::ptr::without_provenance_mut(state.modules.len());
                0
            }
            Err(error) => {
                let told = std::ffi::CString::new(error.to_string()).unwrap_or_default();
                text((*values).cast(), 8000, &told);
                218
            }
        }
    });
    cuModuleUnload(_module: *mut c_void) => 0;
    cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) => with(|state| {
        let name = CStr::from_ptr(name).to_string_lossy().into_owned();
        let number = module.addr() - 1;
        if !state.modules[number].kernels.iter().any(|it| it.name == name) {
            return 500;
        }
        state.functions.push((number, name));
        *function = std::ptr::without_provenance_mut(state.functions.len());
        0
    });
    cuModuleGetGlobal_v2(_address: *mut u64, _bytes: *mut usize, _module: *mut c_void, _name: *const c_char) => 500;
    cuFuncGetAttribute(value: *mut c_int, _which: c_int, _function: *mut c_void) => { *value = 1; 0 };
    cuFuncSetAttribute(_function: *mut c_void, _which: c_int, _value: c_int) => 0;
    cuMemAlloc_v2(address: *mut u64, bytes: usize) => with(|state| {
        state.buffers.push(vec![0; bytes]);
        *address = buffer_address(state.buffers.len() as u32 - 1);
        0
    });
    cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) => with(|state| match span(state, to, bytes) {
        Some(place) => { place.copy_from_slice(std::slice::from_raw_parts(from, bytes)); 0 }
        None => 1,
    });
    cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) => with(|state| match span(state, from, bytes) {
        Some(place) => { std::ptr::copy_nonoverlapping(place.as_ptr(), to, bytes); 0 }
        None => 1,
    });
    cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, _stream: *mut c_void) => with(|state| {
        let content = span(state, from, bytes).map(|it| it.to_vec());
        match (content, span(state, to, bytes)) {
            (Some(content), Some(place)) => { place.copy_from_slice(&content); 0 }
            _ => 1,
        }
    });
    cuMemsetD8Async(to: u64, value: u8, bytes: usize, _stream: *mut c_void) => with(|state| match span(state, to, bytes) {
        Some(place) => { place.fill(value); 0 }
        None => 1,
    });
    cuMemsetD32Async(to: u64, value: u32, words: usize, _stream: *mut c_void) => with(|state| match span(state, to, 4 * words) {
        Some(place) => { place.chunks_exact_mut(4).for_each(|it| it.copy_from_slice(&value.to_le_bytes())); 0 }
        None => 1,
    });
    cuEventCreate(event: *mut *mut c_void, _flags: c_uint) => with(|state| {
        state.events.push(0.0);
        *event = std::ptr::without_provenance_mut(state.events.len());
        0
    });
    cuEventRecord(event: *mut c_void, _stream: *mut c_void) => with(|state| { state.events[event.addr() - 1] = state.gpu_ns; 0 });
    cuEventSynchronize(_event: *mut c_void) => with(|_| 0);
    cuEventElapsedTime(milliseconds: *mut f32, first: *mut c_void, second: *mut c_void) => with(|state| {
        *milliseconds = ((state.events[second.addr() - 1] - state.events[first.addr() - 1]) * 1e-6) as f32;
        0
    });
}

/// Runs a kernel on the simulated GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: *mut c_void,
    gx: c_uint,
    gy: c_uint,
    gz: c_uint,
    bx: c_uint,
    by: c_uint,
    bz: c_uint,
    shared: c_uint,
    _stream: *mut c_void,
    _parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> u32 {
    with(|state| {
        // SAFETY: the caller gives a pointer to arguments and one to their length.
        let arguments = unsafe {
            let bytes = *(*extra.add(3)).cast::<usize>();
            std::slice::from_raw_parts((*extra.add(1)).cast::<u8>(), bytes).to_vec()
        };
        let (module, name) = state.functions[function.addr() - 1].clone();
        if name == CLOCK {
            let word = |at: usize| {
                let mut word = [0; 8];
                word.copy_from_slice(&arguments[at..at + 8]);
                u64::from_le_bytes(word)
            };
            let (began, time) = (Instant::now(), Duration::from_nanos(word(8)));
            while began.elapsed() < time {}
            let ns = began.elapsed().as_nanos() as u64;
            state.gpu_ns += ns as f64;
            let told = [(ns * 3 / 2).to_le_bytes(), ns.to_le_bytes()].concat();
            if let Some(place) = span(state, word(0), 16) {
                place.copy_from_slice(&told);
            }
            return 0;
        }
        let Loaded { module, kernels } = &state.modules[module];
        let Some(kernel) = kernels.iter().find(|it| it.name == name) else {
            return 1;
        };
        let mut memory = DeviceMemory::new(module);
        for buffer in &mut state.buffers {
            memory.add_buffer(std::mem::take(buffer), true);
        }
        let launch = Launch {
            kernel: name,
            grid: [gx, gy, gz],
            block: [bx, by, bz],
            dynamic_shared: shared,
            allowed_shared: 232_448,
            arguments,
        };
        let run = Run {
            order: Order::Mixed(0x1234_5678_9abc_def1),
            is_watched: false,
            together: 1,
            most_steps: 200_000_000,
            limits: Limits {
                threads: 1024,
                shared_bytes: 232_448,
                static_shared_bytes: 49_152,
            },
        };
        let began = Instant::now();
        let done = launch.run(kernel, &mut memory, run);
        for (buffer, number) in state.buffers.iter_mut().zip(0..) {
            *buffer = memory.buffer(number).to_vec();
        }
        state.gpu_ns += began.elapsed().as_nanos() as f64;
        let status = match done.map_err(|finding| finding.fault) {
            Ok(_) => 0,
            Err(Fault::Misaligned { .. }) => MISALIGNED,
            Err(fault) if fault.is_out_of_steps() => {
                std::thread::sleep(Duration::from_secs(1000));
                0
            }
            Err(Fault::Trap) => 719,
            Err(Fault::BadLaunch { .. }) => return 1,
            Err(_) => ILLEGAL,
        };
        state.sticky = status;
        0
    })
}
