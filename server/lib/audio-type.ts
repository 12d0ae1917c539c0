// Detects the type of a recording by its first bytes, whatever its name says.

/** The types that services for transcription accept, with the media types that browsers play. */
export const AUDIO_MIMES = {
  webm: 'audio/webm',
  ogg: 'audio/ogg',
  mp4: 'audio/mp4',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
} as const
/** A type that services for transcription accept. */
export type AudioType = keyof typeof AUDIO_MIMES

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
