// What a person reads of a request that waits: a notification, or a message through one of their channels.
import { filled, localeTexts } from '../lib/locale-texts.ts'
import { textLanguage } from '../lib/text-language.ts'
import type { RiskLevel } from '../protocol/runs/run-event.ts'

const MAX_PREVIEW_CHARACTERS = 1_000

/** What is said of a request. */
export interface WaitingNotice {
  /** The tool, or the MCP server that asks. */
  name: string
  /** Null for a question. */
  riskLevel: RiskLevel | null
  /** Whose run it is, for approvers; null for the person themselves. */
  person: string | null
  /** What the call would do; null to leave it out. */
  preview: string | null
  /** Where the person decides; undefined if the server does not know its address. */
  url: string | undefined
}

/** The message of a request, in the language of the title of its conversation. */
export function waitingText(
  { name, riskLevel, person, preview, url }: WaitingNotice,
  title: string,
): string {
  const { waiting } = localeTexts(textLanguage(title), 'messages')
  const head =
    riskLevel === null
      ? filled(waiting.question, { server: name })
      : person === null
        ? filled(waiting.call, { tool: name, risk: waiting.risk[riskLevel] })
        : filled(waiting.callOf, { tool: name, risk: waiting.risk[riskLevel], name: person })
  return [head, preview?.slice(0, MAX_PREVIEW_CHARACTERS) ?? null, url ?? null]
    .filter((part) => part !== null && part !== '')
    .join('\n\n')
}
