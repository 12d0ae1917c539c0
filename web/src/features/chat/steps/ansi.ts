// Parses terminal output: colours become classes of the page, other control sequences are dropped.

/** One of the eight terminal colours. */
export type Hue = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7

/** The style of a piece of output. Absent fields mean plain text. */
export type Style = {
  colour?: Hue
  background?: Hue
  bold?: true
  dim?: true
  italic?: true
  underline?: true
  inverse?: true
  strike?: true
}

/** Consecutive characters with the same style. */
export type Span = { text: string; style: Style }

// ESC [ … letter (CSI), ESC ] … BEL (a title or a link), and two-character sequences. One pass, bounded look-ahead.
const ESCAPE_SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it matches control characters
  /\u001b(?:\[([0-9;:?<=>!]{0,200}[ -/]{0,9})([@-~])|\][^\u0007\u001b]{0,4000}(?:\u0007|\u001b\\)|[PX^_][^\u001b]{0,4000}\u001b\\|[ -/]{0,9}[0-~])?/g
/** The remaining control characters, except tab and backspace. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches control characters
const UNPRINTABLE = /[\u0000-\u0007\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

const isHue = (value: number): value is Hue => Number.isInteger(value) && value >= 0 && value <= 7
const toHue = (value: number): Hue => (isHue(value) ? value : 7)

/** The nearest of the eight colours, because these are readable in both themes. */
const nearestHue = (red: number, green: number, blue: number): Hue => {
  const most = Math.max(red, green, blue)
  if (most - Math.min(red, green, blue) < 40) return most < 64 ? 0 : 7
  const bit = (part: number): number => (part > most * 0.6 ? 1 : 0)
  return toHue(bit(red) + 2 * bit(green) + 4 * bit(blue))
}

/** The nearest colour of an entry of the 256-colour table. */
const tableHue = (index: number): Hue => {
  if (index < 16) return toHue(index % 8)
  if (index >= 232) return index < 238 ? 0 : 7
  const cube = index - 16
  const level = (step: number): number => step * 51
  return nearestHue(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6))
}

const STYLES_ON: Readonly<Record<number, Style>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
}
const STYLES_OFF: Readonly<Record<number, readonly (keyof Style)[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
  39: ['colour'],
  49: ['background'],
}

/** Applies "Select graphic rendition" parameters to a style. */
function nextStyle(before: Style, parameters: string): Style {
  let style: Style = { ...before }
  const codes = parameters.split(/[;:]/).map(Number)
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0
    if (code === 0) style = {}
    else if (STYLES_ON[code] !== undefined) style = { ...style, ...STYLES_ON[code] }
    else if (STYLES_OFF[code] !== undefined) for (const name of STYLES_OFF[code]) delete style[name]
    else if (code >= 30 && code <= 37) style.colour = toHue(code - 30)
    else if (code >= 90 && code <= 97) style.colour = toHue(code - 90)
    else if (code >= 40 && code <= 47) style.background = toHue(code - 40)
    else if (code >= 100 && code <= 107) style.background = toHue(code - 100)
    else if (code === 38 || code === 48) {
      const name = code === 38 ? 'colour' : 'background'
      if (codes[at + 1] === 5) {
        style[name] = tableHue(codes[at + 2] ?? 7)
        at += 2
      } else if (codes[at + 1] === 2) {
        style[name] = nearestHue(codes[at + 2] ?? 0, codes[at + 3] ?? 0, codes[at + 4] ?? 0)
        at += 4
      }
    }
  }
  return style
}

/** The final content of a line that carriage returns, for example of a progress bar, have overwritten. */
function overwritten(line: string): string {
  const parts = line.replace(/\r+$/, '').split('\r')
  return parts.findLast((part) => part !== '') ?? ''
}

const withoutBackspaces = (text: string): string => {
  if (!text.includes('\b')) return text
  const out: string[] = []
  for (const character of text) {
    if (character === '\b') out.pop()
    else out.push(character)
  }
  return out.join('')
}

const clean = (text: string): string => withoutBackspaces(text).replace(UNPRINTABLE, '')

/** Splits the text into lines of styled pieces. A style continues across line ends, as in a terminal. */
export function readTerminal(text: string): Span[][] {
  let style: Style = {}
  return text.split('\n').map((line) => {
    const spans: Span[] = []
    const add = (piece: string): void => {
      const shown = clean(piece)
      if (shown !== '') spans.push({ text: shown, style })
    }
    const seen = overwritten(line)
    let from = 0
    for (const found of seen.matchAll(ESCAPE_SEQUENCE)) {
      add(seen.slice(from, found.index))
      if (found[2] === 'm') style = nextStyle(style, found[1] ?? '')
      from = found.index + found[0].length
    }
    add(seen.slice(from))
    return spans
  })
}

/** The CSS classes of a style, separated by spaces. */
export const classOf = (style: Style): string =>
  [
    style.colour === undefined ? '' : `ansi-${style.colour}`,
    style.background === undefined ? '' : `ansi-on-${style.background}`,
    style.bold ? 'font-semibold' : '',
    style.dim ? 'opacity-70' : '',
    style.italic ? 'italic' : '',
    style.underline ? 'underline' : '',
    style.strike ? 'line-through' : '',
    style.inverse ? 'ansi-inverse' : '',
  ]
    .filter((name) => name !== '')
    .join(' ')
