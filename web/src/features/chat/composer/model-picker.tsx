// The list of models: searchable, with provider, capabilities, context window and price.
import { Check, Image, Lightbulb, Search, Wrench } from 'lucide-react'
import { Popover } from 'radix-ui'
import { type KeyboardEvent, type ReactElement, useId, useState } from 'react'
import type { PublicModel } from '../../../../../server/protocol/models/catalog.ts'
import { isComposing } from '../../../lib/browser/composing.ts'
import { compactNumber, money } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { useCloseWithBack } from '../../../ui/overlays/close-with-back.ts'

/** With fewer models, there is no search field. */
const MIN_MODELS_TO_SEARCH = 6

const matches = ({ name, id, provider }: PublicModel, words: readonly string[]): boolean => {
  const text = `${name} ${id} ${provider}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

/** Groups the models by provider, in the order of each provider's first model. */
const byProvider = (models: readonly PublicModel[]): PublicModel[] => {
  const providers = [...new Set(models.map(({ provider }) => provider))]
  return providers.flatMap((one) => models.filter(({ provider }) => provider === one))
}

/** Starts open, because it is rendered when the user opens it. */
export function ModelPicker({
  trigger,
  models,
  current,
  onChoose,
}: {
  trigger: ReactElement
  models: readonly PublicModel[]
  current: string | null
  onChoose: (id: string) => void
}) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(true)
  useCloseWithBack(open, () => setOpen(false))
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          side="top"
          align="end"
          sideOffset={6}
          collisionPadding={10}
          aria-label={t('composer.model')}
          // On a touch screen, the field would open the keyboard over the list.
          onOpenAutoFocus={(event) => {
            if (!matchMedia('(pointer: coarse)').matches) return
            event.preventDefault()
            if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus()
          }}
          className="z-50 outline-none flex max-h-[min(28rem,var(--radix-popover-content-available-height))] w-[min(26rem,94vw)] animate-appear flex-col rounded-xl border border-line bg-surface shadow-float"
        >
          <Choices
            models={models}
            current={current}
            onChoose={(id) => {
              setOpen(false)
              onChoose(id)
            }}
          />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function Choices({
  models,
  current,
  onChoose,
}: {
  models: readonly PublicModel[]
  current: string | null
  onChoose: (id: string) => void
}) {
  const { t } = useTranslation()
  const listId = useId()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<string | null>(current)
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = byProvider(models.filter((model) => matches(model, words)))
  const place = Math.max(
    0,
    found.findIndex(({ id }) => id === chosen),
  )
  const optionId = (index: number): string => `${listId}-${index}`
  const onKeyDown = (event: KeyboardEvent): void => {
    // While an input method composes, the keys belong to it.
    if (isComposing(event.nativeEvent)) return
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && found.length > 0) {
      event.preventDefault()
      const next = (place + step + found.length) % found.length
      setChosen(found[next]?.id ?? null)
      document.getElementById(optionId(next))?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') {
      event.preventDefault()
      const model = found[place]
      if (model !== undefined) onChoose(model.id)
    }
  }
  return (
    <>
      <label
        className={classNames(
          models.length < MIN_MODELS_TO_SEARCH ? 'sr-only' : 'relative border-b border-line p-1.5',
        )}
      >
        <Search
          size={14}
          aria-hidden
          className="pointer-events-none absolute top-1/2 start-4 -translate-y-1/2 text-muted"
        />
        <input
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-activedescendant={found.length > 0 ? optionId(place) : undefined}
          aria-label={t('picker.search')}
          placeholder={t('picker.search')}
          value={text}
          className="h-9 w-full rounded-lg bg-transparent pe-2 ps-8 text-sm outline-none max-sm:text-base"
          onChange={(event) => {
            setText(event.target.value)
            setChosen(null)
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      <div
        id={listId}
        role="listbox"
        aria-label={t('composer.model')}
        className="min-h-0 overflow-y-auto p-1"
      >
        {found.map((model, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
          <div
            key={model.id}
            id={optionId(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === place}
            className={classNames(
              'flex cursor-pointer items-start gap-2.5 rounded-lg px-2.5 py-2 text-sm',
              index === place ? 'bg-hover' : 'hover:bg-hover/60',
            )}
            onClick={() => onChoose(model.id)}
          >
            <ModelFacts model={model} />
            <Check
              size={15}
              aria-hidden
              className={classNames(
                'mt-0.5 shrink-0 text-accent',
                model.id !== current && 'invisible',
              )}
            />
            {model.id === current && <span className="sr-only">{t('picker.current')}</span>}
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p role="status" className="p-5 text-center text-sm text-muted">
          {t('picker.noneFound')}
        </p>
      )}
    </>
  )
}

function ModelFacts({ model }: { model: PublicModel }) {
  const { t, i18n } = useTranslation()
  const abilities = [
    { icon: Wrench, label: t('picker.can.tools'), has: model.tool_mode !== 'none' },
    { icon: Image, label: t('picker.can.images'), has: model.vision },
    { icon: Lightbulb, label: t('picker.can.thinking'), has: model.thinking !== false },
  ].filter(({ has }) => has)
  const rate = (amount: number): string => money(amount, model.price?.currency ?? '', i18n.language)
  const facts = [
    model.demo ? t('composer.demoHint') : model.service,
    model.needs_key ? t('models.needsKey') : null,
    model.context_window === null
      ? null
      : t('picker.context', { tokens: compactNumber(model.context_window, i18n.language) }),
    model.price === null
      ? null
      : t('picker.price', { input: rate(model.price.input), output: rate(model.price.output) }),
  ].filter((fact) => fact !== null)
  return (
    <span className="min-w-0 flex-1">
      <span className="flex items-center gap-2">
        <span className="truncate font-medium">{model.name}</span>
        <span className="flex shrink-0 items-center gap-1 text-muted">
          {abilities.map(({ icon: Icon, label }) => (
            <span key={label} title={label}>
              <Icon size={13} aria-hidden />
              <span className="sr-only">{label}</span>
            </span>
          ))}
        </span>
      </span>
      <span className="mt-0.5 block text-xs text-muted">{facts.join(' · ')}</span>
    </span>
  )
}
