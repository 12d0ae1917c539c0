// Loads the form for the fields of a prompt when one is first chosen.
import { lazy, Suspense } from 'react'
import { loadPageTexts } from '../../../lib/i18n/i18n.ts'
import { useWantedPrompt } from './wanted-prompt.ts'

const PromptForm = lazy(async () => {
  const [module] = await Promise.all([import('./prompt-form.tsx'), loadPageTexts()])
  return { default: module.PromptForm }
})

/** Place it outside of the message field's own form: what is submitted within that would be sent, too. */
export function LatePromptForm() {
  const prompt = useWantedPrompt((store) => store.prompt)
  if (prompt === null) return null
  return (
    <Suspense fallback={null}>
      <PromptForm key={prompt.key} prompt={prompt} />
    </Suspense>
  )
}
