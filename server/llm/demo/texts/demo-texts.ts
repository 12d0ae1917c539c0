// What the demo model says in each language.

/** The texts of the tour. */
interface TourTexts {
  /** Says that it is a demo; ends before a table of three columns. */
  start: string
  head: readonly [string, string, string]
  rows: readonly (readonly [string, string, string])[]
  /** Leads to a diagram with the labels of `flow`. */
  diagrams: string
  flow: {
    question: string
    model: string
    needs: string
    tool: string
    risky: string
    you: string
    answer: string
  }
  program: string
  /** The title of the plot. */
  plot: string
  plotted: string
  programFailed: string
  change: string
  changed: string
  rejected: string
  withoutProject: string
  end: string
  /** The content of the file. */
  file: string
}

/** All texts in one language. */
export interface DemoTexts {
  thinkingBefore: (names: string) => string
  thinkingTour: string
  calling: (names: string) => string
  thinkingAfter: string
  result: (name: string) => string
  signature: string
  thinkingPlain: string
  noTool: (names: string) => string
  introduction: string
  tour: TourTexts
}
