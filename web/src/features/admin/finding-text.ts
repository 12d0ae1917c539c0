// The findings of the doctor in the page's language, by their names. The server says them in English.
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { HealthFinding } from '../../../../server/protocol/admin/server.ts'
import type { Findings } from '../../lib/i18n/finding-texts.ts'
import { isLanguage, LANGUAGES } from '../../lib/i18n/languages.ts'
import { toolTitle } from '../../lib/tool-title.ts'

/** Tools that the doctor examines. */
const TOOLS = new Set(['exec', 'execute_python'])

const filled = (text: string, params: HealthFinding['params']): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (field, name: string) => String(params[name] ?? field))

/** What a finding says; in English while the page's language has no text for it. */
export function useFindingText() {
  const { t, i18n } = useTranslation()
  const { language } = i18n
  const [texts, setTexts] = useState<Findings | null>(null)
  useEffect(() => {
    let isShown = true
    setTexts(null)
    const load = isLanguage(language) ? LANGUAGES[language].findings : undefined
    // If they cannot be loaded, the English ones stay.
    void load?.().then(
      (loaded) => isShown && setTexts(loaded),
      () => undefined,
    )
    return () => {
      isShown = false
    }
  }, [language])
  return (finding: HealthFinding): Pick<HealthFinding, 'subject' | 'detail' | 'advice'> => {
    const { code, params } = finding
    // Tools are named as everywhere on the page.
    const title = toolTitle(finding.subject, t)
    const tool = TOOLS.has(finding.subject) ? `${title} (${finding.subject})` : finding.subject
    if (texts === null) return { ...finding, subject: tool }
    const text = texts.findings[code]
    // A newer server may know more findings than this page.
    if (text === undefined) return { ...finding, subject: tool }
    const { subject = texts.folders[finding.subject] ?? tool } = text
    return {
      subject: filled(subject, params),
      detail: filled(text.detail, params),
      advice: text.advice === undefined ? null : filled(text.advice, params),
    }
  }
}
