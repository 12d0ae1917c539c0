// Arranges an answer's steps for drawing: stretches of text, and groups of thinking and tool calls between them.
import type {
  Step,
  ToolCallStep,
  ToolResultStep,
} from '../../../../../server/protocol/runs/step.ts'

/**
 * One row of the rail. `result` is null while the call is not finished, `durationMs` where it is
 * not known.
 */
export type Activity =
  | { kind: 'thinking'; key: string; text: string; open: boolean; durationMs: number | null }
  | { kind: 'tool'; key: string; call: ToolCallStep; result: ToolResultStep | null }

/** What is drawn as one block; `key` stays the same while the answer grows. */
export type Segment =
  | { kind: 'prose'; key: string; text: string }
  | { kind: 'activity'; key: string; items: Activity[] }

/** `live`: the answer still grows, so its last step is open. Keeps the order of the steps. */
export function toSegments(steps: readonly Step[], live: boolean): Segment[] {
  const results = new Map<string, ToolResultStep>()
  for (const step of steps) if (step?.type === 'tool_result') results.set(step.id_ref, step)
  const segments: Segment[] = []
  const addActivity = (item: Activity): void => {
    const last = segments.at(-1)
    if (last?.kind === 'activity') last.items.push(item)
    else segments.push({ kind: 'activity', key: item.key, items: [item] })
  }
  for (const step of steps) {
    if (step === undefined) continue // a gap while a snapshot is still loading
    switch (step.type) {
      case 'text':
        if (step.content.trim() !== '')
          segments.push({ kind: 'prose', key: step.id, text: step.content })
        break
      case 'thinking':
        if (step.content.trim() !== '')
          addActivity({
            kind: 'thinking',
            key: step.id,
            text: step.content,
            open: live && step.index === steps.length - 1,
            durationMs: step.duration_ms ?? null,
          })
        break
      case 'tool_call':
        addActivity({
          kind: 'tool',
          key: step.id,
          call: step,
          result: results.get(step.id_ref) ?? null,
        })
        break
      case 'tool_result':
        break // drawn with its call
      default:
        step satisfies never
    }
  }
  return segments
}
