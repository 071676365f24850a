//! Residency of files in the page cache, page by page, by mincore(2).

use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::process::geteuid;

use crate::Error;
use crate::content::mix;

/// Files of which the sample looks at the pages.
const SAMPLE_FILES: usize = 256;

/// Some of the files of some paths, open and mapped. It is chosen before caches are dropped: to
/// look for files and to open them afterwards would read folders and inodes back from storage, and
/// with each inode its neighbours'.
pub(super) struct ResidencySample {
    files: Vec<(PathBuf, Mapping)>,
}

impl ResidencySample {
    /// Few files, such as databases, all of them; of many a random choice. Files of others are left
    /// out: the kernel calls every page of theirs resident.
    pub fn of(paths: &[PathBuf]) -> Result<Self, Error> {
        let mut files = Vec::new();
        for path in paths {
            super::each_file(path, &mut |file| {
                files.push(file.to_owned());
                Ok(())
            })?;
        }
        files.retain(|file| residency_is_visible(file));
        if files.len() > SAMPLE_FILES {
            files.sort_by_cached_key(|file| {
                let bytes = file.as_os_str().as_encoded_bytes().iter();
                mix(bytes.fold(0, |hash, byte| mix(hash ^ u64::from(*byte))))
            });
            files.truncate(SAMPLE_FILES);
        }
        let mapped = files.into_iter().map(|file| match Mapping::of(&file) {
            Ok(mapping) => Ok((file, mapping)),
            Err(source) => Err(Error::Io { doing: "look at the pages of", path: file, source }),
        });
        Ok(Self { files: mapped.collect::<Result<_, _>>()? })
    }

    /// The part of its pages that is in the page cache, 0 to 1; none of no pages. Neither a file nor
    /// a folder is looked at.
    pub fn resident_share(&self) -> Result<Option<f64>, Error> {
        let (mut resident, mut pages) = (0, 0);
        for (file, mapping) in &self.files {
            let found = mapping.resident_pages();
            resident += found.map_err(Error::io("look at the pages of", file))?;
            pages += mapping.pages();
        }
        Ok((pages > 0).then(|| resident as f64 / pages as f64))
    }
}

/// The kernel reports residency only of files that the user owns or may write (mincore(2), since
/// Linux 5.2).
fn residency_is_visible(file: &Path) -> bool {
    let own = file.metadata().is_ok_and(|file| file.uid() == geteuid().as_raw());
    own || access(file, Access::WRITE_OK).is_ok()
}

/// A whole file in the address space, of which no page is touched: it keeps none in memory.
struct Mapping {
    /// Where it begins; null for an empty file.
    begin: *mut libc::c_void,
    length: usize,
}

impl Mapping {
    #[expect(unsafe_code, reason = "neither std nor rustix has mincore")]
    fn of(path: &Path) -> io::Result<Self> {
        let file = connect::sqlite::file::open(path)?;
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        if length == 0 {
            return Ok(Self { begin: std::ptr::null_mut(), length });
        }
        // SAFETY: a new mapping at a place that the kernel chooses, of a file that is open; it is
        // never looked into, so that a file which is cut meanwhile does no harm.
        let begin = unsafe {
            let (protection, flags) = (libc::PROT_NONE, libc::MAP_SHARED);
            libc::mmap(std::ptr::null_mut(), length, protection, flags, file.as_raw_fd(), 0)
        };
        if begin == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { begin, length })
    }

    fn pages(&self) -> usize {
        self.length.div_ceil(rustix::param::page_size())
    }

    #[expect(unsafe_code, reason = "neither std nor rustix has mincore")]
    fn resident_pages(&self) -> io::Result<usize> {
        if self.length == 0 {
            return Ok(0);
        }
        let mut found = vec![0_u8; self.pages()];
        // SAFETY: `begin` is a mapping of `length` bytes, `found` has a byte for each of its pages.
        match unsafe { libc::mincore(self.begin, self.length, found.as_mut_ptr().cast()) } {
            0 => Ok(found.iter().filter(|page| **page & 1 == 1).count()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Mapping {
    #[expect(unsafe_code, reason = "neither std nor rustix has mincore")]
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: the mapping made in `of`, which nothing uses any more.
            unsafe { libc::munmap(self.begin, self.length) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_just_written_is_resident_and_a_hole_is_not() {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let page = rustix::param::page_size();
        std::fs::write(&file, vec![1; 3 * page]).unwrap();
        let end_at = |bytes| {
            let file = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
            file.set_len(bytes).unwrap();
        };
        end_at(10 * page as u64);
        let found = Mapping::of(&file).unwrap();
        assert_eq!((found.resident_pages().unwrap(), found.pages()), (3, 10));
        end_at(0);
        let empty = Mapping::of(&file).unwrap();
        assert_eq!((empty.resident_pages().unwrap(), empty.pages()), (0, 0));
    }

    #[test]
    fn a_sample_tells_of_files_whose_names_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("000001");
        std::fs::write(&file, vec![1; 2 * rustix::param::page_size()]).unwrap();
        let sample = ResidencySample::of(&[folder.path().to_owned()]).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(sample.resident_share().unwrap(), Some(1.0));
    }
}
