//! The mechanisms that confine a child, prepared before it exists and
//! entered by it with nothing but system calls.

use crate::policy::{Limits, ProcessRule, SandboxPolicy};
use crate::report::{Enforcement, SandboxError};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

/// The newest Landlock interface whose rules are used here.
const NEWEST_ABI: ABI = ABI::V6;

/// Everything that a child needs to confine itself.
pub(crate) struct Confinement {
    landlock: Option<OwnedFd>,
    seccomp: Vec<BpfProgram>,
    limits: Vec<(Resource, u64)>,
    enforcement: Enforcement,
}

// The type of the first argument of `setrlimit` differs between C libraries.
#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

impl Confinement {
    /// Prepares the mechanisms for `policy`.
    pub(crate) fn prepare(policy: &SandboxPolicy) -> Result<Self, SandboxError> {
        let abi = landlock_abi();
        let landlock = match abi {
            Some(_) => landlock_ruleset(policy)
                .map_err(|error| SandboxError::Confinement(format!("landlock: {error}")))?,
            None => None,
        };
        let seccomp = seccomp_programs(policy.limits.processes)?;
        let enforcement = Enforcement {
            landlock_abi: landlock.as_ref().and(abi),
            seccomp: !seccomp.is_empty(),
            resource_limits: true,
        };
        Ok(Self {
            landlock,
            seccomp,
            limits: resource_limits(&policy.limits),
            enforcement,
        })
    }

    /// Returns what is in force once [`enter`](Self::enter) succeeded.
    pub(crate) fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    /// Confines the calling process for good.
    ///
    /// Runs in the child of a process with threads, before it becomes the program,
    /// so it makes system calls only: no allocation, no locks.
    pub(crate) fn enter(&self) -> io::Result<()> {
        // SAFETY: plain system calls on values that outlive them.
        unsafe {
            check(libc::setsid() as libc::c_long)?;
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong).into())?;
            check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into())?;
            // Descriptors that other threads of the parent left inheritable.
            // Kernels before 5.11 lack the call; the files stay open then.
            libc::syscall(
                libc::SYS_close_range,
                3_u32,
                u32::MAX,
                libc::CLOSE_RANGE_CLOEXEC,
            );
            for (resource, value) in &self.limits {
                let mut old = libc::rlimit {
                    rlim_cur: 0,
                    rlim_max: 0,
                };
                check(libc::getrlimit(*resource, &mut old).into())?;
                let value = (*value).min(old.rlim_max);
                let limit = libc::rlimit {
                    rlim_cur: value,
                    rlim_max: value,
                };
                check(libc::setrlimit(*resource, &limit).into())?;
            }
            if let Some(ruleset) = &self.landlock {
                check(libc::syscall(
                    libc::SYS_landlock_restrict_self,
                    ruleset.as_raw_fd(),
                    0_u32,
                ))?;
            }
            for program in &self.seccomp {
                let program = libc::sock_fprog {
                    len: program.len() as libc::c_ushort,
                    filter: program.as_ptr().cast::<libc::sock_filter>().cast_mut(),
                };
                check(
                    libc::prctl(
                        libc::PR_SET_SECCOMP,
                        libc::SECCOMP_MODE_FILTER as libc::c_ulong,
                        &raw const program,
                    )
                    .into(),
                )?;
            }
        }
        Ok(())
    }
}

/// Returns the error that a system call left, if its `result` says so.
pub(crate) fn check(result: libc::c_long) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn resource_limits(limits: &Limits) -> Vec<(Resource, u64)> {
    vec![
        (libc::RLIMIT_CPU, limits.cpu_seconds),
        (libc::RLIMIT_AS, limits.address_space_bytes),
        (libc::RLIMIT_FSIZE, limits.file_bytes),
        (libc::RLIMIT_NOFILE, limits.open_files),
        (libc::RLIMIT_CORE, 0),
    ]
}

/// Returns the version of Landlock that the kernel offers.
fn landlock_abi() -> Option<u32> {
    const VERSION: u32 = 1;
    // SAFETY: with the version flag the call takes no pointer.
    let abi = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    u32::try_from(abi).ok().filter(|abi| 0 < *abi)
}

fn landlock_ruleset(policy: &SandboxPolicy) -> Result<Option<OwnedFd>, landlock::RulesetError> {
    let execute = AccessFs::from_read(NEWEST_ABI);
    let read = execute & !BitFlags::from(AccessFs::Execute);
    let write = (read | AccessFs::from_write(NEWEST_ABI))
        & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST_ABI))?
        .handle_access(AccessNet::from_all(NEWEST_ABI))?
        .scope(Scope::from_all(NEWEST_ABI))?
        .create()?;
    for (paths, access) in [
        (&policy.readable, read),
        (&policy.executable, execute),
        (&policy.writable, write),
    ] {
        ruleset = allow(ruleset, paths, access)?;
    }
    Ok(ruleset.into())
}

fn allow(
    mut ruleset: RulesetCreated,
    paths: &[PathBuf],
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    for path in paths {
        let Ok(descriptor) = PathFd::new(path) else {
            continue;
        };
        // Rights on folders make no sense on files, and the kernel refuses them.
        let access = if path.is_dir() {
            access
        } else {
            access & AccessFs::from_file(NEWEST_ABI)
        };
        ruleset = ruleset.add_rule(PathBeneath::new(descriptor, access))?;
    }
    Ok(ruleset)
}

/// Returns the filters, or none on processors that the compiler of filters
/// does not know.
fn seccomp_programs(processes: ProcessRule) -> Result<Vec<BpfProgram>, SandboxError> {
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Ok(Vec::new());
    };
    let confinement =
        |error: seccompiler::BackendError| SandboxError::Confinement(format!("seccomp: {error}"));
    let compile = |rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32| {
        SeccompFilter::new(
            rules,
            SeccompAction::Allow,
            SeccompAction::Errno(errno as u32),
            arch,
        )
        .and_then(BpfProgram::try_from)
        .map_err(confinement)
    };
    let mut programs = Vec::new();
    let mut denied = vec![
        // Network and other channels out.
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_io_uring_setup,
        // Leaving the session would escape the kill at the end.
        libc::SYS_setsid,
        libc::SYS_setpgid,
        // Other processes and the kernel.
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_getfd,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_chroot,
        libc::SYS_pivot_root,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_keyctl,
        libc::SYS_kexec_load,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_reboot,
    ];
    let mut rules = BTreeMap::new();
    if processes == ProcessRule::Single {
        #[cfg(target_arch = "x86_64")]
        denied.extend([libc::SYS_fork, libc::SYS_vfork]);
        // `clone` makes threads too; only those share the thread group.
        let no_thread = seccompiler::SeccompCondition::new(
            0,
            seccompiler::SeccompCmpArgLen::Qword,
            seccompiler::SeccompCmpOp::MaskedEq(libc::CLONE_THREAD as u64),
            0,
        )
        .map_err(confinement)?;
        rules.insert(
            libc::SYS_clone,
            vec![SeccompRule::new(vec![no_thread]).map_err(confinement)?],
        );
        // A filter cannot see the flags of `clone3`; C libraries fall back to
        // `clone` where the kernel claims not to know it.
        programs.push(compile(
            BTreeMap::from([(libc::SYS_clone3, Vec::new())]),
            libc::ENOSYS,
        )?);
    }
    rules.extend(denied.into_iter().map(|call| (call, Vec::new())));
    programs.push(compile(rules, libc::EPERM)?);
    Ok(programs)
}
