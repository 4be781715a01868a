//! Reads a capture directory and checks it.
//!
//! Loading makes two passes over the events. The first checks each event by itself (fields,
//! numbers, names). The second checks all events in playing order against the state of every object
//! at that point.

use super::data::{Data, Filling};
use super::manifest::{self, FORMAT};
use super::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufReader, Read};

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

const VA_BITS: u32 = 48;

impl Capture {
    /// Loads the capture in `directory` and checks it.
    ///
    /// # Errors
    /// [`CaptureError`] with file, line, field and value if something breaks the format.
    pub fn open(directory: impl AsRef<Path>) -> Result<Capture, CaptureError> {
        load(directory.as_ref())
    }
}

fn load(directory: &Path) -> Result<Capture, CaptureError> {
    let path = directory.join("manifest.json");
    let text = read_manifest(&path)?;
    let manifest: manifest::Manifest<'_> =
        serde_json::from_str(&text).map_err(|e| json_error(&path, 0, &e))?;

    let mut loader =
        Loader { path: &path, line: 1, ids: HashMap::new(), names: Vec::new(), data_size: 0 };
    let format = loader.needed("format", manifest.format)?;
    if format != FORMAT {
        return loader.refuse(
            "format",
            format!("{format:?}"),
            format!("this reader supports only {FORMAT:?}"),
        );
    }
    let name = loader.needed("name", manifest.name)?;
    let device = loader.device(loader.needed("device", manifest.device)?)?;
    let data_file = loader.needed("data", manifest.data)?;
    if !is_file_name(&data_file) {
        let problem = "must be the name of a file next to the manifest, without directories";
        return loader.refuse("data", format!("{data_file:?}"), problem);
    }
    loader.data_size = loader.needed("data_size", manifest.data_size)?;
    if loader.data_size > MAX_BYTES {
        return loader.refuse(
            "data_size",
            loader.data_size,
            format!("more than the limit of {MAX_BYTES} bytes"),
        );
    }
    let raw_events = loader.needed("events", manifest.events)?;

    let mut placed = Vec::with_capacity(raw_events.len());
    let (mut line, mut counted) = (1, 0);
    for (index, raw) in raw_events.iter().enumerate() {
        let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
        line += text.as_bytes()[counted..start].iter().filter(|&&byte| byte == b'\n').count();
        counted = start;
        loader.line = line;
        let event: manifest::Event =
            serde_json::from_str(raw.get()).map_err(|e| json_error(&path, line - 1, &e))?;
        placed.push(Placed { index, line, event: loader.event(index, event)? });
    }
    let placed = loader.play_order(placed)?;
    let events = loader.in_order(placed)?;
    let data = Arc::new(read_data(&directory.join(&data_file), loader.data_size)?);
    Ok(Capture { path: directory.to_owned(), name, device, events, objects: loader.names, data })
}

fn read_manifest(path: &Path) -> Result<String, CaptureError> {
    let io = |source| CaptureError::Io { path: path.to_owned(), source };
    let mut text = String::new();
    let file = File::open(path).map_err(io)?;
    file.take(MAX_MANIFEST + 1).read_to_string(&mut text).map_err(io)?;
    if text.len() as u64 > MAX_MANIFEST {
        let problem = format!("longer than the limit of {MAX_MANIFEST} bytes");
        return Err(io(io::Error::other(problem)));
    }
    Ok(text)
}

fn json_error(path: &Path, lines_before: usize, error: &serde_json::Error) -> CaptureError {
    // serde_json's text ends with a position inside the given text. The position in the file
    // replaces it.
    let message = error.to_string();
    let mut message = message.split(" at line ").next().unwrap_or_default().to_owned();
    if error.is_eof() {
        message.push_str(": the file ends inside the manifest; copy or record the capture again");
    }
    let line = lines_before + error.line().max(1);
    CaptureError::Json { path: path.to_owned(), line, column: error.column(), message }
}

/// Reads the one zstd frame that makes up the data file. The memory used grows with the bytes that
/// the file really has, up to the limit of [`Data`].
fn read_data(path: &Path, size: u64) -> Result<Data, CaptureError> {
    let fail = |problem: String| CaptureError::Data { path: path.to_owned(), problem };
    let file =
        File::open(path).map_err(|source| CaptureError::Io { path: path.to_owned(), source })?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let cannot_store = |error: io::Error| {
        fail(format!("the {size} bytes of decompressed data cannot be stored: {error}"))
    };
    // The decoder's own words are about its buffers, not about the file.
    let is_cut = |error: &dyn std::fmt::Debug| format!("{error:?}").contains("UnexpectedEof");
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(BufReader::new(file)).map_err(
        |error| match is_cut(&error) {
            true => fail(format!(
                "not a zstd file: it ends after {length} bytes, inside the header of a zstd \
                 frame; copy or record the capture again"
            )),
            false => fail(format!("not a zstd file: {error}")),
        },
    )?;
    let (mut data, mut done) = (Filling::new(size), 0);
    loop {
        // One byte more than expected shows whether the file is too long.
        let before = done;
        let want = (size + 1 - before).min(CHUNK as u64);
        let mut part = Vec::with_capacity(want as usize);
        decoder.by_ref().take(want).read_to_end(&mut part).map_err(|error| {
            match is_cut(&error) {
                true => fail(format!(
                    "the zstd data is cut short: the file ends after {length} bytes, which hold \
                     the first {before} of {size} bytes (data_size); copy or record the capture \
                     again"
                )),
                false => fail(format!("damaged after {before} decompressed bytes: {error}")),
            }
        })?;
        let length = part.len() as u64;
        done += length;
        data.add(part).map_err(&cannot_store)?;
        if done > size {
            return Err(fail(format!("holds more than the {size} bytes that data_size says")));
        }
        if length == 0 {
            break;
        }
    }
    if done < size {
        return Err(fail(format!("holds {done} bytes, data_size says {size}")));
    }
    let (stored, computed) =
        (decoder.decoder.get_checksum_from_data(), decoder.decoder.get_calculated_checksum());
    if let (Some(stored), Some(computed)) = (stored, computed)
        && stored != computed
    {
        return Err(fail(format!(
            "checksum is {computed:#010x}, the file says {stored:#010x}: it is damaged"
        )));
    }
    match decoder.into_inner().read(&mut [0]) {
        Ok(0) => data.finish().map_err(cannot_store),
        Ok(_) => Err(fail("more bytes follow the zstd frame; it must be the only one".to_owned())),
        Err(source) => Err(CaptureError::Io { path: path.to_owned(), source }),
    }
}

fn is_file_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
}

struct Placed {
    index: usize,
    line: usize,
    event: Event,
}

struct Loader<'a> {
    path: &'a Path,
    /// Line of the current event.
    line: usize,
    ids: HashMap<String, ObjectId>,
    names: Vec<String>,
    data_size: u64,
}

impl Loader<'_> {
    fn refuse<T>(
        &self,
        field: impl Into<String>,
        value: impl ToString,
        problem: impl Into<String>,
    ) -> Result<T, CaptureError> {
        Err(CaptureError::Field {
            path: self.path.to_owned(),
            line: self.line,
            field: field.into(),
            value: value.to_string(),
            problem: problem.into(),
        })
    }

    fn needed<T>(&self, field: &str, value: Option<T>) -> Result<T, CaptureError> {
        match value {
            Some(value) => Ok(value),
            None => self.refuse(field, "nothing", "the field is missing"),
        }
    }

    fn number(&self, field: &str, number: &manifest::Number) -> Result<u64, CaptureError> {
        match number.get() {
            Some(value) => Ok(value),
            None => self.refuse(field, number, "not a number; write 4096, \"4096\" or \"0x1000\""),
        }
    }

    /// A 48-bit address; the canonical form is accepted too.
    fn address(&self, field: &str, number: &manifest::Number) -> Result<u64, CaptureError> {
        let value = self.number(field, number)?;
        let low = value & ((1 << VA_BITS) - 1);
        if value == low || genxml_core::bits::sign_extend(low, VA_BITS) as u64 == value {
            Ok(low)
        } else {
            self.refuse(field, number, "neither a 48-bit address nor the canonical form of one")
        }
    }

    fn device(&self, device: manifest::Device) -> Result<Device, CaptureError> {
        let pci_id = self.number("device.pci_id", &device.pci_id)?;
        match u32::try_from(pci_id) {
            Ok(pci_id) if pci_id <= 0xffff => Ok(Device { pci_id, generation: device.r#gen }),
            _ => self.refuse("device.pci_id", device.pci_id, "PCI device ids have 16 bits"),
        }
    }

    fn id(&mut self, name: &manifest::Name) -> ObjectId {
        let name = name.to_string();
        if let Some(&id) = self.ids.get(&name) {
            return id;
        }
        let id = ObjectId(self.names.len() as u32);
        self.names.push(name.clone());
        self.ids.insert(name, id);
        id
    }

    fn tiling(&self, field: String, tiling: u32) -> Result<Tiling, CaptureError> {
        match tiling {
            0 => Ok(Tiling::Linear),
            1 => Ok(Tiling::X),
            2 => Ok(Tiling::Y),
            _ => self.refuse(field, tiling, "0 is linear, 1 X, 2 Y"),
        }
    }

    /// Checks the writes into an object of `size` bytes.
    fn writes(
        &self,
        at: &str,
        list: &[(u64, u64, u64)],
        size: u64,
    ) -> Result<Vec<Write>, CaptureError> {
        let mut writes = Vec::with_capacity(list.len());
        for (index, &(offset, length, data)) in list.iter().enumerate() {
            let show = || format!("[{offset}, {length}, {data}]");
            if offset.checked_add(length).is_none_or(|end| end > size) {
                let problem = format!("reaches beyond the {size} bytes that it writes into");
                return self.refuse(format!("{at}.writes[{index}]"), show(), problem);
            }
            if data.checked_add(length).is_none_or(|end| end > self.data_size) {
                let problem = format!("reads beyond data_size, {}", self.data_size);
                return self.refuse(format!("{at}.writes[{index}]"), show(), problem);
            }
            writes.push(Write { offset, length, data });
        }
        Ok(writes)
    }

    /// Checks an event by itself.
    fn event(&mut self, index: usize, event: manifest::Event) -> Result<Event, CaptureError> {
        let at = |field: &str| format!("events[{index}].{field}");
        let kind = self.needed(&at("type"), event.r#type.as_deref())?;
        match kind {
            "exec" => self.exec(index, &event).map(Event::Exec),
            "expect" => self.expect(index, &event).map(Event::Expect),
            "frame" => self.frame(index, event).map(Event::Frame),
            "free" => {
                let object = self.needed(&at("object"), event.object)?;
                Ok(Event::Free(self.id(&object)))
            }
            _ => self.refuse(
                at("type"),
                format!("{kind:?}"),
                "there are exec, expect, frame and free",
            ),
        }
    }

    fn exec(&mut self, index: usize, event: &manifest::Event) -> Result<Exec, CaptureError> {
        let at = |field: &str| format!("events[{index}].{field}");
        let seq = self.needed(&at("seq"), event.seq)?;
        let context = self.needed(&at("context"), event.context)?;
        let engine = self.needed(&at("engine"), event.engine.as_deref())?;
        let Ok(engine) = engine.parse::<EngineId>() else {
            let problem = "there are render, copy, video and video_enhance";
            return self.refuse(at("engine"), format!("{engine:?}"), problem);
        };
        let batch = self.needed(&at("batch_address"), event.batch_address.as_ref())?;
        let batch_address = self.address(&at("batch_address"), batch)?;
        if batch_address % 4 != 0 {
            return self.refuse(at("batch_address"), batch, "batches start at a multiple of 4");
        }
        let length = self.needed(&at("batch_length"), event.batch_length.as_ref())?;
        let batch_length = self.number(&at("batch_length"), length)?;
        if batch_length % 4 != 0 {
            return self.refuse(at("batch_length"), length, "batches consist of whole dwords");
        }

        let mut objects = Vec::new();
        let mut starts = BTreeMap::new();
        let mut seen = HashSet::new();
        for (number, object) in
            self.needed(&at("objects"), event.objects.as_ref())?.iter().enumerate()
        {
            let at = |field: &str| format!("events[{index}].objects[{number}]{field}");
            let exec_object = self.exec_object(&at(""), object)?;
            let address = exec_object.address;
            if !seen.insert(exec_object.object) {
                return self.refuse(
                    at(".object"),
                    &object.object,
                    "the object is listed twice in one exec",
                );
            }
            if let Some(other) = starts.insert(address, number) {
                let problem = format!("objects[{other}] starts there too");
                return self.refuse(at(".address"), &object.address, problem);
            }
            objects.push(exec_object);
        }
        let in_order: Vec<usize> = starts.into_values().collect();
        for pair in in_order.windows(2) {
            let (low, high): (&ExecObject, &ExecObject) = (&objects[pair[0]], &objects[pair[1]]);
            if (low.address + low.size).next_multiple_of(PAGE) > high.address {
                return self.refuse(
                    format!("events[{index}].objects[{}].address", pair[1]),
                    format!("{:#x}", high.address),
                    format!(
                        "overlaps the pages of objects[{}], {:#x}+{:#x}",
                        pair[0], low.address, low.size
                    ),
                );
            }
        }
        let home =
            objects.iter().find(|o| (o.address..o.address + o.size).contains(&batch_address));
        match home {
            None => {
                self.refuse(at("batch_address"), batch, "is in none of the objects of this exec")
            }
            Some(home) if batch_length > home.address + home.size - batch_address => self.refuse(
                at("batch_length"),
                length,
                format!(
                    "the object with the batch ends {} bytes after the start of the batch",
                    home.address + home.size - batch_address
                ),
            ),
            Some(_) => Ok(Exec { seq, context, engine, batch_address, batch_length, objects }),
        }
    }

    /// Checks an object of a submission by itself; `path` is its path in the manifest.
    fn exec_object(
        &mut self,
        path: &str,
        object: &manifest::Object,
    ) -> Result<ExecObject, CaptureError> {
        let at = |field: &str| format!("{path}{field}");
        let address = self.address(&at(".address"), &object.address)?;
        if address % PAGE != 0 {
            return self.refuse(
                at(".address"),
                &object.address,
                "objects start on a page of 4096 bytes",
            );
        }
        if object.size == 0 {
            return self.refuse(at(".size"), 0, "an object has at least one byte");
        }
        if object.size > MAX_BYTES {
            return self.refuse(
                at(".size"),
                object.size,
                format!("more than the limit, {MAX_BYTES}"),
            );
        }
        if address + object.size > 1 << VA_BITS {
            return self.refuse(
                at(".size"),
                object.size,
                "the object ends beyond 48-bit addresses",
            );
        }
        Ok(ExecObject {
            object: self.id(&object.object),
            address,
            size: object.size,
            tiling: self.tiling(at(".tiling"), object.tiling)?,
            stride: object.stride,
            writes: self.writes(&at(""), &object.writes, object.size)?,
        })
    }

    fn expect(
        &mut self,
        index: usize,
        event: &manifest::Event,
    ) -> Result<Expectation, CaptureError> {
        let at = |field: &str| format!("events[{index}].{field}");
        let name = self.needed(&at("name"), event.name.clone())?;
        if !is_file_name(&name) {
            return self.refuse(at("name"), format!("{name:?}"), "must be fit for a file name");
        }
        let after_exec = self.needed(&at("after_exec"), event.after_exec)?;
        let object = self.needed(&at("object"), event.object.as_ref())?;
        let object = self.id(object);
        let offset = self.needed(&at("offset"), event.offset)?;
        let size = self.needed(&at("size"), event.size)?;
        if size == 0 || size > MAX_BYTES {
            return self.refuse(at("size"), size, format!("must be 1 to {MAX_BYTES} bytes"));
        }
        let writes = self.needed(&at("writes"), event.writes.as_deref())?;
        let writes = self.writes(&format!("events[{index}]"), writes, size)?;
        let ranges = event.ignore.clone().unwrap_or_default();
        for (number, &(start, length)) in ranges.iter().enumerate() {
            if start.checked_add(length).is_none_or(|end| end > size) {
                let problem = format!("reaches beyond the {size} bytes that are compared");
                return self.refuse(
                    at(&format!("ignore[{number}]")),
                    format!("[{start}, {length}]"),
                    problem,
                );
            }
        }
        let compare = self.needed(&at("compare"), event.compare.as_ref())?;
        let compare = match compare.kind.as_str() {
            "exact" => Compare::Exact,
            "rgba8" => {
                let limit = self.needed(&at("compare.max_abs_diff"), compare.max_abs_diff)?;
                let share =
                    self.needed(&at("compare.outlier_fraction"), compare.outlier_fraction)?;
                let Ok(max_abs_diff) = u8::try_from(limit) else {
                    return self.refuse(
                        at("compare.max_abs_diff"),
                        limit,
                        "channels have 8 bits: 0 to 255",
                    );
                };
                if !(0.0..=1.0).contains(&share) {
                    return self.refuse(at("compare.outlier_fraction"), share, "must be 0 to 1");
                }
                if size % 4 != 0 {
                    return self.refuse(at("size"), size, "rgba8 compares whole pixels of 4 bytes");
                }
                Compare::Rgba8 { max_abs_diff, outlier_fraction: share }
            }
            other => {
                return self.refuse(
                    at("compare.kind"),
                    format!("{other:?}"),
                    "there are exact and rgba8",
                );
            }
        };
        let ignore = merged(ranges);
        Ok(Expectation {
            name,
            after_exec,
            object,
            address: 0,
            offset,
            size,
            ignore,
            compare,
            padding: false,
            writes,
        })
    }

    fn frame(&mut self, index: usize, event: manifest::Event) -> Result<Frame, CaptureError> {
        let at = |field: &str| format!("events[{index}].{field}");
        let object = self.needed(&at("object"), event.object)?;
        let fourcc = self.needed(&at("fourcc"), event.fourcc)?;
        if fourcc.len() != 4 || !fourcc.is_ascii() {
            return self.refuse(
                at("fourcc"),
                format!("{fourcc:?}"),
                "must be four ASCII characters",
            );
        }
        let tiling = self.needed(&at("tiling"), event.tiling)?;
        let frame = Frame {
            index: self.needed(&at("index"), event.index)?,
            after_exec: self.needed(&at("after_exec"), event.after_exec)?,
            object: self.id(&object),
            offset: self.needed(&at("offset"), event.offset)?,
            width: self.needed(&at("width"), event.width)?,
            height: self.needed(&at("height"), event.height)?,
            pitch: self.needed(&at("pitch"), event.pitch)?,
            fourcc,
            tiling: self.tiling(at("tiling"), tiling)?,
        };
        for (field, value) in
            [("width", frame.width), ("height", frame.height), ("pitch", frame.pitch)]
        {
            if value == 0 {
                return self.refuse(at(field), 0, "must not be zero");
            }
        }
        Ok(frame)
    }

    /// Moves expectations and frames directly after the submission that they name; everything else
    /// keeps its order.
    fn play_order(&mut self, events: Vec<Placed>) -> Result<Vec<Placed>, CaptureError> {
        let mut index_of = HashMap::new();
        let mut last: Option<u64> = None;
        for placed in &events {
            if let Event::Exec(exec) = &placed.event {
                if let Some(last) = last.filter(|&last| last >= exec.seq) {
                    self.line = placed.line;
                    let field = format!("events[{}].seq", placed.index);
                    return self.refuse(
                        field,
                        exec.seq,
                        format!("must be greater than that of the exec before, {last}"),
                    );
                }
                last = Some(exec.seq);
                index_of.insert(exec.seq, placed.index);
            }
        }
        let mut keyed = Vec::with_capacity(events.len());
        for placed in events {
            let after = match &placed.event {
                Event::Expect(expectation) => Some(expectation.after_exec),
                Event::Frame(frame) => Some(frame.after_exec),
                _ => None,
            };
            let key = match after {
                None => (placed.index, false),
                Some(seq) => match index_of.get(&seq) {
                    Some(&index) => (index, true),
                    None => {
                        self.line = placed.line;
                        let field = format!("events[{}].after_exec", placed.index);
                        return self.refuse(field, seq, "no exec has this seq");
                    }
                },
            };
            keyed.push((key, placed));
        }
        keyed.sort_by_key(|(key, _)| *key);
        Ok(keyed.into_iter().map(|(_, placed)| placed).collect())
    }

    /// Checks the events in order against the state of every object at that point.
    fn in_order(&mut self, placed: Vec<Placed>) -> Result<Vec<Event>, CaptureError> {
        let mut alive: HashMap<ObjectId, (u64, u64)> = HashMap::new();
        let mut bytes = 0u64;
        let mut events = Vec::with_capacity(placed.len());
        for Placed { index, line, mut event } in placed {
            self.line = line;
            let at = |field: &str| format!("events[{index}].{field}");
            match &mut event {
                Event::Exec(exec) => {
                    for (number, object) in exec.objects.iter().enumerate() {
                        let at = || format!("events[{index}].objects[{number}].size");
                        match alive.insert(object.object, (object.address, object.size)) {
                            Some((_, size)) if size != object.size => {
                                let problem = format!(
                                    "an earlier exec gave the object {size} bytes; a free event must come between"
                                );
                                return self.refuse(at(), object.size, problem);
                            }
                            Some(_) => {}
                            None => bytes += object.size,
                        }
                        if bytes > MAX_OBJECTS {
                            let problem = format!(
                                "objects are larger than the limit of {MAX_OBJECTS} bytes in sum"
                            );
                            return self.refuse(at(), object.size, problem);
                        }
                    }
                }
                Event::Free(object) => {
                    // Drivers free objects that no batch ever used.
                    bytes -= alive.remove(object).map_or(0, |(_, size)| size);
                }
                Event::Expect(expectation) => {
                    let size = self.alive(&alive, at("object"), expectation.object)?;
                    expectation.address = size.0;
                    let end = expectation.offset.checked_add(expectation.size);
                    if end.is_none_or(|end| end > size.1) {
                        let value = format!("{} from {} on", expectation.size, expectation.offset);
                        return self.refuse(
                            at("size"),
                            value,
                            format!("the object has {} bytes", size.1),
                        );
                    }
                }
                Event::Frame(frame) => {
                    let (_, size) = self.alive(&alive, at("object"), frame.object)?;
                    let image = u64::from(frame.pitch) * u64::from(frame.height);
                    if frame.offset.checked_add(image).is_none_or(|end| end > size) {
                        let value = format!(
                            "{} * height {} from {} on",
                            frame.pitch, frame.height, frame.offset
                        );
                        return self.refuse(
                            at("pitch"),
                            value,
                            format!("the object has {size} bytes"),
                        );
                    }
                }
            }
            events.push(event);
        }
        let padded: HashSet<_> = events.iter().filter_map(padded).collect();
        for event in &mut events {
            if let Event::Expect(expectation) = event {
                let place = (expectation.object, expectation.after_exec, expectation.offset);
                expectation.padding =
                    matches!(expectation.compare, Compare::Rgba8 { .. }) && padded.contains(&place);
            }
        }
        Ok(events)
    }

    fn alive(
        &self,
        alive: &HashMap<ObjectId, (u64, u64)>,
        field: String,
        object: ObjectId,
    ) -> Result<(u64, u64), CaptureError> {
        match alive.get(&object) {
            Some(&found) => Ok(found),
            None => {
                let problem =
                    "no exec up to the one named in after_exec has this object, or it was freed";
                self.refuse(field, format!("{:?}", self.names[object.0 as usize]), problem)
            }
        }
    }
}

/// The ranges in ascending order; those that touch or overlap are joined, empty ones removed.
fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.retain(|&(_, length)| length != 0);
    ranges.sort_unstable();
    let mut result: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
    for (start, length) in ranges {
        match result.last_mut() {
            Some((before, total)) if start <= *before + *total => {
                *total = (*total).max(start + length - *before)
            }
            _ => result.push((start, length)),
        }
    }
    result
}

/// Object, submission and offset of a frame whose pixels have padding.
fn padded(event: &Event) -> Option<(ObjectId, u64, u64)> {
    match event {
        Event::Frame(frame) if frame.fourcc.starts_with('X') => {
            Some((frame.object, frame.after_exec, frame.offset))
        }
        _ => None,
    }
}
