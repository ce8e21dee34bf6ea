//! Kernels of the original Autocomp as they stand in its `sols`, made ones for a problem here.

/// What a problem here asks of kernels.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The name that is called.
    pub entry: &'a str,
    /// Its declaration, for languages with one.
    pub signature: &'a str,
    /// Whether the language marks blocks by indentation, so that a whole file counts; of others
    /// only the body of the function does.
    pub meaningful_indentation: bool,
}

/// Returns a kernel in the form that is asked for.
///
/// Of a file with braces the original takes what stands between the first `{` behind the name and
/// the last `}` alone, and gives it a header of its own; so does this, with the names of the
/// parameters that the file's header has. A whole file that defines `test` defines the entry then.
///
/// # Errors
/// What the file lacks.
pub fn adapted(source: &str, asked: Asked<'_>, prelude: &str) -> Result<String, String> {
    let Asked {
        entry, signature, ..
    } = asked;
    if asked.meaningful_indentation {
        let source = defining(source, entry);
        let source = source.ok_or_else(|| format!("it defines neither `{entry}` nor `test`"))?;
        return Ok(format!("{prelude}{source}"));
    }
    let call = format!("{entry}(");
    let at = source
        .find(&format!("void {call}"))
        .ok_or_else(|| format!("it has no `void {call}`"))?;
    let behind = &source[at..];
    let open = behind.find('{').ok_or("its function has no body")?;
    let close = source.rfind('}').filter(|it| at + open < *it);
    let close = close.ok_or("its function does not end")?;
    let body = &source[at + open..=close];
    let header = &behind[..open];
    Ok(format!("{prelude}{} {body}\n", renamed(signature, header)))
}

/// Returns a program in Python that defines `entry`: as it is, or with `test` called so.
pub(crate) fn defining(source: &str, entry: &str) -> Option<String> {
    let name = |line: &str| {
        let name = line.strip_prefix("def ")?.split_once('(')?.0.trim();
        Some(name.to_owned())
    };
    let defines = |wanted: &str| source.lines().any(|it| name(it).as_deref() == Some(wanted));
    if defines(entry) {
        return Some(source.to_owned());
    }
    let renamed = |line: &str| match name(line).as_deref() {
        Some("test") => line.replacen("test", entry, 1),
        _ => line.to_owned(),
    };
    let lines = source.split_inclusive('\n').map(renamed);
    defines("test").then(|| lines.collect())
}

/// Returns a signature with the names of the parameters of another one, if that has as many.
fn renamed(signature: &str, other: &str) -> String {
    let Some((head, ours)) = signature.split_once('(') else {
        return signature.to_owned();
    };
    let names = |text: &str| -> Option<Vec<String>> {
        let inner = text.split_once('(')?.1.rsplit_once(')')?.0;
        inner
            .split(',')
            .map(|it| name(it).map(str::to_owned))
            .collect()
    };
    let (Some(theirs), Some(own)) = (names(other), names(signature)) else {
        return signature.to_owned();
    };
    let is_distinct = (1..theirs.len()).all(|it| !theirs[..it].contains(&theirs[it]));
    if theirs.len() != own.len() || !is_distinct {
        return signature.to_owned();
    }
    let parameters = ours.rsplit_once(')').map_or(ours, |it| it.0).split(',');
    let parameters: Vec<String> = parameters
        .zip(own.iter().zip(&theirs))
        .map(
            |(parameter, (own, theirs))| match parameter.rfind(own.as_str()) {
                Some(at) => {
                    let (before, behind) = parameter.split_at(at);
                    format!("{before}{theirs}{}", &behind[own.len()..])
                }
                None => parameter.to_owned(),
            },
        )
        .collect();
    format!("{head}({})", parameters.join(","))
}

/// Returns the name of a parameter: the last word before its sizes.
fn name(parameter: &str) -> Option<&str> {
    let declared = parameter.split('[').next()?.trim_end();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = declared.rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
    let name = &declared[start..];
    // A type alone is no name.
    let is_name = 0 < start && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_name.then_some(name)
}
