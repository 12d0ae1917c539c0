// The page's fonts for documents: shared pages load them from this server, exported files contain them.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** One typeface. */
export interface DocumentFont {
  family: string
  /** The range of its weights. */
  weights: string
  /** The characters that it draws; the system's fonts draw all others. Absent: every one that it has. */
  range?: string
  /** Where this server offers it. */
  path: string
  /** Its file (WOFF2), which is read once. */
  content(): Buffer
}

/** The Latin letters. */
const LATIN =
  'U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD'

const { resolve } = createRequire(import.meta.url)

function fontOf(name: string, file: string, font: Omit<DocumentFont, 'path' | 'content'>) {
  let content: Buffer | undefined
  return {
    ...font,
    path: `/document-fonts/${name}.woff2`,
    content() {
      content ??= readFileSync(resolve(file))
      return content
    },
  }
}

const latin = (name: string, family: string, weights: string): DocumentFont =>
  fontOf(name, `@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`, {
    family,
    weights,
    range: LATIN,
  })

/** The fonts of text, code and titles. */
export const TEXT_FONTS: readonly DocumentFont[] = [
  latin('geist', 'Geist', '100 900'),
  latin('geist-mono', 'Geist Mono', '100 900'),
  latin('newsreader', 'Newsreader', '200 800'),
]

/** The font of formulas, whose brackets and roots grow with what they enclose. */
export const FORMULA_FONT: DocumentFont = fontOf(
  'stix-two-math',
  '@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2',
  { family: 'STIX Two Math', weights: '400' },
)

/** The style rules of the fonts. @param sourceOf the address of a font. */
export const fontFaces = (
  fonts: readonly DocumentFont[],
  sourceOf: (font: DocumentFont) => string,
): string =>
  fonts
    .map((font) => {
      const range = font.range === undefined ? '' : `;unicode-range:${font.range}`
      return `@font-face{font-family:"${font.family}";font-weight:${font.weights};font-display:swap;src:url(${sourceOf(font)}) format("woff2")${range}}`
    })
    .join('')
