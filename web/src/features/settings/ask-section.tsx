// How the user is told of requests that nobody decides: through what, after how long, and with how much detail.
import { Plus, Trash2 } from 'lucide-react'
import type { AskEntry } from '../../../../server/protocol/accounts/preferences.ts'
import { useChangePreferences, usePreferences } from '../../lib/api/preferences.ts'
import { longDuration } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { SelectField } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { useChannels } from './api/channels.ts'
import { Section } from './section.tsx'

const MAX_ENTRIES = 5
/** Seconds. */
const DELAYS = [0, 30, 120, 600, 3_600, 28_800]
const DETAILS = ['name', 'preview'] as const

/** Saves each change at once. */
export function AskSection() {
  const { t } = useTranslation()
  const preferences = usePreferences()
  const change = useChangePreferences()
  const ask = preferences.data?.ask
  const save = (entries: AskEntry[]): void => change.mutate({ ask: entries })
  return (
    <Section
      title={t('ask.title')}
      text={t('ask.text')}
      action={
        ask !== undefined && ask.length < MAX_ENTRIES ? (
          <Button
            size="small"
            icon={Plus}
            onClick={() => save([...ask, { through: 'push', after: 0, detail: 'name' }])}
          >
            {t('ask.add')}
          </Button>
        ) : undefined
      }
    >
      {preferences.isPending && <Loading />}
      {preferences.isLoadingError && (
        <Failed message={errorText(preferences.error)} onRetry={() => void preferences.refetch()} />
      )}
      {ask?.length === 0 && <p className="text-sm text-muted">{t('ask.none')}</p>}
      <ul ref={moveFocusOnRemoval} className="-my-3 divide-y divide-line empty:hidden">
        {ask?.map((entry, place) => (
          <Entry
            // biome-ignore lint/suspicious/noArrayIndexKey: equal entries differ only by their place
            key={place}
            entry={entry}
            onChange={(changed) => save(ask.with(place, changed))}
            onRemove={() => save(ask.toSpliced(place, 1))}
          />
        ))}
      </ul>
    </Section>
  )
}

function Entry({
  entry,
  onChange,
  onRemove,
}: {
  entry: AskEntry
  onChange: (entry: AskEntry) => void
  onRemove: () => void
}) {
  const { t, i18n } = useTranslation()
  const { data: channels = [] } = useChannels()
  const ways = new Set(['push', ...channels.map(({ name }) => `channel:${name}`), entry.through])
  const delays = [...new Set([...DELAYS, entry.after])].sort((one, other) => one - other)
  return (
    <li className="flex items-end gap-3 py-3">
      <div className="grid min-w-0 flex-1 gap-3 sm:grid-cols-2">
        <div className="sm:col-span-2">
          <SelectField
            label={t('ask.through')}
            value={entry.through}
            options={[...ways].map((value) => ({
              value,
              label: value === 'push' ? t('ask.push') : value.slice('channel:'.length),
            }))}
            onChange={({ target: { value } }) =>
              onChange({
                ...entry,
                through: value,
                // Others may see the screen on which a notification appears.
                detail: value === 'push' ? 'name' : entry.detail,
              })
            }
          />
        </div>
        <SelectField
          label={t('ask.after')}
          value={String(entry.after)}
          options={delays.map((seconds) => ({
            value: String(seconds),
            label: seconds === 0 ? t('ask.atOnce') : longDuration(seconds, i18n.language),
          }))}
          onChange={({ target }) => onChange({ ...entry, after: Number(target.value) })}
        />
        <SelectField
          label={t('ask.detail')}
          value={entry.detail}
          disabled={entry.through === 'push'}
          options={DETAILS.map((value) => ({ value, label: t(`ask.details.${value}`) }))}
          onChange={({ target }) =>
            onChange({ ...entry, detail: target.value === 'preview' ? 'preview' : 'name' })
          }
        />
      </div>
      <IconButton icon={Trash2} label={t('ask.remove')} size="small" onClick={onRemove} />
    </li>
  )
}
