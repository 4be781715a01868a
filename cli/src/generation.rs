//! The tables for a dump: those of the GPU that the dump is from.

use crate::output::{Error, bad_input};
use crate::source::{self, Source};
use crate::tables::{generation, gpu, tables};
use genxml::check::Rules;
use genxml::decode::{Tables, generation_name};
use genxml::dump::Dump;
use genxml::error_state::Platform;
use genxml_codegen::load;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The generation of the built-in tables, times ten: Broadwell.
const BUILT_IN: u32 = 80;
/// The generation of G45, times ten.
const G45: u32 = 45;

/// The option that says which GPU a dump is from.
#[derive(clap::Args, Debug, Default)]
pub struct Gpu {
    /// The GPU of the dump, if the dump does not name it or names a wrong one: a generation (9,
    /// 12.5) or a name (skylake, g45)
    #[arg(long, value_name = "GPU", value_parser = gpu)]
    r#gen: Option<u32>,
}

impl Gpu {
    /// The generation of a dump, times ten; `None` if neither the option nor the dump says it.
    fn of(&self, dump: &Dump) -> Option<u32> {
        self.r#gen.or_else(|| dump.generation())
    }

    /// The rules for a dump.
    ///
    /// # Errors
    /// If the dump is from a GPU without rules, as far as the option and the dump say.
    pub fn rules(&self, name: &str, dump: &Dump) -> Result<Rules, Error> {
        match self.of(dump) {
            None | Some(BUILT_IN) => Ok(Rules::gen8()),
            Some(G45) => Ok(Rules::gen45()),
            Some(of) => {
                let gpu = gpu_name(dump.platform(), of);
                Err(bad_input(format!(
                    "{name}: it is from {gpu}, and there are rules for Broadwell and G45 only: \
                     nothing was checked; use --gen 8 if the dump is from Broadwell"
                )))
            }
        }
    }

    /// The rules for the GPU that --gen names. Without --gen, those for Broadwell.
    ///
    /// # Errors
    /// If this GPU has no rules.
    pub fn named_rules(&self) -> Result<Rules, Error> {
        match self.r#gen {
            None | Some(BUILT_IN) => Ok(Rules::gen8()),
            Some(G45) => Ok(Rules::gen45()),
            Some(of) => {
                let of = generation_name(of);
                Err(bad_input(format!("{of}: there are rules for Broadwell and G45 only")))
            }
        }
    }

    /// True if the option names another GPU than Broadwell.
    pub fn is_other(&self) -> bool {
        self.r#gen.is_some_and(|of| of != BUILT_IN)
    }
}

/// Options that choose the tables for a dump.
#[derive(clap::Args, Debug, Default)]
pub struct Choice {
    /// XML files or folders to use instead of the built-in tables; Mesa's genxml files work. Of a
    /// folder with files of several generations, those of the dump's GPU are used. For dumps from
    /// other GPUs than Broadwell, the default is the environment variable GENX_SPEC, then the line
    /// `spec = PATH` of ~/.config/genx/config
    #[arg(long, value_name = "PATH")]
    spec: Vec<PathBuf>,
    /// Read these files by Mesa's rules: gaps, overlaps and duplicates are allowed
    #[arg(long, requires = "spec")]
    foreign: bool,
    #[command(flatten)]
    gpu: Gpu,
}

/// The GPU of a dump in messages: its name if the dump says it and it is of `generation`, otherwise
/// the generation.
fn gpu_name(of: Option<Platform>, generation: u32) -> String {
    let named = of.filter(|of| of.generation == generation);
    named.map_or_else(|| generation_name(generation), |of| of.to_string())
}

impl Choice {
    /// The tables for a dump. `name` is the name of the dump in messages.
    ///
    /// # Errors
    /// If the files have no tables for the generation of the dump, or have errors.
    pub fn tables(&self, name: &str, dump: &Dump) -> Result<&'static Tables, Error> {
        let of = dump.platform();
        let wanted = self.gpu.of(dump);
        if !self.spec.is_empty() {
            return self.from(&self.spec, name, of, wanted);
        }
        let Some(wanted) = wanted.filter(|wanted| *wanted != BUILT_IN) else {
            return Ok(Tables::gen8());
        };
        let paths = configured()?;
        if !paths.is_empty() {
            return self.from(&paths, name, of, Some(wanted));
        }
        if wanted == G45 {
            return Ok(Tables::gen45());
        }
        let gpu = gpu_name(of, wanted);
        eprintln!(
            "genx: {name}: it is from {gpu}, and shown with the tables of Broadwell, which may be \
             wrong: use --spec DIR, where DIR is the folder src/intel/genxml of Mesa's sources"
        );
        Ok(Box::leak(Box::new(Tables::gen8_for(wanted))))
    }

    /// True if the built-in tables, and so the rules of Broadwell, apply to a dump.
    pub fn is_broadwell(&self, dump: &Dump) -> bool {
        self.spec.is_empty() && self.gpu.of(dump).is_none_or(|of| of == BUILT_IN)
    }

    /// The tables of the files among `paths` that describe the generation `wanted`.
    fn from(
        &self,
        paths: &[PathBuf],
        name: &str,
        of: Option<Platform>,
        wanted: Option<u32>,
    ) -> Result<&'static Tables, Error> {
        let mut files: Vec<(PathBuf, u32)> = Vec::new();
        for folder in paths {
            let inside = match folder.is_dir() {
                true => source::folders(folder)?,
                false => vec![folder.clone()],
            };
            files.extend(source::xml_files(&inside)?.into_iter().map(|file| {
                let of = load::root_generation(&file).map_or(0, |text| generation(&text));
                (file, of)
            }));
        }
        let mut known: Vec<u32> = files.iter().map(|(_, of)| *of).filter(|of| *of != 0).collect();
        known.sort_unstable();
        known.dedup();
        let chosen = match (wanted, &known[..]) {
            // Files that do not say their generation, or all of the same one.
            (None, [] | [_]) | (Some(_), []) => None,
            (Some(wanted), known) if known.contains(&wanted) => Some(wanted),
            (None, _) => {
                return Err(bad_input(format!(
                    "{name}: it does not say which GPU it is from, and the files of --spec are \
                     for {}: add --gen GPU",
                    list(known.iter())
                )));
            }
            (Some(wanted), known) => {
                let gpu = gpu_name(of, wanted);
                return Err(bad_input(format!(
                    "{name}: it is from {gpu}, and {} has tables only for {}: use --spec with a \
                     file for {}, or --gen if the dump is from another GPU",
                    paths[0].display(),
                    list(known.iter()),
                    generation_name(wanted)
                )));
            }
        };
        let mut matching: Vec<PathBuf> = files
            .into_iter()
            .filter(|(_, of)| chosen.is_none_or(|chosen| *of == chosen))
            .map(|(file, _)| file)
            .collect();
        // Mesa describes ray tracing in files of their own, which are no complete tables.
        let is_part = |file: &Path| {
            file.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_rt"))
        };
        if !matching.iter().all(|file| is_part(file)) {
            matching.retain(|file| !is_part(file));
        }
        load_once(matching, self.foreign)
    }
}

/// Generations as a list: `Gen9, Gen11`.
fn list<'a>(known: impl Iterator<Item = &'a u32>) -> String {
    known.map(|of| generation_name(*of)).collect::<Vec<_>>().join(", ")
}

/// The tables of files. Tables are never freed, so those of the last call are used again for the
/// same files.
fn load_once(files: Vec<PathBuf>, foreign: bool) -> Result<&'static Tables, Error> {
    static LAST: Mutex<Option<(Vec<PathBuf>, &'static Tables)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((known, tables)) = &*last
        && *known == files
    {
        return Ok(tables);
    }
    let spec = Source { spec: files.clone(), foreign, ..Source::default() }.load()?;
    let made = tables(&spec);
    *last = Some((files, made));
    Ok(made)
}

/// The files of the environment variable GENX_SPEC (separated by colons), or of the config file.
fn configured() -> Result<Vec<PathBuf>, Error> {
    let present = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(value) = present("GENX_SPEC") {
        return Ok(std::env::split_paths(&value).collect());
    }
    let folder = present("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| present("HOME").map(|home| PathBuf::from(home).join(".config")));
    let Some(path) = folder.map(|folder| folder.join("genx/config")) else {
        return Ok(Vec::new());
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(bad_input(format!("{}: cannot be read: {error}", path.display())));
        }
    };
    let mut files = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.split_once('=') {
            Some((key, value)) if key.trim() == "spec" => {
                files.extend(std::env::split_paths(value.trim()));
            }
            _ => {
                return Err(bad_input(format!(
                    "{}:{}: the line is not `spec = PATH`: {line}",
                    path.display(),
                    number + 1
                )));
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the generations as Mesa's files and the kernel's names give them.
    #[test]
    fn gpus() {
        for (text, wanted) in [
            ("9", 90),
            ("7.5", 75),
            ("75", 75),
            ("12.5", 125),
            ("125", 125),
            ("gen11", 110),
            ("Gfx12.5", 125),
            ("skylake", 90),
            ("G45", 45),
            ("4.5", 45),
            ("20", 200),
            ("haswell", 75),
        ] {
            assert_eq!(gpu(text), Ok(wanted), "{text}");
        }
        for text in ["", "x", "9.55", "lake"] {
            assert!(gpu(text).is_err(), "{text}");
        }
        assert_eq!([90, 125].map(generation_name), ["Gen9", "Gen12.5"]);
    }
}
