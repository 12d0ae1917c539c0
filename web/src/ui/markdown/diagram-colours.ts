// The colours of a diagram, from those of a theme.
import type { DIAGRAM_COLOURS, DiagramColours } from './diagram-messages.ts'

/** A CSS colour as `#rrggbb`, because Mermaid's colour library does not support `oklch`. */
function hexOf(colour: string): string {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 1
  const context = canvas.getContext('2d')
  if (context === null) return '#888888'
  context.fillStyle = colour
  context.fillRect(0, 0, 1, 1)
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data
  return `#${[red, green, blue].map((one) => one.toString(16).padStart(2, '0')).join('')}`
}

/** OKLCH hues of the categories of a chart, of which neighbours differ most. Mermaid has twelve. */
const CATEGORY_HUES = [195, 75, 285, 15, 225, 135, 345, 105, 255, 45, 315, 165] as const
/** Lightness and chroma: text in the ink colour is readable on fills, and text in the surface colour on marks. */
const CATEGORY_SHADES = {
  light: { fill: '0.84 0.085', mark: '0.55 0.11' },
  dark: { fill: '0.45 0.085', mark: '0.76 0.1' },
} as const

/** `read` returns the CSS colour of a theme's name. */
export function diagramColours(
  read: (name: keyof typeof DIAGRAM_COLOURS) => string,
  dark: boolean,
): DiagramColours {
  const { fill, mark } = CATEGORY_SHADES[dark ? 'dark' : 'light']
  const of = (name: keyof typeof DIAGRAM_COLOURS): string => hexOf(read(name))
  return {
    surface: of('surface'),
    sunken: of('sunken'),
    ink: of('ink'),
    muted: of('muted'),
    accent: of('accent'),
    accentSoft: of('accentSoft'),
    warn: of('warn'),
    warnSoft: of('warnSoft'),
    fills: CATEGORY_HUES.map((hue) => hexOf(`oklch(${fill} ${hue})`)),
    marks: CATEGORY_HUES.map((hue) => hexOf(`oklch(${mark} ${hue})`)),
  }
}

/** The page's colours (app/styles.css) for diagrams in documents, which do not have its styles. */
const DOCUMENT_COLOURS = {
  light: {
    surface: 'oklch(1 0 0)',
    sunken: 'oklch(0.962 0.006 85)',
    ink: 'oklch(0.245 0.012 70)',
    muted: 'oklch(0.49 0.013 75)',
    accent: 'oklch(0.475 0.082 196)',
    accentSoft: 'oklch(0.94 0.025 196)',
    warn: 'oklch(0.5 0.11 62)',
    warnSoft: 'oklch(0.955 0.045 80)',
  },
  dark: {
    surface: 'oklch(0.232 0.006 75)',
    sunken: 'oklch(0.172 0.005 75)',
    ink: 'oklch(0.925 0.006 85)',
    muted: 'oklch(0.695 0.01 80)',
    accent: 'oklch(0.775 0.095 192)',
    accentSoft: 'oklch(0.3 0.035 196)',
    warn: 'oklch(0.81 0.115 78)',
    warnSoft: 'oklch(0.295 0.04 75)',
  },
} as const

/** The colours of a diagram in a shared page or an exported file. */
export const documentColours = (dark: boolean): DiagramColours =>
  diagramColours((name) => DOCUMENT_COLOURS[dark ? 'dark' : 'light'][name], dark)
