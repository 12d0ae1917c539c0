// Loads the form for the fields of a prompt when one is first chosen.

import { lazyView } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { askForFields, useWantedPrompt } from './wanted-prompt.ts'

const PromptForm = lazyView(() => import('./prompt-form.tsx').then((module) => module.PromptForm))

/** Place it outside of the message field's own form: what is submitted within that would be sent, too. */
export function LatePromptForm() {
  const prompt = useWantedPrompt((store) => store.prompt)
  if (prompt === null) return null
  return (
    <PartBoundary fallback={null} isOver subject={prompt} onClose={() => askForFields(null)}>
      <PromptForm key={prompt.key} prompt={prompt} />
    </PartBoundary>
  )
}
