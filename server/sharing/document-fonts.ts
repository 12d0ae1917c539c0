// The page's fonts for documents: shared pages load them from this server, exported files contain them.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** One typeface with its Latin letters; the system's fonts draw all others. */
export interface DocumentFont {
  family: string
  /** The range of its weights. */
  weights: string
  /** Where this server offers it. */
  path: string
  /** Its file (WOFF2), which is read once. */
  content(): Buffer
}

/** The letters in the files. */
const LATIN =
  'U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD'

const { resolve } = createRequire(import.meta.url)

function fontOf(name: string, family: string, weights: string): DocumentFont {
  let content: Buffer | undefined
  return {
    family,
    weights,
    path: `/document-fonts/${name}.woff2`,
    content() {
      content ??= readFileSync(
        resolve(`@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`),
      )
      return content
    },
  }
}

/** The fonts of text, code and titles. */
export const DOCUMENT_FONTS: readonly DocumentFont[] = [
  fontOf('geist', 'Geist', '100 900'),
  fontOf('geist-mono', 'Geist Mono', '100 900'),
  fontOf('newsreader', 'Newsreader', '200 800'),
]

/** The style rules of the fonts. @param sourceOf the address of a font. */
export const fontFaces = (sourceOf: (font: DocumentFont) => string): string =>
  DOCUMENT_FONTS.map(
    (font) =>
      `@font-face{font-family:"${font.family}";font-weight:${font.weights};font-display:swap;src:url(${sourceOf(font)}) format("woff2");unicode-range:${LATIN}}`,
  ).join('')
