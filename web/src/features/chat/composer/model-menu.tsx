// The buttons that show the model, and a second one for comparing. The list that they open loads when it first opens.
import { ChevronDown, Columns2, X } from 'lucide-react'
import { type ComponentProps, useState } from 'react'
import { useModels } from '../../../lib/api/catalog.ts'
import { useMenuModels } from '../../../lib/api/preferences.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { writeLastModel } from '../../../lib/preferences/last-model.ts'
import { IconButton } from '../../../ui/controls/button.tsx'
import { lazyView } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { type ChatOptions, modelOf } from '../chat-options.ts'

const ModelPicker = lazyView(() =>
  import('./model-picker.tsx').then((module) => module.ModelPicker),
)

/**
 * Shows the current model, and beside it the one whose answer is compared with its answer. `onChange` receives changed options, such
 * as another model.
 */
export function ModelMenu({
  options,
  onChange,
}: {
  options: ChatOptions
  onChange: (change: Partial<ChatOptions>) => void
}) {
  const { t } = useTranslation()
  const { data: models } = useModels()
  const current = modelOf(models, options.model)
  const others = useMenuModels(null).filter(({ id }) => id !== current?.id)
  const second = others.find(({ id }) => id === options.secondModel)
  const name = current?.name ?? '…'
  return (
    <>
      <ModelButton
        label={t('composer.modelIs', { name })}
        name={name}
        models={useMenuModels(current?.id ?? null)}
        current={current?.id ?? null}
        onChoose={(model) => {
          writeLastModel(model)
          onChange(
            model === options.secondModel ? { model, secondModel: current?.id ?? null } : { model },
          )
        }}
      />
      {second !== undefined && (
        <>
          <Columns2 size={14} aria-hidden className="shrink-0 text-accent max-sm:hidden" />
          <ModelButton
            label={t('composer.secondModelIs', { name: second.name })}
            name={second.name}
            models={others}
            current={second.id}
            onChoose={(secondModel) => onChange({ secondModel })}
          />
          <IconButton
            icon={X}
            label={t('composer.stopComparing')}
            size="small"
            tipSide="top"
            onClick={() => onChange({ secondModel: null })}
          />
        </>
      )}
    </>
  )
}

function ModelButton({
  label,
  name,
  models,
  current,
  onChoose,
}: {
  label: string
  name: string
} & Pick<ComponentProps<typeof ModelPicker>, 'models' | 'current' | 'onChoose'>) {
  const [opened, setOpened] = useState(false)
  const button = (
    <button
      type="button"
      aria-label={label}
      aria-haspopup="dialog"
      className="inline-flex h-9 min-w-0 items-center gap-1 rounded-lg px-2 text-note font-medium text-soft hover:bg-hover hover:text-ink data-[state=open]:bg-hover max-sm:px-1"
      onClick={opened ? undefined : () => setOpened(true)}
    >
      <span className="max-w-40 truncate max-sm:max-w-28">{name}</span>
      <ChevronDown size={14} aria-hidden className="shrink-0 text-muted" />
    </button>
  )
  if (!opened) return button
  return (
    <PartBoundary fallback={button} isOver onClose={() => setOpened(false)}>
      <ModelPicker trigger={button} models={models} current={current} onChoose={onChoose} />
    </PartBoundary>
  )
}
