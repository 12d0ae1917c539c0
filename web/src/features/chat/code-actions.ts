// Runs code of an answer: sends a message that asks the agent to run it, with the usual tools and approvals.
import { useMemo } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import type { CodeActions } from '../../ui/markdown/code-actions.ts'
import { randomId } from './random-id.ts'
import type { RunActions } from './runs/use-run-actions.ts'

/** A fence that is longer than any run of backticks in the code. */
const fenceFor = (code: string): string => {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([marks]) => marks.length))
  return '`'.repeat(longest + 1)
}

/** `enabled`: whether a message can be sent now and the agent may use tools. */
export function useCodeActions(send: RunActions['send'], enabled: boolean): CodeActions {
  const { t } = useTranslation()
  return useMemo(
    () => ({
      run: enabled
        ? (code) => {
            const fence = fenceFor(code)
            const text = `${t('prose.code.runMessage')}\n\n${fence}python\n${code}\n${fence}`
            void send({ text, files: [] }, randomId())
          }
        : null,
    }),
    [send, enabled, t],
  )
}
