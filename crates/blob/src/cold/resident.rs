//! Which pages of a file are in the page cache, by mincore(2).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

/// Pages of a file.
pub(super) struct Pages {
    pub resident: u64,
    pub pages: u64,
}

/// Counts them. The file is mapped without being read.
#[expect(unsafe_code, reason = "neither std nor rustix has mincore")]
pub(super) fn pages(path: &Path) -> io::Result<Pages> {
    let file = File::open(path)?;
    let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    if length == 0 {
        return Ok(Pages { resident: 0, pages: 0 });
    }
    let mut found = vec![0_u8; length.div_ceil(rustix::param::page_size())];
    // SAFETY: a new mapping at a place that the kernel chooses, of a file that is open; it is never
    // looked into, so that a file which is cut meanwhile does no harm, and is unmapped below.
    let mapped = unsafe {
        let (protection, flags) = (libc::PROT_NONE, libc::MAP_SHARED);
        libc::mmap(std::ptr::null_mut(), length, protection, flags, file.as_raw_fd(), 0)
    };
    if mapped == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `mapped` is a mapping of `length` bytes, `found` has a byte for each of its pages.
    let answer = match unsafe { libc::mincore(mapped, length, found.as_mut_ptr().cast()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: the mapping made above, which nothing uses any more.
    unsafe { libc::munmap(mapped, length) };
    answer?;
    let resident = found.iter().filter(|page| **page & 1 == 1).count() as u64;
    Ok(Pages { resident, pages: found.len() as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_just_written_is_resident_and_a_hole_is_not() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let page = rustix::param::page_size();
        std::fs::write(file.path(), vec![1; 3 * page]).unwrap();
        file.as_file().set_len(10 * page as u64).unwrap();
        let found = pages(file.path()).unwrap();
        assert_eq!((found.resident, found.pages), (3, 10));
        file.as_file().set_len(0).unwrap();
        assert_eq!(pages(file.path()).unwrap().pages, 0);
    }
}
