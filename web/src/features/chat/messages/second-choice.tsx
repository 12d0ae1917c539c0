// The placeholder of a missing second answer: offers models that can write it, and existing siblings.
import { Check } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef } from 'react'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import { useMenuModels } from '../../../lib/api/preferences.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { type Comparison, consumeChoiceFocus, setComparison } from '../compare/comparisons.ts'
import { randomId } from '../random-id.ts'

/** `siblings` are the other siblings of the first answer; choosing one starts no run. */
export function SecondChoice({
  comparison,
  conversationId,
  first,
  siblings,
  waits,
}: {
  comparison: Comparison
  conversationId: string
  /** The model of the first answer. */
  first: string | null
  siblings: readonly MessageId[]
  /** Whether the second answer has to wait for the first. */
  waits: boolean
}) {
  const { t } = useTranslation()
  const choices = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (consumeChoiceFocus(conversationId)) choices.current?.querySelector('button')?.focus()
  }, [conversationId])
  // When the answer takes the place of the choice, the focus goes to the panel that shows it.
  useLayoutEffect(() => {
    const element = choices.current
    return () => {
      if (element?.contains(document.activeElement) !== true) return
      element.closest<HTMLElement>('[role="tabpanel"]')?.focus({ preventScroll: true })
    }
  }, [])
  const models = useMenuModels(null).filter(({ id }) => id !== first)
  const versions = siblings
    .map((id, place) => ({ id, number: place + 1 }))
    .filter(({ id }) => id !== comparison.first)
  const itemClass =
    'flex min-h-10 w-full items-center gap-2 rounded-lg border border-line bg-surface px-3 py-1.5 text-start text-sm hover:bg-hover aria-pressed:bg-hover pointer-coarse:min-h-11'
  return (
    <div ref={choices} className="flex flex-col gap-3 text-sm">
      <p role="status" className="text-soft">
        {t(
          comparison.model === null
            ? 'compare.chooseModel'
            : waits
              ? 'compare.waiting'
              : 'compare.starting',
        )}
      </p>
      <ul aria-label={t('compare.chooseModel')} className="flex flex-col gap-1.5">
        {models.map(({ id, name, service }) => (
          <li key={id}>
            <button
              type="button"
              aria-pressed={comparison.model === id}
              className={itemClass}
              onClick={() =>
                setComparison(conversationId, { ...comparison, id: randomId(), model: id })
              }
            >
              <span className="min-w-0 flex-1">
                <span className="block truncate">{name}</span>
                <span className="block text-xs text-muted">{service}</span>
              </span>
              {comparison.model === id && <Check size={15} aria-hidden className="text-accent" />}
            </button>
          </li>
        ))}
      </ul>
      {versions.length > 0 && (
        <>
          <p className={classNames('text-soft', models.length > 0 && 'border-t border-line pt-3')}>
            {t('compare.chooseVersion')}
          </p>
          <ul aria-label={t('compare.chooseVersion')} className="flex flex-wrap gap-1.5">
            {versions.map(({ id, number }) => (
              <li key={id}>
                <button
                  type="button"
                  className="min-h-9 rounded-lg border border-line px-3 hover:bg-hover pointer-coarse:min-h-11"
                  onClick={() => setComparison(conversationId, { ...comparison, second: id })}
                >
                  {t('compare.version', { number })}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
