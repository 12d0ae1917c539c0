// Mermaid's theme variables in the page's colours. Without these, charts get near-black or nearly equal colours.
// The names are those of Mermaid 11's base theme and of the styles of its packet diagrams: https://mermaid.js.org/config/theming.html
import type { DiagramColours } from './diagram-messages.ts'

/** `{ [prefix + (first + index)]: colour }` for each colour. */
const numbered = (prefix: string, colours: readonly string[], first = 0): Record<string, string> =>
  Object.fromEntries(colours.map((colour, at) => [`${prefix}${first + at}`, colour]))

/** The theme variables of every kind of diagram. Fills carry text in the ink colour, marks carry text in the surface colour. */
export function diagramTheme({ fills, marks, ...colours }: DiagramColours) {
  const { surface, sunken, ink, muted, accent, accentSoft, warn, warnSoft } = colours
  return {
    // Lines, boxes and text.
    background: surface,
    primaryColor: accentSoft,
    primaryTextColor: ink,
    primaryBorderColor: accent,
    secondaryColor: sunken,
    secondaryTextColor: ink,
    tertiaryColor: sunken,
    tertiaryTextColor: ink,
    lineColor: muted,
    edgeLabelBackground: surface,
    relationLabelBackground: surface,
    textColor: ink,
    noteBkgColor: warnSoft,
    noteTextColor: ink,
    noteBorderColor: warn,
    archEdgeColor: muted,
    archEdgeArrowColor: muted,
    archGroupBorderColor: muted,
    // Gantt charts.
    altSectionBkgColor: surface,
    sectionBkgColor: sunken,
    sectionBkgColor2: sunken,
    gridColor: muted,
    excludeBkgColor: sunken,
    activeTaskBkgColor: fills[0],
    activeTaskBorderColor: accent,
    doneTaskBkgColor: sunken,
    doneTaskBorderColor: muted,
    critBkgColor: warnSoft,
    critBorderColor: warn,
    todayLineColor: warn,
    // Charts.
    ...numbered('pie', fills, 1),
    pieOpacity: '1',
    pieStrokeColor: surface,
    pieOuterStrokeColor: surface,
    ...numbered('venn', marks, 1),
    xyChart: {
      backgroundColor: surface,
      plotColorPalette: marks.join(),
      titleColor: ink,
      dataLabelColor: ink,
      legendTextColor: ink,
      xAxisTitleColor: ink,
      xAxisLabelColor: ink,
      xAxisTickColor: muted,
      xAxisLineColor: muted,
      yAxisTitleColor: ink,
      yAxisLabelColor: ink,
      yAxisTickColor: muted,
      yAxisLineColor: muted,
    },
    radar: { axisColor: muted, graticuleColor: muted, graticuleOpacity: 0.08 },
    quadrant1Fill: accentSoft,
    quadrant2Fill: sunken,
    quadrant3Fill: surface,
    quadrant4Fill: sunken,
    quadrantPointFill: accent,
    packet: {
      startByteColor: ink,
      endByteColor: ink,
      labelColor: ink,
      titleColor: ink,
      blockStrokeColor: muted,
      blockFillColor: sunken,
    },
    cynefin: {
      complexBg: fills[0],
      complicatedBg: fills[1],
      chaoticBg: fills[2],
      clearBg: fills[3],
      confusionBg: fills[4],
      textColor: ink,
      labelColor: ink,
      boundaryColor: muted,
      arrowColor: muted,
      cliffColor: warn,
    },
    // Mind maps, timelines, tree maps, radar charts; journeys; branches.
    ...numbered('cScale', fills),
    ...numbered('cScalePeer', marks),
    ...numbered('cScaleInv', marks),
    ...numbered(
      'cScaleLabel',
      fills.map(() => ink),
    ),
    ...numbered('fillType', fills),
    ...numbered('git', marks),
    ...numbered(
      'gitBranchLabel',
      marks.map(() => surface),
    ),
  }
}
