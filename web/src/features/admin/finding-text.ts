// Texts of the doctor's findings in the page's language. The server sends the English ones.
import { useEffect, useState } from 'react'
import { isLanguage } from '../../../../locales/languages.ts'
import type { HealthFinding } from '../../../../server/protocol/admin/server.ts'
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { type Findings, loadFindingTexts } from '../../lib/i18n/texts.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { toolTitle } from '../../lib/tool-title.ts'

/** Tools that the doctor checks. */
const TOOLS = new Set(['exec', 'execute_python'])

const filled = (text: string, params: HealthFinding['params']): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (field, name: string) => String(params[name] ?? field))

/** Returns a function that translates a finding; the English text stays if there is no translation. */
export function useFindingText() {
  const { t, i18n } = useTranslation()
  const { language } = i18n
  const refusalText = useRefusalText()
  const [texts, setTexts] = useState<Findings | null>(null)
  useEffect(() => {
    let isShown = true
    setTexts(null)
    // If the texts fail to load, the English ones stay.
    if (isLanguage(language))
      void loadFindingTexts(language).then(
        (loaded) => isShown && setTexts(loaded ?? null),
        () => undefined,
      )
    return () => {
      isShown = false
    }
  }, [language])
  return (finding: HealthFinding): Pick<HealthFinding, 'subject' | 'detail' | 'advice'> => {
    const { code, params } = finding
    // Use the same tool names as the rest of the page.
    const title = toolTitle(finding.subject, t)
    const tool = TOOLS.has(finding.subject) ? `${title} (${finding.subject})` : finding.subject
    if (texts === null) return { ...finding, subject: tool }
    const text = texts.findings[code]
    // A newer server may have findings that this page does not know.
    if (text === undefined) return { ...finding, subject: tool }
    const { subject = texts.folders[finding.subject] ?? tool } = text
    const { failure, reason } = params
    // Some findings are failures that have a text of their own.
    const values =
      typeof failure === 'string'
        ? { ...params, reason: refusalText({ reason: failure, params, message: `${reason}` }) }
        : params
    return {
      subject: filled(subject, values),
      detail: filled(text.detail, values),
      advice: text.advice === undefined ? null : filled(text.advice, values),
    }
  }
}
