// Loads the form for the fields of a prompt when it is first needed.

import { lazyView } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { askForFields, usePromptToFill } from './prompt-to-fill.ts'

const PromptForm = lazyView(() => import('./prompt-form.tsx').then((module) => module.PromptForm))

/** Place it outside the composer's form: a submit inside that form would also send the message. */
export function LatePromptForm() {
  const prompt = usePromptToFill((store) => store.prompt)
  if (prompt === null) return null
  return (
    <PartBoundary fallback={null} isOver subject={prompt} onClose={() => askForFields(null)}>
      <PromptForm key={prompt.key} prompt={prompt} />
    </PartBoundary>
  )
}
