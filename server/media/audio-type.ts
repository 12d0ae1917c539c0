// Detects the type of a recording by its first bytes, whatever its name says.

/** The types that services for transcription accept. */
export type AudioType = 'webm' | 'ogg' | 'mp4' | 'mp3' | 'wav' | 'flac'

const latin1 = (head: Uint8Array, start: number, end: number): string =>
  Buffer.from(head.subarray(start, end)).toString('latin1')

/** Brands of the ISO base media file format that hold sound; Safari records `mp42` and `iso5`. */
const MP4_BRAND = /^(?:M4A |M4B |M4V |mp4[12]|isom|iso[2-9]|dash|qt {2}|avc1|f4v )$/

/** Undefined: no recording of a known type. */
export function audioTypeOf(head: Uint8Array): AudioType | undefined {
  if (latin1(head, 0, 4) === '\x1aE\xdf\xa3') return 'webm'
  if (latin1(head, 0, 4) === 'OggS') return 'ogg'
  if (latin1(head, 0, 4) === 'fLaC') return 'flac'
  if (latin1(head, 0, 4) === 'RIFF' && latin1(head, 8, 12) === 'WAVE') return 'wav'
  if (latin1(head, 4, 8) === 'ftyp' && MP4_BRAND.test(latin1(head, 8, 12))) return 'mp4'
  if (latin1(head, 0, 3) === 'ID3') return 'mp3'
  // The first frame of MPEG audio: eleven bits set, a valid version, layer and rate.
  const [first = 0, second = 0, third = 0] = head
  const isFrame = first === 0xff && (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08
  return isFrame && third >> 4 !== 15 && (third & 0x0c) !== 0x0c ? 'mp3' : undefined
}

/** The bytes of a second that browsers record, and at least what speech takes elsewhere. */
const BYTES_PER_SECOND = 16_000

/** 192,000 samples of two channels with 32 bits. A header that claims more would make a recording short, and cheap. */
const MAX_BYTES_PER_SECOND = 1_536_000

/** How long a recording is, if the service does not say: exact for WAV, otherwise by its size. */
export function secondsOf(bytes: Uint8Array, type: AudioType): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const rate = type === 'wav' && bytes.length >= 32 ? view.getUint32(28, true) : BYTES_PER_SECOND
  return bytes.length / Math.min(Math.max(1, rate), MAX_BYTES_PER_SECOND)
}
