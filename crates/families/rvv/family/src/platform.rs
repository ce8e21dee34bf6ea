//! Machines with vectors as kernels run on them.

use crate::machine::Machine;
use crate::profile::VectorProfile;
use crate::texts::TEXTS;
use autocomp_bare_metal::{
    Kernel, Misuse, Other, Platform, RankedCall, Recorded, SourceHashes, Trial,
};
use autocomp_catalog::Target;
use autocomp_core::Feedback;
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_eval::profile::Section;
use autocomp_eval::timeline::Timeline;
use autocomp_native::{FUNCTIONS, HEADER as HEADER_OF_ALL, LIBRARY, library_header};
use autocomp_riscv::{FirstLoads, Hart, Mode};
use autocomp_riscv_machine::{Machine as Simulated, NoAccelerator};
use autocomp_toolchain::CompileTarget;

/// What kernels are compiled for: what compilers call the instructions of all machines.
pub(crate) const INSTRUCTIONS: &str = "rv64gcv_zvfh_zfh_zba_zbb_zbs";

/// Bits of a register that machines may have.
const LENGTHS: [usize; 4] = [128, 256, 512, 1024];

/// Bits of what kernels see of a machine: how long registers are, how much loads that end at the
/// first fault have loaded.
const LENGTH: u8 = 1;
const FIRST_LOADS: u8 = 2;

/// What all kernels see of the target's runtime.
const HEADER: &str = "rvv.h";

/// Headers that kernels may include.
const HEADERS: [&str; 9] = [
    "riscv_vector.h",
    "stdint.h",
    "stddef.h",
    "stdbool.h",
    "string.h",
    "math.h",
    "stdlib.h",
    "float.h",
    "limits.h",
];

/// How many of them, from the first on, kernels see in any case; the first one if they name what
/// is in it.
const SEEN: usize = 5;

/// A machine of a target, with registers of its own length or of another.
#[derive(Debug)]
pub struct RvvPlatform {
    pub(crate) machine: Machine,
    vlen: usize,
    first_loads: FirstLoads,
    name: String,
    description: String,
    has_header: bool,
}

impl RvvPlatform {
    /// Makes the platform of `machine`, which is called `name` in the target.
    pub fn new(target: &Target, name: &str, machine: Machine) -> Self {
        let vlen = machine.vlen();
        let text = target.machine(Some(name)).unwrap_or_default();
        let hash = &env!("AUTOCOMP_FAMILY_HASH")[..8];
        Self {
            machine,
            vlen,
            first_loads: FirstLoads::Whole,
            name: format!("sim {} machine={name} model={hash}", target.name),
            description: text.to_owned(),
            has_header: target.runtime.contains_key(HEADER),
        }
    }

    /// Returns the same machine with registers of `vlen` bits.
    fn with_registers(&self, vlen: usize) -> Self {
        Self {
            machine: self.machine.clone(),
            vlen,
            first_loads: self.first_loads,
            name: self.name.clone(),
            description: self.description.clone(),
            has_header: self.has_header,
        }
    }

    /// Returns machines with longer registers, with the text `claim` of what kernels claim there. The
    /// compiler knows that registers are no shorter than the machine's own.
    fn longer(&self, claim: &str) -> Vec<Other<Self>> {
        let said = |name, bits| TEXTS.others.filled(name, &[("bits", &bits)]);
        let longer = LENGTHS.into_iter().filter(|it| self.vlen < *it);
        let longer = longer.map(|vlen| Other {
            with: said("registers-there", vlen),
            instead_of: said("registers-here", self.vlen),
            claim: TEXTS.others.of(claim),
            leaves_more: false,
            platform: self.with_registers(vlen),
        });
        longer.collect()
    }

    /// Returns a simulated machine with the times of `machine`, or without a sense of time.
    pub(crate) fn simulated(
        &self,
        machine: &Machine,
        mode: Mode,
        memory_bytes: usize,
    ) -> Simulated<NoAccelerator> {
        let hart = machine.hart(mode, self.vlen, self.first_loads);
        Simulated::of_hart(hart, NoAccelerator::default(), memory_bytes)
    }
}

/// Adds to the runtime of a target the functions that kernels may call, and what headers have that
/// kernels may include.
pub(crate) fn with_functions(target: &Target) -> Target {
    let mut target = target.clone();
    let mut header = HEADER_OF_ALL.to_owned();
    let mut files = vec![(
        "functions.c".to_owned(),
        format!("#include \"kernel.h\"\n{FUNCTIONS}"),
    )];
    for name in &HEADERS[SEEN..] {
        let included = match library_header(name) {
            Some(text) => {
                let own = format!("kernel_{name}");
                files.push((own.clone(), text.to_owned()));
                format!("\"{own}\"")
            }
            // The compiler's own.
            None => format!("<{name}>"),
        };
        let name = name.to_ascii_uppercase().replace('.', "_");
        header += &format!("\n#ifdef AUTOCOMP_WITH_{name}\n#include {included}\n#endif\n");
    }
    files.push(("kernel.h".to_owned(), header));
    for (name, text) in files {
        let file = target.runtime.entry(name);
        file.or_insert_with(|| text.into_bytes());
    }
    target
}

impl Platform for RvvPlatform {
    type Unit = NoAccelerator;
    type Counts = ();
    type Recording = ();
    type Profile = VectorProfile;

    fn engine(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn sources(&self) -> SourceHashes {
        SourceHashes {
            all: env!("AUTOCOMP_ENGINE_HASH"),
            family: env!("AUTOCOMP_FAMILY_HASH"),
        }
    }

    fn compile_target(&self) -> CompileTarget {
        // Products and sums are fused, and a root of a negative number is not a number and
        // nothing else: right answers come from elsewhere.
        CompileTarget::rv64(&format!("{INSTRUCTIONS}_zvl{}b", self.machine.vlen()))
            .fused()
            .with_flag("-fno-math-errno")
    }

    fn machine(
        &self,
        mode: Mode,
        memory_bytes: usize,
    ) -> Result<Simulated<NoAccelerator>, EvalError> {
        Ok(self.simulated(&self.machine, mode, memory_bytes))
    }

    fn plain_machine(&self, memory_bytes: usize) -> Simulated<NoAccelerator> {
        self.simulated(&self.machine, Mode::Functional, memory_bytes)
    }

    fn has_shown(&self, hart: &Hart) -> u8 {
        let Some(unit) = hart.vectors() else { return 0 };
        let length = if unit.has_shown_length() { LENGTH } else { 0 };
        let first = if unit.has_loaded_first() {
            FIRST_LOADS
        } else {
            0
        };
        length | first
    }

    fn others(&self, seen: u8) -> Vec<Other<Self>> {
        let longer = (seen & LENGTH != 0).then(|| self.longer("registers-claim"));
        let longer = longer.into_iter().flatten();
        let halves = [
            ("half-loaded-there", FirstLoads::Half),
            ("half-behind-there", FirstLoads::HalfBehindWhole),
        ];
        let halves = halves.into_iter().filter(|_| seen & FIRST_LOADS != 0);
        let cut = halves.map(|(there, first_loads)| Other {
            with: TEXTS.others.of(there).clone(),
            instead_of: TEXTS.others.of("first-loads-here").clone(),
            claim: TEXTS.others.of("first-loads-claim"),
            leaves_more: first_loads == FirstLoads::Half,
            platform: Self {
                first_loads,
                ..self.with_registers(self.vlen)
            },
        });
        longer.chain(cut).collect()
    }

    /// Where elements of a group lie, and what is zero behind them, depends on the length of
    /// registers, even with lengths that fit into all.
    fn others_told(&self, source: &str, seen: u8) -> Vec<Other<Self>> {
        match self.headers_for(source) {
            [_, ..] if seen & LENGTH == 0 => self.longer("registers-fixed"),
            _ => Vec::new(),
        }
    }

    fn leaves_choices_open(&self) -> bool {
        true
    }

    fn refuses_code_in_data(&self) -> bool {
        true
    }

    fn answers_on_host(&self) -> bool {
        true
    }

    fn header(&self) -> Option<&str> {
        self.has_header.then_some(HEADER)
    }

    fn headers(&self) -> &'static [&'static str] {
        &HEADERS
    }

    fn headers_for(&self, source: &str) -> &'static [&'static str] {
        // What may name a type or an intrinsic, also in an older spelling, pasted together
        // or parted by the ends of lines.
        let words = [
            "riscv", "vint", "vuint", "vfloat", "vbool", "vset", "##", "\\\n", "\\\r",
        ];
        let uses = words.iter().any(|it| source.contains(it));
        &HEADERS[..usize::from(uses)]
    }

    fn library(&self) -> Option<&'static str> {
        Some(LIBRARY)
    }

    fn remedy(&self, misuse: Misuse<'_>) -> Option<String> {
        crate::remedies::remedy(misuse)
    }

    fn counts(&self, _: &NoAccelerator) {}

    fn take_recording(&self, _: &mut NoAccelerator) -> Option<()> {
        Some(())
    }

    fn feedback(&self, _: &mut RankedCall<'_, '_, Self>) -> Feedback {
        // Every ranked call has a profile, of which `refine` makes all of it.
        Feedback::default()
    }

    fn profile(
        &self,
        call: &mut RankedCall<'_, '_, Self>,
        _: &Recorded<()>,
    ) -> (VectorProfile, Option<Timeline>) {
        (VectorProfile::of(call), None)
    }

    fn refine(&self, feedback: &mut Feedback, profile: &VectorProfile, kernel: Kernel<'_>) {
        *feedback = profile.feedback(kernel);
    }

    fn experiment(
        &self,
        trial: &Trial<'_, Self>,
        profile: &mut VectorProfile,
        case: &Case,
        ranked: usize,
        values: bool,
    ) -> Result<(), EvalError> {
        crate::experiment::experiment(self, trial, profile, case, (ranked, values))
    }

    fn sections(&self, profile: &VectorProfile) -> Vec<Section> {
        profile.sections()
    }
}
