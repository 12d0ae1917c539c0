// The position of a model in the user's menus: move up, move down, hide.
import { ArrowDown, ArrowUp, Eye, EyeOff } from 'lucide-react'
import { useChangePreferences, usePreferences } from '../../lib/api/preferences.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { IconButton } from '../../ui/controls/button.tsx'

/** Shown next to a model of the list. The order is the user's own; it does not affect others. */
export function ModelPlace({
  id,
  name,
  shown,
}: {
  id: string
  name: string
  /** The ids of all models, in display order. */
  shown: readonly string[]
}) {
  const { t } = useTranslation()
  const { data: preferences } = usePreferences()
  const change = useChangePreferences()
  if (preferences === undefined || shown.length < 2) return null
  const at = shown.indexOf(id)
  const { hidden_models: hiddenModels } = preferences
  const isHidden = hiddenModels.includes(id)
  const move = (to: number): void => {
    const others = shown.filter((one) => one !== id)
    change.mutate({ model_order: [...others.slice(0, to), id, ...others.slice(to)] })
  }
  return (
    <span className="flex shrink-0">
      <IconButton
        icon={ArrowUp}
        label={t('models.earlier', { name })}
        size="small"
        disabled={at <= 0}
        onClick={() => move(at - 1)}
      />
      <IconButton
        icon={ArrowDown}
        label={t('models.later', { name })}
        size="small"
        disabled={at === shown.length - 1}
        onClick={() => move(at + 1)}
      />
      <IconButton
        icon={isHidden ? EyeOff : Eye}
        label={t(isHidden ? 'models.show' : 'models.hide', { name })}
        size="small"
        onClick={() =>
          change.mutate({
            hidden_models: isHidden
              ? hiddenModels.filter((one) => one !== id)
              : [...hiddenModels, id],
          })
        }
      />
    </span>
  )
}
