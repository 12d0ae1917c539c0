// The row of options under the text field: model, thinking, tools, approval.
import { Brain, ChevronDown, ShieldAlert, ShieldCheck, ShieldOff, Wrench } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { ApprovalMode } from '../../../../../server/protocol/conversation.ts'
import { useModels } from '../../../lib/api/catalog.ts'
import { IconButton } from '../../../ui/button.tsx'
import { Menu, MenuChoices, MenuHeading } from '../../../ui/menu.tsx'
import { type ChatOptions, isThinking, modelOf } from '../chat-options.ts'

type Props = { options: ChatOptions; onChange: (change: Partial<ChatOptions>) => void }

export function ModelMenu({ options, onChange }: Props) {
  const { t } = useTranslation()
  const { data: models } = useModels()
  const current = modelOf(models, options.model)
  return (
    <Menu
      side="top"
      align="end"
      trigger={
        <button
          type="button"
          aria-label={t('composer.modelIs', { name: current?.name ?? '…' })}
          className="inline-flex h-9 min-w-0 items-center gap-1 rounded-lg px-2 text-[13px] font-medium text-soft hover:bg-hover hover:text-ink data-[state=open]:bg-hover"
        >
          <span className="max-w-40 truncate max-sm:max-w-20">{current?.name ?? '…'}</span>
          <ChevronDown size={14} aria-hidden className="shrink-0 text-muted" />
        </button>
      }
    >
      <MenuHeading>{t('composer.model')}</MenuHeading>
      <MenuChoices
        value={current?.id ?? ''}
        choices={(models ?? []).map((model) => ({
          value: model.id,
          label: model.name,
          hint: model.demo
            ? t('composer.demoHint')
            : model.needs_key
              ? t('models.needsKey')
              : undefined,
        }))}
        onChoose={(model) => onChange({ model })}
      />
    </Menu>
  )
}

const APPROVAL_ICONS = { ask: ShieldCheck, auto_medium: ShieldAlert, auto: ShieldOff } as const
const APPROVAL_MODES: readonly ApprovalMode[] = ['ask', 'auto_medium', 'auto']

export function ComposerOptions({ options, onChange }: Props) {
  const { t } = useTranslation()
  const { data: models } = useModels()
  const current = modelOf(models, options.model)
  const canThink = current !== undefined && (current.thinking !== false || current.demo)
  const thinking = isThinking(options, current)
  const canCall = current?.tool_mode !== 'none'
  const approval = options.approval ?? 'ask'
  return (
    <>
      {canThink && (
        <IconButton
          icon={Brain}
          label={t('composer.thinking')}
          pressed={thinking}
          tipSide="top"
          onClick={() => onChange({ thinking: !thinking })}
        />
      )}
      {canCall && (
        <IconButton
          icon={Wrench}
          label={t('composer.tools')}
          pressed={options.tools}
          tipSide="top"
          onClick={() => onChange({ tools: !options.tools })}
        />
      )}
      {canCall && options.tools && (
        <Menu
          side="top"
          trigger={
            <IconButton
              icon={APPROVAL_ICONS[approval]}
              label={t('approval.modeIs', { mode: t(`approval.mode.${approval}`) })}
              tipSide="top"
              className={approval === 'auto' ? 'text-warn' : ''}
            />
          }
        >
          <MenuHeading>{t('approval.heading')}</MenuHeading>
          <MenuChoices
            value={approval}
            choices={APPROVAL_MODES.map((mode) => ({
              value: mode,
              label: t(`approval.mode.${mode}`),
              hint: t(`approval.hint.${mode}`),
            }))}
            onChoose={(mode) =>
              onChange({ approval: APPROVAL_MODES.find((known) => known === mode) ?? null })
            }
          />
        </Menu>
      )}
    </>
  )
}
