// What the page and the frame that draws diagrams send each other.

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

/** The page's theme for a diagram, by the name of the colour. */
export type DiagramColours = Record<keyof typeof DIAGRAM_COLOURS, string>

/** To the frame: draw this Mermaid source. The answer has the same `id`. */
export type DiagramRequest = {
  id: number
  source: string
  dark: boolean
  /** As `#rrggbb`. */
  colours: DiagramColours
}

/** From the frame: it has loaded, a drawn diagram, or why a source cannot be drawn. */
export type DiagramAnswer =
  | { ready: true }
  | { id: number; svg: string }
  | { id: number; error: string }
