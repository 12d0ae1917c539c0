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

export type DiagramColours = Record<keyof typeof DIAGRAM_COLOURS, string>

export type DiagramRequest = {
  id: number
  source: string
  dark: boolean
  /** As `#rrggbb`. */
  colours: DiagramColours
}

export type DiagramAnswer =
  | { ready: true }
  | { id: number; svg: string }
  | { id: number; error: string }
