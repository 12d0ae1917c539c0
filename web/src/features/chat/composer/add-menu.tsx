// The “+” menu of the composer: files, photo, mentions, commands, thinking, tools, approval mode. Options that differ from
// the defaults stay visible next to it.
import {
  AtSign,
  Camera,
  Columns2,
  Lightbulb,
  Paperclip,
  Plus,
  ShieldAlert,
  ShieldCheck,
  ShieldOff,
  Slash,
  Wrench,
} from 'lucide-react'
import type { ApprovalMode } from '../../../../../server/protocol/conversations/conversation.ts'
import type { PublicModel } from '../../../../../server/protocol/models/catalog.ts'
import { useModels } from '../../../lib/api/catalog.ts'
import { useMenuModels } from '../../../lib/api/preferences.ts'
import { useQuota } from '../../../lib/api/quota.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { IconButton } from '../../../ui/controls/button.tsx'
import {
  Menu,
  MenuChoices,
  MenuHeading,
  MenuItem,
  MenuSeparator,
  MenuSwitch,
} from '../../../ui/overlays/menu.tsx'
import { type ChatOptions, isThinking, modelOf } from '../chat-options.ts'
import { readSecondModel } from '../compare/comparisons.ts'

const APPROVAL_MODES: readonly ApprovalMode[] = ['ask', 'auto_medium', 'auto']
const APPROVAL_ICONS = { ask: ShieldCheck, auto_medium: ShieldAlert, auto: ShieldOff } as const

type Props = { options: ChatOptions; onChange: (change: Partial<ChatOptions>) => void }

/** Which options the current model supports. */
function useAbilities(options: ChatOptions) {
  const { data: models } = useModels()
  const model = modelOf(models, options.model)
  return {
    others: useMenuModels(null).filter(({ id }) => id !== model?.id),
    canThink: model !== undefined && (model.thinking !== false || model.demo),
    canCall: model?.tool_mode !== 'none',
    thinking: isThinking(options, model),
  }
}

/** The model of the last comparison, if it is still available. */
const secondOf = (others: readonly PublicModel[]): string | null => {
  const last = readSecondModel()
  return others.find(({ id }) => id === last)?.id ?? others[0]?.id ?? null
}

/** `onCommands` and `onMentions` open the lists that `/` and `@` open in the message field. */
export function AddMenu({
  options,
  onChange,
  onFiles,
  onCamera,
  onCommands,
  onMentions,
}: Props & {
  onFiles: () => void
  /** Opens the camera; null if the model cannot see images. */
  onCamera: (() => void) | null
  /** Opens the list of commands. */
  onCommands: () => void
  /** Opens the list of mentions and attachments. */
  onMentions: () => void
}) {
  const { t } = useTranslation()
  const { canThink, canCall, thinking, others } = useAbilities(options)
  return (
    <Menu
      side="top"
      label={t('composer.add')}
      trigger={<IconButton icon={Plus} label={t('composer.add')} tipSide="top" />}
    >
      <MenuItem icon={Paperclip} onSelect={onFiles}>
        {t('composer.attach')}
      </MenuItem>
      {/* Without a touch screen, the file picker is enough. */}
      {onCamera !== null && matchMedia('(pointer: coarse)').matches && (
        <MenuItem icon={Camera} onSelect={onCamera}>
          {t('composer.camera')}
        </MenuItem>
      )}
      <MenuItem icon={AtSign} onSelect={onMentions}>
        {t('composer.mentions')}
      </MenuItem>
      <MenuItem icon={Slash} onSelect={onCommands}>
        {t('composer.commands')}
      </MenuItem>
      {(canThink || canCall || others.length > 0) && <MenuSeparator />}
      {canThink && (
        <MenuSwitch icon={Lightbulb} on={thinking} onChange={(on) => onChange({ thinking: on })}>
          {t('composer.thinking')}
        </MenuSwitch>
      )}
      {others.length > 0 && (
        <MenuSwitch
          icon={Columns2}
          on={options.secondModel !== null}
          onChange={(on) => onChange({ secondModel: on ? secondOf(others) : null })}
        >
          {t('composer.compare')}
        </MenuSwitch>
      )}
      {canCall && (
        <MenuSwitch icon={Wrench} on={options.tools} onChange={(on) => onChange({ tools: on })}>
          {t('composer.tools')}
        </MenuSwitch>
      )}
      {canCall && options.tools && (
        <>
          <MenuSeparator />
          <MenuHeading>{t('approval.heading')}</MenuHeading>
          <ApprovalChoices options={options} onChange={onChange} />
        </>
      )}
    </Menu>
  )
}

/** The approval modes that the user's groups allow, with the current one selected. Loads when the menu opens. */
function ApprovalChoices({ options, onChange }: Props) {
  const { t } = useTranslation()
  const { data, isError } = useQuota()
  const current = options.approval ?? data?.default_approval ?? 'ask'
  const isAllowed = (mode: ApprovalMode): boolean =>
    mode === current || (data?.approval_modes.includes(mode) ?? isError)
  return (
    <MenuChoices
      value={current}
      choices={APPROVAL_MODES.filter(isAllowed).map((mode) => ({
        value: mode,
        label: t(`approval.mode.${mode}`),
        hint: t(`approval.hint.${mode}`),
      }))}
      onChoose={(mode) =>
        onChange({ approval: APPROVAL_MODES.find((known) => known === mode) ?? null })
      }
    />
  )
}

/** The thinking toggle, and every option that differs from its default. */
export function ActiveOptions({ options, onChange }: Props) {
  const { t } = useTranslation()
  const { canThink, canCall, thinking } = useAbilities(options)
  const { approval } = options
  // Without its own choice the chat uses the default mode, so the quota is not needed.
  const { data: quota } = useQuota(approval !== null)
  const isUsual = approval === null || approval === (quota?.default_approval ?? 'ask')
  return (
    <>
      {canThink && (
        <IconButton
          icon={Lightbulb}
          label={t('composer.thinking')}
          words={t('composer.think')}
          pressed={thinking}
          tipSide="top"
          onClick={() => onChange({ thinking: !thinking })}
        />
      )}
      {canCall && !options.tools && (
        <IconButton
          icon={Wrench}
          label={t('composer.toolsOff')}
          tipSide="top"
          className="text-warn line-through"
          onClick={() => onChange({ tools: true })}
        />
      )}
      {canCall && options.tools && !isUsual && (
        <IconButton
          icon={APPROVAL_ICONS[approval]}
          label={t('approval.modeIs', { mode: t(`approval.mode.${approval}`) })}
          tipSide="top"
          className={approval === 'auto' ? 'text-warn' : ''}
          onClick={() => onChange({ approval: null })}
        />
      )}
    </>
  )
}
