// Which models appear in the menus of all users, and in which order.
import { ArrowDown, ArrowUp } from 'lucide-react'
import type {
  PatchServerSettings,
  ServerSettings,
} from '../../../../server/protocol/admin/server.ts'
import { inOrder } from '../../lib/api/preferences.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { IconButton } from '../../ui/controls/button.tsx'
import { Switch } from '../../ui/controls/switch.tsx'

/** A part of the server's settings. `onChange` receives the changes, which are stored at once. */
export function ListedModels({
  models,
  settings: { model_order: order, hidden_models: hidden },
  onChange,
}: {
  models: readonly { id: string; name?: string | undefined }[]
  settings: ServerSettings
  onChange(change: PatchServerSettings): void
}) {
  const { t } = useTranslation()
  const listed = inOrder(models, order)
  const move = (id: string, to: number): void => {
    const others = listed.map((one) => one.id).filter((one) => one !== id)
    onChange({ model_order: [...others.slice(0, to), id, ...others.slice(to)] })
  }
  return listed.map(({ id, name = id }, at) => (
    <div key={id} className="flex items-center gap-2">
      {listed.length > 1 && (
        <span className="flex shrink-0">
          <IconButton
            icon={ArrowUp}
            label={t('models.earlier', { name })}
            size="small"
            disabled={at === 0}
            onClick={() => move(id, at - 1)}
          />
          <IconButton
            icon={ArrowDown}
            label={t('models.later', { name })}
            size="small"
            disabled={at === listed.length - 1}
            onClick={() => move(id, at + 1)}
          />
        </span>
      )}
      <div className="min-w-0 flex-1">
        <Switch
          label={t('admin.server.listed', { name })}
          checked={!hidden.includes(id)}
          onChange={(on) =>
            onChange({ hidden_models: on ? hidden.filter((one) => one !== id) : [...hidden, id] })
          }
        />
      </div>
    </div>
  ))
}
