// The models that conversations can use. Administrators can add and remove them.
import { KeyRound, Pencil, Plus, Star, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { PublicModel } from '../../../../server/protocol/models/catalog.ts'
import {
  useAdminModels,
  useDeleteModel,
  useEnterModelKey,
  useModels,
} from '../../lib/api/catalog.ts'
import { inOrder, usePreferences } from '../../lib/api/preferences.ts'
import { useChangeServerSettings } from '../../lib/api/server.ts'
import { compactNumber } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Facts } from '../../ui/facts.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { PromptDialog } from '../../ui/overlays/prompt-dialog.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed } from '../../ui/states/feedback.tsx'
import { ModelDialog } from './model-dialog.tsx'
import { ModelPlace } from './model-place.tsx'
import { Section } from './section.tsx'

/** A tab of the settings. `admin`: whether stored models can be added, changed and removed. */
export function ModelsSection({ admin }: { admin: boolean }) {
  const { t } = useTranslation()
  const models = useModels()
  const { data: preferences } = usePreferences()
  const ordered = inOrder(models.data ?? [], preferences?.model_order ?? [])
  const { data: stored } = useAdminModels(admin)
  const remove = useDeleteModel()
  const enterKey = useEnterModelKey()
  const changeServer = useChangeServerSettings()
  const [deleting, setDeleting] = useState<string | null>(null)
  const [editing, setEditing] = useState<string | null>(null)
  const edited = stored?.find(({ id }) => id === editing)
  const [entering, setEntering] = useState<string | null>(null)
  const removable = new Set(
    stored?.flatMap(({ id, source }) => (source === 'store' ? [id] : [])) ?? [],
  )
  return (
    <Section
      title={t('settings.tab.models')}
      text={t('models.text')}
      action={
        admin && (
          <Link href={paths.setup} asChild>
            <Button size="small" icon={Plus}>
              {t('models.add')}
            </Button>
          </Link>
        )
      }
    >
      {models.isLoadingError && (
        <Failed message={errorText(models.error)} onRetry={() => void models.refetch()} />
      )}
      <ul ref={moveFocusOnRemoval} className="-my-2 divide-y divide-line">
        {ordered.map((model) => (
          <ModelRow key={model.id} model={model} shown={ordered.map(({ id }) => id)}>
            {admin && !model.default && (
              <IconButton
                icon={Star}
                label={t('models.makeDefault', { name: model.name })}
                size="small"
                disabled={changeServer.isPending}
                onClick={() => changeServer.mutate({ default_model: model.id })}
              />
            )}
            {removable.has(model.id) && (
              <ModelActions
                model={model}
                onEnterKey={() => setEntering(model.id)}
                onEdit={() => setEditing(model.id)}
                onRemove={() => setDeleting(model.id)}
              />
            )}
          </ModelRow>
        ))}
      </ul>
      {edited !== undefined && (
        <ModelDialog
          key={edited.id}
          model={edited}
          siblings={(stored ?? []).filter(
            ({ id, source, api_url: url }) =>
              source === 'store' && url === edited.api_url && id !== edited.id,
          )}
          onClose={() => setEditing(null)}
        />
      )}
      {entering !== null && (
        <PromptDialog
          title={t('models.enterKeyTitle', { name: entering })}
          label={t('models.key')}
          initial=""
          secret
          saving={enterKey.isPending}
          onClose={() => setEntering(null)}
          onSubmit={(key) =>
            enterKey.mutate({ id: entering, key }, { onSuccess: () => setEntering(null) })
          }
        />
      )}
      <ConfirmDialog
        open={deleting !== null}
        onOpenChange={() => setDeleting(null)}
        title={t('models.removeTitle')}
        text={t('models.removeText')}
        confirm={t('common.delete')}
        onConfirm={() => deleting !== null && remove.mutate(deleting)}
      />
    </Section>
  )
}

/** `shown` are all models of the list, in order. `children` are the buttons. */
function ModelRow({
  model,
  shown,
  children,
}: {
  model: PublicModel
  shown: readonly string[]
  children: ReactNode
}) {
  const { t, i18n } = useTranslation()
  return (
    <li className="flex items-center gap-x-3 gap-y-1 py-3 max-sm:flex-wrap">
      <div className="min-w-0 flex-1 max-sm:basis-full">
        <p className="font-medium wrap-anywhere">
          {model.name}
          {model.default && (
            <span className="ms-2 inline-block rounded-full bg-accent-soft px-2 py-0.5 text-xs font-medium text-accent">
              {t('common.default')}
            </span>
          )}
          {model.needs_key && (
            <span className="ms-2 inline-block rounded-full bg-bad-soft px-2 py-0.5 text-xs font-medium text-bad">
              {t('models.needsKey')}
            </span>
          )}
        </p>
        {model.needs_key && <p className="mt-0.5 text-note text-bad">{t('models.needsKeyText')}</p>}
        <p className="mt-0.5 text-note text-muted">
          <Facts
            of={[
              model.service,
              t(`models.tools.${model.tool_mode}`),
              model.thinking === false ? null : t('models.thinking'),
              model.vision ? t('models.vision') : null,
              model.context_window === null
                ? null
                : t('models.window', {
                    size: compactNumber(model.context_window, i18n.language),
                  }),
            ].filter((part) => part !== null)}
          />
        </p>
      </div>
      <ModelPlace id={model.id} name={model.name} shown={shown} />
      {children}
    </li>
  )
}

/** The actions on a model that administrators have added. */
function ModelActions({
  model,
  onEnterKey,
  onEdit,
  onRemove,
}: {
  model: PublicModel
  onEnterKey: () => void
  onEdit: () => void
  onRemove: () => void
}) {
  const { t } = useTranslation()
  return (
    <>
      {model.needs_key && (
        <Button size="small" icon={KeyRound} onClick={onEnterKey}>
          {t('models.enterKey')}
        </Button>
      )}
      <IconButton
        icon={Pencil}
        label={t('models.edit', { name: model.name })}
        size="small"
        onClick={onEdit}
      />
      <IconButton
        icon={Trash2}
        label={t('models.remove', { name: model.name })}
        size="small"
        onClick={onRemove}
      />
    </>
  )
}
