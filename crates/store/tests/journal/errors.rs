//! Errors of the file system by kind.

use autocomp_store::StoreError;
use autocomp_store::inside::classified;
use std::io;
use std::path::Path;

#[test]
fn file_system_errors_are_classified() {
    let classify =
        |kind: io::ErrorKind| classified("write", Path::new("run/x"), &io::Error::from(kind));
    assert!(matches!(
        classify(io::ErrorKind::StorageFull),
        StoreError::NoRoom { .. }
    ));
    assert!(matches!(
        classify(io::ErrorKind::ReadOnlyFilesystem),
        StoreError::NotWritable { .. }
    ));
    assert!(matches!(
        classify(io::ErrorKind::NotFound),
        StoreError::Io { .. }
    ));
}
