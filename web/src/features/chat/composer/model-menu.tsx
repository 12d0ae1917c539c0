// The button that shows the model. The list that it opens loads when it first opens.
import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import { useModels } from '../../../lib/api/catalog.ts'
import { useMenuModels } from '../../../lib/api/preferences.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { writeLastModel } from '../../../lib/preferences/last-model.ts'
import { lazyView } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { type ChatOptions, modelOf } from '../chat-options.ts'

const ModelPicker = lazyView(() =>
  import('./model-picker.tsx').then((module) => module.ModelPicker),
)

/** Shows the current model. `onChange` receives changed options, such as another model. */
export function ModelMenu({
  options,
  onChange,
}: {
  options: ChatOptions
  onChange: (change: Partial<ChatOptions>) => void
}) {
  const { t } = useTranslation()
  const { data: models } = useModels()
  const [opened, setOpened] = useState(false)
  const current = modelOf(models, options.model)
  const offered = useMenuModels(current?.id ?? null)
  const button = (
    <button
      type="button"
      aria-label={t('composer.modelIs', { name: current?.name ?? '…' })}
      aria-haspopup="dialog"
      className="inline-flex h-9 min-w-0 items-center gap-1 rounded-lg px-2 text-note font-medium text-soft hover:bg-hover hover:text-ink data-[state=open]:bg-hover"
      onClick={opened ? undefined : () => setOpened(true)}
    >
      <span className="max-w-40 truncate max-sm:max-w-28">{current?.name ?? '…'}</span>
      <ChevronDown size={14} aria-hidden className="shrink-0 text-muted" />
    </button>
  )
  if (!opened) return button
  return (
    <PartBoundary fallback={button} isOver onClose={() => setOpened(false)}>
      <ModelPicker
        trigger={button}
        models={offered}
        current={current?.id ?? null}
        onChoose={(model) => {
          writeLastModel(model)
          onChange({ model })
        }}
      />
    </PartBoundary>
  )
}
