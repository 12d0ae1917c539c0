// Finds bytes in an image file that no decoder draws: comments, blocks of cameras and programs, and bytes after the end.

/** Formats that are stored unchanged, because browsers and models support them. */
export const KEPT_FORMATS = ['png', 'jpeg', 'webp', 'gif'] as const
/** Image formats that can be stored as uploaded. */
export type KeptFormat = (typeof KEPT_FORMATS)[number]

/**
 * Whether an image holds more than its picture and colours. libvips reports EXIF, IPTC, XMP and the texts of PNG files, but
 * neither comments nor blocks that it does not know, nor what is appended. Also true for a file that violates its format.
 */
export function hasExtraBytes(format: KeptFormat, bytes: Buffer): boolean {
  try {
    return endOfPicture[format](bytes) !== bytes.length
  } catch (error) {
    // Reading beyond the end: the file is shorter than it says.
    if (error instanceof RangeError) return true
    throw error
  }
}

/** The end of the picture; null as soon as anything else is found in it. */
const endOfPicture: Record<KeptFormat, (bytes: Buffer) => number | null> = {
  jpeg(bytes) {
    for (let at = 2; ; ) {
      // Data of the picture, which ends at a marker: 0xff not followed by 0, another 0xff or a restart marker.
      at = bytes.indexOf(0xff, at)
      if (at === -1) return null
      const marker = bytes.readUInt8(at + 1)
      if (marker === 0xd9) return at + 2
      if (marker === 0 || marker === 0xff || (marker >= 0xd0 && marker <= 0xd7)) {
        at += marker === 0xff ? 1 : 2
        continue
      }
      if (!isJpegSegment(marker, bytes.toString('latin1', at + 4, at + 16))) return null
      at += 2 + bytes.readUInt16BE(at + 2)
    }
  },

  png(bytes) {
    for (let at = 8; ; ) {
      const type = bytes.toString('latin1', at + 4, at + 8)
      at += 12 + bytes.readUInt32BE(at)
      if (type === 'IEND') return at
      // Chunks whose name begins with a capital letter are needed to draw the picture.
      if (!/^[A-Z]/.test(type) && !PNG_CHUNKS.has(type)) return null
    }
  },

  webp(bytes) {
    const end = 8 + bytes.readUInt32LE(4)
    for (let at = 12; at < end; ) {
      if (!WEBP_CHUNKS.has(bytes.toString('latin1', at, at + 4))) return null
      const size = bytes.readUInt32LE(at + 4)
      at += 8 + size + (size % 2)
    }
    return end
  },

  gif(bytes) {
    const colorTable = (flags: number): number =>
      (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1)
    for (let at = 13 + colorTable(bytes.readUInt8(10)); ; ) {
      const block = bytes.readUInt8(at)
      if (block === 0x3b) return at + 1
      if (block === 0x2c) at += 11 + colorTable(bytes.readUInt8(at + 9))
      else if (block === 0x21 && isGifExtension(bytes, at)) at += 2
      else return null
      for (let size = bytes.readUInt8(at); size > 0; size = bytes.readUInt8(at)) at += 1 + size
      at += 1
    }
  },
}

/** Tables and scans of the picture, and of the segments of applications those that say how its colours are meant. */
const isJpegSegment = (marker: number, content: string): boolean =>
  marker === 0xee
    ? content.startsWith('Adobe')
    : marker === 0xe2
      ? content.startsWith('ICC_PROFILE\0')
      : marker === 0xe0
        ? content.startsWith('JFIF\0')
        : marker >= 0xc0 && marker <= 0xdf

const PNG_CHUNKS = new Set(
  'tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST pHYs sPLT acTL fcTL fdAT'.split(' '),
)
const WEBP_CHUNKS = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP'])

/** How long a frame is shown, how often an animation repeats, and colours. */
const isGifExtension = (bytes: Buffer, at: number): boolean =>
  bytes.readUInt8(at + 1) === 0xf9 ||
  (bytes.readUInt8(at + 1) === 0xff &&
    ['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012'].includes(
      bytes.toString('latin1', at + 3, at + 14),
    ))
