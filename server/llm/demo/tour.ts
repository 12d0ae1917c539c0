// The tour of the demo model: half a minute on what the page can show, with real tool calls and nothing that must fail.
import type { DemoCall } from './intents.ts'
import type { DemoTexts } from './texts/demo-texts.ts'

/** What asks for the tour, in each of the page's languages. */
const ASKED = /\btour\b|导览|導覽|rundgang|visite guidée|recorrido|экскурси|ツアー|둘러보기/i

const MAX_TEXT = 500

/** Whether a message asks for the tour. */
export const asksForTour = (message: string): boolean =>
  message.length <= MAX_TEXT && ASKED.test(message)

type TourTexts = DemoTexts['tour']

const programOf = ({ plot }: TourTexts): string => `import math

# No package is needed for a plot: an SVG file in /output is shown.
hours = range(25)
degrees = [12 + 8 * math.sin((hour - 9) * math.pi / 12) for hour in hours]
points = " ".join(f"{40 + 18 * hour},{180 - 7 * degree:.0f}" for hour, degree in zip(hours, degrees))
grid = "".join(
    f'<path d="M40 {180 - 7 * y}h432" stroke="#ddd"/><text x="32" y="{184 - 7 * y}" text-anchor="end">{y}</text>'
    for y in range(0, 21, 5)
)
clock = "".join(f'<text x="{40 + 18 * hour}" y="200" text-anchor="middle">{hour}:00</text>' for hour in hours[::6])
with open("/output/temperature.svg", "w") as file:
    file.write(
        '<svg xmlns="http://www.w3.org/2000/svg" width="500" height="212" viewBox="0 0 500 212" font-family="sans-serif" font-size="11">'
        '<rect width="500" height="212" fill="white"/><text x="40" y="18" font-size="13">${plot}</text>'
        f'{grid}{clock}<polyline points="{points}" fill="none" stroke="#c2410c" stroke-width="2.5"/></svg>'
    )
print(f"{min(degrees):.0f} °C – {max(degrees):.0f} °C")
`

const tableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const startOf = ({ start, head, rows, diagrams, flow }: TourTexts): string => `${start}

${[head, head.map(() => '---'), ...rows].map(tableRow).join('\n')}

${diagrams}

\`\`\`mermaid
flowchart LR
  question[${flow.question}] --> model[${flow.model}]
  model -->|${flow.needs}| tool[${flow.tool}]
  tool --> model
  tool -.->|${flow.risky}| you[${flow.you}]
  you -.-> tool
  model --> answer[${flow.answer}]
\`\`\``

/** One part of the tour: its text and the call that follows. */
interface Part {
  text: string
  calls: readonly DemoCall[]
}

/** What has happened since the tour was asked for: each tool result by the name of its tool, and whether it succeeded. */
export type TourResults = ReadonlyMap<string, boolean>

/**
 * The next part of the tour. `tools` are those that this conversation has; `fileName` is that of a file that does not exist,
 * or null without a project, where the file tools only fail.
 */
export function tourPart(
  say: TourTexts,
  results: TourResults,
  tools: ReadonlySet<string>,
  fileName: string | null,
): Part {
  const python = { tool: 'execute_python', arguments: { code: programOf(say) } }
  const file =
    fileName === null || !tools.has('file_write')
      ? null
      : { tool: 'file_write', arguments: { path: fileName, content: say.file } }
  const written = results.get('file_write')
  if (results.size === 0 && tools.has(python.tool))
    return { text: `${startOf(say)}\n\n${say.program}`, calls: [python] }
  const before = results.size === 0 ? [startOf(say)] : []
  if (results.has(python.tool) && written === undefined)
    before.push(results.get(python.tool) === true ? say.plotted : say.programFailed)
  if (written === undefined && file !== null)
    return { text: [...before, say.change].join('\n\n'), calls: [file] }
  const after = written === undefined ? say.withoutProject : written ? say.changed : say.rejected
  return { text: [...before, after, say.end].join('\n\n'), calls: [] }
}
