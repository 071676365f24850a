//! Environment of a run: the facts of machine and build that are needed to repeat it, or to see why
//! the same experiment comes out differently elsewhere.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::Instant;

use engine::{SystemSqlite, differing_options};
use rustix::system::uname;
use serde::{Deserialize, Serialize};

/// The name of that row of [`Environment::rows`].
pub const KERNEL_COMMAND_LINE: &str = "Kernel command line";

/// How often a small write is forced to the disk to learn what that costs.
const SYNCS: usize = 20;
/// Size of each of these writes: a database page.
const SYNC_BYTES: usize = 4096;

/// The machine and the build. What this system does not tell is `None`.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Environment {
    /// Model name of the first processor.
    pub cpu_model: Option<String>,
    /// Processors that this process may use.
    pub cpus: usize,
    pub memory_bytes: Option<u64>,
    pub swap_bytes: Option<u64>,
    pub operating_system: Option<String>,
    pub kernel: String,
    /// Options that the kernel was started with (/proc/cmdline).
    pub kernel_command_line: Option<String>,
    /// The kernel's way with idle processors: governor and driver.
    pub idle_governor: Option<String>,
    /// How the processors' frequency is chosen: governor and driver.
    pub frequency_governor: Option<String>,
    /// The source that clocks are read from.
    pub clock_source: Option<String>,
    /// Whether this is a virtual machine or a container, as far as it shows.
    pub virtualisation: Option<String>,
    pub data_directory: PathBuf,
    /// Type, device and mount options of its file system.
    pub file_system: Option<String>,
    /// How far the kernel reads ahead on the data's disk: it decides the cost of cold reads. `None`
    /// also in runs that were recorded before this field existed.
    pub read_ahead_kib: Option<u64>,
    /// Median time to force 4 KiB to the disk there; `None` where nothing can be written.
    pub fdatasync_ms: Option<f64>,
    pub crossover_version: String,
    /// `release`, or `debug`: a build not to be measured with.
    pub build_profile: String,
    /// The compiler that built it.
    pub rust_version: String,
    /// The SQLite that is built in.
    pub sqlite_version: String,
    pub sqlite_compile_options: Vec<String>,
    /// Other SQLite libraries of this machine, as applications load them. Empty also in runs that were
    /// recorded before this field existed.
    #[serde(default)]
    pub system_sqlite: Vec<SystemSqlite>,
}

/// The SQLite that is built into the program, and those of the machine.
#[derive(Clone, Debug, Default)]
pub struct SqliteLibraries {
    pub version: String,
    pub compile_options: Vec<String>,
    pub system: Vec<SystemSqlite>,
}

impl Environment {
    /// Looks around. `data_directory` is where the databases under test lie; 80 KiB are written
    /// there, synced and removed again. The rest is known where SQLite is.
    #[must_use]
    pub fn observe(data_directory: &Path, sqlite: SqliteLibraries) -> Self {
        let data_directory =
            data_directory.canonicalize().unwrap_or_else(|_| data_directory.to_owned());
        let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let system = uname();
        Self {
            cpu_model: value(&processors, "model name"),
            cpus: available_parallelism().map_or(1, usize::from),
            memory_bytes: kibibytes(&memory, "MemTotal"),
            swap_bytes: kibibytes(&memory, "SwapTotal"),
            operating_system: operating_system(),
            kernel: format!(
                "{} {} {}",
                system.sysname().to_string_lossy(),
                system.release().to_string_lossy(),
                system.machine().to_string_lossy()
            ),
            kernel_command_line: line("/proc/cmdline"),
            idle_governor: governor(
                "/sys/devices/system/cpu/cpuidle/current_governor_ro",
                "/sys/devices/system/cpu/cpuidle/current_driver",
            ),
            frequency_governor: governor(
                "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
            ),
            clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            virtualisation: virtualisation(&processors),
            file_system: file_system_of(&data_directory),
            read_ahead_kib: read_ahead_kib(&data_directory),
            fdatasync_ms: fdatasync_ms(&data_directory).ok(),
            data_directory,
            crossover_version: env!("CARGO_PKG_VERSION").to_owned(),
            build_profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            rust_version: env!("CROSSOVER_RUSTC").to_owned(),
            sqlite_version: sqlite.version,
            sqlite_compile_options: sqlite.compile_options,
            system_sqlite: sqlite.system,
        }
    }

    /// The same as names and values for a table; what is unknown says so.
    #[must_use]
    pub fn rows(&self) -> Vec<(String, String)> {
        let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
        let bytes = |bytes: Option<u64>| match bytes {
            Some(bytes) => format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64),
            None => "unknown".into(),
        };
        let mut rows = vec![
            ("CPU", or_unknown(&self.cpu_model)),
            ("CPUs usable", self.cpus.to_string()),
            ("Memory", bytes(self.memory_bytes)),
            ("Swap", bytes(self.swap_bytes)),
            ("Operating system", or_unknown(&self.operating_system)),
            ("Kernel", self.kernel.clone()),
            (KERNEL_COMMAND_LINE, or_unknown(&self.kernel_command_line)),
            ("Idle governor", or_unknown(&self.idle_governor)),
            ("Frequency governor", or_unknown(&self.frequency_governor)),
            ("Clock source", or_unknown(&self.clock_source)),
            ("Virtualisation", or_unknown(&self.virtualisation)),
            ("Data directory", self.data_directory.display().to_string()),
            ("File system", or_unknown(&self.file_system)),
            ("Read-ahead", or_unknown(&self.read_ahead_kib.map(|kib| format!("{kib} KiB")))),
            (
                "fdatasync of 4 KiB, median",
                or_unknown(&self.fdatasync_ms.map(|time| format!("{time:.3} ms"))),
            ),
            ("Crossover", format!("{} ({} build)", self.crossover_version, self.build_profile)),
            ("Built with", self.rust_version.clone()),
            ("SQLite", self.sqlite_version.clone()),
            ("SQLite compile options", self.sqlite_compile_options.join(" ")),
        ];
        for library in &self.system_sqlite {
            let found = format!("{} ({})", library.version, library.origin);
            rows.push(("SQLite of this machine", found));
            rows.push(("Its compile options that differ", self.differing_options(library)));
        }
        rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl Environment {
    fn differing_options(&self, library: &SystemSqlite) -> String {
        let (ours, theirs) =
            differing_options(&self.sqlite_compile_options, &library.compile_options);
        let listed = |options: Vec<&str>, lead: &str| match options.is_empty() {
            true => None,
            false => Some(format!("{lead} {}", options.join(" "))),
        };
        let parts = [listed(theirs, "only there:"), listed(ours, "only in the one built in:")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "none".to_owned() } else { parts.join("; ") }
    }
}

fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Of the device below the directory; file systems without one do not tell.
fn read_ahead_kib(directory: &Path) -> Option<u64> {
    let device = directory.metadata().ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let of_disk = format!("/sys/dev/block/{major}:{minor}/queue/read_ahead_kb");
    // A partition's is its disk's.
    let of_partition = format!("/sys/dev/block/{major}:{minor}/../queue/read_ahead_kb");
    line(&of_disk).or_else(|| line(&of_partition))?.parse().ok()
}

/// The value of the first line `name : value`.
fn value(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == name).then(|| value.trim().to_owned())
    })
}

fn kibibytes(meminfo: &str, name: &str) -> Option<u64> {
    let number: u64 = value(meminfo, name)?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(number * 1024)
}

fn operating_system() -> Option<String> {
    let text = fs::read_to_string("/etc/os-release").ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

fn governor(governor: &str, driver: &str) -> Option<String> {
    let governor = line(governor)?;
    Some(match line(driver) {
        Some(driver) => format!("{governor} (driver {driver})"),
        None => governor,
    })
}

fn virtualisation(processors: &str) -> Option<String> {
    let flags = value(processors, "flags")?;
    let vendor = line("/sys/class/dmi/id/sys_vendor");
    let product = line("/sys/class/dmi/id/product_name");
    let named: Vec<String> = vendor.into_iter().chain(product).collect();
    let virtual_machine = flags.split_whitespace().any(|flag| flag == "hypervisor");
    let machine = if virtual_machine { "virtual machine" } else { "no hypervisor seen" };
    let mut text = match named.as_slice() {
        [] => machine.to_owned(),
        names => format!("{machine} ({})", names.join(" ")),
    };
    if Path::new("/.dockerenv").exists() || Path::new("/run/.containerenv").exists() {
        text.push_str(", in a container");
    }
    Some(text)
}

/// Type, device and mount options of the file system that holds `path`, as the kernel tells them.
#[must_use]
pub fn file_system_of(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    file_system(&fs::read_to_string("/proc/self/mountinfo").ok()?, &path)
}

/// Type, device and options of the mount that holds `path`, from proc_pid_mountinfo(5).
fn file_system(mounts: &str, path: &Path) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    for mount in mounts.lines() {
        let (left, right) = mount.split_once(" - ")?;
        let left: Vec<&str> = left.split(' ').collect();
        let right: Vec<&str> = right.split(' ').collect();
        let (Some(point), Some(options), [kind, device, own @ ..]) =
            (left.get(4), left.get(5), right.as_slice())
        else {
            continue;
        };
        let mut options: Vec<&str> = options.split(',').collect();
        // The file system's own (`data=journal`) are another field, with some of the same.
        for option in own.iter().flat_map(|own| own.split(',')) {
            if !options.contains(&option) {
                options.push(option);
            }
        }
        let point = PathBuf::from(point.replace("\\040", " "));
        let depth = point.components().count();
        // Of two mounts on one place the later one hides the earlier.
        if path.starts_with(&point) && best.as_ref().is_none_or(|(other, _)| depth >= *other) {
            best = Some((depth, format!("{kind} on {device}, {}", options.join(","))));
        }
    }
    best.map(|(_, text)| text)
}

fn fdatasync_ms(directory: &Path) -> io::Result<f64> {
    let path = directory.join(format!(".crossover-fdatasync-{}", std::process::id()));
    let mut file = File::create_new(&path)?;
    // Removed at once: nothing is left behind, however this ends.
    fs::remove_file(&path)?;
    let page = [0xc5; SYNC_BYTES];
    let mut times = Vec::with_capacity(SYNCS);
    for _ in 0..SYNCS {
        file.write_all(&page)?;
        let begin = Instant::now();
        file.sync_data()?;
        times.push(begin.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[SYNCS / 2 - 1] + times[SYNCS / 2]) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:25 / /data rw,noatime shared:5 - xfs /dev/vdb rw,attr2
31 27 0:26 / /data\\040base rw - tmpfs tmpfs rw";

    #[test]
    fn the_deepest_mount_holds_the_path() {
        let found = |path: &str| file_system(MOUNTS, Path::new(path));
        assert_eq!(found("/data/x/y").as_deref(), Some("xfs on /dev/vdb, rw,noatime,attr2"));
        assert_eq!(found("/database").as_deref(), Some("ext4 on /dev/vda, rw,relatime"));
        assert_eq!(found("/data base/x").as_deref(), Some("tmpfs on tmpfs, rw"));
    }

    #[test]
    fn what_is_observed_here_is_complete_and_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let environment = Environment::observe(directory.path(), SqliteLibraries::default());
        assert!(environment.fdatasync_ms.unwrap() > 0.0);
        assert!(environment.cpus > 0);
        assert!(environment.rust_version.starts_with("rustc 1."));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        // serde_json may change the last bit of a fraction.
        let environment = Environment { fdatasync_ms: Some(0.125), ..environment };
        let text = serde_json::to_string(&environment).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), environment);
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_no_failure() {
        let environment = Environment::observe(Path::new("/proc"), SqliteLibraries::default());
        assert_eq!(environment.fdatasync_ms, None);
        let rows = environment.rows();
        assert!(rows.contains(&("fdatasync of 4 KiB, median".into(), "unknown".into())));
    }
}
