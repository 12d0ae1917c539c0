// Finds out whether a file in a container of recordings is a video: whether it has a track of pictures.
import { type FileHandle, open } from 'node:fs/promises'
import type { AudioType } from '../lib/audio-type.ts'

/** The names under which containers list a track of pictures: handlers of MP4, codecs of Matroska and Ogg. */
const PICTURE_TRACKS: Partial<Record<AudioType, RegExp>> = {
  mp4: /hdlr.{8}vide/s,
  webm: /V_(?:VP[89]|AV1|MPEG|MS\/VFW|MJPEG|PRORES|FFV1|REAL|QUICKTIME|THEORA|UNCOMPRESSED)/,
  ogg: /\x80theora/,
}
/** Bytes that are searched at the beginning, at the end, and from the beginning of an MP4's list of tracks. */
const SEARCHED_BYTES = 256 * 1024
/** Boxes at the top level of an MP4 that are looked at: `moov` precedes the many of a fragmented one. */
const MAX_BOXES = 1_000

/** Whether the file, which is of this type, has a track of pictures. It reads a bounded part. */
export async function hasPictures(path: string, type: AudioType): Promise<boolean> {
  const track = PICTURE_TRACKS[type]
  if (track === undefined) return false
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const places = new Set([0, Math.max(0, size - SEARCHED_BYTES)])
    if (type === 'mp4') places.add(await movieBoxOf(file))
    for (const at of places) if (track.test(await textAt(file, at))) return true
    return false
  } finally {
    await file.close()
  }
}

async function textAt(file: FileHandle, at: number): Promise<string> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(SEARCHED_BYTES), 0, SEARCHED_BYTES, at)
  return buffer.toString('latin1', 0, bytesRead)
}

/**
 * Where the box `moov` begins, in which an MP4 lists its tracks, anywhere in the file; 0 if none is found.
 * The format: ISO/IEC 14496-12, 4.2.
 */
async function movieBoxOf(file: FileHandle): Promise<number> {
  const header = Buffer.alloc(16)
  for (let at = 0, boxes = 0; boxes < MAX_BOXES; boxes += 1) {
    const { bytesRead } = await file.read(header, 0, header.length, at)
    if (bytesRead < 8) break
    if (header.toString('latin1', 4, 8) === 'moov') return at
    const length = header.readUInt32BE(0)
    // One stands for a length in 64 bits, zero for the rest of the file.
    const bytes = length === 1 && bytesRead === 16 ? Number(header.readBigUInt64BE(8)) : length
    if (bytes < 8 || !Number.isSafeInteger(at + bytes)) break
    at += bytes
  }
  return 0
}
