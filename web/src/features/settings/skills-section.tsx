// The skills that the user has everywhere.
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { AddSkillButton, SkillList } from '../../ui/controls/skill-list.tsx'
import { Section } from './section.tsx'

/** A part of the agent tab. `off` are the names of the skills that are switched off. */
export function SkillsSection({
  off,
  onOff,
}: {
  off: readonly string[]
  onOff: (names: string[]) => void
}) {
  const { t } = useTranslation()
  return (
    <Section
      id="skills"
      title={t('skills.title')}
      text={t('skills.text')}
      action={<AddSkillButton projectId={null} />}
    >
      <SkillList projectId={null} off={off} onOff={onOff} />
    </Section>
  )
}
