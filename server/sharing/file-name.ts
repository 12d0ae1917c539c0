// File names in Content-Disposition.

const MAX_CHARACTERS = 100

/** Converts a title to a file name: no characters with a meaning for file systems or shells, never empty, never hidden. */
export function fileNameOf(title: string, extension: string): string {
  const name = Array.from(
    title
      .normalize('NFC')
      // Control and format characters, which can reverse a name's direction, and characters that systems reserve.
      .replaceAll(/[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, ' ')
      .replaceAll(/\s+/g, ' '),
  )
    .slice(0, MAX_CHARACTERS)
    .join('')
    .replaceAll(/^[. ]+|[. ]+$/g, '')
  return `${name === '' ? 'conversation' : name}.${extension}`
}

/** `attachment` with the name for old clients in ASCII and for others as in RFC 8187. */
export const attachmentHeader = (name: string): string =>
  `attachment; filename="${name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')}"; filename*=UTF-8''${encodeFileName(name)}`

/** Encoded as in RFC 8187, which cannot represent lone surrogates. */
export const encodeFileName = (name: string): string =>
  encodeURIComponent(name.replaceAll(/\p{Surrogate}/gu, '\ufffd')).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
