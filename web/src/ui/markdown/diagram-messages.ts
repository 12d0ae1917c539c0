// The messages between the page and the frame that draws diagrams.

/** The CSS variables of the colours that diagrams use. */
export const DIAGRAM_COLOURS = {
  surface: '--surface',
  sunken: '--sunken',
  ink: '--ink',
  muted: '--muted',
  accent: '--accent',
  accentSoft: '--accent-soft',
  warn: '--warn',
  warnSoft: '--warn-soft',
} as const

/** The colours of the page's theme, as `#rrggbb`, and as many fills and marks as there are categories. */
export type DiagramColours = Record<keyof typeof DIAGRAM_COLOURS, string> & {
  /** Of areas with text. */
  fills: readonly string[]
  /** Of lines, points and bars. */
  marks: readonly string[]
}

/** To the frame: draw this Mermaid source. The response has the same `id`. */
export type DiagramRequest = {
  id: number
  source: string
  dark: boolean
  colours: DiagramColours
}

/** An SVG image as text, and its own size in CSS pixels. */
export type DiagramImage = { svg: string; width: number; height: number }

/** From the frame: it has loaded, has drawn a diagram, or cannot draw it. */
export type DiagramResponse =
  | { ready: true }
  | ({ id: number } & DiagramImage)
  | { id: number; error: string }
