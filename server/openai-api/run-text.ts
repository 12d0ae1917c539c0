// What both APIs need from a run: the text that each event adds, and the program's tools.
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { RunEvent } from '../protocol/runs/run-event.ts'
import { Step } from '../protocol/runs/step.ts'
import type { OutgoingEvent } from '../runs/log/view.ts'
import { type ClientTool, readRunOptions } from '../runs/state.ts'

/** Reads an event of a run's stream in delta mode, with whole texts. */
export const readRunEvent = ({ event, data }: OutgoingEvent): RunEvent =>
  event === 'process_step'
    ? { event, step: Step.parse(data) }
    : RunEvent.parse(Object.assign({ event }, data))

/** The tools that the program runs, by the names by which the model calls them. */
export type ClientTools = ReadonlyMap<string, ClientTool>

/** Reads them from the run's options. */
export const clientToolsOf = ({ options }: Pick<RunRow, 'options'>): ClientTools =>
  new Map(readRunOptions(options).clientTools?.map((tool) => [tool.name, tool]))

/** A piece of text or thinking from an answer in progress. */
export interface TextPiece {
  type: 'text' | 'thinking'
  /** The step's index. */
  index: number
  text: string
}

/**
 * Finds the text or thinking that an event adds. An empty line separates steps of the same kind. Null for events that add
 * nothing.
 */
export function createTextTracker(): { take(event: RunEvent): TextPiece | null } {
  const sent = new Map<number, number>()
  const last = { text: -1, thinking: -1 }
  return {
    take(event) {
      const found =
        event.event === 'step_delta'
          ? { ...event, text: event.delta }
          : event.event === 'process_step' && 'content' in event.step
            ? event.step.type === 'tool_result'
              ? null
              : { ...event.step, text: event.step.content.slice(sent.get(event.step.index) ?? 0) }
            : null
      if (found === null || found.text === '') return null
      const { index, type } = found
      const gap = last[type] >= 0 && last[type] !== index ? '\n\n' : ''
      last[type] = index
      sent.set(index, (sent.get(index) ?? 0) + found.text.length)
      return { type, index, text: gap + found.text }
    },
  }
}
