//! The names of the files, kvtest's: decimal, six digits, in a tree two for each level. Written in
//! place into one buffer: a name is made millions of times inside the clock.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::BlobForm;

/// A path in front of a name that changes.
pub(crate) struct Names {
    form: BlobForm,
    /// The path, `/`, the name and a zero byte.
    buffer: Vec<u8>,
    begin: usize,
}

impl Names {
    /// Names below `folder`; an empty path makes relative ones.
    pub fn below(folder: &Path, form: BlobForm) -> Self {
        let mut buffer = folder.as_os_str().as_bytes().to_vec();
        if !buffer.is_empty() {
            buffer.push(b'/');
        }
        let begin = buffer.len();
        Self { form, buffer, begin }
    }

    /// The path of blob `id`, for the system.
    pub fn path(&mut self, id: u64) -> &CStr {
        self.write(id);
        // The folder was opened or made before, so no zero byte is in its path.
        CStr::from_bytes_until_nul(&self.buffer).unwrap_or_default()
    }

    /// The same as a path.
    pub fn as_path(&mut self, id: u64) -> &Path {
        self.write(id);
        Path::new(OsStr::from_bytes(&self.buffer[..self.buffer.len() - 1]))
    }

    fn write(&mut self, id: u64) {
        self.buffer.truncate(self.begin);
        match self.form {
            BlobForm::Tree => {
                push_digits(&mut self.buffer, id / 10_000, 2);
                self.buffer.push(b'/');
                push_digits(&mut self.buffer, id / 100 % 100, 2);
                self.buffer.push(b'/');
                push_digits(&mut self.buffer, id % 100, 2);
            }
            BlobForm::Folder | BlobForm::Database => push_digits(&mut self.buffer, id, 6),
        }
        self.buffer.push(0);
    }
}

/// `number` in decimal, at least `digits` of them.
fn push_digits(buffer: &mut Vec<u8>, mut number: u64, digits: usize) {
    let begin = buffer.len();
    while number > 0 || buffer.len() - begin < digits {
        buffer.push(b'0' + (number % 10) as u8);
        number /= 10;
    }
    buffer[begin..].reverse();
}

/// The id that `name`, relative to the folder, stands for; `None` if `export` gives no such name.
pub(crate) fn id_of(name: &Path, form: BlobForm) -> Option<u64> {
    let text = name.to_str()?;
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        if digits { text.parse::<u64>().ok() } else { None }
    };
    let id = match form {
        BlobForm::Database => return None,
        BlobForm::Folder => number(text)?,
        BlobForm::Tree => {
            let mut parts = text.split('/').map(number);
            let mut part = || parts.next()?;
            part()? * 10_000 + part()? * 100 + part()?
        }
    };
    // Only the one way in which the name is written: neither 1 nor 0000001 is 000001.
    let same = Names::below(Path::new(""), form).as_path(id) == name;
    same.then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(form: BlobForm, id: u64) -> String {
        Names::below(Path::new(""), form).as_path(id).to_str().unwrap().to_owned()
    }

    #[test]
    fn names_are_those_of_kvtest() {
        assert_eq!(name(BlobForm::Folder, 1), "000001");
        assert_eq!(name(BlobForm::Folder, 1_234_567), "1234567");
        assert_eq!(name(BlobForm::Tree, 1), "00/00/01");
        assert_eq!(name(BlobForm::Tree, 123_456), "12/34/56");
        assert_eq!(name(BlobForm::Tree, BlobForm::TREE_ID_MAX), "99/99/99");
    }

    #[test]
    fn a_buffer_is_used_again_without_a_trace_of_the_longer_name() {
        let mut names = Names::below(Path::new("/a"), BlobForm::Folder);
        assert_eq!(names.path(1_234_567).to_bytes(), b"/a/1234567");
        assert_eq!(names.path(2).to_bytes(), b"/a/000002");
    }

    #[test]
    fn only_a_name_that_is_written_so_is_read_back() {
        for form in [BlobForm::Folder, BlobForm::Tree] {
            for id in [0, 1, 99, 100, 10_000, 999_999] {
                assert_eq!(id_of(Path::new(&name(form, id)), form), Some(id));
            }
        }
        for stranger in ["1", "0000001", "00001a", "00/00/01", ""] {
            assert_eq!(id_of(Path::new(stranger), BlobForm::Folder), None, "{stranger}");
        }
        for stranger in ["000001", "0/0/1", "00/00", "00/00/01/01", "00/00/001"] {
            assert_eq!(id_of(Path::new(stranger), BlobForm::Tree), None, "{stranger}");
        }
    }
}
