// Diagrams as images for files that are opened elsewhere.
import { documentColours } from './diagram-colours.ts'
import { drawDiagram } from './draw-diagram.ts'

const addressOf = (svg: string): string =>
  `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`

/** The addresses of a diagram's images in both themes; null if it cannot be drawn. */
export async function diagramImages(
  source: string,
): Promise<{ light: string; dark: string } | null> {
  const light = await drawDiagram(source, false, documentColours(false))
  const dark = await drawDiagram(source, true, documentColours(true))
  return 'svg' in light && 'svg' in dark
    ? { light: addressOf(light.svg), dark: addressOf(dark.svg) }
    : null
}
