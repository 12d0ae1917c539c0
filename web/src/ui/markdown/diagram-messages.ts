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

/** The colours of the page's theme, as `#rrggbb`. */
export type DiagramColours = Record<keyof typeof DIAGRAM_COLOURS, string>

/** To the frame: draw this Mermaid source. The response has the same `id`. */
export type DiagramRequest = {
  id: number
  source: string
  dark: boolean
  colours: DiagramColours
}

/** From the frame: it has loaded, has drawn a diagram, or cannot draw it. */
export type DiagramResponse =
  | { ready: true }
  | { id: number; svg: string }
  | { id: number; error: string }
