// A button with a menu of other models, for an answer that its model cannot give.
import { Repeat } from 'lucide-react'
import { useMenuModels } from '../../../lib/api/preferences.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { Menu, MenuChoices, MenuHeading } from '../../../ui/overlays/menu.tsx'

/** Renders nothing without other models. `current` is the model to leave out. */
export function OtherModel({
  current,
  onChoose,
}: {
  current: string | null
  onChoose: (model: string) => void
}) {
  const { t } = useTranslation()
  const models = useMenuModels(null)
  const others = models.filter(({ id }) => id !== current)
  if (others.length === 0) return null
  return (
    <Menu
      trigger={
        <Button size="small" tone="quiet" icon={Repeat}>
          {t('message.otherModel')}
        </Button>
      }
    >
      <MenuHeading>{t('composer.model')}</MenuHeading>
      <MenuChoices
        value=""
        choices={others.map(({ id, name }) => ({ value: id, label: name }))}
        onChoose={onChoose}
      />
    </Menu>
  )
}
