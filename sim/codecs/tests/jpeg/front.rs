//! What an application and a driver do with a file: they read the segments of markers (T.81 annex
//! B), refuse what the engine cannot decode, and fill the parameters.

use genxml_codecs::jpeg::{
    Decoder, HuffmanTables, InputFormat, Outcome, Parameters, Rotation, Scan,
};

use genxml_codecs::zigzag::ZIGZAG_8X8;
use genxml_codecs::{Frame, Plane};

/// A picture as the packets state it.
pub struct Picture {
    /// Width and height in luma samples.
    pub size: (usize, usize),
    pub format: InputFormat,
    /// Of each scan: the parameters, and where its data are in the file.
    pub scans: Vec<(Parameters, Scan, usize)>,
}

impl Picture {
    /// Decodes all scans into a frame whose planes have the size of the picture.
    pub fn decode(&self, file: &[u8]) -> (Frame, Vec<Outcome>) {
        let (mut frame, mut outcomes) = (self.frame(), Vec::new());
        for (parameters, scan, start) in &self.scans {
            let decoder = Decoder::new(parameters).unwrap();
            outcomes.push(decoder.scan(scan, &file[*start..], &mut frame));
        }
        (frame, outcomes)
    }

    /// A frame of the size of the picture.
    pub fn frame(&self) -> Frame {
        let (across, down) = self.format.subsampling();
        let step = (across as usize, down as usize);
        let mut frame = Frame::new(self.size.0, self.size.1, step, 128);
        frame.planes[self.format.components()..].fill(Plane::default());
        frame
    }
}

struct Component {
    id: u8,
    sampling: (u32, u32),
    quantiser: usize,
}

/// Number of codes of each length, and the values.
type Table = ([u8; 16], Vec<u8>);

#[derive(Default)]
struct Headers {
    size: (u32, u32),
    components: Vec<Component>,
    /// In raster order; empty if not defined.
    quantisers: [Vec<u8>; 4],
    /// Tables by class and destination.
    huffman: [[Option<Table>; 4]; 2],
    restart_interval: u16,
}

/// Reads a file. The error says why the engine cannot decode it.
pub fn read(file: &[u8]) -> Result<Picture, String> {
    let mut headers = Headers::default();
    let (mut at, mut scans) = (0, Vec::new());
    let is_marker = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0 | 0xff | 0xd0..=0xd7);
    while let Some(found) = file[at..].windows(2).position(is_marker) {
        let marker = file[at + found + 1];
        at += found + 2;
        if marker == 0xd8 {
            continue;
        }
        let length = match file.get(at..at + 2) {
            Some(length) if marker != 0xd9 => usize::from(length[0]) << 8 | usize::from(length[1]),
            _ => break,
        };
        let payload = file.get(at + 2..at + length).ok_or("a segment is cut")?;
        at += length;
        match marker {
            0xc0 => headers.frame(payload)?,
            0xc4 => headers.huffman(payload)?,
            0xc1..=0xcf => {
                return Err(format!("the process of SOF{} is not baseline", marker & 15));
            }
            0xdb => headers.quantisers(payload)?,
            0xdd => headers.restart_interval = u16::from(payload[0]) << 8 | u16::from(payload[1]),
            0xda => {
                let (parameters, scan) = headers.scan(payload)?;
                scans.push((parameters, scan, at));
            }
            _ => {}
        }
    }
    let size = (headers.size.0 as usize, headers.size.1 as usize);
    Ok(Picture { size, format: headers.format()?, scans })
}

impl Headers {
    /// SOF (T.81 B.2.2).
    fn frame(&mut self, payload: &[u8]) -> Result<(), String> {
        if payload[0] != 8 {
            return Err(format!("samples have {} bits", payload[0]));
        }
        let word = |at: usize| u32::from(payload[at]) << 8 | u32::from(payload[at + 1]);
        self.size = (word(3), word(1));
        self.components = payload[6..]
            .chunks_exact(3)
            .map(|bytes| Component {
                id: bytes[0],
                sampling: (u32::from(bytes[1] >> 4), u32::from(bytes[1] & 15)),
                quantiser: usize::from(bytes[2] & 3),
            })
            .collect();
        self.format().map(drop)
    }

    fn format(&self) -> Result<InputFormat, String> {
        let factors: Vec<_> = self.components.iter().map(|component| component.sampling).collect();
        Ok(match factors[..] {
            [_] => InputFormat::Yuv400,
            [(2, 2), (1, 1), (1, 1)] => InputFormat::Yuv420,
            [(2, 1), (1, 1), (1, 1)] => InputFormat::Yuv422H2Y,
            [(1, 1), (1, 1), (1, 1)] => InputFormat::Yuv444,
            [(4, 1), (1, 1), (1, 1)] => InputFormat::Yuv411,
            [(1, 2), (1, 1), (1, 1)] => InputFormat::Yuv422V2Y,
            [(2, 2), (1, 2), (1, 2)] => InputFormat::Yuv422H4Y,
            [(2, 2), (2, 1), (2, 1)] => InputFormat::Yuv422V4Y,
            _ => return Err(format!("sampling factors {factors:?}")),
        })
    }

    /// DHT (T.81 B.2.4.2).
    fn huffman(&mut self, mut payload: &[u8]) -> Result<(), String> {
        while let [target, rest @ ..] = payload {
            let counts: [u8; 16] = rest[..16].try_into().unwrap();
            let total: usize = counts.iter().map(|&count| usize::from(count)).sum();
            let values = rest[16..16 + total].to_vec();
            *self
                .huffman
                .get_mut(usize::from(target >> 4))
                .ok_or("a class of tables that does not exist")?
                .get_mut(usize::from(target & 15))
                .ok_or("a table that does not exist")? = Some((counts, values));
            payload = &rest[16 + total..];
        }
        Ok(())
    }

    /// DQT (T.81 B.2.4.1). The driver changes the order to raster order.
    fn quantisers(&mut self, payload: &[u8]) -> Result<(), String> {
        for table in payload.chunks_exact(65) {
            if table[0] > 3 {
                return Err("a quantiser of 16 bits".into());
            }
            let matrix = &mut self.quantisers[usize::from(table[0])];
            matrix.resize(64, 0);
            for (raster, value) in ZIGZAG_8X8.iter().zip(&table[1..]) {
                matrix[usize::from(*raster)] = *value;
            }
        }
        Ok(())
    }

    /// SOS (T.81 B.2.3). Tables of the first component become table 0, those of others table 1.
    fn scan(&self, payload: &[u8]) -> Result<(Parameters, Scan), String> {
        let format = self.format()?;
        let (mut huffman, mut mask) = ([None, None], 0);
        for pair in payload[1..].chunks_exact(2).take(usize::from(payload[0])) {
            let index = self.components.iter().position(|component| component.id == pair[0]);
            let index = index.ok_or("a scan of a component that does not exist")?;
            mask |= 1 << index;
            huffman[usize::from(index != 0)] = Some(self.tables(pair[1])?);
        }
        let mut quantisers = [[0; 64]; 3];
        for (matrix, component) in quantisers.iter_mut().zip(&self.components) {
            let from = &self.quantisers[component.quantiser];
            *matrix = from[..].try_into().map_err(|_| "a quantiser is missing")?;
        }
        let luma = format.sampling(0);
        // Whole units, as both drivers do for interleaved scans.
        let blocks = |size: u32, factor: u32| size.div_ceil(8 * factor) * factor;
        let parameters = Parameters {
            format,
            width_in_blocks: blocks(self.size.0, luma.0),
            height_in_blocks: blocks(self.size.1, luma.1),
            picture: Some(self.size),
            rotation: Rotation::None,
            huffman,
            quantisers,
        };
        let interleaved = payload[0] > 1;
        let (columns, rows) = if interleaved {
            parameters.units()
        } else {
            let (across, down) = match mask {
                1 => (1, 1),
                _ => format.subsampling(),
            };
            let blocks = |size: u32, step: u32| size.div_ceil(step).div_ceil(8);
            (blocks(self.size.0, across), blocks(self.size.1, down))
        };
        let scan = Scan {
            mcu_count: columns * rows,
            restart_interval: self.restart_interval,
            interleaved,
            components: mask,
            horizontal: 0,
            vertical: 0,
        };
        Ok((parameters, scan))
    }

    fn tables(&self, selectors: u8) -> Result<HuffmanTables, String> {
        let table = |class: usize, selector: u8| {
            self.huffman[class].get(usize::from(selector)).and_then(Option::as_ref)
        };
        let dc = table(0, selectors >> 4).ok_or("a DC table is missing")?;
        let ac = table(1, selectors & 15).ok_or("an AC table is missing")?;
        if dc.1.len() > 12 || ac.1.len() > 162 || dc.0[12..] != [0; 4] {
            return Err("a table that does not fit its packet".into());
        }
        let mut tables = HuffmanTables {
            dc_counts: dc.0[..12].try_into().unwrap(),
            dc_values: [0; 12],
            ac_counts: ac.0,
            ac_values: [0; 162],
        };
        tables.dc_values[..dc.1.len()].copy_from_slice(&dc.1);
        tables.ac_values[..ac.1.len()].copy_from_slice(&ac.1);
        Ok(tables)
    }
}
