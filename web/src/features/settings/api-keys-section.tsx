// API keys: list with their last use, create with scopes and an expiry, revoke.
import { KeyRound, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { ApiKeyScope, ProgramTools } from '../../../../server/protocol/accounts/user.ts'
import { useApiKeys, useCreateApiKey, useDeleteApiKey } from '../../lib/api/keys.ts'
import { fullDay } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Facts } from '../../ui/facts.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { Section } from './section.tsx'

const DAY_MS = 86_400_000
const LIFETIMES = ['0', '30', '90', '365'] as const

/** A part of the account tab. The secret of a new key is shown only once. */
export function ApiKeysSection() {
  const { t, i18n } = useTranslation()
  const keys = useApiKeys()
  const remove = useDeleteApiKey()
  const [isAdding, setIsAdding] = useState(false)
  const [doomed, setDoomed] = useState<{ id: string; name: string } | null>(null)
  const day = (time: string): string => fullDay(time, i18n.language)
  return (
    <Section
      id="api-keys"
      title={t('apiKeys.title')}
      text={t('apiKeys.text')}
      action={
        <Button size="small" icon={Plus} onClick={() => setIsAdding(true)}>
          {t('apiKeys.create')}
        </Button>
      }
    >
      {keys.isPending && <Loading />}
      {keys.isError && (
        <Failed message={errorText(keys.error)} onRetry={() => void keys.refetch()} />
      )}
      {keys.data?.length === 0 && <Empty icon={KeyRound} title={t('apiKeys.none')} />}
      <ul ref={moveFocusOnRemoval} className="-my-2 divide-y divide-line empty:hidden">
        {keys.data?.map((key) => (
          <li key={key.id} className="flex items-center gap-3 py-3">
            <KeyRound size={18} aria-hidden className="shrink-0 text-muted" />
            <div className="min-w-0 flex-1">
              <p className="font-medium wrap-anywhere">{key.name}</p>
              <p className="text-note wrap-anywhere text-muted">
                <Facts
                  of={[
                    `${key.prefix}…`,
                    key.scopes === null
                      ? t('apiKeys.everything')
                      : key.scopes.map((scope) => t(`apiKeys.scope.${scope}`)).join(', '),
                    ...(key.program_tools === null
                      ? []
                      : [
                          key.program_tools === 'plain'
                            ? t('apiKeys.toolsNever')
                            : t('apiKeys.toolsAlways'),
                        ]),
                    key.last_used_at === null
                      ? t('apiKeys.neverUsed')
                      : t('apiKeys.lastUsed', { day: day(key.last_used_at) }),
                    ...(key.expires_at === null
                      ? []
                      : [t('apiKeys.expires', { day: day(key.expires_at) })]),
                  ]}
                />
              </p>
            </div>
            <IconButton
              icon={Trash2}
              size="small"
              label={t('apiKeys.revoke', { name: key.name })}
              onClick={() => setDoomed(key)}
            />
          </li>
        ))}
      </ul>
      {isAdding && <NewKey onClose={() => setIsAdding(false)} />}
      <ConfirmDialog
        open={doomed !== null}
        onOpenChange={() => setDoomed(null)}
        title={t('apiKeys.revoke', { name: doomed?.name ?? '' })}
        text={t('apiKeys.revokeText')}
        confirm={t('apiKeys.revokeNow')}
        onConfirm={() => {
          if (doomed !== null) remove.mutate(doomed.id)
        }}
      />
    </Section>
  )
}

function NewKey({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const create = useCreateApiKey()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly ApiKeyScope[]>([])
  const [days, setDays] = useState('90')
  const [programTools, setProgramTools] = useState('')
  const reachesV1 = scopes.length === 0 || scopes.includes('v1')
  return (
    <FormDialog
      title={t('apiKeys.create')}
      isReady={name.trim() !== ''}
      isPending={create.isPending}
      error={create.error}
      result={create.data && <ShownOnce label={t('apiKeys.created')} value={create.data.key} />}
      onSubmit={() =>
        create.mutate({
          name,
          ...(scopes.length === 0 ? {} : { scopes: [...scopes] }),
          ...(reachesV1 && programTools !== ''
            ? { program_tools: ProgramTools.parse(programTools) }
            : {}),
          ...(days === '0'
            ? {}
            : { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
        })
      }
      onClose={onClose}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t('apiKeys.name')}
          field="name"
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <SelectField
          label={t('apiKeys.lifetime')}
          value={days}
          options={LIFETIMES.map((value) => ({
            value,
            label: value === '0' ? t('apiKeys.noExpiry') : t('apiKeys.days', { count: +value }),
          }))}
          onChange={(event) => setDays(event.target.value)}
        />
      </div>
      <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
        <legend className="mb-1 text-sm font-medium text-soft">{t('apiKeys.scopes')}</legend>
        {ApiKeyScope.options.map((scope) => (
          <label key={scope} className="flex items-center gap-2 py-1 text-sm">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={scopes.includes(scope)}
              onChange={({ target }) =>
                setScopes(target.checked ? [...scopes, scope] : scopes.filter((s) => s !== scope))
              }
            />
            {t(`apiKeys.scope.${scope}`)}
          </label>
        ))}
      </fieldset>
      {reachesV1 && (
        <SelectField
          label={t('apiKeys.programTools')}
          value={programTools}
          options={[
            { value: '', label: t('apiKeys.toolsAsRequested') },
            { value: 'plain', label: t('apiKeys.toolsNever') },
            { value: 'tools', label: t('apiKeys.toolsAlways') },
          ]}
          onChange={(event) => setProgramTools(event.target.value)}
        />
      )}
    </FormDialog>
  )
}
