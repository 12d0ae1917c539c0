// Settings for all conversations: instructions for the agent, available tools, saved prompts.

import type { Preferences } from '../../../../server/protocol/accounts/preferences.ts'
import { useChangePreferences, usePreferences } from '../../lib/api/preferences.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { InstructionsForm } from '../../ui/controls/instructions-form.tsx'
import { ToolSwitches } from '../../ui/controls/tool-switches.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { SavedPrompts } from './saved-prompts.tsx'
import { Section } from './section.tsx'
import { SkillsSection } from './skills-section.tsx'
import { ToolCost } from './tool-cost.tsx'

/** A tab of the settings. */
export function AgentSection() {
  const preferences = usePreferences()
  if (preferences.isPending) return <Loading />
  if (preferences.isLoadingError)
    return (
      <Failed message={errorText(preferences.error)} onRetry={() => void preferences.refetch()} />
    )
  return <Agent preferences={preferences.data} />
}

function Agent({ preferences }: { preferences: Preferences }) {
  const { t } = useTranslation()
  const change = useChangePreferences()
  return (
    <>
      <Section id="instructions" title={t('agent.instructions')} text={t('agent.instructionsText')}>
        <InstructionsForm
          place="all"
          label={t('agent.instructions')}
          placeholder={t('agent.instructionsExample')}
          stored={preferences.instructions}
          saving={change.isPending}
          onSave={(instructions) => change.mutateAsync({ instructions })}
        />
      </Section>
      <SkillsSection
        off={preferences.skills_off}
        onOff={(off) => change.mutate({ skills_off: off })}
      />
      <SavedPrompts prompts={preferences.saved_prompts} />
      <Section id="tools" title={t('tools.title')} text={t('agent.toolsText')}>
        <ToolCost />
        <ToolSwitches
          disabled={preferences.disabled_tools}
          onChange={(disabled) => change.mutate({ disabled_tools: disabled })}
        />
      </Section>
    </>
  )
}
