// What holds for all conversations: instructions for the agent, and the tools that it may use.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Preferences } from '../../../../server/protocol/accounts/preferences.ts'
import { useChangePreferences, usePreferences } from '../../lib/api/preferences.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextArea } from '../../ui/controls/field.tsx'
import { ToolSwitches } from '../../ui/controls/tool-switches.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { SavedPrompts } from './saved-prompts.tsx'
import { Section } from './section.tsx'

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
  const [instructions, setInstructions] = useState(preferences.instructions)
  const isChanged = instructions.trim() !== preferences.instructions
  return (
    <>
      <Section title={t('agent.instructions')} text={t('agent.instructionsText')}>
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault()
            change.mutate({ instructions: instructions.trim() })
          }}
        >
          <TextArea
            label={t('agent.instructions')}
            placeholder={t('agent.instructionsExample')}
            rows={5}
            maxLength={20_000}
            value={instructions}
            onChange={(event) => setInstructions(event.target.value)}
          />
          <Button
            type="submit"
            size="small"
            tone={isChanged ? 'primary' : 'plain'}
            className="self-end"
            disabled={!isChanged || change.isPending}
          >
            {t('common.save')}
          </Button>
        </form>
      </Section>
      <SavedPrompts prompts={preferences.saved_prompts} />
      <Section title={t('tools.title')} text={t('agent.toolsText')}>
        <ToolSwitches
          disabled={preferences.disabled_tools}
          onChange={(disabled) => change.mutate({ disabled_tools: disabled })}
        />
      </Section>
    </>
  )
}
